package tank

import (
	"math"
	"slices"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// held is where somebody holds a rod some seconds after he lifted it: straight from one of some points to the next; false when he is done.
func held(since float64, path [][2]float64) (level float64, ok bool) {
	for k := 1; k < len(path) && since >= path[0][0]; k++ {
		if a, z := path[k-1], path[k]; since < z[0] {
			return a[1] + (z[1]-a[1])*(since-a[0])/(z[0]-a[0]), true
		}
	}
	return 0, false
}

// loadsBeside are the barrels of the loads that come out of a tank in which somebody lifts a rod on a path while a truck loads.
func loadsBeside(t *testing.T, w tanktest.Well, every, from float64, path [][2]float64) (r *rig, took float64) {
	r = newRig(t, w)
	r.every, r.site.tanks[0].Every = every, time.Duration(every)*time.Second
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if h, ok := held(s-from, path); ok {
			v = h
		}
		return tanktest.Radar(0, s, v), true
	}
	r.run(0, 10*tanktest.Hour)
	for _, l := range r.loads {
		if truck := w.Moves[0]; truck.From < s(l.End) && truck.End() > s(l.Start) {
			took += l.GaugeBbl
		}
	}
	return r, took
}

// A rod is let down as evenly as a pump draws and rests, is lifted past where it was, hangs out and is let in again: the level rests where it had
// rested, and nothing left. A truck that comes soon before it or behind it is a load, and one that comes while it is out leaves a lower level.
func TestARodThatComesBackIsNoLoad(t *testing.T) {
	from := 5 * tanktest.Hour
	for name, truck := range map[string]tanktest.Move{
		"none":      {Rate: 1},
		"before":    {From: from - 1800, Bbl: 90, Rate: 6},
		"behind":    {From: from + 3600, Bbl: 90, Rate: 6},
		"meanwhile": {From: from + 700, Bbl: 90, Rate: 6},
	} {
		w := tanktest.Well{Level0: 120, Inflow: 30, Moves: []tanktest.Move{truck}}
		at := w.Level(from)
		path := [][2]float64{{0, at}, {340, at - 28}, {1060, at - 28}, {1240, at + 31}, {1800, at + 31}, {2040, at + 5}, {2260, at}, {2280, 0}, {2540, 0}}
		if r, took := loadsBeside(t, w, 10, from, path); len(r.loads) > 0 != (name != "none") || took < 85 && (name == "before" || name == "behind") {
			t.Errorf("%s: %.1f bbl: %+v", name, took, r.loads)
		}
	}
}

// A load ends by chance at a level that somebody's rod had come by within two hours: oil stood where the level had rested, and not there.
func TestALoadThatEndsWhereARodHadBeen(t *testing.T) {
	from := 4 * tanktest.Hour
	truck := tanktest.Move{From: from + 5600, Bbl: 163, Rate: 7.5}
	path := [][2]float64{{0, 134}, {10, 0}, {900, 0}, {930, 15}, {2300, 55}, {2310, 170}, {3000, 168}, {3010, 210}, {3600, 209}}
	if r, took := loadsBeside(t, tanktest.Well{Level0: 130, Inflow: 25, Moves: []tanktest.Move{truck}}, 10, from, path); math.Abs(took-truck.Bbl) > 2 {
		t.Errorf("%.1f bbl: %+v %+v", took, r.loads, r.verdicts)
	}
}

// A rod that is hauled out while a truck loads, or minutes after, and let in an hour later into what the truck left, hides no load: what was seen
// to leave is told, and asks, and not how far the rod was lifted.
func TestARodThatIsHauledOutOfALoad(t *testing.T) {
	w := tanktest.Well{Level0: 150, Inflow: 30, Moves: []tanktest.Move{{From: 5 * tanktest.Hour, Bbl: 150, Rate: 3}}}
	for _, out := range []float64{1000, 2990, 3250} {
		at := w.Level(5*tanktest.Hour + out)
		for _, long := range []float64{0.01, 200} {
			r, took := loadsBeside(t, w, 10, 5*tanktest.Hour+out, [][2]float64{{0, at}, {long, 3}, {3500, 2}})
			if left := math.Min(150, out/20); len(r.loads) != 1 || len(r.loads[0].Review) == 0 || took < left-2 || took > 152 {
				t.Errorf("out at %v s in %v s: %.1f bbl: %+v %+v", out, long, took, r.loads, r.verdicts)
			}
		}
	}
}

