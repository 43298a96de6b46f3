package ledger

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
)

// draw plays rest, a fall of inches at 2 in a minute, and rest again.
func (b *bench) draw(from, inches float64, before, after time.Duration) {
	fall := time.Duration(inches / 2 * float64(time.Minute))
	begin := time.Now()
	for e := time.Duration(0); e < before+fall+after; e = time.Since(begin) {
		b.emit("level", from-2*min(max(e-before, 0), fall).Minutes())
		pass(10 * time.Second)
		if err := b.Tick(time.Now()); err != nil {
			b.t.Fatal(err)
		}
	}
}

// know asks about an instant.
func (b *bench) know(at time.Time) *Explanation {
	b.t.Helper()
	w, err := b.Explain(ExplainArgs{Tank: "TK-1", At: at})
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

func TestWhyThereIsNoTicketIsKnownAlsoAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		began := time.Now()
		b.draw(180, 6, time.Hour, 90*time.Minute)
		b.again()
		w := b.know(began.Add(62 * time.Minute))
		if len(w.Tickets) != 0 || len(w.Waiting) != 0 || len(w.Verdicts) != 1 {
			t.Fatalf("known %+v, want one verdict", w)
		}
		v := w.Verdicts[0]
		if v.What != tank.TooSmall || v.Bbl < 9.5 || v.Bbl > 10.6 || v.Start.Sub(began.Add(time.Hour)).Abs() > time.Minute {
			t.Errorf("verdict %+v, want a small draw of about 10 bbl", v)
		}
		if w.MinLoad != 25 || w.MinRate != 0.5 || len(w.Levels) == 0 || w.Oldest.IsZero() {
			t.Errorf("known %g bbl, %g bbl/min, %d levels from %v", w.MinLoad, w.MinRate, len(w.Levels), w.Oldest)
		}
		if later := b.know(began.Add(150 * time.Minute)); len(later.Verdicts) != 0 {
			t.Errorf("of an hour and a half later: %+v", later.Verdicts)
		}
	})
}

func TestALoadThatWaitsAndOneWithATicketAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		began := time.Now()
		b.haul(10 * time.Minute)
		at := began.Add(70 * time.Minute)
		if w := b.know(at); len(w.Waiting) != 1 || len(w.Tickets)+len(w.Verdicts) != 0 || w.Waiting[0].Until.Sub(began.Add(130*time.Minute)).Abs() > time.Minute {
			t.Errorf("while it waits: %+v", w)
		}
		for range 45 {
			b.emit("level", 80)
			pass(time.Minute)
			if err := b.Tick(time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		w := b.know(at)
		if len(w.Tickets) != 1 || len(w.Waiting)+len(w.Verdicts) != 0 {
			t.Fatalf("with its ticket: %+v", w)
		}
		l := w.Tickets[0].Load
		if l.Trend == nil || l.Rivals == nil {
			t.Errorf("the ticket's load keeps %+v", l)
		}
		if b := w.Tickets[0]; b.Day == "" || b.Volumes == nil {
			t.Errorf("the ticket keeps the day %q and the volumes %+v", b.Day, b.Volumes)
		}
	})
}

func TestTheJournalIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		keep := func(at time.Time, id string) {
			t.Helper()
			tx := b.begin(time.Now())
			tx.putVerdict(tank.Verdict{Tank: id, What: tank.TooSmall, Start: at, End: at})
			if err := b.commit(tx, ""); err != nil {
				t.Fatal(err)
			}
		}
		first := time.Now()
		for range verdictsKept + 30 {
			keep(time.Now(), "TK-1")
			pass(time.Minute)
		}
		keep(time.Now(), "TK-10") // another tank's do not count
		all, err := b.verdicts("TK-1", time.Time{}, time.Now())
		if err != nil || len(all) != verdictsKept || !all[0].Start.After(first.Add(25*time.Minute)) {
			t.Fatalf("%d verdicts (%v), want the last %d", len(all), err, verdictsKept)
		}
		pass(verdictsFor)
		b.clock.Confirm()
		keep(time.Now(), "TK-1")
		if all, err = b.verdicts("TK-1", time.Time{}, time.Now()); err != nil || len(all) > 5 {
			t.Errorf("%d verdicts (%v) after sixty days, want the new one", len(all), err)
		}
	})
}

// A fault of the sensor is in the journal once; a transfer, whose verdict says more, not as an event too.
func TestEventsThatAVerdictCoversAreNotKeptTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		at := time.Now()
		event := func(rule string) tank.Outcome {
			return tank.Outcome{Event: &tank.Event{Rule: rule, Tank: "TK-1", Note: "tank TK-1: x", Start: at, End: at}}
		}
		tx := b.begin(at)
		stuck := event("stuck")
		stuck.Event.Start = at.Add(-time.Hour)
		tx.journalOutcomes([]tank.Outcome{stuck, event("transfer"), event("unexplained-loss"), {Verdict: &tank.Verdict{Tank: "TK-1", What: tank.TooSlow, Start: at, End: at}}})
		if err := b.commit(tx, ""); err != nil {
			t.Fatal(err)
		}
		all, err := b.verdicts("TK-1", at, at)
		got := ""
		for _, v := range all {
			got += fmt.Sprintf("%s %q ", v.What, v.Why)
		}
		if err != nil || got != `stuck "x" loss "" ` {
			t.Errorf("journal %s(%v), want the loss and the stuck value", got, err)
		}
	})
}
