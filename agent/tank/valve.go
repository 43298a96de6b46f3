package tank

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

// The contact on the load valve says when a load began and ended, and what is one load. It may
// chatter, stick, be wired the wrong way round or die: what it says counts only where oil left
// while it was open. Whether anything left is the level's to say, always.

const (
	valveFar    = 1800.0 // s between a contact and the flow that it is about
	valveSlack  = 120.0  // s by which the level may see a start too early, or an end too late
	valveBounce = 60.0   // s; a contact that closes for less chatters
	valveShare  = 0.8    // of a draw that lies in one opening
	filterLong  = 600.0  // s that a step takes through a sensor's damping
	hatchStill  = 120.0  // s that a level lies still between a hatch and the load
	hatchLong   = 1500.0 // s from a hatch to the load
	hatchFaster = 1.5    // times faster than the pump that a hatch has to be which lets the reading fall by more than the usual
	hatchMost   = 16.0   // in of oil, which a relief of 8 oz holds
	hatchBack   = 0.4    // share of what an opened hatch lets the reading fall that comes back when it is shut,
	hatchAll    = 1.2    // and no more
	replayTimes = 10.0   // times faster than they came that a gateway tells the values that it had kept
	stepsMissed = 3.0    // steps that a well makes while a value stands that hung
	waitsMost   = 3600.0 // s that a truck waits for a hose, or a call
	partLoad    = 0.55   // of what a truck holds, that is a part of its load
	pumpAlike   = 1.08   // times another's rate, at which it may be the same pump
)

// openings are the times over which the load valve was open, without its chatter; to is +Inf where it still is.
func (x *auxiliary) openings() []span {
	var out []span
	for _, p := range x.values[valveAt] {
		n := len(out)
		switch {
		case p.v == 0:
			if n > 0 {
				out[n-1].to = p.t
			}
		case n > 0 && p.t-out[n-1].to < valveBounce:
			out[n-1].to = math.Inf(1)
		default:
			out = append(out, span{p.t, math.Inf(1)})
		}
	}
	return out
}

// openingOf is the opening that the greater part of a draw lies in, and whether there is one.
func (x *auxiliary) openingOf(t *Tank, d draw) (span, bool) {
	if !t.Valve || t.Group != "" {
		return span{}, false
	}
	for _, o := range x.openings() {
		in := math.Min(o.to, d.end) - math.Max(o.from, d.start)
		if in >= valveShare*(d.end-d.start) {
			return o, true
		}
	}
	return span{}, false
}

// oneOpening says whether the valve was open from one draw to the next, so that they are one load, or shut between them for so long that they are two; sure is
// false where the contact tells neither.
func (x *auxiliary) oneOpening(t *Tank, a, b draw) (one, sure bool) {
	first, ok1 := x.openingOf(t, a)
	second, ok2 := x.openingOf(t, b)
	switch {
	case !ok1 || !ok2:
		return false, false
	case first != second:
		return false, second.from-first.to >= pauseSure
	}
	shut := first.to-b.end < valveFar || math.IsInf(first.to, 1) && b.start-a.end < valveFar
	most := t.Loads.TruckMax
	one = shut && a.start-first.from < valveFar && (most == 0 || t.volume(a)+t.volume(b) <= most)
	return one, one
}

// startAndEndByValve gives a draw the instants at which the load valve was opened and closed. Where the
// level saw the flow a little outside of them the gauges stay. One that was open over a load before and stays shut asks.
func (ts *tankState) startAndEndByValve(t *Tank, d *draw) {
	first, last := *d, *d
	if d.parts > 1 { // the valve may have been shut in a pause
		first.end, last.start = math.Min(d.end, d.start+valveSlack), math.Max(d.start, d.end-valveSlack)
	}
	if o, ok := ts.aux.openingOf(t, first); ok && d.start-o.from < valveFar && o.from-d.start < valveSlack {
		d.setByValve = true
		if o.from < d.start {
			ts.moveStart(t, d, math.Inf(-1), o.from)
		}
		d.start = math.Min(o.from, d.end)
	}
	if o, ok := ts.aux.openingOf(t, last); ok && d.end-o.to < valveSlack && o.to-d.end < valveFar {
		d.setByValve = true
		if o.to > d.end {
			ts.moveEnd(t, d, o.to)
		}
		d.end = math.Max(o.to, d.start)
	}
	followed := func(l reportedLoad) bool { _, ok := ts.aux.openingOf(t, draw{start: l.start, end: l.end}); return ok }
	open := func(o span) bool { return o.from < d.end+valveSlack && o.to > d.start-valveSlack }
	if slices.ContainsFunc(ts.reports.loads, followed) && !slices.ContainsFunc(ts.aux.openings(), open) {
		d.doubt("the load valve's contact was open over a load before, and stayed shut over this one: the oil left another way, or the contact broke")
	}
}

