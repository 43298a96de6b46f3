package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	watchBack = 240.0 // s over which a fall is looked for
	hintEvery = 300.0 // s between two hints that are stored
	fallLeast = 0.3   // in
)

// watch looks, at each sample, whether the level falls as in a draw, and when it does,
// sees to it that the buffer will be judged.
func (r *update) watch(i int, v *tankState, s sample) {
	t := &r.site.tanks[i]
	per := t.Table.PerInch(float64(s.v))
	ref, now, dt := v.fallSoFar(s.t)
	if dt <= 0 {
		return
	}
	drop := ref - now
	gap := dt >= v.gapMin(t, r.site.speed)
	falls := drop*per >= 0.8*t.Loads.MinRate*dt/60 && drop > v.leastFall()
	if gap && drop*per >= 0.3*t.Loads.MinLoad {
		falls = true
	}
	if !falls {
		r.storeHint(v, s)
		return
	}
	if !v.drawing {
		v.drawing, v.searchFrom, v.judgeAt = true, s.t-dt-60, 0
		v.searchFrom = math.Max(v.searchFrom, v.decidedTo)
	}
	if s.t-v.lastFallAt > 180 || len(v.firstSeen) == 0 {
		v.firstSeen = append(v.firstSeen[:len(v.firstSeen):len(v.firstSeen)], v.fallBegan(s.t))
		r.storeNow = true
	}
	v.lastFallAt = s.t
}

// leastFall is the fall in inches that noise does not make. The noise is taken in coarse steps:
// a restart that cost some readings must not shift the moment at which a draw is first
// seen, which the ticket's number is made of.
func (v *tankState) leastFall() float64 { return fallLeast + 2.3*v.noise.rounded() }

// fallSoFar gives the level some minutes ago and now, and the seconds between.
func (v *tankState) fallSoFar(now float64) (before, after, dt float64) {
	n := len(v.recent)
	if n < 2 {
		return 0, 0, 0
	}
	j := n - 2
	for j > 0 && v.recent[j-1].t >= now-watchBack {
		j--
	}
	a, b := v.recent[j], v.recent[n-1]
	if n-j < 8 {
		return float64(a.v), float64(b.v), b.t - a.t
	}
	return median3(v.recent[j : j+3]), median3(v.recent[n-3:]), v.recent[n-2].t - v.recent[j+1].t
}

func median3(b []sample) float64 {
	x, y, z := float64(b[0].v), float64(b[1].v), float64(b[2].v)
	return math.Max(math.Min(x, y), math.Min(math.Max(x, y), z))
}

// storeHint stores the state at the first sign of a fall, so that a power cut right after the
// start of a load takes no more than seconds of it.
func (r *update) storeHint(v *tankState, s sample) {
	n := len(v.recent)
	if v.drawing || n < 4 || s.t-v.hintStoredAt < hintEvery {
		return
	}
	if median3(v.recent[n-4:n-1])-float64(s.v) > 0.3+4*v.noise.sigma {
		v.hintStoredAt, r.storeNow = s.t, true
	}
}

// fallBegan is the instant at which the fall that is seen now began, by what is known now:
// the last sample that was not clearly below the level of the minutes before.
func (v *tankState) fallBegan(now float64) float64 {
	b := between(v.recent, now-watchBack-360, now)
	if len(b) < 2 {
		return now
	}
	edge := math.Max(0.5, 4*v.noise.rounded())
	k := len(b) - 1
	for k > 0 && float64(b[k].v) < stats.Median(values(b[max(0, k-12):k]))-edge {
		k--
	}
	for k > 0 && float64(b[k].v) < float64(b[0].v)-edge {
		k--
	}
	return b[k].t
}
