package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// boundedLoads plays a tank that fills by 2.5 in/h, is hauled after 8 hours from 150 in, and fills again, read by a sensor of some kind each so
// many seconds that shows no level above or below its ends, and the whole of its noise between them.
func boundedLoads(t *testing.T, sensor string, every, noise, low, high float64) *rig {
	const h = tanktest.Hour
	level := knots([2]float64{0, 130}, [2]float64{8 * h, 150}, [2]float64{8*h + 1500, 70}, [2]float64{12 * h, 79})
	r := newRig(t, tanktest.Well{})
	r.every = every
	r.site.tanks[0].Sensor, r.site.tanks[0].Every = sensor, 0
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		v := level(s) + noise*math.Sin(s*s) // no rhythm of it is the readings'
		return math.Min(high, math.Max(low, math.Round(v*100)/100)), true
	}
	r.run(0, 12*h)
	if len(r.loads) != 1 {
		t.Fatalf("%d loads, want 1: %+v", len(r.loads), r.loads)
	}
	return r
}

// A reading that stands at an end of what its sensor shows is a bound: the ticket asks, and its error takes in what the well made unseen meanwhile,
// of the first load as of every other, however seldom it is read, and of a pressure sensor too.
func TestAReadingAtTheEndOfItsSensorIsABound(t *testing.T) {
	for _, c := range []struct {
		sensor                  string
		every, noise, low, high float64
		said                    string
		unseen                  float64 // in
	}{
		{"float", 300, 0, 0, 145.2, "reading stood at 145.20 in", 4.8},
		{"radar", 60, 0.1, 0, 145.2, "sensor saturated at the opening, 145.20 in", 4.8},
		{"hydrostatic", 60, 0.2, 0, 145.2, "sensor saturated at the opening, 145.20 in", 4.8},
		{"radar", 120, 0.2, 76, 300, "its closing", 6},
	} {
		l := boundedLoads(t, c.sensor, c.every, c.noise, c.low, c.high).loads[0]
		if !strings.Contains(strings.Join(l.Review, ""), c.said) {
			t.Errorf("%s each %g s: review %q, want %q", c.sensor, c.every, l.Review, c.said)
		}
		if least := 0.6 * c.unseen * tanktest.PerInch; l.ErrorBbl < least {
			t.Errorf("%s each %g s: give or take %.1f bbl, where %.1f flowed in unseen: %q", c.sensor, c.every, l.ErrorBbl, c.unseen*tanktest.PerInch, l.Review)
		}
	}
}

// The first reading of a value that stood behind a load may come two polls after its end, and its time is rounded: it asks all the same.
func TestAValueThatStoodBehindALoadAsksAtEveryPhaseOfThePolls(t *testing.T) {
	for _, late := range []float64{1, 60, 119} {
		var ts tankState
		end := 6100.0
		ts.faults.unfrozeAt = 13000.3
		ts.interval.usual, ts.interval.mean, ts.interval.n = 120, 120, 20
		ts.levels.recent = []sample{{t: end - 60, v: 40}, {t: end + 120 + late, v: 36.9}, {t: 13000.25, v: 37.1}}
		d := draw{start: 4000, end: end, next: math.Inf(1), samples: 14, inflowAfter: 0.001, opening: gauge{level: 101}, closing: gauge{level: 36.9}}
		tank := Tank{Sensor: "radar", Table: testTable(t), Loads: DefaultLoads()}
		if where, long, asks := stoodStill(&ts, &tank, d); where != itsClosing || long < 6000 || !asks {
			t.Errorf("%g s late: stood at %q for %g s, asks %v", late, where, long, asks)
		}
	}
}
