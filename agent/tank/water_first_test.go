package tank

import (
	"testing"

	"gauger/agent/tank/tanktest"
)

// Water is drawn off ten minutes before a truck pumps, at a quarter of its rate and for a quarter of an hour: it is no part of the load, and nothing is to be
// asked. What leaves faster may be the truck's own, and asks.
func TestWaterThatIsDrawnMinutesBeforeATruckIsNotItsOil(t *testing.T) {
	for _, c := range []struct {
		sensor            string
		every, step, rate float64
		water             bool
	}{{"float", 60, 0.5, 1.15, true}, {"radar", 20, 0, 1.4, true}, {"hydrostatic", 60, 0, 1.2, true}, {"radar", 20, 0, 2.4, false}} {
		first := tanktest.Move{From: aLoad.From - 580 - 18/c.rate*60, Bbl: 18, Rate: c.rate}
		w := tanktest.Well{Level0: 200, Moves: []tanktest.Move{first, aLoad}}
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = c.every, c.sensor
		r.sensor = func(_ int, s, v float64) (float64, bool) { return inSteps(v, c.step), true }
		r.run(0, 30*tanktest.Hour)
		if !c.water {
			r.matches(0.3, 90, labelOf(w, first, aLoad))
			asksFor(t, r.loads[0], "before the rest: a bleed")
			continue
		}
		r.matches(0.3, 90, labelOf(w, aLoad, aLoad))
		asksFor(t, r.loads[0], "")
		if r.rules()["small-draws"] != 1 {
			t.Errorf("%+v: the water is to be told: %+v", c, r.events)
		}
	}
}

func inSteps(v, step float64) float64 {
	if step == 0 {
		return v
	}
	return float64(int(v/step)) * step
}
