package tankbook

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	day        = 86400.0
	tailMost   = 16
	admitAfter = 30.0   // s by which a stock has to be older than the newest to count as at rest
	drawBefore = 150.0  // s before a draw shows, in which it may have begun
	drawAfter  = 90.0   // s that a level has to stand after a fall: a slow pump seems to rest sooner
	restBreak  = 5.0    // standard deviations by which a level has to jump to end a rest
	fallRate   = 0.2    // bbl/min; a slower fall is no draw
	fallLeast  = 1.0    // bbl; nor is a smaller one: a sensor of coarse steps may take one
	restGap    = 4000.0 // s; a longer silence ends a rest
	restBig    = 5.0    // bbl; after such a movement the level has to settle
	restSettle = 600.0  // s
	restStill  = 3      // stocks that agree after a movement
	meterJump  = 1.5    // bbl by which a stock may run ahead of its meter or behind it
	movesMost  = 32
)

// entry is a stock at a time: the tank's, and less what the meter counted where there is one.
type entry struct{ t, z, stock, meter, level float64 }

// shift is a change of the stock between two rests.
type shift struct {
	from, to float64 // s; unix seconds once it is in a day's book
	bbl      float64
}

// meets says that two stretches of time have an instant in common.
func (m shift) meets(o shift) bool { return m.from <= o.to && m.to >= o.from }

// rests parts the stock of one tank into rests and movements.
type rests struct {
	tail   [tailMost]entry // the newest, the oldest first
	n      int
	in     int  // how many of them the rest has
	moving bool // the level moves, or has not settled
	before entry
	wait   float64 // s until which a movement's end settles
	rest   sums
}

// push appends an entry to the tail.
func (r *rests) push(e entry) {
	if r.n == tailMost {
		copy(r.tail[:], r.tail[1:])
		r.n--
		r.in = max(0, r.in-1)
	}
	r.tail[r.n] = e
	r.n++
}

// keepLast drops all of the tail but the newest k.
func (r *rests) keepLast(k int) {
	k = min(k, r.n)
	copy(r.tail[:], r.tail[r.n-k:r.n])
	r.n, r.in = k, 0
}

// middle is the median of the stocks from i to j of the tail.
func (r *rests) middle(i, j int) float64 {
	var v [tailMost]float64
	for k := i; k < j; k++ {
		v[k-i] = r.tail[k].z
	}
	return stats.Median(v[:j-i])
}

// take is one more stock; sigma is its noise in barrels, meter says that a meter stands beside
// it. moved is a movement that has ended, nil while there is none.
func (r *rests) take(f *stills, e entry, sigma float64, meter bool) (moved *shift) {
	gap := r.n > 0 && e.t-r.tail[r.n-1].t > restGap
	least := math.Max(restBreak*sigma, 0.05)
	if meter {
		least = math.Max(least, meterJump)
	}
	switch {
	case r.n == 0:
	case !r.moving && (gap || r.breaks(e, least)):
		r.leave(f, e, gap)
	case r.moving && gap:
		r.n = 0
	}
	r.push(e)
	if r.moving {
		return r.arrive(f, e, least)
	}
	for r.in < r.n && e.t-r.tail[r.in].t >= admitAfter {
		r.rest.add(f, r.tail[r.in].t, r.tail[r.in].z)
		r.in++
	}
	return nil
}

// breaks says that an entry lies off the rest that the tail shows, alone or with the two before it.
func (r *rests) breaks(e entry, least float64) bool {
	if r.n < restStill {
		return false
	}
	old := max(0, r.n-5)
	off, dt := e.z-r.middle(old, r.n), e.t-r.tail[r.n-1].t
	if off > 1.1*least || -off > math.Max(math.Max(1.1*least, fallLeast), fallRate*dt/60) {
		return true
	}
	if r.n < 8 {
		return false
	}
	newest := (e.z + r.tail[r.n-1].z + r.tail[r.n-2].z) / 3
	off, dt = newest-r.middle(r.n-8, r.n-2), e.t-r.tail[r.n-5].t
	if off > 0.65*least || -off > math.Max(math.Max(0.65*least, fallLeast), fallRate*dt/60) {
		return true
	}
	off, dt = newest-r.middle(0, 5), e.t-r.tail[2].t // a slow pump
	return -off > math.Max(math.Max(least, fallLeast), fallRate*dt/60)
}

// leave ends the rest; what is too young to be sure of belongs to the movement.
func (r *rests) leave(f *stills, e entry, gap bool) {
	if gap {
		for ; r.in < r.n; r.in++ {
			r.rest.add(f, r.tail[r.in].t, r.tail[r.in].z)
		}
	}
	fell := !gap && e.z < r.middle(0, max(r.in, 1))
	for ; fell && r.in > 1 && e.t-r.tail[r.in-1].t < drawBefore; r.in-- {
		r.rest.drop(f, r.tail[r.in-1], r.tail[r.in-2])
	}
	k := max(r.in, 1)
	r.before = r.tail[k-1]
	r.before.z = r.middle(max(0, k-5), k)
	f.close(&r.rest, r.before.z)
	if e.z > r.before.z && !gap {
		f.rises++
	}
	r.moving, r.wait, r.n, r.in = true, 0, 0, 0
}

// arrive looks whether the level has come to rest again.
func (r *rests) arrive(f *stills, e entry, least float64) *shift {
	if r.n < restStill || e.t-r.tail[0].t < admitAfter {
		return nil
	}
	was, is := r.middle(0, r.n-1), e.z
	if was < r.before.z-fallLeast && e.t-r.tail[0].t < drawAfter {
		return nil
	}
	dt := e.t - r.tail[max(0, r.n-restStill)].t
	if math.Abs(is-r.tail[r.n-2].z) > least || math.Abs(is-was) > math.Min(least, least/2+fallRate*dt/60) {
		r.keepLast(restStill - 1)
		return nil
	}
	off := was - r.before.z
	if math.Abs(off) > restBig && r.wait == 0 {
		r.wait = e.t + restSettle
	}
	if e.t < r.wait {
		return nil
	}
	r.moving, r.in = false, 1
	return &shift{from: r.before.t, to: r.tail[0].t, bbl: off}
}

// cut ends the rest at the gauge-off, where the next day's begins.
func (r *rests) cut(f *stills) {
	if r.in > 0 {
		f.close(&r.rest, r.middle(max(0, r.in-5), r.in))
	}
}
