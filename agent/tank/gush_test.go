package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A well whose slug came once before the load, most of it within minutes, brings the next one amid the fall: the level stands there, or rises, and falls on as
// fast as before. What it brought is oil of the truck's. Where the fall is even none came, however much the well brings in the mean.
func TestASlugOfAWellThatBroughtOneBeforeShowsInTheFall(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 160, Rate: 5}
	slug := func(at, bbl float64) []tanktest.Move {
		return []tanktest.Move{{From: at, Bbl: -0.7 * bbl, Rate: 0.35 * bbl}, {From: at + 120, Bbl: -0.3 * bbl, Rate: 0.3 * bbl / 15}}
	}
	for name, x := range map[string]struct{ at, before, every float64 }{
		"amid the fall":           {load.From + 800, 1, 15},
		"amid it, read each 30 s": {load.From + 800, 1, 30},
		"none came, one before":   {load.End() + 3*tanktest.Hour, 1, 15},
		"none came, two before":   {load.End() + 3*tanktest.Hour, 2, 30},
	} {
		moves := append(slug(x.at, 20), load)
		for n := range int(x.before) {
			moves = append(moves, slug(load.From-float64(n)*9000-4000, 18)...)
		}
		r := newRig(t, tanktest.Well{Level0: 100, Inflow: 3, Moves: moves})
		r.every = x.every
		r.run(2*tanktest.Hour, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: want one load: %+v", name, r.loads)
			continue
		}
		if l := r.loads[0]; math.Abs(l.RemovedBbl-load.Bbl) > 1.6 || len(l.Review) > 0 {
			t.Errorf("%s: removed %.1f of %g: gauge %.1f, inflow %.1f, give or take %.1f, review %q", name, l.RemovedBbl, load.Bbl, l.GaugeBbl, l.InflowBbl, l.InflowErrorBbl, l.Review)
		}
	}
}

// A driver who stops for some minutes makes the same dent as a slug that comes at once: the slug is not counted.
func TestAStopOfThePumpIsNoSlugThatComesAtOnce(t *testing.T) {
	for _, stop := range []float64{300, 420, 540} {
		first := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 40, Rate: 3}
		rest := tanktest.Move{From: first.End() + stop, Bbl: 90, Rate: 3}
		moves := []tanktest.Move{first, rest}
		for n := range 2 {
			at := first.From - float64(n)*9000 - 5000
			moves = append(moves, tanktest.Move{From: at, Bbl: -14, Rate: 5}, tanktest.Move{From: at + 170, Bbl: -5, Rate: 5.0 / 15})
		}
		r := newRig(t, tanktest.Well{Level0: 110, Inflow: 3, Moves: moves})
		r.every = 30
		r.run(2*tanktest.Hour, rest.End()+2*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-130) > 1.3 {
			t.Errorf("stopped for %g s: %+v, want 130 bbl", stop, r.loads)
		}
	}
}
