package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	restLong  = 1800.0 // s of rest that an estimate may use
	restFew   = 3      // samples of the first block
	restDoubt = 3.0    // standard errors by which a block may differ
	restLean  = 0.2    // share of a slope that is not known
	restFar   = 60.0   // s to the nearest sample, from which on the inflow carries the level
	restBlur  = 0.2    // in of noise that hides the dumps of a separator
	restApart = 45.0   // s between samples of which each stands for itself
	freeboard = 8.0    // in below the top of the shell to which a well fills a tank at most
	restBrink = 35.0   // s about an edge in which a dump cannot be told from the truck
	sagLeast  = 0.12   // in; a fall that is no noise
	sloshFade = 80.0   // s in which slosh fades by e
)

// gauge is a level at an instant, taken from the rest before or after it.
type gauge struct {
	v, err float64 // inches; standard error but for that of the inflow
	n      int     // samples used
	away   float64 // s from the nearest sample
	lean   float64 // s that the inflow carried the level
}

// or is the gauge, or where no sample was at rest, the level of a line.
func (g gauge) or(l line, at, sigma float64) gauge {
	if stats.Finite(g.v) {
		return g
	}
	away := math.Abs(l.t - at)
	return gauge{v: l.at(at), err: 3 * sigma, n: 1, away: away, lean: away}
}

// resting is a stretch of samples at rest, the nearest to the instant first.
type resting struct {
	at    float64
	back  bool
	b     []sample
	sigma float64
	slosh float64 // amplitude at the instant
	peak  float64 // in, the highest about the instant, before a draw
	flow  production
	top   float64 // in, the highest that a well may fill the tank; 0: unknown
	class float64 // in, the standard error of its kind of sensor
	manner
}

func (r resting) sample(i int) sample {
	if r.back {
		return r.b[len(r.b)-1-i]
	}
	return r.b[i]
}

// fade is the time in which a sample loses weight by e, because the level strays from an
// even rise: where the noise hides the dumps, and the best mean is that of a random walk in
// noise, whose variance is then the inverse of the weights.
func (r resting) fade() float64 {
	if n := len(r.b); n > 1 && r.sigma >= restBlur && r.flow.wander > 0 {
		return math.Sqrt(stats.Square(r.sigma) * (r.b[n-1].t - r.b[0].t) / float64(n-1) / r.flow.wander)
	}
	return math.Inf(1)
}

// variance is what is not known of a sample carried to the instant: its noise, the slosh,
// and how well the slope is known.
func (r resting) variance(s sample, slope, fade float64) float64 {
	dt := math.Abs(s.t - r.at)
	return stats.Square(r.sigma)*math.Exp(dt/fade) + stats.Square(r.slosh*math.Exp(-dt/sloshFade)) + stats.Square(restLean*slope*dt)
}

// level carries the rest to its instant, rising at the inflow's slope in inches per second,
// with what may have flowed in or sloshed meanwhile as its error.
func (r resting) level(slope float64) gauge {
	if len(r.b) == 0 {
		return gauge{v: math.NaN(), err: math.Inf(1), away: math.Inf(1)}
	}
	r.b = r.clear()
	away := r.at - r.sample(0).t
	switch {
	case r.step >= stairLeast && math.Abs(away) <= restFar:
		return r.stair(slope)
	case r.dead > 0 && r.back:
		return r.silent(slope)
	case math.Abs(away) <= restFar:
		g := r.near(slope)
		g.err = math.Sqrt(stats.Square(g.err) + r.flow.wander*math.Max(g.away, restBrink))
		return g
	}
	r.at = r.sample(0).t
	g := r.near(slope)
	g.away, g.lean = math.Abs(away), math.Abs(away)
	g.err = math.Sqrt(stats.Square(g.err) + stats.Square(r.step)/12)
	full := math.Max(g.v, r.top) // a full tank's well is shut in
	g.v += slope * away
	if over := g.v - full; r.top > 0 && over > 0 {
		g.v, g.err = full, math.Hypot(g.err, over/4)
	}
	g.err = math.Sqrt(stats.Square(g.err) + r.flow.wander*g.away)
	return g
}

