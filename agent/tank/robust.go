package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

// line is a level that changes evenly: v at time t, and slope inches per second.
type line struct{ t, v, slope float64 }

func (l line) at(t float64) float64 { return l.v + l.slope*(t-l.t) }

// fit is the line of Theil and Sen through samples: the median of the slopes of all pairs,
// and the median of what is left. It takes at most 40 samples, spread evenly.
func fit(b []sample) (line, bool) {
	if len(b) < 2 {
		return line{}, false
	}
	if len(b) > 40 {
		t := make([]sample, 40)
		for i := range t {
			t[i] = b[i*(len(b)-1)/39]
		}
		b = t
	}
	slopes := make([]float64, 0, len(b)*(len(b)-1)/2)
	for i := range b {
		for j := range i {
			if dt := b[i].t - b[j].t; dt > 0 {
				slopes = append(slopes, float64(b[i].v-b[j].v)/dt)
			}
		}
	}
	if len(slopes) == 0 {
		return line{}, false
	}
	l := line{t: b[len(b)/2].t, slope: stats.Median(slopes)}
	rest := slopes[:0]
	for _, s := range b {
		rest = append(rest, float64(s.v)-l.slope*(s.t-l.t))
	}
	l.v = stats.Median(rest)
	return l, true
}

// spread is the robust standard deviation of samples about a line.
func (l line) spread(b []sample) float64 {
	d := make([]float64, 0, len(b))
	for _, s := range b {
		d = append(d, math.Abs(float64(s.v)-l.at(s.t)))
	}
	if len(d) == 0 {
		return 0
	}
	return stats.Median(d) / 0.6745
}

// meet is the time at which two lines cross; false when they are as good as parallel.
func (l line) meet(m line) (float64, bool) {
	d := l.slope - m.slope
	if math.Abs(d) < 1e-9 {
		return 0, false
	}
	return l.t + (m.at(l.t)-l.v)/d, true
}
