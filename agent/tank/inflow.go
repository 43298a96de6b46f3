package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	inflowDay     = 24 * 3600.0
	inflowLongest = 12 * 3600.0
	inflowLong    = 4 * 3600.0
	inflowShort   = 3600.0
	strangeLong   = 9000.0 // s of history that show what a well never does
	inflowMost    = 0.03   // in/s; 1.8 in/min
	fillRate      = 2.5    // bbl/min; a faster rise is not production, but where it always is
	fillSlow      = 1.2    // bbl/min; nor is one that is faster than this,
	fillMany      = 4.0    // and so many times as fast as usual
	fillPulses    = 6      // times in a day, which a well's pump does and no person
	fullWithin    = 18.0   // in below the top of the shell at which a well is shut in
	resumeFirst   = 180.0  // s after a draw before what flows in again is measured
	resumeFill    = 1.0    // bbl/min; where what flows in after a draw is measured a faster rise is not production,
	resumeTimes   = 5.0    // unless it usually is nearly as fast
	filledLong    = 300.0  // s
	filledDumps   = 3.0    // dumps at once that are no separator's
	filledNoise   = 4.0    // times the scatter that it rises in that time
	dipFaded      = 600.0  // s behind a load, after which no vacuum's dip is left to speak of
	slopeChance   = 2.0    // standard errors by which chance makes two slopes differ
	slopeSure     = 3.5    // the same by which it does not
	DumpBbl       = 0.7    // barrels that a separator dumps at once, until the tank itself has shown
	dumpRare      = 0.05   // dumps in some time that are few
	dumpPrior     = 4.0    // steps of the history that this assumption is worth
	rateVaries    = 0.06   // share by which a well's rate changes within hours
	stretchSteps  = 12     // steps of a stretch whose straying is measured
	stretchFew    = 6      // stretches that show how what flows in strays from that before and after
	stretchPrior  = 2      // stretches that do not stray with those beside them, which this is worth until more have shown it
	evenStrays    = 0.1    // share by which an even well's inflow strays; one in lumps strays by far more
	besideLeast   = 900.0  // s that show how fast a level rises
	evenLeast     = 0.02   // share of a separator's straying that any well has
	burstSeen     = 4500.0 // s of rest that show how fast a level rises at most
	burstReads    = 1.5    // readings of it at least
	unknownDay    = 150.0  // bbl a day that a tank of which nothing is known may take in
	cameWithin    = 3      // readings from one to the last of a rise that no oil makes
	cameFaster    = 2.0    // times the fastest production
)

// inflow is the production before a time, from the history at rest. A shorter time overrules
// a longer one where they differ by more than chance.
func (ts *tankState) inflow(t *Tank, at float64) production {
	per := math.Max(t.Table.PerInch(ts.last.v), 1e-6)
	slope, long := ts.levels.meanSlope(at, inflowLongest, per, math.Inf(1))
	if long < inflowShort/2 {
		rate := unknownDay / 86400 / per
		return production{err: rate, variance: rate * DumpBbl / per}
	}
	p := production{last: slope, usual: slope, known: true}
	room := float64(t.Height) - fullWithin
	p.variance = ts.levels.slopeVariance(at, math.Max(slope, 0), per, room)
	for _, over := range []float64{inflowLong, inflowShort} {
		short, seen := ts.levels.meanSlope(at, over, per, math.Inf(1))
		if seen < over/4 {
			continue
		}
		share := ts.noise.changed(short, p.last, seen, per, p.variance)
		p.last += share * (short - p.last)
		p.usual, long = p.last, long+share*(seen-long)
	}
	if k := searchTime(ts.levels.history, at) - 1; k >= 0 && float64(ts.levels.history[k].v) >= room {
		if free, seen := ts.levels.meanSlope(at, inflowDay, per, float64(ts.levels.history[k].v)-1.5); seen >= inflowLong/4 {
			p.usual = free
			p.variance = ts.levels.slopeVariance(at, math.Max(free, 0), per, room)
		}
	}
	p.last, p.usual = stats.Clamp(p.last, 0, inflowMost), stats.Clamp(p.usual, 0, inflowMost)
	p.err = math.Sqrt(p.variance/long + stats.Square(rateVaries*p.usual))
	return p
}

