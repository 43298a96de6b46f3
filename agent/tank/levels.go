package tank

import (
	"iter"
	"math"
	"slices"
	"sort"

	"gauger/agent/tank/stats"
)

const (
	recentMost   = 2500       // samples of 16 bytes
	recentFew    = 640        // of which none is left out: a sensor that reports by exception shows its deadband
	rocksNoise   = 2.0        // times the noise that readings scatter where the oil rocks
	thinEvery    = 128        // samples between two thinnings
	fineFor      = 2.5 * 3600 // s before a draw that show how a level behaves
	heldBefore   = 1200.0     // s of samples that are kept before a value that stands
	coarseEvery  = 60.0       // s of which one of the older samples is kept
	fellEvery    = 300.0      // s whose middle reading is compared with that of others
	keepFor      = 8 * 3600.0 // s before those that are all kept, of which one a minute is
	historyEvery = 600.0      // s
	historyMost  = 160        // points
	waterMost    = 400
	heldBeside   = 64     // samples on either side that show a step
	levelFar     = 900.0  // s from the nearest sample at which a level is still known
	stopFew      = 4.0    // points of the history, of which more show that a level stood
	jumpedRest   = 8      // samples that show where a level is that has come to rest
	alikeRise    = 0.7    // share of a rate that another is alike
	bulgeRest    = 1800.0 // s of rest before something lifts a level, and behind it
	undoneFine   = 2700.0 // s before a fall, or before now, of which every sample is kept
)

// levels are a tank's cleaned levels.
type levels struct {
	recent  []sample // thinned with age
	history []sample // one every ten minutes
}

// thinned is a copy of the recent samples: of those since one time all; where they are many, of every minute in the hours before it the one of the
// middle value, and of every ten minutes before those, before a value that stands for long.
func (l *levels) thinned(fine, heldSince float64) []sample {
	b := between(l.recent, math.Min(fine-keepFor, heldSince-heldBefore), math.Inf(1))
	few := len(b) <= recentFew
	out := make([]sample, 0, len(b)+thinEvery)
	for k, z := 0, 0; k < len(b); k = z {
		every := coarseEvery
		if b[k].t < fine-keepFor {
			every = historyEvery
		}
		until := (math.Floor(b[k].t/every) + 1) * every
		for z = k + 1; !few && until <= fine && z < len(b) && b[z].t < until && b[z].flags != unlinked && b[z-1].flags != unlinked; z++ {
		}
		out = append(out, middle(b[k:z]))
	}
	return lastSamplesOf(out, recentMost-thinEvery)
}

// keep makes some samples the recent ones, with the room that they grow into: the old array is another state's.
func (l *levels) keep(b []sample) { l.recent = append(make([]sample, 0, recentMost), b...) }

// middle is the sample of some whose value is the middle one.
func middle(b []sample) sample {
	if len(b) == 1 {
		return b[0]
	}
	b = slices.Clone(b)
	sort.Slice(b, func(i, j int) bool { return b[i].v < b[j].v || b[i].v == b[j].v && b[i].t < b[j].t })
	return b[(len(b)-1)/2]
}

// keepHistory keeps the level every ten minutes, for the inflow and for slow losses.
func (l *levels) keepHistory(s sample, draw drawPhase, jumpedAt float64) {
	n := len(l.history)
	newest := sample{t: math.Inf(-1)}
	if n > 0 {
		newest = l.history[n-1]
	}
	if s.t-newest.t < historyEvery {
		return
	}
	h := grained(s.t, stats.Median(values(lastSamplesOf(between(l.recent, s.t-45, s.t), 16))), 1)
	if draw.drawing && draw.lastFallAt >= newest.t-120 || jumpedAt > newest.t || s.t-newest.t > 4*3600 {
		h.flags = unlinked
	}
	if n >= historyMost {
		l.history = append(make([]sample, 0, historyMost), l.history[historyMost/4:]...)
	}
	l.history = append(l.history, h)
}

