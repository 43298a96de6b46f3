package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// arrivals are those of a plunger each hundred minutes, one of them some seconds from a load's start: three quarters of each come in eight minutes, and the
// rest over the twenty behind them.
func arrivals(start, at, until, strays float64) (moves []tanktest.Move) {
	for n := -15.0; start+at+n*6000 < until; n++ {
		from := start + at + n*6000 + strays*math.Sin(3*n)
		moves = append(moves, tanktest.Move{From: from, Bbl: -16, Rate: 2}, tanktest.Move{From: from + 480, Bbl: -5, Rate: 0.25})
	}
	return moves
}

// A burst that ended before a load, and a level that is flat behind it, mean that nothing came in meanwhile: not where a driver opens his valve slowly, which
// bends the fall by more than the well brings; nor at the pace of a tail that was just running out; nor where a pressure sensor's fall tells nothing, and only
// the time of the next arrival does.
func TestNoSlugCameBetweenTwo(t *testing.T) {
	for name, x := range map[string]struct {
		slow, at, strays float64
		sensor           string
	}{
		"a slow start":                     {8, -2600, 700, "radar"},
		"a slow start right behind a tail": {8, -1750, 700, "radar"},
		"right behind a tail":              {0, -1750, 700, "radar"},
		"where the fall tells nothing":     {0, -2600, 1200, "hydrostatic"},
	} {
		start := 26 * tanktest.Hour
		moves := []tanktest.Move{{From: start, Bbl: 150 - x.slow, Rate: 6}}
		if x.slow > 0 {
			moves = []tanktest.Move{{From: start, Bbl: x.slow, Rate: 1}, {From: start + x.slow*60, Bbl: 150 - x.slow, Rate: 6}}
		}
		end := moves[len(moves)-1].End()
		for at := start - 7*tanktest.Hour; at > 0; at -= 7 * tanktest.Hour { // so that it does not run over
			moves = append(moves, tanktest.Move{From: at, Bbl: 100, Rate: 6})
		}
		r := newRig(t, tanktest.Well{Level0: 90, Moves: append(moves, arrivals(start, x.at, end+3*tanktest.Hour, x.strays)...)})
		r.site.tanks[0].Sensor, r.every = x.sensor, 20
		r.run(0, end+2*tanktest.Hour)
		if len(r.loads) == 0 {
			t.Errorf("%s: no load", name)
			continue
		}
		if l := r.loads[len(r.loads)-1]; math.Abs(l.InflowBbl) > 1 || l.InflowErrorBbl > 5 || math.Abs(l.RemovedBbl-150) > 1.5 {
			t.Errorf("%s: want no inflow: %.1f, give or take %.1f, removed %.1f of 150, review %q", name, l.InflowBbl, l.InflowErrorBbl, l.RemovedBbl, l.Review)
		}
	}
}
