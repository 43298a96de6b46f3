package ledger

import (
	"math"
	"testing"
	"time"
)

// The clock goes back by a day after a ticket has left, and stays there for hours: the ticket is not called wrong by a clock that is. A load
// meanwhile waits, and leaves with its right day once the clock is set right; where a person says that it is right now, the first is wrong.
func TestAClockThatWentBackCorrectsNoTicketThatIsRight(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		w := newWrong(t, nil)
		w.site.Hold = 0
		haul := func(from float64) {
			for s := 0.0; s < clockedEnd; s += 10 {
				w.read("plc/level", from-min(max(0, s-clockedFrom), clockedTo-clockedFrom)/30+0.02*math.Sin(s), false)
				w.pass(10 * time.Second)
			}
		}
		haul(190)
		if n := len(w.bodies(Tickets)); n != 1 {
			t.Fatalf("%d tickets left, want 1", n)
		}
		w.off = -24 * time.Hour
		start := w.at.Add(clockedFrom * time.Second).Round(0)
		haul(130)
		if all, err := w.Tickets(); err != nil || len(all) != 2 || len(w.bodies(Tickets)) != 1 || len(all[0].Found)+len(all[1].Found) != 0 {
			t.Fatalf("by a clock that went back %d of %d tickets left (%v): %+v", len(w.bodies(Tickets)), len(all), err, all)
		}
		if w.off = 0; trusted {
			w.off = -24 * time.Hour
			w.clock.ConfirmAt(w.now())
		}
		for range 1500 {
			w.read("plc/level", 70, false)
			w.pass(30 * time.Second)
		}
		all, err := w.Tickets()
		if err != nil || len(w.bodies(Tickets)) != 2 {
			t.Fatalf("%d tickets left, want 2 (%v)", len(w.bodies(Tickets)), err)
		}
		for _, b := range all {
			second := b.Load.Open < 140
			if second && b.Load.Start.Sub(start.Add(w.off)).Abs() > time.Minute || (len(b.Found) != 0) != (trusted && !second) {
				t.Errorf("trusted %v: %s from %.0f in of %s, found %v", trusted, b.Number, b.Load.Open, b.Load.Start, b.Found)
			}
		}
	}
}
