package tank

import (
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	stepFew    = 3      // readings that agree before a jump is believed
	stepInDraw = 5      // times as long in a draw, and where one value stands
	stuckWait  = 60.0   // s that a jump from a frozen value has to stay
	spikeWorth = 8.0    // in; a smaller jump that comes back is slosh
	endMargin  = 0.5    // in from the bottom and the top of the tank, where no level comes to at once
	loadLine   = 4.0    // in above the bottom of the tank, below which none draws: the bottoms lie under it
	pumpStood  = 120.0  // s; the least that a value stands still while oil was leaving, to be stuck
	quickTimes = 2.0    // times max_rate of a fall that is a load all the same, in doubt, where its readings show it on its way
	leapTimes  = 1.25   // so many times as far as the pump draws
	pumpUsual  = 10.0   // bbl/min that few pumps draw more of
	heldNoise  = 0.02   // in; a quieter sensor may stand still for hours, but where its noise moves each of its digits
	heldDigits = 2.0    // digits that noise as wide moves at every reading
	junkLong   = 2700.0 // s for which a sensor may show something else while a pump draws
	junkTimes  = 1.2    // times the pump's rate that the level may have fallen meanwhile
	fallLately = 150.0  // s of a fall that show its rate
	fallWindow = 240.0  // s of a fall that say where the level would be now
	fallFew    = 12     // readings that do
	fasterThan = 1.1    // times max_rate
	jumpLeast  = 2.0    // in
	hungBit    = 0.25   // in within which an echo lies that hangs in a draw,
	hungNoise  = 5.0    // and times the noise
	hungOff    = 0.15   // share of what the pump drew meanwhile by which it comes free elsewhere
)

// frozen says that the newest value has stood still for too long to be alive.
func (ts *tankState) frozen(t *Tank, now float64) bool {
	age := now - ts.heldSince
	switch {
	case age < ts.stuckAfter(t):
		return false
	case ts.stoppedLeaving(): // how long it stands at rest says nothing, nor what was not believed since
		stood := ts.last.t - ts.heldSince
		return stood >= ts.stuckAfter(t) && stood > 4*ts.interval.fresh()
	}
	return ts.interval.stood(age, neverHeld)
}

// stoppedLeaving says that the value stands still since oil was leaving.
func (ts *tankState) stoppedLeaving() bool {
	return ts.drawing && ts.heldSince < ts.lastFallAt+joinWithin && ts.heldSince > ts.searchFrom
}

// stuckAfter is the time in seconds that a value must have stood for a jump from it to say that it was stuck:
// not as long where it stopped while oil was leaving.
func (ts *tankState) stuckAfter(t *Tank) float64 {
	least := t.Loads.StuckJump.Seconds()
	if ts.stoppedLeaving() {
		return math.Max(pumpStood, least/20)
	}
	return least
}

// sinksOn says that a value below the bottom goes on from a level that falls, or from one as low: the sensor's zero is off, and what leaves
// under it is a load all the same.
func (ts *tankState) sinksOn(t *Tank, now, x float64) bool {
	falls := ts.last.v < lowestLevel || ts.drawing && !ts.silent(now)
	return falls && x < lowestLevel && x >= -belowBottom && math.Abs(x-ts.last.v) <= ts.reach(t, now)
}

// fellTwice says that a level which was not believed and the next one lie on one falling line from the last that was, faster than max_rate.
func (ts *tankState) fellTwice(t *Tank, p, to point) bool {
	first, then := (ts.last.v-p.v)/(p.t-ts.last.t), (p.v-to.v)/(to.t-p.t)
	fast, slow := math.Max(first, then), math.Min(first, then)
	return fast <= quickTimes*t.maxRate(to.v) && slow >= fast/2 && (fast-slow)*(to.t-p.t) <= ts.noiseFloor(t)
}

