package tank

import (
	"fmt"
	"math"
	"testing"
)

// The box is away and comes back while trucks load. What no reading tells of the other tank, be it
// behind the gap or behind a false first reading, is no evidence that a load went into it.
func TestALoadBesideATankThatAGapHid(t *testing.T) {
	up := 5 * hour
	for name, moves := range map[string][]move{
		"idle":               nil,
		"drawn":              {{up, 92, 6}},
		"drawn earlier":      {{up - 600, 92, 6}},
		"drawn later":        {{up + 400, 92, 6}},
		"filled":             {{up - 1400, -40, 0.5}},
		"filled, drawn":      {{up - 1400, -30, 1.2}, {up, 92, 6}},
		"filled fast, drawn": {{up - 600, -45, 4.5}, {up + 200, 92, 6}},
	} {
		for _, first := range []float64{0, 1e-42, math.NaN(), 240, 120} {
			for _, gap := range []float64{1500, 2 * hour} {
				for _, lead := range []float64{300, 600} {
					besideHidden(t, fmt.Sprintf("other tank %s, gap of %v s, first reading %v, %v s before", name, gap, first, lead), moves, up, gap, lead, first)
				}
			}
		}
	}
}

// besideHidden hauls TK-1 and TK-3 from lead seconds before the end of a gap, at which TK-2 shows
// first a false level.
func besideHidden(t *testing.T, what string, moves []move, up, gap, lead, first float64) {
	r := newRig(t,
		well{level0: 110, inflow: 200, moves: []move{{up - lead, 94, 6}}},
		well{level0: 105, inflow: 200, moves: moves},
		well{level0: 90, inflow: 200, moves: []move{{up - lead + 60, 110, 6}}})
	r.sensor = func(i int, s, v float64) (float64, bool) {
		if i == 1 && s == up {
			v = first
		}
		return v, s < up-gap || s >= up
	}
	r.run(2*hour, 6.7*hour)
	found := map[string]int{}
	for _, l := range r.loads {
		found[l.Tank]++
	}
	hauled := 0
	if len(moves) > 0 && moves[len(moves)-1].bbl > 0 {
		hauled = 1
	}
	if found["TK-1"] != 1 || found["TK-3"] != 1 || found["TK-2"] != hauled || r.rules()["transfer"] > 0 {
		t.Errorf("%s: loads %v, want one of TK-1, of TK-3 and %d of TK-2; %+v", what, found, hauled, r.events)
	}
}

// One tank cannot take in the oil of two: what it did not rise by is a load, for a person where
// nobody can tell which of them it was.
func TestOneRiseExplainsNoTwoDraws(t *testing.T) {
	for _, c := range []struct {
		name             string
		moved, load      move
		transfers, loads int
		doubtful         bool
	}{
		{"the load is greater", move{4 * hour, 100, 5}, move{4*hour + 120, 160, 6}, 1, 1, false},
		{"the load is smaller", move{4 * hour, 160, 5}, move{4*hour + 120, 90, 6}, 1, 1, true},
		{"the load is later", move{4 * hour, 110, 5}, move{4*hour + 600, 110, 6}, 1, 1, false},
		{"nobody can tell", move{4 * hour, 110, 5}, move{4*hour + 60, 112, 5}, 0, 2, true},
	} {
		in := move{c.moved.from + 10, -c.moved.bbl, c.moved.rate}
		r := newRig(t, well{level0: 180, moves: []move{c.moved}}, well{level0: 40, moves: []move{in}}, well{level0: 170, moves: []move{c.load}})
		r.run(0, 7*hour)
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
	a, b := move{4 * hour, 60, 3}, move{4*hour + 300, 70, 3}
	r := newRig(t, well{level0: 120, moves: []move{a}}, well{level0: 30, moves: []move{{a.from, -60, 3}, {b.from, -70, 3}}}, well{level0: 110, moves: []move{b}})
	r.run(0, 7*hour)
	r.matches(0, 0)
	if got := r.rules(); got["transfer"] != 2 || len(got) != 1 {
		t.Errorf("events %v", got)
	}
}
