package tank

import (
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	pauseSure  = 300.0 // s; hardly a second truck connects faster,
	pauseBrief = 120.0 // s; and none faster than this
	pauseTwo   = 450.0 // s; nor as fast where a truck has room for what both took,
	pauseRoom  = 600.0 // s; nor as fast where loads of before were as large, or there were none
	stopBit    = 0.15  // in by which a level that stands may seem to fall
	pauseLate  = 1.25  // times the longest pause, after which what a truck still holds is its own
	early      = 0.08  // share of a load, of which a first part minutes before the rest is perhaps no part: a bleed, or a hatch that was opened
	waterPart  = 0.3   // the same of a first part that left slower, as water is drawn off
	otherPart  = 0.2   // share of a load, of which a part minutes from the rest that another pump drew is perhaps no part
	otherRate  = 1.45  // times the other's rate, from which on it is another pump's
	unlikeRate = 2.0   // the same of parts of any size: no truck's hose and no driver's hand makes that
	lastPart   = 0.25  // share of a load, of which a last part minutes behind the rest is perhaps foam that collapsed
	foamRate   = 0.5   // of the pump's rate; what falls no faster, after the level has risen, is perhaps foam
	firstTry   = 60.0  // s for which a pump's first try draws as little as water would, before it loses its prime
	bleedMost  = 0.1   // share of the load that it is
	bleedPump  = 0.75  // share of the pump's rate, from which on it is the pump's own, which flushes a hose or primes
	pipeRate   = 1.75  // bbl/min; slower is a pipeline and not a truck, and has no truck's limit
	leapNoise  = 4.0   // times its scatter that a level steps by itself
	twiceAlike = 2     // readings in a row that are the same by chance
	alikeLong  = 150.0 // s for which a value stands at rest, and no truck comes, pumps and goes
)

// stopped says that samples after a draw lie off its falling line: it was seen to end.
func (ts *tankState) stopped(d draw) bool {
	off := math.Max(0.6, 4*math.Max(ts.noise.sigma, d.slosh))
	for b := ts.levels.recent[max(0, searchTime(ts.levels.recent, d.end)-2):searchTime(ts.levels.recent, d.leaptAt)]; len(b) > 2; b = b[1:] {
		if b[1].t > d.end && median3(b[:3])-d.endLine.at(b[1].t) >= off {
			return true
		}
	}
	return ts.seenAgain(d, off)
}

// draws are the draws among the samples that are not decided yet, in order. waits says that the
// last may still turn out to be one with the one before.
func (ts *tankState) draws(t *Tank, speed, now float64) (out []draw, waits bool) {
	b, seen := ts.undecidedSamples(t, speed, now)
	if len(b) < 2 {
		return nil, false
	}
	in := ts.inflow(t, math.Max(seen, ts.decidedTo)) // of a tank that is hauled all day long nobody ever saw an end of its draws
	finder := ts.fallFinder(t, speed, float64(b[len(b)-1].v), in.usual)
	var moved []sensorStep
	for {
		out, waits = ts.drawsBetweenLeaps(t, finder, b, in, now)
		m := movedBeside(ts, t, b, out)
		if m.at == 0 {
			m = hauledOut(ts, t, b, out)
		}
		if m.at == 0 {
			break
		}
		b, moved = slices.Clone(b), append(moved, m)
		b[searchTime(b, m.at)].flags = unlinked
	}
	for _, m := range moved {
		k := 0
		for k+1 < len(out) && out[k+1].start < m.at {
			k++
		}
		if len(out) > 0 {
			out[k].moved = append(out[k].moved, m)
		}
	}
	return out, waits
}

// drawsBetweenLeaps are the draws among samples, none of them across a jump of the level.
func (ts *tankState) drawsBetweenLeaps(t *Tank, finder fallFinder, b []sample, in production, now float64) (out []draw, waits bool) {
	lo := ts.decidedTo
	for {
		leap := nextLeap(b)
		end := math.Inf(1)
		if leap < len(b) {
			end = math.Nextafter(b[leap].t, 0)
		}
		more, wait := ts.drawsAmong(t, finder, b[:leap], bounds{lo, end}, in, now)
		for k := range more {
			more[k].leaptAt = end
			if leap < len(b) {
				more[k].leaptTo = float64(b[leap].v)
			}
		}
		out, waits = append(out, more...), wait
		if leap == len(b) {
			return out, waits
		}
		b, lo = b[leap:], end
	}
}