// assess decides about a possible value x at a time.
func (ts *tankState) assess(t *Tank, now, x float64) acceptance {
	if !ts.seen {
		return accepted
	}
	ts.forgetJunk(t, now, x)
	p := ts.pending
	off := math.Abs(x - ts.last.v)
	near := off <= ts.reach(t, now)
	agree := func(p point) bool { return math.Abs(x-p.v) <= t.maxRate(x)*(now-p.t)+ts.noiseFloor(t) }
	joins := p.count > 0 && agree(p.last) && !(p.last.v < ts.last.v && ts.risesAlone(t, p.last, point{now, x}))
	leapt := joins && math.Abs(p.first.v-ts.last.v) > ts.reach(t, p.first.t)
	if leapt && p.distinct == 1 && x == p.last.v {
		near = false // one value that could not be at first is no likelier for standing there
	}
	if near && !joins && (off > t.maxRate(x)*singleReading+ts.noiseFloor(t) && (ts.silent(now) || t.atEnd(x)) || ts.risesAlone(t, ts.last, point{now, x})) {
		near = false // after a silence, or at an end of the tank, a far value has to stay for longer than an echo does
	}
	if near && joins && (ts.silent(p.first.t) || t.atEnd(p.first.v) && !leapt || off >= math.Abs(x-p.last.v) && ts.risesAlone(t, ts.last, p.first)) {
		was := slices.Max(append(values(lastSamplesOf(ts.levels.recent, stepFew)), ts.last.v)) // to which it only comes back
		stands := math.Abs(x-p.first.v) < ts.noiseFloor(t) && math.Abs(p.first.v-was) > ts.noiseFloor(t) && ts.risesAlone(t, point{ts.heldSince, ts.last.v}, p.first)
		return ts.outlastsEcho(now, x, stands)
	}
	if near && (!joins || p.slight && !ts.frozen(t, p.first.t) || off < math.Abs(x-p.last.v)) {
		if stairs := p.stairsDown(ts.last.v, x); !joins && len(stairs) > 0 {
			ts.pending = pending{first: point{now, x}, stairs: stairs}
			return resumed
		}
		if p.count > 0 && math.Abs(p.first.v-ts.last.v) > spikeWorth {
			ts.faults.spikes.add(p.first.t, p.first.v)
		}
		if leapt {
			return resumed // at the instant at which it leapt, not as slowly as it was believed
		}
		ts.pending = pending{}
		return accepted
	}
	if p.count > 0 && p.count < stepFew && ts.fellTwice(t, p.last, point{now, x}) {
		ts.pending.first = p.last
		return resumed
	}
	at := point{now, x}
	begun := func(at point) pending {
		return pending{count: 1, distinct: 1, first: at, last: at, slight: math.Abs(at.v-ts.last.v) < 2*ts.reach(t, at.t), before: p.shown(), stairs: p.stairsDown(ts.last.v, at.v)}
	}
	if !joins && p.count >= stepFew-1 && p.strayed.t == 0 {
		ts.pending.strayed = at // one echo among readings that agree
		return refused
	}
	if s := p.strayed; !joins && s.t > 0 && agree(s) {
		p = begun(s)
	} else if !joins {
		ts.pending = begun(at)
		return refused
	}
	p.count, p.strayed = p.count+1, point{}
	if x != p.last.v {
		p.distinct++
	}
	p.last = at
	ts.pending = p
	if p.count >= stepFew && ts.bin.n == 1 && len(ts.levels.recent) == 0 && !t.atEnd(x) {
		return firstAstray
	}
	return ts.pendingIsTrue(t)
}

// forgetJunk forgets what was pending when a silence began and could not have come from the level before it: a spike, or a few readings of a dying transmitter.
// It stays where the level behind the silence is still there, or as much higher as the well made.
func (ts *tankState) forgetJunk(t *Tank, now, x float64) {
	p := ts.pending
	long, off := now-p.last.t, x-p.last.v
	if p.count == 0 || long <= ts.silence() || math.Abs(p.first.v-ts.last.v) <= ts.reach(t, p.first.t) && !ts.risesAlone(t, ts.last, p.first) {
		return
	}
	if least := ts.noiseFloor(t); off < -least || off > least+ts.inflow(t, ts.last.t).usual*long {
		ts.faults.spikes.add(p.first.t, p.first.v)
		ts.pending = pending{before: p.shown()}
	}
}

// risesAlone says that a reading lies higher than one of minutes before by more than oil comes in the time: of readings so far apart one is
// all that a false echo shows, from or to which the level would seem to move at once.
func (ts *tankState) risesAlone(t *Tank, from, to point) bool {
	dt := to.t - from.t
	return dt > echoLong && t.barrels(to.v, from.v) > fillRate/60*dt+ts.noiseFloor(t)*t.Table.PerInch(to.v)
}

