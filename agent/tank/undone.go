package tank

import (
	"fmt"
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	undoneLong   = 6 * 3600.0 // s before a fall in which something may have lifted the level
	hungRise     = 0.3        // in that flowed in while a value stood
	undoneJunk   = 3 * 3600.0 // s before it in which a sensor that jumps may have begun to
	backAlive    = 1200.0     // s for which it has been there alive, where it left as under a pump
	leapSome     = 0.3        // the same, above which a person should look
	handledShare = 0.2        // share of a fall that it began above where the level had been, at least
	pumpedLeast  = 180.0      // s
	pumpedBack   = 0.15       // share of its fall that the level may rise meanwhile
	quietTimes   = 3.0        // times the scatter before a draw
	quietNoise   = 1.0        // times the noise on the other side of a load, in which nine of ten readings of a live level cannot lie
	quietSteps   = 0.75       // of the sensor, than which such a noise is more: a third of a step leaves nine of ten readings on one
	pumpedLeap   = 0.35       // share of a fall between two readings, above which nobody saw it fall
	itsClosing   = "its closing"
)

// undone tells why a draw took no oil: it fell at once, or after it the level is where it was before something had lifted it that was no oil, or
// where it was before the sensor jumped about. What a pump may have done is a reason for doubt only, and a load.
func (u *update) undone(i int, ts *tankState, d *draw) (why string) {
	t := &u.site.tanks[i]
	fall, per := d.fall(), t.Table.PerInch(d.closing.level)
	if from, to := ts.hiddenFall(*d); d.samples == 0 && t.Group == "" {
		if name := u.jumpedTo(i, float64(to.v), from.t, to.t+singleReading); name != "" {
			return fmt.Sprintf("tank %s jumped to the same level meanwhile, as where a gateway gives one answer for both", name)
		}
	}
	n, stepped, told := staircase(ts, t, *d)
	if told && u.fellAlone(i, *d) && n >= ts.interval.stairs() && stepped >= leapMost*fall {
		return fmt.Sprintf("it fell in %d steps, with rest between them, as no pump draws", n)
	}
	if told && u.fellAlone(i, *d) && n > stairFew && stepped >= explainedShare*fall && (fall-stepped)*per < t.Loads.MinLoad {
		return fmt.Sprintf("%.1f in of its %.1f in fell in %d steps, with rest between them, as no pump draws", stepped, fall, n)
	}
	if (told || ts.interval.changes < heldFew) && n >= stairFew-1 && stepped >= leapSome*fall { // so few changes show no gateway's beat
		d.doubt("%.1f in of its %.1f in fell in %d steps, with rest between them", stepped, fall, n)
	}
	atOnce, why := fellAtOnce(ts, t, d, fall)
	if why != "" {
		return why
	}
	seen, none := pumped(ts, t, *d, 1), damped(ts, t, d)
	handledSince, hands := handled(ts, t, *d)
	if !seen || atOnce >= leapSome*fall || hands || !spanned(ts, t, *d) && !ts.regained(t, *d, ts.last.t).partly(*d) {
		if since, ok := u.jumpedBack(i, ts, *d); ok {
			return fmt.Sprintf("the level jumped back to where it had been %s before it", spanText(d.start-since))
		}
	}
	if d.leaptAt <= ts.last.t && d.leaptTo-d.closing.level >= explainedShare*fall {
		off, made := d.leaptTo-d.opening.level, d.usualInflow*(d.leaptAt-d.start) // a full tank's well may be shut in
		if near := math.Max(backAgain, backShare*fall); !seen && (d.end > d.leaptAt-echoLong || off >= -near && off <= near+made) && !leftBetween(ts, *d, d.start) {
			return "the level was back at once" // a false echo that was believed, or a probe that was pulled, and reported as a step
		}
		if aliveWhereItWas(ts, *d) {
			return fmt.Sprintf("the level jumped back to where it had been before it, %s behind it", spanText(d.leaptAt-d.end))
		}
		d.doubt("level stepped up at once to %.2f in after its end", d.leaptTo)
	}
	if down := d.closing.level - d.leaptTo; d.leaptAt <= ts.last.t && down*t.Table.PerInch(d.closing.level) >= t.Loads.MinLoad && !d.proven(ts, t, d.leaptAt, down) {
		d.doubtGauge(&d.closing, down/2, "level stepped down at once by %.1f in %s after its end: the rest of it, if the sensor hung", down, spanText(d.leaptAt-d.end))
	}
	before := leaptBefore(ts, *d)
	if before > 0 && d.leaptAt <= ts.last.t && !seen && !leftBetween(ts, *d, handledSince) {
		return "the sensor jumped before it and after it, and no pump draws like that"
	}
	if said := fmt.Sprintf("sensor jumped %s before it", spanText(d.start-before)); before > 0 {
		d.note(!seen || d.start-before < restShort, said) // what rested since is a gauge, and a pump drew from it
	}
	l, ok := u.lifted(i, ts, *d)
	if !ok {
		return none
	}
	was := fmt.Sprintf("the level only came back to where it had been %s before it", spanText(d.start-l.since))
	switch {
	case d.opening.level > float64(t.Height) && !l.usual && l.bulge, l.jumped && (!seen || hands && l.since < handledSince), // no oil stands above the shell
		d.samples == 0 && l.exact && d.start-l.since < undoneFine && jumpedUp(ts, t, l.since-nodeEvery, d.start+nodeEvery) >= leapMost*fall:
		return was
	case l.usual && !(l.exact && l.bulge): // the well fills it so
		return none
	case l.usual, !l.jumped && seen && t.pumpRate(*d) >= fillRate && !decays(ts, *d): // a truck of what was brought there
	case l.bulge && (l.exact || l.fast) && (d.start-l.since < undoneFine || d.samples == 0 && d.gap < levelFar && l.exact && l.fast), // no oil comes and goes as quickly, to where it was
		!l.jumped && (decays(ts, *d) || l.bulge && (atOnce >= explainedShare*fall || l.exact && !seen && atOnce >= leapSome*fall)): // else it may have been oil that came, and a truck
		return was
	}
	d.doubts = append(d.doubts, was)
	return none
}

