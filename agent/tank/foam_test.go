package tank

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

// Foam that a load leaves on the oil collapses quickly at first and then less, at once or after it stood for a while. The closing is that
// of the oil below it, as it was at the end, and the ticket says so; also where the well makes so much that the level hardly falls.
func TestFoamThatCollapsesBehindALoadIsTakenOffItsClosing(t *testing.T) {
	for _, c := range []struct{ inflow, inches, stood, time float64 }{
		{0, 3, 0, 300}, {300, 3, 900, 120}, {100, 1.8, 600, 600}, {600, 4, 1200, 300},
		{0, 3.3, 1260, 75}, {150, 2.5, 1100, 60}, // as fast as a pump draws, and then at rest
	} {
		w := aWell
		w.Inflow = c.inflow
		r := newRig(t, w)
		r.sensor = func(i int, s, v float64) (float64, bool) {
			since := s - aLoad.End()
			up := 1 - math.Exp(-math.Max(0, since+200)/90)
			return tanktest.Radar(i, s, v+c.inches*up*math.Exp(-math.Max(0, since-c.stood)/c.time)), true
		}
		r.run(0, 6*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: loads %+v", c, r.loads)
		}
		l := r.loads[0]
		if off := l.Close - w.Level(aLoad.End()); math.Abs(off) > 0.65 || math.Abs(off)*testTable(t).PerInch(l.Close) > l.ErrorBbl {
			t.Errorf("%+v: closing is off by %.2f in, and the error is %.1f bbl: %+v", c, off, l.ErrorBbl, l)
		}
	}
}

// A separator dumps while foam goes: oil and foam are lifted alike, and what has gone is seen on either side of each dump. Where its well
// is turned away, or no foam stood, nothing is taken off beside it.
func TestFoamIsSeenToGoBetweenDumps(t *testing.T) {
	for _, foam := range []float64{0, 1.6, 3} {
		for _, first := range []float64{200, 500, 1000} { // s from the end to a dump
			w := tanktest.Well{Level0: 205, Moves: []tanktest.Move{aLoad}}
			for at := aLoad.End() + first - 9*1500; at < aLoad.End()+5000; at += 1500 {
				w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -2.2, Rate: 2.2})
			}
			r := newRig(t, w)
			r.sensor = func(i int, s, v float64) (float64, bool) {
				up := 1 - math.Exp(-math.Max(0, s-aLoad.End()+600)/90)
				return v + foam*up*math.Exp(-math.Max(0, s-aLoad.End())/700) + 2*tanktest.Radar(i, s, 0), true
			}
			r.run(0, 6*tanktest.Hour)
			if len(r.loads) != 1 {
				t.Fatalf("%g in, a dump after %g s: %+v", foam, first, r.loads)
			}
			l := r.loads[0]
			if off := l.Close - w.Level(aLoad.End()); math.Abs(off) > 0.7 {
				t.Errorf("%g in, a dump after %g s: closing is off by %.2f in: %+v", foam, first, off, l)
			}
		}
	}
}

// Foam that stood for a quarter of an hour and goes as fast as a pump draws is told from what the truck took last by how it falls only:
// its ticket asks, and a truck's that took as much does not say so.
func TestFoamThatGoesAsFastAsAPumpAsks(t *testing.T) {
	for _, foam := range []bool{true, false} {
		w := aWell
		last := tanktest.Move{From: aLoad.End() + 840, Bbl: 16, Rate: aLoad.Rate}
		if w.Moves = []tanktest.Move{aLoad, last}; foam {
			w.Moves = w.Moves[:1]
		}
		r := newRig(t, w)
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if foam && s > aLoad.End()-200 {
				v += 16 / testTable(t).PerInch(v) * math.Exp(-math.Max(0, s-last.From)/80)
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 6*tanktest.Hour)
		if len(r.loads) != 1 || r.loads[0].Parts != 2 {
			t.Fatalf("foam %v: want one of two parts: %+v", foam, r.loads)
		}
		if got := strings.Contains(strings.Join(r.loads[0].Review, " "), "fell ever slower"); got != foam {
			t.Errorf("foam %v: %q", foam, r.loads[0].Review)
		}
	}
}