// straysOver is the variance, in in², of what flows in over some seconds. Where less than dumpRare dumps of a separator are to be
// expected in them it is by so much the less: the error that 19 of 20 are within leaves out what comes so seldom.
//
// A well whose pump goes on and off strays far in hours, and in a minute no further than its level ever rose in one.
func (p production) straysOver(seconds float64) float64 {
	v := p.over(seconds)
	if p.usual <= 0 {
		return v
	}
	return math.Min(v, stats.Square(p.usual*seconds)/dumpRare) // v times the dumps, their size being variance over rate
}

// flowedIn are the inches that flow in over a draw of some seconds, at the rate from its start on, or as beside it, and their standard error. When
// a rate changed about the draw nobody knows at which minute, but that a tank too full for its well takes in nothing before.
func (ts *tankState) flowedIn(t *Tank, d draw, seconds float64) (rise, err float64) {
	per, room := t.Table.PerInch(d.opening.level), float64(t.Height)-fullWithin
	changed := 0.0
	if d.opening.level < room && d.inflow.known {
		changed = d.inflowAfter - d.inflowBefore
	}
	strayed, beside := ts.levels.strayed(d.start, seconds, d.inflow.usual, per, room)
	if rise = d.inflowAfter * seconds; t.Group == "" && d.inflow.known && strayed < evenStrays*rise {
		rise += beside * shownBeside(ts, t, d, rise)
	}
	strayed = math.Max(strayed, ts.levels.mostBeyond(d.start, seconds, d.inflow.usual, per)/2) // one burst of a well that comes in bursts
	return rise, math.Sqrt(stats.Square(d.inflow.err*seconds) + stats.Square(strayed) + stats.Square(changed*seconds)/4)
}

// strayed are the inches by which what flowed in over as many seconds usually strays, as the history at rest shows it: from a rate, or
// from that of as long before and after, whichever it strays less from; and beside, how much of what that strays by it strays with it, 0 to 1.
func (l *levels) strayed(at, seconds, rate, per, top float64) (strays, beside float64) {
	var rises []float64 // of stretches at rest, one after the other, beyond what the rate makes
	var fromRate, fromNext, withNext, ofNext, n, m float64
	var rise, time float64
	for i := searchTime(l.history, at-inflowDay); i < len(l.history) && l.history[i].t <= at; i++ {
		dv, dt, ok := l.restStep(i, per)
		if !ok || float64(l.history[i].v) > top {
			rise, time, rises = 0, 0, rises[:0]
			continue
		}
		if rise, time = rise+dv, time+dt; time < seconds {
			continue
		}
		off := (rise - rate*time) * math.Sqrt(seconds/time)
		rise, time, rises = 0, 0, append(rises, off)
		fromRate, n = fromRate+off*off, n+1
		if k := len(rises) - 1; k > 1 {
			next := (rises[k-2] + rises[k]) / 2
			fromNext, m = fromNext+stats.Square(rises[k-1]-next), m+1
			withNext, ofNext = withNext+rises[k-1]*next, ofNext+next*next
		}
	}
	if n == 0 {
		return 0, 0
	}
	strays = fromRate / n
	if m >= stretchFew {
		strays, beside = math.Min(strays, fromNext/m), stats.Clamp(withNext/math.Max(ofNext+stretchPrior*strays, levelGrain*levelGrain), 0, 1)
	}
	return math.Sqrt(strays), beside
}

// withBurst adds the most by which the level rose at rest before a fall within a moment, where hours of it were seen.
func (p production) withBurst(ts *tankState, before float64) production {
	from := math.Max(ts.decidedTo, before-fineFor)
	if before-from < burstSeen || len(between(ts.levels.recent, from, from+burstSeen/2)) == 0 {
		return p
	}
	p.burstLong = math.Max(edgeUnsure, burstReads*ts.interval.fresh())
	p.burst = ts.levels.mostRisen(from, before, p.burstLong)
	return p
}

