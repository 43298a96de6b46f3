package tank

import (
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	seldomRead   = 120.0 // s between readings, one of which may be on its way
	intervalFast = 1.0 / 16
	intervalTime = 7200.0     // s over which the usual interval is forgotten
	longestTime  = 8 * 3600.0 // s over which the longest interval is forgotten
	heldMost     = 4500.0     // s; longest time that a gateway's cached value is taken to be fresh
	heldUnknown  = 400.0      // s; the same where nothing shows that a gateway holds it
	heldAlike    = 0.75       // share of its stay that a value counts as off the beat where it is one step further, as the one before it was
	heldShort    = 0.45       // share of its stay by which a gateway's beat varies, where a sensor's values stay as short by chance
	heldUneven   = 0.5        // the same of a longer one
	heldPair     = 0.25       // the same of one that is read twice a beat, where chance makes half of it
	beatFew      = 4          // stays of a value in a fall that show a gateway's beat
	beatOff      = 1.2        // polls by which they differ
	beatPolls    = 2.5        // polls that a beat is long at least
	beatPair     = 1.6        // polls of a value that comes twice
	heldRegion   = 1.6        // a value held this many times longer than usual is a still level, not a cache
	heldFew      = 8          // changes that show how long a value stays, and readings that it stood
	seldomHeld   = 3.0        // times as long as a value usually stays, as one in twenty does: it hung where the oil shows that too
	neverHeld    = 8.0        // the same, as one in three thousand does: it was stuck where it was read as often
	stuckHeld    = 60.0       // the same, after which it was stuck, whatever comes next: a well may be shut in for as long
	hungLeast    = 300.0      // s that a value stands to tell anything: a level at rest may do for less
	fallLeast    = 0.3        // in
	noiseMost    = 4.0        // in by which no sensor scatters at rest that shows a level
	digitLeast   = 1e-4       // in; four half digits of a gauge in float32
	digitForgot  = 1.05       // by which a sensor's digit may be coarser at each change: steps of one size show none
)

// interval is the time between readings, and between changes of their value, seconds. A gateway that is
// polled faster than its sensor reports repeats the same value; a reading by exception
// comes seldom while nothing moves.
type interval struct {
	n             int
	mean          float64 // mean interval, s
	usual         float64 // interval in which a random instant lies, s
	longest       float64 // longest interval of late, s
	changes       int
	held, heldDev float64 // mean time a value stays at rest, and its mean deviation from an even beat
}

// add learns one interval between readings.
func (iv *interval) add(dt float64) {
	if iv.n >= 16 {
		dt = math.Min(dt, math.Max(60, 4*iv.usual))
	}
	dt = math.Min(dt, 3600)
	iv.n++
	first := 1 / float64(min(iv.n, 1<<20))
	iv.mean += math.Max(intervalFast, first) * (dt - iv.mean)
	iv.longest = math.Max(dt, iv.longest*math.Exp(-dt/longestTime))
	iv.usual += math.Max(1-math.Exp(-dt/intervalTime), first) * (dt - iv.usual)
}

// addHeld learns how long a value stayed. In a tank that fills evenly a sensor of coarse steps keeps a beat too, but it moves by a step
// each time: alike says that the value moved by as much as the time before.
func (iv *interval) addHeld(dt float64, alike bool) {
	most := 2.0
	if iv.changes < heldFew {
		most = 4
	}
	dt = math.Min(dt, most*math.Max(heldUnknown, iv.held))
	iv.changes++
	a := math.Max(1.0/12, 1/float64(min(iv.changes, 1<<20)))
	off := math.Abs(dt - iv.held)
	if alike && dt > heldUnknown {
		off = math.Max(off, heldAlike*dt)
	}
	iv.heldDev += a * (off - iv.heldDev)
	iv.held += a * (dt - iv.held)
}

