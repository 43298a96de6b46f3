package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// An echo that hangs amid a load, on a ring of paraffin, and comes free to where the pump has drawn by then, is one load, and a right one: neither
// what fell at once nor the rest of the fall is lost.
func TestAnEchoThatHangsAmidALoad(t *testing.T) {
	start := 4 * tanktest.Hour
	for _, c := range []struct{ every, rate, ring, thick float64 }{
		{10, 5, 0.5, 12}, {10, 5, 0.8, 12}, {15, 3.3, 0.65, 14}, {10, 4, 0.75, 17}, {30, 4, 0.7, 14},
	} {
		r := newRig(t, tanktest.Well{Level0: 190, Inflow: 100, Moves: []tanktest.Move{{From: start, Bbl: 135, Rate: c.rate}}})
		r.every = c.every
		w := r.wells[0]
		opening, closing := w.Level(start), w.Level(w.Moves[0].End())
		ring := opening - c.ring*(opening-closing)
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if real := w.Level(s); s > start && s < w.Moves[0].End() && real < ring && real > ring-c.thick {
				return ring + v - real, true
			}
			return v, true
		}
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%+v: want one load: %+v, events %+v", c, r.loads, r.events)
			continue
		}
		if l := r.loads[0]; math.Abs(l.Close-closing) > 0.2 || math.Abs(l.Open-opening) > 0.2 || len(l.Review) > 0 {
			t.Errorf("%+v: want %.2f to %.2f in and no review: %+v, events %+v", c, opening, closing, l, r.events)
		}
	}
}

// A gateway that hands on one value for as long as a truck loads, of a sensor whose coarse steps the well makes a few an hour: the value stood
// through steps that were due, and what it lies lower by at last is a load, for a person.
func TestACoarseValueThatIsHeldOverAWholeLoad(t *testing.T) {
	start := 5 * tanktest.Hour
	for _, c := range []struct{ step, inflow, held float64 }{{0.25, 140, 2400}, {0.25, 100, 3000}, {0.125, 140, 2200}} {
		r := newRig(t, tanktest.Well{Level0: 160, Inflow: c.inflow, Moves: []tanktest.Move{{From: start, Bbl: 150, Rate: 6}}})
		r.site.tanks[0].Sensor = "float"
		w, from := r.wells[0], start-(c.held-1500)/2
		r.sensor = func(_ int, s, _ float64) (float64, bool) {
			if s > from && s < from+c.held {
				s = from
			}
			return math.Round(w.Level(s)/c.step) * c.step, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-150) > 3 || len(r.loads[0].Review) == 0 {
			t.Errorf("%+v: want one load of 150 bbl that asks: %+v, events %+v", c, r.loads, r.events)
		}
	}
}

// A sensor that steps down as the pump begins says so, and the step is in the error: readings of hours came before it.
func TestALoadThatBeginsWithAStepHoldsItInItsError(t *testing.T) {
	start := 4 * tanktest.Hour
	r := newRig(t, tanktest.Well{Level0: 160, Inflow: 60, Moves: []tanktest.Move{{From: start, Bbl: 150, Rate: 6}}})
	w := r.wells[0]
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s > start && s < start+120 {
			return w.Level(start) + v - w.Level(s), true
		}
		return v, true
	}
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("want one load: %+v, events %+v", r.loads, r.events)
	}
	if l := r.loads[0]; said(l, BeganBefore) || math.Abs(l.GaugeBbl-(w.Level(start)-w.Level(w.Moves[0].End()))*tanktest.PerInch) > l.ErrorBbl {
		t.Errorf("%+v, events %+v", l, r.events)
	}
}
