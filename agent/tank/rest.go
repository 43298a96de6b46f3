package tank

import (
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	restFew        = 3     // samples of the first block
	restSigmas     = 3.0   // standard errors by which a block may differ
	restApart      = 45.0  // s between samples of which each stands for itself
	freeboard      = 8.0   // in below the top of the shell to which a well fills a tank at most
	edgeUnsure     = 35.0  // s about an edge in which a dump cannot be told from the truck
	fallAboveNoise = 0.12  // in; a fall that is no noise
	stoodSteps     = 1.5   // steps that the inflow would have made while the value stood still, above which it is none
	sloshFade      = 80.0  // s in which slosh fades by e
	liftLong       = 120.0 // s that a separator's dump takes at most
	liftSeen       = 180.0 // s of readings before and behind it
	liftFew        = 4     // such readings each
	liftNoise      = 3.0   // times the noise, that it lifts the level at least
	liftShare      = 0.67  // of what the well makes in that time, that all such lifts are at least
	liftDumps      = 1.5   // times the most that the level rose at rest before the load, at most
)

// orLine is the gauge, or where no sample was at rest, the level of a line.
func (g gauge) orLine(l line, at, sigma float64) gauge {
	if stats.Finite(g.level) {
		return g
	}
	away := math.Abs(l.t - at)
	return gauge{level: l.at(at), err: 3 * sigma, samples: 1, away: away, carried: away}
}

// resting is a stretch of samples at rest, the nearest to the instant first.
type resting struct {
	at          float64
	pumped      float64 // until when a pump drew, which an equaliser outlasts
	fade        float64 // s in which a vacuum's dip fades by e
	before      bool
	samples     []sample
	sigma       float64
	slosh       float64 // amplitude at the instant
	head        line    // how the level fell at first, before a draw
	perBbl      float64 // in a barrel
	inflow      production
	away        bool      // the well is
	past        levels    // at rest before a draw, which show how far the level rises
	top         float64   // in, the highest that a well may fill the tank; 0: unknown
	sensorError float64   // in, the standard error of its kind of sensor
	lifts       []float64 // times at which the level was lifted at once, by what a separator dumped
	dump        bounds    // when it dumped behind a draw, which is likelier than a vacuum's dip
	resolution
}

// dumped is the most by which the level rose within so many seconds at rest before a draw.
func (r resting) dumped(long float64) float64 {
	return r.past.mostRisen(math.Inf(-1), math.Inf(1), long)
}

// showsWell says that the rest before a draw shows how the well comes: an hour of it, and half as much as usual came in.
func (r resting) showsWell() bool {
	b := r.past.recent
	if len(b) < jumpedRest {
		return false
	}
	long := b[len(b)-1].t - b[0].t
	return long >= inflowShort && float64(b[len(b)-1].v-b[0].v) >= r.inflow.usual*long/2
}

// took are the seconds from when the level was as low for the last time to when it was as high, between two times.
func (r resting) took(from, to, low, high float64) float64 {
	for _, s := range between(r.samples, from, to) {
		if v := float64(s.v); v <= low {
			from = s.t
		} else if v >= high {
			return s.t - from
		}
	}
	return to - from
}

func (r resting) nearest(i int) sample {
	if r.before {
		return r.samples[len(r.samples)-1-i]
	}
	return r.samples[i]
}

// sampleVariance is the variance of a sample: its noise, and the slosh.
func (r resting) sampleVariance(s sample, sigma float64) float64 {
	return stats.Square(sigma) + stats.Square(r.slosh*math.Exp(-math.Abs(s.t-r.at)/sloshFade))
}