// silent is the level before a draw of a sensor that reports by exception: since the last
// report it has moved by less than the deadband.
func (r resting) silent(slope float64) gauge {
	last := r.sample(0)
	g := gauge{n: 1, away: math.Abs(r.at - last.t)}
	g.v = float64(last.v) + stats.Clamp(slope*(r.at-last.t), -r.dead, r.dead)
	free := r.flow.wander*math.Max(g.away, restBrink) + stats.Square(r.flow.unsure*g.away)
	g.err = math.Sqrt(stats.Square(exceptClass*r.class) + math.Min(free, stats.Square(r.dead)/3))
	return g
}

// stair is the level of a sensor of coarse steps: where its value changed the level was
// between the two, and from there the inflow carries it, by half a step at most.
func (r resting) stair(slope float64) gauge {
	first := r.sample(0)
	v, half := float64(first.v), r.step/2
	g := gauge{v: v, err: r.step / math.Sqrt(12), n: 1, away: math.Abs(first.t - r.at)}
	for ; g.n < len(r.b); g.n++ {
		s := r.sample(g.n)
		if s.v == first.v {
			continue
		}
		mid := v + math.Copysign(half, float64(s.v)-v)
		g.v = stats.Clamp(mid+slope*(r.at-s.t), v-half, v+half)
		since := math.Abs(s.t - r.at)
		free := r.flow.wander*since + stats.Square(r.flow.unsure*since)
		g.err = math.Min(g.err, math.Sqrt(free+stats.Square(stairSway*r.step)))
		break
	}
	return g
}

// clear leaves out the nearest of sparse samples when it was taken while the draw went on:
// at rest a level does not fall.
func (r resting) clear() []sample {
	n := len(r.b)
	if n < 2 || r.dead > 0 {
		return r.b
	}
	low := math.Max(sagLeast, 4*r.sigma)
	a, z := r.b[0], r.b[1]
	if r.back {
		a, z = r.b[n-2], r.b[n-1]
	}
	switch {
	case z.t-a.t < restApart || float64(a.v-z.v) < low:
		return r.b
	case r.back:
		return r.b[:n-1]
	}
	return r.b[1:]
}

// near is the level at an instant close to the samples. The longest stretch is used that
// agrees with itself, either lying still (between two dumps of a separator) or rising.
func (r resting) near(slope float64) gauge {
	still, rising := r.grow(0), r.grow(slope)
	g := rising
	if still.n > rising.n && r.sigma < restBlur {
		g = still
	}
	if g.n <= restFew && len(r.b) > restFew {
		g = r.leaning(g)
	}
	return g
}

// grow takes block after block while it agrees with what was taken before.
func (r resting) grow(slope float64) gauge {
	var sum, weight float64
	fade := r.fade()
	g := gauge{away: math.Abs(r.sample(0).t - r.at)}
	first := restFew
	if len(r.b) > 1 && math.Abs(r.sample(1).t-r.sample(0).t) > restApart {
		first = 1
	}
	for size, i := first, 0; i < len(r.b); size = max(2, i/2) {
		var bs, bw float64
		j := min(i+size, len(r.b))
		if math.Abs(r.sample(j-1).t-r.at) > restLong+g.away {
			break
		}
		for k := i; k < j; k++ {
			s := r.sample(k)
			w := 1 / r.variance(s, slope, fade)
			bs += w * (float64(s.v) - slope*(s.t-r.at))
			bw += w
		}
		if i > 0 && math.Abs(bs/bw-sum/weight) > restDoubt*math.Sqrt(1/bw+1/weight)+0.01 {
			break
		}
		sum, weight, i = sum+bs, weight+bw, j
		g.n = i
	}
	if g.n == 0 {
		s := r.sample(0)
		return gauge{v: float64(s.v) - slope*(s.t-r.at), err: r.sigma, n: 1, away: g.away}
	}
	g.v, g.err = sum/weight, math.Sqrt(1/weight)
	return g
}

// leaning is for a level that moves too fast to have rested, as when a tank is topped up
// until the pump starts: the line through the nearest samples.
func (r resting) leaning(g gauge) gauge {
	n := min(len(r.b), 8)
	near := r.b[:n]
	if r.back { // few: the filling may have ended a minute before the pump began
		n = min(n, 5)
		near = r.b[len(r.b)-n:]
	}
	l, ok := fit(near)
	if !ok || math.Abs(l.slope) < 0.3/60 || r.back && l.slope < 0 {
		return g // what falls before a draw is the draw
	}
	v := l.at(r.at)
	if r.back {
		v = math.Min(v, r.peak)
	}
	return gauge{v: v, err: 2 * r.sigma, n: n, away: g.away}
}
