package tank

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A sensor that sees a nozzle beside the oil scatters under it many times as far as behind the load, and what it shows there is no sure opening. One
// that is as noisy in an empty tank as in a full one shows the oil.
func TestAnOpeningThatScattersAsNoClosingDoesAsks(t *testing.T) {
	for _, c := range []struct {
		before, behind, fills float64
		asks                  bool
	}{{0.4, 0.05, 0, true}, {0.4, 0.3, 0, false}, {0.1, 0.01, 0, false}, {0.4, 0.05, 120, false}} {
		load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 150, Rate: 5}
		fill := tanktest.Move{From: load.From - 1500, Bbl: -c.fills, Rate: 6}
		r := newRig(t, tanktest.Well{Level0: 190 - c.fills/tanktest.PerInch, Moves: []tanktest.Move{fill, load}})
		random := rand.New(rand.NewPCG(1, 2))
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s < load.From {
				return v + c.before*random.NormFloat64(), true
			}
			return v + c.behind*random.NormFloat64(), true
		}
		r.run(0, 10*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%d loads", len(r.loads))
		}
		if asks := strings.Contains(strings.Join(r.loads[0].Review, ""), "readings scattered by"); asks != c.asks {
			t.Errorf("noise of %g in before and %g behind: review %q", c.before, c.behind, r.loads[0].Review)
		}
	}
}