// drawsAmong are the draws among samples between which the level did not jump, in order.
func (ts *tankState) drawsAmong(t *Tank, finder fallFinder, b []sample, all bounds, in production, now float64) (out []draw, waits bool) {
	fs := ts.cutAtStops(t, t.withoutTrickle(finder.falls(ts.believed(t, b))))
	lo := all.lo
	for k, f := range fs {
		hi := all.hi
		if k+1 < len(fs) {
			hi = fs[k+1].from.t
		}
		f.from.t += math.Max(0, f.silence) // over which the level rested
		f, why := ts.behindShelf(t, f)
		d := ts.findEdges(t, f, bounds{lo, hi}, in, now)
		d.doubts = append(d.doubts, why...)
		d = ts.withHiddenCheck(t, d, f, bounds{lo, d.start}, in, now)
		lo = d.end + 30
		load, on, kinked := runsOn(ts, t, d)
		if longest := pauseLate * t.Loads.PauseMerge.Seconds(); !kinked || on.end > 0 && k+1 < len(fs) && hi-d.end <= longest || on.end == 0 && len(out) > 0 && d.start-out[len(out)-1].end <= longest {
			out, waits = ts.withDraw(t, out, d) // else the truck went on
			continue
		}
		if out, waits = ts.withDraw(t, out, load); on.start > 0 {
			out, waits = append(out, on), false
		}
	}
	if n := len(out); n > 0 {
		out[n-1].falls = len(fs)
	}
	return out, waits
}

// withDraw are some draws and the next one, which may be one with the last of them; waits says that it is, by its pause.
func (ts *tankState) withDraw(t *Tank, out []draw, d draw) (all []draw, waits bool) {
	n := len(out)
	if n > 0 && ts.onlyCameBack(t, out[n-1], d) {
		d.within.lo = math.Max(d.within.lo, d.start-witnessFirst) // the rest before it was another level's
		out[n-1] = d
		return out, false
	}
	if k := t.lastOfBarrels(out); k+1 < n && t.volume(d) >= partBbl && ts.oneTruck(t, out[k], d) {
		out, n = out[:k+1], k+1 // what the noise or a wave made in a truck's pause does not part it
	}
	waits = n > 0 && ts.oneTruck(t, out[n-1], d)
	if n > 0 && ts.stuckBetween(t, out[n-1], d) {
		out[n-1] = joinedOverStuck(out[n-1], d)
		return out, waits
	}
	if waits {
		out[n-1] = ts.joinedDraw(t, out[n-1], d)
		return out, waits
	}
	return append(out, d), false
}

// onlyCameBack says that a small fall minutes before another brought the level back to where it had been before it rose faster than oil
// comes, or that all of it came back so: a hatch was opened, a false echo was believed for a while, or a meter was proved, and nothing left.
func (ts *tankState) onlyCameBack(t *Tank, a, next draw) bool {
	fall, va, near := a.fall(), t.volume(a), math.Max(backExact, backNoise*ts.noise.perSample())
	if a.parts > 1 || t.Group != "" {
		return false
	}
	if back := between(ts.levels.recent, a.end, next.start); va < t.Loads.MinLoad && next.opening.level > a.opening.level-near && t.cameFast(back, fall) >= 0 {
		return true
	}
	b := between(ts.levels.recent, a.start-undoneFine, a.start)
	from := t.cameFast(b, fall)
	if from < 0 || va >= early*(va+t.volume(next)) {
		return false
	}
	was := b[max(0, from-jumpedRest):from]
	made := a.usualInflow * (a.end - b[from].t)
	return len(was) >= stepFew && math.Abs(a.closing.level-made-stats.Median(values(was))) <= near
}

// undecidedSamples are the samples in which a draw that is not decided may be, with the last one before
// a gap that its beginning may lie in, and until when the tank was last seen at rest.
func (ts *tankState) undecidedSamples(t *Tank, speed, now float64) (b []sample, seen float64) {
	lo, hi := searchTime(ts.levels.recent, math.Max(ts.decidedTo, ts.searchFrom-restLong)), searchTime(ts.levels.recent, math.Nextafter(now, math.Inf(1)))
	if lo > 0 && ts.levels.recent[lo-1].t >= ts.decidedTo {
		lo--
	}
	b, seen = ts.levels.recent[lo:max(lo, hi)], ts.searchFrom
	for i := len(b) - 2; i >= 0; i-- {
		if b[i].t < ts.searchFrom && b[i+1].t-b[i].t >= ts.interval.gapMin(t, speed) {
			return b, b[i].t
		}
	}
	return b, seen
}

