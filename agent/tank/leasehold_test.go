package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A damped sensor rounds the corners of a draw: for a minute its level neither rises nor falls much. That stands no longer than a fall may be seen in, and
// is no well that was shut in for the load: it runs on both sides of it.
func TestTheCornersOfADampedSensorShutNoWellIn(t *testing.T) {
	for _, lag := range []float64{40, 60} {
		for _, rate := range []float64{3.5, 5} {
			w := tanktest.Well{Level0: 130, Inflow: 420, Moves: []tanktest.Move{{From: 4*tanktest.Hour - 40, Bbl: 1, Rate: 1.5}, {From: 4 * tanktest.Hour, Bbl: 169, Rate: rate}}}
			r, shown, at := newRig(t, w), w.Level0, 0.0
			r.sensor = func(_ int, s, _ float64) (float64, bool) {
				for ; at < s; at++ {
					shown += (tanktest.Radar(0, at, w.Level(at)) - shown) / lag
				}
				return math.Round(100*shown) / 100, true
			}
			r.run(0, 6*tanktest.Hour)
			if want := 420 * 170 / rate / 1440; len(r.loads) != 1 || math.Abs(r.loads[0].InflowBbl-want) > 0.15*want {
				t.Errorf("%.0f s late, %.1f bbl a minute: %+v, want %.1f bbl of inflow", lag, rate, r.loads, want)
			}
		}
	}
}

// A tank whose well went to another one is silent until its truck comes, but for a sensor's heartbeats: the level is where the last of them showed it.
// Where none came, nor a deadband's rise for much longer than the well takes to make one, it lies anywhere in the deadband.
func TestASilentTankHasNotRisenByADeadband(t *testing.T) {
	for _, dead := range []float64{0.5, 1} {
		for away, within := range map[float64]float64{4200: 0.1, 1500: 0.6 * dead} {
			truck := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 140, Rate: 5}
			filling := tanktest.Well{Level0: 90, Inflow: 500}
			level := func(s float64) float64 {
				still := filling.Level(math.Min(s, truck.From-away))
				return tanktest.Well{Level0: still, Moves: []tanktest.Move{truck}}.Level(s)
			}
			r := newRig(t, filling)
			r.sensor = excepted(dead, 1800, func(s float64) float64 { return math.Round(100*(level(s)+0.02*math.Sin(s))) / 100 })
			r.run(0, 12*tanktest.Hour)
			if len(r.loads) != 1 || math.Abs(r.loads[0].Open-level(truck.From)) > within {
				t.Errorf("deadband %g, away for %.0f s: %+v, want an opening of %.2f in", dead, away, r.loads, level(truck.From))
			}
		}
	}
}

// Two trucks draw from tanks that an equaliser joins, one behind the other: neither tank gave more than a truck holds, but both together did.
func TestATruckHoldsNoMoreThanAGroupGives(t *testing.T) {
	const at = 4 * tanktest.Hour
	for second, asks := range map[float64]bool{0: false, 34: true} {
		level := knots([2]float64{0, 199}, [2]float64{at, 200}, [2]float64{at + 1500, 166}, [2]float64{at + 2160, 166.5},
			[2]float64{at + 3660, 166.5 - second}, [2]float64{9 * tanktest.Hour, 168 - second})
		r := newRig(t, tanktest.Well{}, tanktest.Well{})
		for i := range r.site.tanks {
			r.site.tanks[i].Group, r.site.tanks[i].Loads.TruckMax = "A", 140
		}
		r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, level(s)), true }
		r.run(0, 8*tanktest.Hour)
		for _, l := range r.loads {
			if says := strings.Join(l.Review, ", "); strings.Contains(says, "where a truck holds 140: maybe 2 loads") != asks || len(r.loads) != 2 {
				t.Errorf("%v in behind it: %d loads, %.0f bbl of %.0f, review %q", second, len(r.loads), l.GaugeBbl, l.GroupBbl, says)
			}
		}
	}
}
