// Package clock judges how far the RTU's wall clock may be believed, and carries that over restarts of the program on one boot.
// It is given every instant and asks the system for none, but in Confirm and ThisBoot.
//
// A restart is no reason to doubt a clock that has been steady since the boot: boot id and wall time at uptime 0 are kept, and
// taken up when both still agree. A clock that was set by two minutes or more from where it was believed is in doubt, until
// something confirms it or it is back: tickets, events and values wait, and are dated anew by the monotonic clock. A smaller step
// is a correction and holds nothing; the time daemon's marker counts only when it is younger than the step. What is already
// queued keeps its bytes. Running steadily for a quarter of an hour makes a clock in doubt believed, but not one that went back, nor one
// that the service contradicts: where no network is nothing could leave anyway, and with it comes somebody who knows the time.
//
// The service's Date is a witness for the clock or against it. Where several answers in a row say the same other time, the clock is not
// trusted, whoever else vouches for it. It is not moved, and only tickets whose day would be another one by the service's clock wait
// for that alone: a service whose own clock is wrong must not stop a site. People are told, and tickets ask for review, until an answer agrees, the clock is set to what the service says, or a
// person who knows of it says that the clock is right.
//
// clock.go: the grades, steps, and what confirms a clock. boot.go: what a run leaves to the next one.
package clock

import (
	"fmt"
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
	repeated    = 3                // answers in a row that say the same other time speak against the clock: one or two may be a stray server's
	overruled   = -1               // instead of their number: a person knows what they say, and that the clock is right
)

// Voucher is who has confirmed a clock.
type Voucher byte

// The vouchers.
const (
	Nobody Voucher = iota
	Service
	Person
	TimeDaemon
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
	confirmed      Voucher
	said           time.Duration // the offset at which the clock would be where the service's last answers that differ put it
	answers        int           // that have said so in a row; 0: none, or the last one agreed
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
			c.stepAt, c.confirmed, c.setAt = mono, Nobody, now.Round(0).Add(c.lookedAt-mono)
			c.answers = max(c.answers, 0) // a person's word was about the clock as it was
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
	case c.voucher(now) != Nobody && c.contradiction() == 0:
		g = Trusted
	case c.voucher(now) != Nobody:
		g = Assumed // of two witnesses one is wrong
	case mono-c.stepAt >= c.steadyAfter && !c.disproved():
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

// voucher is who vouches for the clock as it stands. The lock is held.
func (c *Clock) voucher(now time.Time) Voucher {
	if c.confirmed == Nobody && c.synchronised(now) {
		return TimeDaemon
	}
	return c.confirmed
}

// disproved says that a clock in doubt does not become right by running steadily: time does not go back, and a clock that is behind where
// it was believed does so, unless it was set to what the service says; or the service contradicts it. Somebody has to vouch for it, or set
// it. The lock is held.
func (c *Clock) disproved() bool {
	return c.inDoubt && (c.contradiction() != 0 || c.offset < c.believedOffset && c.answers < repeated)
}

// Disproved says that the doubt of a clock does not end by itself.
func (c *Clock) Disproved(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grade(now)
	return c.disproved()
}

// Voucher is who vouches for the clock as it stands.
func (c *Clock) Voucher(now time.Time) Voucher {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noticeStep(now)
	return c.voucher(now)
}

// contradiction is by how much the clock would have to be set to be where the service's answers put it. The lock is held.
func (c *Clock) contradiction() time.Duration {
	if off := c.said - c.offset; c.answers >= repeated && off.Abs() > Tolerance {
		return off
	}
	return 0
}

// Contradiction is by how much the clock would have to be set to be where the service's answers put it; 0 where they do not speak against it.
func (c *Clock) Contradiction(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noticeStep(now)
	return c.contradiction()
}

// WantsWitness says that nobody vouches for the clock, and that the service has not said often enough what it thinks of it.
func (c *Clock) WantsWitness(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noticeStep(now)
	return c.voucher(now) == Nobody && (c.answers < repeated || c.contradiction() == 0)
}

// Says is a contradiction in words.
func Says(off time.Duration) string {
	size, way := off.Abs().Round(time.Minute), "later"
	if off < 0 {
		way = "earlier"
	}
	text := fmt.Sprintf("%.0f min", size.Minutes())
	switch hours := size / time.Hour; {
	case hours >= 48:
		text = fmt.Sprintf("%d days", (size+12*time.Hour)/(24*time.Hour))
	case hours > 0 && size%time.Hour == 0:
		text = fmt.Sprintf("%d h", hours)
	case hours > 0:
		text = fmt.Sprintf("%d h %.0f min", hours, (size % time.Hour).Minutes())
	}
	return "the service says that it is " + text + " " + way
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

// ConfirmAt is a person's word that came at an instant. What the service has said until then the person knows.
func (c *Clock) ConfirmAt(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noticeStep(now)
	if c.confirmed = Person; c.answers > 0 {
		c.answers = overruled
	}
}

// Compare takes the service's Date, as read at now: it confirms the clock, or speaks against it. One that did not come over verified TLS
// anybody can have written: it vouches for no clock, and is heard only of one that is in doubt anyway. Several of them that agree with a
// clock which went back let it be believed for running steadily again.
func (c *Clock) Compare(now, date time.Time, verified bool) {
	if date.Before(c.NotBefore) || date.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noticeStep(now)
	off := date.Sub(now.Round(0))
	said := c.offset + off
	switch {
	case !verified && !c.inDoubt:
	case verified && off.Abs() <= Tolerance:
		c.confirmed, c.answers = Service, 0
	case c.answers == 0 || (said-c.said).Abs() > Tolerance:
		c.said, c.answers = said, 1
	case c.answers > 0:
		c.answers = min(c.answers+1, repeated)
	}
}

// WasSet says whether a clock that gave this time can have been set: none that runs is before the year 2000.
func WasSet(at time.Time) bool { return at.Year() >= 2000 }
