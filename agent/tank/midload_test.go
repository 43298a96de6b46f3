package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// An echo that hangs amid a load, on a ring of paraffin, and comes free to where the pump has drawn by then, is one load, and a right one: neither
// what fell at once nor the rest of the fall is lost.
func TestAnEchoThatHangsAmidALoad(t *testing.T) {
	start := 4 * tanktest.Hour
	for _, c := range []struct{ every, rate, ring, thick float64 }{
		{10, 5, 0.5, 12}, {10, 5, 0.8, 12}, {15, 3.3, 0.65, 14}, {10, 4, 0.75, 17}, {30, 4, 0.7, 14},
	} {
		r := newRig(t, tanktest.Well{Level0: 190, Inflow: 100, Moves: []tanktest.Move{{From: start, Bbl: 135, Rate: c.rate}}})
		r.every = c.every
		w := r.wells[0]
		opening, closing := w.Level(start), w.Level(w.Moves[0].End())
		ring := opening - c.ring*(opening-closing)
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if real := w.Level(s); s > start && s < w.Moves[0].End() && real < ring && real > ring-c.thick {
				return ring + v - real, true
			}
			return v, true
		}
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%+v: want one load: %+v, events %+v", c, r.loads, r.events)
			continue
		}
		if l := r.loads[0]; math.Abs(l.Close-closing) > 0.2 || math.Abs(l.Open-opening) > 0.2 || len(l.Review) > 0 {
			t.Errorf("%+v: want %.2f to %.2f in and no review: %+v, events %+v", c, opening, closing, l, r.events)
		}
	}
}