// fellAtOnce are the inches of a draw's fall that leaps made, and why it was no pump's, where they were most of it; what one may have made asks.
func fellAtOnce(ts *tankState, t *Tank, d *draw, fall float64) (inches float64, why string) {
	inches, pumps := leaps(ts, t, *d, fasterThan)
	quick, _ := leaps(ts, t, *d, quickTimes)
	quicker := quick < leapMost*fall && pumped(ts, t, *d, quickTimes) // two trucks at once, or a pump that nobody has reckoned with
	switch {
	case inches >= leapMost*fall && stoodSince(ts, *d):
		d.doubt("the value stood still since the draw before it, and fell by %.1f in at once: the rest of that, if the sensor hung", fall)
	case inches >= leapMost*fall && handedOn(ts, t, *d):
		d.doubt("it fell faster than max_rate, right behind a silence that was long enough for a truck: a gateway that hands on what it kept, or a sensor that moved")
	case inches >= leapMost*fall && pumps != 2 && !quicker || inches >= leapSome*fall && t.atEnd(d.closing.level) && !handedOn(ts, t, *d): // twice: it hung, and showed the oil when the truck had gone
		return inches, "it fell at once, faster than max_rate"
	case inches >= leapSome*fall:
		d.doubt("%.1f in of its %.1f in fell at once, faster than max_rate", inches, fall)
	}
	return inches, ""
}

// leftBetween says that the level lay at a draw's opening before somebody's hands or echoes were at the sensor, and lies at its closing behind that.
func leftBetween(ts *tankState, d draw, since float64) bool {
	near := math.Max(backAgain, backShare*d.fall())
	was, ok := ts.levels.known(since - nodeEvery)
	now := stats.Median(values(lastSamplesOf(ts.levels.recent, jumpedRest)))
	return ok && math.Abs(was-d.opening.level) <= near+d.usualInflow*(d.start-since) && math.Abs(now-d.closing.level) <= near+d.usualInflow*(ts.last.t-d.end)
}

