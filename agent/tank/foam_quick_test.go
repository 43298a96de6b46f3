package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// Foam that comes up faster than any truck unloads is no oil that was brought, and what goes again at a pump's rate, to where the level had been, no load. Oil
// that a pump brings, and a truck takes again, asks.
func TestFoamThatComesUpFasterThanOilIsNoLoad(t *testing.T) {
	const at = 9 * tanktest.Hour
	for _, c := range []struct {
		rises float64 // s after which a third of it has still to come
		loads int
	}{{90, 0}, {260, 1}} {
		r := newRig(t, tanktest.Well{Level0: 150})
		r.sensor = func(i int, s, v float64) (float64, bool) {
			up := 22 * (1 - math.Exp(-math.Max(0, s-at+1700)/c.rises))
			return tanktest.Radar(i, s, v+up*math.Max(0, 1-math.Max(0, s-at)/720)), true
		}
		r.run(0, 13*tanktest.Hour)
		if len(r.loads) != c.loads || c.loads > 0 && len(r.loads[0].Review) == 0 {
			t.Errorf("%g s: %+v", c.rises, r.loads)
		}
	}
}

// A rod that is let down to the floor, a part of the way at once, is no load: no pump draws a tank down to nothing, however the rest of it fell. Where it ends
// above the floor it may have been a pump, and asks.
func TestWhatFallsToTheFloorInPartAtOnceIsNoLoad(t *testing.T) {
	tank := testSite(t, []Tank{{ID: "1", Sensor: "radar", Height: 240, Table: testTable(t)}}).tanks[0]
	for _, floor := range []float64{0, 12} {
		level := knots([2]float64{0, 173}, [2]float64{600, 120}, [2]float64{610, 60}, [2]float64{1500, floor})
		ts := &tankState{}
		for s := 0.0; s <= 1500; s += 10 {
			ts.levels.recent = append(ts.levels.recent, sample{t: s, v: float32(level(s)), n: 1})
		}
		d := draw{end: 1500, samples: 150, next: math.Inf(1), opening: gauge{level: 173}, closing: gauge{level: floor}}
		if _, why := fellAtOnce(ts, &tank, &d, 173-floor); (why != "") != (floor == 0) || len(d.doubts) == 0 && why == "" {
			t.Errorf("down to %g in: %q, %q", floor, why, d.doubts)
		}
	}
}
