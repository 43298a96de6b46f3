package tank

import (
	"cmp"
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	edgeMost    = 1.0      // in about a gauge that are left out at most, for slosh and a pump's slow start
	restNear    = 120.0    // s of rest next to a fall that place it roughly
	rampClear   = 20.0     // s before the crossing that a pump's slow start may reach
	openTries   = 4        // times that an opening is looked for, each time with a better start
	aloneLong   = 1200.0   // s next to a draw whose readings show whether its gauge is one of them
	aloneFew    = 6        // such readings
	plateauLong = 2700.0   // s behind a draw in which a plateau is looked for
	settleShort = 15.0     // s after the end before a sample counts at all
	vapourFade  = 150.0    // s in which the dip of a hydrostatic sensor fades by e at most
	vapourQuick = 20.0     // s in which it does at least
	vapourLong  = 900.0    // s of rest in which the dip is fitted
	vapourMost  = 4.0      // in
	vapourUsual = 0.75     // in, give or take as much
	dipFew      = 12       // readings that show a dip
	dipSoon     = 45.0     // s from a draw to the first of them
	dipLeast    = 0.25     // in
	dipShare    = 0.7      // share of the squares that one step leaves, which a dip leaves at most
	refillFirst = 300.0    // s of rest in which what comes in at once is seen
	refillSeen  = 120.0    // s of a rise that tell it from a dip that fades
	refillRate  = 0.5 / 60 // in/s
	evenQuick   = 30.0     // s in which an equaliser may make a difference e times less
	evenSlow    = 2400.0
	evenTimes   = 1.25  // from one time that is tried to the next
	evenBbl     = 0.1   // bbl; when less is to come the work is done
	fitSure     = 4.0   // standard errors by which what a fit shows is no chance
	evenMost    = 100   // samples of a fit
	gaugeAfter  = 180.0 // s about a group's gauge that are read
)

