package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	foamShare  = 0.7    // of what makes a ticket wrong, that the foam makes at least
	foamSeen   = 0.3    // in that the level falls at least
	foamNoise  = 4.0    // times the noise, the same
	foamQuick  = 30.0   // s in which foam collapses by e
	foamSlow   = 1500.0 // the same
	foamGrows  = 90.0   // s in which it comes up by e
	foamOnsets = 32     // instants from which it may have collapsed that are tried
	foamSure   = 6.0    // standard errors of its height
	foamBeyond = 2.0    // times what the level was seen to fall, that it may have been high
	foamGone   = 2.0    // times in which it collapses by e, that are seen of it
	foamRough  = 0.1    // of its height, that it does not collapse evenly
	foamGrown  = 0.25   // the same where it came up after the end
)

// foam stood on the oil until some seconds after a load's end, and went, e times less after every time; or it drained evenly, as oil that
// leaves does. grows says that it came up after the end.
type foam struct {
	stood, time float64
	grows, even bool
}

// left is the share of it that stands so many seconds after the end.
func (f foam) left(after float64) float64 {
	up := 1.0
	if f.grows {
		up -= math.Exp(-after / foamGrows)
	}
	switch since := math.Max(0, after-f.stood); {
	case f.even:
		return up * math.Max(0, 1-since/(2*f.time))
	default:
		return up * math.Exp(-since/f.time)
	}
}

// foamFit is a level behind a load: what it rises from at the end, and how fast, and the foam on it; left is what the fit leaves of the squares.
type foamFit struct {
	foam
	level, slope, inches, err, left float64
}

// behindFoam is the closing of a load behind which foam collapsed, and the foam in inches; 0 where none did. Only what looks at the oil from
// above sees foam. Oil at rest does not fall: a level that does, quickly at first and then less, and rises on as the well makes it, is read
// as if it had not stood so high before. What falls evenly may be oil that somebody drained, and stays what it is.
func behindFoam(ts *tankState, t *Tank, d draw, now float64) (gauge, float64) {
	per := t.Table.PerInch(d.closing.level)
	least := foamShare * math.Max(1, 0.01*t.volume(d)) / per
	if t.Group != "" || t.Sensor == "float" || t.Sensor == "hydrostatic" || d.deadband > 0 {
		return gauge{}, 0
	}
	from, to := d.end+settleShort, math.Min(math.Min(now, d.next), d.end+t.Loads.Confirm.Seconds())
	seen := ts.levels.sink(from, to, math.Inf(-1))
	if seen < math.Max(foamSeen, foamNoise*ts.noise.perSample()) {
		return gauge{}, 0
	}
	r := ts.resting(t, d)
	r.at, r.samples, r.slosh = d.end, between(ts.levels.recent, from, to), d.slosh
	b := r.thinned(r.withoutSpikes())
	if len(b) < 2*atomFew {
		return gauge{}, 0
	}
	r.sigma = math.Max(math.Max(r.sigma, neighbourScatter(b)), r.step/math.Sqrt(12))
	made := math.Hypot(d.inflow.err, math.Sqrt(d.inflow.variance/(to-from)))
	best := r.bestFoam(b, d.usualInflow, made)
	if best.even || best.inches < math.Max(least, foamSure*best.err) || best.inches > foamBeyond*(seen+foamGone*best.time*math.Max(best.slope, 0)) {
		return gauge{}, 0
	}
	g, rough := gauge{level: best.level, samples: len(b), away: d.closing.away}, foamRough
	if best.grows {
		rough = foamGrown // oil that came in looks as foam that comes up
	}
	g.err = math.Sqrt(stats.Square(best.err) + stats.Square(rough*best.inches) + d.inflow.variance*(best.time+best.stood/2))
	return g, best.inches
}

// bestFoam is the fit of all ways in which foam may have collapsed that leaves least; without any it is even.
func (r resting) bestFoam(b []sample, usual, err float64) foamFit {
	best := foamFit{left: math.Inf(1)}
	every := max(1, len(b)/foamOnsets)
	for i := 0; i < len(b)-atomFew/2; i += every {
		for time := foamQuick; time <= foamSlow; time *= 1.5 {
			if b[i].t+foamGone*time > b[len(b)-1].t {
				break
			}
			for way := range 4 {
				f := r.fitFoam(b, foam{math.Max(0, b[i].t-r.at), time, way&1 > 0, way&2 > 0}, usual, err)
				if f.left < best.left {
					best = f
				}
			}
		}
	}
	return best
}

// fitFoam fits the level, the slope, which the well's usual one with its error bounds, and the foam's height by least squares.
func (r resting) fitFoam(b []sample, f foam, usual, err float64) foamFit {
	var n, x, w, y, xx, xw, ww, xy, wy, yy float64
	for _, s := range b {
		g := 1 / r.sampleVariance(s, r.sigma)
		a, l, v := s.t-r.at, f.left(s.t-r.at), float64(s.v-b[0].v)
		n, x, w, y = n+g, x+g*a, w+g*l, y+g*v
		xx, xw, ww, xy, wy, yy = xx+g*a*a, xw+g*a*l, ww+g*l*l, xy+g*a*v, wy+g*l*v, yy+g*v*v
	}
	prior := 1 / stats.Square(math.Max(err, pieceSlope/10))
	xx, xw, ww = xx-x*x/n+prior, xw-x*w/n, ww-w*w/n
	xy, wy, yy = xy-x*y/n+prior*usual, wy-w*y/n, yy-y*y/n+prior*usual*usual
	det := xx*ww - xw*xw
	if det <= 1e-9*xx*ww {
		return foamFit{left: math.Inf(1)}
	}
	out := foamFit{foam: f, slope: (xy*ww - wy*xw) / det, inches: (wy*xx - xy*xw) / det}
	out.level = float64(b[0].v) + (y-out.slope*x-out.inches*w)/n
	out.left = yy - out.slope*xy - out.inches*wy
	out.err = math.Sqrt(xx / det * math.Max(1, out.left/float64(len(b))))
	return out
}