// oneTruck says whether two draws are one truck with a pause.
func (ts *tankState) oneTruck(t *Tank, a, b draw) bool {
	if one, sure := ts.aux.oneOpening(t, a, b); sure {
		return one
	}
	if t.Interface && ts.aux.waterDrawn(t, a, ts.levels.about) != ts.aux.waterDrawn(t, b, ts.levels.about) || ts.stepsBeside(t, a, b) {
		return false
	}
	pause, longest := b.start-a.end, t.Loads.PauseMerge.Seconds()
	if t.Group != "" && pause <= longest {
		return true // what it had given by the pause shows only when the equaliser has done its work
	}
	va, vb, most := t.volume(a), t.volume(b), t.Loads.TruckMax
	// What flowed in as it does in the pause was loaded too.
	in := math.Min(a.inflowBefore, ts.levels.roseBefore(b.start, pause)) * t.Table.PerInch(b.closing.level) * (a.end - a.start + b.end - b.start)
	fits := most > 0 && va+vb+in <= most
	slow, seen := t.pumpRate(a) < bleedRate*t.pumpRate(b), a.samples > 0 || t.Sensor != "hydrostatic" // which feels a hatch at once
	checks := ts.checksSeal(t, a, b)
	drained := slow && pause > pauseSure && a.samples >= pumpedFew && va < t.Loads.MinLoad && vb >= t.Loads.MinLoad && t.Group == "" // water, at no pump's rate
	if own := t.pumpRate(a) >= bleedPump*t.pumpRate(b); seen && !own && !checks && (drained || va < bleedBbl && va < bleedMost*vb && (pause > pauseSure || slow && pause > 120)) {
		return false
	}
	switch {
	case vb < t.Loads.MinLoad && a.foamTo > a.end:
		pause = b.start - a.foamTo
	case vb >= partBbl && !fits: // less than that fits one truck, whose driver drew a little in between
		pause = b.start - a.oilTo
	}
	if pause > longest && (pause > pauseLate*longest || !fits || math.Min(va, vb) < partBbl) {
		return false
	}
	if t.Group == "" && vb >= bleedBbl && pause > 120 && b.samples >= pumpedFew && t.pumpRate(b) < math.Min(slowestRun, bleedRate*t.pumpRate(a)) && !decays(ts, b) {
		return false // a leak or a drain
	}
	alive := changesIn(between(ts.levels.recent, a.end+settleShort, b.start)) >= stepFew || vb > leapTimes*t.pumpRate(a)/60*pause && t.pumpRate(b) > t.pumpRate(a) // else it hung, and caught up
	if alive && pause > pauseBrief && math.Min(va, vb) >= t.Loads.MinLoad && min(a.samples, b.samples) >= pumpedFew && t.timesOther(a, b) >= unlikeRate && !decays(ts, b) {
		return false // another's pump
	}
	pumped := pause < pauseSure || t.pumpRate(b) >= bleedRate*t.pumpRate(a) && !decays(ts, b)
	if va > partBbl && vb < t.Loads.MinLoad && pause <= longest && pumped && b.fall() > ts.noise.leastFall() {
		return true // its last, when the pump faded or the driver topped off
	}
	if math.Min(va, vb) < partBbl || pause > 120 && math.Min(a.fall(), b.fall()) < 2*ts.noise.leastFall() {
		return pause < 120 || checks
	}
	if t.pumpRate(a) < pipeRate && t.pumpRate(b) < pipeRate {
		return true
	}
	return fits || most == 0 || pause < pauseSure || va > most || vb > most
}

// checksSeal says that a driver drew the first of two draws to see whether the hose and the seal hold: less than a bleed, half as fast as the
// rest at least or within a minute, and minutes before it, as the readings show both times.
func (ts *tankState) checksSeal(t *Tank, a, b draw) bool {
	va, unsure := t.volume(a), math.Min(ts.interval.fresh(), pauseBrief)
	return b.start-a.end <= pauseSure+unsure && va < math.Min(bleedBbl, t.volume(b)) && a.end-a.start <= 2*unsure+math.Max(firstTry, va/(foamRate*t.pumpRate(b))*60)
}

// stepsBeside says that all of one of two draws fell between two readings, faster than any pump, of a sensor that was alive in between:
// it moved, and no oil.
func (ts *tankState) stepsBeside(t *Tank, a, b draw) bool {
	if b.deadband > 0 || changesIn(between(ts.levels.recent, a.end+settleShort, b.start)) < stepFew {
		return false
	}
	steps := func(d draw) bool {
		leapt, _ := leaps(ts, t, d, fasterThan)
		return d.samples == 0 && leapt >= explainedShare*d.fall()
	}
	return steps(b) || t.Sensor != "hydrostatic" && steps(a) // which feels a hatch
}

