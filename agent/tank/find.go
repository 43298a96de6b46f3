package tank

import (
	"fmt"
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	nodeEvery  = 30.0  // s between nodes
	slopeHalf  = 120.0 // s on either side over which the slope of a node is taken, at least
	slopeMost  = 360.0
	joinWithin = 90.0 // s between two falls that are one
	netLeast   = 0.4  // of min_rate, slower than which a level that falls shows no pump
	twinTruck  = 0.75 // share of the larger of two parts, or of the usual load, from which on each may be a truck's
	troubled   = 1500 // s that a truck stands at most, of which the hose, or its pump, is in trouble
	usualMost  = 1.1  // times the usual load, up to which one truck takes it, whatever truck_max says
	slowTruck  = 0.5  // bbl/min, which no truck that loads is slower than
	trailer    = 1.3  // times truck_max, that a truck and its trailer hold
	hidesTruck = 1800 // s of silence that hide a truck, however usual they are
)

// fall is a stretch of samples in which the level falls as in a draw: from is before
// it began, to after it ended.
type fall struct {
	from, to point
	gap      float64 // longest silence inside, s
	silence  float64 // s after from in which nothing came since the fall before; 0 where none is near
}

// nodes condenses samples: dense ones to one node in nodeEvery seconds, the median of those up to blur seconds away; sparse ones stay.
func nodes(b []sample, blur float64) []point {
	out := make([]point, 0, len(b)/2+1)
	for i := 0; i < len(b); {
		j := i + 1
		for j < len(b) && b[j].t < b[i].t+nodeEvery {
			j++
		}
		mid := meanSample(b[i:j]).t
		lo, hi := i, j
		for lo > 0 && b[lo-1].t >= mid-blur {
			lo--
		}
		for hi < len(b) && b[hi].t <= mid+blur {
			hi++
		}
		out = append(out, point{mid, stats.Median(values(b[lo:hi]))})
		i = j
	}
	return out
}

// fallFinder holds the least that counts as a fall.
type fallFinder struct {
	slope  float64 // in/s at least
	gap    float64 // s of silence that may hide all of a load
	hidden float64 // in over a gap that are a draw of its own
	part   float64 // in over a gap that are a part of the draw beside it
	least  float64 // in of any fall
	half   float64 // s on either side over which a slope is taken
}

// fallFinder is made for a tank as it is now, into which so many inches a second flow.
func (r *readings) fallFinder(t *Tank, speed, level, inflow float64) fallFinder {
	per := t.Table.PerInch(level)
	f := fallFinder{slope: t.leastNet(inflow, per) / per / 60, gap: math.Min(r.interval.gapMin(t, speed), hidesTruck), hidden: 0.8 * t.Loads.MinLoad / per, part: 0.3 * t.Loads.MinLoad / per, least: r.noise.leastFall()}
	f.half = stats.Clamp(r.noise.sigma/f.slope, slopeHalf, slopeMost)
	return f
}

// leastNet is the least rate in bbl a minute at which a level falls that is drawn from at the least rate while so many inches a second flow in.
func (t *Tank) leastNet(inflow, per float64) float64 {
	return math.Max(netLeast*t.leastRate(), t.leastRate()-60*inflow*per)
}

// leastRate is the rate in bbl a minute from which on a draw is looked for: min_rate, but none so high that a load by gravity goes untold.
func (t *Tank) leastRate() float64 { return math.Min(t.Loads.MinRate, slowTruck) }

// falls finds the stretches of samples in which the level falls as in a draw.
func (f fallFinder) falls(b []sample) []fall {
	n := nodes(b, f.half/4)
	down := make([]bool, len(n))
	lo, hi := 0, 0
	for i := range n {
		for n[i].t-n[lo].t > f.half {
			lo++
		}
		hi = max(hi, i)
		for hi < len(n)-1 && n[hi+1].t-n[i].t <= f.half {
			hi++
		}
		a, z := lo, hi
		if lo == i && i > 0 && n[i].t-n[i-1].t < f.gap {
			a = i - 1
		}
		if hi == i && i+1 < len(n) && n[i+1].t-n[i].t < f.gap {
			z = i + 1
		}
		if dt := n[z].t - n[a].t; dt > 0 {
			down[i] = n[a].v-n[z].v >= f.slope*dt
		}
	}
	f.addGaps(n, down)
	return f.collect(n, down)
}

