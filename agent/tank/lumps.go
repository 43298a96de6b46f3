package tank

import (
	"math"
	"slices"
	"sort"

	"gauger/agent/tank/stats"
)

const (
	lumpsLook   = keepFor // s before a draw whose rest shows how its well comes
	lumpsFew    = 2       // lumps seen from beginning to end that show it
	lumpsSlow   = 0.25    // share of the fast rate that the slow one is at most
	lumpsLast   = 0.12    // share by which one lasts longer or shorter than the middle one, at least
	lumpsVary   = 0.1     // share by which one comes faster or more slowly than the mean, at least
	lumpsAlike  = 3.0     // times less, by which one lump's rate varies while it lasts
	lumpsOdd    = 0.02    // chance that one lasts as none before did
	lumpsCells  = 30      // times
	lumpsTurns  = 3       // turns within a fall, of which more are not told apart
	lumpsLevels = 8       // levels of a fall that show some
	lumpsEven   = 1.0     // of what one usually lasts, by which the next may last longer: wells whose lumps overlap vary more
	lumpsLeast  = 240.0   // s that a lump usually lasts: what comes within a minute or two is a dump, of which nobody sees each
	lumpsReads  = 3.0     // the same in readings
	lumpsCycles = 1.5     // times that it may turn to fast and back within a draw, of which more are a separator's dumps
	lumpsTurned = 0.1     // chance that it was turned to another tank when the truck came
	lumpsBetter = 0.6     // share of the mean rate's error that is left at most
	pumpStrays  = 180.0   // s for which a pump's rate strays one way
)

// pumpVaries are the shares of its rate by which a pump's may stray.
var pumpVaries = []float64{0.005, 0.01, 0.02, 0.04, 0.08, 0.16}

// lasting is how long something lasts, s.
type lasting struct{ usual, varies float64 }

// ends is the chance that it ends within a second, after some.
func (l lasting) ends(after float64) float64 {
	return (1-lumpsOdd)*math.Exp(-stats.Square((after-l.usual)/l.varies)/2)/(l.varies*math.Sqrt(2*math.Pi)) + lumpsOdd*math.Exp(-after/l.usual)/l.usual
}

// outlives is the chance that it lasts longer.
func (l lasting) outlives(after float64) float64 {
	return (1-lumpsOdd)*math.Erfc((after-l.usual)/(l.varies*math.Sqrt2))/2 + lumpsOdd*math.Exp(-after/l.usual)
}

// lumps are how a well comes by turns fast and slowly, or not at all: a pump that goes on and off, or slugs.
type lumps struct {
	slow, fast, varies float64 // in/s
	strays             float64 // of the slow one
	slowFor, fastFor   lasting
	before, behind     flowPeriod // a draw
	whole              float64    // in that each of them brings, where a day showed that
}

// twoRates are the mean slopes of two kinds of pieces that are as different as can be.
func twoRates(ps []piece) (slow, fast float64) {
	ps = slices.Clone(ps)
	sort.Slice(ps, func(i, j int) bool { return ps[i].slope < ps[j].slope }) // slices.SortFunc costs the binary 16 kB for a struct of this size
	var long, rose, all, rise, most float64
	for _, p := range ps {
		all, rise = all+p.to-p.from, rise+p.slope*(p.to-p.from)
	}
	for _, p := range ps[:max(0, len(ps)-1)] {
		long, rose = long+p.to-p.from, rose+p.slope*(p.to-p.from)
		a, z := rose/long, (rise-rose)/(all-long)
		if apart := long * (all - long) * stats.Square(z-a); apart > most {
			most, slow, fast = apart, a, z
		}
	}
	return slow, fast
}