// raised says that what is pending lies above a value that stands since oil left, by more than flowed in meanwhile: a sensor that hung
// in a draw comes down.
func (ts *tankState) raised(t *Tank) bool {
	p := ts.pending
	return ts.drawing && ts.heldSince > ts.searchFrom && p.first.v-ts.last.v > inflowMost*(p.first.t-ts.heldSince)+ts.noiseFloor(t)
}

// hung says that the value stood as this sensor's never do, and that what is pending is what a truck leaves: it falls as under a pump that
// began meanwhile, or lies lower by as much as one takes in this time.
func (ts *tankState) hung(t *Tank) bool {
	p, stood := ts.pending, ts.last.t-ts.heldSince
	unknown := ts.interval.changes < heldFew && stood >= t.Loads.StuckJump.Seconds() // how long its values stand
	if ts.drawing || !unknown && !ts.interval.stood(stood, seldomHeld) {
		return false
	}
	fell, long := p.first.v-p.last.v, p.last.t-p.first.t
	down, over := ts.last.v-p.first.v, p.first.t-ts.heldSince
	per := t.Table.PerInch(p.last.v)
	pumped := fell >= ts.noise.leastFall() && fell >= t.Loads.MinRate/60/per*long && down > 0 && down*long <= fell*over
	never := ts.noise.sigmaAtChange >= heldNoise && ts.interval.stood(stood, neverHeld) && stood >= t.Loads.GapMin.Seconds()
	return pumped || never && t.hidTruck(point{ts.heldSince, ts.last.v}, p.first) || ts.missedSteps(t, p.first)
}

// astraySince says that a sensor which had jumped up, or down, has come back lower than it was before by a load at least, and that no draw was
// seen between: it saw nothing meanwhile, as a radar with ice on its antenna, or showed the water below the oil. It gives the last level before.
func (ts *tankState) astraySince(t *Tank, to point) (since point, ok bool) {
	jumped, rises := ts.faults.jumpedUpAt, to.v > ts.last.v
	if rises {
		jumped = ts.faults.jumpedAt
	}
	if k := searchTime(ts.levels.history, jumped) - 1; jumped > 0 && k >= 0 {
		since = point{ts.levels.history[k].t, float64(ts.levels.history[k].v)}
	}
	over := to.t - since.t
	if ts.drawing || since.t == 0 || ts.lastDrawEnd > since.t || !rises && ts.last.v <= since.v || jumped-since.t > 2*historyEvery || over > t.Loads.MaxGapTicket.Seconds() {
		return since, false
	}
	left := t.barrels(since.v, to.v)
	return since, left >= t.Loads.MinLoad && left <= t.Loads.MaxRate/60*over
}

// leftUnseen are the barrels that a level which stepped down lies below where it was, or below where it had been before it jumped up.
func (ts *tankState) leftUnseen(t *Tank, to point) float64 {
	from := ts.last.v
	if was, _ := ts.astraySince(t, to); was.t > 0 && to.t-was.t <= t.Loads.MaxGapTicket.Seconds() {
		from = math.Min(from, was.v)
	}
	return t.barrels(from, to.v)
}

// pendingIsTrue decides whether the pending readings have stayed long enough to be the truth.
func (ts *tankState) pendingIsTrue(t *Tank) acceptance {
	p := ts.pending
	stayed := p.last.t - p.first.t
	if ts.fellAsHeld(t) {
		return resumed
	}
	if p.count < stepFew || !ts.sensorWorks(t, stayed) {
		return refused
	}
	if (ts.frozen(t, p.first.t) || ts.hung(t)) && !ts.raised(t) && stayed >= stuckWait {
		return unfrozen
	}
	if _, hung := ts.hungInDraw(t); hung || stayed >= ts.stepHold(t) {
		return respanned
	}
	return refused
}

// hungInDraw says that what is pending falls on, as fast as before the level came to rest in a draw, from where that fall would have brought it: an echo or a
// float hung there while the pump drew on. k is the first sample that rests. A truck that pauses, or a new span, does not meet that line.
func (ts *tankState) hungInDraw(t *Tank) (k int, ok bool) {
	p, b := ts.pending, ts.levels.recent
	fell, on := p.first.v-p.last.v, p.last.t-p.first.t
	if fell < ts.noise.leastFall() || !ts.drawing || p.first.v >= ts.last.v {
		return 0, false
	}
	if k = searchTime(b, p.first.t-singleReading); k == len(b) {
		return 0, false
	}
	bit := math.Max(hungBit, hungNoise*ts.noise.perSample())
	for rest := stats.Median(values(b[k:])); k > 0 && float64(b[k-1].v) < rest+bit && b[k-1].t > p.first.t-junkLong; k-- {
	}
	lately := math.Max(fallLately, fallFew*ts.interval.fresh())
	fall, pumped := t.pumpLine(between(b, b[k].t-lately, b[k].t), p.first.v)
	long := p.first.t - b[k].t
	if !pumped || long < singleReading {
		return 0, false
	}
	off := math.Abs(p.first.v - fall.at(p.first.t))
	return k, off <= hungOff*-fall.slope*long+ts.noise.leastFall() && math.Abs(fell+fall.slope*on) <= -fall.slope*on/2
}

