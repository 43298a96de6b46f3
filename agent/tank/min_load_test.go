package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// What is less than min_load by its gauges is a load only with what flowed in, by the ticket's own figure: where the next tank took that in it asks.
func TestLessThanALoadWhoseWellFilledTheNextTankAsks(t *testing.T) {
	const rate = 0.5 // bbl a minute
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 23, Rate: 1.5}
	fill := func(from, to float64) tanktest.Move {
		return tanktest.Move{From: from, Bbl: (from - to) / 60 * rate, Rate: rate}
	}
	end, last := load.End(), 9*tanktest.Hour
	r := newRig(t, tanktest.Well{Level0: 130, Moves: []tanktest.Move{fill(0, load.From), fill(end, last), load}}, tanktest.Well{Level0: 60, Moves: []tanktest.Move{fill(load.From, end)}})
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-23) > 1 {
		t.Fatalf("%+v, want one of 23 bbl", r.loads)
	}
	if said := strings.Join(r.loads[0].Review, "; "); !strings.Contains(said, "less than min_load: it is a load only with the 0.0 bbl") {
		t.Errorf("review %q", said)
	}
}
