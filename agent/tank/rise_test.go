package tank

import (
	"fmt"
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// The box is away and comes back while trucks load. What no reading tells of the other tank, be it
// behind the gap or behind a false first reading, is no evidence that a load went into it.
func TestALoadBesideATankThatAGapHid(t *testing.T) {
	up := 5 * tanktest.Hour
	for name, moves := range map[string][]tanktest.Move{
		"idle":               nil,
		"drawn":              {{From: up, Bbl: 92, Rate: 6}},
		"drawn earlier":      {{From: up - 600, Bbl: 92, Rate: 6}},
		"drawn later":        {{From: up + 400, Bbl: 92, Rate: 6}},
		"filled":             {{From: up - 1400, Bbl: -40, Rate: 0.5}},
		"filled, drawn":      {{From: up - 1400, Bbl: -30, Rate: 1.2}, {From: up, Bbl: 92, Rate: 6}},
		"filled fast, drawn": {{From: up - 600, Bbl: -45, Rate: 4.5}, {From: up + 200, Bbl: 92, Rate: 6}},
	} {
		for _, first := range []float64{0, 1e-42, math.NaN(), 240, 120} {
			for _, gap := range []float64{1500, 2 * tanktest.Hour} {
				for _, lead := range []float64{300, 600} {
					besideHidden(t, fmt.Sprintf("other tank %s, gap of %v s, first reading %v, %v s before", name, gap, first, lead), moves, up, gap, lead, first)
				}
			}
		}
	}
}

// besideHidden hauls TK-1 and TK-3 from lead seconds before the end of a gap, at which TK-2 shows
// first a false level.
func besideHidden(t *testing.T, what string, moves []tanktest.Move, up, gap, lead, first float64) {
	r := newRig(t,
		tanktest.Well{Level0: 110, Inflow: 200, Moves: []tanktest.Move{{From: up - lead, Bbl: 94, Rate: 6}}},
		tanktest.Well{Level0: 105, Inflow: 200, Moves: moves},
		tanktest.Well{Level0: 90, Inflow: 200, Moves: []tanktest.Move{{From: up - lead + 60, Bbl: 110, Rate: 6}}})
	r.sensor = func(i int, s, v float64) (float64, bool) {
		if i == 1 && s == up {
			v = first
		}
		return v, s < up-gap || s >= up
	}
	r.run(2*tanktest.Hour, 6.7*tanktest.Hour)
	found := map[string]int{}
	for _, l := range r.loads {
		found[l.Tank]++
	}
	hauled := 0
	if len(moves) > 0 && moves[len(moves)-1].Bbl > 0 {
		hauled = 1
	}
	if failed := tanktest.Failed(map[string]bool{
		"TK-1":     found["TK-1"] != 1,
		"TK-3":     found["TK-3"] != 1,
		"TK-2":     found["TK-2"] != hauled,
		"transfer": r.rules()["transfer"] > 0,
	}); failed != "" {
		t.Errorf("%s: %s: loads %v, want one of TK-1, of TK-3 and %d of TK-2; %+v", failed, what, found, hauled, r.events)
	}
}

// One tank cannot take in the oil of two: what it did not rise by is a load, for a person where
// nobody can tell which of them it was.
func TestOneRiseExplainsNoTwoDraws(t *testing.T) {
	for _, c := range []struct {
		name             string
		moved, load      tanktest.Move
		transfers, loads int
		doubtful         bool
	}{
		{"the load is greater", tanktest.Move{From: 4 * tanktest.Hour, Bbl: 100, Rate: 5}, tanktest.Move{From: 4*tanktest.Hour + 120, Bbl: 160, Rate: 6}, 1, 1, false},
		{"the load is smaller", tanktest.Move{From: 4 * tanktest.Hour, Bbl: 160, Rate: 5}, tanktest.Move{From: 4*tanktest.Hour + 120, Bbl: 90, Rate: 6}, 1, 1, true},
		{"the load is later", tanktest.Move{From: 4 * tanktest.Hour, Bbl: 110, Rate: 5}, tanktest.Move{From: 4*tanktest.Hour + 600, Bbl: 110, Rate: 6}, 1, 1, false},
		{"nobody can tell", tanktest.Move{From: 4 * tanktest.Hour, Bbl: 110, Rate: 5}, tanktest.Move{From: 4*tanktest.Hour + 60, Bbl: 112, Rate: 5}, 0, 2, true},
	} {
		in := tanktest.Move{From: c.moved.From + 10, Bbl: -c.moved.Bbl, Rate: c.moved.Rate}
		r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{c.moved}}, tanktest.Well{Level0: 40, Moves: []tanktest.Move{in}}, tanktest.Well{Level0: 170, Moves: []tanktest.Move{c.load}})
		r.run(0, 7*tanktest.Hour)
		if got := r.rules()["transfer"]; got != c.transfers || len(r.loads) != c.loads || r.loads[c.loads-1].Tank != "TK-3" {
			t.Errorf("%s: %d transfers and %d loads %+v; %+v", c.name, got, len(r.loads), r.loads, r.events)
			continue
		}
		for _, l := range r.loads {
			if said(l, "TK-2 rose") != c.doubtful {
				t.Errorf("%s: %s is reviewed for %q", c.name, l.Tank, l.Review)
			}
		}
	}
}