// A value that drops behind a load and then hangs, where the well fills the tank, shows no level: the closing is where the level stood
// before, and the ticket asks.
func TestAValueThatDropsAndHangsIsNoFoam(t *testing.T) {
	w := aWell
	w.Inflow = 150
	r := newRig(t, w)
	r.every = 60
	r.sensor = func(i int, s, v float64) (float64, bool) {
		if since := s - aLoad.End(); since > 1450 && since < 2650 {
			return w.Level(aLoad.End()) - 1.5, true
		}
		return tanktest.Radar(i, s, v), true
	}
	r.run(0, 6*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%+v", r.loads)
	}
	if l := r.loads[0]; math.Abs(l.Close-w.Level(aLoad.End())) > 0.2 || len(l.Review) == 0 {
		t.Errorf("closing %.2f in, want %.2f and a reason to ask: %+v", l.Close, w.Level(aLoad.End()), l)
	}
}

// Oil that is drained evenly some time after a load is no foam.
func TestADrainBehindALoadIsNoFoam(t *testing.T) {
	w := aWell
	w.Moves = []tanktest.Move{aLoad, {From: aLoad.End() + 900, Bbl: 6, Rate: 0.6}}
	r := newRig(t, w)
	r.run(0, 6*tanktest.Hour)
	if len(r.loads) != 1 || strings.Contains(strings.Join(r.loads[0].Remarks, " "), "foam") || len(r.loads[0].Review) == 0 {
		t.Errorf("want one that asks and says nothing of foam: %+v", r.loads)
	}
}

// A fall that halves its rate again and again is no pump's, also where five readings show it; a pump's is none that decays, whether it
// draws evenly, fades with the head, or creeps at its end, and neither is what drains by gravity.
func TestWhatDecaysAndWhatAPumpDraws(t *testing.T) {
	pump := func(power, long float64) func(s float64) float64 {
		return func(s float64) float64 { return math.Pow(math.Max(0, 1-math.Max(0, s)/long), power) }
	}
	creeps := func(s float64) float64 { return 0.9*pump(1, 900)(s) + 0.1*decayed(s, 700, 1, 0, 150) }
	for _, c := range []struct {
		name   string
		fall   func(s float64) float64 // share that is left so many seconds after it began
		every  float64
		decays bool
	}{
		{"thaws, read each minute", func(s float64) float64 { return decayed(s, 0, 1, 0, 100) }, 60, true},
		{"thaws within two minutes", func(s float64) float64 { return decayed(s, 0, 1, 0, 60) }, 30, true},
		{"collapses", func(s float64) float64 { return decayed(s, 0, 1, 0, 400) }, 15, true},
		{"pump", pump(1, 1200), 10, false},
		{"pump, read each minute", pump(1, 330), 60, false},
		{"pump that fades", pump(1.5, 1800), 30, false},
		{"gravity", pump(2, 2400), 60, false},
		{"pump that creeps", creeps, 15, false},
	} {
		for _, first := range []float64{0, 0.3, 0.7} { // of the time between two readings, when it began
			ts, at := &tankState{}, 3000.0
			for s := at - 900; s < at+3600; s += c.every {
				v := 118 + 27*c.fall(s-at-first*c.every) + 0.05*math.Sin(s*s)
				ts.levels.recent = append(ts.levels.recent, sample{t: s, v: float32(v), n: 1})
			}
			ts.last.t = at + 3600
			d := draw{start: at - c.every, end: at + 400, next: math.Inf(1)}
			d.opening.level, d.closing.level = 145, 118.2
			if got := decays(ts, d); got != c.decays {
				t.Errorf("%s, begun %.1f of the way between two readings: %v", c.name, first, got)
			}
		}
	}
}

