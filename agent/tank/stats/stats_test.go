package stats

import "testing"

func TestRoundingIsHalfAwayFromZero(t *testing.T) {
	for _, c := range []struct {
		v, want float64
		places  int
	}{{0.125, 0.13, 2}, {-0.125, -0.13, 2}, {2.5, 3, 0}, {-2.5, -3, 0}, {0.145, 0.15, 2}, {-1.005, -1.01, 2}, {0.14499, 0.14, 2}, {0, 0, 2}} {
		if got := Round(c.v, c.places); got != c.want {
			t.Errorf("Round(%v, %d) = %v, want %v", c.v, c.places, got, c.want)
		}
	}
}