// findEdges finds the edges of a fall by what is known now.
func (ts *tankState) findEdges(t *Tank, f fall, in bounds, made production, now float64) draw {
	behind := ts.levels.recent
	if t.Group != "" {
		behind = nil // an equaliser moves the level too
	}
	next, made := ts.inflowResumed(t, behind, f.to, math.Min(now, in.hi), made)
	made = made.withBurst(ts, f.from.t)
	d := draw{start: f.from.t, parts: 1, gap: f.gap, within: in, inflowBefore: made.last, inflowAfter: next, usualInflow: made.usual, inflow: made, resolution: reportsOf(ts, f.from.t, f.to.t)}
	since, longer := ts.stillSince(d)
	d.away = longer > stillMore && 3*ts.levels.roseBefore(f.to.t+d.start-since, d.start-since) < made.last
	s0, s1 := line{f.from.t, f.from.v, made.last}, line{f.to.t, f.to.v, next}
	if b := between(ts.levels.recent, math.Max(in.lo, f.from.t-restNear), f.from.t+nodeEvery/2); len(b) > 0 {
		s0.v = stats.Median(values(b[max(0, len(b)-5):]))
	}
	if b := between(ts.levels.recent, f.to.t-nodeEvery/2, math.Min(in.hi, f.to.t+restNear)); len(b) > 0 {
		s1.v = stats.Median(values(b[:min(5, len(b))]))
	}
	b := between(ts.levels.recent, math.Max(f.from.t, f.to.t-restNear), math.Min(in.hi, f.to.t+restNear))
	if low, _ := lowestTwo(b); ts.interval.fresh() < restApart && len(b) > 0 && t.Group == "" {
		if rose := math.Min(s1.at(low.t), float64(b[len(b)-1].v)) - low.v; rose > math.Max(spikeLeast, spikeSigma*ts.noise.perSample()) && rose < liftDumps*ts.levels.mostRisen(math.Max(ts.decidedTo, f.from.t-fineFor), f.from.t, ranLong) {
			s1.t, s1.v = low.t, low.v // what a separator dumped came behind it
		}
	}
	inner := ts.underWay(f, s0.v, s1.v)
	drawn, n := ts.beforeStandstill(inner), len(inner)
	head, tail := ts.noise.endLines(t, drawn, s0, s1)
	if d.samples = n; n-len(drawn) >= restFew {
		last := inner[n-1]
		d.doubt("it had stopped %.0f s before the readings did, and %.1f bbl left unseen: one truck or two", last.t-drawn[len(drawn)-1].t, t.barrels(float64(last.v), s1.v))
	}
	d.slosh, d.endLine = ts.noise.slosh(inner, tail), tail
	d.start = crossing(head, s0, f.from.t-60, firstTime(inner, f.to.t))
	rest := ts.resting(t, d)
	last, seen := lastSeen(ts, t, d, between(ts.levels.recent, in.lo, firstTime(inner, f.to.t)), f.from.t-nodeEvery, head)
	rest.before, rest.head, rest.deadband, rest.past.recent = true, head, d.silentWithin(last, seen, t.maxRate(s0.v)), between(ts.levels.recent, math.Max(ts.decidedTo, d.start-keepFor), f.from.t-ranLong)
	rests, from, since, free := f.from.t, math.Min(f.from.t-60, last.t), -1.0, 0.0
	if d.step < coarseLeast {
		since, free = ts.interval.hung(between(ts.levels.recent, math.Max(in.lo, f.from.t-learnFrom), firstTime(inner, f.to.t)), d.inflowBefore)
	}
	if b := between(ts.levels.recent, rests, firstTime(inner, f.to.t)); len(b) > 0 && last.t > seen.t {
		top := b[highest(b)]
		if rose := float64(top.v) - s0.v; rose > max(spikeLeast, 2*d.slosh, stoodSteps*d.step, spikeSigma*ts.noise.perSample()) && rose <= liftDumps*rest.dumped(ranLong) {
			if rests, from = top.t, top.t; d.step >= coarseLeast { // the steps on the way up are no rest
				s0.v, free = float64(top.v), top.t
			}
			d.start = crossing(head, s0, from, firstTime(inner, f.to.t)) // while the level rises it has not begun to fall
		}
	}
	rests, from = math.Max(rests, free), math.Max(from, free)
	for range openTries {
		rest.at = d.start
		b := between(ts.levels.recent, math.Max(in.lo, f.from.t-d.restReach()), math.Min(last.t, math.Max(d.start-rampClear, rests)))
		rest.samples = d.beforeDraw(slices.Concat(between(b, 0, since), between(b, free, math.Inf(1))), d.start)
		d.opening = rest.estimate(made.last).orLine(s0, d.start, ts.noise.perSample())
		s0 = line{d.start, d.opening.level, made.last}
		d.start = crossing(head, s0, from, firstTime(inner, f.to.t))
		if rest.at-d.start < rampClear {
			break // else what was taken for rest had begun to fall: the tank was topped up until then
		}
	}
	if off := float64(seen.v) - d.opening.level; off > 0 { // more came in meanwhile, nobody knows how much
		d.start, d.opening.level, d.opening.err = math.Min(d.start, seen.t), float64(seen.v), math.Hypot(d.opening.err, off)
	}
	if last.t < seen.t && len(rest.samples) == 0 {
		d.doubtGauge(&d.opening, (float64(last.v-seen.v)+made.last*(seen.t-last.t))/2, "it began before its first reading, behind %s without one: what had left is not known", spanText(seen.t-last.t))
	}

	d.end = ts.meets(s1, tail, math.Max(d.start, lastTime(inner, f.from.t)), f.to.t+60)
	if d.closing.level = s1.v; t.Sensor == "hydrostatic" {
		d.end = ts.lastFalling(d)
	}
	d.closing = ts.restedGauge(t, &d, ts.levels.recent, in).orLine(s1, d.end, ts.noise.perSample())
	if s1 = (line{d.end, d.closing.level, next}); !d.closing.dipped && t.Sensor != "hydrostatic" {
		d.end = ts.meets(s1, tail, math.Max(d.start, lastTime(inner, f.from.t)), f.to.t+60)
	}
	d.oilTo = d.end
	ts.stoodInSilence(&d, made.known && last.t < seen.t)
	return d
}

