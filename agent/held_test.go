package agent

import (
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
)

// waiting are the held tickets of loads on TK-1, put there as if each had been found now.
func (b *bench) waiting(held ...Held) *draft {
	d := b.draft(time.Now())
	d.held = held
	d.keep(heldState, d.held)
	return d
}

// Two loads that waited for a number begin in one minute once the clock is set, as after two boots in 1970: each has its own.
func TestTicketsThatGetTheirNumbersTogetherShareNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.clock.Confirm()
		at := time.Now().Round(0)
		load := tank.Load{Tank: "TK-1", Began: at, Start: at, End: at.Add(time.Minute), Open: 180, Close: 80}
		d := b.waiting(Held{Load: load, Handle: "H-1", Due: at.Add(time.Hour)}, Held{Load: load, Handle: "H-2", Due: at.Add(time.Hour)})
		d.release()
		if d.held[0].Number == d.held[1].Number || d.held[0].Number != "A-TEST-TK-1-20000101T0000Z" {
			t.Errorf("numbers %s and %s", d.held[0].Number, d.held[1].Number)
		}
		b.must(b.commit(d, ""))
		b.wait(61 * time.Minute)
		if n := len(b.bodies(Tickets)); n != 2 {
			t.Errorf("%d tickets left, want 2", n)
		}
	})
}