// spanned says that behind a draw the level rested for minutes at its closing, and then stepped up once, between two readings, and stays there, as
// where somebody spans the sensor anew.
func spanned(ts *tankState, t *Tank, d draw) bool {
	b := ts.withoutEchoes(between(ts.levels.recent, d.end+settleShort, math.Inf(1)))
	for k := 1; k < len(b); k++ {
		if jumpedUp(ts, t, b[k-1].t, b[k].t) > 0 {
			return b[k-1].t-d.end >= hungLeast && rests(b[:k], d.closing.level, d.usualInflow) && rests(b[k:], float64(b[k].v), d.usualInflow)
		}
	}
	return true
}

// aliveWhereItWas says that the level stood dead behind a draw, jumped to where it had been before it, and has been at rest there since, alive: the sensor went
// astray for a while, and nothing left. Where it was alive behind the draw too, somebody spanned it anew, and a load that was seen is one.
func aliveWhereItWas(ts *tankState, d draw) bool {
	since := between(ts.levels.recent, d.leaptAt+settleShort, math.Inf(1))
	if dead := between(ts.levels.recent, d.end+settleShort, d.leaptAt); changesIn(dead) >= stepFew || len(since) < jumpedRest || since[len(since)-1].t-since[0].t < backAlive || changesIn(since) < stepFew {
		return false
	}
	exact := math.Max(backExact, backNoise*ts.noise.perSample())
	for _, s := range [][]sample{since[:jumpedRest], lastSamplesOf(since, jumpedRest)} {
		off, made := stats.Median(values(s))-d.opening.level, d.usualInflow*(s[0].t-d.start)
		if off < -exact || off > exact+1.5*made {
			return false
		}
	}
	return true
}

// stoodStill is where and for how many seconds a value stood still next to a draw, as this sensor never does, until it came free or was waited for no more; 0
// where it did not. It does not ask where the gauges are of the free sensor, and it hung for less than hides a truck or makes a ticket wrong.
func stoodStill(ts *tankState, t *Tank, d draw) (where string, long float64, asks bool) {
	free := ts.faults.unfrozeAt
	before := between(ts.levels.recent, d.start-undoneLong, math.Nextafter(free, 0))
	since, came := d.end+120, free
	if free-d.end >= t.Loads.Confirm.Seconds() { // what stood for so long may have come a poll later, and its time is rounded
		since, came = since+ts.interval.fresh(), free-1
	}
	through, left := stoodThrough(ts, d, math.Min(ts.last.t, d.next))
	switch after := between(ts.levels.recent, d.end+120, d.next); {
	case ts.standsSince(d, neverHeld) && ts.last.t >= ts.heldUntil(t):
		return itsClosing, ts.last.t - d.end, true
	case d.samples > 0 && free > d.end+hungLeast && free < d.next && firstTime(between(after, since, math.Inf(1)), free) >= came:
		b := between(ts.levels.recent, d.start-undoneLong, math.Nextafter(d.next, 0))
		if k := searchTime(b, free) - 1; k >= 0 && math.Abs(float64(b[k].v)-d.closing.level) > frozenOff {
			long = free - b[k].t
			on := len(after) > 0 && math.Abs(float64(after[0].v-b[k].v)) <= frozenOff && d.inflowAfter*long*t.Table.PerInch(d.closing.level) > wrongBbl(t.volume(d))
			return fmt.Sprintf("%.2f in, and not at its closing,", b[k].v), long, on || long >= t.Loads.Confirm.Seconds()
		}
		return itsClosing, free - d.end, true
	case through > 0 && left <= 0:
		return itsClosing, through, true
	case d.step < coarseLeast && ts.interval.stood(stoodFor(after), stuckHeld) || ts.diedAt(t, d, stoodFor(after)):
		return itsClosing, stoodFor(after), true
	case free > d.start-hungLeast && free < d.end && lastTime(before, free) < math.Min(free, d.start)-hungLeast:
		long = free - lastTime(before, free)
		return "its opening", long, long >= t.Loads.Confirm.Seconds() || d.inflowBefore*long*t.Table.PerInch(d.opening.level) > wrongBbl(t.volume(d))
	}
	return "", 0, false
}

