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
	dateWithin = 2 * time.Minute  // how far the service's Date may be from the wall clock to confirm it; a smaller step is a correction
)

// Clock watches the wall clock. Confirmations come from the time daemon's marker file, from the Date of the service
// over verified TLS, and from a person (`gauger clock trust`). A step away from where the clock was believed takes all
// of them back: until it is believed again, or is back where it was, the clock is in doubt.
type Clock struct {
	mu        sync.Mutex
	born      time.Time
	notBefore time.Time
	steady    time.Duration
	synced    func() time.Time // when the time daemon last set or confirmed the clock, by that clock; zero: it never did
	offset    time.Duration    // of the wall clock against the monotonic one, since born
	seen      time.Duration    // monotonic instant of the last look
	since     time.Duration    // and of the last step that was no correction
	set       time.Time        // no later than that step, by the clock as it was set; zero: none
	good      time.Duration    // the offset at which the clock was last believed
	doubt     bool
	confirmed bool
}

// NewClock starts watching; steady is how long without a step makes a clock assumed.
func NewClock(now, notBefore time.Time, steady time.Duration, synced func() time.Time) *Clock {
	return &Clock{born: now, notBefore: notBefore, steady: steady, synced: synced}
}

// look notices a step of the clock. The lock is held.
func (c *Clock) look(now time.Time) (mono time.Duration) {
	mono = now.Sub(c.born)
	offset := now.Round(0).Sub(c.born.Round(0)) - mono
	if (offset - c.offset).Abs() >= stepSize {
		c.offset = offset
		if c.doubt = (offset - c.good).Abs() >= dateWithin; c.doubt {
			c.since, c.confirmed, c.set = mono, false, now.Round(0).Add(c.seen-mono)
		}
	}
	c.seen = mono
	return mono
}

// Offset is by how much the wall clock was set since this run began.
func (c *Clock) Offset(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look(now)
	return c.offset
}

// Grade judges the clock at now.
func (c *Clock) Grade(now time.Time) Grade {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grade(now)
}

func (c *Clock) grade(now time.Time) Grade {
	mono := c.look(now)
	g := Set
	switch {
	case now.Round(0).Before(c.notBefore):
		return Unset
	case c.confirmed || c.marked(now):
		g = Trusted
	case mono-c.since >= c.steady:
		g = Assumed
	}
	if g >= Assumed {
		c.good, c.doubt = c.offset, false
	}
	return g
}

// marked says that the time daemon vouches for the clock as it stands: since it was set by whomever.
func (c *Clock) marked(now time.Time) bool {
	if c.synced == nil {
		return false
	}
	at := c.synced()
	return !at.IsZero() && (c.set.IsZero() || at.After(c.set.Add(-stepSize)) && at.Before(now.Round(0).Add(dateWithin)))
}

// Doubted says that nothing which carries the clock's time may leave: it is not set, or it was set and has not been
// believed since.
func (c *Clock) Doubted(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grade(now) == Unset || c.doubt
}

// Astray is how far a clock in doubt is from where it was last believed.
func (c *Clock) Astray(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.grade(now); !c.doubt {
		return 0
	}
	return c.offset - c.good
}

// Confirm is a person's word that the clock is right.
func (c *Clock) Confirm() { c.confirm(time.Now()) }

func (c *Clock) confirm(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look(now)
	c.confirmed = true
}

// Compare takes the service's Date, as read over verified TLS at now.
func (c *Clock) Compare(now, date time.Time) {
	if date.IsZero() || now.Round(0).Sub(date).Abs() > dateWithin {
		return
	}
	c.confirm(now)
}
