package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	truckTail  = 1200.0 // s behind the knee of a draw for which it is topped off at most
	gushLong   = 1500.0 // s in which a lump comes, that comes at once at first and then less
	gushTail   = 900.0  // s of its second part
	gushVaries = 0.4    // share by which one brings more or less than the most
	gushTailOf = 0.08   // share of it by which its second part is not told from the pump
	gushReads  = 150    // levels that are fitted
	gushFew    = 10     // levels of a fall that show one
	gushShows  = 0.3    // share of the pump's rate at which one comes at first at least
	gushSure   = 8.0    // logarithm of the odds that one came, below which that may be the pump
	gushStarts = 300.0  // s next to a fall's start in which a pump may draw less, and twice as many next to its end
)

// gush is how a well comes that rests, and then brings a lump, most of it at once: in/s, in, and the share of it that comes at once.
type gush struct{ slow, lump, front float64 }

// gushes are how a well comes by lumps, as its rest before a draw shows it; false where it comes evenly.
func gushes(ts *tankState, d draw, per float64) (z gush, ok bool) {
	var rates []float64
	for i := searchTime(ts.levels.history, d.start-inflowDay); i < len(ts.levels.history); i++ {
		if dv, dt, ok := ts.levels.restStep(i, per); ok {
			rates = append(rates, dv/dt)
		}
	}
	if len(rates) < stretchSteps {
		return z, false
	}
	z.slow = math.Max(0, stats.Median(rates))
	rose := func(long float64) float64 {
		return ts.levels.mostRisen(math.Max(ts.decidedTo+resumeFirst, d.start-keepFor), d.start-gushTail, long) - z.slow*long
	}
	z.lump = rose(gushLong)
	z.front = math.Min(1, rose(4*lumpsCell)/z.lump)
	return z, z.lump > 2*z.slow*gushLong && z.front > 1.0/3
}

// gushCourse is one that a lump may have taken: its weight and product with the level in a fit, the share of it that came over the draw, and whether that may
// be the pump's doing.
type gushCourse struct {
	weight, product, share float64
	unclear                bool
}

// weighed are the inches that came over a draw, and their variance, as some courses of a lump and none at all share the chances; false where a pump may
// have done what one shows. Noise is the variance of a level.
func (z gush) weighed(courses []gushCourse, noise float64) (inches, variance float64, ok bool) {
	all, known := mixture{sum: [3]float64{1}}, 1/stats.Square(gushVaries*z.lump)
	ok = true
	for _, c := range courses {
		weight := c.weight/noise + known
		size := (c.product/noise + z.lump*known) / weight
		chance := (size*size*weight-z.lump*z.lump*known+math.Log(known/weight))/2 - math.Log(float64(len(courses)))
		if chance > all.most {
			ok = chance > gushSure && !c.unclear
		}
		all.add(chance, c.share*size, c.share*c.share/weight)
	}
	inches, variance = all.mean()
	return inches, variance, ok
}

// mixture is a mean of values by their chances.
type mixture struct {
	most float64    // largest logarithm of a weight
	sum  [3]float64 // weights, and these times values and their squares
}

// add adds a value with its variance, by the logarithm of its chance.
func (m *mixture) add(chance, value, variance float64) {
	if chance > m.most {
		for i := range m.sum {
			m.sum[i] *= math.Exp(m.most - chance)
		}
		m.most = chance
	}
	w := math.Exp(chance - m.most)
	m.sum[0], m.sum[1], m.sum[2] = m.sum[0]+w, m.sum[1]+w*value, m.sum[2]+w*(value*value+variance)
}

// mean is the mean value, and its variance.
func (m *mixture) mean() (value, variance float64) {
	value = m.sum[1] / m.sum[0]
	return value, math.Max(0, m.sum[2]/m.sum[0]-value*value)
}

