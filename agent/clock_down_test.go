package agent

import (
	"slices"
	"testing"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
)

// Deadlines that were stored while the clock was ahead, and that was corrected while the program was down: each is no
// further away than its own length.
func TestNoDeadlineIsFurtherAwayThanItsOwnLength(t *testing.T) {
	const ahead = 5 * 24 * time.Hour
	w := newWrong(t, func(s *Site) {
		valued(s)
		s.Values[1].Every = 6 * 24 * time.Hour
		s.HoldDoubtful = true
	})
	w.off = ahead
	w.read("plc/level", 110, false)
	w.clock.confirm(w.now())
	w.pass(time.Minute)
	w.mu.Lock()
	d := w.draft(w.now())
	now := d.now.Round(0)
	load := func() tank.Load { return tank.Load{Tank: "TK-1", Began: now, Start: now, End: now.Add(time.Minute)} }
	d.held = []Held{
		{Load: load(), Number: "A-1", Due: now.Add(45 * time.Minute)},
		{Load: load(), Number: "A-2", Due: now.Add(3 * time.Hour), Stop: &Stop{Person: "ann", At: now, Until: now.Add(3 * time.Hour)}},
		{Load: tank.Load{Tank: "TK-1", Began: now, Start: now, End: now, Review: []string{"doubtful"}}, Number: "A-3", Due: now.Add(-time.Hour), Asked: now, Told: now},
	}
	d.keep(heldState, d.held)
	d.work = []Inhibit{{Tank: "TK-1", Person: "ann", Why: "x", From: now, Until: now.Add(2 * time.Hour)}}
	d.keep(workState, d.work)
	d.notice(collectors.Notice{Rule: "comm-loss", Source: "radio", Note: "x", Since: now})
	err := w.commit(d, "")
	w.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	w.again() // the new run's clock is right
	w.at, w.off = w.born, 0
	w.clock.confirm(w.now())
	w.pass(tickEvery)
	s := &w.s
	if got := s.held[0].Due.Sub(w.at); got > w.site.Hold || got < 0 && got < -ahead {
		t.Errorf("a ticket whose hold is %s leaves in %s", w.site.Hold, got)
	}
	if got := s.held[1].Due.Sub(w.at); got > 3*time.Hour || !s.held[1].Stop.Until.Equal(s.held[1].Due) {
		t.Errorf("a ticket that a person holds for 3 h leaves in %s", got)
	}
	if k := s.work[0]; k.Until.Sub(w.at) > 2*time.Hour || w.at.Before(k.From) {
		t.Errorf("two hours of work on a tank go from %s to %s", k.From, k.Until)
	}
	if n := len(w.bodies(Targets)); n != 1 {
		t.Fatalf("%d targets, want the one of before", n)
	}
	w.read("plc/level", 110, false)
	if n := len(w.bodies(Targets)); n != 2 {
		t.Errorf("a target whose interval was begun by a clock that was ahead waits: %d targets, want 2", n)
	}
	reminded := len(w.rules())
	w.pass(25 * time.Hour)
	rules := w.rules()[reminded:]
	if !slices.Contains(rules, "load-needs-review") || !slices.Contains(rules, "comm-loss") {
		t.Errorf("within a day after a reminder that is dated ahead: %v, want the next one, and what has lasted for an hour", rules)
	}
	all, err := w.Tickets()
	if err != nil || len(w.bodies(Tickets)) != 2 {
		t.Errorf("%d tickets left within a day, want 2 (%v): %+v", len(w.bodies(Tickets)), err, all)
	}
}

// What was stored by a right clock stays what it was when the box begins in 1970 and its clock is set.
func TestDeadlinesOfBeforeASetClockStay(t *testing.T) {
	w := newWrong(t, nil)
	now := w.born.Round(0)
	until := now.Add(2 * time.Hour)
	d := w.draft(w.now())
	d.held = []Held{{Load: tank.Load{Tank: "TK-1", Began: now, Start: now, End: now}, Number: "A-1", Due: until}}
	d.keep(heldState, d.held)
	d.work = []Inhibit{{Tank: "TK-1", Person: "ann", Why: "x", From: now, Until: until}}
	d.keep(workState, d.work)
	if err := w.commit(d, ""); err != nil {
		t.Fatal(err)
	}
	w.site.Hold = 3 * time.Hour
	w.again()
	w.at, w.clock.born, w.clock.notBefore = w.born, stepped(w.born, -56*365*24*time.Hour), now.AddDate(-1, 0, 0)
	w.Ledger.born = w.clock.born
	w.off = -56 * 365 * 24 * time.Hour
	w.pass(time.Minute)
	if d := w.draft(w.now()); d.inhibiting("TK-1", d.now) < 0 {
		t.Error("a tank that is being worked on is not inhibited while the clock is not set")
	}
	w.off = 0
	w.clock.confirm(w.now())
	w.pass(time.Minute)
	if got := w.s.held[0].Due; !got.Equal(until) {
		t.Errorf("a ticket leaves at %s, before the box was booted at %s", got, until)
	}
	if k := w.s.work[0]; !k.From.Equal(now) || !k.Until.Equal(until) {
		t.Errorf("work from %s to %s, before the box was booted from %s to %s", k.From, k.Until, now, until)
	}
}

// The clock is set while the program is down: on the same boot of the box that is seen whichever way it went, after
// another boot when it is behind what was seen before. The time daemon's marker counts when it is younger than the step.
func TestAStepWhileTheProgramIsDown(t *testing.T) {
	up := 2 * time.Hour
	uptime := func() (time.Duration, error) { return up, nil }
	born := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	first := NewClock(born, time.Time{}, steadyFor, nil)
	up += time.Hour
	r, err := first.record(born.Add(time.Hour), Boot{"b1", uptime})
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
		next := NewClock(c.at, time.Time{}, steadyFor, func() time.Time { return c.marker })
		if err := next.resume(r, c.at, Boot{c.boot, uptime}); err != nil {
			t.Fatal(err)
		}
		if got := next.Doubted(c.at.Add(time.Second)); got != c.doubt {
			t.Errorf("%s: doubted %v, want %v", c.why, got, c.doubt)
		}
		if next.Doubted(c.at.Add(steadyFor + time.Second)) {
			t.Errorf("%s: still in doubt after a quarter of an hour without a step", c.why)
		}
	}
}

// A run that ends while its clock is in doubt leaves the doubt to the next one.
func TestARestartKeepsTheDoubt(t *testing.T) {
	boot := Boot{"b1", func() (time.Duration, error) { return time.Hour, nil }}
	born := time.Now()
	c := NewClock(born, time.Time{}, steadyFor, nil)
	ahead := stepped(born, 24*time.Hour)
	if !c.Doubted(ahead) {
		t.Fatal("a clock that was set a day ahead is not in doubt")
	}
	r, err := c.record(ahead, boot)
	if err != nil {
		t.Fatal(err)
	}
	for what, at := range map[string]time.Time{"as it was": ahead, "set back": born} {
		next := NewClock(at, time.Time{}, steadyFor, nil)
		if err := next.resume(r, at, boot); err != nil {
			t.Fatal(err)
		}
		if got := next.Doubted(at); got != (what == "as it was") {
			t.Errorf("%s: doubted %v", what, got)
		}
	}
}
