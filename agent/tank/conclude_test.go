package tank

import (
	"testing"

	"gauger/agent/tank/tanktest"
)

// A rod falls faster than oil does, hangs, and is drawn up and let down as slowly as oil moves for longer than a confirmation takes, before
// it is let in again: nothing is decided while it moves.
func TestARodThatMovesOn(t *testing.T) {
	from := 4 * tanktest.Hour
	at := [][2]float64{{0, 150}, {130, 84}, {300, 82}, {750, 16}, {1200, 16}, {1750, 70}, {2400, 45}, {2900, 107}, {3600, 66}, {4500, 66}}
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 0})
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		since := s - from
		for k := 1; k < len(at); k++ {
			if a, b := at[k-1], at[k]; since >= a[0] && since < b[0] {
				return a[1] + (b[1]-a[1])*(since-a[0])/(b[0]-a[0]), true
			}
		}
		return v, true
	}
	r.run(0, 9*tanktest.Hour)
	r.matches(0, 0)
}
