package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// aHungEnd is a load whose float hangs, alive, where it was some seconds before the end, and comes free as long after it.
func aHungEnd(t *testing.T, before, free float64) (*rig, tanktest.Well) {
	w := tanktest.Well{Level0: 160, Inflow: 200, Moves: []tanktest.Move{{From: 6 * tanktest.Hour, Bbl: 150, Rate: 5}}}
	r, end := newRig(t, w), w.Moves[0].End()
	r.site.tanks[0].Sensor = "float"
	r.sensor = func(i int, s, v float64) (float64, bool) {
		if s > end-before && s < end+free {
			return tanktest.Radar(i, s, math.Max(w.Level(end-before), w.Level(s))), true
		}
		return v, true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("want one load: %+v", r.loads)
	}
	return r, w
}

// A float that stands alive behind a load while its well goes on, and then falls to the oil at once, had hung: the closing is what flowed in
// since below where it fell to.
func TestAFloatThatHungAtTheEndAndFellFreeIsRead(t *testing.T) {
	for _, free := range []float64{480, 900} {
		r, w := aHungEnd(t, 60, free)
		if want, l := w.Level(w.Moves[0].End()), r.loads[0]; math.Abs(l.Close-want) > 0.3 || len(l.Review) > 0 {
			t.Errorf("free after %g s: closing %.2f in, want %.2f: %q", free, l.Close, want, l.Review)
		}
	}
}

// One that the oil reached, and that rose on with it, may have hung, or the well was turned away meanwhile: it asks.
func TestAFloatThatTheOilReachedAsks(t *testing.T) {
	r, _ := aHungEnd(t, 60, tanktest.Hour)
	asksFor(t, r.loads[0], "reading stood at")
}

// One truck that waits for half an hour between two parts of its load, at the same rate: neither is more than half of what it holds, and it asks.
// Two trucks behind one another, or two rates, do not.
func TestPartsOfALoadHalfAnHourApartAsk(t *testing.T) {
	for _, c := range []struct {
		first, second, rate float64
		asks                bool
	}{{60, 58, 5, true}, {150, 58, 5, false}, {60, 58, 6.5, false}} {
		a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: c.first, Rate: 5}
		b := tanktest.Move{From: a.End() + 2100, Bbl: c.second, Rate: c.rate}
		r := newRig(t, tanktest.Well{Level0: 170, Inflow: 60, Moves: []tanktest.Move{a, b}})
		r.site.tanks[0].Loads.TruckMax = 215
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 2 {
			t.Fatalf("%+v: want two loads: %+v", c, r.loads)
		}
		says := ""
		if c.asks {
			says = "before it: one truck or two"
		}
		asksFor(t, r.loads[1], says)
	}
}

// Two tanks on one load header, of which the second is opened before the first is shut: what runs across is in neither the first's closing nor its
// truck's load, and asks.
func TestOilThatRunsAcrossAHeaderAsks(t *testing.T) {
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 70, Rate: 5}
	next := tanktest.Move{From: load.End() - 30, Bbl: 80, Rate: 5}
	r := newRig(t, tanktest.Well{Level0: 170, Inflow: 60, Moves: []tanktest.Move{load}}, tanktest.Well{Level0: 170, Moves: []tanktest.Move{next}})
	r.sensor = func(i int, s, v float64) (float64, bool) {
		came := math.Min(10, math.Max(0, (s-load.End())*2/60)) // bbl
		if i == 1 {
			came = -came
		}
		return v + came/tanktest.PerInch, true
	}
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 2 {
		t.Fatalf("want two loads: %+v", r.loads)
	}
	for _, l := range r.loads {
		if l.Tank == "TK-1" {
			asksFor(t, l, "from its end on, while tank TK-2 was drawn from")
		}
	}
}
