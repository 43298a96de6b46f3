package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A truck brings oil, or a test separator fills the tank at a pump's rate, and other trucks haul it down to the same heel each time, while
// only every tenth minute is read: each is a load, for a person where its readings are too few.
func TestHauledToTheSameHeel(t *testing.T) {
	for _, every := range []float64{120, 300, 600} {
		for _, bbl := range []float64{60, 90, 150} {
			var moves []tanktest.Move
			for n := range 4 {
				from := float64(3+6*n)*tanktest.Hour + 50
				moves = append(moves, tanktest.Move{From: from, Bbl: -bbl, Rate: 6}, tanktest.Move{From: from + 2.2*tanktest.Hour, Bbl: bbl, Rate: 7})
			}
			r := newRig(t, tanktest.Well{Level0: 20, Moves: moves})
			r.every = every
			r.run(0, 28*tanktest.Hour)
			if len(r.loads) != 4 {
				t.Errorf("%g bbl, read every %g s: %d loads of 4; events %+v", bbl, every, len(r.loads), r.events)
			}
		}
	}
}

// A float hangs twenty minutes into a load, and drops an hour or two later: the rest of the load is a ticket for a person, or the ticket
// of its first part is corrected.
func TestAFloatThatHangsInALoad(t *testing.T) {
	for _, every := range []float64{10, 30, 60} {
		for _, hangs := range []float64{2700, 3600, 7200} {
			r := newRig(t, tanktest.Well{Level0: 190, Inflow: 40, Moves: []tanktest.Move{{From: 6 * tanktest.Hour, Bbl: 169, Rate: 4.8}}})
			r.every, r.site.tanks[0].Sensor = every, "float"
			stops := 6*tanktest.Hour + 1200
			r.sensor = func(_ int, s, _ float64) (float64, bool) {
				if s > stops && s < stops+hangs {
					s = stops
				}
				return math.Round(8*r.wells[0].Level(s)) / 8, true
			}
			r.run(0, 14*tanktest.Hour)
			sold, asked := 0.0, len(r.corrections)
			for _, l := range r.loads {
				sold += l.GaugeBbl
				asked += len(l.Review)
			}
			if asked == 0 || len(r.corrections) == 0 && math.Abs(sold-169) > 6 {
				t.Errorf("read every %g s, hung for %g s: %.1f bbl of 169, %d doubts; %+v", every, hangs, sold, asked, r.events)
			}
		}
	}
}
