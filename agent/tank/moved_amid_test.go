package tank

import (
	"testing"

	"gauger/agent/tank/tanktest"
)

// A small part of a draw that a pump moves to another tank while a truck loads is none of the truck's, and asks. What the other tank's own well brings it, as
// it did before, or this one's well that is turned there, does not.
func TestALittleThatMovesAmidALoadAsks(t *testing.T) {
	load := tanktest.Move{From: 14 * tanktest.Hour, Bbl: 180, Rate: 4.5}
	lumps := func(from, each, bbl, rate float64) (all []tanktest.Move) {
		for ; from < 18*tanktest.Hour; from += each {
			all = append(all, tanktest.Move{From: from, Bbl: -bbl, Rate: rate})
		}
		return all
	}
	const asks = "tank TK-2 rose by"
	for name, c := range map[string]struct {
		moved  float64 // bbl
		steady float64 // bbl a day into the other tank
		well   []tanktest.Move
		why    string
	}{
		"20 bbl":                 {20, 0, nil, asks},
		"12 bbl":                 {12, 0, nil, asks},
		"8 bbl, beside its well": {8, 70, nil, asks},
		"4 bbl, fast":            {4, 0, nil, asks},
		"a barrel":               {1, 0, nil, ""},
		"nothing":                {0, 150, nil, ""},
		"its dumps":              {0, 0, lumps(1000, 2400, 3, 2.5), ""},
		"its plunger":            {0, 0, lumps(load.From+600-8*5400, 5400, 6, 1.6), ""},
		"its seldom slugs":       {0, 20, lumps(load.From+900-2*5*tanktest.Hour, 5*tanktest.Hour, 9, 2), ""},
		"its timer":              {0, 0, lumps(load.From+300-6*7200, 7200, 12, 0.8), ""},
		"a step of its sensor":   {0, 0, []tanktest.Move{{From: load.From + 500, Bbl: -9, Rate: 600}}, ""},
		"its well comes on":      {0, 0, []tanktest.Move{{From: load.From + 500, Bbl: -200, Rate: 0.6}}, ""},
	} {
		w := []tanktest.Well{{Level0: 160, Inflow: 60, Moves: []tanktest.Move{load}}, {Level0: 60, Inflow: c.steady, Moves: c.well}}
		if at := load.From + 720; c.moved > 0 {
			w[0].Moves = append(w[0].Moves, tanktest.Move{From: at, Bbl: c.moved, Rate: 2})
			w[1].Moves = append(w[1].Moves, tanktest.Move{From: at, Bbl: -c.moved, Rate: 2})
		}
		r := newRig(t, w...)
		r.every = 30
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%s: %+v", name, r.loads)
		}
		t.Run(name, func(t *testing.T) { asksFor(t, r.loads[0], c.why) })
	}
}
