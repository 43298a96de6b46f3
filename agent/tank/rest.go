package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	restFew        = 3    // samples of the first block
	restSigmas     = 3.0  // standard errors by which a block may differ
	restLean       = 0.2  // share of a slope that is not known
	restBlur       = 0.2  // in of noise that hides the dumps of a separator
	restApart      = 45.0 // s between samples of which each stands for itself
	freeboard      = 8.0  // in below the top of the shell to which a well fills a tank at most
	edgeUnsure     = 35.0 // s about an edge in which a dump cannot be told from the truck
	fallAboveNoise = 0.12 // in; a fall that is no noise
	sloshFade      = 80.0 // s in which slosh fades by e
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
	before      bool
	samples     []sample
	sigma       float64
	slosh       float64 // amplitude at the instant
	peak        float64 // in, the highest about the instant, before a draw
	inflow      production
	top         float64 // in, the highest that a well may fill the tank; 0: unknown
	sensorError float64 // in, the standard error of its kind of sensor
	resolution
}

func (r resting) nearest(i int) sample {
	if r.before {
		return r.samples[len(r.samples)-1-i]
	}
	return r.samples[i]
}

// fade is the time in which a sample loses weight by e, because the level strays from an
// even rise: where the noise hides the dumps, and the best mean is that of a random walk in
// noise, whose variance is then the inverse of the weights.
func (r resting) fade() float64 {
	if n := len(r.samples); n > 1 && r.sigma >= restBlur && r.inflow.variance > 0 {
		return math.Sqrt(stats.Square(r.sigma) * (r.samples[n-1].t - r.samples[0].t) / float64(n-1) / r.inflow.variance)
	}
	return math.Inf(1)
}

// sampleVariance is the variance of a sample that is carried to the instant: its noise, the slosh,
// and how well the slope is known.
func (r resting) sampleVariance(s sample, slope, fade float64) float64 {
	dt := math.Abs(s.t - r.at)
	return stats.Square(r.sigma)*math.Exp(dt/fade) + stats.Square(r.slosh*math.Exp(-dt/sloshFade)) + stats.Square(restLean*slope*dt)
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
	case r.step >= coarseLeast && math.Abs(away) <= restFar:
		return r.byStep(slope)
	case r.deadband > 0 && r.before:
		return r.byException(slope)
	case math.Abs(away) <= restFar:
		g := r.near(slope)
		g.err = math.Sqrt(stats.Square(g.err) + r.inflow.variance*math.Max(g.away, edgeUnsure))
		return g
	}
	r.at = r.nearest(0).t
	g := r.near(slope)
	g.away, g.carried = math.Abs(away), math.Abs(away)
	g.err = math.Sqrt(stats.Square(g.err) + stats.Square(r.step)/12)
	full := math.Max(g.level, r.top) // a full tank's well is shut in
	g.level += slope * away
	if over := g.level - full; r.top > 0 && over > 0 {
		g.level, g.err = full, math.Hypot(g.err, over/4)
	}
	g.err = math.Sqrt(stats.Square(g.err) + r.inflow.variance*g.away)
	return g
}

// byException is the level before a draw of a sensor that reports by exception: since the last
// report it has moved by less than the deadband.
func (r resting) byException(slope float64) gauge {
	last := r.nearest(0)
	g := gauge{samples: 1, away: math.Abs(r.at - last.t)}
	g.level = float64(last.v) + stats.Clamp(slope*(r.at-last.t), -r.deadband, r.deadband)
	free := r.inflow.variance*math.Max(g.away, edgeUnsure) + stats.Square(r.inflow.err*g.away)
	g.err = math.Sqrt(stats.Square(exceptClass*r.sensorError) + math.Min(free, stats.Square(r.deadband)/3))
	return g
}

// byStep is the level of a sensor of coarse steps: where its value changed the level was
// between the two, and from there the inflow carries it, by half a step at most.
func (r resting) byStep(slope float64) gauge {
	first := r.nearest(0)
	v, half := float64(first.v), r.step/2
	g := gauge{level: v, err: r.step / math.Sqrt(12), samples: 1, away: math.Abs(first.t - r.at)}
	for ; g.samples < len(r.samples); g.samples++ {
		s := r.nearest(g.samples)
		if s.v == first.v {
			continue
		}
		mid := v + math.Copysign(half, float64(s.v)-v)
		g.level = stats.Clamp(mid+slope*(r.at-s.t), v-half, v+half)
		since := math.Abs(s.t - r.at)
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

// near is the level at an instant close to the samples. The longest stretch is used that
// agrees with itself, either lying still (between two dumps of a separator) or rising.
func (r resting) near(slope float64) gauge {
	still, rising := r.longestRest(0), r.longestRest(slope)
	g := rising
	if still.samples > rising.samples && r.sigma < restBlur {
		g = still
	}
	if g.samples <= restFew && len(r.samples) > restFew {
		g = r.onLine(g)
	}
	return g
}

// longestRest takes block after block while it agrees with what was taken before.
func (r resting) longestRest(slope float64) gauge {
	var sum, weight float64
	fade := r.fade()
	g := gauge{away: math.Abs(r.nearest(0).t - r.at)}
	first := restFew
	if len(r.samples) > 1 && math.Abs(r.nearest(1).t-r.nearest(0).t) > restApart {
		first = 1
	}
	for size, i := first, 0; i < len(r.samples); size = max(2, i/2) {
		var bs, bw float64
		j := min(i+size, len(r.samples))
		if math.Abs(r.nearest(j-1).t-r.at) > restLong+g.away {
			break
		}
		for k := i; k < j; k++ {
			s := r.nearest(k)
			w := 1 / r.sampleVariance(s, slope, fade)
			bs += w * (float64(s.v) - slope*(s.t-r.at))
			bw += w
		}
		if i > 0 && math.Abs(bs/bw-sum/weight) > restSigmas*math.Sqrt(1/bw+1/weight)+0.01 {
			break
		}
		sum, weight, i = sum+bs, weight+bw, j
		g.samples = i
	}
	if g.samples == 0 {
		s := r.nearest(0)
		return gauge{level: float64(s.v) - slope*(s.t-r.at), err: r.sigma, samples: 1, away: g.away}
	}
	g.level, g.err = sum/weight, math.Sqrt(1/weight)
	return g
}

// onLine is for a level that moves too fast to have rested, as when a tank is topped up
// until the pump starts: the line through the nearest samples.
func (r resting) onLine(g gauge) gauge {
	n := min(len(r.samples), 8)
	near := r.samples[:n]
	if r.before { // few: the filling may have ended a minute before the pump began
		n = min(n, 5)
		near = r.samples[len(r.samples)-n:]
	}
	l, ok := fit(near)
	if !ok || math.Abs(l.slope) < 0.3/60 || r.before && l.slope < 0 {
		return g // what falls before a draw is the draw
	}
	v := l.at(r.at)
	if r.before {
		v = math.Min(v, r.peak)
	}
	return gauge{level: v, err: 2 * r.sigma, samples: n, away: g.away}
}
