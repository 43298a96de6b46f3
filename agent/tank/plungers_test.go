package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// plunged are the slugs of a plunger about a time, at which one comes: each quickly at first and then less, within some minutes, and by no clock. Came is
// what they bring over a load.
func plunged(one, every, bbl, minutes float64, from, to float64) (moves []tanktest.Move, came float64) {
	for n := -18.0; n < 3; n++ {
		at := one + n*every + every/5*math.Sin(3*n)
		for k, share := range []float64{0.56, 0.25, 0.12, 0.07} {
			m := tanktest.Move{From: at + float64(k)*minutes*15, Bbl: -share * bbl, Rate: 4 * share * bbl / minutes}
			moves = append(moves, m)
			came += m.Rate / 60 * math.Max(0, math.Min(to, m.End())-math.Max(from, m.From))
		}
	}
	return moves, came
}

// A driver who throttles his pump for his last barrels bends the fall to its very end, and behind it the level rests: that was no slug, which would not have
// ended with the pump. One that comes amid the fall, or is coming in at its end, shows as before.
func TestAThrottledEndIsNoSlug(t *testing.T) {
	for name, x := range map[string]struct{ throttled, rate, next, every float64 }{
		"the last 8 bbl at half speed":       {8, 2.4, 2400, 10},
		"the same, read each 30 s":           {8, 2.4, 2400, 30},
		"the same, read each 60 s":           {8, 2.4, 2400, 60},
		"the last 12 bbl":                    {12, 3, 3000, 10},
		"no throttle, and a slug":            {0, 5, 300, 10},
		"no throttle, and a slug at its end": {0, 5, 950, 10},
	} {
		first := tanktest.Move{From: 26 * tanktest.Hour, Bbl: 95 - x.throttled, Rate: 5}
		load := tanktest.Move{From: first.From, Bbl: 95}
		moves := []tanktest.Move{first, {From: first.End(), Bbl: x.throttled, Rate: x.rate}}
		end := moves[1].End()
		if x.throttled == 0 {
			moves, end = moves[:1], first.End()
		}
		slugs, came := plunged(load.From+x.next, 5400, 5.5, 14, load.From, end)
		r := newRig(t, tanktest.Well{Level0: 70, Moves: append(moves, slugs...)})
		r.every = x.every
		r.run(0, end+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: want one load: %+v", name, r.loads)
			continue
		}
		if l := r.loads[0]; math.Abs(l.RemovedBbl-load.Bbl) > 1 || math.Abs(l.InflowBbl-came) > math.Max(1, l.InflowErrorBbl) {
			t.Errorf("%s: want an inflow of %.1f: %.1f, give or take %.1f, removed %.1f of %g, review %q", name, came, l.InflowBbl, l.InflowErrorBbl, l.RemovedBbl, load.Bbl, l.Review)
		}
	}
}
