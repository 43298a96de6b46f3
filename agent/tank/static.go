package tank

import "math"

const (
	restLong  = 1800.0 // s of rest that an estimate may use
	restFew   = 3      // samples of the first block
	restDoubt = 3.0    // standard errors by which a block may differ
	restLean  = 0.2    // share of a slope that is not known
	restFar   = 60.0   // s to the nearest sample, from which on the inflow carries the level
	restBlur  = 0.2    // in of noise that hides the dumps of a separator
	restApart = 45.0   // s between samples of which each stands for itself
	sloshFade = 80.0   // s in which slosh fades by e
	dumpBbl   = 0.7    // barrels that a separator dumps at once
)

// gauge is a level at an instant, taken from the rest before or after it.
type gauge struct {
	v, err float64 // inches; standard error
	n      int     // samples used
	away   float64 // s from the nearest sample
}

// or is the gauge, or where no sample was at rest, the level of a line.
func (g gauge) or(l line, at, sigma float64) gauge {
	if finite(g.v) {
		return g
	}
	return gauge{v: l.at(at), err: 3 * sigma, n: 1, away: math.Abs(l.t - at)}
}

// resting is a stretch of samples at rest, the nearest to the instant first.
type resting struct {
	at    float64
	back  bool
	b     []sample
	sigma float64
	slosh float64 // amplitude at the instant
}

func (r resting) sample(i int) sample {
	if r.back {
		return r.b[len(r.b)-1-i]
	}
	return r.b[i]
}

// variance is what is not known of a sample carried to the instant: its noise, the slosh,
// and how well the slope is known.
func (r resting) variance(s sample, slope float64) float64 {
	dt := math.Abs(s.t - r.at)
	return sq(r.sigma) + sq(r.slosh*math.Exp(-dt/sloshFade)) + sq(restLean*slope*dt)
}

// level carries the rest to its instant. The longest stretch is used that agrees with
// itself, either lying still (between two dumps of a separator) or rising at the inflow's
// slope, in inches per second.
func (r resting) level(slope float64) gauge {
	if len(r.b) == 0 {
		return gauge{v: math.NaN(), err: math.Inf(1), away: math.Inf(1)}
	}
	if near := r.sample(0).t; math.Abs(near-r.at) > restFar {
		away := r.at - near
		r.at = near
		g := r.level(slope)
		g.v, g.away = g.v+slope*away, math.Abs(away)
		return g
	}
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
			w := 1 / r.variance(s, slope)
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
	if r.back {
		near = r.b[len(r.b)-n:]
	}
	l, ok := fit(near)
	if !ok || math.Abs(l.slope) < 0.3/60 {
		return g
	}
	return gauge{v: l.at(r.at), err: 2 * r.sigma, n: n, away: g.away}
}
