package sites

import (
	"math"
	"math/rand/v2"
)

// feed is what the well brings into one tank, bbl in each second.
type feed []float64

const day = 86400 // s

// steady flow of so many barrels a day, whose rate wanders by a share of itself within tens of minutes.
func steady(r *rand.Rand, seconds int, perDay, wander float64) feed {
	f := make(feed, seconds)
	off := wander * r.NormFloat64()
	for s := range f {
		off += -off/1500 + wander*math.Sqrt(2.0/1500)*r.NormFloat64()
		f[s] = max(0, perDay/day*(1+off))
	}
	return f
}

// dumps of a separator: its float opens the valve whenever so many barrels have gathered.
func dumps(r *rand.Rand, seconds int, perDay, bbl float64, open int) feed {
	f := make(feed, seconds)
	between := bbl / perDay * day
	for at := r.Float64() * between; int(at) < seconds; at += between * (0.8 + 0.4*r.Float64()) {
		f.pour(int(at), bbl*(0.9+0.2*r.Float64()), open)
	}
	return f
}

// plunger brings a slug at each arrival, fast at first, and a tail.
func plunger(r *rand.Rand, seconds int, perDay float64, every int) feed {
	f := make(feed, seconds)
	slug := perDay * float64(every) / day
	for at := r.Float64() * float64(every); int(at) < seconds; at += float64(every) * (0.85 + 0.3*r.Float64()) {
		size := slug * (0.6 + 0.8*r.Float64())
		f.pour(int(at), size*0.7, 60+r.IntN(180))
		f.pour(int(at)+120, size*0.3, 600+r.IntN(600))
	}
	return f
}

// pumpOff is a pumping unit on a timer or a pump-off controller: it strokes for a part of each cycle.
func pumpOff(r *rand.Rand, seconds int, perDay float64, cycle int, share float64) feed {
	f := make(feed, seconds)
	for at := r.IntN(cycle); at < seconds; at += cycle*9/10 + r.IntN(cycle/5+1) {
		run := int(float64(cycle) * share)
		f.pour(at, perDay*float64(cycle)/day, run)
	}
	return f
}

// pour adds a single inflow, quick to open and slow to close.
func (f feed) pour(at int, bbl float64, seconds int) {
	total := 0.0
	weight := func(i int) float64 {
		x := (float64(i) + 0.5) / float64(seconds)
		return min(1, 8*x) * min(1, 2.5*(1-x))
	}
	for i := range seconds {
		total += weight(i)
	}
	for i := range seconds {
		if s := at + i; s >= 0 && s < len(f) {
			f[s] += bbl * weight(i) / total
		}
	}
}

// sum of what came in from one second to another, bbl.
func (f feed) sum(from, to int) float64 {
	total := 0.0
	for s := max(0, from); s < min(to, len(f)); s++ {
		total += f[s]
	}
	return total
}
