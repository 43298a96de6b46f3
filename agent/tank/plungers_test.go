package tank

import (
	"math"
	"strings"
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

// A driver who begins with his valve hardly open bends the fall at its beginning, by more than any slug brings: nothing came.
func TestASlowStartIsNoSlug(t *testing.T) {
	for name, x := range map[string]struct{ slow, rate, next, every float64 }{
		"8 min hardly open":             {6, 0.8, 4500, 10},
		"the same, a slug ended before": {6, 0.8, -1500, 10},
		"the same, read each 30 s":      {6, 0.8, 4500, 30},
	} {
		first := tanktest.Move{From: 26 * tanktest.Hour, Bbl: x.slow, Rate: x.rate}
		rest := tanktest.Move{From: first.End(), Bbl: 110 - x.slow, Rate: 5}
		slugs, came := plunged(first.From+x.next, 6600, 5.5, 14, first.From, rest.End())
		r := newRig(t, tanktest.Well{Level0: 70, Moves: append(slugs, first, rest)})
		r.every = x.every
		r.run(0, rest.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: want one load: %+v", name, r.loads)
			continue
		}
		if l := r.loads[0]; math.Abs(l.RemovedBbl-110) > math.Max(1, 1.2*l.InflowErrorBbl) || math.Abs(l.InflowBbl-came) > 3 {
			t.Errorf("%s: want an inflow of %.1f: %.1f, give or take %.1f, removed %.1f of 110, review %q", name, came, l.InflowBbl, l.InflowErrorBbl, l.RemovedBbl, l.Review)
		}
	}
}

// A slug comes quickly at first and then less, and brings about as much as others do. Of one that was coming in when the truck started what it had not brought
// yet comes meanwhile, and not its pace over the whole load; and one whose end is seen behind the load brought the rest of it in the load.
func TestWhatIsLeftOfASlugComesInTheLoad(t *testing.T) {
	load := tanktest.Move{From: 26 * tanktest.Hour, Bbl: 95, Rate: 5}
	for name, x := range map[string]struct{ at, every float64 }{
		"it had just begun":           {-200, 15},
		"it was nearly over":          {-600, 15},
		"its tail is behind the load": {load.End() - load.From - 400, 15},
	} {
		slugs, came := plunged(load.From+x.at, 7200, 8, 15, load.From, load.End())
		r := newRig(t, tanktest.Well{Level0: 60, Moves: append(slugs, load)})
		r.every = x.every
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: want one load: %+v", name, r.loads)
			continue
		}
		if l := r.loads[0]; math.Abs(l.InflowBbl-came) > math.Max(1, l.InflowErrorBbl) || l.InflowErrorBbl > 4 || len(l.Review) > 0 {
			t.Errorf("%s: want an inflow of %.1f: %.1f, give or take %.1f, removed %.1f of %g, review %q", name, came, l.InflowBbl, l.InflowErrorBbl, l.RemovedBbl, load.Bbl, l.Review)
		}
	}
}

// A slug of ten barrels that may have come while nothing shows it, as of a pressure sensor under a truck's vacuum, is asked for. A small one is not, nor a
// well that surges and never pauses: it brings what it does in the mean.
func TestAWholeSlugThatNobodySawAsks(t *testing.T) {
	load := tanktest.Move{From: 26 * tanktest.Hour, Bbl: 150, Rate: 5}
	surges := func(bbl, minutes float64) (moves []tanktest.Move) {
		for n := -30.0; n < 4; n++ {
			moves = append(moves, tanktest.Move{From: load.From + 700 + n*3600 + 500*math.Sin(3*n), Bbl: -bbl, Rate: bbl / minutes})
		}
		return moves
	}
	slugs := func(bbl float64) []tanktest.Move {
		moves, _ := plunged(load.From+700, 8100, bbl, 12, load.From, load.End())
		return moves
	}
	for name, x := range map[string]struct {
		moves  []tanktest.Move
		inflow float64
		asks   bool
		most   float64 // bbl that are not known
	}{
		"a slug of ten barrels": {slugs(10), 0, true, 16},
		"a slug of three":       {slugs(3), 0, false, 4},
		"a well that surges":    {surges(5, 30), 130, false, 6},
	} {
		r := newRig(t, tanktest.Well{Level0: 60, Inflow: x.inflow, Moves: append(x.moves, load)})
		r.site.tanks[0].Sensor, r.every = "hydrostatic", 30
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: want one load: %+v", name, r.loads)
			continue
		}
		l := r.loads[0]
		if asks := strings.Contains(strings.Join(l.Review, "; "), "flowed in meanwhile"); asks != x.asks || l.InflowErrorBbl > x.most {
			t.Errorf("%s: asks %v: inflow %.1f, give or take %.1f, review %q", name, asks, l.InflowBbl, l.InflowErrorBbl, l.Review)
		}
	}
}
