package tank

import (
	"fmt"
	"math"

	"gauger/eventrules"
)

const (
	lossOver   = 8 * 3600.0 // s over which a slow loss is looked for
	lossLeast  = 4 * 3600.0
	lossEvery  = 1200.0
	lossBbl    = 8.0 // bbl and inches that neither drift nor foam explain
	lossIn     = 4.5
	lossKnown  = 2          // in place of 1: the oil went to another tank
	lossTop    = 0.3        // in below the highest level at which a loss has begun
	foamLong   = 4.5 * 3600 // s that a lift of the level may take to go down again
	stoodNoise = 0.02       // in; a quieter sensor, or one of coarse steps, may stand still for hours
	stoodLong  = 60.0       // times the usual stay of a value, after which it is stuck
)

// stood says that a value stood still so much longer than this sensor's values do that it
// was stuck, whatever comes next.
func (v *vessel) stood(t *Tank, now float64) bool {
	age := now - v.since
	return v.noise.held >= stoodNoise && age >= v.stuckAfter(t) && v.pace.runs >= 8 && age > stoodLong*v.pace.run && now-v.last.t < age/10
}

// stillStuck tells of a value that stands as it never does, while it does.
func (r *run) stillStuck(i int, v *vessel, now float64) {
	t := &r.site.tanks[i]
	if !v.seen || v.stuckTold || v.last.t-v.since < t.Loads.Stuck.Seconds() || !v.stood(t, v.last.t) {
		return
	}
	v.stuckTold = true
	r.event(v, i, eventrules.Stuck, v.since, now, fmt.Sprintf("value stands at %.2f in for %s and still does", v.last.v, span(now-v.since)))
}

// leaks tells of a loss that is too slow for a draw.
func (r *run) leaks(i int, v *vessel, now float64) {
	n := len(v.hist)
	if n == 0 || now < v.leakDue || v.hot {
		return
	}
	v.leakDue = now + lossEvery
	t := &r.site.tanks[i]
	first := v.quietFrom(now - lossOver)
	a, z := v.hist[first], v.hist[n-1]
	per := t.Table.PerInch(float64(z.v))
	fell := float64(a.v - z.v)
	if z.t-a.t < lossLeast || fell < lossIn || fell*per < lossBbl || !v.steady(first, fell) {
		if !v.loss.open || fell < lossIn/2 && z.t-a.t >= lossLeast {
			r.lossOver(i, v, z)
			return
		}
	}
	if v.loss.open {
		v.loss.last, v.loss.sum = z.t, v.loss.at-float64(z.v)
		return
	}
	a = v.hist[v.topFrom(first)]
	v.loss = spell{open: true, start: a.t, last: z.t, n: 1, at: float64(a.v), sum: float64(a.v - z.v)}
	if name, rose := r.risen(i, a.t, z.t); rose >= most*v.loss.sum*per && r.explained(i, v.loss.draw(), v.loss.sum*per) {
		v.loss.n = lossKnown
		r.event(v, i, eventrules.Transfer, a.t, z.t, fmt.Sprintf("%.1f bbl run slowly over to tank %s, %.2f to %.2f in", v.loss.sum*per, name, a.v, z.v))
		r.moved(v.loss.fell(t), name)
		r.drop(i, v, v.loss.draw(), Transferred, fmt.Sprintf("meanwhile other tanks rose slowly by %.1f bbl, most of all %s", rose, name))
		return
	}
	rate := v.loss.sum * per / (z.t - a.t) * 60
	r.event(v, i, eventrules.UnexplainedLoss, a.t, z.t, fmt.Sprintf("level went down slowly from %.2f to %.2f in, %.1f bbl at %.2f bbl/min", a.v, z.v, v.loss.sum*per, rate))
	r.seeped(v.loss.fell(t))
	r.drop(i, v, v.loss.draw(), TooSlow, fmt.Sprintf("%.2f bbl a minute for hours, where min_rate is %g", rate, t.Loads.MinRate))
}

// seeped says of the newest event that it is a slow loss of so many barrels.
func (r *run) seeped(bbl float64) {
	r.moved(bbl, "")
	r.out[len(r.out)-1].Event.Slow = true
}

// draw is a slow loss as if it were a draw.
func (s spell) draw() draw {
	return draw{start: s.start, end: s.last, open: gauge{v: s.at}, close: gauge{v: s.at - s.sum}}
}

// fell is the volume of a slow loss in barrels.
func (s spell) fell(t *Tank) float64 { return t.volume(s.draw()) }

// lossOver tells how much a slow loss took, when it has ended and was much more than first told.
func (r *run) lossOver(i int, v *vessel, z sample) {
	s := v.loss
	v.loss = spell{}
	per := r.site.tanks[i].Table.PerInch(float64(z.v))
	if s.open && s.n == lossKnown { // what was kept when it was told of gives way to the whole
		r.drop(i, v, s.draw(), Transferred, "meanwhile other tanks rose slowly")
	}
	if !s.open || s.n == lossKnown || s.last-s.start < 1.3*lossOver || s.sum*per < 2*lossBbl {
		return
	}
	r.event(v, i, eventrules.UnexplainedLoss, s.start, s.last, fmt.Sprintf("level went down slowly from %.2f to %.2f in, %.1f bbl; it has ended", s.at, s.at-s.sum, s.sum*per))
	r.seeped(s.fell(&r.site.tanks[i]))
}

// quietFrom is the first point of the history from which on, after a time, nothing but slow
// change happened.
func (v *vessel) quietFrom(from float64) int {
	if v.roseAt > 0 {
		from = math.Max(from, v.roseAt+foamLong)
	}
	k := len(v.hist) - 1
	for k > 0 && v.hist[k-1].t >= from && v.hist[k].f != apart {
		k--
	}
	return k
}

// topFrom is the last point of the history, from one on, at which the level was about its
// highest: there the loss began.
func (v *vessel) topFrom(first int) int {
	top := v.hist[first].v
	for _, h := range v.hist[first:] {
		top = max(top, h.v)
	}
	k := len(v.hist) - 1
	for k > first && v.hist[k].v < top-lossTop {
		k--
	}
	return k
}

// steady says that both halves of a fall share it.
func (v *vessel) steady(first int, fell float64) bool {
	mid := v.hist[(first+len(v.hist)-1)/2]
	half := float64(v.hist[first].v - mid.v)
	return half > 0.3*fell && half < 0.7*fell
}
