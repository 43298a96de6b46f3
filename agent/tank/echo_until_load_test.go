package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A false echo below the level that ends some seconds before a truck begins, or as it draws: the level is back where it was, but for what the pump took by
// then, and the load begins there, not on the echo. Where the sensor was spanned anew, and stays so, it begins at what that shows.
func TestALoadThatBeginsUnderAFalseEchoBeginsWhereTheLevelWas(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 160, Rate: 6}
	for _, c := range []struct{ every, deep, long, after float64 }{
		{20, 4, 400, -20}, {20, 5, 900, 20}, {20, 7.3, 150, 20}, {20, 7.3, 900, -60}, {20, 9, 900, 100}, {20, 12, 900, 20}, {20, 20, 400, -60},
		{5, 5, 400, 60}, {5, 7.3, 400, 100}, {60, 12, 900, 60}, {60, 12, 900, 100}, {20, 7.3, 99999, 99999},
	} {
		r := newRig(t, tanktest.Well{Level0: 150, Inflow: 30, Moves: []tanktest.Move{load}})
		r.every = c.every
		since, held := load.From+math.Min(c.after, 0)-math.Min(c.long, 900), c.after < 1000
		r.sensor = func(i int, s, v float64) (float64, bool) {
			switch {
			case s < since || s >= load.From+c.after:
			case held:
				v = r.wells[0].Level(since) - c.deep
			default:
				v -= c.deep
			}
			return math.Round((v+0.03*math.Sin(s*2.39996))*10) / 10, true
		}
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%+v: want one load: %+v", c, r.loads)
		} else if l := r.loads[0]; math.Abs(l.RemovedBbl-160) > 1.6 {
			t.Errorf("%+v: %.1f bbl, give or take %.1f, want 160: %q, %q", c, l.RemovedBbl, l.ErrorBbl, l.Review, l.Remarks)
		}
	}
}
