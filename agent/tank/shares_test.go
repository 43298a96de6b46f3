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

// What a tank gave to a load through a narrow pipe, or by a valve that was soon shut, is less than a load and in a ticket all the same.
func TestASmallShareOfAGroupsLoad(t *testing.T) {
	const at = 4 * tanktest.Hour
	for _, inches := range []float64{4, 10} {
		fell := func(inches float64) func(s float64) float64 {
			return knots([2]float64{0, 150}, [2]float64{at, 150}, [2]float64{at + 600, 150 - inches}, [2]float64{9 * tanktest.Hour, 150 - inches})
		}
		r := grouped(t, fell(60), fell(inches))
		sum := 0.0
		for _, l := range r.loads {
			sum += l.GaugeBbl
		}
		if want := (60 + inches) * tanktest.PerInch; len(r.loads) != 2 || math.Abs(sum-want) > 1 {
			t.Errorf("%v in of a neighbour: %.1f bbl in %+v %+v, want %.1f", inches, sum, r.loads, r.verdicts, want)
		}
	}
}
