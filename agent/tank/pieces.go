package tank

import (
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	piecePrice  = 15.0      // what one more piece has to save, in squares of the noise: two for the line, the rest against chance
	pieceMost   = 120       // samples that are cut at most
	pieceFine   = 480.0     // s next to the instant in which every sample counts for itself
	pieceCarry  = 30.0      // s for which a piece's own slope carries it on, or as long as from one sample to the next
	pieceLower  = 0.05      // in by which a later piece has to be lower, beyond chance
	pieceSlope  = 0.02 / 60 // in/s by which a level at rest may move otherwise than the well makes it
	creepRate   = 0.08      // bbl/min; what falls as fast is no rest: a pump that fades, a hose that drains
	creepSure   = 2.5       // standard errors
	beganRate   = 0.25      // bbl/min; what falls as fast before a draw, and as far, is its slow start
	beganBbl    = 0.5
	ranLong     = 300.0 // s behind a draw in which a hose runs back
	ranStood    = 75.0  // s that it does not stand still before
	ranRest     = 180.0 // s of rest that show that it has
	ranDumps    = 1.1   // times the most that rose in that time at rest, than which it is more
	ranLump     = 1.5   // times as much that rises in twice the time, below which it comes at once and not by and by
	ranMost     = 6.0   // bbl that a hose and a truck's piping hold
	rampLong    = 30.0  // s in which a pump comes up to its rate
	spikeLeast  = 0.3   // in
	spikeAmong  = 5     // readings, of fewer none stands out
	spikeSigma  = 5.0   // times the noise that one reading stands out
	echoShare   = 0.75  // of its rise, above which the falling line has to pass where a rise was no echo
	stairFew    = 3     // steps of a fall that is nothing else
	stairLong   = 130.0 // s from one reading to the next that it takes at most
	stairHand   = 45.0  // s that a step of somebody's hand takes at most
	stairRest   = 45.0  // s of a rest at least
	stairKept   = 8     // rests that are remembered until they are believed
	stairTold   = 2     // rests that tell it, and readings in each of them
	stairFine   = 2.0   // times the noise by which it would have fallen in a rest
	stairWaves  = 1.5   // times the greatest rise from one reading to the next that a step is high
	stairNoise  = 3.0   // times the noise that a step is high
	stepLeast   = 1.5   // in
	besideRest  = 60.0  // s of rest on either side of a step beside a draw, or from one reading to the next
	besideSlack = 0.3   // in that a level at rest may move meanwhile
	besideAlike = 0.5   // share of a rest that one value stands, above which it is not alive
	stairMost   = 250   // samples that are cut
)

// piece is a stretch of samples through which one straight line goes.
type piece struct {
	line               // at the mean time
	from, to   float64 // times of the first and the last sample
	n          int
	err, slant float64 // standard errors of the level at the mean time, in, and of the slope, in/s
}

// falls says that the level is not at rest: it fell as fast, and as far, as oil that leaves.
func (p piece) falls(rate, drop float64) bool {
	return p.n > 1 && p.slope < -math.Max(rate, creepSure*p.slant) && -p.slope*(p.to-p.from) >= drop
}

// rise is the slope of a piece, with its standard error: a short piece's is drawn to the usual one.
func (p piece) rise(usual float64) (slope, err float64) {
	prior := math.Max(stats.Square(pieceSlope+usual), stats.Square(p.slope-usual)-stats.Square(restSigmas*p.slant))
	own := prior / (prior + stats.Square(p.slant))
	return own*p.slope + (1-own)*usual, math.Sqrt(prior * (1 - own))
}

// drawn is the level of a piece at a time, with its standard error.
func (p piece) drawn(at, usual float64) (level, err float64) {
	slope, unsure := p.rise(usual)
	return p.v + slope*(at-p.t), math.Hypot(p.err, unsure*(at-p.t))
}

// sums are those of weights, times, levels and their products up to a sample.
type sums struct{ w, t, v, tt, tv, vv float64 }

