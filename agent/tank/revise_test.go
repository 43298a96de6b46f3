package tank

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// corrected checks that there is one correction, of the first load, whose note has a text.
func (r *rig) corrected(text string) {
	r.t.Helper()
	if len(r.loads) == 0 || len(r.corrections) != 1 {
		r.t.Fatalf("%d loads and the corrections %+v, want one", len(r.loads), r.corrections)
	}
	c := r.corrections[0]
	if c.Tank != r.loads[0].Tank || !c.Began.Equal(r.loads[0].Began) || !strings.Contains(c.Note, text) {
		r.t.Errorf("correction %+v of the load from %v, want %q", c, r.loads[0].Began, text)
	}
}

func TestOilThatComesBackAfterTheTicketCorrectsIt(t *testing.T) {
	w := tanktest.Well{Level0: 180, Inflow: 60, Moves: []tanktest.Move{aLoad, {From: aLoad.End() + 3*tanktest.Hour, Bbl: -0.8 * aLoad.Bbl, Rate: 4}}}
	r := newRig(t, w)
	r.run(0, aLoad.End()+2*tanktest.Hour)
	r.kill(aLoad.End() + 2*tanktest.Hour) // what was reported is remembered over a restart
	r.run(aLoad.End()+2*tanktest.Hour+30, 12*tanktest.Hour)
	r.corrected("came back within")
	if len(r.loads) != 1 {
		t.Errorf("%d loads, want 1", len(r.loads))
	}
}

// What a hose let back in an hour after the load, and a well that was shut in then, hide no return hours later.
func TestOilThatComesBackLateCorrectsTheTicket(t *testing.T) {
	made := (aLoad.End() + 1.2*tanktest.Hour) * 60 / 86400
	w := tanktest.Well{Level0: 180, Moves: []tanktest.Move{{Bbl: -made, Rate: 60.0 / 1440}, aLoad,
		{From: aLoad.End() + tanktest.Hour, Bbl: -9, Rate: 4}, {From: aLoad.End() + 14*tanktest.Hour, Bbl: -0.7 * aLoad.Bbl, Rate: 4}}}
	r := newRig(t, w)
	r.run(0, aLoad.End()+17*tanktest.Hour)
	r.corrected("came back within")
}

func TestOrdinaryDaysCorrectNothing(t *testing.T) {
	next := tanktest.Move{From: aLoad.From + 20*tanktest.Hour, Bbl: 170, Rate: 6}
	for name, w := range map[string]tanktest.Well{
		"much production":       {Level0: 180, Inflow: 500, Moves: []tanktest.Move{aLoad, next}},
		"half of it comes back": {Level0: 180, Inflow: 60, Moves: []tanktest.Move{aLoad, {From: aLoad.End() + 3*tanktest.Hour, Bbl: -0.45 * aLoad.Bbl, Rate: 4}}},
	} {
		r := newRig(t, w)
		r.run(0, 30*tanktest.Hour)
		if len(r.corrections) > 0 {
			t.Errorf("%s: %+v", name, r.corrections)
		}
	}
	fed := newRig(t, tanktest.Well{Level0: 180, Inflow: 60, Moves: []tanktest.Move{aLoad, {From: aLoad.End() + 3*tanktest.Hour, Bbl: -0.8 * aLoad.Bbl, Rate: 4}}},
		tanktest.Well{Level0: 200, Inflow: 20, Moves: []tanktest.Move{{From: aLoad.End() + 3*tanktest.Hour, Bbl: 0.8 * aLoad.Bbl, Rate: 4}}})
	fed.run(0, 14*tanktest.Hour)
	if len(fed.corrections) > 0 {
		t.Errorf("oil that another tank gave: %+v", fed.corrections)
	}
}

func TestASensorThatStoodStillAtTheEndCorrectsTheTicket(t *testing.T) {
	w := tanktest.Well{Level0: 180, Inflow: 60, Moves: []tanktest.Move{aLoad}}
	r := newRig(t, w)
	stop := aLoad.End() - 240 // it freezes before the truck is full
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s >= stop && s < stop+8*tanktest.Hour {
			return math.Round(w.Level(stop)*100) / 100, true
		}
		return v, true
	}
	r.run(0, 20*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%d loads, want 1: %+v", len(r.loads), r.events)
	}
	r.corrected("the sensor stood still")
}