// A load that a sensor hides which hangs or echoes, in whole or in part, asks: the level rested before it, and rests lower behind it.
func TestALoadThatTheSensorHides(t *testing.T) {
	from := 8 * tanktest.Hour
	hung := func(since, until float64) seen {
		held := 0.0
		return func(_ int, s, v float64) (float64, bool) {
			if s -= from; s < since || s > until {
				held = math.Round(2*v) / 2
			}
			return held, true
		}
	}
	in := func(s float64, spans ...float64) bool { // a bound of every span lies before it
		n, _ := slices.BinarySearch(spans, s-from)
		return n%2 == 1
	}
	for name, c := range map[string]struct {
		kind   string
		every  float64
		well   tanktest.Well
		truck  tanktest.Move
		sensor seen
	}{
		"a reed hangs over it": {"reed", 60, tanktest.Well{Level0: 140, Inflow: 150}, tanktest.Move{Bbl: 110, Rate: 3.3}, hung(-1200, 16000)},
		"a reed hangs in it":   {"reed", 60, tanktest.Well{Level0: 100, Inflow: 30}, tanktest.Move{Bbl: 47, Rate: 3.5}, hung(140, 16000)},
		"it is read between echos": {"radar", 60, tanktest.Well{Level0: 46}, tanktest.Move{Bbl: 40, Rate: 7}, func(_ int, s, v float64) (float64, bool) {
			if in(s, -820, -340, 560, 2000, 2300, 3600) {
				v = 228
			}
			return tanktest.Radar(0, s, v), true
		}},
	} {
		c.truck.From = from
		c.well.Moves = []tanktest.Move{c.truck}
		r := newRig(t, c.well)
		r.every, r.sensor, r.site.tanks[0].Sensor, r.site.tanks[0].Every = c.every, c.sensor, c.kind, time.Duration(c.every)*time.Second
		if r.run(0, 18*tanktest.Hour); len(r.loads) != 1 || len(r.loads[0].Review) == 0 || math.Abs(r.loads[0].GaugeBbl-c.truck.Bbl) > 35 {
			t.Errorf("%s: %+v %+v", name, r.loads, r.verdicts)
		}
	}
}

// A loop is tested in the middle of a load: what its current falls by in the end had fallen before, but for what lies below that.
func TestWhatIsTestedHadFallenBefore(t *testing.T) {
	ts := &tankState{}
	for s := 0.0; s < 3000; s += 30 {
		v := float32(157 - 0.04*s)
		if s > 1550 {
			v = float32(150 - 69*math.Floor(s/2700))
		}
		if s < 1550 || s > 2400 {
			ts.levels.recent = append(ts.levels.recent, sample{t: s, v: v, n: 1})
		}
	}
	if got, _ := leaps(ts, &Tank{Table: testTable(t), Loads: DefaultLoads()}, draw{end: 2800}, fasterThan); got > 15 {
		t.Errorf("%.1f in at once, of which 14 are new", got)
	}
}

// A gauge that moves for good as a pump stops, or between two readings of a radio minutes before it starts, makes no ticket that does not ask.
func TestAGaugeThatMovesByALoad(t *testing.T) {
	from := 6 * tanktest.Hour
	truck := tanktest.Move{From: from, Bbl: 142, Rate: 8}
	for name, moves := range map[string]struct{ at, by, every float64 }{"up as it stops": {truck.End() - 40, 24, 10}, "down before it": {from - 700, -14, 120}} {
		r := newRig(t, tanktest.Well{Level0: 170, Inflow: 30, Moves: []tanktest.Move{truck}})
		told := 0.0
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s >= moves.at {
				v += moves.by
			}
			if math.Mod(s, moves.every) == 0 {
				told = math.Round(20*v) / 20
			}
			return told, s < moves.at || s > moves.at+60 || moves.by < 0
		}
		if r.run(0, 10*tanktest.Hour); len(r.loads) != 1 || len(r.loads[0].Review) == 0 && math.Abs(r.loads[0].GaugeBbl-truck.Bbl) > 2 {
			t.Errorf("%s: %+v %+v", name, r.loads, r.verdicts)
		}
	}
}