// pumpLine is the line of some samples, and whether it falls as fast as a pump draws at a level.
func (t *Tank) pumpLine(b []sample, level float64) (fall line, ok bool) {
	fall, ok = fit(sinceLeap(b))
	return fall, ok && -fall.slope >= t.Loads.MinRate/60/t.Table.PerInch(level) && -fall.slope <= fasterThan*t.maxRate(level)
}

// fellBehindJunk says that a level fell as under a pump until its sensor showed something else, as while somebody tests the loop, and
// came back lower, but no lower than the pump takes it; k is the last sample of the fall that was seen.
func fellBehindJunk(b []sample, t *Tank, to point, least float64) (k int, ok bool) {
	lo := searchTime(b, to.t-junkLong)
	if k = lo; len(b)-lo < 2*stepFew {
		return 0, false
	}
	for n := lo; n < len(b); n++ {
		if b[n].v <= b[k].v {
			k = n
		}
	}
	leap := newestLeap(b)
	if leap > lo && float64(b[leap].v) < math.Min(float64(b[leap-1].v), to.v)-jumpLeast {
		k = leap - 1 // it jumped down, and is back
	}
	fall, pumped := t.pumpLine(between(b, b[k].t-fallLately, math.Nextafter(b[k].t, math.Inf(1))), float64(b[k].v))
	if rested := k+1 < len(b) && k+1 != leap && float64(b[k+1].v-b[k].v) < jumpLeast; !pumped || rested {
		return 0, false
	}
	down, long := float64(b[k].v)-to.v, to.t-b[k].t
	return k, down > least && long > singleReading && down <= junkTimes*-fall.slope*long+least
}

// stepHold is the time in seconds that a jump has to stay to be a re-span. In the middle of a draw foam and
// waves are likelier than a technician, unless the draw goes on at the new span.
func (ts *tankState) stepHold(t *Tank) float64 {
	p := ts.pending
	hold := math.Max(t.Loads.StepHold.Seconds(), echoPolls*math.Min(ts.interval.usual, p.apart()))
	if ts.drawing && p.first.t-ts.lastFallAt < fallWindow && !ts.fallsOn(t, p.last.t, p.last.v) {
		return math.Max(stepInDraw*t.Loads.StepHold.Seconds(), hold)
	}
	return hold
}

// atEnd says that a level lies at the bottom or the top of the tank.
func (t *Tank) atEnd(x float64) bool { return x < endMargin || x > float64(t.Height)-endMargin }

// sensorWorks says that what is pending can come from a sensor that works. A dead transmitter or a lost float shows one value, mostly at an end of the tank, to
// which nobody spans: there it is a gap, elsewhere it is believed if this sensor's values stand as long.
func (ts *tankState) sensorWorks(t *Tank, stayed float64) bool {
	if t.atEnd(ts.pending.last.v) {
		f, p := ts.faults, ts.pending
		was, ok := ts.levels.known(f.handledAt - singleReading)
		if ok && f.handledAt > 0 && p.first.t-f.jumpedAt < jumpLately && p.distinct >= stepFew && math.Abs(p.first.v-was) <= handledNear {
			return true // it is back where it was before somebody took it
		}
		return stayed >= t.Loads.MaxGapTicket.Seconds()
	}
	if ts.pending.distinct >= stepFew {
		return true
	}
	least := stepInDraw * t.Loads.StepHold.Seconds()
	if ts.interval.changes >= heldFew {
		least = math.Max(least, math.Min(stuckHeld*ts.interval.stays(), t.Loads.Stuck.Seconds()))
	}
	return stayed >= least
}

