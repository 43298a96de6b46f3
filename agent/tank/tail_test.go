package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A driver tops off slowly for minutes behind the pump's knee. The closing is the rest behind that, and what the well made until then is in it: it counts as
// what flowed in.
func TestWhatFlowsInOverASlowTailCounts(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 170, Rate: 6}
	top := tanktest.Move{From: load.End(), Bbl: 7, Rate: 1}
	drain := tanktest.Move{From: top.End(), Bbl: 1.5, Rate: 0.5}
	wells := tanktest.Well{Level0: 60, Inflow: 380, Moves: []tanktest.Move{load, top, drain}}
	r := newRig(t, wells)
	r.site.tanks[0].Table, r.site.tanks[0].Sensor, r.every = tableOf(t, 5.39), "magnetostrictive", 5
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		return restless(s, 60+(wells.Level(s)-60)*tanktest.PerInch/5.39, 0.02, 0.01), true
	}
	r.run(0, drain.End()+2*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-178.5) > 0.7 || math.Abs(r.loads[0].RemovedBbl-178.5) > r.loads[0].InflowErrorBbl+r.loads[0].ErrorBbl {
		t.Errorf("%+v, want 178.5 bbl", r.loads)
	}
}

// The last minute and a half before a load rises, as noise that lasts makes it, by far more than the well ever made: beyond its readings only the well is known.
func TestAShortRiseIsNotCarriedOn(t *testing.T) {
	const well = 0.05 / 60
	r := resting{before: true, sigma: 0.1, perBbl: 1 / 1.67, at: 30, samples: recorded(-1800, 0, func(s float64) float64 {
		return 180 + well*s + 1.2/60*math.Max(0, s+90)
	})}
	if g, want := r.near(well), 180+1.8+well*30; math.Abs(g.level-want) > 0.15 {
		t.Errorf("opening %.2f in, want %.2f", g.level, want)
	}
}

// A pump's first try draws slowly for the most of a minute, loses its prime and stands for two: what left belongs to the load. What is bled for minutes does not.
func TestAPumpsFirstTryBelongsToItsLoad(t *testing.T) {
	for name, x := range map[string]struct{ bbl, rate, want float64 }{
		"a try": {2.4, 2.7, 162.4}, "a bleed": {2.4, 0.6, 160},
	} {
		load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 160, Rate: 8.3}
		try := tanktest.Move{Bbl: x.bbl, Rate: x.rate}
		try.From = load.From - 95 - try.End()
		w := tanktest.Well{Level0: 100, Moves: []tanktest.Move{try, load}}
		r := newRig(t, w)
		r.site.tanks[0].Table, r.every = tableOf(t, 2.8), 5
		r.sensor = func(_ int, s, _ float64) (float64, bool) {
			return restless(s, 100+(w.Level(s)-100)*tanktest.PerInch/2.8, 0.05, 0.01), true
		}
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-x.want) > 0.8 {
			t.Errorf("%s: %+v, want %g bbl", name, r.loads, x.want)
		}
	}
}