// pieces cuts the samples into straight pieces, in order of time, with jumps between them: of all ways to do so the one with
// the least sum of the squares that are left and of a price for each piece. It gives the noise that it reckoned with.
func (r resting) pieces() (out []piece, sigma float64) {
	b := r.withoutSpikes()
	sigma = math.Max(r.sigma, r.step/math.Sqrt(12))
	if s := neighbourScatter(b); s > sigma && len(b) >= aloneFew { // of fewer what lifts the level is no noise
		sigma = s
	}
	return cut(r.thinned(b), func(s sample) float64 {
		if !r.before && s.t-r.at < ranLong && rocks(r.samples, s.t) > rocksNoise*sigma {
			return math.Max(stats.Square(rocks(r.samples, s.t)), r.sampleVariance(s, sigma))
		}
		return r.sampleVariance(s, sigma)
	}), sigma
}

// cut is the cutting itself, for samples of some variance each.
func cut(b []sample, variance func(sample) float64) (out []piece) {
	sum := make([]sums, len(b)+1)
	for i, s := range b {
		w := 1 / variance(s)
		t, v, a := s.t-b[0].t, float64(s.v-b[0].v), sum[i]
		sum[i+1] = sums{a.w + w, a.t + w*t, a.v + w*v, a.tt + w*t*t, a.tv + w*t*v, a.vv + w*v*v}
	}
	cost, from := make([]float64, len(b)+1), make([]int, len(b)+1)
	for j := 1; j <= len(b); j++ {
		cost[j] = math.Inf(1)
		for i := range j {
			if cost[i]+piecePrice < cost[j] {
				if c := cost[i] + piecePrice + residual(sum[i], sum[j]); c < cost[j] {
					cost[j], from[j] = c, i
				}
			}
		}
	}
	for j := len(b); j > 0; j = from[j] {
		out = append(out, straight(b[from[j]:j], b[0], sum[from[j]], sum[j]))
	}
	slices.Reverse(out)
	return out
}

// cutEvenly is the cutting of samples of one noise each.
func cutEvenly(b []sample, sigma float64) []piece {
	return cut(b, func(sample) float64 { return sigma * sigma })
}

// centred are the weight, the mean time and level, and the sums about them, of the samples between two sums.
func centred(a, z sums) sums {
	w := z.w - a.w
	t, v := (z.t-a.t)/w, (z.v-a.v)/w
	return sums{w, t, v, z.tt - a.tt - w*t*t, z.tv - a.tv - w*t*v, z.vv - a.vv - w*v*v}
}

// residual is the sum of the squares that a line through the samples between two sums leaves.
func residual(a, z sums) float64 {
	c := centred(a, z)
	if c.tt > 1e-9 {
		c.vv -= c.tv * c.tv / c.tt
	}
	return math.Max(c.vv, 0)
}

// straight is the line through some samples; the sums count from the first one of all.
func straight(b []sample, first sample, a, z sums) piece {
	c := centred(a, z)
	p := piece{line: line{t: first.t + c.t, v: float64(first.v) + c.v}, from: b[0].t, to: b[len(b)-1].t, n: len(b), err: 1 / math.Sqrt(c.w), slant: math.Inf(1)}
	if c.tt > 1e-9 {
		p.slope, p.slant = c.tv/c.tt, 1/math.Sqrt(c.tt)
	}
	return p
}

// withoutSpikes leaves out single readings that stand out from those on either side.
func (r resting) withoutSpikes() []sample {
	b := r.samples
	out := make([]sample, 0, len(b))
	for i, s := range b {
		if i == 0 || i == len(b)-1 || len(b) < spikeAmong && !r.before {
			out = append(out, s)
			continue
		}
		left, right := stats.Median(values(b[max(0, i-3):i])), stats.Median(values(b[i+1:min(len(b), i+4)]))
		off := math.Max(spikeLeast, spikeSigma*r.sigma)
		if v := float64(s.v); len(b) >= spikeAmong && v-math.Max(left, right) > off || math.Min(left, right)-v > off { // what dips before a draw and is back is no oil
			continue
		}
		out = append(out, s)
	}
	return out
}

