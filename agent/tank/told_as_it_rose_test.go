package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// Part of a load is moved into another tank that reports by exception: a heartbeat every half an hour while it stands, and every few seconds while it
// rises. How fast it fills shows in the readings of then, and the ticket asks.
func TestATransferAmidALoadIntoATankThatReportsByException(t *testing.T) {
	truck := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 100, Rate: 4.3}
	for _, from := range []float64{-420, 120, 240} {
		moved := tanktest.Move{From: truck.From + from, Bbl: 40, Rate: 1.5}
		back := moved
		back.Bbl = -moved.Bbl
		r := newRig(t, tanktest.Well{Level0: 112, Inflow: 30, Moves: []tanktest.Move{truck, moved}}, tanktest.Well{Level0: 36, Moves: []tanktest.Move{back}})
		var sensors []seen
		for i, w := range r.wells {
			sensors = append(sensors, excepted(0.25, 1800, func(s float64) float64 { return tanktest.Radar(i, s, w.Level(s)) }))
		}
		r.sensor = func(i int, s, v float64) (float64, bool) { return sensors[i](i, s, v) }
		r.run(0, 13*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("moved %+.0f s from its start: %+v", from, r.loads)
		}
		l := r.loads[0]
		if why := strings.Join(l.Review, " | "); !strings.Contains(why, "tank TK-2 rose by") || math.Abs(l.RemovedBbl-truck.Bbl) > l.ErrorBbl {
			t.Errorf("moved %+.0f s from its start: %.1f bbl, give or take %.1f: %q", from, l.RemovedBbl, l.ErrorBbl, why)
		}
	}
}
