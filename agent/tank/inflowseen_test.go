package tank

import (
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// Each dump of a separator falls through the beam: for half a minute the level seems inches higher. What the well makes is known all the same, and
// the load is told in time.
func TestAnEchoOffEachDumpHidesNoInflow(t *testing.T) {
	const dump, each = 1.0, 420.0 // bbl, s
	lot := rand.New(rand.NewPCG(3, 3))
	var falls []float64
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 150, Rate: 5}
	w := tanktest.Well{Level0: 120, Moves: []tanktest.Move{load}}
	for s := 100.0; s < 9*tanktest.Hour; s += each * (0.8 + 0.4*lot.Float64()) {
		falls = append(falls, s)
		w.Moves = append(w.Moves, tanktest.Move{From: s, Bbl: -dump, Rate: dump / 25 * 60})
	}
	r := newRig(t, w)
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if k := sort.SearchFloat64s(falls, s); k > 0 && s-falls[k-1] < 25 {
			v += 2 + 2*lot.Float64()
		}
		return v, true
	}
	r.run(0, load.End()+1.5*tanktest.Hour)
	want := dump / each * (load.End() - load.From)
	if len(r.loads) != 1 || r.loads[0].InflowUnknown || math.Abs(r.loads[0].InflowBbl-want) > 1.5 || math.Abs(r.loads[0].RemovedBbl-load.Bbl) > 2 {
		t.Errorf("want one load of %g bbl with an inflow of %.1f: %+v", load.Bbl, want, r.loads)
	}
}

// A vapour compressor that starts and stops each six minutes moves a pressure cell by an inch and a half: each of its falls comes back and goes again.
// A load waits no longer than two hours for what becomes of those before it.
func TestALoadWaitsTwoHoursForSmallFallsBeforeIt(t *testing.T) {
	truck := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 180, Rate: 6}
	r := newRig(t, tanktest.Well{Level0: 180, Inflow: 200, Moves: []tanktest.Move{truck}})
	r.site.tanks[0].Sensor = "hydrostatic"
	shown, at, lot := 0.0, 0.0, rand.New(rand.NewPCG(7, 7))
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		for ; at < s; at++ {
			shown += (1.6*math.Mod(math.Floor(at/360), 2) - shown) / 45
		}
		return v + shown + 0.04*lot.NormFloat64(), true
	}
	r.run(0, truck.End()+overdueMost+600)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-truck.Bbl) > 8 {
		t.Errorf("%d loads two hours behind it, want one: %+v", len(r.loads), r.loads)
	}
}

// Where polls are a quarter of an hour apart the silence before a load is no time in which its tank stood.
func TestASilenceBeforeALoadIsNoStanding(t *testing.T) {
	load := tanktest.Move{From: 5*tanktest.Hour + 700, Bbl: 150, Rate: 6}
	r := newRig(t, tanktest.Well{Level0: 120, Inflow: 280, Moves: []tanktest.Move{load}})
	seldom := load.From - tanktest.Hour - 700
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		return math.Round(v*8) / 8, s < seldom && math.Mod(s, 30) == 0 || math.Mod(s, 900) == 0
	}
	r.run(0, load.End()+4*tanktest.Hour)
	if want := 280 * (load.End() - load.From) / 86400; len(r.loads) != 1 || math.Abs(r.loads[0].InflowBbl-want) > 1 {
		t.Errorf("want an inflow of %.1f bbl: %+v", want, r.loads)
	}
}

// A well that comes in bursts may bring one of them in any load, in a tank that is nearly full too: the error of what flowed in holds it.
func TestTheErrorOfAnInflowHoldsOneBurst(t *testing.T) {
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 120, Rate: 6}
	w := tanktest.Well{Level0: 222, Moves: []tanktest.Move{load}}
	for _, at := range []float64{load.From - 6300, load.From + 500} {
		w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -5, Rate: 0.6})
	}
	r := newRig(t, w)
	r.run(0, load.End()+2*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].InflowBbl-5) > r.loads[0].InflowErrorBbl+0.2 {
		t.Errorf("want an inflow of 5 bbl within its error: %+v", r.loads)
	}
}

// What only a guessed inflow lifts over min_load asks.
func TestLessThanALoadButForAGuessedInflowAsks(t *testing.T) {
	out := tanktest.Move{From: 5 * tanktest.Hour, Bbl: 23.9, Rate: 1.2}
	w := tanktest.Well{Level0: 120, Moves: []tanktest.Move{out}}
	for s := 600.0; s < 8*tanktest.Hour; s += 5400 {
		w.Moves = append(w.Moves, tanktest.Move{From: s, Bbl: -9, Rate: 0.5})
	}
	r := newRig(t, w)
	r.run(0, 8*tanktest.Hour)
	for _, l := range r.loads {
		if l.GaugeBbl < 25 && !strings.Contains(strings.Join(l.Review, "; "), "less than min_load") {
			t.Errorf("silent: %+v", l)
		}
	}
	if len(r.loads) == 0 {
		t.Error("no load")
	}
}

// Of the inflow of tanks that an equaliser joins less is known than it says: what is not known to eight barrels asks there.
func TestAnUnknownInflowOfAGroupAsksSooner(t *testing.T) {
	for group, asks := range map[string]bool{"": false, "west": true} {
		load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 120, Rate: 3}
		w := tanktest.Well{Level0: 120, Moves: []tanktest.Move{load}}
		for _, x := range [][2]float64{{0.9, 9}, {2.6, 5}, {5.1, 15}, {6.7, 10}, {9.6, 9}} { // not alike, as a well's slugs are
			w.Moves = append(w.Moves, tanktest.Move{From: x[0] * tanktest.Hour, Bbl: -x[1], Rate: 2})
		}
		r := newRig(t, w)
		r.site.tanks[0].Group, r.every = group, 300 // too seldom for the fall to show which came
		r.run(0, load.End()+3*tanktest.Hour)
		if len(r.loads) != 1 || r.loads[0].InflowErrorBbl < groupAsks || r.loads[0].InflowErrorBbl > inflowAsks {
			t.Fatalf("%q: want one load whose inflow is unknown to 8 to 16 bbl: %+v", group, r.loads)
		}
		if got := strings.Contains(strings.Join(r.loads[0].Review, ", "), "are taken to have flowed in meanwhile"); got != asks {
			t.Errorf("%q: asks %t for %v", group, got, r.loads[0].Review)
		}
	}
}
