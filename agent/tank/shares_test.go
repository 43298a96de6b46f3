package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// The equaliser is shut, or lies above the oil: the next truck draws from another tank, and what it takes is no part of what the first did.
func TestTheNextTruckOnAnotherTankBehindAShutEqualiser(t *testing.T) {
	const at, next = 4 * tanktest.Hour, 4*tanktest.Hour + 1500
	shut := func(float64) bool { return false }
	r := grouped(t, levelled([]float64{150, 150, 150}, shut, 0, haul{0, at, at + 600, 0.07}, haul{1, next, next + 600, 0.05})...)
	sum := 0.0
	for _, l := range r.loads {
		sum += l.GaugeBbl
		if want := map[string]float64{"TK-1": 108, "TK-2": 120}[l.Tank]; math.Abs(l.Close-want) > 0.3 || len(l.Review) > 0 {
			t.Errorf("%s closes at %.2f in, %q, want %v", l.Tank, l.Close, l.Review, want)
		}
	}
	if want := 72 * tanktest.PerInch; len(r.loads) != 2 || math.Abs(sum-want) > 1 {
		t.Errorf("%+v %+v, want two loads of %.1f bbl", r.loads, r.verdicts, want)
	}
}
