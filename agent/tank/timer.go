package tank

import (
	"fmt"
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	timerCycles = 3.0   // times that it went on and off before a draw, which show that a well's pump goes by a timer
	timerSure   = 0.35  // share of what an even rise misses the levels by, that a timer's does at most
	timerMost   = 0.6   // the same where many cycles show it
	timerOff    = 0.12  // share of what comes while it is on, by which it does
	timerSame   = 2.0   // times that, beyond noise, by which it may miss the levels behind the draw
	timerShown  = 900.  // s of rest behind it that show that it goes on so
	timerFew    = 4     // levels of it
	changeLook  = 1500. // s of rest next to a draw that show how fast its well comes
	changeKnown = 0.25  // share of what the change makes over a draw, by which the bend tells it
	timerLeast  = 600.0 // s of its period
	timerPhases = 4     // instants of half a period at which it is tried
)

// stretches are those of some levels in which they rose as a well makes it: the rest between draws and steps.
func stretches(d draw, b []sample, first float64) (rests [][]sample) {
	if d.deadband > 0 {
		b = heldThrough(b)
	}
	sigma := math.Max(scatters(b), math.Max(d.step, d.deadband)/math.Sqrt(12))
	var run []sample
	var was piece
	since := math.Inf(-1)
	end := func() {
		if len(run) >= timerFew && run[len(run)-1].t-run[0].t >= timerShown {
			rests = append(rests, run)
		}
		run = nil
	}
	for _, p := range cutEvenly(b, sigma) {
		step := 0.0
		if was.n > 0 {
			at := (was.to + p.from) / 2
			step = math.Abs(p.at(at)-was.at(at)) - inflowMost*(p.from-was.to)
		}
		was = p
		if p.n == 1 || p.falls(0, fallLeast) || p.slope > inflowMost || step > restSigmas*sigma+fallLeast {
			end()
			since = p.to + first
			if p.n == 1 || p.falls(0, fallLeast) || p.slope > inflowMost {
				continue
			}
			since = p.from
		}
		run = append(run, between(b, math.Max(p.from, since), p.to+1)...)
	}
	end()
	return rests
}

// clocked is the timer by which a well comes, as its rest before a draw shows it, in a day and in the hours before it, of a period no shorter
// than the least; false where it comes by none.
func clocked(day, hours [][]sample, least float64) (z timer, ok bool) {
	if len(hours) == 0 {
		return z, false
	}
	rests, last := slices.Concat(day, hours), hours[len(hours)-1]
	from, long, seen, noise := rests[0][0].t, last[len(last)-1].t-rests[0][0].t, 0.0, 0.0
	for _, b := range rests {
		seen += b[len(b)-1].t - b[0].t
	}
	for _, b := range hours {
		noise = math.Max(noise, scatters(b))
	}
	flat := timer{period: 1e9, on: 1e9}.fitted(rests)
	if z = flat; z.off <= noise {
		return z, false
	}
	for period := least; timerCycles*period <= seen; period += period * period / (8 * long) { // by which it is an eighth off at the end
		for k := range timerPhases { // the other half of them is on where this is off
			x := timer{at: from + long/2 + period*float64(k)/(2*timerPhases), period: period, on: period / 2}.fitted(rests)
			if x.off < z.off {
				z = x
			}
		}
	}
	z = z.nearest(rests)
	beyond := func(off float64) float64 { return math.Sqrt(math.Max(0, off*off-noise*noise)) }
	sure := math.Min(timerMost, timerSure*math.Sqrt(seen/(timerCycles*z.period))) // the more cycles fold, the less else makes them
	return z, z.rate > 0 && z.even > -rateVaries*z.rate && seen >= timerCycles*z.period && beyond(z.off) < sure*beyond(flat.off) && beyond(z.off) < timerOff*z.rate*z.on
}

