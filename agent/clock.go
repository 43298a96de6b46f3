package agent

import (
	"sync"
	"time"
)

// Grade says how far the box's wall clock may be believed.
type Grade byte

// A clock is Unset before the program's own build, Set until it has been steady, Assumed after that, and Trusted
// when something outside has confirmed it.
const (
	Unset Grade = iota
	Set
	Assumed
	Trusted
)

// String is the word that people see.
func (g Grade) String() string { return [...]string{"unset", "set", "assumed", "trusted"}[g] }

const (
	steadyFor  = 15 * time.Minute // how long a clock must run without a step to be assumed right
	stepSize   = 2 * time.Second  // a jump of the wall clock against the monotonic one that counts as a step
	dateWithin = 2 * time.Minute  // how far the service's Date may be from the wall clock to confirm it
)

// Clock watches the wall clock. Confirmations come from the time daemon's marker file, from the Date of the service
// over verified TLS, and from a person (`gauger clock trust`). A step takes all of them back.
type Clock struct {
	mu        sync.Mutex
	born      time.Time
	notBefore time.Time
	steady    time.Duration
	synced    func() bool // the time daemon's own word
	offset    time.Duration
	since     time.Duration // monotonic instant of the last step
	confirmed bool
}

// NewClock starts watching; steady is how long without a step makes a clock assumed.
func NewClock(now, notBefore time.Time, steady time.Duration, synced func() bool) *Clock {
	return &Clock{born: now, notBefore: notBefore, steady: steady, synced: synced}
}

// Observe looks at the clock and returns the size of a step that happened since the last look, or 0.
func (c *Clock) Observe(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	mono := now.Sub(c.born)
	offset := now.Round(0).Sub(c.born.Round(0)) - mono
	step := offset - c.offset
	if step.Abs() < stepSize {
		return 0
	}
	c.offset, c.since, c.confirmed = offset, mono, false
	return step
}

// Grade judges the clock at now.
func (c *Clock) Grade(now time.Time) Grade {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case now.Round(0).Before(c.notBefore):
		return Unset
	case c.confirmed || (c.synced != nil && c.synced()):
		return Trusted
	case now.Sub(c.born)-c.since >= c.steady:
		return Assumed
	}
	return Set
}

// Confirm is a person's word that the clock is right.
func (c *Clock) Confirm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.confirmed = true
}

// Compare takes the service's Date, as read over verified TLS at now.
func (c *Clock) Compare(now, date time.Time) {
	if date.IsZero() || now.Round(0).Sub(date).Abs() > dateWithin {
		return
	}
	c.Confirm()
}