// stoodTooLong says that a value stood still so much longer than this sensor's values do that it
// was stuck, whatever comes next.
func (ts *tankState) stoodTooLong(t *Tank, now float64) bool {
	age := now - ts.heldSince
	return ts.noise.sigmaAtChange >= heldNoise && age >= ts.stuckAfter(t) && ts.interval.stood(age, stuckHeld) && now-ts.last.t < age/10
}

// stands says that the value has stood for so long by now, and still does.
func (ts *tankState) stands(t *Tank) bool {
	return ts.seen && ts.last.t-ts.heldSince >= t.Loads.Stuck.Seconds() && ts.stoodTooLong(t, ts.last.t)
}

// diedAt says that a value which noise moves at rest stands still for as long behind a draw as a sensor that is stuck, and did not before it: a well that is shut
// in moves no level, but stills no noise.
func (ts *tankState) diedAt(t *Tank, d draw, stood float64) bool {
	before := between(ts.levels.recent, d.start-undoneFine, d.start-singleReading)
	alive := len(before) > stepFew && 2*changesIn(before) > len(before)
	return alive && d.step < coarseLeast && d.deadband == 0 && stood >= t.Loads.StuckJump.Seconds() && ts.interval.stood(stood, neverHeld)
}

// movedOneStep says that a value is the next one of a sensor that speaks in steps, which stands for hours in a tank that hardly fills.
func (ts *tankState) movedOneStep(now, x float64) bool {
	return math.Abs(x-ts.last.v) < 1.5*ts.levels.resolutionAt(now, now).step
}

// drawnFrom says that a value which stood lies lower by what a pump took since the reading before: the tank was idle, and a truck begins.
// A sensor that was stuck comes to where the level is by now.
func (ts *tankState) drawnFrom(t *Tank, now, x float64) bool {
	return x < ts.last.v && t.barrels(ts.last.v, x) <= pumpUsual/60*math.Max(now-ts.last.t, ts.interval.fresh())
}

// fallsOn says that a level which jumped to x was falling as in a draw before the jump and
// falls on after it: a truck is loading while somebody spans the transmitter.
func (ts *tankState) fallsOn(t *Tank, now, x float64) bool {
	p := ts.pending
	l, ok := fit(sinceLeap(between(ts.levels.recent, p.first.t-fallWindow, p.first.t)))
	if !ok || !ts.drawing || p.first.t-ts.lastFallAt > fallWindow {
		return false
	}
	least := 0.8 * t.Loads.MinRate / t.Table.PerInch(ts.last.v) / 60
	after := (p.first.v - x) / math.Max(now-p.first.t, 1)
	return -l.slope >= least && after >= math.Max(least, -l.slope/3)
}

// stuckBetween says that the value stood still from one draw, as this sensor's do not, until it came down at once, faster than the pump had
// drawn: it hung while the truck went on. A float that reports only changes is silent while it hangs, and told of the first draw step by step.
func (ts *tankState) stuckBetween(t *Tank, a, b draw) bool {
	rest, most, gap, stood := between(ts.levels.recent, a.end, b.start), t.Loads.TruckMax, b.gap, b.start-a.end
	through, left := stoodThrough(ts, a, math.Nextafter(b.start, 0))
	hung := through > 0 && left == 0
	switch each := (a.end - a.start) / float64(max(1, a.samples)); {
	case hung && a.deadband > 0, t.Sensor == "float" && gap >= seldomHeld*each && ts.interval.changes >= heldFew && stood >= math.Max(hungLeast, neverHeld*ts.interval.stays()):
		gap = each
	case !hung && (len(rest) < stepFew || !ts.interval.stood(stood, seldomHeld)):
		return false
	}
	if b.samples > 0 || stood > t.Loads.Stuck.Seconds() || b.fall() < leapTimes*a.slope()*gap+b.step+restSigmas*ts.noise.perSample() || most > 0 && t.volume(a)+t.volume(b) > most {
		return false
	}
	return hung || changesIn(rest) == 0
}

// seenAgain says that the newest two samples, with a long silence between them, show the same level behind a draw: one that reports only
// changes had none to report.
func (ts *tankState) seenAgain(d draw, off float64) bool {
	n := len(ts.levels.recent)
	if n < 2 {
		return false
	}
	a, b := ts.levels.recent[n-2], ts.levels.recent[n-1]
	return a.t >= d.end-singleReading && b.t < d.leaptAt && b.t-a.t >= levelFar && math.Abs(float64(a.v-b.v)) < off && float64(b.v)-d.endLine.at(b.t) >= off
}
