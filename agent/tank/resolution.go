package tank

import (
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	learnFrom      = 4 * 3600.0 // s before a draw that show how its sensor speaks
	unchangedShare = 0.5        // share of unchanged values from which on a sensor speaks in steps
	coarseLeast    = 0.1        // in; finer steps are as good as none
	coarseMost     = 3.0        // in; no sensor's steps are coarser than one in a hundred of a tall tank
	atomFew        = 10         // samples that tell
	atomRough      = 0.5        // a step in standard deviations of the noise of a float that does not stick
	atomFine       = 2.2        // the same from which on noise seldom moves a reading by two steps
	atomReturns    = 3          // times that they come back to it
	atomBeyond     = 10.5       // samples that would lie beyond the end of a sensor's range, by how they lie on this side of it
	atomMoves      = 5.0        // standard errors by which more of them lie on it in one half of the time than in the other where the level moves
	stickShare     = 0.15       // share of a step by which a float sticks
	exceptEven     = 3.0        // times that intervals between reports by exception differ at least
	exceptClass    = 3.0        // standard errors of its kind by which a report that noise made is off
	exceptMost     = 6.0        // in; no deadband is wider
	exceptMoved    = 0.9        // deadbands by which a report that the clock did not make has moved at least
	overdueTimes   = 1.5        // times as long as it ever took until then, after which such a report is overdue
	exceptFew      = 3          // such reports that show how long it takes to the next
	restLong       = 1800.0     // s of rest that an estimate may use
	restFar        = 60.0       // s to the nearest sample, from which on the inflow carries the level
	echoRise       = 0.8        // in; a smaller rise before a draw is a separator's dump
	echoBack       = 0.1        // share of it to which its end comes back
	echoBrings     = 0.4        // of one off the oil that falls in, to what that brought
)

// resolution of a sensor's reports: the steps of its values, or the deadband within which it is silent.
type resolution struct {
	step     float64 // in; its values are multiples of this; 0: fine
	deadband float64 // in; it reports only what moved as far since its last report; 0: it reports by the clock
}

// resolutionAt is learned from the samples up to the end of a fall.
func (l *levels) resolutionAt(from, to float64) resolution {
	b := between(l.recent, from-learnFrom, to)
	return resolution{step: learnStep(between(b, 0, from), between(l.history, 0, from)), deadband: learnDeadband(b)}
}

// learnStep is the step of a sensor most of whose values at rest repeat the one before: the least
// that lies between any two of them or, where nothing changed, in the history. Truck after truck says nothing of a rest.
func learnStep(b, history []sample) float64 {
	same, fell, step := 0, 0, math.Inf(1)
	falls := func(i int) bool { return i > 0 && i < len(b) && b[i].v < b[i-1].v }
	var shown []float64
	for i := 1; i < len(b); i++ {
		switch d := math.Abs(float64(b[i].v - b[i-1].v)); {
		case d <= 2*levelGrain:
			same++
		case falls(i) && (falls(i-1) || falls(i+1)):
			fell++
		case b[i].flags != unlinked:
			step = math.Min(step, d)
		}
		if b[i].n == 1 {
			shown = append(shown, float64(b[i].v))
		}
	}
	if len(b) < 8 || float64(same) < unchangedShare*float64(len(b)-fell) {
		return 0
	}
	step = leastApart(shown, 2*levelGrain, step)
	if math.IsInf(step, 1) {
		step = leastApart(values(history), 2*levelGrain, step)
	}
	if step > coarseMost {
		return 0
	}
	return step
}

// leastStep is the step of a sensor's values as some samples show it, in: the least difference between two of them, beyond what
// storing them rounds, times the readings that a sample is the mean of.
func leastStep(of ...[]sample) float64 {
	most := 2 * levelGrain
	for _, b := range of {
		if least := leastApart(values(b), 0, math.Inf(1)); !math.IsInf(least, 1) {
			most = math.Max(most, least*float64(b[len(b)/2].n))
		}
	}
	return most
}

// leastApart is the least by which any two of some values differ, by more than a grain; at most another.
func leastApart(b []float64, grain, least float64) float64 {
	slices.Sort(b)
	for i := 1; i < len(b); i++ {
		if d := b[i] - b[i-1]; d > grain {
			least = math.Min(least, d)
		}
	}
	return least
}