// addGaps adds the gaps over which the level fell: by itself as much as a load, or next to
// a fall that is seen.
func (f fallFinder) addGaps(n []point, down []bool) {
	for i := 0; i+1 < len(n); i++ {
		if n[i+1].t-n[i].t < f.gap {
			continue
		}
		need := f.hidden
		if down[i] || down[i+1] || i > 0 && down[i-1] || i+2 < len(n) && down[i+2] {
			need = math.Max(f.part, f.least)
		}
		if n[i].v-n[i+1].v >= need {
			down[i], down[i+1] = true, true
		}
	}
}

// collect joins the falling nodes to stretches.
func (f fallFinder) collect(n []point, down []bool) []fall {
	var out []fall
	for i := 0; i < len(n); i++ {
		if !down[i] {
			continue
		}
		j := i
		for j+1 < len(n) && (down[j+1] && f.goesOn(n[j], n[j+1]) || joinable(n, down, j)) {
			j++
		}
		a, z := f.nodeBeside(n, i, -1), f.nodeBeside(n, j, 1)
		if j+1 < len(n) && down[j+1] {
			z = j // what comes is the next fall
		}
		a, z = f.withoutRest(n, a, z)
		w := fall{from: n[a], to: n[z]}
		if a > 0 && a == i-1 && down[a] {
			w.silence = n[i].t - f.half - w.from.t
		}
		for k := a; k < z; k++ {
			w.gap = max(w.gap, n[k+1].t-n[k].t)
		}
		if w.from.v-w.to.v >= f.least {
			out = append(out, w)
		}
		i = j
	}
	return out
}

// withoutRest leaves out the long time before the level falls, and behind it:
// what is recorded seldom fell between two nodes, and rested between the others. What comes each two minutes is not recorded seldom.
func (f fallFinder) withoutRest(n []point, a, z int) (from, to int) {
	for a+1 < z && n[a+1].t-n[a].t > f.half && n[a].v-n[a+1].v < f.least {
		a++
	}
	for z-1 > a && n[z].t-n[z-1].t > 2*f.half && n[z-1].v-n[z].v < f.least {
		z--
	}
	return a, z
}

// goesOn says that from one falling node to the next the level falls too: one that reports only changes is silent from one
// truck to the next, which come no closer than twice half; a pump that stood still from one reading to the next did not go on.
func (f fallFinder) goesOn(a, b point) bool {
	dt := b.t - a.t
	return dt <= f.half || a.v-b.v >= f.slope*dt || dt <= 2*f.half && a.v-b.v >= f.slope*dt/2 || dt >= f.gap && a.v-b.v >= f.part
}

// joinable says that after node j the fall goes on within joinWithin.
func joinable(n []point, down []bool, j int) bool {
	for k := j + 1; k < len(n) && n[k].t-n[j].t <= joinWithin; k++ {
		if down[k] {
			return true
		}
	}
	return false
}

// nodeBeside is the node up to half before i, or behind it where way is 1, but at least its neighbour.
func (f fallFinder) nodeBeside(n []point, i, way int) int {
	k := i
	for k+way >= 0 && k+way < len(n) && (k == i || math.Abs(n[k+way].t-n[i].t) <= f.half) {
		k += way
	}
	return k
}

// withoutTrickle leaves out what an equaliser still takes from a group's tank after a fall, in a sensor's steps a small fall each.
func (t *Tank) withoutTrickle(fs []fall) []fall {
	if t.Group == "" || len(fs) == 0 {
		return fs
	}
	out := fs[:1]
	for _, f := range fs[1:] {
		last := out[len(out)-1]
		if f.from.t > last.to.t+evenLongest || (f.from.v-f.to.v)*t.Table.PerInch(f.to.v) >= partBbl {
			out = append(out, f)
		}
	}
	return out
}

