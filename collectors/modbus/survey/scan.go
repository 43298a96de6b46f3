package survey

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"gauger/collectors/modbus/line"
	"gauger/collectors/registers"
)

// Search tells Scan which units to ask, and for what.
type Search struct {
	Units   []int
	Table   line.Table    // of the register or bit that is asked for; its address is 0
	Timeout time.Duration // the wait for each unit; 300 ms suit most serial lines
}

// Found is the outcome of asking one unit id.
type Found struct {
	Unit    int
	Answers bool
	Damaged bool   // something came back, but no answer that can be used
	How     string // for a person: holding 0 is 17, or the refusal, or why there was no answer
}

// Scan asks every given unit id for the first register of a table and returns what each did, in the order given. A
// refusal is an answer; a gateway's word that nothing is there is none. After each unit progress is called, unless
// it is nil. Other users of the line get their turn between two units. The error is the context's, or a line that
// cannot be opened; what was found until then is returned with it.
func Scan(ctx context.Context, on *line.Line, s Search, progress func(Found)) ([]Found, error) {
	for _, unit := range s.Units {
		if unit < 0 || unit > 255 || on.Endpoint().IsSerial() && (unit < 1 || unit > 247) {
			return nil, fmt.Errorf("unit %d: unit ids go from 1 to 247", unit)
		}
	}
	var all []Found
	for _, unit := range s.Units {
		data, err := on.Read(ctx, line.Request{Unit: byte(unit), Table: s.Table, Quantity: 1}, s.Timeout)
		if ctx.Err() != nil || errors.Is(err, line.ErrDown) {
			return all, err
		}
		found := foundFrom(unit, err, on.Endpoint().IsSerial())
		if err == nil {
			found.How = fmt.Sprintf("%s 0 is %s", s.Table, firstValue(s.Table, data))
		}
		all = append(all, found)
		if progress != nil {
			progress(found)
		}
	}
	return all, nil
}

func firstValue(t line.Table, data []byte) string {
	if t.IsBits() {
		return strconv.Itoa(int(data[0] & 1))
	}
	return fmt.Sprint(registers.ABCD.Number(data))
}

// foundFrom makes of a request's error what a person should know of the unit.
func foundFrom(unit int, err error, serial bool) Found {
	refusal, refused := errors.AsType[*line.Exception](err)
	switch {
	case err == nil:
		return Found{Unit: unit, Answers: true}
	case refused:
		f := Found{Unit: unit, Answers: !errors.Is(err, line.ErrSilent), How: refusal.Error()}
		if refusal.Code == 2 {
			f.How += "; it is there, and has nothing at 0"
		}
		return f
	}
	cause := errors.Unwrap(err) // without the register and the line, which are the same for all
	if cause == nil {
		cause = err
	}
	if !errors.Is(err, line.ErrFrame) {
		return Found{Unit: unit, How: cause.Error()}
	}
	why := "damaged: " + cause.Error()
	if serial {
		why = fmt.Sprintf("something answered damaged: two units with this id, or another baud rate or parity (%s)", cause)
	}
	return Found{Unit: unit, Damaged: true, How: why}
}

// MaxDuration of Scan behind a URL: when no unit answers.
func (s Search) MaxDuration(url string) time.Duration {
	at, err := line.ParseEndpoint(url)
	if err != nil {
		return 0
	}
	return at.AllUnanswered(len(s.Units), s.Timeout)
}

// Settings are the URLs of one serial port at every combination of the baud rates and parities; an empty list keeps
// what the URL says. The error is a URL that cannot be read, or one that is no serial port: the settings behind a
// socket are its server's.
func Settings(raw string, bauds, parities []string) ([]string, error) {
	at, err := line.ParseEndpoint(raw)
	if err != nil || len(bauds) == 0 && len(parities) == 0 {
		return []string{raw}, err
	}
	if !at.IsPort() {
		return nil, fmt.Errorf("%s is a socket, and the serial settings behind it are made in its server; --baud and --parity are for a serial port such as rtu:///dev/ttyUSB0", at)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, baud := range orGiven(bauds, u.Query().Get("baud")) {
		for _, parity := range orGiven(parities, u.Query().Get("parity")) {
			query := u.Query()
			setQuery(query, "baud", baud)
			setQuery(query, "parity", parity)
			one := *u
			one.RawQuery = query.Encode()
			if _, err := line.ParseEndpoint(one.String()); err != nil {
				return nil, err
			}
			all = append(all, one.String())
		}
	}
	return all, nil
}

func orGiven(wanted []string, kept string) []string {
	if len(wanted) == 0 {
		return []string{kept}
	}
	return wanted
}

func setQuery(query url.Values, key, value string) {
	if value != "" {
		query.Set(key, value)
	}
}
