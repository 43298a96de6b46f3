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
	timerOff    = 0.12  // share of what comes while it is on, by which it does
	timerSame   = 2.0   // times that, beyond noise, by which it may miss the levels behind the draw
	timerShown  = 900.  // s of rest behind it that show that it goes on so
	timerFew    = 4     // levels of it
	changeLook  = 1500. // s of rest next to a draw that show how fast its well comes
	changeKnown = 0.25  // share of what the change makes over a draw, by which the bend tells it
	changeSure  = 4.0   // standard errors by which the fall shows that it came faster meanwhile
	timerFine   = 4.0   // s to which its times are sought
)

// timer is a well whose pump is on for some seconds of each period, since an instant.
type timer struct {
	at, period, on float64 // s
	rate, even     float64 // in/s while it is on, and all the time
	off            float64 // in by which the levels miss it
}

// ran is for how many seconds it was on from its instant to a time.
func (z timer) ran(t float64) float64 {
	x := (t - z.at) / z.period
	whole := math.Floor(x)
	return whole*z.on + math.Min((x-whole)*z.period, z.on)
}

// made are the inches that it made between two times.
func (z timer) made(from, to float64) float64 {
	return z.rate*(z.ran(to)-z.ran(from)) + z.even*(to-from)
}

// fitted is the timer with the rates that stretches of rest show, and by how much these miss it; where even is 0 nothing flows in while it is off.
func (z timer) fitted(rests [][]sample) timer {
	var all, tt, tv, rr, rv, rt, vv float64
	for _, b := range rests {
		var t, v, r float64
		n := float64(len(b))
		for _, s := range b {
			x, y, ran := s.t-b[0].t, float64(s.v-b[0].v), z.ran(s.t)-z.ran(b[0].t)
			t, v, r = t+x, v+y, r+ran
			tt, tv, rr, rv, rt, vv = tt+x*x, tv+x*y, rr+ran*ran, rv+ran*y, rt+ran*x, vv+y*y
		}
		all, tt, tv, rr, rv, rt, vv = all+n-1, tt-t*t/n, tv-t*v/n, rr-r*r/n, rv-r*v/n, rt-r*t/n, vv-v*v/n
	}
	z.rate, z.even = rv/math.Max(rr, 1), 0
	if det := rr*tt - rt*rt; det > 1e-6*rr*tt && tv*rr > rv*rt {
		z.rate, z.even = (rv*tt-tv*rt)/det, (tv*rr-rv*rt)/det
	}
	z.off = math.Sqrt(math.Max(0, vv-z.rate*rv-z.even*tv) / math.Max(1, all-4))
	return z
}

// nearest is the timer that misses some rests least, of those near it.
func (z timer) nearest(rests [][]sample) timer {
	z = z.fitted(rests)
	last := rests[len(rests)-1]
	long := last[len(last)-1].t - rests[0][0].t
	for step := z.period / 12; step > timerFine; {
		best := z
		for _, by := range []float64{-step, step} {
			for _, x := range []timer{
				{at: z.at + by, period: z.period, on: z.on},
				{at: z.at, period: z.period + by*z.period/long, on: z.on},
				{at: z.at, period: z.period, on: z.on + by},
				{at: z.at + by/2, period: z.period, on: z.on - by},
			} {
				if x.on > 0 && x.on < x.period {
					if x = x.fitted(rests); x.off < best.off {
						best = x
					}
				}
			}
		}
		if best.off >= z.off {
			step /= 2
		}
		z = best
	}
	return z
}

// stretches are those of some levels, and their pieces, in which they rose as a well makes it: the rest between draws and steps.
func stretches(d draw, b []sample, first float64) (rests [][]sample, ps []piece) {
	if d.deadband > 0 { // a longer silence says that it stood
		var held []sample
		for i, s := range b {
			if i > 0 && s.t-b[i-1].t > lumpsApart {
				held = append(held, sample{t: b[i-1].t + nodeEvery, v: b[i-1].v}, sample{t: s.t - nodeEvery, v: b[i-1].v})
			}
			held = append(held, s)
		}
		b = held
	}
	sigma := math.Max(neighbourScatter(b), math.Max(d.step, d.deadband)/math.Sqrt(12))
	var run []sample
	var was piece
	since := math.Inf(-1)
	end := func() {
		if len(run) >= timerFew && run[len(run)-1].t-run[0].t >= timerShown {
			rests = append(rests, run)
		}
		run = nil
	}
	for _, p := range cutEvenly(b, sigma, piecePrice) {
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
		ps, run = append(ps, p), append(run, between(b, math.Max(p.from, since), p.to+1)...)
	}
	end()
	return rests, ps
}

