package tank

import (
	"math"
	"math/rand/v2"
	"testing"

	"gauger/agent/tank/tanktest"
)

// turnedDumps fills the first of two tanks by a separator's dumps, and the second between two times.
func turnedDumps(w []tanktest.Well, perDay, from, to float64) {
	lot, each := rand.New(rand.NewPCG(5, 8)), 0.8/perDay*86400
	for at := 100.; at < 12*tanktest.Hour; at += each * (0.9 + 0.2*lot.Float64()) {
		j := 0
		if at >= from && at < to {
			j = 1
		}
		w[j].Moves = append(w[j].Moves, tanktest.Move{From: at, Bbl: -0.8, Rate: 0.8 / 45 * 60})
	}
}

// Where the other tanks take in over a load what all wells make, none is left for this one: also where a hatch's gas, which comes back, hides
// from a pressure sensor that its tank stands, and where the well was turned too short a time before to tell from a pause.
func TestTheOthersTookAll(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 150, Rate: 5}
	for name, x := range map[string]struct {
		sensor       string
		before, back float64
	}{
		"radar, turned back":         {"radar", 1300, 600},
		"radar, turned for good":     {"radar", 1300, 1e6},
		"hydrostatic, turned back":   {"hydrostatic", 1300, 600},
		"hydrostatic, later, back":   {"hydrostatic", 2600, 300},
		"hydrostatic, for good":      {"hydrostatic", 1300, 1e6},
		"hydrostatic, an hour, gone": {"hydrostatic", 3600, 1e6},
	} {
		w := []tanktest.Well{{Level0: 120, Moves: []tanktest.Move{load}}, {Level0: 60}}
		turnedDumps(w, 150, load.From-x.before, load.End()+x.back)
		r := newRig(t, w...)
		r.every = 30
		lot := rand.New(rand.NewPCG(1, 2))
		for i := range r.site.tanks {
			r.site.tanks[i].Sensor = x.sensor
		}
		if x.sensor == "hydrostatic" {
			r.sensor = func(tank int, s, v float64) (float64, bool) {
				if tank == 0 { // its hatch is open until the pump draws
					if opened, shut := load.From-600, load.From-250; s > opened && s < shut {
						v -= 0.8
					} else if s >= shut && s < shut+1800 {
						v -= 0.8 * math.Exp(-(s-shut)/500)
					}
				}
				return math.Round((v+0.06*lot.NormFloat64())*100) / 100, true
			}
		}
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 || r.loads[0].InflowBbl > 0.3 {
			t.Errorf("%s: %+v", name, r.loads)
		}
	}
}

// A neighbour that a well of its own fills, as it did before, took nothing from this one.
func TestANeighboursOwnWellTakesNothing(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 150, Rate: 5}
	w := []tanktest.Well{{Level0: 120, Inflow: 150, Moves: []tanktest.Move{load}}, {Level0: 60, Inflow: 150}}
	r := newRig(t, w...)
	r.run(0, load.End()+2*tanktest.Hour)
	r.inflowIs("a well each", 150*(load.End()-load.From)/86400, 0.5, 2)
}

// Nor did one whose well comes on before the load, or amid it, or goes on and off: this one filled meanwhile as ever, or does behind it.
func TestANeighboursWellThatComesOnTakesNothing(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 180, Rate: 4}
	goes := func(from, long, each float64, bblMin float64) (all []tanktest.Move) {
		for ; from < 12*tanktest.Hour; from += each {
			all = append(all, tanktest.Move{From: from, Bbl: -bblMin * long / 60, Rate: bblMin})
		}
		return all
	}
	for name, moves := range map[string][]tanktest.Move{
		"half an hour before":       goes(load.From-1800, 4*tanktest.Hour, 1e6, 0.3),
		"half an hour before, more": goes(load.From-1800, 4*tanktest.Hour, 1e6, 0.5),
		"an hour before":            goes(load.From-3600, 4*tanktest.Hour, 1e6, 0.3),
		"ten minutes before":        goes(load.From-600, 4*tanktest.Hour, 1e6, 0.3),
		"as it starts":              goes(load.From, 4*tanktest.Hour, 1e6, 0.35),
		"amid it":                   goes(load.From+900, 4*tanktest.Hour, 1e6, 0.4),
		"20 of 80 minutes":          goes(2200, 1200, 4800, 0.8),
		"20 of 80 minutes, later":   goes(3400, 1200, 4800, 0.8),
		"10 of 30 minutes":          goes(1000, 600, 1800, 0.6),
		"an hour of three":          goes(1000, 3600, 10800, 0.6),
	} {
		w := []tanktest.Well{{Level0: 120, Inflow: 0.3 * 1440, Moves: []tanktest.Move{load}}, {Level0: 30, Moves: moves}}
		r := newRig(t, w...)
		r.every = 30
		r.run(0, load.End()+2*tanktest.Hour)
		r.inflowIs(name, 0.3*(load.End()-load.From)/60, 0.8, 4)
	}
}
