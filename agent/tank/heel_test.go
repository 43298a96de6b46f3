package tank

import (
	"math"
	"testing"
	"time"

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

// A well of 1,200 bbl a day is read every ten minutes, 4.9 in apart. Of the three readings behind a fall the first was still on its way where
// the second is no 4.9 in above it and the third is above that.
func TestAReadingThatWasStillOnItsWay(t *testing.T) {
	const made = 4.9 / 600
	for name, c := range map[string]struct {
		every  float64
		levels [3]float64
		closes float64 // in; 0: at the first reading, carried back
		step   float64
		short  float64
		strays float64 // in²/s
	}{
		"on its way":             {600, [3]float64{18.74, 19.51, 24.41}, 0, 0, 4.13, 0},
		"at rest":                {600, [3]float64{15.3, 20.2, 25.1}, 0, 0, 0, 0},
		"the well pauses":        {600, [3]float64{18.74, 19.51, 20.3}, 0, 0, 0, 0},
		"read every ten seconds": {10, [3]float64{18.74, 18.75, 18.83}, 0, 0, 0, 0},
		"a well that dumps":      {600, [3]float64{18.74, 19.51, 24.41}, 0, 0, 4.13 - 3, 0.015},
		"no part of the closing": {600, [3]float64{18.74, 19.51, 24.41}, 14.45, 0, 0, 0}, // which the rest tells
		"in steps of half an in": {60.0 * 6, [3]float64{18.5, 20.5, 23.5}, 0, 0.5, 0, 0}, // 2.94 in each
	} {
		ts := &tankState{}
		ts.interval.usual = c.every
		for k, v := range c.levels {
			ts.levels.recent = append(ts.levels.recent, sample{t: 1020 + float64(k)*c.every, v: float32(v), n: 1})
		}
		if c.closes == 0 {
			c.closes = c.levels[0] - 20*made
		}
		got := stillOnItsWay(ts, &Tank{}, draw{end: 1000, closing: gauge{level: c.closes}, next: math.Inf(1), inflowBefore: made, inflowAfter: made, inflow: production{variance: c.strays}, resolution: resolution{step: c.step}})
		if math.Abs(math.Max(got, 0)-c.short) > 0.01 {
			t.Errorf("%s: %.2f in, want %.2f", name, got, c.short)
		}
	}
}

// A truck of 60 bbl stops for 3 min before its last 20, polled each minute: its end is where the level fell last, and not minutes later where a line
// through the stop would have met the rest.
func TestAStopBeforeTheLastMinutes(t *testing.T) {
	first := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 40, Rate: 5.5}
	last := tanktest.Move{From: first.End() + 172, Bbl: 20, Rate: 5.5}
	w := tanktest.Well{Level0: 20, Inflow: 400, Moves: []tanktest.Move{first, last}}
	r := newRig(t, w)
	r.every, r.site.tanks[0].Every, r.site.tanks[0].Sensor = 60, time.Minute, "hydrostatic"
	r.run(0, 9*tanktest.Hour)
	r.matches(0.4, 60, labelOf(w, first, last))
}

// A slow end that is read each two minutes falls from each reading to the next by half of the least rate; a pump that stood still meanwhile
// did not go on, and what is silent for longer says nothing.
func TestASlowEndGoesOnBetweenReadingsTwoMinutesApart(t *testing.T) {
	f := fallFinder{slope: 0.01, gap: 1800, part: 3, half: slopeHalf}
	for _, c := range []struct {
		dt, fell float64
		on       bool
	}{{60, 0, true}, {120.6, 0.7, true}, {120.6, 0.5, false}, {300, 2, false}, {300, 4, true}, {3600, 2.9, false}, {3600, 3.1, true}} {
		if got := f.goesOn(point{0, 80}, point{c.dt, 80 - c.fell}); got != c.on {
			t.Errorf("%g in within %g s go on: %t", c.fell, c.dt, got)
		}
	}
}

// A box was dead from hours before a load until the pump ran: how much had left is not known, of a sensor that reports only changes either. It
// asks, and its error holds what the well may have made.
func TestALoadThatBeganWhileNothingWasRead(t *testing.T) {
	w := aWell
	w.Level0, w.Inflow = 60, 300
	load := tanktest.Move{From: 9 * tanktest.Hour, Bbl: 140, Rate: 4}
	w.Moves = []tanktest.Move{load}
	r := newRig(t, w)
	changes, dead := exceptions(0.25, 4*tanktest.Hour), hide(load.From-5*tanktest.Hour, load.From+600)
	r.sensor = func(i int, t, v float64) (float64, bool) {
		if _, on := dead(i, t, v); !on {
			return v, false
		}
		return changes(i, t, math.Round(4*v)/4)
	}
	r.run(0, 14*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].ErrorBbl < 30 {
		t.Fatalf("40 bbl had left unseen: %+v", r.loads)
	}
	asksFor(t, r.loads[0], "before its first reading")
}