// takeHatch takes off a draw what a pressure sensor, or a current loop that may carry one, felt go when a hatch was opened before it, and gives
// whether what left minutes before the rest came back as where it is shut again.
func takeHatch(ts *tankState, t *Tank, d *draw, now float64) (shut bool) {
	if !t.feelsGas() {
		return false
	}
	start := startAfterHatch
	if ts.interval.fresh() >= hatchStill {
		start = startAfterSeldom
	}
	d.hatch = start(ts, t, d, now)
	return shutAgain(ts, t, *d, d.early/t.Table.PerInch(d.opening.level), d.start, now)
}

// startAfterHatch moves the start of a draw behind a hatch that was opened minutes before it: a pressure sensor feels the vapour go as a step, after which its
// level lies still until the pump starts. What is read with it open is compared with the same after the load. It gives the step in inches; 0: none.
func startAfterHatch(ts *tankState, t *Tank, d *draw, now float64) float64 {
	quick, still := math.Max(30, 2.2*ts.interval.fresh()), math.Max(hatchStill, 2.5*ts.interval.fresh())
	b := between(ts.levels.recent, d.start-quick, math.Min(d.end, d.start+hatchLong))
	slack := math.Max(0.15, 3*ts.noise.sigma)
	for k := 1; k < len(b); k++ {
		rest := between(b[k:], b[k].t, b[k].t+still)
		if rest[len(rest)-1].t-b[k].t < still/2 {
			return 0
		}
		low, at := stats.Median(values(rest)), k-1
		for at > 0 && float64(b[at].v) < d.opening.level-slack {
			at--
		}
		step, took, since := d.opening.level-low, b[k].t-b[at].t, b[k].t
		made := d.inflowBefore / 2 * (rest[len(rest)-1].t - since)
		if step > hatchMost {
			return 0
		}
		if step < math.Max(hatchLeast, 2*slack) || took > 2*quick || math.Abs(float64(rest[len(rest)-1].v)-low-made) > slack || math.Abs(float64(b[k].v)-low+made) > slack ||
			slices.ContainsFunc(rest, func(s sample) bool { return math.Abs(float64(s.v)-low) > math.Max(slack, step/2) }) { // waves come with the pump
			continue
		}
		for k += len(rest); k < len(b) && float64(b[k].v) > low-slack; k++ {
			if float64(b[k].v) > d.opening.level-slack { // the hatch was shut again
				low, step = d.opening.level, 0
			}
		}
		if pump := (low - d.closing.level) / (d.end - b[k-1].t); (step > hatchUsual || took > quick) && step < hatchFaster*pump*took || (b[k-1].t-since <= pauseSure || t.Sensor != "hydrostatic") && !shutAgain(ts, t, *d, step, b[at].t, now) {
			return 0
		}
		ts.moveStart(t, d, since, b[k-1].t)
		return step
	}
	return 0
}