func TestAClockThatIsSetAfterTheTicketMovesItsTimes(t *testing.T) {
	for _, step := range []float64{3300, -2400, 40} {
		r := newRig(t, aWell)
		at := aLoad.End() + 2*tanktest.Hour
		r.clock = func(s float64) float64 {
			if s < at {
				return -step
			}
			return 0
		}
		r.run(0, 20*tanktest.Hour)
		if math.Abs(step) < 60 {
			if len(r.corrections) > 0 {
				t.Errorf("a step of %v s: %+v", step, r.corrections)
			}
			continue
		}
		if len(r.corrections) != 2 || r.corrections[0].Settled || !r.corrections[1].Settled {
			t.Fatalf("a step of %v s: %+v, want one at once and one when the clock has held", step, r.corrections)
		}
		for _, c := range r.corrections {
			if c.Start.Sub(r.at(aLoad.From)).Abs() > 30*time.Second || c.End.Sub(r.at(aLoad.End())).Abs() > 30*time.Second || !c.Began.Equal(r.loads[0].Began) {
				t.Errorf("a step of %v s: %+v, want %v to %v", step, c, r.at(aLoad.From), r.at(aLoad.End()))
			}
		}
	}
}

// A clock that goes wrong hours after a load, as one that the link has not set yet behind a time without power, says nothing of that load, and
// neither does its way back.
func TestAClockThatGoesWrongAfterTheTicketLeavesItsTimes(t *testing.T) {
	for _, c := range []struct{ off, away, wrong float64 }{{3580, 1.8, 3.6}, {-1900, 1, 5}, {2556, 0, 3.6}, {-900, 0, 5.9}} {
		r := newRig(t, aWell)
		lost := aLoad.End() + 14*tanktest.Hour
		back := lost + c.away*tanktest.Hour
		r.clock = func(s float64) float64 {
			if s >= back && s < back+c.wrong*tanktest.Hour {
				return c.off
			}
			return 0
		}
		r.run(0, lost)
		if c.away > 0 {
			r.kill(back)
		}
		r.run(back, back+30*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: %d loads", c, len(r.loads))
		}
		for _, x := range r.corrections {
			if (c.away > 0 || x.Settled) && x.Start.Sub(r.loads[0].Start).Abs() > time.Minute {
				t.Errorf("%+v: %+v, want it to stay from %v", c, x, r.loads[0].Start)
			}
		}
	}
}

// A strong well is turned away before the truck comes, and fills the tank again hours later: that is no oil that came back.
func TestAWellTurnedBackIsNoReturn(t *testing.T) {
	const load = 20 * tanktest.Hour
	level := knots([2]float64{0, 40}, [2]float64{3 * tanktest.Hour, 100}, [2]float64{load, 100}, [2]float64{load + 1800, 30},
		[2]float64{24 * tanktest.Hour, 30}, [2]float64{28 * tanktest.Hour, 120}) // at 0.6 bbl a minute
	r := newRig(t, aWell)
	r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, level(s)), true }
	r.run(0, 29*tanktest.Hour)
	if len(r.loads) != 1 || len(r.corrections) != 0 {
		t.Errorf("%d loads, corrected by %+v, want one that stays", len(r.loads), r.corrections)
	}
}

// A strong well is turned into a tank for an hour, and a truck takes as much: that the level is where it had been an hour before is how
// the well fills this tank, and no foam.
func TestATruckTakesWhatAStrongWellMade(t *testing.T) {
	const fill, load = 12 * tanktest.Hour, 13 * tanktest.Hour
	level := knots([2]float64{0, 118}, [2]float64{tanktest.Hour, 136}, [2]float64{fill, 136}, [2]float64{load, 154},
		[2]float64{load + 240, 144}, [2]float64{load + 480, 138.5}, [2]float64{load + 900, 136}, [2]float64{24 * tanktest.Hour, 136})
	r := newRig(t, aWell)
	r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, level(s)), true }
	r.run(0, 16*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Open-154) > 0.5 || math.Abs(r.loads[0].Close-136) > 0.5 {
		t.Errorf("%+v %+v, want one load from 154 to 136 in", r.loads, r.verdicts)
	}
}