// estimate carries the rest to its instant, rising at the inflow's slope in inches per second,
// with what may have flowed in or sloshed meanwhile as its error.
func (r resting) estimate(slope float64) gauge {
	if len(r.samples) == 0 {
		return gauge{level: math.NaN(), err: math.Inf(1), away: math.Inf(1)}
	}
	r.samples = r.withoutFalling()
	away := r.at - r.nearest(0).t
	switch {
	case r.step >= coarseLeast && math.Abs(away) <= restFar && !r.leapsSteps():
		return r.byStep(slope)
	case r.deadband > 0 && r.before:
		return r.byException(slope)
	case math.Abs(away) <= restFar:
		g := r.near(slope)
		g.err = math.Sqrt(stats.Square(g.err) + r.strays().straysOver(math.Max(g.away, edgeUnsure)))
		return g
	}
	if r.before && r.away { // it had stood for longer than its well pauses
		slope = 0
	}
	full := math.Max(float64(r.nearest(0).v), r.top) // a full tank's well is shut in
	g := r.near(slope)
	g.carried = g.away
	g.err = math.Sqrt(stats.Square(g.err) + stats.Square(r.step)/12)
	if over := g.level - full; r.top > 0 && over > 0 {
		g.level, g.err = full, math.Hypot(g.err, over/4)
	}
	if under := math.Min(0, float64(r.nearest(0).v)) - g.level; under > 0 { // no pump draws from below the bottom
		g.level, g.err = g.level+under, math.Hypot(g.err, under/4)
	}
	g.err = math.Sqrt(stats.Square(g.err) + r.strays().over(g.away))
	return g
}

// strays is how what flows in between the rest and its instant strays: not at all where the well is away.
func (r resting) strays() production {
	if r.away {
		return production{}
	}
	return r.inflow
}

// byException is the level before a draw of a sensor that reports by exception: since the last
// report it has moved by less than the deadband.
func (r resting) byException(slope float64) gauge {
	last := r.nearest(0)
	g := gauge{samples: 1, away: math.Abs(r.at - last.t)}
	rise, err := r.silentRise(slope)
	g.level, g.err = float64(last.v)+rise, math.Hypot(exceptClass*r.sensorError, err)
	return g
}

// byStep is the level of a sensor of coarse steps: where its value changed the level was
// between the two, and from there the inflow carries it, by half a step at most.
func (r resting) byStep(slope float64) gauge {
	r.samples = r.fallenOn()
	first := r.nearest(0)
	v, half := float64(first.v), r.step/2
	g := gauge{level: v, err: r.step / math.Sqrt(12), samples: 1, away: math.Abs(first.t - r.at)}
	for ; g.samples < len(r.samples); g.samples++ {
		s := r.nearest(g.samples)
		if s.v == first.v {
			continue
		}
		since := math.Abs(s.t - r.at)
		if slope*since > stoodSteps*r.step {
			break // what was to flow in meanwhile did not: the well is shut in
		}
		mid := v + math.Copysign(half, float64(s.v)-v)
		g.level = stats.Clamp(mid+slope*(r.at-s.t), v-half, v+half)
		free := r.inflow.variance*since + stats.Square(r.inflow.err*since)
		g.err = math.Min(g.err, math.Sqrt(free+stats.Square(stickShare*r.step)))
		break
	}
	return g
}

// withoutFalling leaves out the nearest of sparse samples when it was taken while the draw went on:
// at rest a level does not fall.
func (r resting) withoutFalling() []sample {
	n := len(r.samples)
	if n < 2 || r.deadband > 0 {
		return r.samples
	}
	low := math.Max(fallAboveNoise, 4*r.sigma)
	a, z := r.samples[0], r.samples[1]
	if r.before {
		a, z = r.samples[n-2], r.samples[n-1]
	}
	switch {
	case z.t-a.t < restApart || float64(a.v-z.v) < low:
		return r.samples
	case r.before:
		return r.samples[:n-1]
	}
	return r.samples[1:]
}