// stoodInSilence takes the gauges from the readings next to the draw where a silence beside one of them began and ended at the same level: nothing
// came in it. What a well makes within a deadband says nothing, nor does it where the start was unseen. Whether the well is away its pauses tell.
func (ts *tankState) stoodInSilence(d *draw, unseen bool) {
	b := ts.levels.recent
	same := func(k int, slope float64) (err float64, ok bool) {
		long, off, grain := b[k].t-b[k-1].t, math.Abs(float64(b[k].v-b[k-1].v)), 2*ts.noise.leastFall()
		told := !d.inflow.known || math.Max(d.inflow.usual, slope)*long > toldBehind(b[k:], long, d.deadband)+grain
		return math.Hypot(ts.noise.perSample(), off), told && long >= levelFar && off < grain
	}
	if k := searchTime(b, d.start); k > 0 && k < len(b) && d.opening.carried > 0 && !unseen {
		if err, ok := same(k, d.inflowBefore); ok {
			d.opening.level, d.opening.err, d.opening.carried, d.opening.away = math.Max(float64(b[k-1].v), float64(b[k].v)), err, 0, 0
		}
	}
	if k := searchTime(b, d.end); k > 0 && k < len(b) && d.closing.carried > 0 {
		if err, ok := same(k, d.inflowAfter); ok {
			d.closing.level, d.closing.err, d.closing.carried, d.closing.away = math.Min(float64(b[k-1].v), float64(b[k].v)), err, 0, 0
			if _, _, longest := d.quietSince(between(b, d.start-learnFrom, d.start)); b[k].t-b[k-1].t > overdueTimes*longest {
				d.inflowAfter = 0 // the well is turned to another tank, or shut in
			}
		}
	}
}

// lastFalling is the end of a draw as a pressure sensor sees it, which the truck's vacuum dips below the closing: the last sample
// that lies on the falling line.
func (ts *tankState) lastFalling(d draw) float64 {
	off, end := math.Max(fallAboveNoise, 3*math.Max(ts.noise.sigma, d.slosh)), d.end
	for _, s := range between(ts.levels.recent, d.end, math.Min(d.within.hi, d.end+2*vapourFade)) {
		if float64(s.v)-d.endLine.at(s.t) < off {
			end = s.t
		}
	}
	return end
}

// underWay are the samples that are clearly under way: below the opening and above the closing.
func (ts *tankState) underWay(f fall, open, closing float64) []sample {
	b := between(ts.levels.recent, f.from.t-nodeEvery/2, f.to.t+nodeEvery/2)
	drop := open - closing
	low, high := 0, len(b)
	for low < len(b) && float64(b[low].v) > open-0.3*drop {
		low++
	}
	for high > 0 && float64(b[high-1].v) < closing+0.3*drop {
		high--
	}
	edge := math.Max(0.3, 3*ts.noise.sigma)
	if low < high { // else the one that has just begun to fall, or has not quite ended, is all that was seen of it
		edge = math.Max(edge, math.Min(0.04*drop, edgeMost))
	}
	edge = math.Min(edge, 0.2*drop)
	for low > 0 && float64(b[low-1].v) < open-edge {
		low--
	}
	for high < len(b) && float64(b[high].v) > closing+edge {
		high++
	}
	if low >= high {
		return nil
	}
	return b[low:high]
}

