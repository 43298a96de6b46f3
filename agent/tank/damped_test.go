package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A technician sets the span lower, and the transmitter's damping makes minutes of it: it falls fastest at first, and ever slower, as no pump draws. What a
// damped sensor shows of a fast truck is a load and does not ask for that.
func TestADampedReSpanIsNoSilentLoad(t *testing.T) {
	const at = 5 * tanktest.Hour
	for _, c := range []struct {
		damping, step, bbl, rate, every float64
		loads                           int
	}{
		{60, 15.1, 0, 1, 5, 1},
		{60, 30, 0, 1, 5, 0},
		{90, 20, 0, 1, 5, 1},
		{60, 0, 30, 10, 5, 1},
		{60, 0, 60, 12, 10, 1},
		{20, 0, 40, 8, 5, 1},
	} {
		w := tanktest.Well{Level0: 160, Inflow: 30, Moves: []tanktest.Move{{From: at, Bbl: c.bbl, Rate: c.rate}}}
		r := newRig(t, w)
		r.every = c.every
		shown := 160.0
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s >= at {
				v -= c.step
			}
			shown += (v - shown) * (1 - math.Exp(-c.every/c.damping))
			return math.Round(shown/0.06) * 0.06, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != c.loads {
			t.Errorf("%+v: %+v", c, r.loads)
			continue
		}
		for _, l := range r.loads {
			if asks := strings.Contains(strings.Join(l.Review, ", "), "ever slower"); asks != (c.step > 0) || c.step == 0 && math.Abs(l.GaugeBbl-c.bbl) > 2 {
				t.Errorf("%+v: %.1f bbl, asks for %q", c, l.GaugeBbl, l.Review)
			}
		}
	}
}
