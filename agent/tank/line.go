package tank

import (
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	lineLong  = 360.0 // s of a fall that say how it began or ended
	lineGroup = 60.0  // the same at the start in a group, before the other tank helps
	lineFew   = 3
	lineEven  = 8    // samples from which on a line is asked whether it is one
	lineRough = 2.5  // times the scatter of neighbours that a line may miss its edge by
	lineMiss  = 0.25 // in that it may in any case
	usualRate = 6.0  // bbl/min, where nothing was seen of a draw but its two ends
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

func crossing(l, m line, lo, hi float64) float64 {
	at, ok := l.meet(m)
	if !ok {
		return lo
	}
	return stats.Clamp(at, lo, math.Max(lo, hi))
}

// endLines are the falling lines at the beginning and at the end of a draw.
func (z *noise) endLines(t *Tank, inner []sample, s0, s1 line) (head, tail line) {
	long := lineLong
	if t.Group != "" {
		long = lineGroup
	}
	head, okHead := z.straightEnd(inner, long, firstOf)
	tail, okTail := z.straightEnd(inner, lineLong, lastOf)
	if okHead && okTail && head.slope < 0 && tail.slope < 0 {
		return head, tail
	}
	return guessedLines(t, inner, s0, s1)
}

// straightEnd is the line through one end of a draw: over a shorter time where the pump stood still
// or changed its rate, so that the line misses the samples next to the edge.
func (z *noise) straightEnd(b []sample, long float64, part func([]sample, float64) []sample) (line, bool) {
	for {
		p := part(b, long)
		l, ok := fit(p)
		if !ok || len(p) < lineEven {
			return l, ok
		}
		near := part(p, 0)
		if l.spread(near) <= math.Max(lineMiss, lineRough*math.Max(z.sigma, neighbourScatter(p))) {
			return l, true
		}
		long = math.Min(long, p[len(p)-1].t-p[0].t) / 2
	}
}

// slosh is the scatter of the samples about the falling line, beyond the noise.
func (z *noise) slosh(inner []sample, tail line) float64 {
	b := lastOf(inner, lineLong)
	if len(b) < 6 || b[len(b)-1].t-b[0].t > 2*lineLong {
		return 0
	}
	return math.Sqrt(math.Max(0, stats.Square(tail.spread(b))-stats.Square(z.sigma)))
}

// firstOf are the first samples of a draw, over a time or at least lineFew.
func firstOf(b []sample, long float64) []sample {
	n := 0
	for n < len(b) && (n < lineFew || b[n].t-b[0].t <= long) {
		n++
	}
	return b[:n]
}

func lastOf(b []sample, long float64) []sample {
	n := len(b)
	for n > 0 && (len(b)-n < lineFew || b[len(b)-1].t-b[n-1].t <= long) {
		n--
	}
	return b[n:]
}

// neighbourScatter is the standard deviation of samples about the lines between their neighbours.
func neighbourScatter(b []sample) float64 { return stats.Median(offNeighbours(b)) / 0.6745 }

// quietScatter is the same of samples most of which may lie beside a step.
func quietScatter(b []sample) float64 {
	d := offNeighbours(b)
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[len(d)/4] / 0.3186
}

// offNeighbours is how far samples lie off the lines between their neighbours, each as of one sample's noise.
func offNeighbours(b []sample) []float64 {
	d := make([]float64, 0, len(b))
	for i := 1; i+1 < len(b); i++ {
		w := (b[i].t - b[i-1].t) / (b[i+1].t - b[i-1].t)
		e := float64(b[i].v) - (float64(b[i-1].v)*(1-w) + float64(b[i+1].v)*w)
		d = append(d, math.Abs(e)/math.Sqrt(1+w*w+stats.Square(1-w)))
	}
	return d
}

// guessedLines are the lines of a draw of which one sample was seen at most: the usual rate, or
// the least that fits between the gauges.
func guessedLines(t *Tank, inner []sample, s0, s1 line) (head, tail line) {
	drop := s0.v - s1.v + s0.slope*(s1.t-s0.t)
	rate := usualRate/t.Table.PerInch(s0.v)/60 - s0.slope
	span := math.Max(s1.t-s0.t, 1)
	if len(inner) == 0 {
		rate = math.Max(rate, drop/span)
		mid := line{(s0.t + s1.t) / 2, (s0.v + s1.v) / 2, -rate}
		return mid, mid
	}
	p := inner[len(inner)/2]
	rate = math.Max(rate, (s0.v-float64(p.v))/math.Max(p.t-s0.t, 1))
	rate = math.Max(rate, (float64(p.v)-s1.v)/math.Max(s1.t-p.t, 1))
	l := line{p.t, float64(p.v), -rate}
	return l, l
}