// beforeStandstill are the samples under way without the last ones before a silence over which the level fell on, if they lie above the
// falling line: a wave or a pause, which says nothing of how the fall went on.
func (ts *tankState) beforeStandstill(inner []sample) []sample {
	n := len(inner)
	if n == 0 {
		return inner
	}
	last, first := inner[n-1], searchTime(inner, inner[n-1].t-singleReading)
	k := searchTime(ts.levels.recent, math.Nextafter(last.t, math.Inf(1)))
	if k == len(ts.levels.recent) || ts.levels.recent[k].t-last.t < levelFar {
		return inner
	}
	p := lastOf(inner[:first], lineLong)
	l, ok := fit(p)
	if !ok || len(p) < lineEven {
		return inner
	}
	off := math.Max(lineMiss, restSigmas*math.Max(ts.noise.sigma, l.spread(p)))
	for n > first && float64(inner[n-1].v)-l.at(inner[n-1].t) >= off {
		n--
	}
	return inner[:n]
}

// resting is a stretch of samples about a draw that is yet to be chosen.
func (ts *tankState) resting(t *Tank, d draw) resting {
	return resting{sigma: ts.noise.perSample(), inflow: d.inflow, away: d.away, resolution: d.resolution, perBbl: 1 / t.Table.PerInch(ts.last.v), top: float64(t.Height) - freeboard, sensorError: t.sensorError()}
}

// moveStart moves the start of a draw to an instant that is known better, before which the level is at rest since another.
func (ts *tankState) moveStart(t *Tank, d *draw, since, at float64) {
	b := between(ts.levels.recent, max(since, ts.decidedTo, at-restLong), at)
	r := ts.resting(t, *d)
	r.at, r.before, r.samples = at, true, b
	d.opening = r.estimate(d.inflowBefore).orLine(line{d.start, d.opening.level, d.inflowBefore}, at, ts.noise.perSample())
	d.stood = math.Max(0, d.stood-math.Max(0, at-d.start))
	d.start = at
}

// moveEnd moves the end of a draw to an instant that is known better.
func (ts *tankState) moveEnd(t *Tank, d *draw, at float64) {
	b := between(ts.levels.recent, math.Max(at, d.end+settleShort), at+pauseSure) // what comes later may be the next truck
	r := ts.resting(t, *d)
	r.at, r.samples = at, b
	d.closing = r.estimate(d.inflowAfter).orLine(line{d.end, d.closing.level, d.inflowAfter}, at, ts.noise.perSample())
	d.stood = math.Max(0, d.stood-math.Max(0, d.end-at))
	d.end = at
}

// restedGauge is the closing level: the rest behind the end, of some samples that no equaliser moves, carried back to it.
func (ts *tankState) restedGauge(t *Tank, d *draw, recent []sample, in bounds) gauge {
	from := d.afterDraw(recent, d.end+math.Max(settleShort, t.Loads.Settle.Seconds()), in.hi)
	b := between(recent, from, math.Min(in.hi, from+math.Max(plateauLong, 2.5*ts.interval.fresh())))
	if len(b) == 0 { // nothing but what came right after, or long after
		b = between(recent, math.Min(d.end+1, from), in.hi)
		b = b[:searchTime(b, firstTime(b, 0)+restLong)]
	}
	r := ts.resting(t, *d)
	r.at, r.pumped, r.samples, r.slosh, r.past = d.end, math.Min(d.end, cmp.Or(d.oilTo, d.end)), b, d.slosh, ts.levels.even(math.Max(ts.decidedTo, d.start-fineFor), d.start)
	dips, hatches := false, 0.0
	if t.Loads.Settle == 0 && len(b) > 0 && b[0].t-d.end < vapourLong/2 && (t.Sensor == "hydrostatic" || t.Sensor == "analog" && t.Group == "") {
		hatches = math.Max(ts.noise.hatchLeast(), 2*r.slosh)
		r.samples = withoutHatches(b, hatches)
		dips, r.dump = r.dips(d.inflowAfter)
		dips = dips || t.Sensor == "hydrostatic"
	}
	switch {
	case dips:
		_, longer := ts.stillSince(*d)
		g := r.withoutDip(d.inflowAfter, longer > stillMore)
		if len(r.samples) < len(b) {
			g.hatches = hatches
		}
		return g
	case d.deadband > 0:
		g, stands := r.estimate(d.inflowAfter).withDeadband(d.resolution, between(ts.levels.recent, d.start-learnFrom, d.start), between(recent, d.start, from), b, math.Hypot(ts.noise.perSample(), d.slosh))
		if stands {
			d.inflowAfter = 0 // the well is turned to another tank, or shut in
		}
		return g
	}
	g := r.estimate(d.inflowAfter)
	dumped, least := r.dumped(ranLong/2), restSigmas*math.Hypot(g.err, math.Max(r.sigma, rocks(b, d.end+sloshFade)))+math.Max(pieceLower, d.slosh)
	if low, one := lowestTwo(between(recent, d.start, math.Min(in.hi, from+nodeEvery))); d.step < coarseLeast && t.Group == "" && g.level-one > least && g.level-one < ranDumps*dumped && dumped > d.usualInflow*ranLong {
		g.err = math.Hypot(g.err, (low.v-one)/2) // what a separator dumped came right behind it
		g.level = math.Min(g.level, low.v)
	}
	return g
}

