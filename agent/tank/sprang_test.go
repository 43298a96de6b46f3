package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A line that freezes lifts the reading for an hour, and half of that goes between two readings as it thaws; foam springs up within minutes, decays, and
// leaves some behind. The level is where it had been, and nothing left. Where oil was brought as evenly and a pump takes it out again, it is a load.
func TestWhatSprangUpAndFellBackTookNoOil(t *testing.T) {
	const at = 5 * tanktest.Hour
	level := knots([2]float64{0, 98}, [2]float64{12 * tanktest.Hour, 102})
	foam := knots([2]float64{at, 0}, [2]float64{at + 240, 20}, [2]float64{at + 1800, 20.5}, [2]float64{at + 2300, 11}, [2]float64{at + 3400, 0.8})
	brought := knots([2]float64{at, 0}, [2]float64{at + 3600, 22}, [2]float64{at + 7200, 22}, [2]float64{at + 9000, 0})
	for name, c := range map[string]struct {
		up    func(s float64) float64
		loads int
	}{
		"frozen line": {func(s float64) float64 {
			return 22 * math.Min(1, (s-at)/3600) * math.Min(1, math.Exp(-(s-at-7214)/45))
		}, 0},
		"foam":                   {foam, 0},
		"oil brought and hauled": {brought, 1},
	} {
		r := newRig(t, tanktest.Well{})
		r.every = 20
		r.sensor = func(i int, s, _ float64) (float64, bool) {
			v := level(s)
			if s >= at {
				v += c.up(s)
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != c.loads {
			t.Errorf("%s: %d loads, want %d: %+v %+v", name, len(r.loads), c.loads, r.loads, r.verdicts)
		}
	}
}
