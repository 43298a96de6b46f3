package tank

import (
	"math"
	"testing"
)

// A fall that halves its rate again and again is no pump's, also where five readings show it; a pump's is none that decays, whether it
// draws evenly, fades with the head, or creeps at its end, and neither is what drains by gravity.
func TestWhatDecaysAndWhatAPumpDraws(t *testing.T) {
	pump := func(power, long float64) func(s float64) float64 {
		return func(s float64) float64 { return math.Pow(math.Max(0, 1-math.Max(0, s)/long), power) }
	}
	creeps := func(s float64) float64 { return 0.9*pump(1, 900)(s) + 0.1*decayed(s, 700, 1, 0, 150) }
	for _, c := range []struct {
		name   string
		fall   func(s float64) float64 // share that is left so many seconds after it began
		every  float64
		decays bool
	}{
		{"thaws, read each minute", func(s float64) float64 { return decayed(s, 0, 1, 0, 100) }, 60, true},
		{"thaws within two minutes", func(s float64) float64 { return decayed(s, 0, 1, 0, 60) }, 30, true},
		{"collapses", func(s float64) float64 { return decayed(s, 0, 1, 0, 400) }, 15, true},
		{"pump", pump(1, 1200), 10, false},
		{"pump, read each minute", pump(1, 330), 60, false},
		{"pump that fades", pump(1.5, 1800), 30, false},
		{"gravity", pump(2, 2400), 60, false},
		{"pump that creeps", creeps, 15, false},
	} {
		for _, first := range []float64{0, 0.3, 0.7} { // of the time between two readings, when it began
			ts, at := &tankState{}, 3000.0
			for s := at - 900; s < at+3600; s += c.every {
				v := 118 + 27*c.fall(s-at-first*c.every) + 0.05*math.Sin(s*s)
				ts.levels.recent = append(ts.levels.recent, sample{t: s, v: float32(v), n: 1})
			}
			ts.last.t = at + 3600
			d := draw{start: at - c.every, end: at + 400, next: math.Inf(1)}
			d.opening.level, d.closing.level = 145, 118.2
			if got := decays(ts, d); got != c.decays {
				t.Errorf("%s, begun %.1f of the way between two readings: %v", c.name, first, got)
			}
		}
	}
}