// minutes are a tank's barrels at some instants between two times, NaN where nobody knows.
func minutes(ts *tankState, t *Tank, from, to, every float64) (bbl []float64) {
	e, far := ts.levels.even(from-levelFar, to+levelFar), lumpsApart
	if learnDeadband(between(ts.levels.recent, from-keepFor, to+levelFar)) > 0 {
		e.recent, far = heldThrough(e.recent), math.Inf(1)
	}
	e.recent = ts.levels.withHistory(from-levelFar, to, e.recent)
	far = max(far, 2*every, 2*ts.interval.fresh())
	for at := from; at <= to; at += every {
		v, ok := e.within(at, far)
		if !ok {
			v = math.NaN()
		}
		bbl = append(bbl, t.barrels(v, 0))
	}
	return bbl
}

// siteMinutes are the levels of a tank at some instants between two times, with what the site's other tanks hold, in its inches, and that alone. A well that is
// turned from one tank to another, or that flows on from a full one, goes on as it was in their sum.
func (s siteTanks) siteMinutes(i int, from, to, every, per float64) (all, others []sample) {
	own := minutes(s.st.tanks[i], &s.site.tanks[i], from, to, every)
	beside := make([]float64, len(own))
	for j, o := range s.separate(i) {
		if s.st.tanks[j].noise.hidesLevel() {
			return nil, nil
		}
		for k, bbl := range minutes(s.st.tanks[j], o, from, to, every) {
			beside[k] += bbl
		}
	}
	for k, bbl := range own {
		at := from + float64(k)*every
		if !math.IsNaN(beside[k]) {
			others = append(others, sample{t: at, v: float32(beside[k] / per)})
		}
		if !math.IsNaN(bbl + beside[k]) {
			all = append(all, sample{t: at, v: float32((bbl + beside[k]) / per)})
		}
	}
	return all, others
}

// cameByTimer are the barrels that flowed in over a draw from a well whose pump goes by a timer, and twice their standard error: it is as regular before
// as behind, and so it was meanwhile. What the site's other tanks took in then did not come here. False where it is no timer's, or went on otherwise behind.
func (s siteTanks) cameByTimer(i int, d draw) (bbl, off float64, ok bool) {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	first, until, per := t.resumes(), d.watched(t, ts.last.t), t.Table.PerInch(d.opening.level)
	rest := ts.levels.even(d.end+first, until).recent
	if d.deadband > 0 { // it stands at its closing until it reports, and then until the next one
		rest = append([]sample{{t: d.end + first, v: float32(d.closing.level)}}, rest...)
		rest = append(rest, sample{t: until, v: rest[len(rest)-1].v})
	}
	behind := stretches(d, rest, 0)
	long, near, clear := d.start-inflowDay, d.start-lumpsLook, d.start-rampClear
	own, plain := stretches(d, ts.levels.even(near, clear).recent, first), d
	plain.deadband = 0
	rise, err, ok := cameByClock(ts, d, stretches(plain, ts.levels.withHistory(long, near, ts.levels.even(long, near).recent), first), own, behind)
	_, others := s.siteMinutes(i, d.start-lumpsApart/2, d.end+lumpsApart/2, coarseEvery, per)
	a, z := between(others, d.start-lumpsApart/2, d.start+lumpsApart/2), between(others, d.end-lumpsApart/2, d.end+lumpsApart/2)
	if len(s.site.tanks) == 1 || len(a) < timerFew || len(z) < timerFew {
		return rise * per, 2 * err * per, ok
	}
	took, noise := float64(meanSample(z).v-meanSample(a).v), math.Sqrt2*scatters(others)
	for k, most := timerFew, math.Inf(-1); k <= len(others); k++ { // another truck's
		now := float64(meanSample(others[k-timerFew : k]).v)
		if most = math.Max(most, now); most-now > fallLeast+restSigmas*noise {
			return 0, 0, false
		}
	}
	for j := range s.separate(i) {
		for _, x := range s.drawsOf(j) {
			if x.end > d.end {
				until = math.Min(until, x.start-lumpsApart/2)
			}
		}
	}
	d = plain
	old, _ := s.siteMinutes(i, long, near, historyEvery, per)
	before, _ := s.siteMinutes(i, near, clear, coarseEvery, per)
	sum, _ := s.siteMinutes(i, d.end+first, until, coarseEvery, per)
	if rests := stretches(d, sum, 0); len(rests) == 1 {
		behind = rests
	}
	made, unsure, folds := cameByClock(ts, d, stretches(d, old, first), stretches(d, before, first), behind)
	made, unsure = math.Max(0, made-took), math.Hypot(unsure, noise)
	if ok && (!folds || math.Abs(rise-made) <= 2*unsure) { // what fills it alone has its clock
		return rise * per, 2 * err * per, true
	}
	return made * per, 2 * unsure * per, folds
}