// near is the level at an instant close to the samples: the nearest piece of them that lies at rest, read at the instant or,
// where the level still fell or rocked between the two, at its own near end.
func (r resting) near(slope float64) gauge {
	ps, sigma := r.pieces()
	k, unsure := r.lastBefore(ps, slope), 0.0
	if !r.before {
		k, unsure = r.lowestBehind(ps, slope)
	}
	p, end, nearest := ps[k], ps[k].from, k == 0
	if r.before {
		end, nearest = p.to, k == len(ps)-1
	}
	if nearest && p.n > 2 && p.to-p.from >= 2*pieceCarry {
		far := pieceCarry
		if p.n > restFew {
			far = math.Max(far, (p.to-p.from)/float64(p.n-1))
		}
		end += stats.Clamp(r.at-end, -far, far)
	}
	g := gauge{samples: p.n, away: math.Abs(r.nearest(0).t - r.at), since: p.from, fell: ps[r.lastBefore(ps[:max(k, 1)], slope)].to}
	g.level, g.err = p.drawn(end, slope)
	g.slope, _ = p.rise(slope)
	if read := stats.Clamp(end, p.from, p.to); read != end && g.slope > slope+pieceSlope && p.to-p.from < liftLong { // beyond so few readings only the well is known
		g.level, g.err = p.drawn(read, slope)
		g.level, g.err = g.level+slope*(end-read), math.Hypot(g.err, (g.slope-slope)*(end-read)/2)
	}
	if p.n <= restFew && k > 0 && r.before { // so few may be on the rise
		k--
	}
	if r.halted(slope) {
		slope, unsure = 0, math.Hypot(unsure, slope*g.away/4)
		if v := float64(r.nearest(0).v); r.before && !nearest {
			g.level = math.Max(g.level, v)
		}
	}
	if s, ok := r.risen(ps[k], slope, sigma); ok && float64(s.v)-p.v > restSigmas*sigma {
		g.level, g.err, g.samples, g.away, g.risen, end = float64(s.v), sigma, 1, r.at-s.t, true, s.t
	}
	switch {
	case r.before || nearest:
		g.level += slope * (r.at - end)
	case g.away > restFar: // no further back than to what still fell, which was read
		g.level += slope * (ps[k-1].to - end)
	default:
		g.includes = end
	}
	g.err = math.Hypot(math.Max(g.err, sigma/math.Sqrt(float64(len(r.samples)))), unsure)
	return g
}

// withoutLifts leaves out the readings during which the level rose at once by as much as a separator dumped before the load, lowers those behind by it, and
// keeps when. Where the lifts together are not what the well makes in that time, give or take a dump, they are none: foam comes up as a dump does.
func (r resting) withoutLifts(all []sample, dumped, made float64) (lifted resting, b []sample) {
	lifted, b = r, slices.Clone(all)
	rose := func(k int) float64 {
		was, is := between(b, b[k].t-liftSeen, b[k].t), between(b, b[k].t+liftLong, b[k].t+liftLong+liftSeen)
		before, ok1 := fit(was)
		behind, ok2 := fit(is)
		if !ok1 || !ok2 || min(len(was), len(is)) < liftFew {
			return 0
		}
		return behind.at(b[k].t+liftLong/2) - before.at(b[k].t+liftLong/2)
	}
	sum := 0.0
	for k := 0; k < len(b); k++ {
		by, at := rose(k), k
		if by < math.Max(dumped/2, liftNoise*r.sigma) || by > liftDumps*dumped {
			continue
		}
		for j := k + 1; j < len(b) && b[j].t < b[k].t+liftLong; j++ {
			if more := rose(j); more > by {
				by, at = more, j
			}
		}
		lifted.lifts, sum, k = append(lifted.lifts, b[at].t), sum+by, at
		b = slices.Delete(b, at, searchTime(b, b[at].t+liftLong))
		for j := at; j < len(b); j++ {
			b[j].v -= float32(by)
		}
	}
	if sum < liftShare*made || sum > made+dumped {
		return r, all
	}
	return lifted, b
}

