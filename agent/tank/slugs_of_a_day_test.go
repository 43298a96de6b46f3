package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// slugsOfADay are those of a well that brings some barrels at once every few hours, from a time on, each within some minutes.
func slugsOfADay(first, every, bbl, minutes, until float64) (moves []tanktest.Move) {
	for at := first; at < until; at += every {
		moves = append(moves, tanktest.Move{From: at, Bbl: -bbl, Rate: bbl / minutes})
	}
	return moves
}

// A well that brings a slug every five hours shows one or two in the hours next to a load, and enough of them in a day. What the fall shows of one that
// comes meanwhile is taken, and where it shows none there was none, however fast it came: nobody fills a tank so often.
func TestSlugsOfADayShowInTheFall(t *testing.T) {
	load := tanktest.Move{From: 26 * tanktest.Hour, Bbl: 150, Rate: 5}
	for name, x := range map[string]struct{ late, bbl, minutes, came float64 }{
		"none":                    {-9000, 20, 12, 0},
		"one amid it":             {480, 20, 12, 20},
		"one before its end":      {1200, 30, 10, 30},
		"one faster than a pump":  {600, 36, 8, 36},
		"one that was under way":  {-400, 20, 12, 20 * (720 - 400) / 720.0},
		"a slow one, and none of": {-9000, 14, 20, 0},
	} {
		w := tanktest.Well{Level0: 90, Moves: append(slugsOfADay(load.From+x.late-5*18000, 18000, x.bbl, x.minutes, 30*tanktest.Hour), load)}
		r := newRig(t, w)
		r.every = 60
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: want one load: %+v", name, r.loads)
			continue
		}
		if l := r.loads[0]; math.Abs(l.InflowBbl-x.came) > 1 || l.InflowErrorBbl > 8 || math.Abs(l.RemovedBbl-load.Bbl) > 1.5 {
			t.Errorf("%s: want an inflow of %.1f: %.1f, give or take %.1f, removed %.1f of %g, review %q", name, x.came, l.InflowBbl, l.InflowErrorBbl, l.RemovedBbl, load.Bbl, l.Review)
		}
	}
}

// A stop of the pump that two or three readings show is not told from a slug that brings as much as it draws: where the well comes in such slugs a person
// is asked, and where they show for long that the level stood it was a stop.
func TestAStopIsNoSlugOfAWellThatComesInSlugs(t *testing.T) {
	for name, x := range map[string]struct{ stop, every float64 }{
		"a long stop":  {420, 30},
		"a short stop": {150, 60},
	} {
		first := tanktest.Move{From: 26 * tanktest.Hour, Bbl: 80, Rate: 5}
		rest := tanktest.Move{From: first.End() + x.stop, Bbl: 70, Rate: 5}
		r := newRig(t, tanktest.Well{Level0: 90, Moves: append(slugsOfADay(first.From-9000-5*18000, 18000, 20, 12, 30*tanktest.Hour), first, rest)})
		r.every = x.every
		r.run(0, rest.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: want one load: %+v", name, r.loads)
			continue
		}
		l := r.loads[0]
		asks := strings.Contains(strings.Join(l.Review, "; "), "flowed in meanwhile")
		if off := math.Abs(l.RemovedBbl - 150); off > 1.5 && !asks {
			t.Errorf("%s: removed %.1f of 150, inflow %.1f, give or take %.1f, review %q", name, l.RemovedBbl, l.InflowBbl, l.InflowErrorBbl, l.Review)
		}
	}
}