// cameByClock are the inches that a timer makes over a draw, as stretches of rest in the hours before it show it, and where they do not those of the day, and
// their standard error; false where it is none, or the rest behind goes on otherwise.
func cameByClock(ts *tankState, d draw, day, before, behind [][]sample) (inches, err float64, ok bool) {
	z, ok := clocked(nil, before, timerLeast)
	if !ok {
		z, ok = clocked(day, before, lumpsLook/timerCycles) // what turns sooner they show
	}
	if !ok || len(behind) != 1 {
		return 0, 0, false
	}
	above, missed := 0.0, 0.0
	for _, s := range behind[0] {
		above += (float64(s.v) - z.made(d.end, s.t)) / float64(len(behind[0]))
	}
	for _, s := range behind[0] {
		missed += stats.Square(float64(s.v)-z.made(d.end, s.t)-above) / float64(len(behind[0]))
	}
	inches, missed = z.made(d.start, d.end), math.Sqrt(missed)
	err = math.Hypot(math.Sqrt2*math.Max(z.off, missed), math.Hypot(rateVaries/2*inches, z.rate*nodeEvery))
	return inches, err, missed < timerSame*max(z.off, ts.noise.perSample(), d.deadband/math.Sqrt(12))
}

// steadyRate is the rate at which a level rises over a while of its rest, and its standard error; false where it is not known, or one half of that is of
// another rate than the other.
func steadyRate(d draw, b []sample, from, to float64) (z flowPeriod, ok bool) {
	b = between(b, from, to)
	if len(b) < 2*stillFew || b[len(b)-1].t-b[0].t < 0.8*(to-from) {
		return z, false
	}
	rate := func(x []sample) (slope, err float64) {
		l, _ := fit(x)
		sum, out := 1.0, 0.0
		for _, s := range x {
			sum, out = sum+stats.Square(s.t-l.t), out+stats.Square(float64(s.v)-l.at(s.t))
		}
		err = math.Sqrt((out/float64(len(x)-2) + d.step*d.step/12) / sum)
		return l.slope, math.Hypot(err, math.Sqrt(d.inflow.variance/(x[len(x)-1].t-x[0].t)))
	}
	first, e1 := rate(b[:len(b)/2])
	second, e2 := rate(b[len(b)/2:])
	all, err := rate(b)
	return flowPeriod{from: from, to: to, rate: all, err: err}, math.Abs(second-first) < slopeSure*math.Hypot(e1, e2)
}