// thinned averages what lies away from the instant.
func (r resting) thinned(b []sample) []sample {
	if len(b) <= pieceMost {
		return b
	}
	width := (b[len(b)-1].t - b[0].t) / pieceMost * 1.5
	out := b[:0:0]
	for i := 0; i < len(b); {
		j, cell := i+1, width
		if math.Abs(b[i].t-r.at) < pieceFine {
			cell = binWidth + 1
		}
		for j < len(b) && b[j].t-b[i].t < cell {
			j++
		}
		out = append(out, meanSample(b[i:j]))
		i = j
	}
	return out
}

// lowestBehind is the piece behind a draw that the closing is read off: the first one at rest, or a later one that lies lower, since the level
// rises once the draw is over, or the rest to which the hose ran back, and how sure that is, in inches. Where none is at rest: the last.
func (r resting) lowestBehind(ps []piece, usual float64) (best int, unsure float64) {
	best, low, sure := -1, 0.0, 0.0
	for k, p := range ps {
		if p.falls(creepRate*r.perBbl/60, 0) || p.n == 1 && k < len(ps)-1 {
			continue
		}
		v, err := p.drawn(p.from, usual)
		if best < 0 || v < low-pieceLower-restSigmas*math.Hypot(sure, err) {
			best, low, sure = k, v, err
		}
	}
	if best < 0 {
		return len(ps) - 1, 0
	}
	if best+1 < len(ps) {
		if unsure, ran := r.ranBack(ps[best], ps[best+1], usual); ran {
			return best + 1, unsure
		}
	}
	return best, 0
}

// ranBack says that behind a draw the level rose, by more than the well makes or dumps in that time, to a rest that no oil raises any more: the hose ran back.
// Where the well comes at once two of its dumps may have, and the inches say so.
func (r resting) ranBack(p, q piece, usual float64) (unsure float64, ran bool) {
	low, sure := p.drawn(p.from, usual)
	v, err := q.drawn(q.from, usual)
	rose, noise, long := v-low, stats.Square(sure)+stats.Square(err), q.from-math.Min(p.from, r.at+settleShort)
	if q.from-r.at > ranLong || q.to-q.from < ranRest || p.to-p.from >= ranStood && p.slope < creepSure*p.slant || q.slope-usual > math.Max(pieceSlope, creepSure*q.slant) {
		return 0, false
	}
	took, chance := r.took(p.from, q.from, low+rose/4, v-rose/4)+3*nodeEvery, pieceLower+restSigmas*math.Sqrt(noise) // as coarsely as the rest is known
	if !r.showsWell() {
		took, chance = ranLong, usual*long+pieceLower+restSigmas*math.Sqrt(noise+r.inflow.variance*long)
	}
	dumped := r.dumped(took)
	if rose < 2*ranDumps*dumped && r.dumped(2*took) < ranLump*dumped { // two at once
		unsure = rose / math.Sqrt2
	}
	return unsure, rose > math.Max(chance, ranDumps*dumped) && rose < ranMost*r.perBbl
}

// lastBefore is the piece before a draw that the opening is read off: the last one that has not begun to fall and is no echo.
func (r resting) lastBefore(ps []piece, usual float64) int {
	for k := len(ps) - 1; k > 0; k-- {
		p, q := ps[k], ps[k-1]
		was, _ := q.drawn(p.from, usual)
		v, _ := p.drawn(p.from, usual)
		chance := pieceLower + restSigmas*math.Hypot(p.err, q.err)
		began := p.n <= restFew && p.from > r.at-2*rampLong && v < was-chance
		echo := (p.n <= stepFew || p.to-p.from < echoLong) && p.v > was+math.Max(echoRise, chance) && r.head.slope < 0 && r.head.at(p.to) < was+echoShare*(p.v-was)
		strays := p.n < restFew && p.to-p.from < rampLong && math.Abs(p.v-q.at(p.t)) < spikeSigma*r.sigma // one reading made it, with the one beside it
		if !p.falls(beganRate*r.perBbl/60, beganBbl*r.perBbl) && p.n > 1 && !strays && !began && !echo {
			return k
		}
	}
	return 0
}