// learnDeadband is the least change that is reported between heartbeats, where reports come as
// unevenly as they do by exception.
func learnDeadband(b []sample) float64 {
	beat := 0.0
	for i := 1; i < len(b); i++ {
		beat = math.Max(beat, b[i].t-b[i-1].t)
	}
	least, few, short, long := math.Inf(1), 0, math.Inf(1), 0.0
	for i := 1; i < len(b); i++ {
		dt := b[i].t - b[i-1].t
		if dt >= 0.9*beat || b[i].n > 1 || b[i-1].n > 1 {
			continue
		}
		few++
		short, long = math.Min(short, dt), math.Max(long, dt)
		least = math.Min(least, math.Abs(float64(b[i].v-b[i-1].v)))
	}
	if few < 3 || beat < restFar || long < exceptEven*short || least < coarseLeast-levelGrain || least > exceptMost {
		return 0
	}
	return least
}

// toldBehind is a deadband, or by how much a level moved from one report to the next behind a silence, where that is less and came sooner than it lasted:
// where nothing moved before a fall, only that shows one, which is no less than what a pump draws from poll to poll.
func toldBehind(b []sample, silence, deadband float64) float64 {
	var moved []float64
	for k := 1; k < len(b); k++ {
		if b[k].t-b[k-1].t < 0.9*silence {
			moved = append(moved, math.Abs(float64(b[k].v-b[k-1].v)))
		}
	}
	if len(moved) == 0 {
		return deadband
	}
	return math.Min(deadband, stats.Median(moved))
}

// restReach are the seconds from a draw within which samples at rest are used.
func (r resolution) restReach() float64 {
	if r.deadband > 0 {
		return learnFrom
	}
	return restLong
}

// quietSince is since when, at the end of some reports by exception, none told that the level had risen by the deadband, how long it usually took to rise by it
// until then, and at most to rise by what such a report tells, as a separator and a pump let it pause; 0 where it did so hardly ever: then silence tells nothing.
func (r resolution) quietSince(b []sample) (since, usual, longest float64) {
	var took, moved []float64
	was := sample{t: math.Inf(1)}
	for k, x := range b {
		switch rose := float64(x.v - was.v); {
		case k == 0 || x.flags == unlinked || rose < -exceptMoved*r.deadband:
			was = x
		case rose > exceptMoved*r.deadband:
			took, moved, was = append(took, (x.t-was.t)*math.Min(1, r.deadband/rose)), append(moved, rose), x
		}
	}
	if r.deadband == 0 || len(took) < exceptFew {
		return was.t, 0, 0
	}
	tells := stats.Median(moved)
	for k, long := range took {
		longest = math.Max(longest, long*math.Max(1, math.Min(tells, moved[k])/r.deadband))
	}
	return was.t, stats.Median(took), longest
}

// sentByFall says that a report by exception was sent because the level fell.
func (r resolution) sentByFall(a, b sample) bool {
	return r.deadband > 0 && float64(a.v-b.v) > exceptMoved*r.deadband
}

// stoodThrough is for how long, s, a level of coarse steps, or one that is told as it moves, stood behind a draw until a time, where its well had made some
// steps in as long until then: such a level has no noise to miss. left are the inches by which it lay elsewhere when it moved again; 0 where it still stands.
func stoodThrough(ts *tankState, d draw, until float64) (long, left float64) {
	before := d.beforeDraw(between(ts.levels.recent, math.Max(ts.decidedTo, d.start-learnFrom), d.start), d.start)
	r := resolution{deadband: d.deadband}
	if step := leastStep(before); d.deadband == 0 && step >= coarseLeast && 4*changesIn(before) <= 3*len(before) { // what moves at each reading shows no step
		r.deadband = step
	}
	since, _, longest := r.quietSince(before)
	b := between(ts.levels.recent, d.start, until)
	k := searchTime(b, d.end+hungLeast) - 1
	if k < 0 || longest == 0 || d.start-since > overdueTimes*longest || math.Abs(float64(b[k].v)-d.closing.level) > 2*r.deadband {
		return 0, 0
	}
	z := k
	for z+1 < len(b) && math.Abs(float64(b[z+1].v-b[k].v)) < exceptMoved*r.deadband {
		z++
	}
	switch {
	case z+1 < len(b):
		until, left = b[z+1].t, float64(b[z+1].v-b[k].v)
	case d.deadband == 0:
		until = b[z].t // of a silence nobody knows
	}
	if long = until - math.Max(b[k].t, d.end); long < math.Max(hungLeast, stepsMissed*longest) {
		return 0, 0
	}
	return long, left
}

