package tank

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// A level that is read each few minutes falls some times as far between two readings as between all others while a truck draws evenly: the sensor was
// spanned anew, or a false echo went, and nobody knows how much left. The load asks, and its error holds the step. At even rates, or where the driver
// draws as fast for longer, as a second pump does, it was the pump.
func TestALevelThatFallsFurtherOnceAmidALoadAsks(t *testing.T) {
	for _, every := range []float64{120, 180, 300} {
		for _, inches := range []float64{0, 12, 20} {
			truck := tanktest.Move{From: 5*tanktest.Hour + 70, Bbl: 150, Rate: 5}
			r := newRig(t, tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{truck}})
			r.site.tanks[0].Every, r.every = time.Duration(every)*time.Second, every
			r.sensor = func(i int, s, v float64) (float64, bool) {
				if s > truck.From+900 {
					v -= inches
				}
				return v, true
			}
			r.run(0, 9*tanktest.Hour)
			if len(r.loads) != 1 {
				t.Fatalf("each %g s, %g in: want one load: %+v", every, inches, r.loads)
			}
			l := r.loads[0]
			if inches == 0 {
				if len(l.Review) > 0 {
					t.Errorf("each %g s, no step: %q", every, l.Review)
				}
				continue
			}
			asksFor(t, l, "it stepped by -")
			if off := math.Abs(l.RemovedBbl - 150); off > l.ErrorBbl {
				t.Errorf("each %g s: off by %.1f bbl, give or take %.1f", every, off, l.ErrorBbl)
			}
		}
	}
}

// A level that is read each five minutes rises amid a fall: no pump lifts oil, and the sensor was spanned anew, unless the well brings slugs of as much.
func TestALevelThatRisesAmidALoadBetweenTwoReadingsAsks(t *testing.T) {
	for slugs, level := range map[bool]float64{false: 120, true: 60} {
		truck := tanktest.Move{From: 9*tanktest.Hour + 70, Bbl: 100, Rate: 5}
		w := tanktest.Well{Level0: level, Inflow: 30, Moves: []tanktest.Move{truck}}
		for at := 1800.0; slugs && at < 10*tanktest.Hour; at += 2 * tanktest.Hour {
			w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -20, Rate: 10})
		}
		r := newRig(t, w)
		r.site.tanks[0].Every, r.every = 5*time.Minute, 300
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s > truck.From+600 {
				v += 18
			}
			return v, true
		}
		r.run(0, 13*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("slugs %v: want one load: %+v", slugs, r.loads)
		}
		if l := r.loads[0]; said(l, "it stepped by +") == slugs || !slugs && math.Abs(l.RemovedBbl-100) > l.ErrorBbl {
			t.Errorf("slugs %v: %.1f bbl, give or take %.1f: %q", slugs, l.RemovedBbl, l.ErrorBbl, l.Review)
		}
	}
}

// Levels that fall evenly but for a stop, or for the readings at the ends, show no such step, and neither do two that are faster.
func TestWhatAPumpMayHaveDrawnIsNoStep(t *testing.T) {
	for k, falls := range [][]float64{{3, 15, 15, 15, 15, 4}, {3, 15, 30, 30, 15, 15}, {15, 15, 2, 28, 15, 15}, {15, 30, 15}, {8, 16, 8, 8}, {4, 15, 20, 15, 15}} {
		at, v := 0.0, float32(150)
		b := []sample{{t: at, v: v}}
		for _, by := range falls {
			at, v = at+300, v-float32(by)
			b = append(b, sample{t: at, v: v})
		}
		if got := fellOnce(b, 1.5); (got > 0) != (k == 4) {
			t.Errorf("%s: %.1f in", fmt.Sprint(falls), got)
		}
	}
}

// A gateway that repeats what it was told each five minutes held its last value from before the pump on: what falls at once from that took longer.
func TestAHeldValueAtTheStartOfALoadIsNoStep(t *testing.T) {
	truck := tanktest.Move{From: 5*tanktest.Hour + 300 - 140, Bbl: 150, Rate: 5}
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 20, Moves: []tanktest.Move{truck}})
	r.site.tanks[0].Every, r.every = 30*time.Second, 30
	r.sensor = func(i int, s, _ float64) (float64, bool) {
		told := math.Floor(s/300) * 300
		if told == 5*tanktest.Hour+300 { // one of them did not come through
			told -= 300
		}
		return tanktest.Radar(i, told, r.wells[0].Level(told)), true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || said(r.loads[0], "it stepped by") {
		t.Errorf("%+v", r.loads)
	}
}