// flowPeriods are those of some pieces of rest, and the rates that they are of.
func flowPeriods(ps []piece) (out []flowPeriod, slow, fast float64) {
	slow, fast = twoRates(ps)
	between := slow + (fast-slow)/6 // of slugs one comes twice as fast as another, and slower as it ends
	for _, p := range ps {
		s := flowPeriod{from: p.from, to: p.to, rate: p.slope, err: p.slant, fast: p.slope > between}
		if math.Abs(p.slope-between) < lumpsSure*p.slant {
			continue
		}
		n := len(out) - 1
		switch {
		case n < 0 || p.from-out[n].to > lumpsApart:
		case out[n].fast == s.fast:
			share := (out[n].to - out[n].from) / (p.to - out[n].from)
			out[n].rate, out[n].err, out[n].to = share*out[n].rate+(1-share)*p.slope, math.Min(out[n].err, p.slant), p.to
			continue
		default:
			s.from = (out[n].to + p.from) / 2
			s.begun, out[n].ended, out[n].to = true, true, s.from
		}
		out = append(out, s)
	}
	return out, slow, fast
}

// lumpsAbout is how a well comes, as the hours of rest before a draw and what is seen behind it show it; false where it does not come in lumps, or nobody
// knows how it came next to the draw.
func lumpsAbout(ts *tankState, d draw, until float64) (z lumps, ok bool) {
	var ps []piece
	for _, b := range []bounds{{d.start - lumpsLook, d.start - math.Max(rampClear, ts.interval.fresh()/2)}, {d.end + rampLong, until}} {
		for _, p := range cutEvenly(ts.levels.even(b.lo, b.hi).recent, math.Max(ts.noise.perSample(), d.step/math.Sqrt(12))) {
			if p.n > 1 && !p.falls(0, fallLeast) {
				ps = append(ps, p)
			}
		}
	}
	old := ts.levels.slugs(d)
	for _, s := range old {
		if s.to < d.start-lumpsLook {
			ps = append(ps, piece{line: line{slope: s.rate}, from: s.from, to: s.to, n: 2, slant: lumpsVary * s.rate})
		}
	}
	sort.Slice(ps, func(i, j int) bool { return ps[i].from < ps[j].from })
	var rates, slowFor, fastFor []float64
	all, slow, fast := flowPeriods(ps)
	for _, s := range all {
		switch {
		case s.to <= d.start:
			z.before = s
		case z.behind.to == 0:
			z.behind = s
		}
		switch long := s.to - s.from; {
		case !s.begun || !s.ended:
		case s.fast:
			rates, fastFor = append(rates, s.rate), append(fastFor, long)
		default:
			slowFor = append(slowFor, long)
		}
	}
	if len(old) > len(fastFor) {
		rates, fastFor, slowFor = nil, nil, nil
		for k, s := range old {
			rates, fastFor = append(rates, s.rate), append(fastFor, s.to-s.from)
			if k > 0 {
				slowFor = append(slowFor, s.from-old[k-1].to)
			}
		}
		each := slices.Sorted(slices.Values(slowFor))[len(slowFor)/4] // where a draw hid one two are one
		for k, long := range slowFor {
			slowFor[k] = long / math.Max(1, math.Round(long/each))
		}
		if !z.before.fast {
			z.before.from = math.Min(z.before.from, old[len(old)-1].to)
		}
		fast = stats.Median(rates)
	}
	if len(fastFor) < lumpsFew || len(slowFor) == 0 || slow > lumpsSlow*fast || z.behind.to == 0 || d.deadband == 0 && (d.start-z.before.to > lumpsApart || z.behind.from-d.end > lumpsApart) {
		return z, false
	}
	long := func(v []float64) lasting {
		usual := stats.Median(v)
		return lasting{usual, math.Max(lumpsLast*usual, varies(v, usual))}
	}
	var beside []flowPeriod // where the well was turned away meanwhile it does not come slowly either
	for _, s := range []flowPeriod{z.before, z.behind} {
		if !s.fast && s.to-s.from >= 2*lumpsApart {
			beside = append(beside, s)
		}
	}
	if n := len(beside); n > 0 {
		a, b := beside[0], beside[n-1]
		slow, z.strays = (a.rate+b.rate)/2, math.Max(0, math.Abs(a.rate-b.rate)/2-math.Hypot(a.err, b.err))
	}
	if faded, ok := fadedTo(ts, d, z.before, all); ok && faded < slow {
		slow, z.strays = faded, 0
	}
	z.slow, z.fast, z.varies = math.Max(0, slow), fast, math.Max(lumpsVary*fast, varies(rates, fast))
	z.slowFor, z.fastFor = long(slowFor), long(fastFor)
	if z.whole = slugOf(old); z.whole > 0 {
		z.varies, z.fastFor.varies = math.Max(z.varies, slugVaries*fast), stats.Clamp(z.fastFor.varies, slugVaries*z.fastFor.usual, lumpsEven*z.fastFor.usual)
	}
	uneven := math.Max(z.fastFor.varies/z.fastFor.usual, z.slowFor.varies/z.slowFor.usual)
	return z, uneven <= lumpsEven && z.fastFor.usual >= math.Max(lumpsLeast, lumpsReads*ts.interval.fresh()) && d.end-d.start < lumpsCycles*(z.slowFor.usual+z.fastFor.usual)
}