// lastSeen are the readings on either side of the silence that hides where a draw began: the one behind it lies on the falling line already, and is no rest.
// Where there is none, last is after and next below everything.
func lastSeen(ts *tankState, t *Tank, d draw, b []sample, from float64, head line) (last, next sample) {
	off := math.Max(lineMiss, restSigmas*math.Max(ts.noise.sigma, d.slosh))
	falls := func(k int) bool { // at once behind the silence: while a pump comes up to its rate, what is read lies below the line
		return k+1 < len(b) && float64(b[k].v-b[k+1].v) > math.Max(backNoise*ts.noise.perSample(), -head.slope*(b[k+1].t-b[k].t)/4)
	}
	for k := len(b) - 1; k > 0 && b[k].t >= from; k-- {
		if b[k].t-b[k-1].t >= ts.interval.gapMin(t, 1) && (d.deadband == 0 || math.Abs(float64(b[k].v-b[k-1].v)) > stoodSteps*d.deadband) && (math.Abs(float64(b[k].v)-head.at(b[k].t)) < off || falls(k)) {
			return b[k-1], b[k]
		}
	}
	return sample{t: math.Inf(1)}, sample{v: float32(math.Inf(-1))}
}

// silentWithin is the deadband within which the level lay between the two; 0 where a fall of more than one reading shows, or all of the draw, was not
// told either, at so many inches a second, and the silence none by exception.
func (d draw) silentWithin(last, seen sample, rate float64) float64 {
	if d.samples == 0 || last.t < seen.t && float64(last.v-seen.v) > rate*singleReading {
		return 0
	}
	return d.deadband
}

// meets is when a falling line meets that of the rest behind it, between two times; where oil has come in clearly since two readings on end lay
// no higher than that it was then, however slowly the line falls.
func (ts *tankState) meets(rest, falling line, lo, hi float64) float64 {
	at, noise := crossing(falling, rest, lo, hi), ts.noise.perSample()
	b := between(ts.levels.recent, lo, at)
	down := func(k int) bool { return float64(b[k].v) <= rest.at(b[k].t)+2*noise }
	for k := 1; k < len(b) && rest.at(at)-rest.at(b[k].t) > restSigmas*noise; k++ {
		if down(k-1) && down(k) {
			return b[k].t
		}
	}
	return at
}

// longestStop is the longest time in a draw over which the level did not fall, with a load's worth before and after it, and
// the barrels before.
func longestStop(ts *tankState, t *Tank, d draw) (stop bounds, before float64) {
	b := between(ts.levels.recent, d.start, d.end)
	bit := math.Max(stopBit, backNoise*ts.noise.perSample())
	for i, j := 0, 0; i < len(b); i++ {
		for j = max(i, j); j+1 < len(b) && float64(b[i].v-b[j+1].v) < bit; j++ {
		}
		if b[j].t-b[i].t > stop.hi-stop.lo {
			bbl := t.barrels(d.opening.level, float64(b[i].v))
			if math.Min(bbl, t.volume(d)-bbl) >= t.Loads.MinLoad {
				stop, before = bounds{b[i].t, b[j].t}, bbl
			}
		}
	}
	return stop, before
}

// cutAtStops cuts the falls that the noise made of two trucks' draws: of more than one holds, with a stop in which another comes, and no more
// than one holds on either side, but where loads of before show a larger truck.
func (ts *tankState) cutAtStops(t *Tank, fs []fall) []fall {
	for k := 0; k < len(fs); k++ {
		f, most := fs[k], t.Loads.TruckMax
		d := draw{start: f.from.t, end: f.to.t, opening: gauge{level: f.from.v}, closing: gauge{level: f.to.v}}
		bbl := t.volume(d)
		if most == 0 || bbl <= math.Max(most, usualMost*ts.reports.usual(t)) || t.Group != "" || t.Valve || f.gap >= pauseSure || t.pumpRate(d) < pipeRate {
			continue
		}
		stop, before := longestStop(ts, t, d)
		if stop.hi-stop.lo < pauseSure || math.Max(before, bbl-before) > most {
			continue
		}
		at := (stop.lo + stop.hi) / 2
		level, _ := ts.levels.about(at)
		fs = slices.Insert(fs, k+1, fall{from: point{at, level}, to: f.to, gap: f.gap})
		fs[k].to = fs[k+1].from
	}
	return fs
}