// learnBeat learns from a fall how long a gateway keeps a value, where it repeats each for as many polls as the others, or twice as many, and none
// falls as far as the one before: a level at rest shows no beat. It gives back the samples, without what a gateway repeats where it has learned that.
func (iv *interval) learnBeat(all []sample, from float64) []sample {
	if iv.cached() {
		return all
	}
	var stood []float64
	repeats, alike := 0, true
	b := between(all, from, math.Inf(1))
	for k, since, step := 1, -1.0, 0.0; k < len(b); k++ {
		switch by := float64(b[k-1].v - b[k].v); {
		case by == 0:
			repeats++
		case by < fallLeast || b[k].flags == unlinked:
			since = -1
		default:
			if since >= 0 {
				stood, alike = append(stood, b[k].t-since), alike && math.Abs(by-step) < levelGrain
			}
			since, step = b[k].t, by
		}
	}
	if len(stood) < beatFew || alike || repeats < len(stood) {
		return all
	}
	beat := stats.Median(stood)
	uneven := func(s float64) bool { return math.Abs(s-math.Max(1, math.Round(s/beat))*beat) > beatOff*iv.mean }
	if beat < beatPolls*math.Max(iv.mean, binWidth) || beat > heldMost || slices.ContainsFunc(stood, uneven) {
		return all
	}
	iv.changes, iv.held, iv.heldDev = max(iv.changes, heldFew), beat, 0
	fresh, since := make([]sample, 0, recentMost), 0.0
	for k, x := range all {
		if k == 0 || x.v != all[k-1].v || x.flags == unlinked {
			since = x.t
		}
		if x.t == since || x.t-since > heldRegion*beat {
			fresh = append(fresh, x)
		}
	}
	return fresh
}

// cached says that values are held and repeated at an even beat. Two polls are one only where a step that is alike tells a coarse sensor
// from it, and where a fall could not be seen otherwise.
func (iv *interval) cached() bool {
	uneven, pairs := heldUneven, iv.inPairs()
	if iv.held <= heldUnknown {
		uneven, pairs = heldShort, false
	}
	return iv.changes >= heldFew && iv.held <= heldMost && (pairs || iv.held >= beatPolls*iv.mean && iv.heldDev < uneven*iv.held)
}

// inPairs says that each value comes twice or more at an even beat: not enough to see a fall by, but to count each once at rest.
func (iv *interval) inPairs() bool {
	return iv.changes >= heldFew && iv.held >= beatPair*iv.mean && iv.heldDev < heldPair*iv.held
}

// mayBeCached says the same, or that too little was seen yet to say that they are not.
func (iv *interval) mayBeCached() bool {
	return iv.cached() || iv.changes < heldFew && float64(iv.n)*iv.mean < heldFew*heldMost
}

// stays are the seconds for which a value usually stays at rest.
func (iv *interval) stays() float64 {
	if iv.cached() {
		return iv.held
	}
	return math.Min(iv.held, 2*heldUnknown)
}

// fresh are the seconds from one reading that says something to the next: what a gateway repeats says nothing.
func (iv *interval) fresh() float64 {
	if iv.cached() {
		return math.Max(iv.usual, iv.held)
	}
	return iv.usual
}

// stairs are the steps of a fall that is nothing else: one more where a pump may have made one between two readings.
func (iv *interval) stairs() int {
	if iv.fresh() > stairRest {
		return stairFew + 1
	}
	return stairFew
}

// stood says that a value which stood for some seconds did so for so many times as long as this sensor's usually stay: it may have hung.
func (iv *interval) stood(seconds, times float64) bool {
	return iv.changes >= heldFew && seconds >= math.Max(hungLeast, times*math.Max(iv.stays(), iv.fresh()))
}

// stoodFor is for how long some samples show the value of the first, s; 0 where it was hardly read, as in a silence.
func stoodFor(b []sample) (long float64) {
	if _, last := sameAs(b, 0); last+1 >= heldFew {
		long = b[last].t - b[0].t
	}
	return long
}

// hung is when a value came that a sensor then repeated, and when it came free to where so many inches a second had carried the level
// meanwhile: that is a gauge, though one reading shows it, and what was repeated is none. -1, 0: it never was.
func (iv *interval) hung(b []sample, inflow float64) (since, free float64) {
	for k := len(b) - 1; k > 1; k-- {
		first, _ := sameAs(b, k-1)
		rose, made := float64(b[k].v-b[first].v), inflow*(b[k].t-b[first].t)
		if rose >= fallLeast && math.Abs(rose-made) <= made/2 && iv.stood(b[k-1].t-b[first].t, seldomHeld) {
			return b[first].t, b[k].t
		}
		k = first + 1
	}
	return -1, 0
}

