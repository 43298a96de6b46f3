package clock

import (
	"errors"
	"testing"
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

// How long a clock has been steady counts over a restart of the program: from the step on, and with the pause.
func TestASteadyClockStaysSteadyOverARestart(t *testing.T) {
	c := New(time.Now(), time.Time{}, SteadyAfter, nil)
	minutes(c, 0, 20, 0)
	minutes(c, 21, 26, time.Hour) // five minutes of 15
	at := stepped(c.started.Add(26*time.Minute), time.Hour)
	r, err := c.Save(at, upFor("b1", 26*time.Minute))
	if err != nil || r.Steady != 5*time.Minute || r.Astray != time.Hour || !r.Zero.Equal(at.Add(-26*time.Minute)) || r.Confirmed {
		t.Fatalf("left is %+v, %v", r, err)
	}
	next := New(at.Add(4*time.Minute), time.Time{}, SteadyAfter, nil) // down for four minutes
	if err := next.Resume(r, time.Time{}, next.started, upFor("b1", 30*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if !next.Doubted(next.started) || next.Deviation(next.started) != time.Hour {
		t.Errorf("taken up: doubted %v, astray %s; want an hour", next.Doubted(next.started), next.Deviation(next.started))
	}
	if at := minutes(next, 1, 5, 0); next.Grade(at) != Set {
		t.Errorf("14 minutes after the step it is %s", next.Grade(at))
	}
	if at := minutes(next, 6, 6, 0); next.Grade(at) != Assumed || next.Doubted(at) {
		t.Errorf("15 minutes after the step it is %s", next.Grade(at))
	}
	next.Confirm()
	if r, err := next.Save(next.started, upFor("b1", 30*time.Minute)); err != nil || !r.Confirmed || r.Astray != 0 {
		t.Errorf("a clock that a person has confirmed leaves %+v, %v", r, err)
	}
}

// A clock that was believed after a step, and then set again, is astray from where it was believed, not from where the run
// began: that is what the next run has to know.
func TestWhatARunLeavesOfADoubt(t *testing.T) {
	const day = 24 * time.Hour
	c := New(time.Now(), time.Time{}, SteadyAfter, nil)
	minutes(c, 0, 20, 0)
	minutes(c, 21, 40, day)
	at := minutes(c, 41, 42, day+2*time.Hour)
	if r, err := c.Save(at, upFor("b1", time.Hour)); err != nil || r.Astray != 2*time.Hour {
		t.Errorf("left is %+v, %v; want two hours astray", r, err)
	}
	if _, err := c.Save(at, noUptime("b1")); !errors.Is(err, errUptime) {
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
		r := Saved{Boot: "b1", Zero: right, Steady: 5 * time.Minute, Uptime: up, Confirmed: true, Astray: x.left}
		now := right.Add(up + down + x.step)
		c := New(now, time.Time{}, SteadyAfter, nil)
		if err := c.Resume(r, time.Time{}, now, upFor(x.boot, x.up)); err != nil {
			t.Fatal(err)
		}
		if doubt := c.inDoubt; doubt != (x.astray != 0) || doubt && c.offset-c.believedOffset != x.astray || c.Grade(now) != x.grade {
			t.Errorf("%s: doubt %v, astray %s, want %s; %s, want %s", x.why, doubt, c.offset-c.believedOffset, x.astray, c.Grade(now), x.grade)
		}
	}
	c := New(time.Now(), time.Time{}, SteadyAfter, nil)
	if err := c.Resume(Saved{}, time.Time{}, c.started, noUptime("b1")); err != nil || c.inDoubt {
		t.Errorf("nothing was left: %v", err)
	}
	if err := c.Resume(Saved{Boot: "b1"}, time.Time{}, c.started, noUptime("b1")); !errors.Is(err, errUptime) {
		t.Errorf("without an uptime: %v", err)
	}
}

// The clock is set while the program is down: on the same boot of the box that is seen whichever way it went, after
// another boot when it is behind what was seen before. The time daemon's marker counts when it is younger than the step.
func TestAStepWhileTheProgramIsDown(t *testing.T) {
	up := 2 * time.Hour
	uptime := func() (time.Duration, error) { return up, nil }
	born := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	first := New(born, time.Time{}, SteadyAfter, nil)
	up += time.Hour
	r, err := first.Save(born.Add(time.Hour), Boot{"b1", uptime})
	if err != nil {
		t.Fatal(err)
	}
	up += 10 * time.Minute
	right := born.Add(70 * time.Minute)
	for _, c := range []struct {
		why    string
		boot   string
		at     time.Time
		marker time.Time
		doubt  bool
	}{
		{"nobody set it", "b1", right, time.Time{}, false},
		{"it was corrected", "b1", right.Add(time.Minute), time.Time{}, false},
		{"it went a day ahead", "b1", right.Add(24 * time.Hour), time.Time{}, true},
		{"it went an hour back", "b1", right.Add(-time.Hour), time.Time{}, true},
		{"it went a day ahead, and the time daemon had set it before", "b1", right.Add(24 * time.Hour), born, true},
		{"the time daemon set it a day ahead", "b1", right.Add(24 * time.Hour), right.Add(24*time.Hour - time.Minute), false},
		{"a boot with a clock that is behind", "b2", right.Add(-24 * time.Hour), time.Time{}, true},
		{"a boot with a clock that goes on", "b2", right, time.Time{}, false},
	} {
		next := New(c.at, time.Time{}, SteadyAfter, func() time.Time { return c.marker })
		if err := next.Resume(r, time.Time{}, c.at, Boot{c.boot, uptime}); err != nil {
			t.Fatal(err)
		}
		if got := next.Doubted(c.at.Add(time.Second)); got != c.doubt {
			t.Errorf("%s: doubted %v, want %v", c.why, got, c.doubt)
		}
		if still := next.Doubted(c.at.Add(SteadyAfter + time.Second)); still != (c.doubt && c.at.Before(right)) {
			t.Errorf("%s: in doubt after a quarter of an hour without a step: %v", c.why, still)
		}
	}
}

// A box that was cut from its power comes up with a clock behind the newest time of its store, however long ago the clock was saved; and
// again, before anybody has set it.
func TestABootBehindTheStoresNewestTime(t *testing.T) {
	const day = 24 * time.Hour
	right := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	r := Saved{Boot: "b1", Zero: right.Add(-3 * day), Uptime: time.Hour, Confirmed: true}
	for _, boot := range []string{"b2", "b3"} {
		now := right.Add(-day)
		next := New(now, time.Time{}, SteadyAfter, nil)
		if err := next.Resume(r, right, now, upFor(boot, time.Minute)); err != nil {
			t.Fatal(err)
		}
		at := now.Add(10 * time.Hour)
		if !next.Doubted(at) || next.Grade(at) != Set || next.Deviation(at).Round(time.Hour) != -day {
			t.Fatalf("%s: a day behind it is %s, astray %s", boot, next.Grade(at), next.Deviation(at))
		}
		var err error
		if r, err = next.Save(now.Add(time.Minute), upFor(boot, 2*time.Minute)); err != nil || r.Astray.Round(time.Hour) != -day {
			t.Fatalf("%s: left is %+v, %v", boot, r, err)
		}
	}
}

// A run that ends while its clock is in doubt leaves the doubt to the next one.
func TestARestartKeepsTheDoubt(t *testing.T) {
	boot := Boot{"b1", func() (time.Duration, error) { return time.Hour, nil }}
	born := time.Now()
	c := New(born, time.Time{}, SteadyAfter, nil)
	ahead := stepped(born, 24*time.Hour)
	if !c.Doubted(ahead) {
		t.Fatal("a clock that was set a day ahead is not in doubt")
	}
	r, err := c.Save(ahead, boot)
	if err != nil {
		t.Fatal(err)
	}
	for what, at := range map[string]time.Time{"as it was": ahead, "set back": born} {
		next := New(at, time.Time{}, SteadyAfter, nil)
		if err := next.Resume(r, time.Time{}, at, boot); err != nil {
			t.Fatal(err)
		}
		if got := next.Doubted(at); got != (what == "as it was") {
			t.Errorf("%s: doubted %v", what, got)
		}
	}
}

func TestARestartDoesNotUndoASteadyClock(t *testing.T) {
	up := 2 * time.Hour
	boot := Boot{ID: "b1", Uptime: func() (time.Duration, error) { return up, nil }}
	born := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	first := New(born, time.Time{}, 15*time.Minute, nil)
	up += 16 * time.Minute
	r, err := first.Save(born.Add(16*time.Minute), boot)
	if err != nil {
		t.Fatal(err)
	}
	again := born.Add(20 * time.Minute)
	up += 4 * time.Minute
	for _, c := range []struct {
		why  string
		boot Boot
		at   time.Time
		want Grade
	}{
		{"the same boot", boot, again, Assumed},
		{"another boot", Boot{ID: "b2", Uptime: boot.Uptime}, again, Set},
		{"the clock was set in between", boot, again.Add(time.Hour), Set},
	} {
		next := New(c.at, time.Time{}, 15*time.Minute, nil)
		if err := next.Resume(r, time.Time{}, c.at, c.boot); err != nil {
			t.Fatal(err)
		}
		if got := next.Grade(c.at.Add(time.Second)); got != c.want {
			t.Errorf("%s: grade %s, want %s", c.why, got, c.want)
		}
	}
	if b := ThisBoot(); b.ID != "" {
		if d, err := b.Uptime(); err != nil || d <= 0 {
			t.Errorf("uptime of this box: %s, %v", d, err)
		}
	}
}

// What the service says against the clock outlives a restart, by as much as the clock is away from it then, and so does that a person knows.
func TestARestartKeepsWhatTheServiceSays(t *testing.T) {
	for step, want := range map[time.Duration]time.Duration{0: -3 * time.Hour, -3 * time.Hour: 0, time.Hour: -4 * time.Hour} {
		for _, known := range []bool{false, true} {
			c := New(time.Now(), time.Time{}, SteadyAfter, nil)
			for range 3 {
				c.Compare(c.started, c.started.Round(0).Add(-3*time.Hour), true)
			}
			if known {
				c.ConfirmAt(c.started)
			}
			r, err := c.Save(c.started, upFor("b1", time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			now := stepped(c.started.Add(time.Minute), step)
			next := New(now, time.Time{}, SteadyAfter, nil)
			if err := next.Resume(r, time.Time{}, now, upFor("b1", time.Hour+time.Minute)); err != nil {
				t.Fatal(err)
			}
			want, voucher := want, Nobody
			if known && step == 0 {
				want, voucher = 0, Person
			}
			if got := next.Contradiction(now); got != want || next.Voucher(now) != voucher {
				t.Errorf("set by %s, a person knows %v: against it by %s, want %s; vouched for by %d", step, known, got, want, next.Voucher(now))
			}
			next.Compare(now, now.Round(0).Add(-3*time.Hour-step), true)
			if got := next.Contradiction(now); got != want {
				t.Errorf("set by %s, a person knows %v: after one more answer against it by %s, want %s", step, known, got, want)
			}
		}
	}
}

// A service without TLS vouches for no clock; but where its answers agree with one that is behind the store's newest time, as after a
// clock that was ahead, it is believed again for running steadily: nobody else may ever come to say so.
func TestAServiceWithoutTLSLetsAClockThatWentBackGoOn(t *testing.T) {
	right := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		off  time.Duration
		want bool
	}{{0, false}, {-3 * time.Hour, true}} {
		c := New(right, time.Time{}, SteadyAfter, nil)
		if err := c.Resume(Saved{Boot: "b1", Zero: right.Add(-time.Hour), Uptime: time.Hour}, right.Add(24*time.Hour), right, upFor("b2", time.Minute)); err != nil {
			t.Fatal(err)
		}
		for range repeated {
			c.Compare(right, right.Add(x.off), false)
		}
		if got := c.Doubted(right.Add(SteadyAfter + time.Minute)); got != x.want || c.Voucher(right) != Nobody {
			t.Errorf("answers that are %s off: in doubt %v, want %v", x.off, got, x.want)
		}
	}
}
