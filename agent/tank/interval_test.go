package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A tank whose well was turned to another shows a radio node's beat no more: a value stands for ten of them. While a truck draws each stands for one:
// what the gateway repeats is no rest between steps, and no value that hung and leapt.
func TestAFallShowsAGatewaysBeat(t *testing.T) {
	for phase := 0.0; phase < 300; phase += 60 {
		load := tanktest.Move{From: 6*tanktest.Hour + phase, Bbl: 180, Rate: 4}
		w := tanktest.Well{Level0: 160, Moves: []tanktest.Move{load}}
		r := newRig(t, w)
		r.every = 30
		r.sensor = func(_ int, s, _ float64) (float64, bool) {
			heard := math.Floor(s / 300)
			return w.Level(heard*300) + 0.01*math.Floor(math.Mod(heard*0.37, 1)*1.1), true
		}
		r.run(0, 10*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-load.Bbl) > 0.5 || len(r.loads[0].Review) > 0 || r.loads[0].Samples > 20 {
			t.Errorf("%.0f s: %+v", phase, r.loads)
		}
	}
}