// Where nothing was read behind a draw, as after a kill, there is no calm, and of a value that stood nothing to forget.
func TestNothingIsCalmWhereNothingWasRead(t *testing.T) {
	if calm(nil, 1, 0) {
		t.Error("no reading is calm")
	}
	ts := &tankState{}
	ts.levels.recent = []sample{{t: 1, v: 2}}
	if forgetHung(ts, 5); len(ts.levels.recent) != 1 {
		t.Errorf("%d samples are left", len(ts.levels.recent))
	}
}

// A probe that somebody lowers as evenly as a pump draws, and holds for a while, does not rest as a level does.
func TestAProbeThatIsHeldIsNoRest(t *testing.T) {
	for _, held := range []float64{600, 1800, 2600} {
		at, r := 3*tanktest.Hour, newRig(t, tanktest.Well{Level0: 150, Inflow: 60})
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s > at && s < at+2400+held {
				v += 10*tanktest.Radar(9, s, 0) - 60*math.Min(1, (s-at)/2400)
			}
			return tanktest.Radar(i, s, v), true
		}
		r.every = 30
		r.run(0, 8*tanktest.Hour)
		r.matches(0, 0)
	}
}

// follows shows a level late by a first-order lag, with what is added to it at each time.
func follows(lag, every float64, off func(s float64) float64) seen {
	shown := math.NaN()
	return func(_ int, s, v float64) (float64, bool) {
		v += off(s)
		if math.IsNaN(shown) {
			shown = v
		}
		shown += (v - shown) * (1 - math.Exp(-every/lag))
		return shown, true
	}
}

// A radar that hangs on a rung of the ladder again and again, each time for a while, and shows it late: that it rose as fast before is the
// fault, and not how the well fills the tank. What comes back at once to its opening left nothing, however short it had stood there.
func TestARungThatARadarSeesAgainAndAgain(t *testing.T) {
	at := 5 * tanktest.Hour
	for name, rungs := range map[string][][3]float64{ // from, to, inches
		"again":  {{0, 1300, 16}, {2900, 4100, 14}, {5600, 6800, 15}},
		"higher": {{0, 900, 12}, {1800, 3100, 30}, {4900, 6100, 31}},
		"back":   {{0, 1260, 24}, {1350, 4200, 24}},
	} {
		for _, lag := range []float64{30, 60} {
			r := newRig(t, tanktest.Well{Level0: 140, Inflow: 40})
			r.every, r.site.tanks[0].Every = 15, 15*time.Second
			follow := follows(lag, r.every, func(s float64) float64 {
				for _, x := range rungs {
					if s-at >= x[0] && s-at < x[1] {
						return x[2]
					}
				}
				return 0
			})
			r.sensor = func(i int, s, v float64) (float64, bool) {
				v, _ = follow(i, s, v)
				return tanktest.Radar(i, s, v), true
			}
			r.run(0, 10*tanktest.Hour)
			if len(r.loads) > 0 {
				t.Errorf("%s, %v s late: %+v", name, lag, r.loads)
			}
		}
	}
}

