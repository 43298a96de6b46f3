package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

// A fall that is slower for some minutes, and then as fast as before again: a slug came, or the driver throttled his pump. Nobody can tell, so that what is
// missing is in the error and a person asks. A stop, however seldom it is read, a pump that slows down, and a well that comes in such slugs at other times
// do not ask.
func TestAFallThatIsSlowerAmidItAsks(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 160, Rate: 5}
	slug := func(at float64) tanktest.Move { return tanktest.Move{From: at, Bbl: -10, Rate: 1.8} }
	half := func(pause, rate float64) []tanktest.Move {
		first := tanktest.Move{From: load.From, Bbl: 80, Rate: 5}
		return []tanktest.Move{first, {From: first.End() + pause, Bbl: 80, Rate: rate}}
	}
	throttled := []tanktest.Move{{From: load.From, Bbl: 60, Rate: 5}, {From: load.From + 720, Bbl: 15, Rate: 2.5}, {From: load.From + 1080, Bbl: 85, Rate: 5}}
	for name, x := range map[string]struct {
		moves []tanktest.Move
		every float64
		asks  bool
	}{
		"a slug":                        {[]tanktest.Move{load, slug(load.From + 900)}, 15, true},
		"a slug, read each 30 s":        {[]tanktest.Move{load, slug(load.From + 900)}, 30, true},
		"a pump that was throttled":     {throttled, 15, true},
		"a stop":                        {half(240, 5), 15, false},
		"a stop between two readings":   {half(200, 5), 120, false},
		"a short stop":                  {half(50, 6), 10, false},
		"a short stop, read each 30 s":  {half(75, 5), 30, false},
		"a pump that slows down":        {half(0, 3.5), 15, false},
		"a well of such slugs":          {[]tanktest.Move{load, slug(3 * tanktest.Hour), slug(6 * tanktest.Hour), slug(load.From + 900)}, 15, false},
		"a slug before it":              {[]tanktest.Move{load, slug(load.From - 900)}, 15, false},
		"dumps of a barrel a few times": {append(dumpsUntil(load), load), 15, false},
	} {
		r := newRig(t, tanktest.Well{Level0: 140, Inflow: 60, Moves: x.moves})
		r.every = x.every
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: %+v, want one load", name, r.loads)
			continue
		}
		l := r.loads[0]
		asks := strings.Contains(strings.Join(l.Review, "; "), "as fast as before again")
		if asks != x.asks || x.asks && l.InflowErrorBbl < 8 {
			t.Errorf("%s: asks %v: inflow %.1f, give or take %.1f, review %q", name, asks, l.InflowBbl, l.InflowErrorBbl, l.Review)
		}
	}
}

// dumpsUntil are dumps of a separator, one each seven minutes, before a load and while it lasts.
func dumpsUntil(load tanktest.Move) (moves []tanktest.Move) {
	for at := 500.0; at < load.End(); at += 420 {
		moves = append(moves, tanktest.Move{From: at, Bbl: -1.2, Rate: 1.8})
	}
	return moves
}

// Foam that comes up amid a load is neither oil that came in nor a pump that was throttled: what the fall lacks sinks behind it, whether it is told as foam
// or read as the end of the load. A slug under as little foam still asks.
func TestFoamThatComesUpAmidALoadIsNoSlug(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 160, Rate: 5}
	for name, x := range map[string]struct {
		foam, slug float64 // in, bbl
		stands     float64 // s behind the load
		asks       bool
	}{
		"foam":               {2.5, 0, 0, false},
		"foam that stands":   {3.5, 0, 300, false},
		"a slug, and foam":   {2.5, 10, 0, true},
		"a slug and no foam": {0, 10, 0, true},
	} {
		w := tanktest.Well{Level0: 140, Inflow: 5, Moves: []tanktest.Move{load}}
		if x.slug > 0 {
			w.Moves = append(w.Moves, tanktest.Move{From: load.From + 900, Bbl: -x.slug, Rate: 1.7})
		}
		r := newRig(t, w)
		r.every = 10
		r.sensor = func(i int, s, v float64) (float64, bool) {
			up := stats.Clamp((s-load.From-1000)/150, 0, 1)
			return v + x.foam*up*math.Exp(-math.Max(0, s-load.End()-x.stands)/500) + 2*tanktest.Radar(i, s, 0), true
		}
		r.run(0, load.End()+3*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: %+v, want one load", name, r.loads)
			continue
		}
		if asks := strings.Contains(strings.Join(r.loads[0].Review, "; "), "as fast as before again"); asks != x.asks {
			t.Errorf("%s: asks %v: %q, says %q", name, asks, r.loads[0].Review, r.loads[0].Remarks)
		}
	}
}
