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
