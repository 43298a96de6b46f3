package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// Two trucks minutes apart whose pumps are unlike are two, though the float stands still in between: what a float that hung catches up with is no more
// than the first pump took meanwhile. Where the second truck stopped itself, the stop is no change of trucks.
func TestUnlikePumpsAreTwoTrucksThoughNothingMovedInBetween(t *testing.T) {
	first := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 170, Rate: 1.1}
	second := tanktest.Move{From: first.End() + 480, Bbl: 37, Rate: 5.2}
	for _, stop := range []float64{0, 720} {
		rest := tanktest.Move{From: second.End() + stop, Bbl: 103, Rate: 5.2}
		w := tanktest.Well{Level0: 220, Moves: []tanktest.Move{first, second, rest}}
		r := newRig(t, w)
		r.site.tanks[0].Sensor, r.every = "float", 5
		r.sensor = func(_ int, s, _ float64) (float64, bool) { return math.Round(w.Level(s)*20) / 20, true }
		r.run(0, rest.End()+6*tanktest.Hour)
		r.matches(0.15, 60, labelOf(w, first, first), labelOf(w, second, rest))
	}
}