// joinStood keeps the two ends of a level that stands in the history: what was before it stays known for as long.
func (l *levels) joinStood() {
	n := len(l.history)
	if h := l.history; n > 2 && h[n-1].v == h[n-2].v && h[n-2].v == h[n-3].v && h[n-2].flags != unlinked {
		l.history = append(append(make([]sample, 0, historyMost), h[:n-2]...), h[n-1])
	}
}

// linkHistory takes back that the level moved since the last draw and until a time: it fell, but not as in a draw, and
// the history of a slow loss must not be cut up.
func (l *levels) linkHistory(draw drawPhase, jumpedAt, until float64) {
	from := math.Max(draw.searchFrom, draw.lastDrawEnd)
	k := searchTime(l.history, from)
	if draw.lastDrawEnd >= draw.searchFrom {
		k++ // its rise is the draw's
	}
	if k >= len(l.history) || jumpedAt >= from {
		return
	}
	l.history = append(make([]sample, 0, historyMost), l.history...)
	for ; k < len(l.history) && l.history[k].t < until; k++ {
		l.history[k].flags = 0
	}
}

// about is the level at a time, of the samples within 15 minutes.
func (l *levels) about(at float64) (float64, bool) { return l.within(at, 2*levelFar) }

// held is the level at a time, also of one that reports only what changes, and lies no more than a step or its deadband further on behind a silence: it
// stood meanwhile.
func (l *levels) held(at float64) (float64, bool) {
	v, ok := l.about(at)
	if k := searchTime(l.recent, at); !ok && k > 0 && k < len(l.recent) && l.recent[k].flags != unlinked {
		beside := l.recent[max(0, k-heldBeside):min(len(l.recent), k+heldBeside)]
		if band := math.Max(leastStep(beside), learnDeadband(beside)); math.Abs(float64(l.recent[k].v-l.recent[k-1].v)) <= 1.5*band {
			return l.within(at, math.Inf(1))
		}
	}
	return v, ok
}

// within is the level at a time, of samples that no longer silence parts; before the first one
// and after the last one that of the nearest, for half as long.
func (l *levels) within(at, silence float64) (float64, bool) {
	k := searchTime(l.recent, at)
	if k < len(l.recent) && k > 0 && l.recent[k].t-l.recent[k-1].t <= silence {
		a, b := l.recent[k-1], l.recent[k]
		w := (at - a.t) / (b.t - a.t)
		return float64(a.v) + w*float64(b.v-a.v), true
	}
	if k == len(l.recent) && k > 0 && at-l.recent[k-1].t <= silence/2 {
		return float64(l.recent[k-1].v), true
	}
	if k == 0 && len(l.recent) > 0 && l.recent[0].t-at <= silence/2 {
		return float64(l.recent[0].v), true
	}
	return 0, false
}

// mostRisen is the most by which the level, read as the middle of three, rose within so many seconds between two times.
func (l *levels) mostRisen(from, to, long float64) (most float64) {
	b := between(l.recent, from, to)
	var lows []sample // the least since each, rising
	for k := 2; k < len(b); k++ {
		z := sample{t: b[k-1].t, v: float32(median3(b[k-2 : k+1]))}
		for len(lows) > 0 && z.t-lows[0].t > long {
			lows = lows[1:]
		}
		for len(lows) > 0 && lows[len(lows)-1].v >= z.v {
			lows = lows[:len(lows)-1]
		}
		lows = append(lows, z)
		most = math.Max(most, float64(z.v-lows[0].v))
	}
	return most
}

// lowestTwo is the level, and its time, of the two readings on end that lie lowest, and the lowest alone.
func lowestTwo(b []sample) (two point, one float64) {
	two.v, one = math.Inf(1), math.Inf(1)
	for k := 1; k < len(b); k++ {
		one = math.Min(one, float64(b[k].v))
		if v := math.Max(float64(b[k-1].v), float64(b[k].v)); v < two.v {
			two = point{b[k].t, v}
		}
	}
	return two, one
}

// rocks is the scatter of the readings about a time, where they are enough to show it, in: oil rocks for as long as a driver tops off, drains
// his hose and lets air in, and not only while the level falls.
func rocks(b []sample, at float64) float64 {
	if b = between(b, at-sloshFade, at+sloshFade); len(b) < aloneFew {
		return 0
	}
	return neighbourScatter(b)
}