// staircase counts the steps of a draw, each shorter than a pump runs and beside a rest, and the inches that they make, as where somebody trims a zero by and
// by. They are told where readings amid the rests say that the sensor was alive: a held value, or one of few bits, hides what left meanwhile.
func staircase(ts *tankState, t *Tank, d draw) (steps int, inches float64, told bool) {
	all := between(ts.levels.recent, d.start-restNear, d.end+restNear)
	b, noise, hand := ts.withoutEchoes(all), stairNoise*ts.noise.perSample()+d.step, math.Max(stairHand, 2*ts.interval.fresh())
	least, changes, lively := noise, 0, 0
	rest := math.Max(stairRest, stairFine*noise/d.slope()) // in which the fall at its mean slope would be seen
	for k := 1; k < len(all); k++ {                        // a pump's waves rise as far as they fall
		least = math.Max(least, stairWaves*float64(all[k].v-all[k-1].v))
	}
	for k := 1; k < len(b); k++ {
		from := k - 1
		for ; k < len(b) && float64(b[k-1].v-b[k].v) > least; k++ {
		}
		to := k - 1
		if long := b[to].t - b[from].t; to == from || long > hand && (to > from+1 || long > stairLong) { // a jump that was not believed at first hides a step's time
			continue
		}
		first, last := from, to
		for ; first > 0 && stood(b[first-1], b[from], noise); first-- {
		}
		for ; last+1 < len(b) && stood(b[to], b[last+1], noise); last++ {
		}
		by := float64(b[from].v - b[to].v) // two may follow each other at once
		if b[from].t-b[first].t >= rest || b[last].t-b[to].t >= rest || by-noise > quickTimes*t.maxRate(float64(b[to].v))*(b[to].t-b[from].t) {
			steps, inches = steps+1, inches+by
			if changes == 0 {
				changes = changesIn(b[first : from+1])
			}
			n := changesIn(b[to : last+1])
			if changes += n; n >= stairTold {
				lively++
			}
		}
	}
	return steps, inches, lively >= stairTold || changes >= stairTold*steps
}

// stood says that from one sample to a later one the level did not fall, nor rise faster than any well lifts it.
func stood(a, b sample, noise float64) bool {
	by := float64(b.v - a.v)
	return by >= -noise && by <= noise+inflowMost*(b.t-a.t)
}

// movedBeside is the first step minutes before or behind one of some draws with which the sensor moved: the level fell between two readings by more than the
// pump takes in as long, too quickly for a truck to come and go, and rested on either side of it, alive. Of a held value nobody knows how long it took.
func movedBeside(ts *tankState, t *Tank, b []sample, ds []draw) (m sensorStep) {
	for _, d := range ds {
		if t.Group != "" || d.samples < pumpedFew || d.stuck.to > 0 {
			continue
		}
		reach, noise := pauseLate*t.Loads.PauseMerge.Seconds(), leapNoise*ts.noise.perSample()
		slack := math.Max(besideSlack, noise) + d.step
		for k := max(2, searchTime(b, d.start-reach)); k+1 < len(b) && b[k].t <= d.end+math.Max(reach, t.Loads.Confirm.Seconds()); k++ {
			by := float64(b[k-1].v - b[k].v)
			before, after := t.barrels(d.opening.level, float64(b[k-1].v)) < partBbl, t.barrels(float64(b[k].v), d.closing.level) < partBbl
			if by < stepLeast || b[k].flags == unlinked || !before && !after || t.Sensor == "hydrostatic" && (before || hatchedBefore(b, d, by, ts.interval.fresh())) {
				continue
			}
			most, long := drewAtMost(ts, d, b, k)
			told := 0.0
			if d.deadband > 0 { // what moves is told within this time
				told = long
			}
			leapt := by > fasterThan*t.maxRate(float64(b[k].v))*long
			if within := b[k-1].t <= d.end && t.barrels(d.opening.level, float64(b[k-1].v)) >= t.Loads.MinLoad; leapt && (before || !within) {
				continue // other rules see it; and what is left is to be a load
			}
			if long > alikeLong || by <= fasterThan*most+noise+d.step || !restsBeside(b, k-1, -1, slack, 0) || !restsBeside(b, k, 1, slack, told) {
				continue
			}
			if n, _, _ := staircase(ts, t, d); n < stairFew {
				return sensorStep{b[k].t, by}
			}
		}
	}
	return m
}

