package tank

import (
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// keptBack is a well of so many barrels a day whose tank is shut for a load from one time to another, and whose separator keeps them until then.
func keptBack(perDay float64, load tanktest.Move, shut, open float64) tanktest.Well {
	kept := perDay * (open - shut) / 86400
	return tanktest.Well{Level0: 120, Inflow: perDay, Moves: []tanktest.Move{load,
		{From: shut, Bbl: kept, Rate: perDay / 1440},
		{From: open, Bbl: -kept, Rate: 1.5},
	}}
}

// A tank that is shut for its load takes in nothing meanwhile, and what its well made comes at once when it is opened: by as much as the well made, so
// that it is none of the truck's. Nothing is counted, and nothing is to be asked.
func TestWhatIsKeptBackForALoadComesBehindIt(t *testing.T) {
	for _, perDay := range []float64{120, 200} {
		for _, behind := range []float64{300, 540, 900} {
			load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 140, Rate: 5}
			r := newRig(t, keptBack(perDay, load, load.From-900, load.End()+behind))
			r.run(0, load.End()+2*tanktest.Hour)
			r.inflowIs("kept back", 0, 0.1, 1)
			if l := r.loads[0]; len(l.Review) > 0 || l.ErrorBbl > 1.2 || !strings.Contains(strings.Join(l.Remarks, " "), "its tank was shut") {
				t.Errorf("%g bbl a day, opened %g s behind: %+v", perDay, behind, l)
			}
		}
	}
}

// What comes at once behind a load is the truck's where it is more than the well made since its tank was shut, and where that was not shut.
func TestMoreThanWasKeptBackAsks(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 140, Rate: 5}
	much := keptBack(120, load, load.From-900, load.End()+540)
	much.Moves[2].Bbl -= 3
	open := tanktest.Well{Level0: 120, Inflow: 120, Moves: []tanktest.Move{load, {From: load.End() + 540, Bbl: -4, Rate: 1.5}}}
	for name, w := range map[string]tanktest.Well{"three barrels more": much, "never shut": open} {
		r := newRig(t, w)
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%s: %+v", name, r.loads)
		}
		if l := r.loads[0]; !strings.Contains(strings.Join(l.Review, " "), "as the well never did") {
			t.Errorf("%s does not ask: %+v", name, l)
		}
	}
}