// A batch is brought from a source that nobody watches, and a truck takes it at once, down to where it had been: a load, for a person.
func TestABatchThatIsHauledAtOnce(t *testing.T) {
	const at = 4 * tanktest.Hour
	level := knots([2]float64{0, 100}, [2]float64{at, 100.2}, [2]float64{at + 1500, 160}, [2]float64{at + 2100, 160}, [2]float64{at + 3540, 100.2}, [2]float64{9 * tanktest.Hour, 100.5})
	r := newRig(t, aWell)
	r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, level(s)), true }
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%+v %+v, want one load", r.loads, r.verdicts)
	}
	asksFor(t, r.loads[0], "only came back to where it had been")
}

// A part of what leaves a tank rises in its neighbour, or the neighbour is fuller behind a time in which it was not read: a person looks.
// Where nothing is known of the neighbour the ticket says so, and a neighbour that its own well fills accuses nobody.
func TestAPartThatMovedToANeighbourAsks(t *testing.T) {
	const at = 4 * tanktest.Hour
	giver := knots([2]float64{0, 200}, [2]float64{at, 200}, [2]float64{at + 1440, 80}, [2]float64{9 * tanktest.Hour, 80})
	for name, c := range map[string]struct {
		taker  func(s float64) float64
		hidden bounds
		asks   string
		says   bool
	}{
		"in part":        {knots([2]float64{0, 50}, [2]float64{at, 50}, [2]float64{at + 1440, 110}, [2]float64{9 * tanktest.Hour, 110}), bounds{}, "tank TK-2 rose by 100", false},
		"at first":       {knots([2]float64{0, 50}, [2]float64{at, 50}, [2]float64{at + 300, 65}, [2]float64{9 * tanktest.Hour, 65}), bounds{}, "tank TK-2 rose by 2", false},
		"unseen":         {knots([2]float64{0, 50}, [2]float64{at, 50}, [2]float64{at + 1440, 170}, [2]float64{9 * tanktest.Hour, 170}), bounds{at - 600, at + 2000}, "TK-2 was not read meanwhile and held 20", false},
		"never read":     {func(float64) float64 { return 50 }, bounds{0, 99 * tanktest.Hour}, "", true},
		"its own well's": {knots([2]float64{0, 50}, [2]float64{9 * tanktest.Hour, 140}), bounds{}, "", false},
	} {
		r := newRig(t, tanktest.Well{}, tanktest.Well{})
		r.sensor = func(i int, s, _ float64) (float64, bool) {
			if i == 0 {
				return tanktest.Radar(i, s, giver(s)), true
			}
			return tanktest.Radar(i, s, c.taker(s)), s < c.hidden.lo || s >= c.hidden.hi
		}
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%s: %+v, want one load", name, r.loads)
		}
		asksFor(t, r.loads[0], c.asks)
		if said := strings.Contains(strings.Join(r.loads[0].Remarks, ", "), "TK-2 not read meanwhile"); said != c.says {
			t.Errorf("%s: says %q", name, r.loads[0].Remarks)
		}
	}
}

// A driver stops his pump after a minute and a half for six: three readings that fall as under the pump are no hatch that was opened.
func TestAPumpThatStopsSoonIsNoHatch(t *testing.T) {
	const at = 4 * tanktest.Hour
	level := knots([2]float64{0, 93.4}, [2]float64{at + 7, 93.4}, [2]float64{at + 97, 89.3}, [2]float64{at + 450, 89.3}, [2]float64{at + 690, 80.6}, [2]float64{9 * tanktest.Hour, 80.6})
	r := newRig(t, aWell)
	r.site.tanks[0].Sensor, r.site.tanks[0].Table, r.site.tanks[0].Every, r.every = "hydrostatic", tableOf(t, 2.8), 30*time.Second, 30
	r.sensor = func(i int, s, _ float64) (float64, bool) { return level(s) + 2*tanktest.Radar(i, s, 0), true }
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Open-93.4) > 0.4 {
		t.Errorf("%+v, want one load from 93.4 in", r.loads)
	}
}