// aloneAt are the inches by which a closing lies below all that was read behind it but one reading, or an opening above all before it, beside
// what flowed in between: it hangs on that one, or on none.
func aloneAt(ts *tankState, d draw, g gauge, behind bool) float64 {
	at, slope, side := d.start, d.inflowBefore, -1.0
	b := between(ts.levels.recent, max(ts.decidedTo, d.within.lo, at-aloneLong), at)
	if !behind && g.since > 0 && g.samples > restFew { // read off a piece that rises as the well's pump makes it
		b, slope = between(b, g.since, at), g.slope
	}
	if behind {
		at, slope, side = d.end, d.inflowAfter, 1
		b = between(ts.levels.recent, at, math.Min(d.next, at+aloneLong))
	}
	if len(b) < aloneFew || g.dipped || g.risen || d.deadband > 0 || d.late+d.foam > 0 || !behind && ts.interval.stood(stoodFor(b[:len(b)-1]), seldomHeld) {
		return 0
	}
	off := make([]float64, len(b))
	for k, x := range b {
		off[k] = side * (float64(x.v) - slope*(x.t-at) - g.level)
	}
	slices.Sort(off)
	if off[1] <= 2*math.Hypot(g.err, ts.noise.perSample()) {
		return 0
	}
	return off[1]
}

// evening is how an equaliser lets a tank come to rest: after a draw the level strays so many inches from an even rise,
// and e times less after every time.
type evening struct{ first, time float64 }

func (e evening) off(after float64) float64 { return e.first * math.Exp(-after/e.time) }

// until are the seconds after which it strays by less.
func (e evening) until(less float64) float64 {
	return e.time * math.Log(math.Max(1, math.Abs(e.first)/less))
}

// evening is fitted to how far a tank lies apart from the others of its group after a draw, for every time that an equaliser may take; most is by how many
// inches a second the wells may move that. Where the best is chance there is none, unless they came nearer than wells make them.
func (r resting) evening(b []sample, most float64) evening {
	best, left := evening{time: evenQuick}, math.Inf(1)
	r.sigma = math.Max(r.sigma, neighbourScatter(b))
	thin := make([]sample, 0, evenMost)
	for i := 0; i < len(b); i += len(b)/evenMost + 1 {
		thin = append(thin, b[i])
	}
	fits := func(time float64) shapeFit {
		return r.fitShape(thin, func(after float64) float64 { return math.Exp(-after / time) }, 0, most)
	}
	for time := evenQuick; time <= evenSlow; time *= evenTimes {
		if f := fits(time); f.missed < left {
			left, best.time = f.missed, time
		}
	}
	best.time = stats.LeastAt(func(time float64) float64 { return fits(time).missed }, math.Max(evenQuick, best.time/evenTimes), best.time*evenTimes)
	if f := fits(best.time); math.Abs(f.inches) > fitSure*math.Hypot(f.err, math.Sqrt(r.inflow.variance*best.time)) {
		best.first = f.inches
	}
	first, last := b[0], b[len(b)-1]
	long, moved := last.t-first.t, float64(first.v-last.v)
	if best.first == 0 && math.Abs(moved) > most*long+fitSure*math.Hypot(math.Sqrt2*r.sigma, math.Sqrt(r.inflow.variance*long)) {
		return evening{first: moved, time: math.Max(evenQuick, long)}
	}
	return best
}