// whitener makes of levels independent figures of unit variance, in each part of a fall for itself, and takes out of them what an even pump makes: by a Kalman
// filter of a level and of a rate that strays.
type whitener struct {
	at                []float64
	parts             []fallPart
	pump, well, noise float64     // variances: of the rates of a pump and a well, in²/s², and of a level, in²
	even              [][]float64 // what a pump makes that draws evenly, and one that slows down evenly
}

// through are some levels behind the whitener, and the logarithm of the variance that it took out.
func (v *whitener) through(levels []float64) (out []float64, logs float64) {
	out = make([]float64, len(levels))
	for _, p := range v.parts {
		strays := v.well
		if p.pumps {
			strays = v.pump
		}
		level, rate := levels[p.from], 0.0
		ll, lr, rr := v.noise, 0.0, strays
		for k := p.from + 1; k < p.to; k++ {
			dt := v.at[k] - v.at[k-1]
			fade := math.Exp(-dt / pumpStrays)
			on := pumpStrays * (1 - fade)
			level, rate = level+on*rate, fade*rate
			ll += 2*on*lr + on*on*rr + strays*pumpStrays*pumpStrays*(2*dt/pumpStrays-3+4*fade-fade*fade)
			lr = fade*(lr+on*rr) + strays*on*(1-fade)
			rr = fade*fade*rr + strays*(1-fade*fade)
			all, off := ll+v.noise, levels[k]-level
			out[k], logs = off/math.Sqrt(all), logs+math.Log(all)
			level, rate = level+ll/all*off, rate+lr/all*off
			ll, lr, rr = ll*v.noise/all, lr*v.noise/all, rr-lr*lr/all
		}
		for n := 0; p.pumps && n < len(v.even); n++ {
			even, left := v.even[n][p.from:p.to], out[p.from:p.to]
			stats.Basis{even}.Without(left)
			logs += math.Log(stats.Product(even, even))
		}
	}
	return out, logs
}

// courses weighs every course that a well may have taken over a fall by how likely it takes that, and by how the fall would look.
type courses struct {
	lumps
	at         []float64   // when it may turn
	came       [][]float64 // products of what comes from each of them on, behind the whitener
	level      []float64   // and with the level
	left, logs float64     // squares of the level, and logarithm of the variance
	mixture
}

