package tank

import (
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	binWidth   = 8.0       // s; readings closer together are averaged
	timeGrain  = 0.05      // s
	levelGrain = 1.0 / 512 // in
)

// sample is a cleaned level: the mean of n readings about t.
type sample struct {
	t     float64
	v     float32
	n     uint16
	flags uint16
}

// bin averages readings that are closer together than binWidth.
type bin struct {
	n      int
	first  float64
	st, sv float64 // sums of times from first, and of values
}

func (b *bin) add(t, v float64) {
	if b.n == 0 {
		*b = bin{first: t}
	}
	b.n++
	b.st += t - b.first
	b.sv += v
}

// sample is the bin to the grain that is stored, so that a restart changes nothing.
func (b *bin) sample() sample {
	n := float64(b.n)
	return grained(b.first+b.st/n, b.sv/n, b.n)
}

// grained is a sample to the grain that is stored.
func grained(t, v float64, n int) sample {
	t, v = float64(grains(t, timeGrain))*timeGrain, float64(grains(v, levelGrain))*levelGrain
	return sample{t: t, v: float32(v), n: uint16(min(n, math.MaxUint16>>1))}
}

// meanSample is the mean of some samples.
func meanSample(b []sample) sample {
	var t, v float64
	for _, s := range b {
		t, v = t+s.t-b[0].t, v+float64(s.v)
	}
	k := float64(len(b))
	return sample{t: b[0].t + t/k, v: float32(v / k)}
}

// stairSamples are at most so many means of samples as are cut quickly.
func stairSamples(b []sample) []sample {
	each := len(b)/stairMost + 1
	if each == 1 {
		return b
	}
	out := make([]sample, 0, stairMost+1)
	for cell := range slices.Chunk(b, each) {
		out = append(out, meanSample(cell))
	}
	return out
}

func grains(v, grain float64) int64 { return int64(math.Round(v / grain)) }

// between are the samples with from <= t <= to.
func between(b []sample, from, to float64) []sample {
	lo, hi := searchTime(b, from), searchTime(b, math.Nextafter(to, math.Inf(1)))
	return b[lo:max(lo, hi)]
}

// highest is the index of the last of the highest of some samples.
func highest(b []sample) (at int) {
	for i, s := range b {
		if s.v >= b[at].v {
			at = i
		}
	}
	return at
}

