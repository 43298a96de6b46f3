package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A float on a tape, or the gateway of a level that is told as it moves, hangs in a load while the well goes on, and comes free an hour or two later:
// both were told again and again before the load, so that the ticket waits, holds the whole load, and asks. That the same sensor had hung in loads of
// before does not make it the well's pause.
func TestALevelWithoutNoiseThatHangsInALoad(t *testing.T) {
	for name, c := range map[string]struct {
		step, hangs float64 // in, s
		before      bool
	}{
		"a tape":                          {0.125, 7200, false},
		"a tape that had hung":            {0.125, 3000, true},
		"by exception":                    {0, 3000, false},
		"by exception, for two hours":     {0, 7200, false},
		"by exception, where it had hung": {0, 5400, true},
	} {
		var moves []tanktest.Move
		for n := 0; n == 0 || c.before && n < 3; n++ {
			moves = append(moves, tanktest.Move{From: float64(6+16*n)*tanktest.Hour + 377, Bbl: 119, Rate: 4.7})
		}
		w := tanktest.Well{Level0: 150, Inflow: 150, Moves: moves}
		r := newRig(t, w)
		r.every = 60
		shows := func(s float64) float64 {
			for n, m := range moves {
				hangs := c.hangs
				if n < len(moves)-1 {
					hangs = 900 * float64(n+1)
				}
				if since := m.From + 0.6*(m.End()-m.From); s > since && s < since+hangs {
					s = since
				}
			}
			if c.step > 0 {
				return math.Round(w.Level(s)/c.step) * c.step
			}
			return restless(s, w.Level(s), 0.03, 0.01)
		}
		r.sensor = func(_ int, s, _ float64) (float64, bool) { return shows(s), true }
		if c.step == 0 {
			r.every, r.sensor = 5, excepted(0.25, 900, shows)
		}
		r.run(0, moves[len(moves)-1].End()+6*tanktest.Hour)
		if len(r.loads) != len(moves) {
			t.Errorf("%s: %d loads of %d: %+v; events %+v", name, len(r.loads), len(moves), r.loads, r.events)
			continue
		}
		if l := r.loads[len(moves)-1]; len(l.Review) == 0 || math.Abs(l.RemovedBbl-119) > 1.5 {
			t.Errorf("%s: %.1f bbl of 119, review %v; %+v", name, l.RemovedBbl, l.Review, r.events)
		}
	}
}