// turn goes on with a course that has been fast, or slow, since a time, and at instant k: fast are the instants from and to which the well came fast.
func (c *courses) turn(k, turns, n int, isFast bool, since, chance float64, fast [2][2]int) {
	end, long := len(c.at)-1, c.slowFor
	if isFast {
		long, fast[n] = c.fastFor, [2]int{k, end}
	}
	if isFast == c.behind.fast {
		still := long.outlives(c.behind.to - since)
		if c.behind.ended {
			still = long.ends(c.behind.to - since)
		}
		c.weigh(math.Log(chance*still), fast)
	}
	for j := k + min(turns, 1); j <= end && turns < lumpsTurns; j++ {
		m := n
		if isFast {
			fast[n][1], m = j, n+1
		}
		c.turn(j, turns+1, m, !isFast, c.at[j], chance*long.ends(c.at[j]-since)*(c.at[1]-c.at[0]), fast)
	}
}

// leftOf are the inches of a lump that come within a fall, of what each of them brings: all but those before it, and behind it, if it goes on there. False
// where that is not known.
func (c *courses) leftOf(before, behind bool) (inches float64, ok bool) {
	inches, ok = c.whole, c.whole > 0
	if before {
		inches, ok = inches-(c.before.rate-c.slow)*(c.at[0]-c.before.from), ok && c.before.fast && c.before.begun
	} else if behind {
		inches, ok = inches-(c.behind.rate-c.slow)*(c.behind.to-c.at[len(c.at)-1]), ok && c.behind.fast && c.behind.ended
	}
	return inches, ok
}

// weigh adds a course: the rates of its lumps are fitted, each about what is usual, or what was seen of it at rest.
func (c *courses) weigh(chance float64, fast [2][2]int) {
	end := len(c.at) - 1
	var rate, known, shown, long [2]float64 // known: inverse variance
	var a [2][2]float64
	for i, s := range fast {
		rate[i], known[i], long[i] = c.fast-c.slow, 1/stats.Square(c.varies), c.at[s[1]]-c.at[s[0]]
		beside := c.before
		if s[0] > 0 {
			beside = c.behind
		}
		switch left, seen := c.leftOf(s[0] == 0, s[1] == end); {
		case seen && s[1] > s[0]:
			chance -= stats.Square(math.Min(0, left)/(slugSize*c.whole)) / 2 // more is seen beside the fall than one brings
			rate[i], known[i] = math.Max(0, left)/long[i], stats.Square(long[i]/(slugSize*c.whole))
		case seen && i == 0 && c.before.fast: // it ended as the truck began
			chance -= stats.Square(math.Max(0, left)/(slugSize*c.whole)) / 2
		case beside.fast && (s[0] == 0 || s[1] == end):
			rate[i], known[i] = beside.rate-c.slow, 1/(stats.Square(c.varies/lumpsAlike)+stats.Square(beside.err))
		}
		shown[i] = c.level[s[0]] - c.level[s[1]]
		for j, o := range fast {
			a[i][j] = c.came[s[0]][o[0]] - c.came[s[0]][o[1]] - c.came[s[1]][o[0]] + c.came[s[1]][o[1]]
		}
	}
	left := c.left
	for i := range fast {
		left -= 2*rate[i]*shown[i] - rate[i]*(rate[0]*a[i][0]+rate[1]*a[i][1])
	}
	for i := range fast {
		shown[i] -= rate[0]*a[i][0] + rate[1]*a[i][1]
	}
	p, q, r := a[0][0]+known[0], a[0][1], a[1][1]+known[1]
	det := p*r - q*q
	x, y := (r*shown[0]-q*shown[1])/det, (p*shown[1]-q*shown[0])/det
	chance += c.logs + (math.Log(known[0]*known[1]/det)-left+shown[0]*x+shown[1]*y)/2
	c.add(chance, (rate[0]+x)*long[0]+(rate[1]+y)*long[1], (r*long[0]*long[0]-2*q*long[0]*long[1]+p*long[1]*long[1])/det)
}

