// Package tanktest is a small physics of tanks for tests: levels are known in closed form, so every label is known by
// construction. It does not know the detector. Times are seconds since Start.
package tanktest

import (
	"math"
	"math/rand/v2"
	"time"

	"gauger/agent/tank/stats"
)

// The units of the physics.
const (
	PerInch = 1.6786 // barrels per inch of a 12 ft tank, near enough
	Hour    = 3600.0 // s
)

// Start is the instant of site second 0.
var Start = time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)

// Rows are the strapping table of a 20 ft tank.
func Rows() [][2]float64 { return [][2]float64{{0, 0}, {240, 240 * PerInch}} }

// Move is oil leaving at a steady rate from a time on; with a negative volume it comes in.
type Move struct{ From, Bbl, Rate float64 }

// End of the move, s.
func (m Move) End() float64 { return m.From + math.Abs(m.Bbl)/m.Rate*60 }

// Well is one tank with what flows in and out.
type Well struct {
	Level0    float64 // in
	Inflow    float64 // bbl a day
	Moves     []Move
	Interface float64 // height of the interface, in; moves take water while it is above 0
}

// Level is the height of the oil at a time, inches.
func (w Well) Level(t float64) float64 {
	bbl := w.Inflow * t / 86400
	for _, m := range w.Moves {
		out := stats.Clamp((t-m.From)*m.Rate/60, 0, math.Abs(m.Bbl))
		bbl -= math.Copysign(out, m.Bbl)
	}
	return w.Level0 + bbl/PerInch
}

// Radar is the reading of a good radar: 0.05 in of noise, to 0.01 in.
func Radar(tank int, t, v float64) float64 {
	r := rand.New(rand.NewPCG(uint64(tank)+7, uint64(int64(t*10))))
	return math.Round((v+0.05*r.NormFloat64())*100) / 100
}