// restStep is one step of the history at rest that ends at point i; false where the level moved
// otherwise than by production, or began or ceased to.
func (l *levels) restStep(i int, per float64) (dv, dt float64, ok bool) {
	if i == 0 || l.history[i].flags == unlinked || l.pumpedIn(i-1, per) || l.pumpedIn(i, per) || l.pumpedIn(i+1, per) {
		return 0, 0, false
	}
	return float64(l.history[i].v - l.history[i-1].v), l.history[i].t - l.history[i-1].t, true
}

// pumpedIn says that the step to point i is faster than production: than any well's that does not always make as much, or
// than is usual here.
func (l *levels) pumpedIn(i int, per float64) bool {
	rate := l.stepRate(i, per)
	if rate <= fillSlow {
		return false
	}
	var rates []float64 // at rest: next to draws none is known
	pulses := 0
	for k, h := range l.history {
		r := l.stepRate(k, per)
		if h.flags != unlinked {
			rates = append(rates, r)
		}
		if r > fillSlow && l.stepRate(k-1, per) <= fillSlow && h.v > l.history[k-1].v {
			pulses++
		}
	}
	if rate > fillRate {
		return rate > wellMore*stats.Median(rates)
	}
	return rate > fillMany*stats.Median(rates) && pulses < fillPulses
}

// meanSlope is the mean slope of the history at rest in the time before at, as far as the level
// was below top, and the seconds of rest that show it.
func (l *levels) meanSlope(at, over, per, top float64) (slope, time float64) {
	var rise float64
	for i := searchTime(l.history, at-over); i < len(l.history) && l.history[i].t <= at; i++ {
		if dv, dt, ok := l.restStep(i, per); ok && float64(l.history[i].v) <= top {
			rise, time = rise+dv, time+dt
		}
	}
	return rise / math.Max(time, 1), time
}

// turn is by how much faster, in barrels a second, the level rises behind a time than before it.
func (l *levels) turn(t *Tank, from, at, to float64) float64 {
	before, _ := fit(between(l.recent, from, at))
	behind, _ := fit(between(l.recent, at, to))
	return (behind.slope - before.slope) * t.Table.PerInch(behind.v)
}

// slopeVariance is the variance per second by which the level at rest strays from an even rise: of the stretches of the last day the middle one, since a well
// that was shut in makes one of them odd. Above top it is shut in anyway.
func (l *levels) slopeVariance(at, slope, per, top float64) float64 {
	even := slope * DumpBbl / per
	var shown []float64
	var run []sample // rise and time of the steps of a stretch
	steps := 0.0
	for i := searchTime(l.history, at-inflowDay); i < len(l.history) && l.history[i].t <= at; i++ {
		if dv, dt, ok := l.restStep(i, per); ok && float64(l.history[i].v) <= top {
			run = append(run, sample{t: dt, v: float32(dv)})
		}
		if len(run) == stretchSteps {
			shown, steps, run = append(shown, stretchVariance(run)), steps+stretchSteps, run[:0]
		}
	}
	if len(run) >= stretchSteps/2 {
		shown, steps = append(shown, stretchVariance(run)), steps+float64(len(run))
	}
	if len(shown) == 0 {
		return even
	}
	return (math.Max(stats.Median(shown), evenLeast*even)*steps + even*dumpPrior) / (steps + dumpPrior)
}

// stretchVariance is the variance of the steps of one stretch, beyond noise: noise makes one step too long and the next too short, and so the product of
// neighbours takes it out, of which chance may make too much. Three steps' worth goes into the stretch's own mean.
func stretchVariance(run []sample) float64 {
	var rise, time float64
	for _, s := range run {
		rise, time = rise+float64(s.v), time+s.t
	}
	var sum, shared, before float64
	for _, s := range run {
		off := float64(s.v) - rise/time*s.t
		sum, shared, before = sum+off*off, shared+2*off*before, off
	}
	return math.Max(sum+shared, sum/2) / time * float64(len(run)) / float64(len(run)-3)
}

