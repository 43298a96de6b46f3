package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A time clock that runs a pump for hours, and lets it rest for hours, goes round too seldom for the hours before a load to show it: the day does. What it
// brought over a load is as sure then as of one that turns each half hour, whether it ran all the while or not at all, in a tank by itself or in the sum of two.
func TestTheDayShowsAClockThatTurnsOnceInHours(t *testing.T) {
	for name, x := range map[string]struct {
		from  float64 // of the load
		every float64
		tanks int
	}{
		"it runs":                         {26.2 * tanktest.Hour, 60, 1},
		"it rests":                        {27.8 * tanktest.Hour, 60, 1},
		"it stops amid it":                {25.3 * tanktest.Hour, 60, 1},
		"it stopped as the truck came":    {25.8 * tanktest.Hour, 300, 1},
		"it starts as the truck goes":     {27.4 * tanktest.Hour, 300, 1},
		"it rests, a reading in 5 min":    {27.8 * tanktest.Hour, 300, 1},
		"it runs, beside a tank that has": {26.2 * tanktest.Hour, 60, 2},
	} {
		load := tanktest.Move{From: x.from, Bbl: 160, Rate: 4}
		w, came := tanktest.Well{Level0: 110, Moves: []tanktest.Move{load}}, 0.0
		const period, on, rate = 4 * tanktest.Hour, 1.7 * tanktest.Hour, 0.15
		for from := -period; from < 31*tanktest.Hour; from += period {
			at := from + 0.2*tanktest.Hour
			w.Moves = append(w.Moves, tanktest.Move{From: math.Max(at, 0), Bbl: -rate * (at + on - math.Max(at, 0)) / 60, Rate: rate})
			came += rate / 60 * math.Max(0, math.Min(load.End(), at+on)-math.Max(load.From, at))
		}
		wells := []tanktest.Well{w}
		if x.tanks == 2 {
			wells = append(wells, tanktest.Well{Level0: 60})
		}
		r := newRig(t, wells...)
		r.every = x.every
		r.run(0, load.End()+1.5*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: want one load: %+v", name, r.loads)
			continue
		}
		if l := r.loads[0]; math.Abs(l.InflowBbl-came) > 0.5 || l.InflowErrorBbl > 1.2 {
			t.Errorf("%s: want an inflow of %.1f: %.1f, give or take %.1f; %s", name, came, l.InflowBbl, l.InflowErrorBbl, l.Review)
		}
	}
}
