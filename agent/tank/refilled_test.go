package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// The neighbour's oil fills the tank up behind the truck, as fast as the truck took it: the neighbour's fall explains it,
// also when it goes on long after the confirmation.
func TestRefilledFromItsNeighbourIsALoad(t *testing.T) {
	out := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 175, Rate: 5}
	for _, wait := range []float64{600, 1800, 2600} {
		back := tanktest.Move{From: out.End() + wait, Bbl: -165, Rate: 5}
		into := back
		back.Bbl = -back.Bbl
		r := newRig(t, tanktest.Well{Level0: 170, Inflow: 40, Moves: []tanktest.Move{out, into}}, tanktest.Well{Level0: 200, Moves: []tanktest.Move{back}})
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 || r.loads[0].Tank != "TK-1" || len(r.loads[0].Review) > 0 {
			t.Errorf("after %g s: %+v", wait, r.loads)
		}
		r.only("transfer")
	}
}

// The neighbour's oil comes since before the truck has gone: that it fell as fast beside the end of the load is this transfer, and no other truck's.
func TestRefilledBeforeItsLoadHasEnded(t *testing.T) {
	out := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 115, Rate: 4.5}
	into := tanktest.Move{From: out.End() - 360, Bbl: -112, Rate: 2.7}
	from := into
	from.Bbl = -into.Bbl
	r := newRig(t, tanktest.Well{Level0: 90, Moves: []tanktest.Move{out, into}}, tanktest.Well{Level0: 180, Moves: []tanktest.Move{from}})
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].Tank != "TK-1" || math.Abs(r.loads[0].RemovedBbl-out.Bbl) > 2 {
		t.Errorf("%+v", r.loads)
	}
	r.only("transfer")
}
