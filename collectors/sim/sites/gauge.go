package sites

import (
	"math"
	"math/rand/v2"
)

// gauge is one tank's level sensor. A reading is made in this order: gain, offset and drift; the blanking distances; what
// moves the surface or the air above it; damping; the electronics' noise; stiction; resolution; a re-span; then what is broken.
type gauge struct {
	name  string // of the kind of sensor
	class string // its word in gauger.yaml

	gain, offset    float64   // of the level; a density that is a little off
	drift           []float64 // in, by the second: air temperature, electronics
	lowest, highest float64   // in, between the blanking distances

	moving []layer // in, added before damping
	lag    float64 // s, first-order
	mean   int     // s, moving average

	noise      float64 // in, one standard deviation, of each reading
	slowNoise  float64 // in, of an error that lives for slowFor
	slowFor    float64 // s
	byAir      float64 // noise grows by this share for each inch of air between sensor and oil
	stiction   float64 // in
	resolution float64 // in

	respans []respan
	broken  []fault
}

// layer is something added to the reading in each second, in.
type layer []float64

// respan moves the reading for good: a technician, or a float that slips along its tape.
type respan struct {
	at    int
	shift float64 // in
}

// fault replaces readings between two seconds.
type fault struct {
	from, to int
	value    func(s int, x float64) float64
	bad      bool // and the device says so
}

// ideal is the reading without noise at a true level: what the truth's barrels are counted with.
func (g *gauge) ideal(s int, level float64) float64 {
	x := level*g.gain + g.offset
	if g.drift != nil {
		x += g.drift[s]
	}
	x = max(g.lowest, min(g.highest, x))
	for _, p := range g.respans {
		if s >= p.at {
			x += p.shift
		}
	}
	return x
}

// heard is what the transmitter offers in each second.
type heard struct {
	value []float64
	bad   []bool
}

// listen plays the sensor over the true levels.
func (g *gauge) listen(r *rand.Rand, level []float64, height float64) heard {
	n := len(level)
	out := heard{make([]float64, n), make([]bool, n)}
	lagged, slow, stuck := 0.0, g.slowNoise*r.NormFloat64(), math.Inf(1)
	window, sum := make([]float64, 0, max(1, g.mean)), 0.0
	keep := 0.0
	if g.slowFor > 0 {
		keep = math.Exp(-1 / g.slowFor)
	}
	for s, true_ := range level {
		shift := 0.0
		for _, p := range g.respans {
			if s >= p.at {
				shift += p.shift
			}
		}
		x := g.ideal(s, true_) - shift
		for _, l := range g.moving {
			x += l[s]
		}
		if lagged += (x - lagged) / max(1, g.lag); s == 0 {
			lagged = x
		}
		x = lagged
		if g.mean > 1 {
			if len(window) < g.mean {
				window = append(window, x)
			} else {
				sum -= window[s%g.mean]
				window[s%g.mean] = x
			}
			sum += x
			x = sum / float64(len(window))
		}
		slow = keep*slow + g.slowNoise*math.Sqrt(1-keep*keep)*r.NormFloat64()
		x += (g.noise*r.NormFloat64() + slow) * (1 + g.byAir*(height-true_))
		x = max(g.lowest, min(g.highest, x)) + shift
		if math.Abs(x-stuck) > g.stiction {
			stuck = x
		}
		out.value[s] = onGrid(stuck, g.resolution)
	}
	for _, f := range g.broken {
		for s := max(0, f.from); s < min(n, f.to); s++ {
			out.value[s] = onGrid(f.value(s, out.value[s]), g.resolution)
			out.bad[s] = out.bad[s] || f.bad
		}
	}
	return out
}

func onGrid(x, resolution float64) float64 {
	if resolution == 0 {
		return x
	}
	return math.Round(x/resolution) * resolution
}