// hungInto is since when a value stood still, as this sensor seldom does, until a draw was under way and it leapt down faster than the
// pump, or up onto the falling line, or as it never does though oil came, and how fast oil comes then, inches a second. 0: it did not.
func hungInto(ts *tankState, d draw) (since, made float64, leapt bool) {
	b, made, bit := ts.levels.recent, d.inflowBefore, d.step+restSigmas*ts.noise.perSample()
	last := searchTime(b, d.start) - 1
	if last < 0 || d.end <= d.start || last+1 == len(b) {
		return 0, 0, false
	}
	k := last
	for ; k > 0 && b[k-1].v >= b[k].v; k-- {
	}
	up := k > 0 && float64(b[k].v) > echoRise+math.Max(d.opening.level, float64(b[k-1].v)) && 2*float64(b[k].v-b[last].v) > d.slope()*(b[last].t-b[k].t) // and fell from there
	if up {
		last = k - 1
	}
	first, last := sameAs(b, last)
	for up && first > 0 && math.Abs(float64(b[first-1].v-b[last].v)) <= d.step+levelGrain { // a tape that hangs trembles by a step
		first--
	}
	stood := b[last].t - b[first].t
	next := b[min(last+1, len(b)-1)]
	leapt = up || float64(b[last].v-next.v) >= leapTimes*(d.slope()*math.Max(next.t-b[last].t, ts.interval.fresh()))+bit
	if !ts.interval.stood(stood, seldomHeld) || !leapt && !neverStands(ts, stood, d.step, made) {
		return 0, 0, false
	}
	if up {
		made = math.Max(made, ts.levels.roseBefore(b[first].t, stood))
	}
	return b[first].t, made, leapt
}

// neverStands says that a value that stood for some seconds did so as this sensor never does, though oil came in.
func neverStands(ts *tankState, stood, step, inflow float64) bool {
	return step < coarseLeast && ts.interval.stood(stood, neverHeld) && inflow*stood >= math.Max(hungRise, step+restSigmas*ts.noise.perSample())
}

// takeHung takes the opening of a draw until which a value stood still from where the inflow had carried the level meanwhile, if the value
// then leapt; else the well may have been shut in, and it is within the opening's error.
func takeHung(d *draw, since, made float64, leapt, asks bool) {
	long, unseen := d.start-since, made*(d.start-since)
	if !leapt {
		d.doubtGauge(&d.opening, unseen/2, "value stood still for %s until it was under way: a sensor that hung and did not see %.1f in flow in, or a well that was shut in", spanText(long), unseen)
		return
	}
	earlier := unseen / (d.slope() + made)
	d.start, d.opening.level, d.opening.err = d.start-earlier, d.opening.level+unseen, math.Hypot(d.opening.err, unseen/2)
	d.note(asks, fmt.Sprintf("value stood still for %s and then leapt: the opening is what flowed in since, %.1f in, above it", spanText(long), unseen))
}

// standsAtTop says that the newest readings before a load are one value, the most that the sensor ever showed, of one that has noise behind it:
// a level that rises into a blanking distance may have stood there only for minutes.
func standsAtTop(l *levels, sensor string, b, lively []sample) bool {
	if sensor == "float" || len(b) < atomFew || len(lively) < atomFew {
		return false
	}
	first, last := sameAs(b, len(b)-1)
	above := func(s sample) bool { return s.v > b[last].v }
	return last-first+1 >= atomFew && neighbourScatter(lively) > quietSteps*leastStep(b, lively) && !slices.ContainsFunc(b, above) && !slices.ContainsFunc(l.history, above)
}

