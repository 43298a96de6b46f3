package tank

import (
	"fmt"
	"math"

	"gauger/eventrules"
)

const (
	lossWindow = 8 * 3600.0 // s over which a slow loss is looked for
	lossLeast  = 4 * 3600.0
	lossEvery  = 1200.0
	lossBbl    = 8.0 // bbl and inches that neither drift nor foam explain
	lossIn     = 4.5
	lossMoved  = 2          // in place of 1: the oil went to another tank
	lossTop    = 0.3        // in below the highest level at which a loss has begun
	foamLong   = 4.5 * 3600 // s that a lift of the level may take to go down again
	stoodNoise = 0.02       // in; a quieter sensor, or one of coarse steps, may stand still for hours
	stoodLong  = 60.0       // times the usual stay of a value, after which it is stuck
)

// stoodTooLong says that a value stood still so much longer than this sensor's values do that it
// was stuck, whatever comes next.
func (v *tankState) stoodTooLong(t *Tank, now float64) bool {
	age := now - v.heldSince
	return v.noise.sigmaAtChange >= stoodNoise && age >= v.stuckAfter(t) && v.interval.changes >= 8 && age > stoodLong*v.interval.held && now-v.last.t < age/10
}

// reportStuck tells of a value that stands as it never does, while it does.
func (r *update) reportStuck(i int, v *tankState, now float64) {
	t := &r.site.tanks[i]
	if !v.seen || v.stuckReported || v.last.t-v.heldSince < t.Loads.Stuck.Seconds() || !v.stoodTooLong(t, v.last.t) {
		return
	}
	v.stuckReported = true
	r.addEvent(v, i, eventrules.Stuck, v.heldSince, now, fmt.Sprintf("value stands at %.2f in for %s and still does", v.last.v, spanText(now-v.heldSince)))
}

// findSlowLoss tells of a loss that is too slow for a draw.
func (r *update) findSlowLoss(i int, v *tankState, now float64) {
	n := len(v.history)
	if n == 0 || now < v.lossCheckAt || v.drawing {
		return
	}
	v.lossCheckAt = now + lossEvery
	t := &r.site.tanks[i]
	first := v.quietFrom(now - lossWindow)
	a, z := v.history[first], v.history[n-1]
	per := t.Table.PerInch(float64(z.v))
	fell := float64(a.v - z.v)
	if z.t-a.t < lossLeast || fell < lossIn || fell*per < lossBbl || !v.evenFall(first, fell) {
		if !v.slowLoss.active || fell < lossIn/2 && z.t-a.t >= lossLeast {
			r.endSlowLoss(i, v, z)
			return
		}
	}
	if v.slowLoss.active {
		v.slowLoss.last, v.slowLoss.sum = z.t, v.slowLoss.at-float64(z.v)
		return
	}
	a = v.history[v.topFrom(first)]
	v.slowLoss = episode{active: true, start: a.t, last: z.t, n: 1, at: float64(a.v), sum: float64(a.v - z.v)}
	if name, rose := r.othersRose(i, a.t, z.t); rose >= explainedShare*v.slowLoss.sum*per && r.explainsRise(i, v.slowLoss.asDraw(), v.slowLoss.sum*per) {
		v.slowLoss.n = lossMoved
		r.addEvent(v, i, eventrules.Transfer, a.t, z.t, fmt.Sprintf("%.1f bbl run slowly over to tank %s, %.2f to %.2f in", v.slowLoss.sum*per, name, a.v, z.v))
		r.eventVolume(v.slowLoss.bbl(t), name)
		r.addVerdict(i, v, v.slowLoss.asDraw(), Transferred, fmt.Sprintf("meanwhile other tanks rose slowly by %.1f bbl, most of all %s", rose, name))
		return
	}
	rate := v.slowLoss.sum * per / (z.t - a.t) * 60
	r.addEvent(v, i, eventrules.UnexplainedLoss, a.t, z.t, fmt.Sprintf("level went down slowly from %.2f to %.2f in, %.1f bbl at %.2f bbl/min", a.v, z.v, v.slowLoss.sum*per, rate))
	r.eventSlowLoss(v.slowLoss.bbl(t))
	r.addVerdict(i, v, v.slowLoss.asDraw(), TooSlow, fmt.Sprintf("%.2f bbl a minute for hours, where min_rate is %g", rate, t.Loads.MinRate))
}

// eventSlowLoss says of the newest event that it is a slow loss of so many barrels.
func (r *update) eventSlowLoss(bbl float64) {
	r.eventVolume(bbl, "")
	r.out[len(r.out)-1].Event.Slow = true
}

// asDraw is a slow loss as if it were a draw.
func (s episode) asDraw() draw {
	return draw{start: s.start, end: s.last, opening: gauge{level: s.at}, closing: gauge{level: s.at - s.sum}}
}

// bbl is the volume of a slow loss in barrels.
func (s episode) bbl(t *Tank) float64 { return t.volume(s.asDraw()) }

// endSlowLoss tells how much a slow loss took, when it has ended and was much more than first told.
func (r *update) endSlowLoss(i int, v *tankState, z sample) {
	s := v.slowLoss
	v.slowLoss = episode{}
	per := r.site.tanks[i].Table.PerInch(float64(z.v))
	if s.active && s.n == lossMoved { // what was kept when it was told of gives way to the whole
		r.addVerdict(i, v, s.asDraw(), Transferred, "meanwhile other tanks rose slowly")
	}
	if !s.active || s.n == lossMoved || s.last-s.start < 1.3*lossWindow || s.sum*per < 2*lossBbl {
		return
	}
	r.addEvent(v, i, eventrules.UnexplainedLoss, s.start, s.last, fmt.Sprintf("level went down slowly from %.2f to %.2f in, %.1f bbl; it has ended", s.at, s.at-s.sum, s.sum*per))
	r.eventSlowLoss(s.bbl(&r.site.tanks[i]))
}

// quietFrom is the first point of the history from which on, after a time, nothing but slow
// change happened.
func (v *tankState) quietFrom(from float64) int {
	if v.jumpedUpAt > 0 {
		from = math.Max(from, v.jumpedUpAt+foamLong)
	}
	k := len(v.history) - 1
	for k > 0 && v.history[k-1].t >= from && v.history[k].flags != unlinked {
		k--
	}
	return k
}

// topFrom is the last point of the history, from one on, at which the level was about its
// highest: there the loss began.
func (v *tankState) topFrom(first int) int {
	top := v.history[first].v
	for _, h := range v.history[first:] {
		top = max(top, h.v)
	}
	k := len(v.history) - 1
	for k > first && v.history[k].v < top-lossTop {
		k--
	}
	return k
}

// evenFall says that both halves of a fall share it.
func (v *tankState) evenFall(first int, fell float64) bool {
	mid := v.history[(first+len(v.history)-1)/2]
	half := float64(v.history[first].v - mid.v)
	return half > 0.3*fell && half < 0.7*fell
}
