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
	for _, c := range []struct{ rested, bbl float64 }{{400, 7.5}, {400, 13}, {480, 7.5}, {480, 13}} { // s
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

// A tank that drains evenly before a load and behind it drains meanwhile too: the ticket asks. What drifts in the evening, settles behind the load, is foam
// of hours before it, or drains on one side only, does not, nor does a pressure sensor's gas.
func TestATankThatDrainsBeforeAndBehindALoadAsks(t *testing.T) {
	load := tanktest.Move{From: 9 * tanktest.Hour, Bbl: 180, Rate: 4.5}
	drains := func(from, to, rate float64) []tanktest.Move {
		return []tanktest.Move{{From: from, Bbl: rate * (to - from) / 60, Rate: rate}, load}
	}
	none := []tanktest.Move{load}
	for name, c := range map[string]struct {
		sensor string
		moves  []tanktest.Move
		shows  func(s float64) float64 // in, beside the oil
		asks   bool
	}{
		"fast":      {"radar", drains(load.From-7200, load.End()+3600, 0.3), nil, true},
		"slowly":    {"radar", drains(load.From-7200, load.End()+3600, 0.1), nil, true},
		"all day":   {"float", drains(3600, load.End()+7200, 0.2), nil, true},
		"gas":       {"hydrostatic", none, func(s float64) float64 { return -1.2 * (s - load.From) / 3600 }, false},
		"before it": {"radar", drains(load.From-7200, load.From-60, 0.1), nil, false},
		"evening":   {"ultrasonic", none, func(s float64) float64 { return 2 * math.Sin((load.From-s)*2*math.Pi/86400) }, false},
		"settles":   {"radar", none, func(s float64) float64 { return 0.8 * math.Exp(-math.Max(0, s-load.End())/1500) }, false},
		"foam":      {"radar", none, func(s float64) float64 { return 6 * math.Exp(-math.Max(0, s-load.From+7200)/5400) }, false},
	} {
		r := newRig(t, tanktest.Well{Level0: 190, Moves: c.moves})
		r.every, r.site.tanks[0].Sensor = 30, c.sensor
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if c.shows != nil {
				v += c.shows(s)
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, load.End()+3*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%s: %+v", name, r.loads)
		}
		if said := strings.Join(r.loads[0].Review, "; "); strings.Contains(said, "before and behind the load") != c.asks {
			t.Errorf("%s: %.1f bbl, %q", name, r.loads[0].GaugeBbl, said)
		}
	}
}
