package tank

import (
	"fmt"
	"math"

	"gauger/agent/eventrules"
)

const (
	lossWindow = 8 * 3600.0 // s over which a slow loss is looked for
	lossLeast  = 4 * 3600.0
	lossEvery  = 1200.0
	lossBbl    = 8.0 // bbl and inches that neither drift nor foam explain
	lossIn     = 4.5
	lossTop    = 0.3        // in below the highest level at which a loss has begun
	foamLong   = 4.5 * 3600 // s that a lift of the level may take to go down again
)

// findSlowLoss tells of a loss that is too slow for a draw.
func (u *update) findSlowLoss(i int, ts *tankState, now float64) {
	n := len(ts.levels.history)
	if n == 0 || now < ts.slow.checkAt || ts.drawing {
		return
	}
	ts.slow.checkAt = now + lossEvery
	t := &u.site.tanks[i]
	first := ts.levels.quietFrom(now-lossWindow, ts.faults.jumpedUpAt)
	a, z := ts.levels.history[first], ts.levels.history[n-1]
	per := t.Table.PerInch(float64(z.v))
	fell := float64(a.v - z.v)
	if z.t-a.t < lossLeast || fell < lossIn || fell*per < lossBbl || !ts.levels.evenFall(first, fell) {
		if !ts.slow.loss.active || fell < lossIn/2 && z.t-a.t >= lossLeast {
			u.endSlowLoss(i, ts, z)
			return
		}
	}
	l := &ts.slow.loss
	if l.active {
		if in := l.top - float64(z.v); in > l.inches {
			l.last, l.inches = z.t, in
		}
		return
	}
	a, z = ts.levels.topAndBottom(first)
	*l = slowLoss{active: true, start: a.t, last: z.t, kind: lossUnexplained, top: float64(a.v), inches: float64(a.v - z.v)}
	if name, rose := u.othersRose(i, a.t, z.t); rose >= explainedShare*l.inches*per && u.explainsRise(i, l.asDraw(), l.inches*per) {
		l.kind = lossMoved
		u.addEvent(ts, i, eventrules.Transfer, a.t, z.t, fmt.Sprintf("%.1f bbl run slowly over to tank %s, %.2f to %.2f in", l.inches*per, name, a.v, z.v))
		u.eventVolume(l.bbl(t), name)
		u.addVerdict(i, ts, l.asDraw(), Transferred, fmt.Sprintf("meanwhile other tanks rose slowly by %.1f bbl, most of all %s", rose, name))
		return
	}
	rate := l.inches * per / (z.t - a.t) * 60
	u.addEvent(ts, i, eventrules.UnexplainedLoss, a.t, z.t, fmt.Sprintf("level went down slowly from %.2f to %.2f in, %.1f bbl at %.2f bbl/min, and %.1f that flowed in", a.v, z.v, l.inches*per, rate, u.site.SlowLoss(*u.st, i).In))
	u.eventSlowLoss(l.bbl(t))
	u.addVerdict(i, ts, l.asDraw(), TooSlow, fmt.Sprintf("%.2f bbl a minute for hours, where min_rate is %g", rate, t.Loads.MinRate))
}

// endSlowLoss tells how much a slow loss took, when it has ended and was much more than first told.
func (u *update) endSlowLoss(i int, ts *tankState, z sample) {
	l := ts.slow.loss
	ts.slow.loss.active = false
	per := u.site.tanks[i].Table.PerInch(float64(z.v))
	if l.active && l.kind == lossMoved { // the verdict of when it was reported gives way to the whole
		u.addVerdict(i, ts, l.asDraw(), Transferred, "meanwhile other tanks rose slowly")
	}
	if !l.active || l.kind == lossMoved || l.last-l.start < 1.3*lossWindow || l.inches*per < 2*lossBbl {
		return
	}
	u.addEvent(ts, i, eventrules.UnexplainedLoss, l.start, l.last, fmt.Sprintf("level went down slowly from %.2f to %.2f in, %.1f bbl; it has ended", l.top, l.top-l.inches, l.inches*per))
	u.eventSlowLoss(l.bbl(&u.site.tanks[i]))
}

// quietFrom is the first point of the history from which on, after a time, nothing but slow
// change happened.
func (l *levels) quietFrom(from, jumpedUpAt float64) int {
	if jumpedUpAt > 0 {
		from = math.Max(from, jumpedUpAt+foamLong)
	}
	k := len(l.history) - 1
	for k > 0 && l.history[k-1].t >= from && l.history[k].flags != unlinked {
		k--
	}
	return k
}

// topAndBottom are the last point of the history, from one on, at which the level was about its highest, where a loss began, and the
// lowest behind it, from where on the well made up for it.
func (l *levels) topAndBottom(first int) (top, low sample) {
	high := l.history[first].v
	for _, h := range l.history[first:] {
		high = max(high, h.v)
	}
	k := len(l.history) - 1
	for low = l.history[k]; k > first && l.history[k].v < high-lossTop; k-- {
		if l.history[k].v < low.v {
			low = l.history[k]
		}
	}
	return l.history[k], low
}

// evenFall says that both halves of a fall share it.
func (l *levels) evenFall(first int, fell float64) bool {
	mid := l.history[(first+len(l.history)-1)/2]
	half := float64(l.history[first].v - mid.v)
	return half > 0.3*fell && half < 0.7*fell
}