// The well goes on as before behind a load, half an hour later the next truck begins, and the well is turned away from it: neither is foam.
func TestTheNextTruckIsNoFoam(t *testing.T) {
	const load = 4 * tanktest.Hour
	level := knots([2]float64{0, 172}, [2]float64{load, 238}, [2]float64{load + 1500, 188}, [2]float64{load + 3500, 197.2},
		[2]float64{load + 3620, 193}, [2]float64{load + 4100, 193}, [2]float64{load + 4400, 184}, [2]float64{9 * tanktest.Hour, 184})
	for _, every := range []float64{10, 60} {
		r := newRig(t, aWell)
		r.site.tanks[0].Height, r.every = 300, every
		r.site.tanks[0].Every = time.Duration(every) * time.Second
		r.sensor = func(i int, s, _ float64) (float64, bool) { return level(s) + 4*(tanktest.Radar(i, s, 0)), true }
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) == 0 || math.Abs(r.loads[0].Close-188) > 0.8 {
			t.Errorf("read every %v s: %+v, want a load to 188 in", every, r.loads)
		}
	}
}

// A well's slugs foam, and sink by half within the next half hour. A truck that begins right behind one is opened on top of the foam, which
// is told as error and asks; behind oil that does not foam it is not.
func TestFoamAtTheOpeningAsks(t *testing.T) {
	start := 8 * tanktest.Hour
	for foam, says := range map[float64]string{5: "foam at the opening", 0: ""} {
		var moves []tanktest.Move
		for k := 1.0; k <= 5; k++ {
			moves = append(moves, tanktest.Move{From: start - 60 - 300 - (5-k)*5400, Bbl: -8, Rate: 1.6})
		}
		slugs := moves
		w := tanktest.Well{Level0: 130, Moves: append(slices.Clone(moves), tanktest.Move{From: start, Bbl: 150, Rate: 4.5})}
		r := newRig(t, w)
		r.sensor = func(i int, s, v float64) (float64, bool) {
			for _, m := range slugs {
				if s >= m.From {
					v += foam * stats.Clamp((s-m.From)/300, 0, 1) * math.Exp(-math.Max(0, s-m.End())/700)
				}
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, start+3*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%g in of foam: %+v", foam, r.loads)
		}
		if asksFor(t, r.loads[0], says); math.Abs(r.loads[0].GaugeBbl-150) > r.loads[0].ErrorBbl+0.5 {
			t.Errorf("%g in of foam: %.1f bbl of 150, give or take %.1f", foam, r.loads[0].GaugeBbl, r.loads[0].ErrorBbl)
		}
	}
}

// A level that rose once by some inches in forty minutes, hours before the load, and rested on it, may stand on foam that goes with the oil: it asks, and its
// error holds the foam. A float lies on the oil, and what rises so each few hours is the well.
func TestWhatRoseOnceBeforeALoadMayBeFoam(t *testing.T) {
	start := 14 * tanktest.Hour
	for _, c := range []struct {
		sensor string
		every  float64 // s from one such rise to the next; 0: there was one
		says   string
	}{{"radar", 0, "foam at the opening"}, {"float", 0, ""}, {"radar", 3 * tanktest.Hour, ""}} {
		load := tanktest.Move{From: start, Bbl: 140, Rate: 4.5}
		w := tanktest.Well{Level0: 130, Inflow: 60, Moves: []tanktest.Move{load}}
		for at := start - 2*tanktest.Hour - c.every; at > 0 && c.every > 0; at -= c.every {
			w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -10, Rate: 0.25})
		}
		r := newRig(t, w)
		r.every, r.site.tanks[0].Every, r.site.tanks[0].Sensor = 30, 30*time.Second, c.sensor
		r.sensor = func(i int, s, v float64) (float64, bool) {
			up := stats.Clamp((s-start+2*tanktest.Hour)/2400, 0, 1) * stats.Clamp((load.End()-300-s)/1000, 0, 1)
			return tanktest.Radar(i, s, v+6*up), true
		}
		r.run(0, start+3*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: %+v", c, r.loads)
		}
		if asksFor(t, r.loads[0], c.says); c.says != "" && math.Abs(r.loads[0].RemovedBbl-140) > r.loads[0].ErrorBbl {
			t.Errorf("%.1f bbl of 140, give or take %.1f", r.loads[0].RemovedBbl, r.loads[0].ErrorBbl)
		}
	}
}

