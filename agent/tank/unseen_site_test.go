package tank

import (
	"math"
	"testing"

	"gauger/agent/eventrules"
	"gauger/agent/tank/tanktest"
)

// A link that was down for hours hid a load, and the well made it good meanwhile: no tank of the site was read, and what the wells make and no
// tank has is told. Where nothing is missing, as the well was turned to the other tank or no truck came, nothing is told but the gap.
func TestALoadWhileNoTankOfTheSiteWasRead(t *testing.T) {
	from, long := 20*tanktest.Hour, 24.9*tanktest.Hour
	load := tanktest.Move{From: from + 10*tanktest.Hour, Bbl: 150, Rate: 5}
	turned := tanktest.Move{From: from + 8*tanktest.Hour, Bbl: -100, Rate: 200.0 / 24 / 60}
	back := tanktest.Move{From: turned.From, Bbl: 100, Rate: 200.0 / 24 / 60}
	for _, c := range []struct {
		name  string
		wells []tanktest.Well
		bbl   float64
	}{
		{"one tank", []tanktest.Well{{Level0: 20, Inflow: 200, Moves: []tanktest.Move{load}}}, 150},
		{"two tanks", []tanktest.Well{{Level0: 20, Inflow: 200, Moves: []tanktest.Move{load}}, {Level0: 60}}, 150},
		{"no truck", []tanktest.Well{{Level0: 20, Inflow: 200}, {Level0: 60}}, 0},
		{"well turned", []tanktest.Well{{Level0: 20, Inflow: 200, Moves: []tanktest.Move{back}}, {Level0: 60, Moves: []tanktest.Move{turned}}}, 0},
	} {
		r := newRig(t, c.wells...)
		r.every = 60
		r.sensor = func(_ int, s, v float64) (float64, bool) { return v, s < from || s > from+long }
		r.run(0, from+long+4*tanktest.Hour)
		told := 0.0
		for _, e := range r.events {
			if e.Rule == eventrules.UnexplainedLoss {
				told += e.Bbl
			}
		}
		if len(r.loads) > 0 || math.Abs(told-c.bbl) > 8 {
			t.Errorf("%s: told of %.1f bbl, want %.0f: %+v %+v", c.name, told, c.bbl, r.loads, r.events)
		}
	}
}