// noise is the scatter of readings, inches.
type noise struct {
	sigma         float64 // standard deviation of a sample
	sigmaAtChange float64 // sigma when the value last changed: a frozen one has none; heldNoise at least where noise moves the last digit
	fast          float64 // mean scatter of the last readings, slosh included
	lastStep      float64 // the last step
	digit         float64 // the least by which one step of late differed from the one before: at least what the sensor's last digit is worth; not stored
	scatters      [31]float32
	n             int
}

// addStep learns one step between readings that are dt apart. What a steady flow moves is
// in the step before as well and does not count; a minute apart, slosh cannot be told.
func (z *noise) addStep(d, dt float64) {
	x := math.Min(math.Abs(d-z.lastStep)/1.7, 6)
	if dt >= 30 {
		x = 0
	}
	z.fast += (x - z.fast) / 8
	if by := math.Abs(d - z.lastStep); by > digitLeast && (z.digit == 0 || by < digitForgot*z.digit) {
		z.digit = by
	} else {
		z.digit = math.Min(digitForgot*z.digit, coarseMost)
	}
	z.lastStep = d
}

// atChange is the noise to keep for a value that changes. However quiet a sensor is, where its noise is wide for its digits it moves at every
// reading, in a tank at rest too. A sample of readings that come often is their mean, and scatters less than they.
func (z *noise) atChange(every float64) float64 {
	if reading := z.sigma * math.Sqrt(math.Max(1, binWidth/math.Max(every, 1))); z.digit > 0 && reading >= heldDigits*z.digit {
		return math.Max(z.sigma, heldNoise)
	}
	return z.sigma
}

// addTriple learns how far the middle one of three samples lies from the line between its
// neighbours, so that a steady flow is no noise.
func (z *noise) addTriple(a, b, c sample) {
	z.scatters[z.n] = float32(b.offLine(a, c))
	if z.n++; z.n < len(z.scatters) {
		return
	}
	v := make([]float64, len(z.scatters))
	for i, x := range z.scatters {
		v[i] = float64(x)
	}
	m := stats.Median(v) / 0.6745
	if z.sigma == 0 || z.hidesLevel() { // a sensor that is mended shows its level at once
		z.sigma = m
	}
	z.sigma += 0.2 * (m - z.sigma)
	z.n = 0
}

// hidesLevel says that a sensor is full of noise: what it shows is no level, and no witness of another tank's.
func (z *noise) hidesLevel() bool { return z.sigma >= noiseMost }

// rounded is the noise to the next power of two.
func (z *noise) rounded() float64 { return math.Exp2(math.Ceil(math.Log2(math.Max(z.sigma, 0.01)))) }

// perSample is the noise of a sample, never taken as none.
func (z *noise) perSample() float64 { return math.Max(z.sigma, 0.02) }

// hatchLeast are the inches by which a hatch has to let the reading fall to be told from noise.
func (z *noise) hatchLeast() float64 { return math.Max(hatchLeast, hatchSigma*z.perSample()) }

// leastFall is the fall in inches that noise does not make. The noise is taken in coarse steps, so that a restart that cost some readings does not shift when a
// draw is first seen, which the ticket's number is made of.
func (z *noise) leastFall() float64 { return fallLeast + 2.3*z.rounded() }

// changed is the share by which a slope that was seen over a time replaces another: 0 where dumps and noise make the difference
// by chance, 1 where they never do.
func (z *noise) changed(a, b, over, per, variance float64) float64 {
	chance := math.Sqrt(variance*over) + 0.1/per + z.sigma
	return stats.Clamp((math.Abs(a-b)*over/chance-slopeChance)/(slopeSure-slopeChance), 0, 1)
}

// gapMin is the silence in seconds that is a gap for this tank.
func (iv *interval) gapMin(t *Tank, speed float64) float64 {
	usual := math.Max(iv.fresh(), t.Every.Seconds()*speed)
	return max(t.Loads.GapMin.Seconds(), 4*usual, 1.5*iv.longest)
}

const (
	singleReading = 60.0  // s of the fastest flow that one reading alone may show
	echoLong      = 100.0 // s; the longest false echo seen took 90
	echoPolls     = 2.5   // times as far as readings are apart; one of seldom polls takes three of them
)

