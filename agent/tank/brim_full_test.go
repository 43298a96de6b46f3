package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A tank that is full to its brim takes in nothing for hours, and its well comes back into it as soon as a truck draws: it runs over into the next
// tank until then, which gives a few barrels first, or it is shut in by the level, and another truck comes before the hour is over.
func TestTheWellComesBackIntoABrimFullTank(t *testing.T) {
	const rate = 0.25 // bbl a minute
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 150, Rate: 5}
	next := tanktest.Move{From: load.End() + 1300, Bbl: 120, Rate: 5}
	last := 9 * tanktest.Hour
	fill := func(from, to float64) tanktest.Move {
		return tanktest.Move{From: from, Bbl: (from - to) / 60 * rate, Rate: rate}
	}
	rose := 150 * rate / tanktest.PerInch
	seeps := tanktest.Move{From: load.From, Bbl: 3, Rate: 0.8}
	for name, wells := range map[string][]tanktest.Well{
		"it ran over into the next": {
			{Level0: 226, Moves: []tanktest.Move{load, fill(load.From, last)}},
			{Level0: 100, Moves: []tanktest.Move{seeps, fill(0, load.From)}},
		},
		"it was shut in, and two trucks come": {
			{Level0: 226 - rose, Moves: []tanktest.Move{fill(0, 2.5*tanktest.Hour), load, next, fill(load.From, last)}},
			{Level0: 100},
		},
	} {
		r := newRig(t, wells...)
		r.run(0, last)
		if len(r.loads) == 0 {
			t.Errorf("%s: no load", name)
			continue
		}
		l, in := r.loads[0], rate*(load.End()-load.From)/60
		if math.Abs(l.InflowBbl-in) > 1 || math.Abs(l.InflowBbl-in) > l.InflowErrorBbl {
			t.Errorf("%s: want an inflow of %.1f bbl: %+v", name, in, l)
		}
	}
}
