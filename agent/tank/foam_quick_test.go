package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// Foam that comes up faster than any truck unloads, and goes again at a pump's rate to where the level had been, looks like a gauge that hung until then, and
// a truck that draws to its usual heel: it is a load, and asks.
func TestWhatComesUpAtOnceAndGoesAsUnderAPumpAsks(t *testing.T) {
	const at = 9 * tanktest.Hour
	for _, rises := range []float64{10, 90, 260} { // s after which a third of it has still to come
		r := newRig(t, tanktest.Well{Level0: 150})
		r.sensor = func(i int, s, v float64) (float64, bool) {
			up := 22 * (1 - math.Exp(-math.Max(0, s-at+1700)/rises))
			return tanktest.Radar(i, s, v+up*math.Max(0, 1-math.Max(0, s-at)/720)), true
		}
		r.run(0, 13*tanktest.Hour)
		if len(r.loads) != 1 || len(r.loads[0].Review) == 0 {
			t.Errorf("%g s: %+v", rises, r.loads)
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

// Oil that was brought at a pump's rate an hour before a load, as nobody did in the day before, is oil, and asks nothing.
func TestOilThatIsPumpedInBeforeALoadIsNoFoam(t *testing.T) {
	load := tanktest.Move{From: 14 * tanktest.Hour, Bbl: 140, Rate: 4.5}
	brought := tanktest.Move{From: load.From - 1.5*tanktest.Hour, Bbl: -18, Rate: 4}
	r := newRig(t, tanktest.Well{Level0: 130, Inflow: 60, Moves: []tanktest.Move{brought, load}})
	r.run(0, load.From+3*tanktest.Hour)
	if len(r.loads) != 1 || len(r.loads[0].Review) > 0 || math.Abs(r.loads[0].RemovedBbl-load.Bbl) > 1 {
		t.Errorf("%+v, want %g bbl that ask nothing", r.loads, load.Bbl)
	}
}