// joinedDraw is one draw of two. A small part moves its end, but does not shorten the pause between more than a truck holds. What had only risen since the end,
// or falls minutes after it and slower than the pump, is foam: no part, but the level that it leaves is the closing.
func (ts *tankState) joinedDraw(t *Tank, a, b draw) draw {
	va, vb, pause := t.volume(a), t.volume(b), math.Max(0, b.start-a.end)
	part, times := otherPart, t.timesOther(a, b)
	if va < vb && t.pumpRate(a) < t.pumpRate(b) {
		part = waterPart
	}
	other := pause > pauseSure && (math.Min(va, vb) < part*(va+vb) && times > otherRate || times >= unlikeRate) && a.samples > 0 && b.samples > 0
	slow := slowBeside(ts, t, a, b, pause)
	if va < vb && (other || slow || a.parts == 1 && pause > pauseSure/2 && (va < early*(va+vb) || a.samples == 0)) {
		a.early, a.earlyBy, a.checks = va, pause, ts.checksSeal(t, a, b)
	}
	if pause > pauseSure && t.pumpRate(b) > t.Loads.MaxRate && vb > wrongBbl(va+vb) {
		a.doubt("its last %.1f bbl, after %s, left at once, faster than max_rate: an opened hatch, a tape, or work on the sensor", vb, spanText(pause))
	} else if vb < va && (slow || other && vb >= early*(va+vb)) {
		a.doubtGauge(&b.closing, b.fall()/2, "its last %.1f bbl, after %s, left at %.1f bbl a minute, and the others at %.1f: water, or another truck", vb, spanText(pause), t.pumpRate(b), t.pumpRate(a))
	}
	rose := math.Min(b.opening.level-a.closing.level, ts.levels.mostRisen(a.start, b.end, b.end-a.start)) - a.usualInflow*pause
	if rose*t.Table.PerInch(a.closing.level) > wrongBbl(va+vb) && t.pumpRate(b) < foamRate*t.pumpRate(a) {
		a.doubt("level rose by %.1f in before its last part, and fell slower: foam, or oil that came in", rose)
	}
	since := b.inflowAfter * (b.end - a.end)
	seen, shape := b, pumpSure
	if seen.start -= pause / 2; vb < lastPart*(va+vb) && b.samples > 0 && pause > pauseSure/2 { // with the rest before it
		shape = decay(ts, seen)
	}
	decaying, slower := pause > pauseSure && shape <= decaySure, vb < early*(va+vb) && t.pumpRate(b) < foamRate*t.pumpRate(a)
	collapsed := rose > explainedShare*b.fall() || pause > pauseSure && (decaying && slower || t.pumpRate(b) < bleedRate*t.pumpRate(a))
	if collapsed && vb < math.Min(va, t.Loads.MinLoad) {
		a.within.hi, a.foamTo = b.within.hi, b.end
		if b.closing.level-since < a.closing.level {
			a.closing = b.closing
			a.closing.level -= since
			a.closing.carried += b.end - a.end
		}
		return a
	}
	if decaying {
		a.doubt("its last part, after %s, fell ever slower: foam, or oil that left", spanText(pause))
	}
	above := t.Sensor != "float" && t.Sensor != "hydrostatic" // else it feels no foam, and a driver tops off as slowly as he likes
	if above && slower && !decaying && shape < pumpSure && vb >= partBbl/2 {
		a.doubt("its last %.1f bbl, after %s, left slower than the pump drew: foam, or a hose that ran on", vb, spanText(pause))
	}
	if vb >= partBbl || va < partBbl {
		a.oilTo = b.end
	}
	a.end, a.closing, a.within.hi = b.end, b.closing, b.within.hi
	if math.Min(va, vb) >= t.Loads.MinLoad && pause >= pauseSure && pause > a.pause {
		a.pause, a.pausedBbl = pause, va
	}
	a.parts, a.stood = a.parts+b.parts, a.stood+pause
	a.gap, a.samples = math.Max(a.gap, b.gap), a.samples+b.samples
	a.slosh, a.endLine, a.doubts = b.slosh, b.endLine, append(a.doubts, b.doubts...)
	a.inflowAfter = b.inflowAfter
	return a
}

