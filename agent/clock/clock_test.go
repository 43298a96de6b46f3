package clock

import (
	"strings"
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
		c.Compare(c.started, c.started.Round(0).Add(off), true)
		if got := c.Grade(c.started); got != want {
			t.Errorf("a date %s away makes the clock %s, want %s", off, got, want)
		}
	}
	c := New(stepped(time.Now(), -time.Duration(time.Now().Unix())*time.Second), time.Time{}, SteadyAfter, nil)
	if c.Compare(c.started, time.Time{}, true); c.Grade(c.started) != Set {
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
	c.Compare(born, born.Add(10*time.Minute), true)
	check(born.Add(time.Minute), Set, "the service's date is far off")
	c.Compare(born, born.Add(time.Minute), true)
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

// Three answers in a row that put the clock elsewhere speak against it, whoever else vouches for it; it is said by how much. It is not
// moved, and nothing is held back. Answers that differ among themselves, and one that agrees, say nothing against it.
func TestAnswersThatRepeatAnotherTimeSpeakAgainstTheClock(t *testing.T) {
	const h = time.Hour
	for what, x := range map[string]struct {
		answers []time.Duration
		against time.Duration
	}{
		"three alike":               {[]time.Duration{-3 * h, -3*h + time.Second, -3*h + time.Minute}, -3 * h},
		"sixty days":                {[]time.Duration{-1440 * h, -1440 * h, -1440 * h, -1440 * h}, -1440 * h},
		"just beyond":               {[]time.Duration{121 * time.Second, 121 * time.Second, 121 * time.Second}, 121 * time.Second},
		"two":                       {[]time.Duration{-3 * h, -3 * h}, 0},
		"one that agrees between":   {[]time.Duration{-3 * h, -3 * h, 0, -3 * h}, 0},
		"one that agrees at last":   {[]time.Duration{-3 * h, -3 * h, -3 * h, time.Second}, 0},
		"each another":              {[]time.Duration{-3 * h, 2 * h, -5 * h, 7 * h}, 0},
		"another one after two":     {[]time.Duration{-3 * h, -3 * h, -5 * h, -5 * h, -5 * h}, -5 * h},
		"answers without their own": {[]time.Duration{-3 * h, -3 * h, 1 << 62, -3 * h}, -3 * h},
	} {
		for vouched, grade := range map[bool]Grade{false: Set, true: Assumed} {
			if x.against == 0 && (vouched || strings.HasPrefix(what, "one that agrees")) {
				grade = Trusted
			}
			c := New(time.Now(), time.Time{}, SteadyAfter, func() time.Time { return time.Time{} })
			if vouched {
				c.syncedAt = func() time.Time { return c.started }
			}
			for _, off := range x.answers {
				at := c.started.Round(0).Add(off)
				if off == 1<<62 {
					at = time.Time{}
				}
				c.Compare(c.started, at, true)
			}
			if got := c.Contradiction(c.started); got != x.against || c.Doubted(c.started) || c.Offset(c.started) != 0 {
				t.Errorf("%s: against it by %s, want %s; doubted %v, offset %s", what, got, x.against, c.Doubted(c.started), c.Offset(c.started))
			}
			if got := c.Grade(c.started); got != grade {
				t.Errorf("%s, vouched for: %v: %s, want %s", what, vouched, got, grade)
			}
		}
	}
}

// What ends it: the clock is set to what the service says, or a person who knows of it says that the clock is right. That holds until the
// service says something else, or the clock is set; a word from before the service's says nothing of them.
func TestWhatEndsAContradiction(t *testing.T) {
	denied := func() *Clock {
		c := New(time.Now(), time.Time{}, SteadyAfter, nil)
		c.ConfirmAt(c.started)
		for range 3 {
			c.Compare(c.started, c.started.Round(0).Add(-3*time.Hour), true)
		}
		if got := c.Contradiction(c.started); got != -3*time.Hour || c.Grade(c.started) != Assumed {
			t.Fatalf("a person's word of before stands against the service's: %s, %s", got, c.Grade(c.started))
		}
		return c
	}
	says := func(c *Clock, at time.Time, right time.Duration) { // the service, whose clock is so far from where this one was when it began
		for range 3 {
			c.Compare(at, at.Round(0).Add(right-c.Offset(at)), true)
		}
	}
	c := denied()
	at := minutes(c, 1, 1, -3*time.Hour)
	if got := c.Contradiction(at); got != 0 {
		t.Errorf("set to what the service says, it is still against the clock by %s", got)
	}
	if at = minutes(c, 2, 2, time.Hour); c.Contradiction(at) != -4*time.Hour {
		t.Errorf("set away from it, it is against the clock by %s", c.Contradiction(at))
	}
	c = denied()
	c.ConfirmAt(c.started)
	says(c, c.started, -3*time.Hour)
	if got := c.Contradiction(c.started); got != 0 || c.Grade(c.started) != Trusted || c.Voucher(c.started) != Person {
		t.Errorf("what a person knows of is against the clock by %s, which is %s", got, c.Grade(c.started))
	}
	if says(c, c.started, 2*time.Hour); c.Contradiction(c.started) != 2*time.Hour {
		t.Errorf("what a person does not know of is against the clock by %s", c.Contradiction(c.started))
	}
	c = denied()
	c.ConfirmAt(c.started)
	at = minutes(c, 1, 1, 5*time.Minute)
	if says(c, at, -3*time.Hour); c.Contradiction(at) != -3*time.Hour-5*time.Minute {
		t.Errorf("of a clock that was set since a person's word it is against by %s", c.Contradiction(at))
	}
}

// Running steadily proves nothing for a clock that went back, or that the service contradicts: it is in doubt until it is set right or
// somebody vouches for it. A Date that anybody can have written makes no doubt; what it says of one that is there counts as steady running
// does, since a site without TLS has no other witness.
func TestADisprovedClockIsNotBelievedForRunningSteadily(t *testing.T) {
	const day = 24 * time.Hour
	says := func(c *Clock, now time.Time, off time.Duration, verified bool) {
		for range 3 {
			c.Compare(now, now.Round(0).Add(off), verified)
		}
	}
	for what, x := range map[string]struct {
		step    time.Duration
		then    func(c *Clock, at time.Time)
		doubted bool
	}{
		"ahead, nobody says anything":                 {day, func(*Clock, time.Time) {}, false},
		"ahead, denied":                               {400 * day, func(c *Clock, at time.Time) { says(c, at, -400*day, true) }, true},
		"ahead, denied without TLS":                   {400 * day, func(c *Clock, at time.Time) { says(c, at, -400*day, false) }, true},
		"ahead, denied by a clock that was never set": {400 * day, func(c *Clock, at time.Time) { says(c, at, -30*365*day, false) }, false},
		"ahead, denied, and no longer, without TLS": {day, func(c *Clock, at time.Time) {
			says(c, at, -day, false)
			says(c, at, 0, false)
		}, false},
		"ahead, denied, a person knows":    {day, func(c *Clock, at time.Time) { says(c, at, -day, true); c.ConfirmAt(at) }, false},
		"back":                             {-3 * time.Hour, func(*Clock, time.Time) {}, true},
		"back, agreed without TLS":         {-day, func(c *Clock, at time.Time) { says(c, at, 0, false) }, false},
		"back, agreed":                     {-day, func(c *Clock, at time.Time) { says(c, at, 0, true) }, false},
		"back, a person knows":             {-day, func(c *Clock, at time.Time) { c.ConfirmAt(at) }, false},
		"a correction, denied without TLS": {time.Minute, func(c *Clock, at time.Time) { says(c, at, -day, false) }, false},
	} {
		c := New(time.Now(), time.Now().Add(-365*day), SteadyAfter, nil)
		minutes(c, 0, 20, 0)
		x.then(c, minutes(c, 21, 21, x.step))
		at := minutes(c, 22, 600, x.step)
		if c.Doubted(at) != x.doubted || c.Disproved(at) != x.doubted {
			t.Errorf("%s: doubted %v, disproved %v", what, c.Doubted(at), c.Disproved(at))
		}
		if at = minutes(c, 601, 601, 0); x.doubted && (c.Doubted(at) || !c.WantsWitness(at)) {
			t.Errorf("%s: set right it is doubted %v, and wants a witness %v", what, c.Doubted(at), c.WantsWitness(at))
		}
	}
}

func TestAContradictionInWords(t *testing.T) {
	for off, want := range map[time.Duration]string{
		-3 * time.Hour: "3 h earlier", 125 * time.Second: "2 min later", 90 * time.Minute: "1 h 30 min later", -3*time.Hour - time.Second: "3 h earlier",
		-60 * 24 * time.Hour: "60 days earlier", 47 * time.Hour: "47 h later", -59*time.Minute - 40*time.Second: "1 h earlier", 71 * time.Hour: "3 days later",
	} {
		if got := Says(off); got != "the service says that it is "+want {
			t.Errorf("%s: %q, want %q", off, got, want)
		}
	}
}