// searchTime is the index of the first sample not before t.
func searchTime(b []sample, t float64) int {
	lo, hi := 0, len(b)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if b[m].t < t {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// values are the levels of some samples.
func values(b []sample) []float64 {
	out := make([]float64, len(b))
	for i, s := range b {
		out[i] = float64(s.v)
	}
	return out
}

func median3(b []sample) float64 {
	x, y, z := float64(b[0].v), float64(b[1].v), float64(b[2].v)
	return math.Max(math.Min(x, y), math.Min(math.Max(x, y), z))
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

// unlinked marks a sample whose step from the one before says nothing of the oil: in the history of the inflow, else of any.
const unlinked = 1

// newestLeap is the index of the newest sample before which the level jumped without flow; -1 where none is.
func newestLeap(b []sample) int {
	k := len(b) - 1
	for k >= 0 && b[k].flags != unlinked {
		k--
	}
	return k
}

// nextLeap is the index of the first sample but one before which the level jumped without flow.
func nextLeap(b []sample) int {
	k := 1
	for k < len(b) && b[k].flags != unlinked {
		k++
	}
	return min(k, len(b))
}

// sinceLeap are the samples since the level last jumped without flow.
func sinceLeap(b []sample) []sample { return b[max(0, newestLeap(b)):] }

// sameAs are the first and the last of the samples about one that show its value.
func sameAs(b []sample, k int) (first, last int) {
	for first = k; first > 0 && b[first-1].v == b[k].v && b[first].flags != unlinked; first-- {
	}
	for last = k; last+1 < len(b) && b[last+1].v == b[k].v; last++ {
	}
	return first, last
}

// changesIn counts the samples whose value is not the one before.
func changesIn(b []sample) (n int) {
	for k := 1; k < len(b); k++ {
		if b[k].v != b[k-1].v {
			n++
		}
	}
	return n
}

func lastSamplesOf(b []sample, n int) []sample { return b[max(0, len(b)-n):] }

// point is a value at a time.
type point struct{ t, v float64 }

const (
	repeatsFor = 180.0 // s from one level to another that a gateway does not repeat
	hatchOpen  = 900.0 // s that a hatch stands open, as a level shows it
	hatchLeast = 0.4   // in that one lets the reading fall
	hatchUsual = 3.5   // in, the same; more than that has to be faster than the pump
	hatchSigma = 5.0   // times the noise, the same
)

// withoutHatches leaves out what lies below a rest between two steps, of so many inches at least, as where a hatch is opened for minutes: down
// and up again by as much, each within a reading or two.
func withoutHatches(b []sample, least float64) []sample {
	out := make([]sample, 0, len(b))
	for i := 0; i < len(b); i++ {
		if i > 0 {
			i = hatchShut(b, i, least)
		}
		out = append(out, b[i])
	}
	return out
}

// hatchShut is the index of the first sample behind a hatch that was opened right before one, and shut again; that of this one where none was.
func hatchShut(b []sample, i int, least float64) int {
	left := float64(b[i-1].v)
	by := left - float64(b[i].v)
	if i+2 < len(b) && b[i+2].v < b[i].v { // it stays down: one between the two levels is on its way
		by = math.Max(by, left-float64(b[i+1].v))
	}
	pumped := i > 1 && float64(b[i-2].v)-left > by/3 // it fell as fast before, or went on
	pumped = pumped || i+2 < len(b) && float64(b[i+1].v) < left-by/2 && float64(b[i+1].v-b[i+2].v) > by/3
	if by <= least || by > hatchUsual || pumped {
		return i
	}
	for j := i + 1; j < len(b) && b[j].t-b[i].t <= hatchOpen; j++ {
		switch v := float64(b[j].v); {
		case v > left-by/2 && v < left+by: // a vacuum's dip fades meanwhile
			if j-i <= 2 || v-float64(b[j-2].v) > by/2 {
				return j
			}
			return i
		case v > left || v < left-1.5*by:
			return i
		}
	}
	return i
}

// heldThrough are some levels of a sensor that reports only what moves: a longer silence says that it stood.
func heldThrough(b []sample) (held []sample) {
	for i, s := range b {
		if i > 0 && s.t-b[i-1].t > lumpsApart {
			held = append(held, sample{t: b[i-1].t + nodeEvery, v: b[i-1].v}, sample{t: s.t - nodeEvery, v: b[i-1].v})
		}
		held = append(held, s)
	}
	return held
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
		d = append(d, b[i].offLine(b[i-1], b[i+1]))
	}
	return d
}

// offLine is how far a sample lies off the line between two, as of one sample's noise.
func (s sample) offLine(a, b sample) float64 {
	w := (s.t - a.t) / (b.t - a.t)
	e := float64(s.v) - (float64(a.v)*(1-w) + float64(b.v)*w)
	return math.Abs(e) / math.Sqrt(1+w*w+stats.Square(1-w))
}

// scatters is by how much some levels scatter about their neighbours, or about those some minutes from them: what a gateway repeats is no reading.
func scatters(b []sample) float64 {
	var few []sample
	for _, s := range b {
		if n := len(few); n == 0 || s.t-few[n-1].t >= repeatsFor {
			few = append(few, s)
		}
	}
	return math.Max(neighbourScatter(b), neighbourScatter(few))
}

const (
	fellTimes = 1.5  // times as fast as between any other two readings that a level falls between two of them, where no pump made it
	fellAlike = 0.75 // share of the fastest of the others that each of them is at least, but for those at its ends
	fellFew   = 3    // others that are
)

// fellOnce is by how many inches, more than some, a level fell further from one reading to the next than as it fell between all others, which are alike: a
// pump that draws so fast does not begin and end between two readings. 0 where it did not.
func fellOnce(b []sample, more float64) (inches float64) {
	var at []sample // what a gateway repeats is no reading
	for k, s := range b {
		if k == 0 || s.v != b[k-1].v {
			at = append(at, s)
		}
	}
	rate := func(k int) float64 { return float64(at[k-1].v-at[k].v) / (at[k].t - at[k-1].t) }
	fastest, most, alike := 1, 0.0, 0
	for k := 2; k < len(at); k++ {
		most = math.Max(most, math.Min(rate(k), rate(fastest)))
		if rate(k) > rate(fastest) {
			fastest = k
		}
	}
	for k := 1; k < len(at); k++ {
		switch {
		case k == fastest:
		case rate(k) >= fellAlike*most:
			alike++
		case k > 1 && k+1 < len(at):
			return 0
		}
	}
	if alike < fellFew || fastest == 1 && (len(at) < len(b) || at[1].t-at[0].t < fellAlike*(at[2].t-at[1].t)) { // nobody knows for how long the first value was held
		return 0
	}
	long := at[fastest].t - at[fastest-1].t
	if inches = (rate(fastest) - most) * long; inches <= math.Max(more, (fellTimes-1)*most*long) {
		return 0
	}
	return inches
}

// beyondStop are the samples of a fall behind its knee, or before it, without those of a stop at the knee, the first of that, and that of them which is next to it.
func beyondStop(b []sample, knee int, behind bool, bit float64) (slow []sample, shelf, next sample) {
	rests := func(s sample) bool { return math.Abs(float64(s.v-shelf.v)) < bit }
	if slow, shelf = b[:knee], b[knee-1]; !behind {
		slow = slow[:max(slices.IndexFunc(slow, rests), 1)]
		return slow, shelf, slow[len(slow)-1]
	}
	for slow, shelf = b[knee+1:], b[knee+1]; len(slow) > 1 && slices.ContainsFunc(slow, rests); {
		slow = slow[1:]
	}
	return slow, shelf, slow[0]
}

// saturated says that a level at rest lies on an end of what the sensor can show, as at a blanking distance: the noise is cut off on one side. By how many
// readings are on that end, and how wide a step is for the noise, of this rest or of the one on the other side of the load, as many should lie beyond it. side
// is where the other readings lie; a level that was seen further out at any time is no end.
func saturated(sensor string, b, other, seen []sample, side float64) bool {
	if len(b) < atomFew {
		return false
	}
	v := values(b)
	end, step := slices.Min(v), leastStep(b, other)
	if side < 0 {
		end = slices.Max(v)
	}
	away := func(x float64) bool { return side*(x-end) >= step/2 }
	for away(v[0]) { // it still rose, or fell, and that is no noise
		v = v[1:]
	}
	for away(v[len(v)-1]) {
		v = v[:len(v)-1]
	}
	at, far, opposite, returns, halves, was := 0.0, 0.0, 0.0, 0, [2]float64{}, 0.0
	width := slices.Max(v) - slices.Min(v)
	for i, x := range v {
		off := side * (x - end) / step
		if width > 1.5*step && side*(x-end) > width-step/2 {
			opposite++
		}
		if off > 1.5 {
			far++
		} else if off < 0.5 {
			at++
			halves[2*i/len(v)]++
			if was > 0.5 {
				returns++
			}
		}
		was = off
	}
	n, wide := float64(len(v)), stepInNoise(other, step)
	if at == n && wide >= atomFine || 2*opposite > at || slices.ContainsFunc(seen, func(x sample) bool { return side*(float64(x.v)-end) < -step/2 }) { // noise that ends so on both sides is not cut off on one
		return false
	}
	rough := len(other) < atomFew || wide < atomFine       // else what lies far off was another level, and no noise
	if sensor == "float" && (at < n || wide > atomRough) { // which sticks
		wide = math.Inf(1)
	}
	near := quantile(at / n)
	if rough && far >= 2 && returns >= atomReturns {
		wide = math.Min(wide, quantile(1-far/n)-near)
	}
	beyond := n * share(math.Min(near, wide/2)-wide)
	moves := math.Abs(halves[0]-halves[1]) > atomMoves*math.Sqrt(at*(1-at/n)) // and on its end it would not
	return beyond >= atomBeyond && math.Min(halves[0], halves[1]) >= at/4 && !moves
}

// lifts is how often a history rose at once by some inches beyond a rate.
func lifts(h []sample, inches, rate float64) (n int) {
	for k := 2; k < len(h); k++ {
		if float64(h[k].v-h[k-2].v)-rate*(h[k].t-h[k-2].t) >= inches {
			n++
			k += 2
		}
	}
	return n
}
