package tank

import (
	"math"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// A rod falls faster than oil does, hangs, and is drawn up and let down as slowly as oil moves for longer than a confirmation takes, before
// it is let in again: nothing is decided while it moves.
func TestARodThatMovesOn(t *testing.T) {
	from := 4 * tanktest.Hour
	at := [][2]float64{{0, 150}, {130, 84}, {300, 82}, {750, 16}, {1200, 16}, {1750, 70}, {2400, 45}, {2900, 107}, {3600, 66}, {4500, 66}}
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 0})
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		since := s - from
		for k := 1; k < len(at); k++ {
			if a, b := at[k-1], at[k]; since >= a[0] && since < b[0] {
				return a[1] + (b[1]-a[1])*(since-a[0])/(b[0]-a[0]), true
			}
		}
		return v, true
	}
	r.run(0, 9*tanktest.Hour)
	r.matches(0, 0)
}

// The readings stop while the pump draws, just behind a wave that looks like the end of it: a link that is away, or the power. What
// they show when they come again belongs to the same truck.
func TestReadingsStopBehindAWave(t *testing.T) {
	truck := tanktest.Move{From: 3 * tanktest.Hour, Bbl: 170, Rate: 6}
	w := tanktest.Well{Level0: 210, Inflow: 40, Moves: []tanktest.Move{truck}}
	wave := []float64{0.97, 1.26, 0.8, 0.91, 0.32} // in, the newest reading first
	for late := 0.0; late < 60; late += 10 {       // the state is stored once a minute
		for _, powerLost := range []bool{false, true} {
			r := newRig(t, w)
			r.ticks = true
			away, back := truck.From+900+late, truck.From+5400
			r.sensor = func(_ int, s, v float64) (float64, bool) {
				if k := int(away-s-1) / 10; s < away && k < len(wave) {
					v += wave[k]
				}
				return v, s < away || s >= back
			}
			r.run(0, away)
			if powerLost {
				r.kill(back - 5)
				r.run(back, back+3*tanktest.Hour)
			} else {
				r.run(away, back+3*tanktest.Hour)
			}
			if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-truck.Bbl) > 4 {
				t.Errorf("%.0f s later, power lost %t: %d loads, want the one of %g bbl: %+v", late, powerLost, len(r.loads), truck.Bbl, r.loads)
			}
		}
	}
}

// Loads of this tank are as large as a part of one with a stop: another truck may have come.
func TestAPartAsLargeAsTheUsualLoadAsks(t *testing.T) {
	for _, usual := range []float64{60, 150} {
		w := tanktest.Well{Level0: 215, Inflow: 30}
		for at := 3 * tanktest.Hour; at < 10*tanktest.Hour; at += 3 * tanktest.Hour {
			w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: usual, Rate: 6}, tanktest.Move{From: at + 1.5*tanktest.Hour, Bbl: -usual, Rate: 2})
		}
		w.Moves = append(w.Moves, tanktest.Move{From: 13 * tanktest.Hour, Bbl: 130, Rate: 6}, tanktest.Move{From: 13*tanktest.Hour + 1300 + 480, Bbl: 60, Rate: 6})
		r := newRig(t, w)
		r.run(0, 16*tanktest.Hour)
		if l := r.loads[len(r.loads)-1]; math.Abs(l.GaugeBbl-190) > 2 || said(l, "one truck or two") != (usual < 100) {
			t.Errorf("usually %g bbl: %.1f bbl asks %q, says %q", usual, l.GaugeBbl, l.Review, l.Remarks)
		}
	}
}