// silentRise are the inches by which a level that reports by exception has risen since the last report before a draw, and their standard error: as a slope
// makes it, or as it rose until a report by the clock. Where a report is overdue the well is away, and the level lies within the deadband.
func (r resting) silentRise(slope float64) (rise, err float64) {
	last := r.nearest(0)
	since, _, longest := r.quietSince(r.samples)
	overdue := longest > 0 && r.at-since > overdueTimes*longest
	until, unsure := r.at, math.Min(r.inflow.variance*math.Max(r.at-last.t, edgeUnsure)+stats.Square(r.inflow.err*(r.at-last.t)), stats.Square(r.deadband)/3)
	if n := len(r.samples); n > 1 {
		was := r.samples[n-2]
		if rose := float64(last.v - was.v); math.Abs(rose) < exceptMoved*r.deadband && last.flags != unlinked {
			slope = stats.Clamp(rose/(last.t-was.t), 0, slope)
			if overdue {
				until, unsure, overdue = math.Max(last.t, math.Min(r.at, since+longest)), 0, false
			}
		}
	}
	rise = slope * (until - last.t)
	if overdue || rise > stoodSteps*r.deadband {
		return r.deadband / 2, math.Min(math.Sqrt(unsure), r.deadband/math.Sqrt(12))
	}
	return stats.Clamp(rise, -r.deadband, r.deadband), math.Sqrt(unsure)
}

// beforeDraw leaves out the last samples of a rest that a sensor which reports by exception
// sent because the draw had begun; before a longer silence they are of an earlier one.
func (r resolution) beforeDraw(b []sample, start float64) []sample {
	for len(b) > 1 && start-b[len(b)-1].t < pauseSure && r.sentByFall(b[len(b)-2], b[len(b)-1]) {
		start, b = b[len(b)-1].t, b[:len(b)-1]
	}
	return b
}

// afterDraw is the time from which on no more samples were sent because the draw still went on; the first one after a longer silence,
// or later than the rest may last, is of the next.
func (r resolution) afterDraw(b []sample, from, hi float64) float64 {
	for i := max(1, searchTime(b, from)); i < len(b) && b[i].t <= hi && b[i].t-b[i-1].t < pauseSure && r.sentByFall(b[i-1], b[i]); i++ {
		from = b[i].t + 1
	}
	return from
}

// leapsSteps says that next to the instant the level moves by more than a step from each sample to the next.
func (r resting) leapsSteps() bool {
	for i := range restFew - 1 {
		if i+1 >= len(r.samples) || math.Abs(float64(r.nearest(i).v-r.nearest(i+1).v)) <= stoodSteps*r.step {
			return false
		}
	}
	return true
}

// halted says that between the two readings next to the instant the level rose by less than a slope makes, beyond noise and what the well strays: it was turned
// away, and brings nothing up to the instant either. Where the falling line had come below that, the truck did it.
func (r resting) halted(slope float64) bool {
	if len(r.samples) < 2 {
		return false
	}
	a, z := r.nearest(0), r.nearest(1)
	if r.before {
		a, z = z, a
	}
	long := z.t - a.t
	short := float64(a.v-z.v) + slope*long
	drawn := r.before && r.head.slope < 0 && r.head.at(z.t) < float64(z.v)+short
	return !drawn && long >= restApart && short > pieceLower+r.step+restSigmas*math.Sqrt(2*stats.Square(r.sigma)+r.inflow.over(long))
}

// fallenOn are the samples behind a draw of a sensor of coarse steps from when the level had come to rest: what falls on by two steps at least, reading
// by reading, and then stays there for minutes, is seen through a filter, or is the last of the draw. Waves come up again.
func (r resting) fallenOn() []sample {
	b, k := r.samples, 0
	for k+1 < len(b) && b[k+1].v <= b[k].v && b[k+1].t < r.at+ranLong {
		k++
	}
	first, _ := sameAs(b, k)
	rest := between(b, b[first].t, b[first].t+ranRest)
	off := func(s sample) bool { return math.Abs(float64(s.v-b[k].v)) > stoodSteps*r.step }
	if r.before || float64(b[0].v-b[k].v) < stoodSteps*r.step || len(rest) < stepFew || slices.ContainsFunc(rest, off) {
		return b
	}
	return b[first:]
}

