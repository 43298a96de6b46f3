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

// A float whose tank stood idle for hours comes down by what a pump took since the node was heard, and not since the gateway was polled: it had not hung.
func TestAnIdleTankBehindAGatewayIsDrawnFrom(t *testing.T) {
	fill := tanktest.Move{From: 3 * tanktest.Hour, Bbl: -150, Rate: 0.25}
	first := tanktest.Move{From: tanktest.Hour, Bbl: 150, Rate: 4}
	load := tanktest.Move{From: fill.End() + 6*tanktest.Hour, Bbl: 150, Rate: 5}
	w := tanktest.Well{Level0: 166, Moves: []tanktest.Move{first, fill, load}}
	r := newRig(t, w)
	r.every, r.site.tanks[0].Sensor = 30, "float"
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		heard := 180 * math.Floor(s/180)
		return math.Round(8*(w.Level(heard)+0.03*math.Sin(heard))) / 8, true
	}
	r.run(0, load.End()+6*tanktest.Hour)
	if len(r.loads) != 2 || math.Abs(r.loads[1].GaugeBbl-load.Bbl) > 0.5 {
		t.Errorf("%+v %+v", r.loads, r.events)
	}
}