// cameChanged are the inches that flowed in over a draw, and their standard error, from a well that came otherwise behind it than before: its pump was started
// or stopped, or it was turned. The fall has one bend, of just that size. False where it came as before, or the bend does not show surely.
func cameChanged(ts *tankState, t *Tank, d draw) (inches, err float64, ok bool) {
	per, long := t.Table.PerInch(d.opening.level), d.end-d.start
	if !fallTells(t, d, 0) || !d.inflow.known || d.parts > 1 { // a stop bends the fall too
		return 0, 0, false
	}
	if _, turns := lumpsAbout(ts, d, d.watched(t, ts.last.t)); turns {
		return 0, 0, false
	}
	near, behind := d.start-rampClear, d.end+resumeFirst
	z, seen := lumps{}, false
	if z.before, ok = steadyRate(d, between(ts.levels.recent, ts.decidedTo+resumeFirst, near), near-math.Max(changeLook, long), near); ok {
		z.behind, seen = steadyRate(d, between(ts.levels.recent, behind, d.watched(t, ts.last.t)), behind, behind+changeLook)
	}
	if !seen {
		return 0, 0, false
	}
	a, b := math.Max(0, z.before.rate), math.Max(0, z.behind.rate)
	z.before.fast, z.behind.fast = a > b, b > a
	z.slow, z.fast = math.Min(a, b), math.Max(a, b)
	z.varies = math.Max(lumpsVary*z.fast, lumpsAlike*math.Max(z.before.err, z.behind.err))
	if (z.fast-z.slow)*long*per <= wrongBbl(t.volume(d)) || z.fast-z.slow < slopeSure*math.Hypot(z.before.err, z.behind.err) || z.slow > lumpsSlow*z.fast {
		return 0, 0, false
	}
	weigh := func(c *courses) {
		end := len(c.at) - 1
		for k := range c.at {
			fast, chance := [2][2]int{{0, k}, {end, end}}, 0.0
			if !z.before.fast {
				fast[0] = [2]int{k, end}
			}
			if k == 0 || k == end {
				chance = math.Log(float64(end)) // who turns a well does so before the pump draws, or behind it
			}
			c.weigh(chance, fast)
		}
	}
	inches, err, ok = z.shown(ts, d, 1, weigh)
	slows, unsure, fits := z.shown(ts, d, 2, weigh)
	switch apart := math.Abs(slows - inches); {
	case apart > 2*math.Max(err, unsure): // where the pump slows down the fall bends too
		inches, err = slows, math.Max(unsure, apart/2)
	case unsure < err:
		inches, err = slows, unsure
	}
	return inches, math.Hypot(err, rateVaries*inches), ok && fits && 2*err <= changeKnown*(z.fast-z.slow)*long
}

// cameByTurns are the barrels that flowed in over a draw, and twice their standard error, of those that an average tells: where its well comes by turns,
// by the clock where it has one, and else as the fall shows it.
func cameByTurns(ts *tankState, t *Tank, d draw, turns bool, average, unsure float64) (bbl, off float64) {
	per := t.Table.PerInch(d.opening.level)
	if came, err, ok := cameChanged(ts, t, d); ok && 2*err*per < lumpsBetter*unsure {
		return came * per, 2 * err * per
	}
	came, err := cameInLumps(ts, t, d, turns, average, unsure)
	if once, off, ok := cameAtOnce(ts, t, d); err == unsure && ok && (off < lumpsBetter*unsure || once-average > unsure+off) {
		return once, off
	}
	return came, err
}

const (
	slowedBehind = 1800.0 // s behind the load before, in which a level may rise otherwise
	slowedLeast  = 100.0  // s that a slowdown of a fall takes
	slowedMost   = 900.0  // s that it takes at most
	slowedFew    = 6      // levels of a fall that show one
	slowedBends  = 10     // levels that show that the pump slowed down evenly too
	slowedSaves  = 20.0   // squares of the noise that it explains
	slowedRate   = 0.2    // share of the pump's rate that is missing in it
	slowedAlike  = 0.75   // share of the rate on its one side that is on the other
	slowedSure   = 1.5    // times what makes a ticket wrong
	slowedStands = 0.25   // share of the pump's rate below which it nearly stands
)

// slowdown is a time within a fall in which the level fell slower than before it, and than behind it.
type slowdown struct {
	from, to    float64
	inches, err float64 // by which it fell less, and their standard error
	rate        float64 // in/s at which it fell beside it
}

