package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// Water that is drawn off behind minutes of rest, slower towards its end, is no foam, which would have collapsed from the pump's stop on: the closing is the
// rest, and the ticket asks.
func TestWhatIsDrawnBehindMinutesOfRestIsNoFoam(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 170, Rate: 5}
	for _, c := range []struct{ rested, bbl float64 }{{300, 7.5}, {400, 7.5}, {400, 13}, {480, 7.5}, {480, 13}} { // s
		at := load.End() + c.rested
		w := tanktest.Well{Level0: 180, Moves: []tanktest.Move{load}}
		for _, m := range []tanktest.Move{{Bbl: c.bbl - 3, Rate: 1.2}, {Bbl: 1.5, Rate: 0.9}, {Bbl: 1.5, Rate: 0.6}} {
			m.From = at
			w.Moves, at = append(w.Moves, m), m.End()
		}
		r := newRig(t, w)
		r.every = 30
		r.run(0, load.End()+3*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: %+v", c, r.loads)
		}
		l := r.loads[0]
		if said := strings.Join(append(l.Remarks, l.Review...), "; "); math.Abs(l.GaugeBbl-load.Bbl) > 1 || len(l.Review) == 0 || strings.Contains(said, "foam of") {
			t.Errorf("%+v: %.1f bbl, %q", c, l.GaugeBbl, said)
		}
	}
}
