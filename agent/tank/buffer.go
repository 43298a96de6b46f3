package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	binWidth     = 8.0        // s; readings closer together are averaged
	recentMost   = 2500       // samples of 16 bytes
	fineFor      = 2.5 * 3600 // s for which every sample is kept
	coarseEvery  = 60.0       // s between samples that are older
	keepFor      = 9 * 3600   // s after which a sample is dropped
	historyEvery = 600.0      // s
	historyMost  = 160        // points
	waterMost    = 400
)

// sample is a cleaned level: the mean of n readings about t.
type sample struct {
	t     float64
	v     float32
	n     uint16
	flags uint16
}

// unlinked marks a point of the history whose rise from the one before says nothing of the inflow.
const unlinked = 1

// bin averages readings that are closer together than binWidth.
type bin struct {
	n      int
	first  float64
	st, sv float64 // sums of times from first, and of values
}

func (b *bin) add(t, v float64) {
	if b.n == 0 {
		*b = bin{first: t}
	}
	b.n++
	b.st += t - b.first
	b.sv += v
}

// sample is the bin to the grain that is stored, so that a restart changes nothing.
func (b *bin) sample() sample {
	n := float64(b.n)
	return grained(b.first+b.st/n, b.sv/n, b.n)
}

// grained is a sample to the grain that is stored.
func grained(t, v float64, n int) sample {
	t, v = float64(grains(t, timeGrain))*timeGrain, float64(grains(v, levelGrain))*levelGrain
	return sample{t: t, v: float32(v), n: uint16(min(n, math.MaxUint16>>1))}
}

// put appends a sample to the buffer and thins it when it is full. The old array is left
// as it is: a state whose successor was dropped may still use it.
func (ts *tankState) put(s sample) {
	if len(ts.recent) >= recentMost {
		ts.recent = ts.thinned(s.t)
	}
	if cap(ts.recent) == 0 {
		ts.recent = make([]sample, 0, recentMost)
	}
	ts.recent = append(ts.recent, s)
	ts.keepHistory(s)
}

// thinned is a copy of the buffer in which the old part is coarse, except about the
// beginning of a draw that is under way, and at most half of it is used.
func (ts *tankState) thinned(now float64) []sample {
	out := make([]sample, 0, recentMost)
	keep, fine := now-keepFor, now-fineFor
	for {
		out = ts.thin(out[:0], keep, fine)
		if len(out) <= recentMost*3/4 || fine >= now {
			break
		}
		fine += fineFor / 4
	}
	if len(out) > recentMost*3/4 {
		out = append(out[:0], out[len(out)-recentMost/2:]...)
	}
	return out
}

func (ts *tankState) thin(out []sample, keep, fine float64) []sample {
	for _, s := range ts.recent {
		if s.t < keep && !(ts.drawing && s.t >= ts.searchFrom-1800) {
			continue
		}
		sharp := s.t >= fine || ts.drawing && s.t >= ts.searchFrom-1800 && s.t <= ts.searchFrom+1500
		n := len(out)
		if !sharp && n > 0 && s.t-out[n-1].t < coarseEvery {
			continue
		}
		out = append(out, s)
	}
	return out
}

// keepHistory keeps the level every ten minutes, for the inflow and for slow losses.
func (ts *tankState) keepHistory(s sample) {
	n := len(ts.history)
	if n > 0 && s.t-ts.history[n-1].t < historyEvery {
		return
	}
	h := grained(s.t, stats.Median(tailValues(ts.recent, s.t-45)), 1)
	if ts.movedSinceHistory(s.t) || n == 0 || ts.jumpedAt > ts.history[n-1].t || s.t-ts.history[n-1].t > 4*3600 {
		h.flags = unlinked
	}
	if n >= historyMost {
		ts.history = append(make([]sample, 0, historyMost), ts.history[historyMost/4:]...)
	}
	ts.history = append(ts.history, h)
}

// linkHistory takes back that the level moved since the last draw: it fell, but not as in a draw, and
// the history of a slow loss must not be cut up.
func (ts *tankState) linkHistory() {
	from := math.Max(ts.searchFrom, ts.lastDrawEnd)
	k := searchTime(ts.history, from)
	if ts.lastDrawEnd >= ts.searchFrom {
		k++ // its rise is the draw's
	}
	if k >= len(ts.history) || ts.jumpedAt >= from {
		return
	}
	ts.history = append(make([]sample, 0, historyMost), ts.history...)
	for ; k < len(ts.history); k++ {
		ts.history[k].flags = 0
	}
}

// movedSinceHistory says whether a draw lay between the last point of the history and t.
func (ts *tankState) movedSinceHistory(t float64) bool {
	n := len(ts.history)
	return ts.drawing && (n == 0 || ts.lastFallAt >= ts.history[n-1].t-120)
}

// tailValues are the values of the samples not before a time, at least one.
func tailValues(b []sample, from float64) []float64 {
	i := len(b) - 1
	for i > 0 && b[i-1].t >= from && len(b)-i < 16 {
		i--
	}
	out := make([]float64, 0, 16)
	for _, s := range b[max(i, 0):] {
		out = append(out, float64(s.v))
	}
	return out
}

// between are the samples of a buffer with from <= t <= to.
func between(b []sample, from, to float64) []sample {
	lo, hi := searchTime(b, from), searchTime(b, math.Nextafter(to, math.Inf(1)))
	return b[lo:max(lo, hi)]
}

// searchTime is the index of the first sample not before t.
func searchTime(b []sample, t float64) int {
	lo, hi := 0, len(b)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if b[m].t < t {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}