// behindShelf is a fall from the rest of minutes on, which its slope bridges, between what was drawn off first, less than a bleed and slower
// than the pump draws then, and the load; why says so.
func (ts *tankState) behindShelf(t *Tank, f fall) (load fall, why []string) {
	bit := math.Max(stopBit, backNoise*ts.noise.perSample())
	b := between(ts.levels.recent, f.from.t, f.to.t)
	for i, j := 0, 0; i < len(b) && t.Group == "" && t.barrels(f.from.v, float64(b[i].v)) < bleedBbl; i++ {
		for j = max(i, j); j+1 < len(b) && float64(b[i].v-b[j+1].v) < bit; j++ {
		}
		m, shelf := i, gauge{level: float64(b[i].v)}
		for m > 0 && f.from.v-float64(b[m].v) >= bit {
			m--
		}
		water := draw{start: b[m].t, end: b[i].t, opening: gauge{level: f.from.v}, closing: shelf}
		rest := draw{start: b[j].t, end: f.to.t, opening: shelf, closing: gauge{level: f.to.v}}
		bbl, long := t.volume(water), rest.start-water.end
		if j-i < restFew-1 || long < joinWithin || bbl < wrongBbl(t.volume(rest)) {
			continue
		}
		if long > 2*slopeHalf || bbl >= bleedMost*t.volume(rest) || ts.checksSeal(t, water, rest) {
			break
		}
		f.from = point{(water.end + rest.start) / 2, shelf.level}
		return f, []string{fmt.Sprintf("%.1f bbl left %s before it, slower, and are not counted: water, or its pump's first try", bbl, spanText(long))}
	}
	return f, nil
}

// withHiddenCheck is a draw with the seal check before it that the noise and seldom readings hid, or that lies in its fall: the level lay higher for longer,
// and fell in between as fast.
func (ts *tankState) withHiddenCheck(t *Tank, d draw, f fall, all bounds, in production, now float64) draw {
	g, stop := d.opening, d.start-d.opening.since
	if g.fell <= all.lo || g.fell >= g.since || stop > 2*pauseSure {
		return d
	}
	first := ts.findEdges(t, fall{from: point{g.fell, g.level}, to: point{g.since, g.level}}, all, in, now)
	if found := ts.interval.fresh() < stairRest && first.fall() > ts.noise.leastFall(); found && d.start-first.end > joinWithin && first.start < f.from.t {
		return d // it stands out, and is none
	}
	if g.fell-first.opening.since < 2*stop || t.volume(first) < 1 || d.start-first.end < besideRest || !ts.checksSeal(t, first, d) || !ts.oneTruck(t, first, d) {
		return d
	}
	return ts.joinedDraw(t, first, d)
}

// fastest is the most, in barrels a minute, at which half of what a truck holds left in a draw; 0 where less did.
func fastest(ts *tankState, t *Tank, d draw) (rate float64) {
	b := between(ts.levels.recent, d.start, d.end)
	for i, j := 0, 0; i < len(b); i++ {
		for j < len(b) && t.barrels(float64(b[i].v), float64(b[j].v)) < t.Loads.TruckMax/2 {
			j++
		}
		if j == len(b) {
			break
		}
		rate = math.Max(rate, t.barrels(float64(b[i].v), float64(b[j].v))/math.Max(b[j].t-b[i].t, 1)*60)
	}
	return rate
}

// silenceIn are the seconds for which no reading came in a draw: what is no longer than its search's nodes lie apart may be their grid.
func silenceIn(b []sample, d draw) float64 {
	if d.gap > 4*nodeEvery {
		return d.gap
	}
	long := 0.0
	for k := max(1, searchTime(b, d.start)); k < len(b) && b[k-1].t < d.end; k++ {
		long = math.Max(long, b[k].t-b[k-1].t)
	}
	return math.Min(long, d.gap)
}

// gapTold is the silence in seconds in a draw from which on its ticket tells of it: a gap for this tank, or of one that reports only changes, which
// may be silent for long, half as long again as any in the hours before.
func (ts *tankState) gapTold(t *Tank, d draw, speed float64) float64 {
	b, longest := between(ts.levels.recent, d.start-keepFor, d.start), t.Loads.GapMin.Seconds()/1.5
	for k := 1; k < len(b); k++ {
		longest = math.Max(longest, b[k].t-b[k-1].t)
	}
	if gap := ts.interval.gapMin(t, speed); len(b) < heldFew || gap < 1.5*longest {
		return gap
	}
	return 1.5 * longest
}

// believed are samples in which a fall is looked for: without false echoes, nor hatches that a sensor of the gas felt open and shut.
func (ts *tankState) believed(t *Tank, b []sample) []sample {
	b = ts.withoutEchoes(b)
	if t.feelsGas() {
		b = withoutHatches(b, ts.noise.hatchLeast())
	}
	return b
}