// clocked is the timer by which a well comes, as its rest before a draw shows it; false where it comes by none.
func clocked(rests [][]sample, ps []piece) (z timer, ok bool) {
	all, _, _ := spells(ps)
	var began, on, apart []float64
	for _, s := range all {
		if s.fast && s.begun {
			if n := len(began); n > 0 {
				apart = append(apart, s.from-began[n-1])
			}
			began = append(began, s.from)
			if s.ended {
				on = append(on, s.to-s.from)
			}
		}
	}
	if len(rests) == 0 || len(apart) < 2 || len(on) < 2 {
		return z, false
	}
	each := slices.Sorted(slices.Values(apart))[len(apart)/4] // where one was not seen two are one
	for i, a := range apart {
		apart[i] = a / math.Max(1, math.Round(a/each))
	}
	z = timer{at: began[len(began)/2], period: stats.Median(apart), on: stats.Median(on)}.nearest(rests)
	seen, noise := 0.0, 0.0
	for _, b := range rests {
		seen += b[len(b)-1].t - b[0].t
		noise = math.Max(noise, neighbourScatter(b))
	}
	flat := timer{period: 1e9, on: 1e9}.fitted(rests)
	beyond := func(off float64) float64 { return math.Sqrt(math.Max(0, off*off-noise*noise)) }
	return z, z.rate > 0 && seen >= timerCycles*z.period && beyond(z.off) < timerSure*beyond(flat.off) && beyond(z.off) < timerOff*z.rate*z.on
}

// cameByTimer are the barrels that flowed in over a draw from a well whose pump goes by a timer, and twice their standard error: it is as regular before
// as behind, and so it was meanwhile. False where it is no timer's, or went on otherwise behind.
func cameByTimer(ts *tankState, t *Tank, d draw) (bbl, off float64, ok bool) {
	first := resumeFirst
	if t.Sensor == "hydrostatic" {
		first = resumeDipped
	}
	before, ps := stretches(d, ts.levels.even(d.start-lumpsLook, d.start-rampClear).recent, first)
	behind, _ := stretches(d, ts.levels.even(d.end+first, d.watched(t, ts.last.t)).recent, 0)
	z, ok := clocked(before, ps)
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
	missed = math.Sqrt(missed)
	per := t.Table.PerInch(d.opening.level)
	bbl = z.made(d.start, d.end) * per
	return bbl, 2 * math.Hypot(math.Sqrt2*math.Max(z.off, missed)*per, math.Hypot(rateVaries/2*bbl, z.rate*nodeEvery*per)), missed < timerSame*math.Max(z.off, ts.noise.perSample())
}

