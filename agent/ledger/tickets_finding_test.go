package ledger

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
	"gauger/agent/tankbook"
)

// back is a day on which a load's oil comes back three hours after it left.
func (b *bench) back() {
	b.haul(3 * time.Hour)
	b.play(2*time.Hour, func(e time.Duration) float64 { return 80 + min(e.Minutes(), 40)*2 })
}

func TestALaterFindingOfASentTicketIsOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.back()
		b.again()
		b.play(2*time.Hour, func(time.Duration) float64 { return 160 })
		all, err := b.Tickets()
		b.must(err)
		if len(all) != 1 || len(all[0].Found) != 1 || len(b.bodies(Tickets)) != 1 {
			t.Fatalf("booked %+v", all)
		}
		n := b.notes("ticket-correction")
		if len(n) != 1 || !strings.Contains(n[0], "ticket "+all[0].Number+", 180.00 to 80.00 in as sent: ") || !strings.Contains(n[0], "came back within") {
			t.Errorf("events %q", n)
		}
		load := all[0].Load
		if r := b.bookTicketOf(tankbook.Run{Start: load.Start, Bbl: load.GaugeBbl}, "TK-1", all); r.State != "waiting" || !strings.Contains(r.Why, "came back within") {
			t.Errorf("the tank book says %+v of its run", r)
		}
		b.match(MatchArgs{Number: all[0].Number, Hauler: "1", Bbl: 168})
		all, err = b.Tickets()
		b.must(err)
		if len(all[0].Found) != 1 || len(all[0].Matches) != 1 {
			t.Errorf("after a match the book has %+v", all[0])
		}
	})
}

func TestALaterFindingMarksAHeldTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Hold, s.HoldDoubtful = 12*time.Hour, true })
		b.back()
		if h := b.only(); len(h.Load.Review) != 1 || !strings.Contains(h.Load.Review[0], "came back within") || !h.waitsForPerson(&b.site) {
			t.Errorf("held %+v", h)
		}
		if n := b.notes("ticket-correction"); len(n) != 0 {
			t.Errorf("events %q for a ticket that has not left", n)
		}
	})
}

func TestTheTimesOfAClockThatWasSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.haul(time.Hour)
		all, err := b.Tickets()
		b.must(err)
		sent := all[0]
		tell := func(settled bool, by time.Duration) {
			tx := b.begin(time.Now())
			tx.applyCorrection(tank.Correction{Tank: "TK-1", Began: sent.Load.Began, Start: sent.Load.Start.Add(by), End: sent.Load.End.Add(by), Settled: settled})
			b.must(b.commit(tx, ""))
		}
		tell(false, time.Hour)     // it may go back
		tell(true, 20*time.Second) // it did
		if n := b.notes("ticket-correction"); len(n) != 0 {
			t.Fatalf("events %q", n)
		}
		tell(true, time.Hour)
		n := b.notes("ticket-correction")
		if len(n) != 1 || !strings.Contains(n[0], "by the clock that was set since it went from 2000-01-01 02:0") {
			t.Errorf("events %q", n)
		}
		tell(true, 5*time.Second) // set back: what was told of it is taken back, once
		tell(true, 0)
		if n = b.notes("ticket-correction"); len(n) != 2 || !strings.Contains(n[1], "its times as sent are right") {
			t.Errorf("events %q of a clock that was set back", n)
		}
	})
}

func TestTheTimesOfAHeldTicketAreThoseOfTheNewestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, longHold)
		b.haul(50 * time.Minute)
		h := b.only()
		for range 2 { // told twice, moved once
			tx := b.begin(time.Now())
			tx.applyCorrection(tank.Correction{Tank: "TK-1", Began: h.Load.Began, Start: h.Load.Start.Add(time.Hour), End: h.Load.End.Add(time.Hour)})
			b.must(b.commit(tx, ""))
		}
		tx := b.begin(time.Now())
		tx.held.shift(tx.now, time.Hour, &b.site) // the wait stays as long as it was
		b.must(b.commit(tx, ""))
		got := b.only()
		if !got.Due.Equal(h.Due.Add(time.Hour)) {
			t.Errorf("it leaves at %v, by the old clock at %v", got.Due, h.Due)
		}
		if !got.Load.Start.Equal(h.Load.Start.Add(time.Hour)) || got.Number != h.Number || len(got.Load.Remarks) != 1 {
			t.Errorf("held %+v", got)
		}
	})
}
