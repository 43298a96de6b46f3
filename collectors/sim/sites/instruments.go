package sites

import (
	"math"
	"math/rand/v2"
)

// lot draws parameters from wide limits.
type lot struct{ *rand.Rand }

// between two figures, each as likely.
func (l lot) between(a, b float64) float64 { return a + (b-a)*l.Float64() }

// spread between two figures over their logarithm, for what varies by factors.
func (l lot) spread(a, b float64) float64 { return a * math.Pow(b/a, l.Float64()) }

// whole number between two, both possible.
func (l lot) whole(a, b int) int { return a + l.IntN(b-a+1) }

// chance of one in so many.
func (l lot) chance(p float64) bool { return l.Float64() < p }

// sign is one or minus one.
func (l lot) sign() float64 { return float64(2*l.IntN(2) - 1) }

// instruments are the sensors that there are, each with its own law of noise.
var instruments = map[string]func(lot) *gauge{
	"gwr": func(l lot) *gauge { // guided wave radar
		return &gauge{class: "radar", noise: l.spread(0.01, 0.08), slowNoise: l.spread(0.005, 0.04), slowFor: l.spread(5, 60),
			offset: l.between(-0.3, 0.3), lag: l.spread(1, 8), resolution: pick(l, 0.01, 0.01, 0.05, 0.1)}
	},
	"mag": func(l lot) *gauge { // magnetostrictive probe with a float
		return &gauge{class: "float", noise: l.spread(0.003, 0.02), stiction: l.spread(0.005, 0.06),
			offset: l.between(-0.2, 0.2), lag: l.spread(1, 3), resolution: pick(l, 0.001, 0.01, 0.05)}
	},
	"radar": func(l lot) *gauge { // without contact, through the roof
		return &gauge{class: "radar", noise: l.spread(0.03, 0.2), slowNoise: l.spread(0.02, 0.12), slowFor: l.spread(5, 60), byAir: l.between(0, 0.002),
			offset: l.between(-0.5, 0.5), lag: l.spread(2, 20), resolution: pick(l, 0.01, 0.05, 0.1, 0.125)}
	},
	"ultrasonic": func(l lot) *gauge {
		return &gauge{class: "ultrasonic", noise: l.spread(0.08, 0.35), slowNoise: l.spread(0.05, 0.2), slowFor: l.spread(20, 120), byAir: l.between(0, 0.003),
			offset: l.between(-1, 1), lag: l.spread(2, 25), resolution: pick(l, 0.01, 0.1, 0.25)}
	},
	"hydro": func(l lot) *gauge { // pressure at the bottom: the density it was set for is not the oil's
		return &gauge{class: "hydrostatic", noise: l.spread(0.01, 0.1), slowNoise: l.spread(0.01, 0.06), slowFor: l.spread(30, 300),
			gain: l.between(0.96, 1.04), offset: l.between(-1, 1), lag: l.spread(1, 5), resolution: pick(l, 0.01, 0.06, 0.1)}
	},
	"bubbler": func(l lot) *gauge { // each bubble lets the pressure go
		return &gauge{class: "hydrostatic", noise: l.spread(0.05, 0.25), slowNoise: l.spread(0.02, 0.08), slowFor: l.spread(30, 300),
			gain: l.between(0.96, 1.04), offset: l.between(-1, 1), lag: l.spread(2, 15), resolution: pick(l, 0.05, 0.1)}
	},
	"float": func(l lot) *gauge { // float and tape: friction, and an eighth or a quarter of an inch
		return &gauge{class: "float", noise: l.spread(0.01, 0.05), stiction: l.spread(0.05, 0.25),
			offset: l.between(-0.5, 0.5), lag: 1, resolution: pick(l, 0.0625, 0.125, 0.25)}
	},
	"reed": func(l lot) *gauge { // a chain of reed switches
		return &gauge{class: "float", noise: l.spread(0.02, 0.06), stiction: l.spread(0.02, 0.1),
			offset: l.between(-0.3, 0.3), lag: 1, resolution: pick(l, 0.25, 0.5)}
	},
	"analog": func(l lot) *gauge { // 4 to 20 mA into a converter of 12 or 13 bits
		return &gauge{class: "analog", noise: l.spread(0.03, 0.12), slowNoise: l.spread(0.01, 0.05), slowFor: l.spread(30, 300),
			offset: l.between(-0.5, 0.5), gain: l.between(0.995, 1.005), lag: l.spread(1, 10), resolution: pick(l, 240.0/4096, 240.0/8192, 300.0/4096)}
	},
}

// commonest lists the sensors for a lot, those that are met most often more than once.
var commonest = []string{"gwr", "gwr", "gwr", "radar", "radar", "radar", "mag", "mag", "hydro", "hydro", "ultrasonic", "ultrasonic", "float", "analog", "bubbler", "reed"}

func pick[T any](l lot, of ...T) T { return of[l.IntN(len(of))] }

// instrument by its name, one of several names, or any.
func (l lot) instrument(names ...string) *gauge {
	if len(names) == 0 {
		names = commonest
	}
	name := pick(l, names...)
	g := instruments[name](l)
	g.name, g.lowest, g.highest = name, math.Inf(-1), math.Inf(1)
	if g.gain == 0 {
		g.gain = 1
	}
	return g
}
