package tank

import (
	"math"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// lined are the levels of tanks that stand at 150 in and that narrow pipes join one behind the other: what two of them lie apart becomes less by e within
// so many seconds. A truck draws inches a second of one tank from the first between two times, and a well feeds that.
func lined(tanks int, fades, well float64, hauls ...haul) []func(s float64) float64 {
	const step, long = 10.0, 10 * tanktest.Hour
	course, v := make([][]float64, tanks), make([]float64, tanks)
	for k := range v {
		v[k] = 150
	}
	for s := 0.0; s <= long; s += step {
		for k := range v {
			course[k] = append(course[k], v[k])
		}
		v[0] += well * step
		for _, h := range hauls {
			if s >= h.from && s < h.to {
				v[h.tank] -= step * h.rate
			}
		}
		for k := 1; k < tanks; k++ {
			ran := (v[k-1] - v[k]) / 2 * step / fades
			v[k-1], v[k] = v[k-1]-ran, v[k]+ran
		}
	}
	out := make([]func(s float64) float64, tanks)
	for k := range out {
		out[k] = func(s float64) float64 {
			i := min(max(0, int(s/step)), len(course[k])-2)
			return course[k][i] + (course[k][i+1]-course[k][i])*math.Max(0, s-float64(i)*step)/step
		}
	}
	return out
}

// tickets are those of a rig for a haul, and their barrels together.
func (h haul) tickets(r *rig) (n int, bbl float64) {
	for _, l := range r.loads {
		if s := l.Start.Sub(tanktest.Start).Seconds(); s > h.from-600 && s < h.to {
			n, bbl = n+1, bbl+l.GaugeBbl
		}
	}
	return n, bbl
}

// What four tanks in a row gave to a truck is what all of them hold less behind it, however long they take to be even: each is read by how it stood
// among them before, and all of them at one instant.
func TestTheClosingsOfAGroupAddUpToTheOil(t *testing.T) {
	const at = 4 * tanktest.Hour
	for name, hauls := range map[string][]haul{
		"one truck":        {{0, at, at + 2000, 0.03}},
		"another in a row": {{0, at, at + 2000, 0.03}, {0, at + 4000, at + 6000, 0.03}},
	} {
		r := grouped(t, lined(4, 900, 0, hauls...)...)
		for _, h := range hauls {
			n, sum := h.tickets(r)
			if want := 60 * tanktest.PerInch; n != 4 || math.Abs(sum-want) > 1 {
				t.Errorf("%s: %d tickets of %.1f bbl together for a truck of %.1f: %+v", name, n, sum, want, r.verdicts)
			}
		}
	}
}

// A truck's rate, and the least that it takes, are those of all tanks that give to it: each alone gives slower than any truck loads, and less.
func TestALoadIsAskedOfAGroupTogether(t *testing.T) {
	const at = 3 * tanktest.Hour
	for name, c := range map[string]struct{ long, bbl, well float64 }{
		"slow":                 {7800, 110, 0},
		"small, into its well": {2700, 36, 0.24 / 60},
	} {
		inches := c.bbl / tanktest.PerInch
		r := grouped(t, lined(4, 900, c.well/tanktest.PerInch, haul{0, at, at + c.long, inches / c.long})...)
		sum := 0.0
		for _, l := range r.loads {
			sum += l.RemovedBbl
		}
		if len(r.loads) == 0 || math.Abs(sum-c.bbl) > 0.35*c.bbl {
			t.Errorf("%s: %.1f bbl in %+v %+v, want %.1f", name, sum, r.loads, r.verdicts, c.bbl)
		}
	}
}

// Water that is drawn from one tank of a group is water in all of them, though each of them gives oil for it through the equaliser.
func TestWaterThatIsDrawnFromAGroup(t *testing.T) {
	const at, long = 4 * tanktest.Hour, 900.0
	r := newRig(t, make([]tanktest.Well, 3)...)
	c := lined(3, 600, 0, haul{0, at, at + long, 16 / long})
	for i := range r.site.tanks {
		r.site.tanks[i].Group, r.site.tanks[i].Interface = "A", i == 0
	}
	r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, c[i](s)), true }
	r.side = func(r *rig, s float64) {
		r.feed(s, Input{Kind: Interface, Value: 24 - 16*math.Min(1, math.Max(0, s-at)/long), Good: true})
	}
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 0 || r.rules()["water-draw"] == 0 {
		t.Errorf("%+v %+v, want no load, and water", r.loads, r.verdicts)
	}
}

// Through the equaliser a tank rises behind its load faster than its well ever filled it, read each few minutes: the pump had stopped all the same, and
// what all of them hold says so.
func TestATankThatTheEqualiserFillsWasAtRest(t *testing.T) {
	const at = 4 * tanktest.Hour
	r := newRig(t, make([]tanktest.Well, 2)...)
	c := lined(2, 500, 0.02/60, haul{0, at, at + 1200, 60. / 1200})
	for i := range r.site.tanks {
		r.site.tanks[i].Group, r.site.tanks[i].Every = "A", 5*time.Minute
	}
	r.every = 300
	r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, c[i](s)), true }
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 2 {
		t.Errorf("%+v %+v, want a load of each", r.loads, r.verdicts)
	}
	for _, l := range r.loads {
		for _, why := range l.Review {
			if strings.Contains(why, "the pump went on after it") {
				t.Errorf("%s: %q", l.Tank, why)
			}
		}
	}
}

// A tank that reports only what changes is silent for hours before a load, and stood where it was: its share is gauged.
func TestATankOfAGroupThatIsSilentAtRest(t *testing.T) {
	const at = 5 * tanktest.Hour
	r := newRig(t, make([]tanktest.Well, 2)...)
	c := lined(2, 500, 0, haul{0, at, at + 1800, 60. / 1800})
	last := make([]float64, 2)
	for i := range r.site.tanks {
		r.site.tanks[i].Group, r.site.tanks[i].Every, r.site.tanks[i].Sensor = "A", 0, "float"
	}
	r.ticks = true
	r.sensor = func(i int, s, _ float64) (float64, bool) {
		v := math.Round(2*c[i](s)+0.1*math.Sin(s/4000)) / 2
		told := v != last[i]
		last[i] = v
		return v, told
	}
	r.run(0, 9*tanktest.Hour)
	sum := 0.0
	for _, l := range r.loads {
		sum += l.GaugeBbl
		for _, why := range l.Review {
			if strings.Contains(why, "was not read meanwhile") {
				t.Errorf("%s: %q", l.Tank, why)
			}
		}
	}
	if want := 60 * tanktest.PerInch; len(r.loads) != 2 || math.Abs(sum-want) > 3 {
		t.Errorf("%.1f bbl in %+v %+v, want %.1f", sum, r.loads, r.verdicts, want)
	}
}

// Two trucks come while a narrow equaliser goes on draining one tank into the other: that one falls from the first to the last minute, and gave to either.
func TestTwoTrucksInOneFallOfATank(t *testing.T) {
	const at, next = 4 * tanktest.Hour, 4*tanktest.Hour + 3400
	hauls := []haul{{0, at, at + 2000, 0.025}, {0, next, next + 1600, 0.025}}
	r := grouped(t, lined(2, 700, 0, hauls...)...)
	for _, h := range hauls {
		n, sum := h.tickets(r)
		if want := (h.to - h.from) * h.rate * tanktest.PerInch; n != 2 || math.Abs(sum-want) > 1.5 {
			t.Errorf("%d tickets of %.1f bbl together for a truck of %.1f: %+v", n, sum, want, r.verdicts)
		}
	}
}
