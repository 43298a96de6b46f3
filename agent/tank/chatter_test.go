package tank

import (
	"math"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// counts is a sensor of steps, whose value its noise throws to and fro between two counts where the level lies at an edge. It reports what
// changed and by the clock, each so many seconds; with no clock at each poll.
func counts(step, beat float64) seen {
	last, at := math.NaN(), math.Inf(-1)
	return func(_ int, s, v float64) (float64, bool) {
		v = math.Round((v+tanktest.Radar(9, s, 0))/step) * step
		if beat > 0 && v == last && s-at < beat {
			return 0, false
		}
		last, at = v, s
		return v, true
	}
}

// What goes to and fro between two counts before a load, or behind it, lies at the edge between them: it is no noise that hides a fall, however
// wide the step and slow the pump. Where steps and noise leave a closing uncertain it asks.
func TestALevelAtTheEdgeOfAStepHidesNoLoad(t *testing.T) {
	for _, step := range []float64{0.5, 1.44, 2.4} {
		for _, beat := range []float64{900, 0} {
			for _, every := range []float64{5, 10, 30} {
				for _, rate := range []float64{1, 1.75, 4} {
					load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: math.Round(60/step) * step * tanktest.PerInch, Rate: rate}
					r := newRig(t, tanktest.Well{Level0: (math.Floor(130/step) + 0.5) * step, Moves: []tanktest.Move{load}})
					r.every, r.site.tanks[0].Every = every, time.Duration(every)*time.Second
					r.sensor = counts(step, beat)
					r.run(0, load.End()+4*tanktest.Hour)
					if n := len(r.loads); n != 1 || math.Abs(r.loads[0].GaugeBbl-load.Bbl) > step*tanktest.PerInch && len(r.loads[0].Review) == 0 {
						t.Errorf("steps of %g in each %g s, beat %g s, %g bbl/min: want one load of %.1f bbl: %+v", step, every, beat, rate, load.Bbl, r.loads)
					}
				}
			}
		}
	}
}

// A sensor of coarse steps in a tank that nothing fills has shown one value for as long as it is known, and hangs there until minutes into a load: how
// long its values stand nobody knows, but it falls on as under a pump from where that had the level by then. Its load asks and is not lost.
func TestTheFirstChangeOfASensorAmidALoadLosesNone(t *testing.T) {
	load := tanktest.Move{From: 9 * tanktest.Hour, Bbl: 36, Rate: 1.2}
	for _, off := range []float64{0, 20} { // by which it is spanned anew, hours before the truck
		r := newRig(t, tanktest.Well{Level0: 126.72, Moves: []tanktest.Move{load}})
		free := load.From + 600
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s < free {
				return 126.72, true
			}
			return math.Round((v-off)/1.44) * 1.44, true
		}
		if off > 0 {
			free, load.From = 5*tanktest.Hour, math.Inf(1)
			r.wells[0].Moves = nil
		}
		r.run(0, 18*tanktest.Hour)
		if off == 0 && (len(r.loads) != 1 || r.loads[0].GaugeBbl < 34 || len(r.loads[0].Review) == 0) || off > 0 && len(r.loads) > 0 {
			t.Errorf("%g in: %+v, %+v", off, r.loads, r.events)
		}
	}
}