// cameAtOnce are the barrels that flowed in over a draw, and twice their standard error, from a well that rests, and then brings a lump, most of it at once: the
// level from before the draw until behind it shows whether one came beside an even pump, when, and of what size. False where it does not.
func cameAtOnce(ts *tankState, t *Tank, d draw) (bbl, off float64, ok bool) {
	per, long := t.Table.PerInch(d.opening.level), d.end-d.start
	from, until := math.Max(ts.decidedTo+resumeFirst, d.start-gushTail), math.Min(d.watched(t, ts.last.t), d.end+gushLong)
	all := stairSamples(between(ts.levels.recent, from, until))
	fall := between(all, d.start, d.end)
	z, ok := gushes(ts, d, per)
	if !ok || d.parts > 1 || !fallTells(t, d, 0) || len(fall) < gushFew || repeats(fall) || z.front*z.lump < gushShows*d.slope()*4*lumpsCell || z.lump*per < wrongBbl(t.volume(d)) {
		return 0, 0, false
	}
	var at, level []float64
	for k, s := range all {
		if k%(len(all)/gushReads+1) == 0 && math.Abs(s.t-d.start) > rampLong && (s.t < d.end-rampLong || s.t > d.end+settleShort) {
			at, level = append(at, s.t), append(level, float64(s.v)-z.slow*s.t)
		}
	}
	ramp := func(t, from, long float64) float64 { return stats.Clamp((t-from)/long, 0, 1) }
	var even stats.Basis
	made := func(came func(t float64) float64) []float64 {
		x := make([]float64, len(at))
		for k, t := range at {
			x[k] = came(t)
		}
		return even.Without(x)
	}
	for power := range 3 {
		even = append(even, made(func(t float64) float64 { return math.Pow(ramp(t, d.start, long), float64(power)) }))
	}
	even.Without(level)
	noise, saved := stats.Square(math.Max(ts.noise.perSample(), d.step/math.Sqrt(12))), 0.0
	var courses []gushCourse
	for begun := from; begun < d.end; begun += rampLong {
		for quick := lumpsCell; quick <= 5*lumpsCell; quick += lumpsCell {
			came := func(t float64) float64 {
				return z.front*ramp(t, begun, quick) + (1-z.front)*ramp(t, begun+quick, gushTail)
			}
			x := made(came)
			c := gushCourse{weight: stats.Product(x, x), product: stats.Product(x, level), share: came(d.end) - came(d.start)}
			size := c.product / math.Max(c.weight, levelGrain)
			c.unclear = (math.Abs(begun-d.start) < gushStarts || begun > d.end-2*gushStarts) && size*z.front < d.slope()*quick // it fell on
			if size > gushVaries*z.lump {
				courses, saved = append(courses, c), math.Max(saved, c.product*size)
			}
		}
	}
	noise = math.Max(noise, (stats.Product(level, level)-saved)/float64(len(at)-slowedFew)) * math.Max(1, 2*lumpsCell*float64(len(at))/(until-from))
	inches, variance, ok := z.weighed(courses, noise)
	return (z.slow*long + inches) * per, 2 * per * math.Sqrt(variance+noise+stats.Square(gushTailOf*inches)), ok
}

// fadedTo is the rate at which a well came over as long as a draw as long after its other lumps, for what comes behind one fades; false where that is not seen.
func fadedTo(ts *tankState, d draw, before flowPeriod, all []flowPeriod) (rate float64, ok bool) {
	var rates []float64
	for _, s := range all {
		from := s.from + d.start - before.from
		until := math.Min(from+d.end-d.start, s.to-rampClear)
		a, ok1 := ts.levels.about(from)
		b, ok2 := ts.levels.about(until)
		if ok1 && ok2 && !s.fast && s.begun && s.to < before.from && until-from >= lumpsApart {
			rates = append(rates, (b-a)/(until-from))
		}
	}
	if before.fast || !before.begun || len(rates) < lumpsFew {
		return 0, false
	}
	return stats.Median(rates), true
}

// over are the instants of a draw at which a well may turn, before any level is looked at.
func (z lumps) over(d draw) courses {
	long := d.end - d.start
	cells := max(1, min(int(long/lumpsCell), lumpsCells))
	c := courses{lumps: z, mixture: mixture{most: math.Inf(-1)}, at: make([]float64, cells+1), level: make([]float64, cells+1), came: make([][]float64, cells+1)}
	for k := range c.at {
		c.at[k], c.came[k] = d.start+long*float64(k)/float64(cells), make([]float64, cells+1)
	}
	return c
}

// tailShare is by how much longer than a draw it took until the level lay where its closing is read, as a share of it: behind the knee a pump drew ever
// slower, or a driver topped off, and what flowed in meanwhile is in the closing. 0 where no reading shows that the level still fell.
func tailShare(ts *tankState, t *Tank, d draw) float64 {
	until := math.Min(d.closing.includes, d.end+truckTail)
	b := between(ts.levels.recent, d.end, until)
	if t.Group != "" || len(b) < restFew || d.deadband > 0 || stats.Median(values(b))-d.closing.level < math.Max(fallAboveNoise, restSigmas*ts.noise.perSample()) {
		return 0
	}
	return (until - d.end) / (d.end - d.start)
}

// shortOfSlug are the barrels that flowed in over a draw, and twice their standard error, where slugs that are all alike come: the one that was coming when it
// began, or as it ended, brought less beside it than each of them does, and the pump drew the rest as it came. Its level stood meanwhile, or rose, so that the
// fall ends there, and no clock of it tells.
func shortOfSlug(ts *tankState, t *Tank, d draw, bbl, off float64) (float64, float64) {
	var sizes []float64
	for _, s := range ts.levels.slugs(d) {
		sizes = append(sizes, s.rate*(s.to-s.from))
	}
	until := d.watched(t, ts.last.t)
	z, ok := lumpsAbout(ts, d, until)
	unsure := varies(sizes, z.whole)
	if !ok || len(sizes) <= lumpsFew || unsure > slugSize*z.whole || t.Group != "" || d.cameIn != 0 {
		return bbl, off
	}
	rose, known := 0.0, false
	switch slow := math.Max(0, z.slow); {
	case z.before.fast && z.before.begun && !z.behind.fast:
		from := z.before.from - rampClear
		rose, known = ts.levels.about(from)
		rose = d.opening.level - rose - slow*(d.start-from)
	case z.behind.fast && z.behind.ended && !z.before.fast:
		to := math.Min(z.behind.to+rampClear, until)
		rose, known = ts.levels.about(to)
		rose -= d.closing.level + slow*(to-d.end)
	}
	left := z.whole - rose
	if per := t.Table.PerInch(d.closing.level); known && left > 2*slugSize*z.whole && left*per > bbl+off {
		return left * per, 2 * unsure * per
	}
	return bbl, off
}