// startAfterSeldom is startAfterHatch where readings are minutes apart: the falling line comes down to what was read with the hatch open only a
// while after that. Where it may have come there at once the error holds the step.
func startAfterSeldom(ts *tankState, t *Tank, d *draw, now float64) float64 {
	each, slack := ts.interval.fresh(), math.Max(0.15, 3*ts.noise.sigma)
	b, k := between(ts.levels.recent, d.start-2.2*each, math.Min(d.end, d.start+math.Max(hatchLong, 3*each))), 0
	for k < len(b) && float64(b[k].v) > d.opening.level-math.Max(hatchLeast, 2*slack) {
		k++
	}
	if k == 0 || k == len(b) {
		return 0
	}
	was, open, step := b[k-1].t, b[k].t, d.opening.level-float64(b[k].v)
	before := between(ts.levels.recent, math.Min(was, d.start-hatchLong), open)
	if step > hatchUsual || float64(before[highest(before)].v)-d.opening.level > hatchBack*step { // it was opened before
		return 0
	}
	for k+1 < len(b) && math.Abs(d.opening.level-step-float64(b[k+1].v)) < slack {
		k++
	}
	if d.opening.level-step-float64(b[k].v) > d.slope()*(b[k].t-open)/2 { // no rest shows: the pump drew on
		return 0
	}
	shut := shutAgain(ts, t, *d, step, was, now)
	if k+2 < len(b) {
		drew := float64(b[k].v-b[k+1].v) * (b[k+2].t - b[k+1].t) / float64(b[k+1].v-b[k+2].v)
		if at := b[k+1].t - drew; drew > 0 && at-open > rampLong+drew/10 && (shut || at-open > pauseSure && t.Sensor == "hydrostatic") {
			ts.moveStart(t, d, open, at)
			return step
		}
	}
	if shut {
		d.opening.unsure(step / 2)
	}
	return 0
}

// shutAgain says that a hatch which let the pressure fall by some inches at a time before a draw was shut again behind it: the level rose at last
// beyond what the well makes, or where that had been turned away before, by no more than the vapour gives back.
func shutAgain(ts *tankState, t *Tank, d draw, inches, at, now float64) bool {
	b := between(ts.levels.recent, d.watched(t, now)-math.Max(levelFar, 1.1*ts.interval.fresh()), d.watched(t, now))
	if len(b) == 0 {
		return false
	}
	rate := math.Min(math.Max(d.inflowBefore, d.usualInflow), d.inflowAfter)
	rose, made := stats.Median(values(b))-d.closing.level, rate*(b[len(b)/2].t-d.end)
	away := ts.levels.roseBefore(at, math.Max(2*pauseSure, 4.2*ts.interval.fresh())) < rate/2
	return rose-made >= hatchBack*inches || away && rose >= hatchBack*inches && rose <= hatchAll*inches
}

// hidTruck says that a level lies lower than another, that stood or was the last before a silence, by what a truck takes in so long.
func (t *Tank) hidTruck(from, to point) bool {
	left := t.barrels(from.v, to.v)
	return left >= t.Loads.MinLoad && (t.Loads.TruckMax == 0 || left <= t.Loads.TruckMax) && left <= t.Loads.MaxRate/60*(to.t-from.t)
}

// fellAsHeld says that what is pending fell on from a first value no lower than a pump draws while the value before it stood: of a tank of which too little was
// read yet to know how long its gateway keeps a value. A step of the sensor falls no further, and what stood for longer rested.
func (ts *tankState) fellAsHeld(t *Tank) bool {
	p := ts.pending
	down, on, most, stood := ts.last.v-p.first.v, p.first.v-p.last.v, t.maxRate(p.last.v), p.first.t-ts.heldSince
	return ts.interval.changes < heldFew && p.count >= stepFew && on >= ts.noise.leastFall() && on <= most*(p.last.t-p.first.t) &&
		down >= on && down <= most*stood && stood <= heldUnknown
}

// missedSteps says that a value which hid a truck stood through steps that the well makes in so long: a sensor whose steps are coarse has no noise
// to miss.
func (ts *tankState) missedSteps(t *Tank, to point) bool {
	stood := ts.last.t - ts.heldSince
	if ts.drawing || stood < t.Loads.GapMin.Seconds() || !ts.interval.stood(stood, seldomHeld) || !t.hidTruck(point{ts.heldSince, ts.last.v}, to) {
		return false
	}
	made := ts.inflow(t, ts.heldSince)
	return made.known && made.usual*stood >= stepsMissed*math.Max(ts.levels.resolutionAt(to.t, to.t).step, hungBit)
}

