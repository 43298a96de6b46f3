package keys

import (
	"context"
	"errors"
	"time"
)

// Service renews keys and logs in: the client above.
type Service interface {
	// Renew asks once for half a year more of a slot, with one key as the request's header. An end that the service does not
	// say is counted from now.
	Renew(ctx context.Context, slot Slot, with Secret, now func() time.Time) Reply
	// Login gives the keys of the configured login; ErrNoLogin when there is none.
	Login(ctx context.Context) (primary, secondary Grant, err error)
}

// Reply ends one attempt to renew a slot.
type Reply struct {
	Outcome Outcome
	Grant   Grant // when it was renewed
	Err     error // what came instead; when it was renewed, that the answer could not be read
}

// Outcome says whether a slot was renewed. Zero is Unanswered, so that a forgotten outcome never counts as certain.
type Outcome uint8

// The outcomes.
const (
	Unanswered    Outcome = iota // it may have been renewed
	Renewed                      // it was
	HeaderRefused                // the service does not accept the key in the header
	Declined                     // the service said no to what was asked
	Unsent                       // nothing reached the service
)

// Failure is an error of the service that says what it means for the keys.
type Failure interface {
	error
	KeyRefused() bool // no key is accepted, or the key may not do this
	Lasting() bool    // only a person can mend it
}

// ErrNoLogin says that keys cannot come from a login.
var ErrNoLogin = errors.New("no login is configured")