// readings are a tank's readings as they came: the level that is believed, how often they come, and how much they scatter.
type readings struct {
	seen        bool
	last        point   // newest believed reading
	heldSince   float64 // when its value first appeared
	timeUnknown bool    // a restart took a time that nobody knows
	pending     pending // readings that are not believed yet
	interval    interval
	noise       noise
	bin         bin
}

// pending are readings that are too far from the last believed one, and agree.
type pending struct {
	count    int // readings
	distinct int // different values
	first    point
	last     point
	slight   bool      // the first was not far beyond what is possible, as in slosh
	strayed  point     // the newest reading, where it does not agree; not stored
	before   heldValue // what stood before them and was not believed either; not stored
	stairs   []point   // the ends of the rests between the last believed reading and them, each lower; not stored
}

// apart are the seconds from one of them to the next: a sensor that reports only changes is read more often where it moves than usual.
func (p pending) apart() float64 { return (p.last.t - p.first.t) / float64(max(1, p.count-1)) }

// stairsDown are the rests on the way down from a level to a reading, with what is pending until then: readings that agreed with each other for
// a while and did not move, below the rest before them and above what comes. They were not believed, but no pump stands so.
func (p pending) stairsDown(from, to float64) []point {
	if n := len(p.stairs); n > 0 {
		from = p.stairs[n-1].v
	}
	rests := p.count >= stepFew && p.last.t-p.first.t >= stairRest && math.Abs(p.first.v-p.last.v) < stepLeast
	switch {
	case to > p.last.v-stepLeast:
		return nil
	case !rests || p.first.v > from-stepLeast || len(p.stairs) >= 2*stairKept:
		return p.stairs
	}
	return append(slices.Clone(p.stairs), p.first, p.last)
}

// heldValue is a value that stood for so many seconds.
type heldValue struct{ level, seconds float64 }

// shown is the value that the sensor held instead of a level, for a minute or more.
func (p pending) shown() heldValue {
	if long := p.last.t - p.first.t; p.count > 0 && long >= singleReading {
		return heldValue{p.last.v, long}
	}
	return p.before
}

// noiseFloor is the jump that noise alone may make, inches.
func (r *readings) noiseFloor(t *Tank) float64 {
	return max(float64(t.Loads.Noise), 6*r.noise.sigma, 4*r.noise.fast)
}

// reach are the inches that the level may have moved since the last believed reading.
func (r *readings) reach(t *Tank, now float64) float64 {
	dt := math.Max(now-r.last.t, 0)
	if r.timeUnknown {
		dt = longestAway
	}
	held := math.Min(2*r.interval.held, heldUnknown)
	if r.interval.cached() {
		held = math.Max(held, heldRegion*r.interval.held)
	}
	held = math.Min(held, now-r.heldSince) // a cached value is as old as this
	return t.maxRate(r.last.v)*math.Max(dt, held) + r.noiseFloor(t)
}

// silent says that nothing was believed for a while before a time.
func (r *readings) silent(until float64) bool {
	return r.timeUnknown || until-r.last.t > r.silence()
}

// silence is the time in seconds from which on a sensor that is silent leaves out readings.
func (r *readings) silence() float64 { return math.Max(1.5*singleReading, 2.5*r.interval.usual) }

// outlastsEcho believes a far value after a silence once it has outlived a false echo; one that only stands higher than oil comes, as a sensor that
// did not hang shows it, once more polls agree than make an echo.
func (r *readings) outlastsEcho(now, x float64, stands bool) acceptance {
	p := &r.pending
	p.count, p.last, p.strayed = p.count+1, point{now, x}, point{}
	if now-p.first.t < echoLong || stands && p.count <= stepFew {
		return refused
	}
	return resumed
}

// beginAt takes x as the level from now on, after values that were not believed.
func (r *readings) beginAt(now, x float64) {
	r.last, r.heldSince, r.timeUnknown, r.pending = point{now, x}, now, false, pending{}
	r.bin = bin{}
	r.bin.add(now, x)
}

// acceptance of one reading.
type acceptance uint8

const (
	refused acceptance = iota
	accepted
	resumed     // what is pending is the level, since it first came
	respanned   // the sensor was re-spanned: nothing before it compares
	firstAstray // what is pending is the level, and the only reading before it, the first of all, was none
	unfrozen    // the value had been frozen: the time since then is a gap
)
