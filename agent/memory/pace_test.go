package memory

import (
	"math"
	"runtime"
	"testing"
)

const (
	kb   = 1 << 10
	mb   = 1 << 20
	free = math.MaxInt64
)

func TestThePercentageFollowsWhatCollectingCosts(t *testing.T) {
	for _, c := range []struct {
		what    string
		percent int
		u       usage
		want    int
	}{
		{"nothing was collected", 15, usage{0, 0, 3 * mb, free}, 15},
		{"nothing was collected for a while", 80, usage{0, 0, 3 * mb, free}, 40},
		{"cheap", 15, usage{0.01, 1, 3 * mb, free}, 15},
		{"twice what it may be", 15, usage{0.7, 1, 30 * mb, free}, 30},
		{"a little too dear", 20, usage{0.42, 1, 30 * mb, free}, 24},
		{"as dear as it may be", 40, usage{0.35, 1, 30 * mb, free}, 40},
		{"nearly so", 40, usage{0.36, 1, 30 * mb, free}, 40},
		{"dear whatever is done", 80, usage{0.9, 1, 3 * mb, free}, 100},
		{"cheap again", 100, usage{0.05, 1, 3 * mb, free}, 50},
		{"dear, and half of 12 MB below the limit is 20 percent of 30", 15, usage{0.5, 1, 30 * mb, 12 * mb}, 20},
		{"dear, and nothing is left below the limit", 60, usage{0.5, 1, 30 * mb, -2 * mb}, 15},
		{"all of it, before anything lives", 15, usage{1, 1, 0, free}, 30},
	} {
		if got := nextPercent(c.percent, c.u); got != c.want {
			t.Errorf("%s: %d percent after %d, want %d", c.what, got, c.percent, c.want)
		}
	}
}

// TestItSettles: twice the percentage is half the work, so that a few looks find where the share is what it may be.
func TestItSettles(t *testing.T) {
	for _, at15 := range []float64{0.01, 0.1, 0.3, 0.6, 2} { // what collecting takes at 15 percent, of the other work
		percent := LeastPercent
		for range 10 {
			collecting := at15 * LeastPercent / float64(percent)
			percent = nextPercent(percent, usage{collecting, 1 + collecting, 3 * mb, free})
		}
		collecting := at15 * LeastPercent / float64(percent)
		share := collecting / (1 + collecting)
		if share > dearShare*1.15 && percent < mostPercent || share < dearShare/1.15 && percent > LeastPercent {
			t.Errorf("with %v of the work at 15 percent it stays at %d percent, where it is %.2f", at15, percent, share)
		}
	}
}

func TestTheRuntimeTellsWhatItDid(t *testing.T) {
	before := read()
	for range 3 {
		runtime.GC()
	}
	u := read().since(before)
	if u.collecting <= 0 || u.working < u.collecting || u.collected < 10*kb || u.room < 1<<40 {
		t.Errorf("three collections later the runtime says %+v", u)
	}
}
