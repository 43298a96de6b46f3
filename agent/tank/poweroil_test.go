package tank

import (
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// onAClock are so many draws of 34 bbl, one each some seconds, what one took back before the next.
func onAClock(n int, every float64) (moves []tanktest.Move) {
	for k := range n {
		out := tanktest.Move{From: 2*tanktest.Hour + float64(k)*every, Bbl: 34, Rate: 1.1}
		moves = append(moves, out, tanktest.Move{From: out.End() + 120, Bbl: -34, Rate: 34 / ((every - out.End() + out.From - 480) / 60)})
	}
	return moves
}

// Power oil goes down the wells by a pump on a clock, and comes back with what they make: equal draws, equally far apart, each there again before
// the next. The third one asks, and those before it are corrected.
func TestAPumpOnAClockIsNoTruck(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 60, Moves: onAClock(4, 10700)})
	r.run(0, 14*tanktest.Hour)
	if len(r.loads) != 4 {
		t.Fatalf("%d loads, want 4: %+v", len(r.loads), r.verdicts)
	}
	for k, l := range r.loads {
		if asks := strings.Contains(strings.Join(l.Review, "; "), "a pump on a clock"); asks != (k >= 2) {
			t.Errorf("load %d: %q", k, l.Review)
		}
	}
	if len(r.corrections) != 2 || !r.corrections[0].Began.Equal(r.loads[0].Began) || !strings.Contains(r.corrections[1].Note, "a pump on a clock") {
		t.Errorf("corrected by %+v, want the first two", r.corrections)
	}
}

// Neither loads of a truck, nor draws that are not there again before the next, nor those at odd times, nor each tank's share of a group's loads, are a clock's.
func TestAlikeLoadsAreNoPumpOnAClock(t *testing.T) {
	odd, kept := onAClock(4, 10700), onAClock(4, 10700)
	odd[2].From, odd[4].From = odd[2].From-1200, odd[4].From+300
	for k := 1; k < len(kept); k += 2 {
		kept[k].Bbl = -20
	}
	large := onAClock(3, 14400)
	for k := range large {
		large[k].Bbl, large[k].Rate = 4*large[k].Bbl, 4*large[k].Rate
	}
	for name, moves := range map[string][]tanktest.Move{"odd times": odd, "not there again": kept, "a truck's": large, "a group's": onAClock(4, 10700)} {
		well := tanktest.Well{Level0: 170, Inflow: 60, Moves: moves}
		r := newRig(t, well)
		if name == "a group's" {
			r = newRig(t, well, well)
			r.site.tanks[0].Group, r.site.tanks[1].Group = "A", "A"
		}
		r.run(0, 14*tanktest.Hour)
		if len(r.loads) < 3 {
			t.Errorf("%s: %d loads: %+v", name, len(r.loads), r.verdicts)
		}
		for _, l := range r.loads {
			if strings.Contains(strings.Join(l.Review, "; "), "on a clock") {
				t.Errorf("%s: %q", name, l.Review)
			}
		}
	}
}