// filledFrom is the index of the first of some samples from which on the level rises faster than a rate, and by more than noise,
// for filledLong: somebody fills the tank. Or, after a rest, it steps up by so much from one to the next: a hatch was shut.
func filledFrom(b []sample, rate, noise, step float64) int {
	for i, j := 0, 0; i < len(b); i++ {
		for j < len(b)-1 && b[j].t < b[i].t+filledLong {
			j++
		}
		if dt := b[j].t - b[i].t; dt >= filledLong && float64(b[j].v-b[i].v) > math.Max(noise, rate*dt) {
			return i
		}
		if i > 0 && b[i].t-b[i-1].t < restFar && b[i].t-b[0].t >= levelFar && float64(b[i].v-b[i-1].v) > math.Max(noise, step) {
			return i
		}
	}
	return len(b)
}

// resumes is how many seconds behind a draw what flows in again is measured.
func (t *Tank) resumes() float64 {
	if t.Sensor == "hydrostatic" {
		return dipFaded
	}
	return resumeFirst
}

// inflowResumed is the production from a fall on: what is usual, and what the rest after it, among some samples, shows.
// Where nothing was known before, the rest speaks for the time before as well.
func (ts *tankState) inflowResumed(t *Tank, recent []sample, fellTo point, until float64, made production) (after float64, p production) {
	per := t.Table.PerInch(fellTo.v)
	b := between(recent, fellTo.t+t.resumes(), until)
	dump := DumpBbl / per
	if made.usual > 0 {
		dump = math.Max(dump, made.variance/made.usual)
	}
	b = b[:filledFrom(b, math.Max(resumeFill/per/60, resumeTimes*made.usual), filledNoise*ts.noise.perSample(), filledDumps*dump)]
	if len(b) < 4 {
		return made.usual, made
	}
	k := min(len(b)/4, 5)
	dt := b[len(b)-1].t - b[0].t
	a, z := stats.Median(values(b[:k+1])), stats.Median(values(b[len(b)-k-1:]))
	dt -= (b[k].t - b[0].t + b[len(b)-1].t - b[len(b)-k-1].t) / 2
	if dt < 900 || (z-a)*per > fillRate*dt/60 {
		return made.usual, made
	}
	shown := stats.Clamp((z-a)/dt, 0, inflowMost)
	if !made.known {
		variance := shown * DumpBbl / per
		return shown, production{last: shown, usual: shown, variance: variance, err: math.Hypot(math.Sqrt(variance/dt), rateVaries*shown), known: true}
	}
	before, chance := stats.Square(made.err), made.variance/dt+2*stats.Square(math.Max(ts.noise.sigma, levelGrain)/dt)
	share := math.Max(before/(before+chance), ts.noise.changed(shown, made.usual, dt, per, made.variance))
	return made.usual + share*(shown-made.usual), made
}

// cameFast is from which of some samples on a fall's inches came last, within a few of them or two minutes, faster than oil comes; -1 where
// they did not.
func (t *Tank) cameFast(b []sample, fall float64) int {
	for k := len(b) - 1; k > 0; k-- {
		for from := k - 1; from >= max(0, k-cameWithin) || from >= 0 && b[k].t-b[from].t <= 2*singleReading; from-- {
			rose, dt := float64(b[k].v-b[from].v), b[k].t-b[from].t
			if rose >= leapMost*fall && t.barrels(float64(b[k].v), float64(b[from].v)) >= fillRate/60*cameFaster*dt && dt < levelFar {
				return from
			}
		}
	}
	return -1
}

const (
	stillMore  = 1.5        // times the longest pause of a well that one which was shut in stands
	stillFew   = 4          // readings of which more show that it stands
	stillLook  = 3 * 3600.0 // s before that show how long it pauses, and what filled the tanks
	turnedSure = 1.2        // times what the others take in then, as that strays
)

