package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	binWidth   = 8.0        // s; readings closer together are averaged
	bufferMost = 2500       // samples of 16 bytes
	fineFor    = 2.5 * 3600 // s for which every sample is kept
	coarse     = 60.0       // s between samples that are older
	keepFor    = 9 * 3600   // s after which a sample is dropped
	histEvery  = 600.0      // s
	histMost   = 160        // points
	waterMost  = 400
)

// sample is a cleaned level: the mean of n readings about t.
type sample struct {
	t float64
	v float32
	n uint16
	f uint16
}

// apart marks a point of the history whose rise from the one before says nothing of the inflow.
const apart = 1

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
func (v *vessel) put(s sample) {
	if len(v.buf) >= bufferMost {
		v.buf = v.thinned(s.t)
	}
	if cap(v.buf) == 0 {
		v.buf = make([]sample, 0, bufferMost)
	}
	v.buf = append(v.buf, s)
	v.record(s)
}

// thinned is a copy of the buffer in which the old part is coarse, except about the
// beginning of a draw that is under way, and at most half of it is used.
func (v *vessel) thinned(now float64) []sample {
	out := make([]sample, 0, bufferMost)
	keep, fine := now-keepFor, now-fineFor
	for {
		out = v.thin(out[:0], keep, fine)
		if len(out) <= bufferMost*3/4 || fine >= now {
			break
		}
		fine += fineFor / 4
	}
	if len(out) > bufferMost*3/4 {
		out = append(out[:0], out[len(out)-bufferMost/2:]...)
	}
	return out
}

func (v *vessel) thin(out []sample, keep, fine float64) []sample {
	for _, s := range v.buf {
		if s.t < keep && !(v.hot && s.t >= v.onset-1800) {
			continue
		}
		sharp := s.t >= fine || v.hot && s.t >= v.onset-1800 && s.t <= v.onset+1500
		n := len(out)
		if !sharp && n > 0 && s.t-out[n-1].t < coarse {
			continue
		}
		out = append(out, s)
	}
	return out
}

// record keeps the level every ten minutes, for the inflow and for slow losses.
func (v *vessel) record(s sample) {
	n := len(v.hist)
	if n > 0 && s.t-v.hist[n-1].t < histEvery {
		return
	}
	h := grained(s.t, stats.Median(tailValues(v.buf, s.t-45)), 1)
	if v.moving(s.t) || n == 0 || v.jumpAt > v.hist[n-1].t || s.t-v.hist[n-1].t > 4*3600 {
		h.f = apart
	}
	if n >= histMost {
		v.hist = append(make([]sample, 0, histMost), v.hist[histMost/4:]...)
	}
	v.hist = append(v.hist, h)
}

// calm takes back that the level moved since the last draw: it fell, but not as in a draw, and
// the history of a slow loss must not be cut up.
func (v *vessel) calm() {
	from := math.Max(v.onset, v.lastEnd)
	k := lower(v.hist, from)
	if v.lastEnd >= v.onset {
		k++ // its rise is the draw's
	}
	if k >= len(v.hist) || v.jumpAt >= from {
		return
	}
	v.hist = append(make([]sample, 0, histMost), v.hist...)
	for ; k < len(v.hist); k++ {
		v.hist[k].f = 0
	}
}

// moving says whether a draw lay between the last point of the history and t.
func (v *vessel) moving(t float64) bool {
	n := len(v.hist)
	return v.hot && (n == 0 || v.fell >= v.hist[n-1].t-120)
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
	lo, hi := lower(b, from), lower(b, math.Nextafter(to, math.Inf(1)))
	return b[lo:max(lo, hi)]
}

// lower is the index of the first sample not before t.
func lower(b []sample, t float64) int {
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
