package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// inLumps adds to a well what comes for some minutes, and not for some others, again and again, and gives what came over a load.
func inLumps(w *tanktest.Well, load tanktest.Move, first, on, off, rate float64) (bbl float64) {
	for from := first; from < 12*tanktest.Hour; from += (on + off) * 60 {
		w.Moves = append(w.Moves, tanktest.Move{From: from, Bbl: -rate * on, Rate: rate})
		bbl += rate / 60 * math.Max(0, math.Min(load.End(), from+on*60)-math.Max(load.From, from))
	}
	return bbl + w.Inflow/86400*(load.End()-load.From)
}

// A well that comes in slugs, or whose pump goes on and off, shows in the fall under a truck's pump how much of it came meanwhile: a slug is a dent, and where the
// pump turns the fall bends. The average over hours may be off by a whole slug.
func TestLumpsShowInTheFall(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 175, Rate: 5}
	for name, x := range map[string]struct{ inflow, first, on, off, rate, every, within float64 }{
		"a slug amid it":         {inflow: 144, first: 8*tanktest.Hour + 900 - 7*3600, on: 7, off: 53, rate: 2, every: 60, within: 2},
		"no slug in it":          {inflow: 144, first: 8*tanktest.Hour - 1200 - 7*3600, on: 7, off: 53, rate: 2, every: 60, within: 1},
		"a slug before its end":  {inflow: 144, first: load.End() - 660 - 7*3600, on: 7, off: 53, rate: 2, every: 60, within: 2.5},
		"its pump turns amid it": {first: 8*tanktest.Hour + 900 - 10*2400, on: 20, off: 20, rate: 0.6, every: 15, within: 1.5},
		"its pump stops in it":   {first: 8*tanktest.Hour - 600 - 6*3900, on: 30, off: 35, rate: 0.6, every: 15, within: 1.5},
	} {
		w := tanktest.Well{Level0: 140, Inflow: x.inflow, Moves: []tanktest.Move{load}}
		came := inLumps(&w, load, x.first, x.on, x.off, x.rate)
		for at := 2.5 * tanktest.Hour; at < load.From; at += 3 * tanktest.Hour { // so that it does not run over
			w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: 60, Rate: 4})
		}
		r := newRig(t, w)
		r.every = x.every
		r.run(0, load.End()+1.5*tanktest.Hour)
		if len(r.loads) == 0 {
			t.Errorf("%s: no load", name)
			continue
		}
		l := r.loads[len(r.loads)-1]
		if off := math.Abs(l.InflowBbl - came); off > x.within || off > l.InflowErrorBbl || l.InflowErrorBbl > 6 || math.Abs(l.RemovedBbl-load.Bbl) > x.within+0.75 {
			t.Errorf("%s: want an inflow of %.1f: %.1f, give or take %.1f, removed %.1f of %g", name, came, l.InflowBbl, l.InflowErrorBbl, l.RemovedBbl, load.Bbl)
		}
	}
}

// A truck that stops for six minutes makes no slug, and shows what the well alone makes.
func TestAStopOfThePumpIsNoSlug(t *testing.T) {
	first, rest := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 90, Rate: 5}, tanktest.Move{From: 8*tanktest.Hour + 24*60, Bbl: 60, Rate: 5}
	all := tanktest.Move{From: first.From, Bbl: (rest.End() - first.From) / 60, Rate: 1}
	w := tanktest.Well{Level0: 140, Inflow: 144, Moves: []tanktest.Move{first, rest, {From: 3 * tanktest.Hour, Bbl: 60, Rate: 4}}}
	came := inLumps(&w, all, 8*tanktest.Hour-900-7*3600, 7, 53, 2)
	r := newRig(t, w)
	r.every = 30
	r.run(0, rest.End()+1.5*tanktest.Hour)
	if n := len(r.loads); n != 2 || math.Abs(r.loads[1].InflowBbl-came) > 1 || r.loads[1].Parts != 2 {
		t.Errorf("want a load in two parts with an inflow of %.1f: %+v", came, r.loads[n-1])
	}
}

// What a separator dumps every few minutes is no slug: many of its dumps fall into a load, and the average holds.
func TestDumpsAreNoSlugs(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 175, Rate: 5}
	w := tanktest.Well{Level0: 120, Moves: []tanktest.Move{load}}
	inLumps(&w, load, 100, 2, 6, 1)
	r := newRig(t, w)
	r.run(0, load.End()+1.5*tanktest.Hour)
	if want := 0.25 * (load.End() - load.From) / 60; len(r.loads) != 1 || math.Abs(r.loads[0].InflowBbl-want) > 1 {
		t.Errorf("want an inflow of %.1f: %+v", want, r.loads)
	}
}
