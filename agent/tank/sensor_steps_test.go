package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A level that is told by each inch, at most each ten minutes, shows a pump on its way down and next to nothing behind it: that is as still as it can
// be seen to be, and where a gateway's false value once stood is no reason to throw the load away.
func TestAPumpIsSeenThoughFewReadingsComeBehindIt(t *testing.T) {
	tank := testSite(t, []Tank{{ID: "TK-1", Sensor: "analog", Height: 240, Table: testTable(t)}}).tanks[0]
	ts := &tankState{}
	ts.interval.n, ts.interval.usual, ts.interval.mean = 100, 600, 600
	ts.noise.sigma = 0.02
	const start, end = 45912.0, 48953.0
	add := func(at, v float64) { ts.levels.recent = append(ts.levels.recent, sample{t: at, v: float32(v), n: 1}) }
	for at := start - 7200; at < start; at += 900 {
		add(at, 101.9)
	}
	for k, v := range []float64{93.13, 74.8, 56.47, 38.16, 19.87} {
		add(start+300+600*float64(k), v)
	}
	d := draw{start: start, end: end, next: math.Inf(1), opening: gauge{level: 101.93}, closing: gauge{level: 9.12}, samples: 5}
	for k, v := range []float64{9.12, 9.16, 9.21} {
		add(end+300+900*float64(k), v)
	}
	if !pumped(ts, &tank, d, 1) {
		t.Error("a pump that was seen on its way is none")
	}
	ts.levels.recent[len(ts.levels.recent)-1].v = 60
	if pumped(ts, &tank, d, 1) {
		t.Error("a level that leaps behind it rests")
	}
}

// A step that a gateway averages over minutes looks as a pump's work, but for how little it takes so fast; where the tank's trucks load
// as fast it is one of them. What changes its unit comes down to just a twelfth.
func TestAFallThatNoTruckMakesAsks(t *testing.T) {
	for name, c := range map[string]struct {
		bbl, rate, end float64
		asks           string
	}{
		"a step that is averaged": {40, 12, 0, "took only 3 min"},
		"a small load":            {30, 6.5, 0, ""},
		"a small, quick load":     {38, 9, 0, ""},
		"a large quick load":      {150, 12, 0, ""},
		"off by a lag":            {40, 24, 0, "faster than max_rate"},
		"feet for inches":         {0, 14, 12, "as 12 to 1"},
		"near a twelfth":          {0, 14, 11.7, ""},
	} {
		tank := testSite(t, []Tank{{ID: "TK-1", Sensor: "radar", Height: 240, Table: testTable(t)}}).tanks[0]
		d := draw{start: 1e5, opening: gauge{level: 120}, samples: 2}
		if d.closing.level = 120 - c.bbl/tanktest.PerInch; c.end > 0 {
			d.closing.level = 120 / c.end
		}
		d.end = d.start + tank.volume(d)/c.rate*60
		said := strings.Join(unlikeTruck(&tankState{}, &tank, d), "; ")
		if (said == "") != (c.asks == "") || !strings.Contains(said, c.asks) {
			t.Errorf("%s: %q, want %q", name, said, c.asks)
		}
		ts := &tankState{}
		for range usualLeast {
			ts.reports.loads = append(ts.reports.loads, reportedLoad{start: 0, end: 750, opening: 120, closing: 120 - 150/tanktest.PerInch})
		}
		if said = strings.Join(unlikeTruck(ts, &tank, d), "; "); strings.Contains(said, "took only") {
			t.Errorf("%s: asks where its trucks are as fast: %q", name, said)
		}
	}
}
