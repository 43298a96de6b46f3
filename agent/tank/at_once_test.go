package tank

import (
	"testing"

	"gauger/agent/tank/tanktest"
)

// Two trucks that draw at once, one of which comes first and one of which is the last, take more than one holds, at a rate that doubles and
// halves again: they ask, and what one truck with room for a little more takes at one rate does not.
func TestTwoTrucksAtOnceAsk(t *testing.T) {
	for _, c := range []struct {
		first, second float64
		asks          bool
	}{{115, 115, true}, {128, 126, true}, {230, 0, false}, {254, 0, false}} {
		a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: c.first, Rate: 5}
		moves := []tanktest.Move{a}
		if c.second > 0 {
			moves = append(moves, tanktest.Move{From: a.From + 0.4*(a.End()-a.From), Bbl: c.second, Rate: 5})
		}
		r := newRig(t, tanktest.Well{Level0: 200, Inflow: 60, Moves: moves})
		r.site.tanks[0].Loads.TruckMax = 215
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: want one load: %+v", c, r.loads)
		}
		if asks := len(r.loads[0].Review) > 0; asks != c.asks {
			t.Errorf("%+v: asks %v: %q", c, asks, r.loads[0].Review)
		}
	}
}