// rateBeside is the rate at which a level rises over a while of its rest, and its standard error; false where it is not known, or one half of that is of
// another rate than the other.
func rateBeside(d draw, b []sample, from, to float64) (z spell, ok bool) {
	b = between(b, from, to)
	if len(b) < 2*timerFew || b[len(b)-1].t-b[0].t < 0.8*(to-from) {
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
	return spell{from: from, to: to, rate: all, err: err}, math.Abs(second-first) < slopeSure*math.Hypot(e1, e2)
}

// cameChanged are the inches that flowed in over a draw, and their standard error, from a well that came otherwise behind it than before: its pump was
// started or stopped meanwhile, or it was turned. The fall has one bend, of just that size. False where the well came as before, or where the bend
// does not show surely: that may have been before the draw or behind it.
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
	if z.before, ok = rateBeside(d, between(ts.levels.recent, ts.decidedTo+resumeFirst, near), near-math.Max(changeLook, long), near); ok {
		z.behind, seen = rateBeside(d, between(ts.levels.recent, behind, d.watched(t, ts.last.t)), behind, behind+changeLook)
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
	if t.Group == "" && d.cameIn == 0 && unsure > wrongBbl(t.volume(d)) {
		if bbl, off, ok := cameByTimer(ts, t, d); ok && off < unsure {
			return bbl, off
		}
	}
	per := t.Table.PerInch(d.opening.level)
	if came, err, ok := cameChanged(ts, t, d); ok && 2*err*per < lumpsBetter*unsure {
		return came * per, 2 * err * per
	}
	return cameInLumps(ts, t, d, turns, average, unsure)
}

const (
	dentBehind = 1800.0 // s behind the load before, in which a level may rise otherwise
	dentLeast  = 100.0  // s that a dent of a fall takes
	dentMost   = 900.0  // s that it takes at most
	dentFew    = 6      // levels of a fall that show one
	dentBends  = 10     // levels that show that the pump slowed down evenly too
	dentSaves  = 20.0   // squares of the noise that it explains
	dentRate   = 0.2    // share of the pump's rate that is missing in it
	dentAlike  = 0.75   // share of the rate on its one side that is on the other
	dentSure   = 1.5    // times what makes a ticket wrong
	dentStands = 0.25   // share of the pump's rate below which it nearly stands
	dentOften  = 2.0    // times the most that came in as long a time before, above which the well never did that
)

// dent is a time within a fall in which the level fell slower than before it, and than behind it.
type dent struct {
	from, to    float64
	inches, err float64 // by which it fell less, and their standard error
	rate        float64 // in/s at which it fell beside it
}

// dentOf is the dent that explains some levels of a fall best, beside a pump that slows down evenly; false where they show none, or a bend to another rate
// explains more of them.
func dentOf(b []sample, noise float64) (z dent, ok bool) {
	n := len(b)
	if n < dentFew {
		return z, false
	}
	var even [][]float64
	level, first, last := values(b), b[0].t, b[n-1].t
	beyond := func(x []float64) []float64 { // what an even pump makes
		for _, e := range even {
			share := product(x, e) / product(e, e)
			for k := range x {
				x[k] -= share * e[k]
			}
		}
		return x
	}
	ramp := func(from, to, power float64) []float64 {
		x := make([]float64, n)
		for k, s := range b {
			x[k] = math.Pow(stats.Clamp((s.t-from)/(to-from), 0, 1), power)
		}
		return beyond(x)
	}
	for power := 0.0; power < 2 || power == 2 && n >= dentBends; power++ {
		even = append(even, ramp(first, last, power))
	}
	beyond(level)
	dented, bent, weight, lo, hi := 0.0, 0.0, 1.0, 0, n-1
	for i := 1; i < n-1; i++ {
		for j := i + 1; j < n; j++ {
			long := b[j].t - b[i].t
			if j < n-1 && (long < dentLeast || long > dentMost || b[i].t < first+dentLeast || b[j].t > last-dentLeast) {
				continue
			}
			x := ramp(b[i].t, b[j].t, 1)
			w, inches := product(x, x), product(x, level)
			switch saves := inches * inches / math.Max(w, 1e-9); {
			case j == n-1: // it goes on at another rate
				bent = math.Max(bent, saves)
			case inches > 0 && saves > dented:
				lo, hi, z.inches, dented, weight = i, j, inches/w, saves, w
			}
		}
	}
	left := math.Max(noise, (product(level, level)-dented)/float64(n-len(even)-2))
	before, _ := fit(b[:lo+1])
	behind, _ := fit(b[hi:])
	z.from, z.to, z.rate, z.err = b[lo].t, b[hi].t, -math.Min(before.slope, behind.slope), math.Sqrt(left/weight)
	return z, dented > math.Max(bent, dentSaves*left) && -math.Max(before.slope, behind.slope) > dentAlike*z.rate
}

// stops says that the pump may have stood in a dent, and not only drawn slower: for as long as makes it, but for a reading at either end, some
// readings of a fall nearly stood, or there are none so near each other.
func (z dent) stops(b []sample, every float64) bool {
	long := z.inches / z.rate
	for i, s := range b {
		for _, x := range b[i:] {
			if dt := x.t - s.t; dt >= long-2*every && dt <= long && float64(s.v-x.v) < dentStands*z.rate*dt {
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
	b, parts, noise, _ := fallParts(ts, d)
	foam := d.foam
	if n := len(parts); n > 0 && !parts[n-1].pumps { // it sank before the end was seen
		foam += math.Max(0, float64(b[parts[n-1].from].v)-d.closing.level)
	}
	for _, p := range parts {
		z, ok := dentOf(b[p.from:p.to], noise)
		long := z.to - z.from
		z.inches -= foam
		if !ok || z.inches < dentRate*z.rate*long || z.inches-2*z.err < dentSure*wrongBbl(t.volume(d))/per || z.inches*per < bbl ||
			z.stops(between(ts.levels.recent, z.from-lumpsCell, z.to+lumpsCell), ts.interval.fresh()) ||
			z.inches < dentOften*ts.levels.mostRisen(math.Max(ts.decidedTo+dentBehind, d.start-keepFor), d.start-rampClear, long+lumpsCell) {
			continue
		}
		bbl = z.inches * per
		said = fmt.Sprintf("it fell slower by %.1f bbl a minute for %s, and then as fast as before again: %.1f bbl came in meanwhile, or the pump was throttled", bbl/long*60, spanText(long), bbl)
	}
	return bbl, said
}