// stoodSince says that the value stood still since the draw before, minutes at least, until this one.
func stoodSince(ts *tankState, d draw) bool {
	b := between(ts.levels.recent, math.Max(ts.lastDrawEnd+settleShort, d.start-undoneLong), d.start-1)
	return len(b) >= stepFew && d.start-ts.lastDrawEnd >= hungLeast && d.start-ts.lastDrawEnd <= undoneLong && changesIn(b) == 0
}

// lift is what had raised the level before a draw and was no oil.
type lift struct {
	since  float64 // when the level was where it is after the draw
	jumped bool    // it jumped since
	bulge  bool    // it rested then, rose faster than before and than after the draw
	exact  bool    // it is back there within the noise
	usual  bool    // it did not jump, and rises as fast at other times
	fast   bool    // it rose within minutes, faster than any well makes oil
}

// lifted is when, before a draw, the level was where it is after it, but for what the well made. Where it did not jump since, it was higher in between by the
// most of the fall. Of a sensor in somebody's hands it is where the level was before that, if it was. No other tank gave the oil.
func (u *update) lifted(i int, ts *tankState, d draw) (l lift, ok bool) {
	t := &u.site.tanks[i]
	per := t.Table.PerInch(d.opening.level)
	fall := d.fall()
	near := max(backAgain, backShare*fall, backNoise*ts.noise.perSample())
	handledSince, hands := handled(ts, t, d)
	if hands {
		near = math.Max(near, math.Min((1-explainedShare)*fall, handledNear))
	}
	after := []point{{d.end, d.closing.level}}
	if last := ts.levels.recent[max(0, len(ts.levels.recent)-stepFew):]; hands || d.next > ts.last.t {
		after = append(after, point{ts.last.t, stats.Median(values(last))})
	}
	was := ts.levels.before(d.start)
	for n, r := range was {
		if cameBy(was, n, near) {
			continue
		}
		inflow := d.usualInflow // unless what lifted the level was taken for it
		if before, seen := ts.levels.meanSlope(r.t, inflowLongest, per, math.Inf(1)); seen >= inflowShort/2 {
			inflow = stats.Clamp(before, 0, inflowMost)
		}
		jumped := ts.faults.jumpedAt > r.t || leapt(ts, t, u.site.speed, r.t, d.start, explainedShare*fall)
		if high := d.opening.level-r.v-inflow*(d.start-r.t) >= explainedShare*fall; !high && !(jumped && r.t > d.start-undoneJunk) {
			continue
		}
		for k, a := range after {
			made := inflow * (a.t - r.t)
			if off := a.v - r.v - made; off > near+made/2 || -off > math.Min(near+made/2, fall/2) || !jumped && k > 0 && a.v > d.closing.level {
				continue
			}
			if u.othersLost(i, r.t, a.t) >= explainedShare*fall*per || jumped && !restedAt(ts, was, n, near, inflow) {
				continue
			}
			exact := math.Abs(a.v-r.v-made/2) <= made/2+math.Max(backExact, backNoise*ts.noise.perSample())
			foot := lift{since: r.t, jumped: jumped, bulge: bulged(ts, d, r), exact: exact}
			rose, rate := d.opening.level-r.v, (d.opening.level-r.v)/math.Max(d.start-r.t, nodeEvery)
			if quick := ts.levels.mostRisen(r.t, d.start, ranLong); quick >= explainedShare*rose { // a step that comes again and again is no well
				rate = math.Max(rate, quick/ranLong)
			}
			foot.fast = rate*per*60 >= cameFaster*fillRate || t.cameFast(between(ts.levels.recent, r.t-nodeEvery, d.start), fall) >= 0
			foot.usual = !jumped && ts.levels.roseAlike(r.t, d.end, rate)
			among := hands && l.since >= handledSince
			if !ok || foot.bulge && !jumped || exact && !l.exact || among && r.t < handledSince { // what it rose from, and not where it came by, or was in somebody's hands
				l, ok = foot, true
			}
			if (l.jumped || l.bulge) && !(hands && l.since >= handledSince) {
				return l, true
			}
		}
	}
	return l, ok
}