// tableOf is the table of a tank that holds so many barrels an inch.
func tableOf(t *testing.T, per float64) Table {
	tab, err := NewTable([][2]float64{{0, 0}, {300, 300 * per}})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// A tank is moved into the next while that one is dead, or stands still: the ticket says that nobody read it, and when it is back and holds as
// much more a correction says where the oil may be. One that its well alone filled further is none.
func TestATransferIntoATankThatWasNotRead(t *testing.T) {
	out := tanktest.Move{From: 11 * tanktest.Hour, Bbl: 110, Rate: 5}
	for _, c := range []struct{ stands, into bool }{{false, true}, {true, true}, {false, false}} {
		taker := tanktest.Well{Level0: 60, Inflow: 150}
		if c.into {
			taker.Moves = []tanktest.Move{{From: out.From, Bbl: -110, Rate: 5}}
		}
		r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{out}}, taker)
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if away := i == 1 && s > 4.1*tanktest.Hour && s < 14*tanktest.Hour; away && c.stands {
				return 78.4, true
			} else if away {
				return v, false
			}
			return v, true
		}
		r.run(0, 16*tanktest.Hour)
		if len(r.loads) != 1 || len(r.loads[0].Remarks) != 1 || len(r.corrections) > 0 != c.into {
			t.Errorf("stands %t, into it %t: %+v, %+v, %+v", c.stands, c.into, r.loads, r.corrections, r.events)
		}
	}
}

// A tank that another one fills hours after its load had no load given back, also where that other one is filled again by its well since.
func TestATransferAfterALoadCorrectsNothing(t *testing.T) {
	moved := 3 * tanktest.Hour
	in := tanktest.Move{From: aLoad.End() + moved, Bbl: -118, Rate: 2.7}
	out := tanktest.Move{From: aLoad.End() + moved, Bbl: 118, Rate: 2.7}
	r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{aLoad, in}}, tanktest.Well{Level0: 150, Inflow: 240, Moves: []tanktest.Move{out}})
	r.run(0, aLoad.End()+22*tanktest.Hour)
	if len(r.loads) != 1 || len(r.corrections) > 0 {
		t.Errorf("want a load and no correction: %+v, %+v", r.loads, r.corrections)
	}
}

// A sensor that is lifted hours after a load, or shows a false echo, says nothing against it: the ticket's levels were long behind it. Nor did a
// truck come where the level only comes down from where it had jumped up to. One that was dead at the bottom since the load does.
func TestAStepHoursAfterALoadThatUndoesAnother(t *testing.T) {
	at := aLoad.End() + 5*tanktest.Hour
	for name, c := range map[string]struct {
		shows   func(s, v float64) float64
		correct int
	}{
		"lifted": {func(s, v float64) float64 {
			if s > at && s < at+tanktest.Hour {
				return v - 75
			}
			return v
		}, 0},
		"echo": {func(s, v float64) float64 {
			if s > at && s < at+tanktest.Hour {
				return 218
			}
			return v
		}, 0},
		"was wrong": {func(s, v float64) float64 {
			if s > at {
				return v + aLoad.Bbl/tanktest.PerInch
			}
			return v
		}, 1},
	} {
		r := newRig(t, tanktest.Well{Level0: 180, Inflow: 60, Moves: []tanktest.Move{aLoad}})
		r.sensor = func(i int, s, v float64) (float64, bool) { return tanktest.Radar(i, s, c.shows(s, v)), true }
		r.run(0, at+4*tanktest.Hour)
		advised := slices.ContainsFunc(r.events, func(e Event) bool { return strings.Contains(e.Note, "if a truck") })
		if len(r.loads) != 1 || len(r.corrections) != c.correct || advised != (name == "lifted") {
			t.Errorf("%s: %+v, corrected by %+v, advised %t: %+v", name, r.loads, r.corrections, advised, r.events)
		}
	}
}
