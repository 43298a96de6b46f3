// Package clock judges how far the RTU's wall clock may be believed, and carries that over restarts of the program on one boot.
// It is given every instant and asks the system for none, but in Confirm and ThisBoot.
//
// A restart is no reason to doubt a clock that has been steady since the boot: boot id and wall time at uptime 0 are kept, and
// taken up when both still agree. A clock that was set by two minutes or more from where it was believed is in doubt, until
// something confirms it or it is back: tickets, events and values wait, and are dated anew by the monotonic clock. A smaller step
// is a correction and holds nothing; the time daemon's marker counts only when it is younger than the step. What is already
// queued keeps its bytes.
//
// clock.go: the grades, steps, and what confirms a clock. boot.go: what a run leaves to the next one.
package clock

import (
	"sync"
	"time"
)

// Grade says how far the box's wall clock may be believed.
type Grade byte

// The grades: a clock is Unset before the program's own build, Set until it has been steady, Assumed after that, and Trusted
// when something outside has confirmed it.
const (
	Unset Grade = iota
	Set
	Assumed
	Trusted
)

// String is the word that people see.
func (g Grade) String() string { return [...]string{"unset", "set", "assumed", "trusted"}[g] }

// The measures of a clock.
const (
	SteadyAfter = 15 * time.Minute // without a step a clock is assumed right
	MinStep     = 2 * time.Second  // a jump of the wall clock against the monotonic one that counts as a step
	Tolerance   = 2 * time.Minute  // how far the service's Date may be from the wall clock to confirm it; a smaller step is a correction
)

// Clock watches the wall clock. Confirmations come from the time daemon's marker file, from the Date of the service
// over verified TLS, and from a person (`gauger clock trust`). A step away from where the clock was believed takes all
// of them back: until it is believed again, or is back where it was, the clock is in doubt.
type Clock struct {
	mu        sync.Mutex
	NotBefore time.Time // of the program's build: a clock before it is not set

	started        time.Time
	steadyAfter    time.Duration
	syncedAt       func() time.Time // when the time daemon last set or confirmed the clock, by that clock; zero: it never did
	offset         time.Duration    // of the wall clock against the monotonic one, since the start
	lookedAt       time.Duration    // monotonic instant of the last look
	stepAt         time.Duration    // and of the last step that was no correction
	setAt          time.Time        // no later than that step, by the clock as it was set; zero: none
	believedOffset time.Duration    // the offset at which the clock was last believed
	inDoubt        bool
	confirmed      bool
}

// New starts watching a clock that is unset before notBefore and assumed after steadyAfter without a step.
func New(now, notBefore time.Time, steadyAfter time.Duration, syncedAt func() time.Time) *Clock {
	return &Clock{started: now, NotBefore: notBefore, steadyAfter: steadyAfter, syncedAt: syncedAt}
}

// noticeStep notices a step of the clock; an instant that has lost its monotonic part tells of none, and counts as the last look.
// The lock is held.
func (c *Clock) noticeStep(now time.Time) (mono time.Duration) {
	if now == now.Round(0) && c.started != c.started.Round(0) {
		return c.lookedAt
	}
	mono = now.Sub(c.started)
	offset := now.Round(0).Sub(c.started.Round(0)) - mono
	if (offset - c.offset).Abs() >= MinStep {
		c.offset = offset
		if c.inDoubt = (offset - c.believedOffset).Abs() >= Tolerance; c.inDoubt {
			c.stepAt, c.confirmed, c.setAt = mono, false, now.Round(0).Add(c.lookedAt-mono)
		}
	}
	c.lookedAt = mono
	return mono
}

// Offset is by how much the wall clock was set since this run began.
func (c *Clock) Offset(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noticeStep(now)
	return c.offset
}

// Grade judges the clock at now.
func (c *Clock) Grade(now time.Time) Grade {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grade(now)
}

func (c *Clock) grade(now time.Time) Grade {
	mono := c.noticeStep(now)
	g := Set
	switch {
	case now.Round(0).Before(c.NotBefore):
		return Unset
	case c.confirmed || c.synchronised(now):
		g = Trusted
	case mono-c.stepAt >= c.steadyAfter:
		g = Assumed
	}
	if g >= Assumed {
		c.believedOffset, c.inDoubt = c.offset, false
	}
	return g
}

// synchronised says that the time daemon vouches for the clock as it stands, since it was set by whomever.
func (c *Clock) synchronised(now time.Time) bool {
	if c.syncedAt == nil {
		return false
	}
	at := c.syncedAt()
	return !at.IsZero() && (c.setAt.IsZero() || at.After(c.setAt.Add(-MinStep)) && at.Before(now.Round(0).Add(Tolerance)))
}

// Doubted says that nothing which carries the clock's time may leave: it is not set, or it was set and has not been
// believed since.
func (c *Clock) Doubted(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grade(now) == Unset || c.inDoubt
}

// Deviation is that of a clock in doubt from where it was last believed; 0 for one that is believed.
func (c *Clock) Deviation(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.grade(now); !c.inDoubt {
		return 0
	}
	return c.offset - c.believedOffset
}

// FirstSet says that a clock in doubt was never set before it was set now: where it was last believed was before the program's build.
func (c *Clock) FirstSet(now time.Time) bool {
	off := c.Deviation(now)
	return off != 0 && now.Round(0).Add(-off).Before(c.NotBefore)
}

// Confirm is a person's word that the clock is right.
func (c *Clock) Confirm() { c.ConfirmAt(time.Now()) }

// ConfirmAt is a confirmation that came at an instant.
func (c *Clock) ConfirmAt(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noticeStep(now)
	c.confirmed = true
}

// Compare takes the service's Date, as read over verified TLS at now.
func (c *Clock) Compare(now, date time.Time) {
	if date.IsZero() || now.Round(0).Sub(date).Abs() > Tolerance {
		return
	}
	c.ConfirmAt(now)
}

// WasSet says whether a clock that gave this time can have been set: none that runs is before the year 2000.
func WasSet(at time.Time) bool { return at.Year() >= 2000 }
