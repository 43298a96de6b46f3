package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// Half an inch that goes behind a load from its end on, within a quarter of an hour and ever slower, may be foam, or oil that cools: in a tank so wide
// that it makes the ticket wrong somebody has to look. Foam of inches that stood for a while is foam.
func TestWhatMayBeFoamOrOilThatCoolsAsks(t *testing.T) {
	const at, end = 4 * tanktest.Hour, 4*tanktest.Hour + 1800
	table, err := NewTable([][2]float64{{0, 0}, {240, 240 * 5.39}})
	if err != nil {
		t.Fatal(err)
	}
	level := knots([2]float64{0, 200}, [2]float64{at, 200}, [2]float64{end, 166}, [2]float64{9 * tanktest.Hour, 166})
	for _, c := range []struct {
		inches, stood, time float64
		asks                bool
	}{{0.55, 0, 800, true}, {0.5, 0, 600, true}, {2, 600, 300, false}} {
		r := newRig(t, tanktest.Well{})
		r.every, r.site.tanks[0].Table = 30, table
		r.sensor = func(i int, s, _ float64) (float64, bool) {
			up := c.inches * math.Max(0, math.Min(1, (s-at)/1200))
			return tanktest.Radar(i, s, level(s)+up*math.Exp(-math.Max(0, s-end-c.stood)/c.time)), true
		}
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: %+v, want a load", c, r.verdicts)
		}
		if l := r.loads[0]; len(l.Review) > 0 != c.asks || math.Abs(l.Close-level(end)) > 0.2 {
			t.Errorf("%+v: closing %.2f in, give or take %.1f bbl, review %q", c, l.Close, l.ErrorBbl, l.Review)
		}
	}
}