// cameInLumps are the barrels that flowed in over a draw from a well that comes in lumps, as the fall shows which of them came, and twice their standard error:
// the mean of all courses that it may have taken, by their chances. Where that is not distinctly surer than the average, it is the average.
func cameInLumps(ts *tankState, t *Tank, d draw, turns bool, average, unsure float64) (bbl, off float64) {
	slug := slugOf(ts.levels.slugs(d))
	told := fallTells(t, d, slug)
	if !told && (slug == 0 || d.cameIn > 0) || unsure <= wrongBbl(t.volume(d)) {
		return average, unsure
	}
	z, ok := lumpsAbout(ts, d, d.watched(t, ts.last.t))
	if !ok {
		return average, unsure
	}
	weigh := func(c *courses) {
		c.turn(0, 0, 0, z.before.fast, z.before.from, 1, [2][2]int{})
		if turns && !z.behind.fast && !z.behind.ended {
			c.weigh(math.Log(lumpsTurned), [2][2]int{})
		}
	}
	inches, err, ok := 0.0, 0.0, true
	if told {
		inches, err, ok = z.shown(ts, d, 1, weigh)
	} else { // only when the lumps beside it came tells
		c := z.over(d)
		weigh(&c)
		mean, variance := c.mean()
		inches, err = z.slow*(d.end-d.start)+mean, math.Sqrt(variance)
	}
	per := t.Table.PerInch(d.opening.level)
	if off = 2 * per * math.Hypot(err, rateVaries*inches); ok && off < lumpsBetter*unsure {
		if slug > 0 && off > slugKnown*unsure {
			off = unsure
		}
		return inches * per, math.Hypot(off, 2*per*z.strays*(d.end-d.start))
	}
	return average, unsure
}

// shown are the inches that a well brought over a draw, and their standard error, as the fall shows it: the mean of all courses that are weighed, by their
// chances. False where less came than the well brings while it comes slowly: then something else bends the fall.
func (z lumps) shown(ts *tankState, d draw, evenly int, weigh func(*courses)) (inches, err float64, ok bool) {
	long := d.end - d.start
	slower := math.Inf(1) // than its pump draws, by more than the well brings: the driver throttled it, if no lump goes on behind
	if !z.behind.fast {
		slower = z.fast - z.slow + 2*z.varies
	}
	b, parts, noise, maybe := fallParts(ts, d, slower)
	if len(b) < lumpsLevels || maybe && z.whole > 0 {
		return 0, 0, false
	}
	v := whitener{at: make([]float64, len(b)), parts: parts, well: stats.Square(lumpsVary * z.fast), noise: noise}
	level := make([]float64, len(b))
	for k, s := range b {
		v.at[k], level[k] = s.t, float64(s.v)-z.slow*(s.t-d.start)
	}
	pumped := 0.0
	for _, p := range parts {
		if p.pumps {
			pumped += v.at[p.to-1] - v.at[p.from]
		}
	}
	c := z.over(d)
	from := make([][]float64, len(c.at))
	for _, share := range pumpVaries {
		v.pump, v.even = stats.Square(share*d.slope()*long/math.Max(pumped, lumpsCell)), nil
		for n := range evenly {
			made := make([]float64, len(b))
			for k, t := range v.at {
				made[k] = math.Pow((t-d.start)/long, float64(n+1))
			}
			made, _ = v.through(made)
			v.even = append(v.even, made)
		}
		left, logs := v.through(level)
		c.left, c.logs = stats.Product(left, left), -logs/2
		for j, at := range c.at {
			came := make([]float64, len(b))
			for k, t := range v.at {
				came[k] = math.Max(0, t-at)
			}
			from[j], _ = v.through(came)
			c.level[j] = stats.Product(from[j], left)
			for k := range j + 1 {
				c.came[j][k] = stats.Product(from[j], from[k])
				c.came[k][j] = c.came[j][k]
			}
		}
		weigh(&c)
	}
	mean, variance := c.mean()
	err = math.Sqrt(variance)
	return math.Max(0, z.slow*long+mean), err, mean > -2*err
}