// What noise seems to rise and sink by, and what sinks because a truck draws, is no foam behind a well's rise.
func TestNoiseAndLoadsAreNoFoam(t *testing.T) {
	var moves []tanktest.Move
	for k := range 5 {
		moves = append(moves, tanktest.Move{From: float64(3+4*k) * tanktest.Hour, Bbl: 60, Rate: 1.2})
	}
	r := newRig(t, tanktest.Well{Level0: 140, Inflow: 360, Moves: moves})
	r.every, r.site.tanks[0].Every, r.site.tanks[0].Sensor = 60, time.Minute, "ultrasonic"
	r.sensor = func(i int, s, v float64) (float64, bool) { return v + 16*(tanktest.Radar(i, s, v)-v), true }
	r.run(0, 23*tanktest.Hour)
	if len(r.loads) != len(moves) {
		t.Fatalf("%d loads: %+v", len(r.loads), r.loads)
	}
	for _, l := range r.loads {
		if strings.Contains(strings.Join(l.Review, " "), "foam at the opening") {
			t.Errorf("%v", l.Review)
		}
	}
}

// A well that is turned away from a tank that is hauled leaves a level that lies flat: however much it made before, a sensor's noise is no foam
// that would just go as fast as it had filled the tank.
func TestALevelThatLiesFlatIsNoFoam(t *testing.T) {
	tank := testSite(t, []Tank{{ID: "1", Sensor: "ultrasonic", Height: 240, Table: testTable(t)}}).tanks[0]
	for seed := range 20 {
		ts := &tankState{}
		ts.noise.sigma = 0.28
		d := draw{start: 6000, end: 9900, next: math.Inf(1), usualInflow: 9.7 / 3600, inflow: production{usual: 9.7 / 3600, err: 1.2 / 3600, variance: 3e-4}}
		d.opening.level, d.closing.level = 165, 65
		for s := 3000.0; s < d.end+2700; s += 60 {
			v := max(65, 165-(s-d.start)*100/3900)
			ts.levels.recent = append(ts.levels.recent, sample{t: s, v: float32(v + 5.6*tanktest.Radar(seed, s, 0)), n: 1})
		}
		if g, foam := behindFoam(ts, &tank, d, d.end+2700); foam > 0 {
			t.Errorf("noise %d: %.1f in of foam taken off: %+v", seed, foam, g)
		}
	}
}

// What leaves minutes behind the rest, and slower than half as fast, may be foam: not where a sensor feels none, nor where it starts and stops
// at once, as a driver tops off, and foam goes ever slower.
func TestASlowTopOffIsNoFoam(t *testing.T) {
	last := tanktest.Move{From: aLoad.End() + 260, Bbl: 6, Rate: 2}
	foam := func(s float64) float64 {
		since := s - aLoad.End()
		return 2.6 * stats.Clamp(1+since/300, 0, 1) * math.Exp(-math.Max(0, since-270)/120)
	}
	none := func(float64) float64 { return 0 }
	for _, c := range []struct {
		sensor string
		every  float64
		moves  []tanktest.Move
		foam   func(s float64) float64
		says   string
	}{
		{"radar", 20, []tanktest.Move{aLoad, last}, none, ""},
		{"radar", 60, []tanktest.Move{aLoad, last}, none, ""},
		{"float", 20, []tanktest.Move{aLoad, last}, none, ""},
		{"hydrostatic", 20, []tanktest.Move{aLoad, last}, none, ""},
		{"radar", 20, []tanktest.Move{aLoad}, foam, "left slower than the pump drew"},
		{"radar", 60, []tanktest.Move{aLoad}, foam, "left slower than the pump drew"},
	} {
		w := tanktest.Well{Level0: 180, Moves: c.moves}
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = c.every, c.sensor
		r.sensor = func(_ int, s, v float64) (float64, bool) { return v + c.foam(s), true }
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].Close-w.Level(5*tanktest.Hour)) > 0.8 {
			t.Fatalf("want a closing of %.2f in: %+v", w.Level(5*tanktest.Hour), r.loads)
		}
		t.Run(c.sensor, func(t *testing.T) { asksFor(t, r.loads[0], c.says) })
	}
}
