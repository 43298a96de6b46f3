package tank

import (
	"math"
	"testing"
)

// A pressure sensor that reports only changes tells of an opened hatch by one reading, and the next is back where the level was: the opening is that.
func TestAnOpeningBehindAHatchsDip(t *testing.T) {
	const start = 20000.0
	for _, sigma := range []float64{0.05, 0.07, 0.1, 0.14} {
		r := resting{at: start, before: true, sigma: sigma, perBbl: 0.6, head: line{start, 229.1, -0.06},
			samples: []sample{{t: start - 1940, v: 229.02, n: 1}, {t: start - 330, v: 227.46, n: 1}, {t: start - 230, v: 229.12, n: 1}}}
		if g := r.estimate(0.0002); g.level < 228.9 || g.level > 229.4 {
			t.Errorf("opening at %.2f in with a noise of %.2f, want 229.1", g.level, sigma)
		}
	}
}

// What a hatch lets off behind a load comes back within two readings: no pump took it. Of a tank whose sensor sees the oil from above the pump went on.
func TestAHatchBehindALoadIsNoPump(t *testing.T) {
	tank := Tank{Sensor: "hydrostatic", Height: 240, Table: testTable(t)}
	ts := &tankState{}
	ts.interval.n, ts.interval.usual, ts.interval.mean = 100, 600, 600
	const end = 20000.0
	d := draw{start: end - 1000, end: end, next: end + 20000, opening: gauge{level: 228}, closing: gauge{level: 168.2}, inflowBefore: 0.0007, inflowAfter: 0.0007}
	ts.levels.recent = []sample{{t: end - 20, v: 168.5, n: 1}, {t: end + 5, v: 167.37, n: 1}, {t: end + 100, v: 165.95, n: 1}, {t: end + 190, v: 168.08, n: 1}, {t: end + 540, v: 168.63, n: 1}}
	if short := stillOnItsWay(ts, &tank, d); short > 0.3 {
		t.Errorf("hydrostatic: %.1f in short", short)
	}
	tank.Sensor = "radar"
	if short := stillOnItsWay(ts, &tank, d); short < 1.5 {
		t.Errorf("radar: %.1f in short", short)
	}
}

// A hatch that is opened again and again behind a load dips single readings, and the oil is where they come back to.
func TestAClosingBehindHatchsDips(t *testing.T) {
	const end = 20000.0
	r := resting{at: end, pumped: end, sigma: 0.07, perBbl: 0.6}
	for k, v := range []float64{144.45, 142.57, 144.6, 142.75, 144.51} {
		r.samples = append(r.samples, sample{t: end + 100 + 170*float64(k), v: float32(v), n: 1})
	}
	r.samples = withoutHatches(r.samples, 5*r.sigma)
	if g := r.withoutDip(0.0002, false); math.Abs(g.level-144.45) > 0.4 {
		t.Errorf("closing at %.2f in, want 144.45", g.level)
	}
}