// Somebody works on a sensor at rest: what it shows jumps, dwells and falls as evenly as under a pump, again and again, and in the end it is
// where it was. A power cut meanwhile forgets nothing of it. A truck that comes before or behind is a load, and so is one that comes meanwhile.
func TestASensorInHandsAtRest(t *testing.T) {
	from := 6 * tanktest.Hour
	paths := map[string]func(at float64) [][2]float64{
		"up and down": func(at float64) [][2]float64 {
			return [][2]float64{{0, at}, {60, at + 12}, {61, at - 20}, {62, 0.1}, {420, 0.1}, {600, 154}, {1000, 154}, {1780, 72}, {1880, 72}, {1900, 0.1}, {2200, 0.1}, {2260, at}}
		},
		"wild": func(at float64) [][2]float64 {
			return [][2]float64{{0, at}, {60, 153}, {480, 153}, {780, 0}, {1320, 0}, {1440, 31}, {1470, 31}, {1740, 0}, {2820, 0}, {3540, 234}, {3780, 90}, {4080, 5}, {4260, 5}, {4620, 90}, {4700, 60}, {5160, 203}, {5280, 211}, {5340, at + 1}}
		},
	}
	for name, path := range paths {
		for when, truck := range map[string]tanktest.Move{
			"none":      {Rate: 1},
			"before":    {From: from - 5400, Bbl: 90, Rate: 6},
			"behind":    {From: from + 9000, Bbl: 90, Rate: 6},
			"meanwhile": {From: from + 2000, Bbl: 90, Rate: 8},
		} {
			for _, every := range []float64{10, 30} {
				w := tanktest.Well{Level0: 100, Inflow: 30, Moves: []tanktest.Move{truck}}
				r, took := loadsBeside(t, w, every, from, path(w.Level(from)))
				if len(r.loads) > 0 != (when != "none") || took < 85 && (when == "before" || when == "behind") {
					t.Errorf("%s, %s, every %v s: %.1f bbl: %+v %+v", name, when, every, took, r.loads, r.events)
				}
			}
		}
	}
}

// The same, with a power cut after the jumps and before the level falls as under a pump: it knows that somebody had the sensor in hands.
func TestASensorInHandsOverAPowerCut(t *testing.T) {
	from := 6 * tanktest.Hour
	w := tanktest.Well{Level0: 60, Inflow: 30}
	at := w.Level(from)
	path := [][2]float64{{0, at}, {60, at + 12}, {61, at - 20}, {62, 1}, {420, 1}, {600, 154}, {1000, 154}, {1780, 72}, {1880, 72}, {1900, 1}, {2200, 1}, {2260, at}}
	r := newRig(t, w)
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if h, ok := held(s-from, path); ok {
			v = h
		}
		return tanktest.Radar(0, s, v), true
	}
	r.run(0, from+900)
	r.kill(from + 900)
	r.run(from+900, 10*tanktest.Hour)
	r.matches(0, 0)
}

// A tank into which nothing flows stands as still after somebody had its probe out as before: the value is no deader than it was.
func TestAProbeOutOfATankThatStandsStill(t *testing.T) {
	from := 7 * tanktest.Hour
	for _, trucks := range []float64{0, 1} {
		level := knots([2]float64{0, 137}, [2]float64{from + 9000, 137}, [2]float64{from + 9000 + 1200, 137 - 30*trucks}, [2]float64{12 * tanktest.Hour, 137 - 30*trucks})
		path := [][2]float64{{0, 137}, {32, 135}, {90, 103}, {147, 93}, {207, 82}, {263, 74}, {566, 74}, {572, 0}, {972, 0}, {980, 18}, {1500, 18}, {1560, 136.9}, {1700, 137}}
		r := newRig(t, aWell)
		r.every, r.site.tanks[0].Every = 60, time.Minute
		r.sensor = func(_ int, s, _ float64) (float64, bool) {
			v := level(s)
			if h, ok := held(s-from, path); ok {
				v = h
			}
			return math.Round(v*50) / 50, true
		}
		r.run(0, 11*tanktest.Hour)
		if len(r.loads) != int(trucks) || trucks > 0 && math.Abs(r.loads[0].GaugeBbl-30*tanktest.PerInch) > 2 {
			t.Errorf("%v trucks: %+v %+v", trucks, r.loads, r.events)
		}
	}
}

// Nobody spans to an end of the tank; but of a full one the level is there, and back, alive, where it was before somebody took the sensor out.
func TestASensorOutOfAFullTank(t *testing.T) {
	from := 6 * tanktest.Hour
	w := tanktest.Well{Level0: 236, Inflow: 8}
	at := w.Level(from)
	path := [][2]float64{{0, at}, {20, 106}, {840, 106}, {880, 94}, {1380, 94}, {1950, 0.1}, {2120, 0.1}, {2150, at + 3.5}}
	r := newRig(t, w)
	r.every, r.site.tanks[0].Every = 30, 30*time.Second
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if h, ok := held(s-from, path); ok {
			v = h
		} else if s > from {
			v += 3.5
		}
		return tanktest.Radar(0, s, v), true
	}
	r.run(0, 12*tanktest.Hour)
	r.matches(0, 0)
}

