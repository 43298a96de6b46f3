package commission

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gauger/agent/tank"
)

// What a hand gauge and a transmitter may differ by, in inches.
const (
	handError  = 0.25 // a gauge is read to a quarter
	mostOffset = 3    // beyond it something else is wrong
	restless   = 1    // readings that lie further apart are of a level that moves
)

// Gauged is a level beside its hand gauge.
type Gauged struct {
	Readings []float64 // as the point says it, in Unit
	Unit     string
	Gauge    tank.Length
	Place    Place
}

// Verdict is what the hand gauge says of the level.
type Verdict struct {
	Level  tank.Length // the median of the readings, without an offset
	Offset tank.Length // with which the level is the gauge
	Agrees bool        // the offset that the tank has will do
	Doubts []string    // why the difference may be no offset
}

// Median of readings; NaN where there is none.
func Median(readings []float64) float64 {
	if len(readings) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(readings))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Judge holds a level against its hand gauge. The error says why the level is none.
func Judge(g Gauged) (Verdict, error) {
	inches := func(v float64) (float64, error) { return tank.LevelInches(v, g.Unit, g.Place.Height) }
	level, err := inches(Median(g.Readings))
	if err != nil {
		return Verdict{}, err
	}
	off := g.Gauge - tank.Length(level)
	v := Verdict{Level: tank.Length(level), Offset: tank.Length(math.Round(100*float64(off)) / 100)}
	v.Agrees = math.Abs(float64(off-g.Place.Offset)) <= handError
	low, _ := inches(slices.Min(g.Readings))
	high, _ := inches(slices.Max(g.Readings))
	if high-low > restless {
		v.doubt("the readings lie %.2f in apart: let the level come to rest, then gauge again", high-low)
	}
	if g.Gauge > g.Place.Height || g.Gauge < 0 {
		v.doubt("the gauge is no level of a tank of %s: look whether it was written as feet-inches-quarters", g.Place.Height.Gauge())
	}
	if !v.Agrees && math.Abs(float64(off)) > mostOffset {
		v.doubt("%.2f in is more than a transmitter is off by", math.Abs(float64(off)))
		v.explain(g)
	}
	return v, nil
}

// Exchanged says that a tank of such a level was gauged what another one reads, and the other what this one does, unless it was not gauged
// (NaN). Levels that are alike prove nothing.
func Exchanged(level, gauge, other, otherGauge tank.Length) bool {
	apart := func(a, b tank.Length, most float64) bool { return math.Abs(float64(a-b)) > most } // not where one is no number
	return !apart(gauge, other, handError) && !apart(otherGauge, level, handError) && apart(level, other, 2*handError)
}

func (v *Verdict) doubt(format string, args ...any) {
	v.Doubts = append(v.Doubts, fmt.Sprintf(format, args...))
}

// explain looks for the mistake that makes such a difference.
func (v *Verdict) explain(g Gauged) {
	near := func(level float64) bool { return math.Abs(level-float64(g.Gauge)) <= mostOffset }
	if near(float64(g.Place.Height - v.Level)) {
		v.doubt("the transmitter measures from the top (or the tape did): the height less this reading is the gauge; set it to level, or use scale: -1 and offset: at the point")
	}
	for _, u := range []string{"in", "ft", "cm", "m", "mm", "percent"} {
		if level, err := tank.LevelInches(Median(g.Readings), u, g.Place.Height); err == nil && u != cmp.Or(g.Unit, "in") && near(level) {
			v.doubt("in %s the reading would be the gauge: correct unit: at the point", u)
		}
	}
	for _, scale := range []float64{0.001, 0.01, 0.1, 10, 100, 1000} {
		if near(float64(v.Level) * scale) {
			v.doubt("%g times the reading would be the gauge: correct scale: at the point", scale)
		}
	}
}
