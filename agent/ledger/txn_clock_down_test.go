package ledger

import (
	"slices"
	"testing"
	"time"

	"gauger/agent/clock"
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
	w.clock.ConfirmAt(w.now())
	w.pass(time.Minute)
	tx := w.begin(w.now())
	now := tx.now.Round(0)
	load := func() tank.Load { return tank.Load{Tank: "TK-1", Began: now, Start: now, End: now.Add(time.Minute)} }
	tx.held.all = []HeldTicket{
		{Load: load(), Number: "A-1", Due: now.Add(45 * time.Minute)},
		{Load: load(), Number: "A-2", Due: now.Add(3 * time.Hour), Stop: &HoldOrder{Person: "ann", At: now, Until: now.Add(3 * time.Hour)}},
		{Load: tank.Load{Tank: "TK-1", Began: now, Start: now, End: now, Review: []string{"doubtful"}}, Number: "A-3", Due: now.Add(-time.Hour), Asked: now, Told: now},
	}
	tx.putJSON(heldKey, tx.held.all)
	tx.inhibitions = []Inhibition{{Tank: "TK-1", Person: "ann", Why: "x", From: now, Until: now.Add(2 * time.Hour)}}
	tx.putJSON(inhibitionsKey, tx.inhibitions)
	tx.applyNotice(collectors.Notice{Rule: "comm-loss", Source: "radio", Note: "x", Since: now})
	err := w.commit(tx, "")
	if err != nil {
		t.Fatal(err)
	}
	w.again() // the new run's clock is right
	w.at, w.off = w.started, 0
	w.clock.ConfirmAt(w.now())
	w.pass(tickEvery)
	s := &w.state
	if got := s.held.all[0].Due.Sub(w.at); got > w.site.Hold || got < 0 && got < -ahead {
		t.Errorf("a ticket whose hold is %s leaves in %s", w.site.Hold, got)
	}
	if got := s.held.all[1].Due.Sub(w.at); got > 3*time.Hour || !s.held.all[1].Stop.Until.Equal(s.held.all[1].Due) {
		t.Errorf("a ticket that a person holds for 3 h leaves in %s", got)
	}
	if k := s.inhibitions[0]; k.Until.Sub(w.at) > 2*time.Hour || w.at.Before(k.From) {
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
	now := w.started.Round(0)
	until := now.Add(2 * time.Hour)
	tx := w.begin(w.now())
	tx.held.all = []HeldTicket{{Load: tank.Load{Tank: "TK-1", Began: now, Start: now, End: now}, Number: "A-1", Due: until}}
	tx.putJSON(heldKey, tx.held.all)
	tx.inhibitions = []Inhibition{{Tank: "TK-1", Person: "ann", Why: "x", From: now, Until: until}}
	tx.putJSON(inhibitionsKey, tx.inhibitions)
	if err := w.commit(tx, ""); err != nil {
		t.Fatal(err)
	}
	w.site.Hold = 3 * time.Hour
	w.again()
	w.at, w.Ledger.started = w.started, stepped(w.started, -56*365*24*time.Hour)
	w.clock = clock.New(w.Ledger.started, now.AddDate(-1, 0, 0), w.site.Steady(), nil)
	w.off = -56 * 365 * 24 * time.Hour
	w.pass(time.Minute)
	if tx := w.begin(w.now()); tx.inhibitionAt("TK-1", tx.now) < 0 {
		t.Error("a tank that is being worked on is not inhibited while the clock is not set")
	}
	w.off = 0
	w.clock.ConfirmAt(w.now())
	w.pass(time.Minute)
	if got := w.state.held.all[0].Due; !got.Equal(until) {
		t.Errorf("a ticket leaves at %s, before the box was booted at %s", got, until)
	}
	if k := w.state.inhibitions[0]; !k.From.Equal(now) || !k.Until.Equal(until) {
		t.Errorf("work from %s to %s, before the box was booted from %s to %s", k.From, k.Until, now, until)
	}
}