// withoutEchoes leaves out the runs of samples that jump away and are back within the time that a false echo lasts, or one that the next is
// back from within some minutes: what came between was not believed, or nothing came. An echo off the oil that falls in is back where that brought it.
func (r *readings) withoutEchoes(b []sample) []sample {
	far, back := math.Max(echoRise, 6*r.noise.sigma), math.Max(0.3*echoRise, 3*r.noise.sigma)
	out := make([]sample, 0, len(b))
	for i := 0; i < len(b); i++ {
		n := len(out)
		if n > 1 && out[n-1].n > 1 && (out[n-1].v-out[n-2].v)*(b[i].v-out[n-1].v) > 0 && math.Abs(float64(out[n-1].v-out[n-2].v)) > back {
			n-- // a mean of readings on both sides of an edge
		}
		if n > 0 && math.Abs(float64(b[i].v-out[n-1].v)) > far {
			rose := float64(b[i].v - out[n-1].v) // a sensor of steps rests on either side of one
			near := max(back, echoBack*math.Abs(rose))
			if b[i].t-out[n-1].t <= echoLong { // behind a silence it is where a pump may have begun to draw
				near = max(near, echoBrings*rose)
			}
			for j := i + 1; j < len(b) && (b[j].t-b[i].t <= echoLong || j == i+1 && b[j].t-b[i].t <= hungLeast); j++ {
				if was := out[n-1].v; math.Abs(float64(b[j].v-was)) <= near || j == i+1 && b[i].v < was && b[j].v > was { // the well makes more
					i, out = j, out[:n]
					break
				}
			}
		}
		out = append(out, b[i])
	}
	return out
}

// withDeadband is a gauge of a sensor that reports by exception: at the end the level was less than a deadband below the last report of the fall. What it says
// by the clock, where the well would long have made it tell that it rises, is the level: it stands, and for longer than it ever paused nothing flows in.
func (g gauge) withDeadband(r resolution, before, falling, after []sample, sigma float64) (closing gauge, stands bool) {
	dead := r.deadband
	if len(falling) == 0 {
		return g, false
	}
	fell := falling[len(falling)-1]
	last := float64(fell.v)
	if len(after) > 0 && float64(after[0].v) < last-2*dead {
		return g, false
	}
	_, usual, longest := r.quietSince(before)
	for k := 0; k < len(after) && math.Abs(float64(after[k].v)-last) < exceptMoved*dead && usual > 0; k++ {
		if silent := (after[k].t - fell.t) / (1 + (float64(after[k].v)-last)/dead); silent > overdueTimes*usual {
			closing = gauge{level: math.Min(last, float64(after[0].v)), err: sigma, samples: k + 1, away: after[0].t - fell.t}
			stands = silent > overdueTimes*longest
		}
	}
	if closing.samples > 0 {
		return closing, stands
	}
	mid, own := last-dead/2, stats.Square(dead)/12+stats.Square(sigma)
	if off := g.level - mid; math.Abs(off) > dead/2+restSigmas*math.Hypot(g.err, sigma) { // oil did not come as it usually does
		g.level, g.err, g.carried = mid, math.Sqrt(own), 0
		return g, false
	}
	share := own / (own + stats.Square(g.err))
	g.level, g.err, g.carried = mid+share*(g.level-mid), math.Sqrt(share)*g.err, share*g.carried
	return g, false
}

// stepInNoise is a step in standard deviations of the noise of a level at rest, as the readings beside the commonest value show
// it, or, where it moves, those about their neighbours'; +Inf where they do not.
func stepInNoise(b []sample, step float64) float64 {
	v := values(b)
	if len(v) < atomFew {
		return math.Inf(1)
	}
	if early, late := b[:len(b)/2], b[len(b)/2:]; math.Abs(stats.Median(values(early))-stats.Median(values(late))) > step {
		if noise := math.Min(neighbourScatter(early), neighbourScatter(late)); noise >= step/2 {
			return step / noise
		}
		return math.Inf(1)
	}
	counts, common, n := map[int]float64{}, 0, float64(len(v))
	for _, x := range v {
		cell := int(math.Round((x - v[0]) / step))
		if counts[cell]++; counts[cell] > counts[common] {
			common = cell
		}
	}
	below, above := 0.5, 0.5
	for cell, n := range counts {
		if cell < common {
			below += n
		} else if cell > common {
			above += n
		}
	}
	if len(counts) < 2 {
		return math.Inf(1)
	}
	return quantile(1-above/(n+1)) - quantile(below/(n+1))
}

// quantile is how many standard deviations of noise a share of it lies below, and share the other way round.
func quantile(of float64) float64 { return math.Sqrt2 * math.Erfinv(2*of-1) }
func share(below float64) float64 { return (1 + math.Erf(below/math.Sqrt2)) / 2 }
