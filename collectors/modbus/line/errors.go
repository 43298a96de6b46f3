package line

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// What can become of a request besides an answer and an Exception. They are found with errors.Is.
var (
	// ErrSilent: the unit did not answer in time, or a gateway says that it did not.
	ErrSilent = errors.New("no answer")
	// ErrDown: the socket or serial port could not be opened, so no unit on it can be asked.
	ErrDown = errors.New("line is down")
	// ErrForbidden: the configuration of the unit's device forbids to touch this place.
	ErrForbidden = errors.New("forbidden by the configuration")
	// ErrFrame: something came, but not an answer to this request; nothing of it is used.
	ErrFrame = errors.New("not an answer to this request")
	// ErrDamaged is the ErrFrame of an answer that was spoilt on its way: asking again may bring a good one, and
	// where the next frame begins on a socket is not known any more.
	ErrDamaged = fmt.Errorf("%w", ErrFrame)
	// ErrGone: the socket or serial port went away under the request.
	ErrGone = errors.New("connection lost")
)

// Exception is a unit's own refusal, with the codes of the Modbus Application Protocol V1.1b3, section 7.
type Exception struct{ Code byte }

var exceptionNames = map[byte]string{
	1:  "illegal function",
	2:  "illegal data address",
	3:  "illegal data value",
	4:  "server device failure",
	5:  "acknowledge, still working",
	6:  "server device busy",
	8:  "memory parity error",
	10: "gateway path unavailable",
	11: "gateway target failed to respond",
}

// Error names the code and what the standard says it means.
func (e *Exception) Error() string {
	name := exceptionNames[e.Code]
	if name == "" {
		name = "unknown to the standard"
	}
	return fmt.Sprintf("exception %d (%s)", e.Code, name)
}

// Is makes a gateway's word that the unit behind it is silent equal to that silence.
func (e *Exception) Is(target error) bool { return target == ErrSilent && saysSilent(e.Code) }

// saysSilent says whether an exception's code is a gateway's word that the unit behind it is silent.
func saysSilent(code byte) bool { return code == 10 || code == 11 }

// RefusesAddress says whether the unit refuses the place or the length of the request (codes 2 and 3), so that
// another cut of the same registers may succeed.
func RefusesAddress(err error) bool {
	e, ok := errors.AsType[*Exception](err)
	return ok && (e.Code == 2 || e.Code == 3)
}

// Advice is what a person does about a request that found no one on a line; empty: the error says all there is.
func Advice(err error, url string) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at that port, or a firewall answers for it: look at the port's number, and whether the device's server is switched on"
	case errors.Is(err, ErrSilent):
		if strings.ContainsAny(url, "&?") { // a shell would cut it there
			url = "'" + url + "'"
		}
		return fmt.Sprintf("`gauger scan %s` finds the unit ids that answer", url)
	}
	return ""
}
