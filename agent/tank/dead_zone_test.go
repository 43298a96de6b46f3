package tank

import (
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A sensor shows no more than 230 in, give or take its noise, and the tank fills to 236: where it stood as exactly the time before, its opening is not
// known. A switch shuts the well in a little higher or lower each time.
func TestALevelThatStandsInADeadZoneAsks(t *testing.T) {
	const h = tanktest.Hour
	for stop, asks := range map[float64]bool{230: true, 230.3: false} {
		level := knots([2]float64{0, 205}, [2]float64{4 * h, 230}, [2]float64{5.2 * h, 230}, [2]float64{5.2*h + 1200, 170},
			[2]float64{14.4 * h, stop}, [2]float64{15.4 * h, stop}, [2]float64{15.4*h + 1200, 170}, [2]float64{20 * h, 195})
		r := newRig(t, tanktest.Well{})
		r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, level(s)), true }
		r.run(0, 18*h)
		if len(r.loads) != 2 {
			t.Fatalf("%d loads", len(r.loads))
		}
		if l := r.loads[1]; strings.Contains(strings.Join(l.Review, ""), "reading stood at") != asks || asks && (l.ErrorBbl < 5 || l.ErrorBbl > 30) {
			t.Errorf("at %.1f in: give or take %.1f bbl, review %q", stop, l.ErrorBbl, l.Review)
		}
	}
}
