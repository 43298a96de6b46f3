package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// Somebody checks the loop while a truck loads, and holds it for some minutes at what happens to be the level of before the load, which passes for a
// step up and one back down: the level lies at the closing behind that, and the load is one. Where it lies at its opening nothing left.
func TestALoopHeldAtTheOpeningBehindALoad(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 110, Rate: 2}
	for _, c := range []struct {
		name  string
		moves []tanktest.Move
		loads int
	}{{"a load", []tanktest.Move{load}, 1}, {"no load", nil, 0}} {
		w := tanktest.Well{Level0: 120, Inflow: 60, Moves: c.moves}
		shown := tanktest.Well{Level0: 120, Inflow: 60, Moves: []tanktest.Move{load}}
		held := w.Level(load.From) - 0.8
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = 60, "float"
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s < load.End()+1530 { // without a load the sensor alone fell
				v = shown.Level(s)
			}
			for _, lift := range []float64{-480, 120, 420} {
				if at := s - load.End() - lift; at >= 0 && at < 240 {
					v += 16 * math.Sin(at/240*math.Pi)
				}
			}
			if at := s - load.End(); at >= -600 && at < -330 || at >= 1200 && at < 1530 {
				v = held
			}
			return math.Round(100*(v+0.02*math.Sin(s*2.39996))) / 100, true
		}
		r.run(0, load.End()+8*tanktest.Hour)
		if len(r.loads) != c.loads || c.loads > 0 && (math.Abs(r.loads[0].RemovedBbl-110) > 3 || len(r.loads[0].Review) == 0) {
			t.Errorf("%s: %+v, events %+v", c.name, r.loads, r.events)
		}
	}
}
