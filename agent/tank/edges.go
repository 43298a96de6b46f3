package tank

import (
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	usualRate = 6.0   // bbl/min, where nothing was seen of a draw but its two ends
	lineLong  = 360.0 // s of a fall that say how it began or ended
	lineGroup = 60.0  // the same at the start in a group, before the other tank helps
	lineFew   = 3
	lineEven  = 8     // samples from which on a line is asked whether it is one
	lineRough = 2.5   // times the scatter of neighbours that a line may miss its edge by
	lineMiss  = 0.25  // in that it may in any case
	edgeMost  = 1.0   // in about a gauge that are left out at most, for slosh and a pump's slow start
	restNear  = 120.0 // s of rest next to a fall that place it roughly
	rampClear = 20.0  // s before the crossing that a pump's slow start may reach
	openTries = 4     // times that an opening is looked for, each time with a better start
	peakLong  = 60.0  // s before a draw in which its peak lies
)

// draw is one fall of the level, or several that are one, with its edges.
type draw struct {
	start, end       float64
	opening, closing gauge
	parts            int
	gap              float64    // longest silence inside, s
	samples          int        // samples inside
	slosh            float64    // in
	endLine          line       // how it fell at last
	inflowBefore     float64    // inflow until the start, in/s
	inflowAfter      float64    // inflow from the start on, in/s
	usualInflow      float64    // inflow on other days, in/s
	inflow           production // how well the inflow is known
	stuck            stuckSpan  // when the value stood still meanwhile
	setByValve       bool       // the contact on the load valve speaks of it
	rival            string     // what rose meanwhile, which other draws explain as well as this one
	resolution                  // of the sensor
}

// bounds is the span of time that a fall's edges may use: from the end of the draw before
// to the start of the one after.
type bounds struct{ lo, hi float64 }

// measure finds the edges of a fall by what is known now.
func (ts *tankState) measure(t *Tank, f fall, in bounds, made production, now float64) draw {
	next, made := ts.inflowResumed(t, f, math.Min(now, in.hi), made)
	d := draw{parts: 1, gap: f.gap, inflowBefore: made.last, inflowAfter: next, usualInflow: made.usual, inflow: made, resolution: ts.levels.resolutionAt(f.from.t, f.to.t)}
	s0 := line{f.from.t, f.from.v, made.last}
	s1 := line{f.to.t, f.to.v, next}
	if b := between(ts.levels.recent, math.Max(in.lo, f.from.t-restNear), f.from.t+nodeEvery/2); len(b) > 0 {
		s0.v = stats.Median(values(b[max(0, len(b)-5):]))
	}
	if b := between(ts.levels.recent, f.to.t-nodeEvery/2, math.Min(in.hi, f.to.t+restNear)); len(b) > 0 {
		s1.v = stats.Median(values(b[:min(5, len(b))]))
	}
	inner := ts.inside(f, s0.v, s1.v)
	d.samples = len(inner)
	head, tail := ts.noise.endLines(t, f, inner, s0, s1)
	d.slosh, d.endLine = ts.noise.slosh(inner, tail), tail

	d.start = crossing(head, s0, f.from.t-60, firstTime(inner, f.to.t))
	rest := ts.resting(t, d)
	rest.before = true
	for range openTries {
		rest.at = d.start
		rest.samples = d.beforeDraw(between(ts.levels.recent, math.Max(in.lo, f.from.t-d.restReach()), math.Max(d.start-rampClear, f.from.t)))
		rest.peak = highest(between(ts.levels.recent, d.start-peakLong, d.start+rampClear))
		d.opening = rest.estimate(made.last).orLine(s0, d.start, ts.noise.perSample())
		s0 = line{d.start, d.opening.level, made.last}
		d.start = crossing(head, s0, f.from.t-60, firstTime(inner, f.to.t))
		if rest.at-d.start < rampClear {
			break // else what was taken for rest had begun to fall: the tank was topped up until then
		}
	}

	d.end = crossing(tail, s1, math.Max(d.start, lastTime(inner, f.from.t)), f.to.t+60)
	d.closing = ts.closingGauge(t, &d, in).orLine(s1, d.end, ts.noise.perSample())
	s1 = line{d.end, d.closing.level, next}
	d.end = crossing(tail, s1, math.Max(d.start, lastTime(inner, f.from.t)), f.to.t+60)
	return d
}

// highest is the greatest value of some samples; without any there is no bound.
func highest(b []sample) float64 {
	if len(b) == 0 {
		return math.Inf(1)
	}
	return slices.Max(values(b))
}

// resting is a stretch of samples about a draw that is yet to be chosen.
func (ts *tankState) resting(t *Tank, d draw) resting {
	return resting{sigma: ts.noise.perSample(), inflow: d.inflow, resolution: d.resolution, top: float64(t.Height) - freeboard, sensorError: t.sensorError()}
}

// perSample is the noise of a sample, never taken as none.
func (z *noise) perSample() float64 { return math.Max(z.sigma, 0.02) }

// inside are the samples that are clearly under way: below the opening and above the closing.
func (ts *tankState) inside(f fall, open, closing float64) []sample {
	b := between(ts.levels.recent, f.from.t-nodeEvery/2, f.to.t+nodeEvery/2)
	drop := open - closing
	edge := math.Min(math.Max(math.Max(0.3, 3*ts.noise.sigma), math.Min(0.04*drop, edgeMost)), 0.2*drop)
	low, high := 0, len(b)
	for low < len(b) && float64(b[low].v) > open-0.3*drop {
		low++
	}
	for high > 0 && float64(b[high-1].v) < closing+0.3*drop {
		high--
	}
	for low > 0 && float64(b[low-1].v) < open-edge {
		low--
	}
	for high < len(b) && float64(b[high].v) > closing+edge {
		high++
	}
	if low >= high {
		return nil
	}
	return b[low:high]
}

// endLines are the falling lines at the beginning and at the end of a draw.
func (z *noise) endLines(t *Tank, f fall, inner []sample, s0, s1 line) (head, tail line) {
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

// neighbourScatter is the standard deviation of samples about the lines between their neighbours.
func neighbourScatter(b []sample) float64 {
	d := make([]float64, 0, len(b))
	for i := 1; i+1 < len(b); i++ {
		w := (b[i].t - b[i-1].t) / (b[i+1].t - b[i-1].t)
		e := float64(b[i].v) - (float64(b[i-1].v)*(1-w) + float64(b[i+1].v)*w)
		d = append(d, math.Abs(e)/math.Sqrt(1+w*w+stats.Square(1-w)))
	}
	return stats.Median(d) / 0.6745
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

// slosh is the scatter of the samples about the falling line, beyond the noise.
func (z *noise) slosh(inner []sample, tail line) float64 {
	b := lastOf(inner, lineLong)
	if len(b) < 6 || b[len(b)-1].t-b[0].t > 2*lineLong {
		return 0
	}
	return math.Sqrt(math.Max(0, stats.Square(tail.spread(b))-stats.Square(z.sigma)))
}

func crossing(l, m line, lo, hi float64) float64 {
	at, ok := l.meet(m)
	if !ok {
		return lo
	}
	return stats.Clamp(at, lo, math.Max(lo, hi))
}

func firstTime(b []sample, none float64) float64 {
	if len(b) == 0 {
		return none
	}
	return b[0].t
}

func lastTime(b []sample, none float64) float64 {
	if len(b) == 0 {
		return none
	}
	return b[len(b)-1].t
}
