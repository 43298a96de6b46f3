package tank

import (
	"math"
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
