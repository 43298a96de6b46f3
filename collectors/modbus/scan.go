package modbus

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Found is what one unit id did when it was asked.
type Found struct {
	Unit    int
	Answers bool
	How     string // for a person: holding 0 is 17, or the refusal, or why there was no answer
}

// Scan asks every given unit id for its first holding register and returns what each did, in the order given. A
// refusal is an answer; a gateway's word that nothing is there is none. After each unit progress is called, unless
// it is nil. timeout is the wait for each one; 300 ms suit most serial lines. Other users of the line get their
// turn between two units. The error is the context's, or a line that cannot be opened.
func Scan(ctx context.Context, line *Line, units []int, timeout time.Duration, progress func(Found)) ([]Found, error) {
	var all []Found
	for _, unit := range units {
		if unit < 0 || unit > 255 || line.at.serialLine() && (unit < 1 || unit > 247) {
			return all, fmt.Errorf("unit %d: unit ids go from 1 to 247", unit)
		}
		data, err := line.Read(ctx, Request{Unit: byte(unit), Table: Holding, Quantity: 1}, timeout)
		if ctx.Err() != nil || errors.Is(err, ErrDown) {
			return all, err
		}
		found := Found{Unit: unit, Answers: true}
		refusal, refused := errors.AsType[*Exception](err)
		switch {
		case err == nil:
			found.How = fmt.Sprintf("holding 0 is %d", orderABCD.number(data))
		case refused:
			found.Answers, found.How = !errors.Is(err, ErrSilent), refusal.Error()
		default:
			found.Answers, found.How = false, err.Error()
		}
		all = append(all, found)
		if progress != nil {
			progress(found)
		}
	}
	return all, nil
}
