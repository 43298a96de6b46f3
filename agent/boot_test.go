package agent

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errUptime = errors.New("no uptime")

// upFor is a boot of the box that has lasted for so long.
func upFor(id string, up time.Duration) Boot {
	return Boot{id, func() (time.Duration, error) { return up, nil }}
}

func noUptime(id string) Boot {
	return Boot{id, func() (time.Duration, error) { return 0, errUptime }}
}

// The kernel's word of the boot is the same each time, and its uptime goes on.
func TestThisBootIsTheKernels(t *testing.T) {
	one, two := ThisBoot(), ThisBoot()
	if len(one.ID) != len("6f9619ff-8b86-d011-b42d-00c04fc964ff") || one.ID != two.ID {
		t.Errorf("the boot is %q and %q", one.ID, two.ID)
	}
	before, err := one.Uptime()
	if err != nil || before <= 0 {
		t.Fatalf("up for %s: %v", before, err)
	}
	if after, err := two.Uptime(); err != nil || after < before || after-before > time.Hour {
		t.Errorf("up for %s, and later for %s: %v", before, after, err)
	}
}

// The detector counts time by the box's uptime, also when the boot is told to the ledger some time after it was opened; two
// runs on one boot share it.
func TestALedgerCountsByTheBoxsUptime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		pass(10 * time.Minute)
		b.must(b.Join(Boot{}))
		if b.bootID != 0 || b.mono(time.Now()) != 10*time.Minute {
			t.Errorf("without a boot the ledger is at %s of boot %d", b.mono(time.Now()), b.bootID)
		}
		if err := b.Join(noUptime("b1")); !errors.Is(err, errUptime) || b.bootID != 0 {
			t.Errorf("without an uptime: boot %d, %v", b.bootID, err)
		}
		b.must(b.Join(upFor("b1", 2*time.Hour)))
		pass(time.Minute)
		if got := b.mono(time.Now()); got != 2*time.Hour+time.Minute {
			t.Errorf("a minute after an uptime of two hours the ledger is at %s", got)
		}
		first := b.bootID
		b.again()
		b.must(b.Join(upFor("b1", 3*time.Hour)))
		if b.bootID != first || first == 0 || b.mono(time.Now()) != 3*time.Hour {
			t.Errorf("the next run is at %s of boot %d, the one before was of %d", b.mono(time.Now()), b.bootID, first)
		}
		b.must(b.Join(upFor("b2", time.Minute)))
		if b.bootID == first {
			t.Error("another boot of the box is the same")
		}
	})
}