// besideIt are the barrels of another load so soon before or behind a draw that both may be one truck's, and the seconds in between: together they are no more
// than it holds, or with its trailer where the stop is a truck's, and neither is a usual load. It stops for longer where either is a part of its load, as fast
// as the other.
func besideIt(ts *tankState, t *Tank, d draw, own float64) (bbl, off float64, behind bool) {
	usual, most := ts.reports.usual(t), t.Loads.TruckMax
	one := func(bbl, off, long float64) bool {
		longest, holds := float64(troubled), most
		in := d.inflowAfter * t.Table.PerInch(d.closing.level) * math.Max(long, d.end-d.start) // which a truck takes too
		if times := bbl / math.Max(long, 1) * (d.end - d.start) / own; math.Max(own, bbl)+in < partLoad*most && times < pumpAlike && times > 1/pumpAlike {
			longest = waitsMost
		}
		if off <= t.Loads.PauseMerge.Seconds() { // which truck_max alone keeps apart
			holds *= trailer
		}
		return off >= 0 && off <= longest && bbl >= t.Loads.MinLoad && own+bbl <= holds && !(usual > 0 && math.Min(own, bbl) >= twinTruck*usual)
	}
	if n := len(ts.reports.loads); n > 0 {
		x := ts.reports.loads[n-1]
		if bbl, off = t.barrels(x.opening, x.closing), d.start-x.end; one(bbl, off, x.end-x.start) {
			return bbl, off, false
		}
	}
	if b := between(ts.levels.recent, d.next, math.Inf(1)); len(b) > 0 && d.next < d.leaptAt {
		low := slices.MinFunc(b, func(x, y sample) int { return cmp.Compare(x.v, y.v) })
		if bbl, off = t.barrels(d.closing.level, float64(low.v)), d.next-d.end; one(bbl, off, low.t-d.next) {
			return bbl, off, true
		}
	}
	return 0, 0, false
}

// takeSprung begins a draw at the level from which the sensor had sprung within half an hour before it, faster than oil comes, where it fell back to that
// faster than a pump draws, and far slower since: what stood in between was an echo, and the pump had begun behind it. false: it had not.
func takeSprung(ts *tankState, t *Tank, d *draw) bool {
	b, per := between(ts.levels.recent, d.start-bulgeRest, d.end), t.Table.PerInch(d.opening.level)
	k := searchTime(b, d.start)
	from := t.cameFast(b[:k], jumpLeast/leapMost)
	for from > 0 && float64(b[from].v-b[from-1].v) > restSigmas*ts.noise.perSample() {
		from--
	}
	if from < 0 || t.Group != "" {
		return false
	}
	was := line{b[from].t, float64(b[from].v), d.inflowBefore}
	rose := d.opening.level - was.v
	for k < len(b) && float64(b[k].v) > was.v {
		k++
	}
	last := k - 1
	for last > from && float64(b[last].v) < was.v+leapMost*rose {
		last--
	}
	on, ok := fit(firstOf(b[k:], lineLong))
	if !ok || len(b)-k < pumpedFew || rose*per <= wrongBbl(t.volume(*d)) {
		return false
	}
	if back := float64(b[last].v-b[k].v) / (b[k].t - b[last].t); back*per*60 < pumpUsual || back < -unlikeRate*on.slope {
		return false
	}
	d.start = crossing(on, was, was.t, b[k].t)
	d.opening = gauge{level: was.at(d.start), err: math.Hypot(d.opening.err, rose/4), samples: 1}
	d.doubt("level sprang up by %.1f in before it, and fell back to there faster than its pump drew: an echo, or oil that came and went", rose)
	return true
}

