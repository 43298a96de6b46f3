package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// Where each slug brings as much as the other, and the one that comes beside a load brings less, the pump drew the rest as it came: at its end, where the level
// stands or rises before the pump stops, and at its start.
func TestWhatASlugLacksWasPumped(t *testing.T) {
	for name, x := range map[string]struct {
		amid  float64 // s of the slug that are in the load
		start bool
	}{
		"most of it at the end":   {200, false},
		"half of it at the end":   {150, false},
		"most of it at the start": {200, true},
		"none of it at the end":   {-60, false},
	} {
		const slug, rate = 24., 5. // bbl, and bbl/min
		load := tanktest.Move{From: 26 * tanktest.Hour, Bbl: 150, Rate: 4.4}
		at := load.End() - x.amid
		if x.start {
			at = load.From + x.amid - slug/rate*60
		}
		moves := []tanktest.Move{load}
		for n := -15.0; n < 3; n++ {
			if from := at + n*6000 + 900*math.Sin(3*n); from > 0 {
				moves = append(moves, tanktest.Move{From: from, Bbl: -slug, Rate: rate})
			}
		}
		for from := load.From - 7*tanktest.Hour; from > 0; from -= 7 * tanktest.Hour { // so that it does not run over
			moves = append(moves, tanktest.Move{From: from, Bbl: 100, Rate: 6})
		}
		r := newRig(t, tanktest.Well{Level0: 90, Moves: moves})
		r.every = 20
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) == 0 {
			t.Errorf("%s: no load", name)
			continue
		}
		if l := r.loads[len(r.loads)-1]; math.Abs(l.RemovedBbl-150) > 1 || l.InflowErrorBbl > 4 {
			t.Errorf("%s: removed %.1f of 150, inflow %.1f, give or take %.1f, review %q", name, l.RemovedBbl, l.InflowBbl, l.InflowErrorBbl, l.Review)
		}
	}
}
