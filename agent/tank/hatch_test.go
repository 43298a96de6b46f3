package tank

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// A well is turned away from its tank, the driver opens the hatch and a pressure cell feels the blanket's gas go, the pump starts minutes
// after it and the gas comes back behind the load: none of the step is oil, at whatever distance, and nothing is to be asked. Where readings are
// too far apart to tell, the error holds it.
func TestAHatchThatIsShutAgainBehindTheLoad(t *testing.T) {
	for _, c := range []struct {
		sensor        string
		every, before float64 // s
		by            float64 // in
		untold        bool
	}{
		{"hydrostatic", 60, 290, 1.3, false},
		{"hydrostatic", 60, 660, 1.7, false},
		{"analog", 60, 290, 1.3, false},
		{"analog", 60, 560, 1.4, false},
		{"hydrostatic", 300, 320, 2, false},
		{"hydrostatic", 300, 640, 2.5, false},
		{"hydrostatic", 900, 30, 1.5, true},
	} {
		t.Run(fmt.Sprintf("%s, each %g s, %g s before", c.sensor, c.every, c.before), func(t *testing.T) {
			load := tanktest.Move{From: 10*tanktest.Hour - 7, Bbl: 175, Rate: 4.5}
			r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{{From: 0, Bbl: -0.1 * (load.From - math.Max(2400, 10*c.every)) / 60, Rate: 0.1}, load}})
			r.every, r.site.tanks[0].Every, r.site.tanks[0].Sensor = c.every, time.Duration(c.every)*time.Second, c.sensor
			r.sensor = func(i int, s, v float64) (float64, bool) {
				if s > load.From-c.before {
					v -= c.by * math.Exp(-math.Max(0, s-load.End()-300)/1500)
				}
				return v + 2.5*tanktest.Radar(i, s, 0), true
			}
			r.run(0, 13*tanktest.Hour)
			if len(r.loads) != 1 {
				t.Fatalf("%+v", r.loads)
			}
			l := r.loads[0]
			if off := math.Abs(l.GaugeBbl - load.Bbl); off > wrongBbl(load.Bbl) && !c.untold || off > l.ErrorBbl+0.3 {
				t.Errorf("%.1f bbl with an error of %.1f, want %g", l.GaugeBbl, l.ErrorBbl, load.Bbl)
			}
			if !c.untold {
				asksFor(t, l, "")
			}
		})
	}
}

// Waves come with the pump, and for a minute and a half their middle lies lower than the opening: nobody opened a hatch, though the well's next dump
// lifts the level as its shutting does.
func TestWavesUnderThePumpAreNoHatch(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 150})
	ts, tank := &tankState{}, &r.site.tanks[0]
	ts.noise.sigma, ts.interval.n, ts.interval.usual, ts.interval.mean = 0.05, 100, 10, 10
	tank.Sensor = "hydrostatic"
	const start, end = 36000.0, 38800.0
	put := func(at, level float64) {
		ts.levels.recent = append(ts.levels.recent, sample{t: at, v: float32(level), n: 1})
	}
	for s := start - 3600; s < start; s += 10 {
		put(s, 110.5)
	}
	for k, v := range []float64{110.5, 109.2, 109.2, 108.3, 111, 108.9, 109, 109.2, 109.2, 109.1, 109.2, 109.1, 109.2, 109.2, 107} {
		put(start+10*float64(k), v)
	}
	for s := start + 150; s < end; s += 10 {
		put(s, 110.5-32*(s-start)/(end-start)+math.Sin(s))
	}
	for s := end; s < end+2700; s += 10 {
		put(s, 78.5+0.6*math.Floor((s-end)/900))
	}
	ts.last = point{end + 2700, 80.3}
	d := draw{start: start, end: end, next: math.Inf(1), leaptAt: math.Inf(1), samples: 200, opening: gauge{level: 110.5}, closing: gauge{level: 78.5}}
	if step := startAfterHatch(ts, tank, &d, end+2700); step != 0 {
		t.Errorf("a hatch of %.2f in", step)
	}
}
