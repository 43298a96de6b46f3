package tank

import (
	"testing"

	"gauger/agent/tank/tanktest"
)

// What was rolled through a heater hours long comes back slower than a truck unloads, but as the well never does, as much as had left, and then no more.
// A well that is turned back into the tank brings more or less than that, and a strong one has brought as much before.
func TestOilThatComesBackSlowlyCorrectsTheTicket(t *testing.T) {
	out := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 44, Rate: 2.5}
	for name, c := range map[string]struct {
		inflow, bbl, rate float64
		corrected         int
	}{
		"as much":         {60, 44, 0.86, 1},
		"slower":          {60, 44, 0.5, 1},
		"more":            {60, 70, 0.86, 0},
		"a part":          {60, 20, 0.86, 0},
		"as its well can": {700, 44, 0.5, 0},
	} {
		r := newRig(t, tanktest.Well{Level0: 96, Inflow: c.inflow, Moves: []tanktest.Move{out, {From: out.End() + 3*tanktest.Hour, Bbl: -c.bbl, Rate: c.rate}}})
		r.run(0, 16*tanktest.Hour)
		if len(r.loads) != 1 || len(r.corrections) != c.corrected {
			t.Errorf("%s: %+v %+v", name, r.loads, r.corrections)
		}
	}
}
