package cloud

import (
	"net/http"
	"strconv"
	"time"
)

// Class sorts answers by what is to be done with the records that were sent.
type Class uint8

// The classes. Zero is Ambiguous, so that a forgotten class never counts as stored.
const (
	Ambiguous    Class = iota // it was sent and no answer came: the service may have it
	Stored                    // the service has it: delete it
	Poison                    // the service refuses what was sent, and would refuse it again
	TooLarge                  // too much in one request
	Wait                      // the service has it not: send it again later
	Unauthorized              // no key is accepted, or the key may not do this
	WrongAddress              // wrong address, redirect or version: keep it, a person must look
)

// String is the class in lower-case words.
func (c Class) String() string {
	words := [...]string{"ambiguous", "stored", "poison", "too large", "wait", "key", "path"}
	if int(c) < len(words) {
		return words[c]
	}
	return "class " + strconv.Itoa(int(c))
}

// classify says what a status means. batch is how many records were in the request, attempt how many ambiguous
// attempts with the same records came before.
//
// A conflict counts as stored only for a single ticket that an earlier attempt may have delivered; else the
// number belongs to another ticket. What no rule names is kept, never thrown away.
func classify(op Operation, status, batch, attempt int) Class {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return Poison
	case http.StatusUnauthorized, http.StatusForbidden:
		return Unauthorized
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return Wait
	case http.StatusConflict:
		if op == SaveRunTickets && batch == 1 && attempt > 0 {
			return Stored
		}
		return Poison
	case http.StatusRequestEntityTooLarge:
		return TooLarge
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return WrongAddress
	}
	switch {
	case status >= 200 && status <= 299:
		return Stored
	case status >= 500 && status <= 599:
		return Wait
	}
	return WrongAddress
}

// Answer is the end of one request, also where none came from the service.
type Answer struct {
	Class         Class
	Status        int           // 0: no answer came
	CorrelationID string        // the service's name for this exchange, for its support; may be empty
	RetryAfter    time.Duration // how long the service asks to wait, 1 s to 1 h; 0: it does not say
	Message       string        // for a person: what the service or the network said
	Date          time.Time     // the service's clock, only when a verified TLS connection vouches for it
	Body          string        // the first 2 KB of what the service answered, for the log
	Foreign       bool          // a 2xx came with a web page or with an error: it is none
	ClockDoubt    bool          // the certificate's dates do not fit this box's clock: one of them is wrong
}

// Limits of Retry-After: less hammers the service, more would let a wrong header stop the site.
const (
	leastWait = time.Second
	mostWait  = time.Hour
)

// retryAfter reads both forms of the header: seconds, and a date, which is measured against the answer's own
// Date so that this box's clock does not matter.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds > 0) {
			return leastWait
		}
		return clampWait(time.Duration(min(seconds, mostWait.Seconds()) * float64(time.Second)))
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return clampWait(until.Sub(now))
}

func clampWait(d time.Duration) time.Duration { return max(leastWait, min(d, mostWait)) }