// slowdownOf is the slowdown that explains some levels of a fall best, beside a pump that slows down evenly; false where they show none, or a bend to another rate
// explains more of them.
func slowdownOf(b []sample, noise float64) (z slowdown, ok bool) {
	n := len(b)
	if n < slowedFew {
		return z, false
	}
	var even stats.Basis
	level, first, last := values(b), b[0].t, b[n-1].t
	ramp := func(from, to, power float64) []float64 {
		x := make([]float64, n)
		for k, s := range b {
			x[k] = math.Pow(stats.Clamp((s.t-from)/(to-from), 0, 1), power)
		}
		return even.Without(x)
	}
	for power := 0.0; power < 2 || power == 2 && n >= slowedBends; power++ {
		even = append(even, ramp(first, last, power))
	}
	even.Without(level)
	dented, bent, weight, lo, hi := 0.0, 0.0, 1.0, 0, n-1
	for i := 1; i < n-1; i++ {
		for j := i + 1; j < n; j++ {
			long := b[j].t - b[i].t
			if j < n-1 && (long < slowedLeast || long > slowedMost || b[i].t < first+slowedLeast || b[j].t > last-slowedLeast) {
				continue
			}
			x := ramp(b[i].t, b[j].t, 1)
			w, inches := stats.Product(x, x), stats.Product(x, level)
			switch saves := inches * inches / math.Max(w, 1e-9); {
			case j == n-1: // it goes on at another rate
				bent = math.Max(bent, saves)
			case inches > 0 && saves > dented:
				lo, hi, z.inches, dented, weight = i, j, inches/w, saves, w
			}
		}
	}
	left := math.Max(noise, (stats.Product(level, level)-dented)/float64(n-len(even)-2))
	before, _ := fit(b[:lo+1])
	behind, _ := fit(b[hi:])
	z.from, z.to, z.rate, z.err = b[lo].t, b[hi].t, -math.Min(before.slope, behind.slope), math.Sqrt(left/weight)
	return z, dented > math.Max(bent, slowedSaves*left) && -math.Max(before.slope, behind.slope) > slowedAlike*z.rate
}

// stops says that the pump may have stood in a slowdown, and not only drawn slower: for as long as makes it, but for a reading at either end, some
// readings of a fall nearly stood, or there are none so near each other.
func (z slowdown) stops(b []sample, every float64) bool {
	long := z.inches / z.rate
	for i, s := range b {
		for _, x := range b[i:] {
			if dt := x.t - s.t; dt >= long-2*every && dt <= long && float64(s.v-x.v) < slowedStands*z.rate*dt {
				return true
			}
		}
	}
	return long < 3*every
}

// cameAmid are the barrels by which a draw fell less than its pump drew before it and behind it, and what is to be said of it; 0 where it did not. Oil came in
// meanwhile, or a driver throttled his pump: a level does not tell, unless the well does that at other times. Foam that came up sinks behind it.
func cameAmid(ts *tankState, t *Tank, d draw) (bbl float64, said string) {
	if !fallRead(t, d) || d.cameIn != 0 {
		return 0, ""
	}
	per := t.Table.PerInch(d.closing.level)
	b, parts, noise, _ := fallParts(ts, d, math.Inf(1))
	foam := d.foam
	if n := len(parts); n > 0 && !parts[n-1].pumps { // it sank before the end was seen
		foam += math.Max(0, float64(b[parts[n-1].from].v)-d.closing.level)
	}
	for _, p := range parts {
		z, ok := slowdownOf(b[p.from:p.to], noise)
		long := z.to - z.from
		z.inches -= foam
		if !ok || z.inches < slowedRate*z.rate*long || z.inches-2*z.err < slowedSure*wrongBbl(t.volume(d))/per || z.inches*per < bbl ||
			z.stops(between(ts.levels.recent, z.from-lumpsCell, z.to+lumpsCell), ts.interval.fresh()) ||
			z.inches < onceTimes*ts.levels.mostRisen(math.Max(ts.decidedTo+slowedBehind, d.start-keepFor), d.start-rampClear, long+lumpsCell) {
			continue
		}
		bbl = z.inches * per
		said = fmt.Sprintf("it fell slower by %.1f bbl a minute for %s, and then as fast as before again: %.1f bbl came in meanwhile, or the pump was throttled", bbl/long*60, spanText(long), bbl)
	}
	return bbl, said
}