// withoutDip follows the rest after a truck back to its end, as a level that strays from an even rise less a vacuum's dip that fades, which a pressure sensor
// feels. In a tank that was sealed for the truck nothing flows in until the well is back, at whatever time makes the readings likeliest.
func (r resting) withoutDip(inflow float64, sealed bool) gauge {
	b := r.untilRefilled(r.samples[:searchTime(r.samples, r.at+vapourLong)])
	if r.dump.hi > 0 || r.halted(inflow) {
		inflow = 0 // between its dumps a separator gives nothing, nor does a well that is away
	}
	first, came := between(b, b[0].t, b[0].t+refillFirst), inflow
	if seen, ok := fit(first); ok && len(first) >= stepFew {
		came = stats.Clamp(seen.slope+r.roughSlope(len(first), first[len(first)-1].t-first[0].t), 0, inflow)
	}
	g, likely := gauge{}, math.Inf(1)
	for r.fade = vapourFade; r.fade == vapourFade || r.fade > math.Max(vapourQuick, b[min(1, len(b)-1)].t-b[0].t); r.fade /= 1.6 { // as far as readings are apart
		if vented, other := r.dipped(b, came, r.at); other < likely {
			g, likely = vented, other
		}
		for back, last := b[0].t+nodeEvery, b[len(b)-1].t; sealed && back < last+nodeEvery; back += nodeEvery {
			if shut, other := r.dipped(b, inflow, math.Min(back, last)); other < likely {
				g, likely = shut, other
			}
		}
	}
	return g
}

// dipped is the gauge behind a dip where the well comes, and strays, from some time on, and how unlikely the readings are then: twice the
// logarithm. It is Kalman's filter for level and dip; what few samples cannot tell is taken to be as usual.
func (r resting) dipped(b []sample, inflow, from float64) (g gauge, unlikely float64) {
	last := b[len(b)-1]
	level, at, dip := float64(last.v), last.t, vapourUsual
	ll, ld, dd := stats.Square(vapourMost), 0.0, stats.Square(vapourUsual) // variances, and what they share
	for i := len(b) - 1; i >= 0; i-- {
		s := b[i]
		came := math.Max(0, at-math.Max(s.t, from))
		if s.t < r.dump.hi && at > r.dump.lo {
			ll += stats.Square(vapourMost)
		}
		level, ll, at = level-inflow*came, ll+r.inflow.variance*came, s.t
		fade := math.Exp(-(s.t - r.pumped) / r.fade)
		off := float64(s.v) - (level - fade*dip)
		kl, kd := ll-fade*ld, ld-fade*dd
		all := kl - fade*kd + r.sampleVariance(s, r.sigma)
		unlikely += off*off/all + math.Log(all)
		level, dip = level+off*kl/all, dip+off*kd/all
		ll, ld, dd = ll-kl*kl/all, ld-kl*kd/all, dd-kd*kd/all
	}
	g = gauge{level: level - inflow*math.Max(0, at-math.Max(r.at, from)), samples: len(b), away: at - r.at, dipped: true}
	if g.away > restFar {
		g.carried = g.away
	}
	g.err = math.Sqrt(ll + r.strays().straysOver(math.Max(g.away, edgeUnsure)))
	return g, unlikely
}