// hatchedBefore says that a pressure sensor fell by as many inches, give or take half, between two readings before a draw too: a hatch is opened
// for each of its gauges.
func hatchedBefore(b []sample, d draw, inches, each float64) bool {
	for k := searchTime(b, d.start-hatchLong) + 1; inches <= vapourMost && k < len(b) && b[k].t <= d.start+rampLong+2*each; k++ {
		if math.Abs(float64(b[k-1].v-b[k].v)-inches) <= inches/2 {
			return true
		}
	}
	return false
}

// drewAtMost are the inches that a draw's pump can take from rest to rest in the time before a sample, by the most that it took from one
// reading to the next, and that time in seconds. What reports by exception is silent before a pump because nothing moved.
func drewAtMost(ts *tankState, d draw, b []sample, k int) (inches, long float64) {
	since := k - 1
	if ts.interval.mayBeCached() {
		since, _ = sameAs(b, k-1)
	}
	first, last := max(1, searchTime(b, d.start)), min(len(b), searchTime(b, d.end)+1)
	rate, times := 0.0, make([]float64, 0, max(0, last-first))
	for j := first; j < last; j++ {
		if dt := b[j].t - b[j-1].t; j != k && b[j].flags != unlinked {
			rate, times = math.Max(rate, float64(b[j-1].v-b[j].v)/dt), append(times, dt)
		}
	}
	long = b[k].t - b[since].t
	if d.deadband > 0 && long <= pauseSure && len(times) > 0 {
		long = math.Min(long, 2*stats.Median(times))
	}
	return rate * math.Max(long-rampLong/2, long/2), long
}

// restsBeside says that a level rests on one side of a step, back in time or on, for three fresh readings, and is alive there. Where what moves is told within some
// seconds it rests too while nothing is told.
func restsBeside(b []sample, k, way int, slack, told float64) bool {
	z := k
	for z+way >= 0 && z+way < len(b) && math.Abs(float64(b[z+way].v-b[k].v)) <= slack && math.Abs(b[z+way].t-b[k].t) <= restLong {
		z += way
	}
	long := math.Abs(b[z].t - b[k].t)
	if told > 0 && z+way < len(b) {
		long += math.Max(0, b[z+way].t-b[z].t-told)
	}
	first, last := sameAs(b, k)
	return long >= besideRest && b[last].t-b[first].t <= besideAlike*long && (told > 0 || changesIn(b[min(z, k):max(z, k)+1]) >= stepFew-1)
}

// joinedOverStuck is one draw of two between which the value stood still: it went on as it had fallen,
// down to the level that was seen in the end.
func joinedOverStuck(a, b draw) draw {
	a.stuck = span{a.end, b.end}
	end := crossing(a.endLine, line{b.end, b.closing.level, b.inflowAfter}, a.end, b.end)
	a.gap = math.Max(a.gap, b.end-a.end)
	a.closing, a.inflowAfter, a.within.hi = b.closing, b.inflowAfter, b.within.hi
	a.closing.level -= b.inflowAfter * (b.end - end)
	a.closing.away, a.closing.carried = b.end-end, b.end-end
	a.endLine.v += b.closing.level - a.endLine.at(b.end) + 1 // what comes now lies off the falling line
	a.end, a.oilTo = end, end
	return a
}
