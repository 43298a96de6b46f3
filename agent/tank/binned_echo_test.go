package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// An echo of an inch, minutes before a load, that begins and ends within the seconds whose readings are averaged has edges that lie halfway: it is
// an echo all the same, and no seal check of the load.
func TestAnEchoWhoseEdgesAreAveragedIsNoPartOfTheLoad(t *testing.T) {
	for _, before := range []float64{140, 150, 160, 170} {
		w := aWell
		r := newRig(t, w)
		r.every = 5
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s >= aLoad.From-before-55 && s < aLoad.From-before {
				v += 1.3
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 7*tanktest.Hour)
		if want := w.Level(aLoad.From); len(r.loads) != 1 || math.Abs(r.loads[0].Open-want) > 0.2 {
			t.Errorf("%.0f s before it: %+v, want one load from %.2f in", before, r.loads, want)
		}
	}
}
