package agent

import (
	"testing"
	"time"
)

// minutes looks at a clock once a minute, until to minutes after it was born, with its wall clock off by so much.
func minutes(c *Clock, from, to int, off time.Duration) (last time.Time) {
	for m := from; m <= to; m++ {
		last = stepped(c.born.Add(time.Duration(m)*time.Minute), off)
		c.Grade(last)
	}
	return last
}

// A clock that was set and has been believed since is the right one from then on: a correction of it holds nothing, and
// what it is set back to is a doubt, by as much as it is away from where it was believed.
func TestAClockIsMeasuredByWhereItWasLastBelieved(t *testing.T) {
	const day = 24 * time.Hour
	c := NewClock(time.Now(), time.Time{}, steadyFor, nil)
	minutes(c, 0, 20, 0)
	if at := minutes(c, 21, 21, day); !c.Doubted(at) || c.Astray(at) != day || c.Offset(at) != day {
		t.Errorf("set a day ahead: doubted %v, astray %s, offset %s", c.Doubted(at), c.Astray(at), c.Offset(at))
	}
	if at := minutes(c, 22, 35, day); c.Grade(at) != Set || !c.Doubted(at) {
		t.Errorf("14 minutes after the step it is %s", c.Grade(at))
	}
	if at := minutes(c, 36, 36, day); c.Grade(at) != Assumed || c.Doubted(at) || c.Astray(at) != 0 {
		t.Errorf("a quarter of an hour after the step it is %s, astray %s", c.Grade(at), c.Astray(at))
	}
	if at := minutes(c, 37, 40, day+10*time.Second); c.Grade(at) != Assumed || c.Doubted(at) || c.Offset(at) != day+10*time.Second {
		t.Errorf("corrected by ten seconds it is %s, offset %s", c.Grade(at), c.Offset(at))
	}
	if at := minutes(c, 41, 41, -time.Hour); c.Grade(at) != Set || !c.Doubted(at) || c.Astray(at) != -time.Hour-day-10*time.Second {
		t.Errorf("set back by a day and an hour it is %s, astray %s", c.Grade(at), c.Astray(at))
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
			c := NewClock(time.Now(), time.Time{}, steadyFor, nil)
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
		c := NewClock(time.Now(), time.Time{}, steadyFor, nil)
		c.Compare(c.born, c.born.Round(0).Add(off))
		if got := c.Grade(c.born); got != want {
			t.Errorf("a date %s away makes the clock %s, want %s", off, got, want)
		}
	}
	c := NewClock(stepped(time.Now(), -time.Duration(time.Now().Unix())*time.Second), time.Time{}, steadyFor, nil)
	if c.Compare(c.born, time.Time{}); c.Grade(c.born) != Set {
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
		c := NewClock(time.Now(), time.Time{}, steadyFor, func() time.Time { return mark })
		minutes(c, 0, 20, 0)
		mark = stepped(c.born.Add(21*time.Minute), step).Round(0).Add(-x.mark)
		if at := minutes(c, 21, 21, step); c.Grade(at) != x.grade || c.Doubted(at) != (x.grade == Set) {
			t.Errorf("marked %s before a step was seen: %s, want %s", x.mark, c.Grade(at), x.grade)
		}
	}
}
