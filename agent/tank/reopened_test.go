package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A hauler shuts the equaliser for his load, and opens it again. The next truck comes before the tanks are even, to either of them: what it takes is
// what both hold less behind it, however much the one gave to the other before and meanwhile, and nobody is asked.
func TestATruckBeforeAReopenedEqualiserHasDoneItsWork(t *testing.T) {
	const at, shut = 4 * tanktest.Hour, 4*tanktest.Hour + 1800
	for _, c := range []struct {
		tank       int
		pipe, wait float64
	}{{1, 1. / 600, 400}, {1, 1. / 1500, 1200}, {0, 1. / 600, 400}, {0, 1. / 600, 1200}} {
		opened := shut + 300.0
		next := opened + c.wait
		open := func(s float64) bool { return s < at || s > opened }
		r := grouped(t, levelled([]float64{160, 160}, open, c.pipe, haul{0, at, shut, 90. / 1800}, haul{c.tank, next, next + 1500, 70. / 1500})...)
		n, sum := 0, 0.0
		for _, l := range r.loads {
			if l.Start.After(r.at(shut)) {
				n, sum = n+1, sum+l.RemovedBbl
			}
			if len(l.Review) > 0 {
				t.Errorf("%+v: %s asks %q", c, l.Tank, l.Review)
			}
		}
		if want := 70 * tanktest.PerInch; n != 2 || math.Abs(sum-want) > 1.5 {
			t.Errorf("%+v: %d tickets of %.1f bbl together for a truck of %.1f: %+v", c, n, sum, want, r.verdicts)
		}
	}
}

// The equaliser is shut for a load, and the well feeds the tank that is loaded: the other stands as it never does, and gives to that one as soon as it
// is opened. It was read all the time.
func TestATankThatStandsBehindAShutEqualiserWasRead(t *testing.T) {
	const at, opened = 4 * tanktest.Hour, 4*tanktest.Hour + 3300
	low, high := knots([2]float64{0, 114.1}, [2]float64{at, 150.1}, [2]float64{at + 1300, 90.1}, [2]float64{opened, 91}, [2]float64{opened + 1200, 121}, [2]float64{9 * tanktest.Hour, 150}),
		knots([2]float64{0, 114.1}, [2]float64{at, 150.1}, [2]float64{opened, 150.1}, [2]float64{opened + 1200, 121}, [2]float64{9 * tanktest.Hour, 150})
	r := newRig(t, make([]tanktest.Well, 2)...)
	for i := range r.site.tanks {
		r.site.tanks[i].Group, r.site.tanks[i].Sensor = "A", "float"
	}
	r.sensor = func(i int, s, _ float64) (float64, bool) {
		return math.Floor(4*[]func(float64) float64{low, high}[i](s)) / 4, true
	}
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-60*tanktest.PerInch) > 1.5 {
		t.Fatalf("%+v %+v, want one load of %.1f bbl", r.loads, r.verdicts, 60*tanktest.PerInch)
	}
	for _, why := range r.loads[0].Review {
		if strings.Contains(why, "was not read") {
			t.Error(why)
		}
	}
}