// Two tanks that are pumped into a third one sell nothing.
func TestTwoTanksMovedIntoOneAreTransfers(t *testing.T) {
	a, b := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 60, Rate: 3}, tanktest.Move{From: 4*tanktest.Hour + 300, Bbl: 70, Rate: 3}
	r := newRig(t, tanktest.Well{Level0: 120, Moves: []tanktest.Move{a}}, tanktest.Well{Level0: 30, Moves: []tanktest.Move{{From: a.From, Bbl: -60, Rate: 3}, {From: b.From, Bbl: -70, Rate: 3}}}, tanktest.Well{Level0: 110, Moves: []tanktest.Move{b}})
	r.run(0, 7*tanktest.Hour)
	r.matches(0, 0)
	if got := r.rules(); got["transfer"] != 2 || len(got) != 1 {
		t.Errorf("events %v", got)
	}
}

// In the first minutes of a new store nobody knows what the wells make: what another tank did before the fall, and goes on doing, is no
// transfer into it.
func TestInflowThatNobodyKnowsYetIsNoTransfer(t *testing.T) {
	well := tanktest.Well{Level0: 60, Inflow: 45 * 24}
	hauled := well
	hauled.Level0, hauled.Moves = 180, []tanktest.Move{{From: 600, Bbl: 130, Rate: 6}}
	r := newRig(t, hauled, well, well, well, well, well)
	r.run(0, 3*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-130+22*0.75) > 6 {
		t.Errorf("loads %+v, events %+v", r.loads, r.events)
	}
}

// A truck loads, and right behind or before it the rest of the tank is moved next door: the levels of the two tell where one ends and the
// other begins. The ticket has the truck's, asks, and what moved is a transfer.
func TestALoadAndATransferBehindEachOtherAreTwo(t *testing.T) {
	for _, c := range []struct {
		load, moved float64 // bbl a minute
		first       bool    // the load is
		pause, bbl  float64 // that moved
	}{{5.7, 2.9, true, 40, 60}, {5.7, 2.9, true, 0, 60}, {4, 7, true, 60, 60}, {5.4, 5.3, false, 180, 60}, {3, 6, false, 0, 60}, {3, 1.6, false, 60, 170}} {
		load, moved := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 125, Rate: c.load}, tanktest.Move{From: 4 * tanktest.Hour, Bbl: c.bbl, Rate: c.moved}
		if c.first {
			moved.From = load.End() + c.pause
		} else {
			load.From = moved.End() + c.pause
		}
		w := tanktest.Well{Level0: 200, Moves: []tanktest.Move{load, moved}}
		r := newRig(t, w, tanktest.Well{Level0: 60, Inflow: 100, Moves: []tanktest.Move{{From: moved.From + 5, Bbl: -c.bbl, Rate: c.moved}}})
		r.run(0, 8*tanktest.Hour)
		r.matches(0.5, 30, labelOf(w, load, load))
		r.only("transfer")
		if len(r.loads) == 1 && (!said(r.loads[0], "TK-2 rose") || math.Abs(r.loads[0].GaugeBbl-125) > r.loads[0].ErrorBbl || math.Abs(r.events[0].Bbl-c.bbl) > 1) {
			t.Errorf("%+v: %+v, %+v", c, r.loads[0], r.events)
		}
	}
}