// roseBefore is how fast a level rose in the time before another, at most so long, inches a second: all that is known of the inflow of
// a store's first minutes.
func (l *levels) roseBefore(at, long float64) float64 {
	b := between(l.recent, at-long, at)
	if len(b) < 4 || newestLeap(b) >= 0 {
		return 0
	}
	rose, _ := fit(l.even(at-long, at).recent)
	return stats.Clamp(rose.slope, 0, inflowMost)
}

// shownBeside are the inches by which more flowed in over a draw than its rates tell, as the time before it and the time behind it
// show, each as long as it; 0 where either was not seen so far, or they tell of far more: water was drawn there, or oil moved.
func shownBeside(ts *tankState, t *Tank, d draw, rise float64) float64 {
	seconds, from := d.end-d.start, d.end+t.resumes()
	long := math.Max(seconds, besideLeast)
	until := min(from+long, ts.last.t, d.within.hi)
	before, after := ts.levels.roseBefore(d.start-nodeEvery, long), ts.levels.roseBefore(until, until-from)
	more := (before+after)/2*seconds - rise
	if before == 0 || after == 0 || until < from+besideLeast || math.Abs(more) > 2*evenStrays*rise {
		return 0
	}
	return more
}

// mostBeyond are the most inches by which more flowed in within as many seconds of rest than a rate makes.
func (l *levels) mostBeyond(at, seconds, rate, per float64) (most float64) {
	var run []sample // rise and time of the newest steps that take so long
	rise, time := 0.0, 0.0
	for i := searchTime(l.history, at-inflowDay); i < len(l.history) && l.history[i].t <= at; i++ {
		dv, dt, ok := l.restStep(i, per)
		if !ok {
			rise, time, run = 0, 0, run[:0]
			continue
		}
		rise, time, run = rise+dv, time+dt, append(run, sample{t: dt, v: float32(dv)})
		for len(run) > 1 && time-run[0].t >= seconds {
			rise, time, run = rise-float64(run[0].v), time-run[0].t, run[1:]
		}
		most = math.Max(most, rise-rate*time)
	}
	return most
}

// even are the levels between two times, their noise averaged out.
func (l *levels) even(from, to float64) (even levels) {
	for _, n := range nodes(between(l.recent, from, to), nodeEvery) {
		even.recent = append(even.recent, sample{t: n.t, v: float32(n.v)})
	}
	return even
}

// sink is how far the middle readings of some minutes each went below a level, or where none is given below the first of them
// and the highest since.
func (l *levels) sink(from, to, level float64) (low float64) {
	high := level
	for _, v := range l.middles(from, to) {
		if math.IsInf(level, -1) {
			high = math.Max(high, v)
		}
		low = math.Max(low, high-v)
	}
	return low
}

// downTo is when the middle readings of some minutes were first no higher than a level; from where they never were.
func (l *levels) downTo(from, to, level float64) float64 {
	for at, v := range l.middles(from, to) {
		if v <= level {
			return at
		}
	}
	return from
}

// middles are the middle readings of every few minutes, each after the time at which these begin.
func (l *levels) middles(from, to float64) iter.Seq2[float64, float64] {
	return func(yield func(at, v float64) bool) {
		for at := from; at+fellEvery <= to; at += fellEvery {
			if b := between(l.recent, at, at+fellEvery); len(b) > 0 && !yield(at, stats.Median(values(b))) {
				return
			}
		}
	}
}

// asStill says that a value at the end of some samples stands no longer than the level did before a time: nothing flows in.
func (l *levels) asStill(b []sample, at float64) bool {
	if len(b) == 0 {
		return false
	}
	first, last := sameAs(b, len(b)-1)
	was, ok := l.known(at)
	before, known := l.known(at - (b[last].t - b[first].t))
	return ok && known && was == before
}