// risen is the highest of the readings between the piece that an opening is read off and the draw, where oil lifted it: the falling line meets it, and what
// came behind lies on that. It stood as high for longer than an echo, or the level rises by as much at other times.
func (r resting) risen(p piece, usual, sigma float64) (top sample, ok bool) {
	k := searchTime(r.samples, math.Nextafter(p.to, math.Inf(1)))
	b := r.samples[k:]
	if !r.before || len(b) == 0 || r.head.slope >= 0 {
		return top, false
	}
	at := highest(b)
	top = b[at]
	was, err := p.drawn(top.t, usual)
	rose, chance := float64(top.v)-was, pieceLower+restSigmas*math.Hypot(err, sigma)
	if rose < math.Max(fallAboveNoise, chance) || r.head.at(top.t) < was+echoShare*rose {
		return top, false
	}
	for _, s := range b[at+1:] {
		if float64(s.v) < r.head.at(s.t)-math.Max(lineMiss, chance) {
			return top, false
		}
	}
	first := b[0].t
	for _, s := range b {
		if float64(s.v) < was+rose/2 {
			first = s.t
		}
	}
	alone := len(resting{samples: r.samples[:k], sigma: r.sigma}.withoutSpikes()) < k
	return top, top.t-first > echoLong || !alone && rose >= spikeSigma*sigma && rose <= liftDumps*r.dumped(ranLong)
}

// shapeFit is a level at an instant, how fast it rises, and how many inches of a shape are on it, with their standard error; missed
// is what the fit leaves of the squares.
type shapeFit struct{ level, slope, inches, err, missed float64 }

// fitShape fits by least squares the level, the slope, which the well's usual one with its error bounds, and the inches of a shape of the seconds since the
// instant. Each stretch between two lifts has its own level, and the level is that of the first.
func (r resting) fitShape(b []sample, shape func(after float64) float64, usual, err float64) shapeFit {
	prior := 1 / stats.Square(math.Max(err, pieceSlope/10))
	var xx, xw, ww, xy, wy, yy, n, x, w, y float64 // about the means, and the means of the first
	for to, k := b, 0; len(to) > 0; k++ {
		part := to
		if k < len(r.lifts) {
			part = to[:searchTime(to, r.lifts[k])]
		}
		to = to[len(part):]
		var pn, px, pw, py float64
		for _, s := range part {
			g := 1 / r.sampleVariance(s, r.sigma)
			a, l, v := s.t-r.at, shape(s.t-r.at), float64(s.v-b[0].v)
			pn, px, pw, py = pn+g, px+g*a, pw+g*l, py+g*v
			xx, xw, ww, xy, wy, yy = xx+g*a*a, xw+g*a*l, ww+g*l*l, xy+g*a*v, wy+g*l*v, yy+g*v*v
		}
		if len(part) == 0 {
			continue
		}
		xx, xw, ww = xx-px*px/pn, xw-px*pw/pn, ww-pw*pw/pn
		xy, wy, yy = xy-px*py/pn, wy-pw*py/pn, yy-py*py/pn
		if n == 0 {
			n, x, w, y = pn, px, pw, py
		}
	}
	xx, xy, yy = xx+prior, xy+prior*usual, yy+prior*usual*usual
	det := xx*ww - xw*xw
	if det <= 1e-9*xx*ww {
		return shapeFit{missed: math.Inf(1)}
	}
	out := shapeFit{slope: (xy*ww - wy*xw) / det, inches: (wy*xx - xy*xw) / det}
	out.level = float64(b[0].v) + (y-out.slope*x-out.inches*w)/n
	out.missed = yy - out.slope*xy - out.inches*wy
	out.err = math.Sqrt(xx / det * math.Max(1, out.missed/float64(len(b))))
	return out
}

// roughSlope is by how much the noise may bend the slope through so many samples over some seconds, in/s.
func (r resting) roughSlope(n int, long float64) float64 {
	return fitSure * r.sigma / (math.Sqrt(float64(max(1, n))) * math.Max(long, 1) / 3)
}

// untilRefilled are the samples behind a draw until oil comes in beside the well's: the level rises clearly faster than in the minutes
// before, where a dip's rise ever slows down.
func (r resting) untilRefilled(b []sample) []sample {
	for k := stepFew; k < len(b); k++ {
		before, ok1 := fit(between(b, b[k].t-refillSeen, b[k].t))
		behind, ok2 := fit(between(b, b[k].t, b[k].t+refillSeen))
		rough := r.roughSlope(searchTime(b, b[k].t+refillSeen)-k, refillSeen)
		if ok1 && ok2 && behind.slope-math.Max(before.slope, 0) > refillRate+rough {
			return b[:k]
		}
	}
	return b
}