// stillSince is since when a level rose no more before a draw, at the rate at which its well makes oil, and how many times as long as it had stood at most in
// the hours before. Of the time since the last poll nobody knows, unless the sensor tells of what moves alone.
func (ts *tankState) stillSince(d draw) (since, times float64) {
	at, made, slack := d.start, d.fasterInflow(), d.step+d.deadband+restSigmas*ts.noise.perSample()
	if quiet, _, longest := d.quietSince(d.beforeDraw(between(ts.levels.recent, math.Max(ts.decidedTo, at-learnFrom), at), at)); longest > 0 {
		return quiet, (at - quiet) / math.Max(longest, slack/made) // noise tells sooner, but not always
	}
	b, from, longest := nodes(between(ts.levels.recent, math.Max(ts.decidedTo+resumeFirst, at-stillLook), at), nodeEvery), 0, 0.0
	for k, n := range b {
		was := b[from].t
		for n.v-b[from].v > slack+made/3*(n.t-b[from].t) || b[from].v-n.v > fallLeast { // where it falls it does not stand
			from++
		}
		if b[from].t > was {
			longest = math.Max(longest, b[k-1].t-was)
		}
	}
	if len(b) == 0 {
		return at, 0
	}
	since = b[from].t
	if last := b[len(b)-1].t; d.deadband == 0 && at-last < hidesTruck {
		at = last
	}
	return since, (at - since) / max(longest, stillFew*ts.interval.fresh(), stillFew*nodeEvery, (slack+fallLeast)/made)
}

// dips says that a current loop carries a pressure: right behind a truck its level comes up quickly at first and then less, as none does
// that rises when a separator dumps, or a slug runs; or in which time that came, where it is likelier. Of few readings two dumps are not told from it.
func (r resting) dips(inflow float64) (dips bool, dump bounds) {
	r.samples = r.untilRefilled(r.samples[:searchTime(r.samples, r.at+vapourLong)])
	b := r.thinned(r.withoutSpikes())
	if len(b) < dipFew || b[0].t-r.at > dipSoon || r.step >= coarseLeast {
		return false, dump
	}
	r.sigma = max(r.sigma, neighbourScatter(b), r.step/math.Sqrt(12))
	made := math.Hypot(r.inflow.err, math.Sqrt(r.inflow.variance/vapourLong))
	best, slow, once := shapeFit{missed: math.Inf(1)}, shapeFit{missed: math.Inf(1)}, math.Inf(1)
	for fade := vapourFade / 6; fade <= 2*vapourFade; fade *= 1.5 {
		if f := r.fitShape(b, func(after float64) float64 { return -math.Exp(-after / fade) }, inflow, made); f.missed < best.missed {
			best = f
		}
	}
	for _, s := range b[1:] {
		rises := func(long float64) shapeFit {
			return r.fitShape(b, func(after float64) float64 { return stats.Clamp((r.at+after-s.t)/long, -1, 0) }, inflow, made)
		}
		once = math.Min(once, rises(1).missed)
		for long := ranLong / 8; long <= ranLong; long *= 1.5 {
			if f := rises(long); f.missed < slow.missed {
				slow, dump = f, bounds{s.t - 1.2*long, s.t + 0.2*long} // as closely as it is known
			}
		}
	}
	if slow.missed > math.Min(dipShare*best.missed, best.missed-piecePrice) || slow.inches > liftDumps*r.dumped(ranLong) || slow.inches < 2*vapourUsual {
		dump = bounds{}
	}
	return best.inches > math.Max(dipLeast, fitSure*best.err) && best.inches < vapourMost && best.missed < min(dipShare*once, once-piecePrice, slow.missed), dump
}

// strange is a rate, in barrels a minute, at which the well of a load's tank brought no oil for an hour in the hours before it.
func (l *levels) strange(t *Tank, load reportedLoad) float64 {
	most := load.inflow
	if l.history[0].t > load.start-strangeLong {
		return fillSlow // nobody knows
	}
	for _, h := range l.history {
		if from := searchTime(l.history, h.t-3600); h.t <= load.start && h.t-l.history[from].t >= bulgeRest {
			most = math.Max(most, float64(h.v-l.history[from].v)/(h.t-l.history[from].t))
		}
	}
	return math.Max(fillSlow/3, 2*most*60*t.Table.PerInch(load.closing))
}
