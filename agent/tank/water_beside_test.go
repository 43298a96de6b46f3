package tank

import (
	"math"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// Water that is drawn off right before or behind a truck, at a part of its rate and after a stop, is in the gauges of its load: that asks, and the
// error holds it, or it is cut off. A truck that draws evenly, or whose driver stops and goes on, does not ask.
func TestWaterDrawnBesideALoadAsks(t *testing.T) {
	for _, every := range []float64{10, 30, 60} {
		for _, rate := range []float64{1.3, 2.2} {
			for _, stop := range []float64{60, 180, 280} {
				for _, first := range []bool{true, false} {
					truck := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 120, Rate: 5.5}
					water := tanktest.Move{From: truck.End() + stop, Bbl: 14, Rate: rate}
					if first {
						water.From = truck.From - stop - 14/rate*60
					}
					r := newRig(t, tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{truck, water}})
					r.site.tanks[0].Every, r.every = time.Duration(every)*time.Second, every
					r.run(0, 9*tanktest.Hour)
					if len(r.loads) != 1 {
						t.Fatalf("each %g s, %g bbl a minute, %g s, first %v: want one load: %+v", every, rate, stop, first, r.loads)
					}
					l := r.loads[0]
					if off := math.Abs(l.RemovedBbl - 120); off > wrongBbl(120) && (len(l.Review) == 0 || off > l.ErrorBbl) {
						t.Errorf("each %g s, %g bbl a minute, %g s, first %v: off by %.1f bbl, give or take %.1f: %q", every, rate, stop, first, off, l.ErrorBbl, l.Review)
					}
				}
			}
		}
	}
}

// The driver of a truck who goes on at half of its rate for the last barrels, or stops before them, draws what is his.
func TestADriverWhoThrottlesHisPumpDoesNotAsk(t *testing.T) {
	for _, stop := range []float64{0, 100, 200} {
		truck := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 120, Rate: 5.5}
		last := tanktest.Move{From: truck.End() + stop, Bbl: 8, Rate: 2.75}
		r := newRig(t, tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{truck, last}})
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 || len(r.loads[0].Review) > 0 || math.Abs(r.loads[0].RemovedBbl-128) > 1.28 {
			t.Errorf("after %g s: %+v", stop, r.loads)
		}
	}
}

// What is drained behind a load, so slowly that it is no part of it, is told as what it is, and no foam.
func TestWaterDrainedBehindALoadIsCalledSo(t *testing.T) {
	truck := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 120, Rate: 5.5}
	water := tanktest.Move{From: truck.End() + 200, Bbl: 18, Rate: 0.8}
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{truck, water}})
	r.every = 30
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("want one load: %+v", r.loads)
	}
	asksFor(t, r.loads[0], "after the end: water that was drawn off")
}

// The end of a load that is read each five minutes lies between two readings: what is read right behind where it is taken to lie may be the pump's, and
// the level has not fallen on behind it.
func TestTheEndBetweenTwoSeldomReadingsHasComeToRest(t *testing.T) {
	fall := []float64{96.8, 85.78, 70.62, 55.65, 40.42, 25.41, 14.85, 14.01}
	r := newRig(t, tanktest.Well{Level0: 96.8})
	r.site.tanks[0].Every, r.every = 300*time.Second, 300
	r.sensor = func(i int, s, v float64) (float64, bool) {
		k := min(max(0, int(s/300)-72), len(fall)-1)
		return fall[k] + 0.02*float64(int(s/300)*7%5-2), true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || len(r.loads[0].Review) > 0 {
		t.Errorf("want one load that does not ask: %+v", r.loads)
	}
}