// pausesSo says that the level had stood elsewhere in the hours before a time as a reading did then, as exactly and for half as long at least, and
// rose from there by and by: so the well feeds its tank. A sensor that had hung leaps to where the oil is.
func (l *levels) pausesSo(until, long, level, off, inflow float64) bool {
	b := between(l.recent, until-keepFor, until)
	for k, z := 0, 0; k < len(b); k = z + 1 {
		for z = k; z+1 < len(b) && math.Abs(float64(b[z+1].v-b[k].v)) <= off; {
			z++
		}
		stood := b[z].t - b[k].t
		if stood >= long/2 && z+1 < len(b) && math.Abs(float64(b[k].v)-level) > 2*off && b[z+1].v > b[z].v && float64(b[z+1].v-b[z].v) < inflow*stood/2 {
			return true
		}
	}
	return false
}

// stepRate is how fast the level moved in the step to point i, barrels a minute up or down; 0 where it is not known.
func (l *levels) stepRate(i int, per float64) float64 {
	if i < 1 || i >= len(l.history) || l.history[i].flags == unlinked {
		return 0
	}
	return math.Abs(float64(l.history[i].v-l.history[i-1].v)) * per / (l.history[i].t - l.history[i-1].t) * 60
}

// known is the level at a time, of the samples or of the history.
func (l *levels) known(at float64) (float64, bool) {
	jumped := len(l.recent) > 0 && l.recent[0].flags == unlinked && at < l.recent[0].t
	if v, ok := l.about(at); ok && !jumped {
		return v, true
	}
	k := searchTime(l.history, at)
	if k == 0 || k == len(l.history) || l.history[k].t-l.history[k-1].t > 2*historyEvery {
		return 0, false
	}
	a, b := l.history[k-1], l.history[k]
	if jumped {
		return float64(a.v), true
	}
	return float64(a.v) + (at-a.t)/(b.t-a.t)*float64(b.v-a.v), true
}

// stopsAt says that whenever a level came as near as some inches to where it stands since a time it stood there as exactly as its noise shows, so far
// off: the sensor shows no more. A switch that shuts a well in lets it rise by a little more, or less, each time, and a level that lives breathes with
// its oil's temperature.
func (l *levels) stopsAt(level, off, since, near float64) bool {
	times, stood, above := 0, 0.0, 0.0
	for _, h := range l.history {
		by := float64(h.v) - level
		switch away := math.Abs(by); {
		case h.t < since && away <= off:
			stood, above = stood+1, above+by
		case h.t < since && away <= near:
		default:
			if stood > stopFew {
				if times++; math.Abs(above) > stood*off/3 {
					return false
				}
			}
			stood, above = 0, 0
		}
	}
	return times > 0
}

// roseAlike says that at another time than this the level rose about as fast for as long as a bulge rests: the well makes that.
func (l *levels) roseAlike(from, to, rate float64) bool {
	for i, a := range l.history {
		for j := i + 1; j < len(l.history); j++ {
			b := l.history[j]
			if b.flags == unlinked || b.t-l.history[j-1].t > 2*historyEvery || b.t > from && a.t < to {
				break
			}
			if long := b.t - a.t; long >= bulgeRest {
				if rose := float64(b.v-a.v) / long; rose > alikeRise*rate && rose < rate/alikeRise {
					return true
				}
				break
			}
		}
	}
	return false
}

// leaptInto is the level from which the sensor leapt, and to which, as a draw began or within it; first says that nothing was known before.
func (l *levels) leaptInto(d draw) (was, to sample, first bool) {
	b := between(l.recent, 0, d.end)
	k, h := max(0, newestLeap(b)), searchTime(l.history, firstTime(b, 0))
	switch {
	case len(b) == 0 || b[k].t <= d.start-nodeEvery:
		return was, to, false
	case k > 0:
		return b[k-1], b[k], false
	case b[0].flags == unlinked && h > 0:
		return l.history[h-1], b[0], false
	}
	return was, to, true
}

// withHistory are some levels, and before them those of the history since a time.
func (l *levels) withHistory(from, to float64, b []sample) []sample {
	if len(b) > 0 {
		to = b[0].t
	}
	return slices.Concat(between(l.history, from, to-nodeEvery), b)
}
