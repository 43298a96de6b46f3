package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// The well is turned to the other tank, and the level stands for longer than a separator ever lets it, until the radio falls out. It comes back amid the
// truck's draw: the load begins where the level had stood, and not where the well would have brought it meanwhile.
func TestAnOpeningIsNotCarriedThroughAGapByAWellThatWasAway(t *testing.T) {
	const turned, dark, truck, light = 8 * tanktest.Hour, 8*tanktest.Hour + 2000, 8*tanktest.Hour + 6000, 8*tanktest.Hour + 7400
	filled := tanktest.Well{Level0: 90, Inflow: 140}
	dumps := func(s float64) float64 { return filled.Level(math.Floor(s/540) * 540) }
	stood := tanktest.Well{Level0: dumps(turned), Moves: []tanktest.Move{{From: truck, Bbl: 178, Rate: 5.4}}}
	r := newRig(t, filled, tanktest.Well{Level0: 40})
	r.every = 15
	r.sensor = func(i int, s, _ float64) (float64, bool) {
		seen := s < dark || s > light
		switch {
		case i == 1:
			return tanktest.Radar(1, s, 40+dumps(math.Max(s, turned))-dumps(turned)), seen
		case s < turned:
			return tanktest.Radar(0, s, dumps(s)), seen
		}
		return tanktest.Radar(0, s, stood.Level(s)), seen
	}
	r.run(0, 13*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Open-stood.Level(truck)) > 0.3 || math.Abs(r.loads[0].RemovedBbl-178) > 1.5 {
		t.Errorf("%+v, want one load of 178 bbl from %.2f in", r.loads, stood.Level(truck))
	}
}