// How long a clock has been steady counts over a restart of the program: from the step on, and with the pause.
func TestASteadyClockStaysSteadyOverARestart(t *testing.T) {
	c := NewClock(time.Now(), time.Time{}, steadyFor, nil)
	minutes(c, 0, 20, 0)
	minutes(c, 21, 26, time.Hour) // five minutes of 15
	at := stepped(c.born.Add(26*time.Minute), time.Hour)
	r, err := c.record(at, upFor("b1", 26*time.Minute))
	if err != nil || r.Steady != 5*time.Minute || r.Astray != time.Hour || !r.Zero.Equal(at.Add(-26*time.Minute)) || r.Confirmed {
		t.Fatalf("left is %+v, %v", r, err)
	}
	next := NewClock(at.Add(4*time.Minute), time.Time{}, steadyFor, nil) // down for four minutes
	if err := next.resume(r, next.born, upFor("b1", 30*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if !next.Doubted(next.born) || next.Astray(next.born) != time.Hour {
		t.Errorf("taken up: doubted %v, astray %s; want an hour", next.Doubted(next.born), next.Astray(next.born))
	}
	if at := minutes(next, 1, 5, 0); next.Grade(at) != Set {
		t.Errorf("14 minutes after the step it is %s", next.Grade(at))
	}
	if at := minutes(next, 6, 6, 0); next.Grade(at) != Assumed || next.Doubted(at) {
		t.Errorf("15 minutes after the step it is %s", next.Grade(at))
	}
	next.Confirm()
	if r, err := next.record(next.born, upFor("b1", 30*time.Minute)); err != nil || !r.Confirmed || r.Astray != 0 {
		t.Errorf("a clock that a person has confirmed leaves %+v, %v", r, err)
	}
}

// A clock that was believed after a step, and then set again, is astray from where it was believed, not from where the run
// began: that is what the next run has to know.
func TestWhatARunLeavesOfADoubt(t *testing.T) {
	const day = 24 * time.Hour
	c := NewClock(time.Now(), time.Time{}, steadyFor, nil)
	minutes(c, 0, 20, 0)
	minutes(c, 21, 40, day)
	at := minutes(c, 41, 42, day+2*time.Hour)
	if r, err := c.record(at, upFor("b1", time.Hour)); err != nil || r.Astray != 2*time.Hour {
		t.Errorf("left is %+v, %v; want two hours astray", r, err)
	}
	if _, err := c.record(at, noUptime("b1")); !errors.Is(err, errUptime) {
		t.Errorf("without an uptime: %v", err)
	}
}

// What the wall clock did while the program was down, on one boot of the box and over another.
func TestWhatTheNextRunMakesOfTheClock(t *testing.T) {
	const up, down = time.Hour, 10 * time.Minute
	for _, x := range []struct {
		why    string
		boot   string
		up     time.Duration // of the next run
		step   time.Duration
		left   time.Duration // astray when the run before ended
		astray time.Duration
		grade  Grade
	}{
		{"nobody set it", "b1", up + down, 0, 0, 0, Trusted},
		{"it drifted", "b1", up + down, time.Second, 0, 0, Trusted},
		{"it was corrected", "b1", up + down, -119 * time.Second, 0, 0, Trusted},
		{"it was set by two minutes", "b1", up + down, 2 * time.Minute, 0, 2 * time.Minute, Set},
		{"it was set back by two minutes", "b1", up + down, -2 * time.Minute, 0, -2 * time.Minute, Set},
		{"its doubt was left by two minutes", "b1", up + down, 0, 2 * time.Minute, 2 * time.Minute, Trusted},
		{"what was ahead was set back to two seconds from right", "b1", up + down, 2*time.Second - time.Hour, time.Hour, 0, Set},
		{"two minutes ahead, and two seconds less", "b1", up + down, -2 * time.Second, 2 * time.Minute, 0, Trusted},
		{"the same boot's id, but up for less", "b1", up - time.Second, -down, 0, 0, Set},
		{"the same boot, at once", "b1", up, -down, 0, 0, Trusted},
		{"a boot that is two minutes behind", "b2", time.Minute, -down - 2*time.Minute, 0, -2 * time.Minute, Set},
		{"a boot that is less behind", "b2", time.Minute, -down - 119*time.Second, 0, 0, Set},
		{"a boot that is behind what was not believed", "b2", time.Minute, -down - time.Hour, time.Hour, 0, Set},
	} {
		right := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
		r := clockRecord{Boot: "b1", Zero: right, Steady: 5 * time.Minute, Uptime: up, Confirmed: true, Astray: x.left}
		now := right.Add(up + down + x.step)
		c := NewClock(now, time.Time{}, steadyFor, nil)
		if err := c.resume(r, now, upFor(x.boot, x.up)); err != nil {
			t.Fatal(err)
		}
		if doubt := c.doubt; doubt != (x.astray != 0) || doubt && c.offset-c.good != x.astray || c.Grade(now) != x.grade {
			t.Errorf("%s: doubt %v, astray %s, want %s; %s, want %s", x.why, doubt, c.offset-c.good, x.astray, c.Grade(now), x.grade)
		}
	}
	c := NewClock(time.Now(), time.Time{}, steadyFor, nil)
	if err := c.resume(clockRecord{}, c.born, noUptime("b1")); err != nil || c.doubt {
		t.Errorf("nothing was left: %v", err)
	}
	if err := c.resume(clockRecord{Boot: "b1"}, c.born, noUptime("b1")); !errors.Is(err, errUptime) {
		t.Errorf("without an uptime: %v", err)
	}
}