// Two draws minutes apart at unlike rates are no truck with a pause: two tickets where each is a load, that ask as far as one truck and its trailer hold
// both, or one that asks. A driver who opens his valve further is one truck.
func TestAnotherPumpMinutesFromALoadIsNoPause(t *testing.T) {
	for _, c := range []struct {
		first, rate, pause, second, other float64
		loads                             int
		asks                              bool
	}{
		{71, 4, 330, 131, 9, 2, true}, {100, 6, 600, 60, 1.4, 2, true}, {180, 7, 330, 150, 3.3, 2, false},
		{57, 4.3, 490, 15.5, 1.5, 1, true}, {90, 5, 300, 90, 7, 1, false},
	} {
		a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: c.first, Rate: c.rate}
		b := tanktest.Move{From: a.End() + c.pause, Bbl: c.second, Rate: c.other}
		w := tanktest.Well{Level0: 210, Inflow: 30, Moves: []tanktest.Move{a, b}}
		r := newRig(t, w)
		r.run(0, 8*tanktest.Hour)
		if want := []label{labelOf(w, a, a), labelOf(w, b, b)}; c.loads == 2 {
			r.matches(0.1, 30, want...)
		} else {
			r.matches(0.1, 30, labelOf(w, a, b))
		}
		for _, l := range r.loads {
			if len(l.Review) > 0 != c.asks {
				t.Errorf("%+v: asks %q", c, l.Review)
			}
		}
	}
}

// A sensor of so much noise that a fall is looked for over minutes hides the stop between two trucks, which are two tickets all the same.
func TestTwoTrucksWhoseStopTheNoiseHidesAreTwo(t *testing.T) {
	for _, c := range []struct{ every, noise, pause, rate float64 }{{15, 26, 500, 7}, {15, 26, 500, 5}, {30, 20, 420, 7}} {
		a := tanktest.Move{From: 5 * tanktest.Hour, Bbl: 160, Rate: c.rate}
		b := tanktest.Move{From: a.End() + c.pause, Bbl: 180, Rate: c.rate}
		r := newRig(t, tanktest.Well{Level0: 215, Moves: []tanktest.Move{a, b}})
		r.every, r.site.tanks[0].Sensor = c.every, "ultrasonic"
		r.sensor = func(_ int, s, v float64) (float64, bool) { return v + c.noise*tanktest.Radar(4, s, 0), true }
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 2 {
			t.Fatalf("%+v: %d loads: %+v", c, len(r.loads), r.loads)
		}
		for k, want := range []float64{a.Bbl, b.Bbl} {
			if l := r.loads[k]; math.Abs(l.GaugeBbl-want) > l.ErrorBbl || l.ErrorBbl > 10 {
				t.Errorf("%+v: load %d of %.1f bbl, give or take %.1f, want %.0f", c, k, l.GaugeBbl, l.ErrorBbl, want)
			}
		}
	}
}

// A truck that takes what it holds with a stop between two readings, and a well that is shut in for it: what is stretched beyond them makes no
// second truck.
func TestAStopBetweenTwoReadingsIsOneTruck(t *testing.T) {
	at := 6 * tanktest.Hour
	w := tanktest.Well{Level0: 60, Moves: []tanktest.Move{{From: 0, Bbl: -180, Rate: 0.5}, {From: at, Bbl: 72, Rate: 5}, {From: at + 1464, Bbl: 126, Rate: 5}}}
	r := newRig(t, w)
	r.every, r.site.tanks[0].Sensor, r.site.tanks[0].Every = 300, "hydrostatic", 5*time.Minute
	r.run(0, 10*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-198) > 3 {
		t.Errorf("want one load of 198 bbl: %+v", r.loads)
	}
}

// A slug of its wells comes into the neighbour in the first minutes of a load: the tank that loads fell from then on as the pump draws, of which
// its readings tell as well where they report only changes.
func TestASlugInTheNeighbourIsNoPartOfALoad(t *testing.T) {
	load := tanktest.Move{From: 10 * tanktest.Hour, Bbl: 80, Rate: 2}
	slugs := tanktest.Well{Level0: 60}
	for at := 1 * tanktest.Hour; at < 14*tanktest.Hour; at += 3 * tanktest.Hour {
		slugs.Moves = append(slugs.Moves, tanktest.Move{From: at, Bbl: -9, Rate: 0.75})
	}
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 10, Moves: []tanktest.Move{load}}, slugs)
	r.every = 20
	var told, at [2]float64
	r.sensor = func(i int, s, v float64) (float64, bool) {
		if v = tanktest.Radar(i, s, v); math.Abs(v-told[i]) < 0.3 && s-at[i] < 1200 {
			return 0, false
		}
		told[i], at[i] = v, s
		return v, true
	}
	for i := range r.site.tanks {
		r.site.tanks[i].Every = 0
	}
	r.run(0, 13*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-80) > 1.5 {
		t.Errorf("want one load of 80 bbl: %+v, events %+v", r.loads, r.events)
	}
}

