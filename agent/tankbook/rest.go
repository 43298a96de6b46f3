package tankbook

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
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

// restFinder parts the stock of one tank into rests and movements.
type restFinder struct {
	tail        [tailMost]stockAt // the newest, the oldest first
	n           int
	inRest      int  // how many of them the rest has
	moving      bool // the level moves, or has not settled
	before      stockAt
	settleUntil float64 // s until which a movement's end settles
	rest        restSums
}

func (r *restFinder) push(e stockAt) {
	if r.n == tailMost {
		copy(r.tail[:], r.tail[1:])
		r.n--
		r.inRest = max(0, r.inRest-1)
	}
	r.tail[r.n] = e
	r.n++
}

// keepNewest drops all of the tail but the newest k.
func (r *restFinder) keepNewest(k int) {
	k = min(k, r.n)
	copy(r.tail[:], r.tail[r.n-k:r.n])
	r.n, r.inRest = k, 0
}

// medianStock is the median of the stocks from i to j of the tail.
func (r *restFinder) medianStock(i, j int) float64 {
	var v [tailMost]float64
	for k := i; k < j; k++ {
		v[k-i] = r.tail[k].net
	}
	return stats.Median(v[:j-i])
}

// add is one more stock; sigma is its noise in barrels, meter says that a meter stands beside
// it. moved is a movement that has ended, nil while there is none.
func (r *restFinder) add(f *daySums, e stockAt, sigma float64, meter bool) (moved *movement) {
	gap := r.n > 0 && e.t-r.tail[r.n-1].t > restGap
	least := math.Max(restBreak*sigma, 0.05)
	if meter {
		least = math.Max(least, meterJump)
	}
	switch {
	case r.n == 0:
	case !r.moving && (gap || r.breaksRest(e, least)):
		r.endRest(f, e, gap)
	case r.moving && gap:
		r.n = 0
	}
	r.push(e)
	if r.moving {
		return r.endMovement(e, least)
	}
	for r.inRest < r.n && e.t-r.tail[r.inRest].t >= admitAfter {
		r.rest.add(f, r.tail[r.inRest].t, r.tail[r.inRest].net)
		r.inRest++
	}
	return nil
}

// breaksRest says that a stock lies off the rest that the tail shows, alone or with the two before it.
func (r *restFinder) breaksRest(e stockAt, least float64) bool {
	if r.n < restStill {
		return false
	}
	old := max(0, r.n-5)
	off, dt := e.net-r.medianStock(old, r.n), e.t-r.tail[r.n-1].t
	if off > 1.1*least || -off > math.Max(math.Max(1.1*least, fallLeast), fallRate*dt/60) {
		return true
	}
	if r.n < 8 {
		return false
	}
	newest := (e.net + r.tail[r.n-1].net + r.tail[r.n-2].net) / 3
	off, dt = newest-r.medianStock(r.n-8, r.n-2), e.t-r.tail[r.n-5].t
	if off > 0.65*least || -off > math.Max(math.Max(0.65*least, fallLeast), fallRate*dt/60) {
		return true
	}
	off, dt = newest-r.medianStock(0, 5), e.t-r.tail[2].t // a slow pump
	return -off > math.Max(math.Max(least, fallLeast), fallRate*dt/60)
}

// endRest ends the rest; what is too young to be sure of belongs to the movement.
func (r *restFinder) endRest(f *daySums, e stockAt, gap bool) {
	if gap {
		for ; r.inRest < r.n; r.inRest++ {
			r.rest.add(f, r.tail[r.inRest].t, r.tail[r.inRest].net)
		}
	}
	fell := !gap && e.net < r.medianStock(0, max(r.inRest, 1))
	for ; fell && r.inRest > 1 && e.t-r.tail[r.inRest-1].t < drawBefore; r.inRest-- {
		r.rest.takeBack(f, r.tail[r.inRest-1], r.tail[r.inRest-2])
	}
	k := max(r.inRest, 1)
	r.before = r.tail[k-1]
	r.before.net = r.medianStock(max(0, k-5), k)
	f.addRest(&r.rest, r.before.net)
	if e.net > r.before.net && !gap {
		f.rises++
	}
	r.moving, r.settleUntil, r.n, r.inRest = true, 0, 0, 0
}

// endMovement looks whether the level has come to rest again.
func (r *restFinder) endMovement(e stockAt, least float64) *movement {
	if r.n < restStill || e.t-r.tail[0].t < admitAfter {
		return nil
	}
	was, is := r.medianStock(0, r.n-1), e.net
	if was < r.before.net-fallLeast && e.t-r.tail[0].t < drawAfter {
		return nil
	}
	dt := e.t - r.tail[max(0, r.n-restStill)].t
	if math.Abs(is-r.tail[r.n-2].net) > least || math.Abs(is-was) > math.Min(least, least/2+fallRate*dt/60) {
		r.keepNewest(restStill - 1)
		return nil
	}
	off := was - r.before.net
	if math.Abs(off) > restBig && r.settleUntil == 0 {
		r.settleUntil = e.t + restSettle
	}
	if e.t < r.settleUntil {
		return nil
	}
	r.moving, r.inRest = false, 1
	return &movement{from: r.before.t, to: r.tail[0].t, bbl: off}
}

// endAtGaugeOff ends the rest at the gauge-off, where the next day's begins.
func (r *restFinder) endAtGaugeOff(f *daySums) {
	if r.inRest > 0 {
		f.addRest(&r.rest, r.medianStock(max(0, r.inRest-5), r.inRest))
	}
}
