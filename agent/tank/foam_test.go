package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// Foam that a load leaves on the oil collapses quickly at first and then less, at once or after it stood for a while. The closing is that
// of the oil below it, as it was at the end, and the ticket says so; also where the well makes so much that the level hardly falls.
func TestFoamThatCollapsesBehindALoadIsTakenOffItsClosing(t *testing.T) {
	for _, c := range []struct{ inflow, inches, stood, time float64 }{
		{0, 3, 0, 300}, {300, 3, 900, 120}, {100, 1.8, 600, 600}, {600, 4, 1200, 300},
	} {
		w := aWell
		w.Inflow = c.inflow
		r := newRig(t, w)
		r.sensor = func(i int, s, v float64) (float64, bool) {
			since := s - aLoad.End()
			up := 1 - math.Exp(-math.Max(0, since+200)/90)
			return tanktest.Radar(i, s, v+c.inches*up*math.Exp(-math.Max(0, since-c.stood)/c.time)), true
		}
		r.run(0, 6*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: loads %+v", c, r.loads)
		}
		l := r.loads[0]
		if off := l.Close - w.Level(aLoad.End()); math.Abs(off) > 0.6 || math.Abs(off)*testTable(t).PerInch(l.Close) > l.ErrorBbl {
			t.Errorf("%+v: closing is off by %.2f in, and the error is %.1f bbl: %+v", c, off, l.ErrorBbl, l)
		}
	}
}

// Oil that is drained evenly some time after a load is no foam.
func TestADrainBehindALoadIsNoFoam(t *testing.T) {
	w := aWell
	w.Moves = []tanktest.Move{aLoad, {From: aLoad.End() + 900, Bbl: 6, Rate: 0.6}}
	r := newRig(t, w)
	r.run(0, 6*tanktest.Hour)
	if len(r.loads) != 1 || strings.Contains(strings.Join(r.loads[0].Remarks, " "), "foam") || len(r.loads[0].Review) == 0 {
		t.Errorf("want one that asks and says nothing of foam: %+v", r.loads)
	}
}