// An impulse line freezes and lifts what is shown, and thaws: fast at first and ever slower, so that noise makes stops of its end. That is no pump
// which stops and goes on.
func TestWhatDecaysInNoiseSeemsToStop(t *testing.T) {
	at := 5 * tanktest.Hour
	for k := range 6 {
		tau, inches := 800+60*float64(k), 14+3*float64(k)
		r := newRig(t, tanktest.Well{Level0: 110, Inflow: 6})
		r.every, r.site.tanks[0].Every, r.site.tanks[0].Sensor = 30, 30*time.Second, "hydrostatic"
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			up := math.Max(0, math.Min(1, (s-at)/1500)) * math.Exp(-math.Max(0, s-at-4000)/tau)
			return math.Round((v+inches*up+3*tanktest.Radar(k, s, 0))*10) / 10, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) > 0 {
			t.Errorf("%v in that go in %v s: %+v", inches, tau, r.loads)
		}
	}
}

// A plunger lifts oil by slugs, and a sensor hears false echoes meanwhile, one reading each: a load behind one slug, of which the next brings half
// back, is one. A false echo is no step that stays.
func TestALoadBetweenSlugsThatEchoesSee(t *testing.T) {
	level := knots([2]float64{0, 20}, [2]float64{9000, 20}, [2]float64{10800, 32}, [2]float64{11700, 32}, [2]float64{12220, 10}, [2]float64{12700, 10}, [2]float64{14500, 20.8}, [2]float64{18000, 20.8})
	r := newRig(t, tanktest.Well{})
	r.site.tanks[0].Sensor = "ultrasonic"
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		v := level(s) + 2*tanktest.Radar(0, s, 0)
		if n := int(s / 10); n%29 == 0 {
			v += 4 + float64(n%3)
		}
		return v, true
	}
	r.run(0, 18000)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-22*tanktest.PerInch) > 0.5 {
		t.Errorf("%+v, %+v", r.loads, r.events)
	}
}

// An impulse line that freezes pushes the level above the shell, and it comes back as it thaws, as fast as a pump draws: no oil stood up there.
func TestALevelAboveTheShellThatComesBack(t *testing.T) {
	w := tanktest.Well{Level0: 218, Inflow: 30, Moves: []tanktest.Move{{Rate: 1}}}
	at := w.Level(5 * tanktest.Hour)
	path := [][2]float64{{0, at}, {2400, 244}, {2500, 244}, {3700, at + 1}, {3800, at + 1}}
	if r, _ := loadsBeside(t, w, 30, 5*tanktest.Hour, path); len(r.loads) > 0 {
		t.Errorf("%+v %+v", r.loads, r.verdicts)
	}
}

// A probe is lifted minutes into a slow load for as long as a re-span is believed, and comes back, through its damping, to where the pump has the level by then:
// the load began before that, and its opening is what it was.
func TestAProbeThatIsLiftedAmidASlowLoadAndComesBack(t *testing.T) {
	truck := tanktest.Move{From: 5 * tanktest.Hour, Bbl: 170, Rate: 1}
	for _, damping := range []float64{0, 40} {
		w := tanktest.Well{Level0: 160, Inflow: 60, Moves: []tanktest.Move{truck}}
		r := newRig(t, w)
		shown := 160.0
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s >= truck.From+800 && s < truck.From+1840 {
				v -= 48
			}
			shown += (v - shown) * (1 - math.Exp(-10/math.Max(damping, 0.1)))
			return math.Round(100*shown) / 100, true
		}
		r.run(0, 12*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].Open-w.Level(truck.From)) > 1 || math.Abs(r.loads[0].Close-w.Level(truck.End())) > 1 || len(r.loads[0].Review) == 0 {
			t.Errorf("damping of %g s: want one load from %.1f in that asks: %+v", damping, w.Level(truck.From), r.loads)
		}
	}
}
