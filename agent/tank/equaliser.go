package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	evenBbl     = 0.1    // bbl still to come across, below which an equaliser has done its work
	groupSettle = 1500.0 // s after which a tank of a group is gauged where nobody can tell when that was
	evenFastest = 15.0   // s in which the difference falls by e
	evenSlowest = 1200.0
	evenPrice   = 30.0  // what a fade has to save beside a level that was even at once, in squares of the noise
	evenStep    = 1.2   // between the times that are tried
	evenNear    = 300.0 // s about the end of a draw in which its pump stopped
)

// fade is a level that comes to rest: rest + by*exp(-t/time) + slope*t, t seconds after from.
type fade struct{ from, rest, by, time, slope, err float64 }

// evenedGauge is the level of a tank of a group when the equaliser had done its work: the level after the pump is a fade
// towards what both have in common, which rises with the well. Some gauge it as soon as that is done, others after the 25
// minutes that it always takes: the middle is read, so that neither is far off.
func (r resting) evenedGauge(t *Tank, d *draw) (gauge, bool) {
	if len(r.samples) < 2*lineEven {
		return gauge{}, false
	}
	f := r.fading(d.inflowAfter)
	per := t.Table.PerInch(f.rest)
	after := f.time * math.Log(math.Max(1, math.Abs(f.by)*per/evenBbl))
	early := math.Max(0, groupSettle-after) / 2
	g := gauge{level: f.at(r.at + after + early), samples: len(r.samples), err: f.err}
	g.err += f.slope * early / 2
	if last := r.samples[len(r.samples)-1].t - r.at; after > last {
		g.err += math.Abs(f.by) * math.Exp(-last/f.time) / 2
	}
	return g, true
}

// pumpStopped is when the pump of a draw from a group stopped: where the level was lowest, if that is near the draw's end,
// since from there on the other tank fills it up.
func (l *levels) pumpStopped(d *draw) float64 {
	b := between(l.recent, d.end-evenNear/5, d.end+evenNear)
	at, low := d.end, math.Inf(1)
	for i := 1; i+1 < len(b); i++ {
		if v := median3(b[i-1 : i+2]); v < low {
			at, low = b[i].t, v
		}
	}
	if at > d.end+0.9*evenNear {
		return d.end
	}
	return at
}

// fading is the fade that fits the samples best, of all times that are tried; its slope is drawn to the well's.
func (r resting) fading(usual float64) fade {
	b := r.thinned(r.withoutSpikes())
	sigma := math.Max(r.sigma, neighbourScatter(b))
	prior := 1 / stats.Square(pieceSlope+usual/2)
	best, least := fade{}, math.Inf(1)
	for time := 0.0; time <= evenSlowest; time = math.Max(evenFastest, time*evenStep) {
		m := [3][4]float64{2: {2: prior, 3: prior * usual}} // normal equations
		if time == 0 {
			m[1][1] = 1
		}
		for _, s := range b {
			w := 1 / r.sampleVariance(s, sigma)
			x := [3]float64{1, 0, s.t - r.at}
			if time > 0 {
				x[1] = math.Exp(-(s.t - r.at) / time)
			}
			for i := range x {
				for k := range x {
					m[i][k] += w * x[i] * x[k]
				}
				m[i][3] += w * x[i] * float64(s.v-b[0].v)
			}
		}
		x, ok := solved(m)
		if !ok {
			continue
		}
		f := fade{r.at, x[0] + float64(b[0].v), x[1], time, x[2], 0}
		cost := prior * stats.Square(f.slope-usual)
		for _, s := range b {
			cost += math.Min(stats.Square(restSigmas*restSigmas), stats.Square(float64(s.v)-f.at(s.t))/r.sampleVariance(s, sigma))
		}
		if time > 0 {
			cost += evenPrice
		}
		if cost < least {
			best, least = f, cost
			best.err = sigma * math.Sqrt(cost) / float64(len(b))
		}
	}
	return best
}

func (f fade) at(t float64) float64 {
	v := f.rest + f.slope*(t-f.from)
	if f.time > 0 {
		v += f.by * math.Exp(-(t-f.from)/f.time)
	}
	return v
}

// solved are the unknowns of three linear equations; false where they do not tell.
func solved(m [3][4]float64) (x [3]float64, ok bool) {
	for i := range 3 {
		if math.Abs(m[i][i]) < 1e-12 {
			return x, false
		}
		for k := i + 1; k < 3; k++ {
			share := m[k][i] / m[i][i]
			for j := i; j < 4; j++ {
				m[k][j] -= share * m[i][j]
			}
		}
	}
	for i := 2; i >= 0; i-- {
		x[i] = m[i][3]
		for j := i + 1; j < 3; j++ {
			x[i] -= m[i][j] * x[j]
		}
		x[i] /= m[i][i]
	}
	return x, true
}
