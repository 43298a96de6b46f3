package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A register that is read for two tanks gives each of them a ticket for one truck, and both say so. Two tanks that a truck empties together through an
// equaliser have levels as near as their sensors', and two tickets that are right.
func TestTwoTanksOnOneRegister(t *testing.T) {
	for name, c := range map[string]struct {
		sensor func(i int, s, v float64) (float64, bool)
		asks   bool
	}{
		"one register": {func(_ int, s, _ float64) (float64, bool) { return tanktest.Radar(0, s, aWell.Level(s)), true }, true},
		"two sensors":  {nil, false},
		"two floats":   {func(i int, s, v float64) (float64, bool) { return math.Round((v+0.09*float64(i))*4) / 4, true }, false},
	} {
		r := newRig(t, aWell, aWell)
		r.sensor = c.sensor
		r.run(0, aLoad.End()+2*tanktest.Hour)
		if len(r.loads) != 2 {
			t.Fatalf("%s: %+v", name, r.loads)
		}
		for k, l := range r.loads {
			says := strings.Join(l.Review, " | ")
			if other := r.loads[1-k].Tank; strings.Contains(says, "tank "+other+" gave the very same readings") != c.asks {
				t.Errorf("%s: tank %s says %q", name, l.Tank, says)
			}
		}
	}
}