// bulged says that the level rested before a point at which something began to lift it, and rests again after a draw: what had come
// came no more, and was no well that had begun to flow.
func bulged(ts *tankState, d draw, foot point) bool {
	rose := (d.opening.level - foot.v) / math.Max(d.start-foot.t, nodeEvery)
	before, ok1 := ts.levels.known(foot.t - bulgeRest)
	behind, ok2 := ts.levels.known(math.Min(d.end+bulgeRest/2, ts.last.t-bulgeRest/2))
	now, ok3 := ts.levels.known(ts.last.t)
	long := ts.last.t - math.Min(d.end+bulgeRest/2, ts.last.t-bulgeRest/2)
	return ok1 && ok2 && ok3 && foot.v-before < rose/2*bulgeRest && now-behind < rose/2*long
}

// before are the levels of the hours before a time, the newest first.
func (l *levels) before(at float64) (out []point) {
	n := nodes(between(l.recent, at-undoneFine, at-nodeEvery), nodeEvery)
	for k := len(n) - 1; k >= 0; k-- {
		out = append(out, n[k])
	}
	for k := searchTime(l.history, at-undoneFine) - 1; k >= 0 && l.history[k].t >= at-undoneLong; k-- {
		out = append(out, point{l.history[k].t, float64(l.history[k].v)})
	}
	return out
}

// leapt says that between two times the level rose by so many inches faster than oil does.
func leapt(ts *tankState, t *Tank, speed, from, to, inches float64) bool {
	b := between(ts.levels.recent, from, to)
	for k := 1; k < len(b); k++ {
		dt := b[k].t - b[k-1].t
		if dt < ts.interval.gapMin(t, speed) && float64(b[k].v-b[k-1].v) > math.Max(inches, t.maxRate(float64(b[k].v))*dt) {
			return true
		}
	}
	return false
}

// pumped says that a draw looks like a pump's work: readings while it lasted, each a little lower, as fast as a pump and
// evenly so, and rest behind them; times is how much faster than max_rate it may be.
func pumped(ts *tankState, t *Tank, d draw, times float64) bool {
	b := between(ts.levels.recent, d.start, d.end)
	fall := d.fall()
	if d.underWay(b) < pumpedFew || d.end-d.start < pumpedLeast || t.pumpRate(d) > times*t.Loads.MaxRate {
		return false
	}
	back := 0.0
	for k := 1; k < len(b); k++ {
		by := float64(b[k-1].v - b[k].v)
		if by > math.Max(pumpedLeap*fall, times*t.maxRate(float64(b[k].v))*(b[k].t-b[k-1].t)+ts.noiseFloor(t)) {
			return false
		}
		back += math.Max(0, -by-3*ts.noise.sigma)
	}
	return back <= pumpedBack*fall && !decays(ts, d) && restsQuietly(ts, d)
}

// restsQuietly says that the level lies as still after a draw as before it: a probe in somebody's hand does not.
func restsQuietly(ts *tankState, d draw) bool {
	after, still := between(ts.levels.recent, d.end+restNear, d.next), ts.noise.perSample()
	if before := between(ts.levels.recent, d.start-undoneFine, d.start-nodeEvery); len(before) > stepFew {
		still = math.Max(still, neighbourScatter(before))
	}
	return len(after) > stepFew && neighbourScatter(after) <= quietTimes*still || // what tells only changes tells few at rest
		len(after) <= stepFew && ts.interval.fresh() >= seldomRead && rests(after, d.closing.level, d.usualInflow)
}

// onlyBack says that behind a time a tank stands just as high as the highest that it was within the hour before: what was let off, or lifted, came
// back, and nobody's oil.
func onlyBack(ts *tankState, from, to float64) bool {
	is, seen := ts.levels.about(math.Min(to, ts.last.t))
	b := between(ts.levels.recent, from-returnedWithin, from)
	return seen && len(b) > 0 && math.Abs(float64(b[highest(b)].v)-is) <= backExact+backNoise*ts.noise.perSample()
}
