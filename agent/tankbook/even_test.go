package tankbook

import (
	"math"
	"testing"

	"gauger/agent/tank"
	"gauger/agent/tank/tanktest"
)

// TestWhatAnEqualiserMovesIsATransfer: one of four joined tanks is hauled with its valve shut, and the others make it even when somebody opens
// it. Nothing of that is produced or lost; what all of them have lost is.
func TestWhatAnEqualiserMovesIsATransfer(t *testing.T) {
	const hauled, inflow = 150.0, 48.0 // bbl, and bbl a day of each
	for _, c := range []struct {
		name          string
		pause, rate   float64 // s from the truck to the opening of the valve; bbl/min out of each of those that fall
		even, drained float64 // bbl that each gives, that are drained from the second meanwhile
	}{
		{"behind the truck", 0, 1.5, 37.5, 0},
		{"a while later", 5400, 1.5, 37.5, 0},
		{"through a narrow pipe", 600, 0.4, 8, 0},
		{"while some is drained", 600, 1.5, 8, 6},
	} {
		truck := tanktest.Move{From: 34 * tanktest.Hour, Bbl: hauled, Rate: 5}
		opens := truck.End() + c.pause
		wells := make([]tanktest.Well, 4)
		for k := range wells {
			wells[k] = tanktest.Well{Level0: 150, Inflow: inflow, Moves: []tanktest.Move{{From: opens, Bbl: c.even, Rate: c.rate}}}
		}
		wells[0].Moves = []tanktest.Move{truck, {From: opens, Bbl: -3 * c.even, Rate: 3 * c.rate}}
		if c.drained > 0 {
			wells[1].Moves = append(wells[1].Moves, tanktest.Move{From: opens + 60, Bbl: c.drained, Rate: 2})
		}
		var losses []tank.Event
		tanks := make([]tank.Tank, 4)
		for k := range tanks {
			tanks[k].Group = "west"
		}
		produced, other, runs, out, in, days := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
		for _, ds := range bookedAt(t, plain(t, tanks...), 3.2, &losses, wells...) {
			p, o := made(ds[1:])
			produced, other, days = produced+p, other+o, float64(len(ds)-1)
			for _, d := range ds {
				d.adds(t)
				runs, out, in = runs+d.Runs, out+d.TransfersOut, in+d.TransfersIn
			}
		}
		if due := 4 * inflow * days; math.Abs(produced-due) > 5 || math.Abs(other-c.drained) > 3 || math.Abs(runs-hauled) > 5 || math.Abs(out-3*c.even) > 6 || math.Abs(in-out) > 0.1 || len(losses) > 0 {
			t.Errorf("%s: produced %.1f of %.1f, other %.1f of %.1f, runs %.1f, out %.1f of %.1f, in %.1f, losses %v", c.name, produced, due, other, c.drained, runs, out, 3*c.even, in, losses)
		}
	}
}