// takeSunk begins a draw at the level from which the sensor had come down at once within the hour before it, where it was back there as the pump drew, but for
// what that had drawn by then, and fell on: what stood in between was an echo. What the load before drew is no part of it. false: it was not back.
func takeSunk(ts *tankState, t *Tank, d *draw) bool {
	b, near := between(ts.levels.recent, math.Max(d.start-jumpLately, ts.reports.ended()), d.end), restSigmas*ts.noise.perSample()+d.step
	least := math.Max(2*near, wrongBbl(t.volume(*d))/t.Table.PerInch(d.opening.level))
	from, k := t.risenTo(b, d.start, least)
	if from < 0 {
		return false
	}
	j, sunk := from, float64(b[k].v-b[from].v)
	for j >= 0 && float64(b[j].v) < float64(b[k].v)-near-d.usualInflow*(b[k].t-b[j].t) {
		j--
	}
	at, rest := leaptBefore(ts, *d), b[max(0, j-restFew):j+1]
	level, known := ts.levels.known(at - nodeEvery)
	was := line{at, level, d.inflowBefore}
	if j >= 0 {
		was.t, was.v, known = rest[len(rest)/2].t, stats.Median(values(rest)), float64(b[min(j+2, from)].v) < float64(b[k].v)-leapMost*sunk
	}
	on, falls := t.pumpLine(firstOf(b[k:], lineLong), d.opening.level)
	off, drawn := was.at(b[k].t)-float64(b[k].v), -on.slope*(b[k].t-was.t)
	if !known || was.t == 0 || b[k].t-was.t < 2*singleReading || sunk < least || !falls || off < -near || off > near+drawn {
		return false
	}
	if math.Abs(d.opening.level-was.at(d.start)) < near { // it begins there
		return true
	}
	d.start = crossing(on, was, was.t, b[k].t)
	d.opening = gauge{level: was.at(d.start), err: math.Hypot(d.opening.err, math.Hypot(ts.noise.perSample(), d.inflow.err*(d.start-was.t))), samples: 1}
	d.note(off > sunk/2, fmt.Sprintf("level came down at once by %.1f in, %s before it, and was back as the pump drew: a false echo, and its opening is what stood before that", sunk, spanText(d.start-was.t)))
	return true
}

// damped says that a draw fell ever slower within minutes, as a damped sensor follows a step, and doubts it; it says why it is none where no pump draws half of
// it so fast.
func damped(ts *tankState, t *Tank, d *draw) (none string) {
	b, half := between(ts.levels.recent, d.start, d.end), 0.0
	for k := 0; k < len(b) && half == 0; k++ {
		if float64(b[k].v) <= (d.opening.level+d.closing.level)/2 {
			half = math.Max(b[k].t-d.start, 1)
		}
	}
	if half == 0 || len(b) < dipFew || d.parts > 1 || d.end-d.start >= filterLong || !decays(ts, *d) {
		return ""
	}
	said := fmt.Sprintf("it fell ever slower, half of it within %.0f s, as a damped sensor follows a step or foam collapses, and no pump draws", half)
	if t.volume(*d)/2/half*60 > fasterThan*t.Loads.MaxRate {
		return said
	}
	d.doubts = append(d.doubts, said)
	return ""
}

// underWay is how many samples of a draw lie clearly between its gauges.
func (d draw) underWay(b []sample) (n int) {
	edge := pumpedEdge * d.fall()
	for _, s := range b {
		if v := float64(s.v); v < d.opening.level-edge && v > d.closing.level+edge {
			n++
		}
	}
	return n
}

// caughtUp says that samples rested until one, the k-th, which lies where the fall before that rest would have brought it: the sensor hung and came free.
func caughtUp(b []sample, k int, bit float64) bool {
	f := k - 1
	for f > 0 && math.Abs(float64(b[f-1].v-b[k-1].v)) < bit/2 {
		f--
	}
	l, ok := fit(lastOf(b[:f+1], lineLong))
	drawn := -l.slope * (b[k].t - b[f].t)
	return ok && k-f > stepFew && math.Abs(float64(b[f].v-b[k].v)-drawn) <= hungOff*drawn+bit/2
}

const handedWithin = 600.0 // s in which a gateway has begun to hand on a load that it kept

// handedOn says that a fall that no pump makes is on its way in its readings, each a little lower, and began right behind a silence in which a pump
// may have made it: a gateway that hands on what it kept stamps it closer together than it was read.
func handedOn(ts *tankState, t *Tank, d draw) bool {
	b, fall := ts.levels.recent, d.fall()
	k := searchTime(b, d.start)
	for n := max(1, k); n < len(b) && b[n].t <= d.end; n++ {
		if float64(b[n].v-b[n-1].v) > ts.noiseFloor(t) {
			return false
		}
	}
	for under := d.underWay(between(b, d.start, d.end)); under >= stepFew && k > 0 && k < len(b) && d.start-b[k].t < handedWithin; k-- {
		if b[k].t-b[k-1].t >= math.Max(t.Loads.GapMin.Seconds(), fall/t.maxRate(d.closing.level)) {
			return true
		}
	}
	return false
}
