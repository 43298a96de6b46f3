package clock

import (
	"testing"
	"time"
	"unsafe"
)

// stepped is an instant as a box says it whose wall clock was set by so much: the monotonic clock stays.
func stepped(t time.Time, by time.Duration) time.Time {
	inside := (*struct{ wall uint64 })(unsafe.Pointer(&t)) // the seconds of an instant that has both clocks begin at bit 30
	inside.wall += uint64(int64(by/time.Second)) << 30
	return t
}

// minutes looks at a clock once a minute, until to minutes after it was born, with its wall clock off by so much.
func minutes(c *Clock, from, to int, off time.Duration) (last time.Time) {
	for m := from; m <= to; m++ {
		last = stepped(c.started.Add(time.Duration(m)*time.Minute), off)
		c.Grade(last)
	}
	return last
}

// A clock that was set and has been believed since is the right one from then on: a correction of it holds nothing, and
// what it is set back to is a doubt, by as much as it is away from where it was believed.
func TestAClockIsMeasuredByWhereItWasLastBelieved(t *testing.T) {
	const day = 24 * time.Hour
	c := New(time.Now(), time.Time{}, SteadyAfter, nil)
	minutes(c, 0, 20, 0)
	if at := minutes(c, 21, 21, day); !c.Doubted(at) || c.Deviation(at) != day || c.Offset(at) != day {
		t.Errorf("set a day ahead: doubted %v, astray %s, offset %s", c.Doubted(at), c.Deviation(at), c.Offset(at))
	}
	if at := minutes(c, 22, 35, day); c.Grade(at) != Set || !c.Doubted(at) {
		t.Errorf("14 minutes after the step it is %s", c.Grade(at))
	}
	if at := minutes(c, 36, 36, day); c.Grade(at) != Assumed || c.Doubted(at) || c.Deviation(at) != 0 {
		t.Errorf("a quarter of an hour after the step it is %s, astray %s", c.Grade(at), c.Deviation(at))
	}
	if at := minutes(c, 37, 40, day+10*time.Second); c.Grade(at) != Assumed || c.Doubted(at) || c.Offset(at) != day+10*time.Second {
		t.Errorf("corrected by ten seconds it is %s, offset %s", c.Grade(at), c.Offset(at))
	}
	if at := minutes(c, 41, 41, -time.Hour); c.Grade(at) != Set || !c.Doubted(at) || c.Deviation(at) != -time.Hour-day-10*time.Second {
		t.Errorf("set back by a day and an hour it is %s, astray %s", c.Grade(at), c.Deviation(at))
	}
}

// Two seconds are a step, less is how a clock is slewed; two minutes are no correction any more, less is one.
func TestHowFarAStepIsOne(t *testing.T) {
	for _, sign := range []time.Duration{1, -1} {
		for _, x := range []struct {
			step, offset time.Duration
			doubted      bool
		}{
			{time.Second, 0, false}, {2 * time.Second, 2 * time.Second, false},
			{119 * time.Second, 119 * time.Second, false}, {120 * time.Second, 120 * time.Second, true},
		} {
			c := New(time.Now(), time.Time{}, SteadyAfter, nil)
			minutes(c, 0, 20, 0)
			if at := minutes(c, 21, 21, sign*x.step); c.Offset(at) != sign*x.offset || c.Doubted(at) != x.doubted {
				t.Errorf("a step of %s: offset %s, doubted %v", sign*x.step, c.Offset(at), c.Doubted(at))
			}
		}
	}
}

// The Date of the service confirms a clock that is within two minutes of it, and no other; one without a Date says nothing.
func TestTheServicesDateConfirmsWhatIsNear(t *testing.T) {
	for off, want := range map[time.Duration]Grade{0: Trusted, 2 * time.Minute: Trusted, -2 * time.Minute: Trusted, 121 * time.Second: Set, -121 * time.Second: Set} {
		c := New(time.Now(), time.Time{}, SteadyAfter, nil)
		c.Compare(c.started, c.started.Round(0).Add(off))
		if got := c.Grade(c.started); got != want {
			t.Errorf("a date %s away makes the clock %s, want %s", off, got, want)
		}
	}
	c := New(stepped(time.Now(), -time.Duration(time.Now().Unix())*time.Second), time.Time{}, SteadyAfter, nil)
	if c.Compare(c.started, time.Time{}); c.Grade(c.started) != Set {
		t.Error("no date confirms a clock")
	}
}

