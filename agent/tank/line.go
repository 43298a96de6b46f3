package tank

import (
	"fmt"
	"math"

	"gauger/agent/tank/stats"
)

const (
	lineLong  = 360.0 // s of a fall that say how it began or ended
	lineGroup = 60.0  // the same at the start in a group, before the other tank helps
	lineFew   = 3
	lineEven  = 7    // samples from which on a line is asked whether it is one
	lineRough = 2.5  // times the scatter of neighbours that a line may miss its edge by
	lineMiss  = 0.25 // in that it may in any case
	kinkEven  = 0.7  // share of the rate of one half of a drain that the other has
	slowPart  = 0.45 // share of the other's rate, below which a part is none of the pump's, however soon it comes
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

// crossing is the time at which two lines cross, between two times: the first of these when they are as good as parallel.
func crossing(l, m line, lo, hi float64) float64 {
	d := l.slope - m.slope
	if math.Abs(d) < 1e-9 {
		return lo
	}
	return stats.Clamp(l.t+(m.at(l.t)-l.v)/d, lo, math.Max(lo, hi))
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
	if len(b) < 6 {
		return 0
	}
	return math.Sqrt(math.Max(0, stats.Square(math.Min(tail.spread(b), neighbourScatter(b)))-stats.Square(z.sigma))) // a pump that changed its rate is none, nor a dump
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

const (
	decaySamples = 60   // of a fall that are fitted
	decayOnsets  = 24   // instants from which it may have fallen
	decayTimes   = 32   // times that it may have taken
	decayMost    = 2.0  // times a fall's length that a pump may take, and a half of it that what decays may take to fall by e
	decayLeast   = 10.0 // s, the same
	decaySure    = 0.6  // share of the squares that a pump leaves, which what decays leaves at most
	pumpSure     = 1.3  // times the squares that a pump leaves, from which on what decays leaves too many for it
	decayStops   = 0.02 // of a fall that its readings may lie off what decays where it seemed to stop, as noise does near its end
	pumpedEdge   = 0.05 // share of a fall at either end in which readings are not under way
	pumpedFew    = 4    // samples under way that show a pump
	averagedLong = 900. // s; no gateway takes a mean over longer
	evenNoise    = 3.0  // times the noise by which equal parts of a fall may differ
	evenPart     = 0.05 // of a part, at most, that this is: one pump in four hundred starts and stops so near to a reading
	evenHalf     = 0.02 // the same of two parts: one in fifty
)

// pumps are the powers of the time that is left by which a level falls under a pump: evenly, or slower as the head falls, as by gravity.
var pumps = []float64{1, 1.25, 1.5, 2}

// decays says that a draw was fastest at first and ever slower, as foam that collapses, ice that thaws and a filter that forgets, and
// not as under any pump: it is fitted as each of them from every instant at which it may have begun.
func decays(ts *tankState, d draw) bool { return decay(ts, d) <= decaySure }

// decay is how much of the squares that the likeliest pump leaves of a fall what decays leaves; 1 where nobody can tell.
func decay(ts *tankState, d draw) float64 {
	b := between(ts.levels.recent, d.start-2*binWidth, math.Max(d.end, math.Min(ts.last.t, d.next)))
	if len(b) < pumpedFew {
		return 1
	}
	top, low := d.opening.level, d.closing.level
	for k := stepFew; k <= len(b); k += stepFew { // it may have fallen on
		low = math.Min(low, stats.Median(values(b[k-stepFew:k])))
	}
	if float64(b[0].v) < top-0.1*(top-low) {
		if b[0].flags != unlinked {
			return 1 // nobody saw it begin
		}
		top = float64(b[0].v) // what decays does so from any point on
	}
	b = fallOf(b, top, low)
	if len(b) < pumpedFew {
		return 1
	}
	exponential := bestFall(b, top, low, func(x float64) float64 { return math.Exp(-x) }, 0.5)
	if d.parts > 1 && exponential > float64(len(b))*stats.Square(decayStops*(top-low)) { // what stops and goes on is a pump
		return 1
	}
	even := math.Inf(1)
	for k := 0; k < len(pumps) && exponential < pumpSure*even; k++ {
		even = math.Min(even, bestFall(b, top, low, func(x float64) float64 { return math.Pow(math.Max(0, 1-x), pumps[k]) }, 1))
	}
	return exponential / even
}

// averagedStep is into how many equal parts the readings of a fall cut it from rest to rest; 0 where they do not. A step of the sensor over which a gateway
// takes its mean falls so; a pump starts and stops between two readings, and its first and last parts are less.
func averagedStep(ts *tankState, d draw) (parts int) {
	each, slack := ts.interval.usual, math.Max(evenNoise*ts.noise.perSample(), 2*d.step)
	b := between(ts.levels.recent, d.start-2.5*each, d.end+2.5*each)
	first, last := 0, 0
	for k := 1; k < len(b); k++ {
		if float64(b[k-1].v-b[k].v) > slack {
			if last = k; first == 0 {
				first = k
			}
		}
	}
	if parts = last - first + 1; parts < 2 || first < 2 || last+1 >= len(b) || d.deadband > 0 || d.end-d.start > averagedLong {
		return 0
	}
	part, share := float64(b[first-1].v-b[last].v)/float64(parts), evenPart
	if parts == 2 {
		share = evenHalf
	}
	for k := first - 1; k <= last+1; k++ {
		off, under := math.Abs(float64(b[k-1].v-b[k].v)-part), k >= first && k <= last
		if slack > share*part || math.Abs(b[k].t-b[k-1].t-each) > each/4 || under && off > slack {
			return 0
		}
	}
	return parts
}

// fallOf are the samples of a fall, from the last one near its top to as long again behind the first near its bottom, thinned.
func fallOf(b []sample, top, low float64) []sample {
	from, to := 0, len(b)
	for k, s := range b {
		share := (float64(s.v) - low) / (top - low)
		if share > 1-pumpedEdge {
			from = k
		}
		if share < 2*pumpedEdge {
			to = min(len(b), 2*(k+1)-from)
			break
		}
	}
	from = max(0, from-1)
	if from >= to {
		return nil
	}
	b = b[from:to]
	every := (len(b) + decaySamples - 1) / decaySamples
	out := make([]sample, 0, decaySamples)
	for k := 0; k < len(b); k += every {
		out = append(out, b[k])
	}
	return out
}

// bestFall is the least sum of squares that a shape of a fall leaves; it is 1 at 0 and falls to 0. times is how many lengths of the fall
// it may take.
func bestFall(b []sample, top, low float64, shape func(x float64) float64, times float64) float64 {
	first, long := b[0].t, b[len(b)-1].t-b[0].t
	best := math.Inf(1)
	for n := range decayTimes {
		time := decayLeast * math.Pow(math.Max(1, decayMost*times*long/decayLeast), float64(n)/(decayTimes-1))
		for k := range decayOnsets {
			from, sum := first+long*float64(k)/(2*decayOnsets), 0.0
			for _, s := range b {
				off := float64(s.v) - low - (top-low)*shape(math.Max(0, s.t-from)/time)
				if sum += off * off; sum >= best {
					break
				}
			}
			best = math.Min(best, sum)
		}
	}
	return best
}

// runsOn cuts a draw in two where it goes over at once into an even fall that no truck draws, of more barrels than a hose holds: a leak, or a drain. What may
// still be the pump's is counted and asks, and on has no start. Where the slow part comes first, on is empty: the load begins at the kink.
func runsOn(ts *tankState, t *Tank, d draw) (load, on draw, ok bool) {
	b, knee, far := between(ts.levels.recent, d.start, d.end), 0, 0.0 // in that it lies below the line from the opening to the closing
	for k, s := range b {
		if off := d.opening.level - d.slope()*(s.t-d.start) - float64(s.v); math.Abs(off) > math.Abs(far) {
			knee, far = k, off
		}
	}
	if t.Group != "" || knee < stepFew || len(b)-knee <= stepFew {
		return d, d, false
	}
	pump, left := lastOf(b[:knee], lineLong), t.barrels(float64(b[knee].v), d.closing.level)
	if far < 0 {
		pump, left = firstOf(b[knee+1:], lineLong), t.barrels(d.opening.level, float64(b[knee].v))
	}
	slow, shelf, beside := beyondStop(b, knee, far > 0, math.Max(stopBit, backNoise*ts.noise.perSample()))
	head, _ := fit(pump)
	tail, _ := fit(slow)
	first, _ := fit(slow[:len(slow)/2])
	last, _ := fit(slow[len(slow)/2:])
	per := t.Table.PerInch(float64(b[knee].v))
	if left < bleedBbl || len(slow) < pumpedFew || tail.slope < slowPart*head.slope || math.Max(first.slope, last.slope) > kinkEven*math.Min(first.slope, last.slope) {
		return d, d, false
	}
	stop := 0.0 // s for which it stopped at least
	for _, x := range []sample{b[knee], shelf} {
		stop = math.Max(stop, math.Abs(beside.t-x.t)-math.Abs(float64(x.v-beside.v)/tail.slope))
	}
	drains := tail.slope >= bleedRate*head.slope && (d.usualInflow-tail.slope)*per*60 < slowestRun
	switch said := fmt.Sprintf("%.1f bbl left at %.1f bbl a minute right %%s the pump's rate of %.1f: ", left, -tail.slope*per*60, -head.slope*per*60); {
	case !drains && (stop < rampLong || left < early*t.volume(d)):
		return d, d, false
	case far > 0 && (!drains || left < 2*bleedBbl):
		d.doubtGauge(&d.closing, left/2/per, "its last "+said+"the pump lost its prime, or it was water", "behind")
		return d, draw{end: d.end}, true
	case !drains:
		d.doubtGauge(&d.opening, left/2/per, "its first "+said+"water, or a slow start", "before")
		return d, draw{}, true
	}
	at := crossing(head, tail, b[knee-1].t, b[knee+1].t)
	load, on, g := d, d, gauge{level: tail.at(at), err: ts.noise.perSample(), samples: 1}
	if far < 0 {
		load.start, load.opening, load.within.lo, load.samples = at, g, at, len(b)-knee
		load.doubt("%.1f bbl left right before it at %.1f bbl a minute, and are not counted: water, a leak, or a slow start", t.barrels(d.opening.level, g.level), -tail.slope*per*60)
		return load, draw{}, true
	}
	load.end, load.oilTo, load.closing, load.within.hi, load.endLine, load.samples = at, at, g, at, head, knee
	on.start, on.opening, on.within.lo, on.samples, on.doubts = at, g, at, len(b)-knee, nil
	load.doubt("level fell on behind it at %.1f bbl a minute, by %.1f bbl so far, which are not counted: a leak or a drain, or its pump lost its prime", -tail.slope*per*60, t.volume(on))
	return load, on, true
}

// slowBeside says that the smaller of two draws, some seconds apart, left at less than half of the other's rate, and is more than a driver's last drops: water,
// or another's pump, and no foam, which goes ever slower.
func slowBeside(ts *tankState, t *Tank, a, b draw, pause float64) bool {
	va, vb := t.volume(a), t.volume(b)
	least := early * (va + vb)
	if pause <= pauseSure {
		least = math.Max(partBbl, math.Min(bleedBbl, least))
	}
	return math.Min(va, vb) >= least && math.Min(t.pumpRate(a), t.pumpRate(b)) < slowPart*math.Max(t.pumpRate(a), t.pumpRate(b)) && a.samples > 0 && b.samples > 0 && !(vb < va && decays(ts, b))
}

// roseIn is the time within which a level rose as it did beyond a rate between two times: as straight as from a tenth of it to nine tenths.
func (l *levels) roseIn(from, to, rate float64) bounds {
	b := between(l.recent, from, to)
	beyond := func(k int) float64 { return median3(b[k-1:k+2]) - rate*(b[k].t-from) }
	if len(b) < stepFew {
		return bounds{from, to}
	}
	last := len(b) - 2
	low, all, k := beyond(1), beyond(last)-beyond(1), 1
	for k < last && beyond(k) < low+all/10 {
		k++
	}
	first := b[k].t
	for k < last && beyond(k) < low+0.9*all {
		k++
	}
	edge := (b[k].t - first) / 8
	return bounds{first - edge, b[k].t + edge}
}

// broughtBack are the inches by which the level was higher behind a draw when it stopped rising as fast as a pump brings it back, less what flowed in
// meanwhile, and with it; none where it rests lower, began too late, or the well makes as much.
func broughtBack(all []point, d draw) bounds {
	fall, n, top := d.fall(), len(all)-1, 0
	pace := math.Max(rolledRate*fall/(d.end-d.start), wellMore*d.usualInflow)
	for k := 4; k <= n; k++ { // noise may look like it for a moment
		if (all[k-4].t <= d.end+rolledPause || k == top+1) && all[k].v-all[k-4].v >= pace*(all[k].t-all[k-4].t) {
			top = k
		}
	}
	if top == 0 || all[n].v < d.closing.level+rolledShare*fall {
		return bounds{}
	}
	raw, made := all[top].v-d.closing.level, (all[n].v-all[top].v)/math.Max(nodeEvery, all[n].t-all[top].t)
	return bounds{raw - max(0, made, d.inflowBefore)*(all[top].t-d.end), raw}
}

const (
	rolledShare = 0.92  // of a fall that comes back where oil is rolled; the rest is the inflow's uncertainty
	rolledRate  = 0.6   // of the rate of the fall
	wellMore    = 1.5   // times what the well makes
	rolledPause = 1500. // s; until then it comes back where a treater only heats it
)
