package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A header tank's pump sends a batch nearly as often as a clock would, and each is whole: how much of one came over a load the fall shows, and no clock. One
// that came minutes behind the load is none of it, and one that dents the fall is all of it.
func TestABatchIsWholeWhateverTheClockSays(t *testing.T) {
	load := tanktest.Move{From: 26 * tanktest.Hour, Bbl: 150, Rate: 5}
	for name, x := range map[string]struct{ at, came float64 }{
		"two minutes behind the end": {load.End() - load.From + 120, 0},
		"long before and behind":     {-3000, 0},
		"amid it":                    {900, 9},
	} {
		w := tanktest.Well{Level0: 50, Moves: []tanktest.Move{load}}
		for n := -13.0; n < 3; n++ {
			at := load.From + x.at + n*6300 + 400*math.Sin(2.7*n)
			w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -9, Rate: 3})
		}
		r := newRig(t, w)
		r.every = 30
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: want one load: %+v", name, r.loads)
			continue
		}
		if l := r.loads[0]; math.Abs(l.InflowBbl-x.came) > 1 || l.InflowErrorBbl > 3 || math.Abs(l.RemovedBbl-load.Bbl) > 1.5 || len(l.Review) > 0 {
			t.Errorf("%s: want an inflow of %.1f: %.1f, give or take %.1f, removed %.1f of %g, review %q", name, x.came, l.InflowBbl, l.InflowErrorBbl, l.RemovedBbl, load.Bbl, l.Review)
		}
	}
}