// A step is seen at the next look, a minute after it at most: the time daemon that made it has marked the clock before that.
// A mark of before the step says nothing about the clock as it is, and one of the time to come is no mark of now.
func TestTheTimeDaemonsMarkOfAStep(t *testing.T) {
	const step = time.Hour
	for _, x := range []struct {
		mark  time.Duration // before the look that sees the step, by the clock as it was set
		grade Grade
	}{
		{0, Trusted}, {30 * time.Second, Trusted}, {time.Minute, Trusted}, {61 * time.Second, Trusted}, // files have whole seconds
		{62 * time.Second, Set}, {time.Hour, Set}, {-time.Minute, Trusted}, {-2 * time.Minute, Set}, {-3 * time.Minute, Set},
	} {
		var mark time.Time
		c := New(time.Now(), time.Time{}, SteadyAfter, func() time.Time { return mark })
		minutes(c, 0, 20, 0)
		mark = stepped(c.started.Add(21*time.Minute), step).Round(0).Add(-x.mark)
		if at := minutes(c, 21, 21, step); c.Grade(at) != x.grade || c.Doubted(at) != (x.grade == Set) {
			t.Errorf("marked %s before a step was seen: %s, want %s", x.mark, c.Grade(at), x.grade)
		}
	}
}

func TestClockIsTrustedOnlyForAReason(t *testing.T) {
	born := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	synced := false
	c := New(born, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 15*time.Minute, func() time.Time {
		if synced {
			return born
		}
		return time.Time{}
	})
	check := func(at time.Time, want Grade, why string) {
		t.Helper()
		if got := c.Grade(at); got != want {
			t.Errorf("%s: grade %s, want %s", why, got, want)
		}
	}
	check(born.AddDate(-56, 0, 0), Unset, "a clock in 1970")
	check(born.Add(time.Minute), Set, "just started")
	check(born.Add(15*time.Minute), Assumed, "steady for a quarter of an hour")
	c.Compare(born, born.Add(10*time.Minute))
	check(born.Add(time.Minute), Set, "the service's date is far off")
	c.Compare(born, born.Add(time.Minute))
	check(born.Add(time.Minute), Trusted, "the service's date agrees")
	synced = true
	check(born, Trusted, "the time daemon says so")
}

// An instant that has lost its monotonic part, as one that was rounded for a person, tells nothing of a step: neither that there was
// one, nor that it was taken back.
func TestAnInstantWithoutItsMonotonicPartIsNoStep(t *testing.T) {
	const day = 24 * time.Hour
	c := New(time.Now(), time.Time{}, SteadyAfter, nil)
	minutes(c, 0, 20, 0)
	at := minutes(c, 21, 25, day)
	if got := c.Deviation(at.Round(0)); got != day {
		t.Errorf("set a day ahead and asked with a rounded instant it is astray %s", got)
	}
	for m := 26; m <= 36; m++ {
		at = minutes(c, m, m, day)
		c.Deviation(at.Round(0))
	}
	if c.Grade(at) != Assumed || c.Doubted(at) || c.Offset(at) != day {
		t.Errorf("a quarter of an hour after the step it is %s, doubted %v, offset %s: looks at it count as steps", c.Grade(at), c.Doubted(at), c.Offset(at))
	}
	at = minutes(c, 37, 37, 2*day)
	c.ConfirmAt(at)
	if c.Grade(at.Round(0)) != Trusted || c.Grade(at) != Trusted {
		t.Error("a look takes a confirmation back")
	}
}

// A clock that began in 1970 and is set was never right before: that is no clock that somebody has moved.
func TestAClockThatIsSetForTheFirstTime(t *testing.T) {
	born := time.Now()
	c := New(stepped(born, -time.Duration(born.Unix())*time.Second), born.Add(-time.Hour), SteadyAfter, nil)
	if at := minutes(c, 0, 3, 0); c.Grade(at) != Unset || c.FirstSet(at) {
		t.Errorf("at the epoch it is %s, set for the first time %v", c.Grade(at), c.FirstSet(at))
	}
	right := time.Duration(born.Unix()) * time.Second
	if at := minutes(c, 4, 5, right); c.Grade(at) != Set || !c.FirstSet(at) || !c.FirstSet(at.Round(0)) {
		t.Errorf("set it is %s, for the first time %v", c.Grade(at), c.FirstSet(at))
	}
	if at := minutes(c, 6, 25, right); c.Grade(at) != Assumed || c.FirstSet(at) {
		t.Errorf("steady it is %s, set for the first time %v", c.Grade(at), c.FirstSet(at))
	}
	if at := minutes(c, 26, 27, right+3*time.Hour); c.FirstSet(at) || c.Deviation(at) != 3*time.Hour {
		t.Errorf("moved later: set for the first time %v, astray %s", c.FirstSet(at), c.Deviation(at))
	}
}