// A sensor without noise stands still in a tank that was shut off for its load, and did not hang: the next tank takes what it had made, from the
// same minute on. Nobody is asked, and nobody waits for it to move. Beside one that fills as it did all along it may have hung.
func TestATankThatWasShutOffForItsLoadDidNotHang(t *testing.T) {
	load := tanktest.Move{From: 9 * tanktest.Hour, Bbl: 150, Rate: 6}
	fill := func(from, to float64) tanktest.Move {
		return tanktest.Move{From: from, Bbl: (from - to) / 60 * 0.4, Rate: 0.4}
	}
	off, back, last := load.From-1500, load.End()+1200, 14*tanktest.Hour
	const before = "value stood still for 25 min until it was under way"
	const behind = "value stood still at its closing for 4.0 h"
	for name, c := range map[string]struct {
		back  float64 // when the well is turned to it again
		other []tanktest.Move
		says  string
	}{
		"turned to the next":                 {back, []tanktest.Move{fill(off, back)}, ""},
		"turned to one that stood for hours": {back, []tanktest.Move{fill(0, tanktest.Hour), fill(off, back)}, ""},
		"shut in":                            {back, nil, before},
		"another fills the next":             {back, []tanktest.Move{fill(0, last)}, before},
		"stays with the next":                {last, []tanktest.Move{fill(off, last)}, ""},
		"stays shut in":                      {last, nil, behind},
		"another, all along":                 {last, []tanktest.Move{fill(0, last)}, behind},
	} {
		wells := []tanktest.Well{{Level0: 70, Moves: []tanktest.Move{fill(0, off), load, fill(c.back, last)}}}
		if c.other != nil {
			wells = append(wells, tanktest.Well{Level0: 60, Moves: c.other})
		}
		r := newRig(t, wells...)
		r.every = 60
		r.sensor = func(i int, s, _ float64) (float64, bool) {
			v := wells[i].Level(s)
			if c.back == last && s > load.From-800 { // its last digit moves before the load, and behind it none
				v += 0.01
			}
			return math.Round(v*100) / 100, i == 0 || !strings.Contains(name, "hours") || s < 2*tanktest.Hour || s > off // else it has no samples
		}
		r.run(0, last)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-load.Bbl) > 0.5 {
			t.Fatalf("%s: want one load of %g bbl: %+v", name, load.Bbl, r.loads)
		}
		asksFor(t, r.loads[0], c.says)
		if c.says == "" && (r.told[0] > load.End()+tanktest.Hour || r.loads[0].ErrorBbl > 2.5) {
			t.Errorf("%s: told %.1f h after it, its error is %.1f bbl", name, (r.told[0]-load.End())/tanktest.Hour, r.loads[0].ErrorBbl)
		}
	}
}

// Two trucks at a strong well, minutes apart: they took more than one holds, although the gauges tell of less.
func TestTwoTrucksAtAStrongWellAreTwo(t *testing.T) {
	a := tanktest.Move{From: 2 * tanktest.Hour, Bbl: 130, Rate: 5}
	b := tanktest.Move{From: a.End() + 720, Bbl: 130, Rate: 5}
	w := tanktest.Well{Level0: 60, Inflow: 2160, Moves: []tanktest.Move{a, b}}
	r := newRig(t, w)
	r.run(0, 4.2*tanktest.Hour)
	r.matches(0.5, 30, labelOf(w, a, a), labelOf(w, b, b))
}
