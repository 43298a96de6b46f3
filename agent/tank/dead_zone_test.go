package tank

import (
	"math"
	"strings"
	"testing"
	"time"

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

// A sensor shows no less than its end, and stands there dead for half an hour or hours from the corner of a fall on, where its noise moves it at every reading
// else: what its closing was it did not see, whatever the phase of its readings. Where a shut-in well's level stands, its noise goes on.
func TestAValueThatDiesAtItsClosingAsks(t *testing.T) {
	const h = tanktest.Hour
	for _, every := range []float64{10, 60, 120} {
		for _, hours := range []float64{1, 2, 3, 3.6} {
			for _, phase := range []float64{0, 0.4} {
				for _, dies := range []bool{true, false} {
					truck := tanktest.Move{From: 5*h + phase*every, Bbl: 180, Rate: 6}
					w := tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{truck}}
					end := w.Level(truck.End() + hours*h)
					r := newRig(t, w)
					r.every, r.site.tanks[0].Every = every, time.Duration(every)*time.Second
					r.sensor = func(i int, s, v float64) (float64, bool) {
						if dies {
							return math.Max(v, math.Round(100*end)/100), true
						}
						return tanktest.Radar(i, s, math.Max(w.Level(s), end)), true
					}
					r.run(0, 11*h)
					if len(r.loads) != 1 {
						t.Fatalf("%d loads", len(r.loads))
					}
					if asks := strings.Contains(strings.Join(r.loads[0].Review, ""), "value stood still at its closing"); asks != dies {
						t.Errorf("each %g s, %g h, phase %g, dies %v: %q", every, hours, phase, dies, r.loads[0].Review)
					}
				}
			}
		}
	}
}

// A float that is read each five minutes comes to rest on its stop while the truck draws on: until its value has stood for longer than it ever does
// nobody knows, and so it is waited for. Where it floats, and the separator's dumps lift it, nothing is asked.
func TestAFloatOnItsStopThatIsReadSeldomAsks(t *testing.T) {
	const h = tanktest.Hour
	for _, stop := range []float64{13, 5} {
		truck := tanktest.Move{From: 13*h + 100, Bbl: 170, Rate: 5}
		w := tanktest.Well{Level0: 95, Moves: []tanktest.Move{truck}}
		for at := 700.0; at < 24*h; at += 1500 {
			w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -0.7, Rate: 1.4})
		}
		r := newRig(t, w)
		r.site.tanks[0].Sensor, r.site.tanks[0].Every, r.every = "float", 300*time.Second, 300
		r.sensor = func(i int, s, v float64) (float64, bool) {
			v = w.Level(s) + (v-w.Level(s))/5
			return math.Round(20*math.Max(v, stop)) / 20, true
		}
		r.run(0, 20*h)
		if len(r.loads) != 1 {
			t.Fatalf("%d loads", len(r.loads))
		}
		l := r.loads[0]
		if stop > w.Level(truck.End()) {
			asksFor(t, l, "a float at its stop")
		} else if len(l.Review) > 0 || math.Abs(l.RemovedBbl-170) > 1.7 {
			t.Errorf("%.1f bbl, review %q", l.RemovedBbl, l.Review)
		}
	}
}
