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

// levels are a tank's cleaned levels.
type levels struct {
	recent  []sample // thinned with age
	history []sample // one every ten minutes
}

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
func (l *levels) put(s sample, draw drawPhase, jumpedAt float64) {
	if len(l.recent) >= recentMost {
		l.recent = l.thinned(s.t, draw)
	}
	if cap(l.recent) == 0 {
		l.recent = make([]sample, 0, recentMost)
	}
	l.recent = append(l.recent, s)
	l.keepHistory(s, draw, jumpedAt)
}

// thinned is a copy of the buffer in which the old part is coarse, except about the
// beginning of a draw that is under way, and at most half of it is used.
func (l *levels) thinned(now float64, draw drawPhase) []sample {
	out := make([]sample, 0, recentMost)
	keep, fine := now-keepFor, now-fineFor
	for {
		out = l.thin(out[:0], keep, fine, draw)
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

func (l *levels) thin(out []sample, keep, fine float64, draw drawPhase) []sample {
	for _, s := range l.recent {
		if s.t < keep && !(draw.drawing && s.t >= draw.searchFrom-1800) {
			continue
		}
		sharp := s.t >= fine || draw.drawing && s.t >= draw.searchFrom-1800 && s.t <= draw.searchFrom+1500
		n := len(out)
		if !sharp && n > 0 && s.t-out[n-1].t < coarseEvery {
			continue
		}
		out = append(out, s)
	}
	return out
}

// keepHistory keeps the level every ten minutes, for the inflow and for slow losses.
func (l *levels) keepHistory(s sample, draw drawPhase, jumpedAt float64) {
	n := len(l.history)
	if n > 0 && s.t-l.history[n-1].t < historyEvery {
		return
	}
	h := grained(s.t, stats.Median(tailValues(l.recent, s.t-45)), 1)
	if l.movedSinceHistory(draw) || n == 0 || jumpedAt > l.history[n-1].t || s.t-l.history[n-1].t > 4*3600 {
		h.flags = unlinked
	}
	if n >= historyMost {
		l.history = append(make([]sample, 0, historyMost), l.history[historyMost/4:]...)
	}
	l.history = append(l.history, h)
}

// linkHistory takes back that the level moved since the last draw: it fell, but not as in a draw, and
// the history of a slow loss must not be cut up.
func (l *levels) linkHistory(draw drawPhase, jumpedAt float64) {
	from := math.Max(draw.searchFrom, draw.lastDrawEnd)
	k := searchTime(l.history, from)
	if draw.lastDrawEnd >= draw.searchFrom {
		k++ // its rise is the draw's
	}
	if k >= len(l.history) || jumpedAt >= from {
		return
	}
	l.history = append(make([]sample, 0, historyMost), l.history...)
	for ; k < len(l.history); k++ {
		l.history[k].flags = 0
	}
}

// movedSinceHistory says whether a draw lay between the last point of the history and t.
func (l *levels) movedSinceHistory(draw drawPhase) bool {
	n := len(l.history)
	return draw.drawing && (n == 0 || draw.lastFallAt >= l.history[n-1].t-120)
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