// leaps are the inches of a draw's fall that came in steps faster than times max_rate. A value that stood still before a step may have fallen all that time,
// unless noise read the same twice or the step is all of the fall. What leaps up again had not left. pumps counts the leaps that a pump may have hidden behind
// a sensor that hung before each.
func leaps(ts *tankState, t *Tank, d draw, times float64) (inches float64, pumps int) {
	b := ts.levels.recent
	k := max(0, searchTime(b, d.start)-1)
	if held, _ := sameAs(b, k); len(b) > 0 && (ts.interval.mayBeCached() || ts.interval.stood(b[k].t-b[held].t, neverHeld)) {
		k = held // what a gateway held until then, or where it hung, for all that is known
	}
	if b = b[k:max(k, min(len(b), searchTime(b, d.end)+1))]; d.leaptAt > d.start { // the jump behind it is no part of it
		b = between(b, math.Inf(-1), d.leaptAt)
	}
	if len(b) < 2 {
		return 0, 0
	}
	rough := quietScatter(b)
	if len(b) < jumpedRest { // too few to tell noise from the fall
		rough = quietScatter(between(ts.levels.recent, d.start-undoneFine, d.start))
	}
	for n, k := len(b)/3, 0; n >= jumpedRest && k < 3; k++ { // waves come with the pump, and a hatch was opened minutes before
		rough = math.Max(rough, quietScatter(b[k*n:(k+1)*n]))
	}
	noise, since, stood := leapNoise*math.Max(ts.noise.perSample(), rough), firstTime(b, 0), 1
	leapt, first, last := since, b[0], b[len(b)-1]
	all := float64(first.v - last.v)
	if all-leapNoise*ts.noise.perSample() > times*t.maxRate(float64(last.v))*(last.t-first.t) {
		return all, 1
	}
	low := first.v
	for k := 1; k < len(b); k++ {
		by := float64(b[k-1].v - b[k].v)
		if b[k-1].v-low > 4*stepLeast { // what had fallen to there before, and was lifted, did not fall now
			by = float64(low - b[k].v)
		}
		whole, took := by >= leapMost*all, 0.0
		if alike := stood <= twiceAlike || whole && b[k-1].t-since <= math.Min(alikeLong, heldRegion*ts.interval.stays()); alike && !ts.interval.cached() {
			since = b[k-1].t
		}
		if took = b[k].t - since; whole && took <= alikeLong && t.barrels(float64(b[k-1].v), float64(b[k].v)) >= t.Loads.MinLoad {
			took = math.Max(0, took-rampLong) // a pump that draws all of a load in between has to come up and to run down
		}
		if rate := times * t.maxRate(float64(b[k].v)); math.Abs(by)-noise > rate*took {
			inches += by
			if by > 0 && (pumps == 0 || b[k-1].t-b[k-2].t >= math.Max(stairRest, 2.5*ts.interval.fresh()) && by <= rate*(b[k].t-leapt)) {
				pumps++ // one of which only the ends were believed, afterwards
			}
			if leapt = b[k].t; by < 0 {
				low = b[k].v
			}
		}
		low = min(low, b[k].v)
		if stood++; b[k].v != b[k-1].v {
			since, stood = b[k].t, 1
		}
	}
	return math.Max(0, inches), pumps
}

// hauledOut is when, behind a load that fell as under a pump, all that is left of a draw's fall began, faster than any pump draws also where the value
// hung before, to less than a truck leaves or from where it came back: somebody hauled the sensor out, and it is no part of the draw.
func hauledOut(ts *tankState, t *Tank, b []sample, ds []draw) (m sensorStep) {
	for _, d := range ds {
		for k := searchTime(b, d.start+2*joinWithin); k > 0 && k < len(b) && b[k].t <= d.end && d.samples >= pumpedFew && t.Group == ""; k++ {
			since, _ := sameAs(b, k-1)
			by, left, last := float64(b[k-1].v-b[k].v), float64(b[k-1].v)-d.closing.level, b[k-1]
			if by < stepLeast || by <= leapNoise*ts.noise.perSample()+fasterThan*t.maxRate(float64(b[k].v))*(b[k].t-b[since].t) ||
				math.Min(t.barrels(d.opening.level, float64(last.v)), left*t.Table.PerInch(d.closing.level)) < t.Loads.MinLoad ||
				t.volume(d) <= t.Loads.TruckMax && float64(b[len(b)-1].v)-d.closing.level < left/2 {
				continue
			}
			before, _ := leaps(ts, t, draw{start: d.start, end: last.t - 1}, fasterThan)
			if out, _ := leaps(ts, t, draw{start: last.t, end: d.end}, fasterThan); out >= leapMost*left && before < (1-explainedShare)*(d.opening.level-float64(last.v)) {
				return sensorStep{b[k].t, left}
			}
			break
		}
	}
	return m
}
