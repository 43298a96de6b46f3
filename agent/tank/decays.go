package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	decaySamples = 60   // of a fall that are fitted
	decayOnsets  = 24   // instants from which it may have fallen
	decayTimes   = 32   // times that it may have taken
	decayMost    = 2.0  // times a fall's length that a pump may take, and a half of it that what decays may take to fall by e
	decayLeast   = 10.0 // s, the same
	decaySure    = 0.6  // share of the squares that a pump leaves, which what decays leaves at most
)

// pumps are the powers of the time that is left by which a level falls under a pump: evenly, or slower as the head falls, as by gravity.
var pumps = []float64{1, 1.25, 1.5, 2}

// decays says that a draw was fastest at first and ever slower, as foam that collapses, ice that thaws and a filter that forgets, and
// not as under any pump: it is fitted as each of them from every instant at which it may have begun.
func decays(ts *tankState, d draw) bool {
	b := between(ts.levels.recent, d.start, math.Max(d.end, math.Min(ts.last.t, d.next)))
	if len(b) < pumpedFew {
		return false
	}
	top, low := d.opening.level, d.closing.level
	for k := stepFew; k <= len(b); k += stepFew { // it may have fallen on
		low = math.Min(low, stats.Median(values(b[k-stepFew:k])))
	}
	if float64(b[0].v) < top-0.1*(top-low) {
		if b[0].flags != unlinked {
			return false // nobody saw it begin
		}
		top = float64(b[0].v) // what decays does so from any point on
	}
	b = fallOf(b, top, low)
	if len(b) < pumpedFew {
		return false
	}
	exponential := bestFall(b, top, low, func(x float64) float64 { return math.Exp(-x) }, 0.5)
	for _, power := range pumps {
		even := bestFall(b, top, low, func(x float64) float64 { return math.Pow(math.Max(0, 1-x), power) }, 1)
		if exponential > decaySure*even {
			return false
		}
	}
	return true
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
