package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// What was rolled through a heater hours long comes back slower than a truck unloads, but as the well never does, as much as had left, and then no more.
// A well that is turned back into the tank brings more or less than that, and a strong one has brought as much before.
func TestOilThatComesBackSlowlyCorrectsTheTicket(t *testing.T) {
	out := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 44, Rate: 2.5}
	for name, c := range map[string]struct {
		inflow, bbl, rate float64
		corrected         int
	}{
		"as much":         {60, 44, 0.86, 1},
		"slower":          {60, 44, 0.5, 1},
		"more":            {60, 70, 0.86, 0},
		"a part":          {60, 20, 0.86, 0},
		"as its well can": {700, 44, 0.5, 0},
	} {
		r := newRig(t, tanktest.Well{Level0: 96, Inflow: c.inflow, Moves: []tanktest.Move{out, {From: out.End() + 3*tanktest.Hour, Bbl: -c.bbl, Rate: c.rate}}})
		r.run(0, 16*tanktest.Hour)
		if len(r.loads) != 1 || len(r.corrections) != c.corrected {
			t.Errorf("%s: %+v %+v", name, r.loads, r.corrections)
		}
	}
}

// What an oiler heats comes back at its pump's rate, all of it: noise that rises as fast for a moment before that does not hide it, nor that it begins
// almost as late as one waits.
func TestOilThatComesBackBehindNoiseIsSeen(t *testing.T) {
	d := draw{end: 2400, opening: gauge{level: 46}, closing: gauge{level: 34}}
	for name, from := range map[string]float64{"soon": 3600, "late": 2400 + rolledPause - 60} {
		var all []point
		for at := d.end + 60; at < from+3600; at += nodeEvery {
			n := point{t: at, v: 34 + math.Max(0, math.Min(12, (at-from)/150))}
			if at >= d.end+240 && at < d.end+330 {
				n.v += 0.7
			}
			all = append(all, n)
		}
		if pump := broughtBack(all, d); pump.lo < 11 || pump.hi > 12.1 {
			t.Errorf("%s: %+v", name, pump)
		}
	}
}
