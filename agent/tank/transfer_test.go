package tank

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// Oil is moved into a tank while a truck loads from it: the truck's tank falls the slower, and what the other tank lost may be no sale, for
// one truck that sucks from both looks alike. The truck's own ticket is right, and says what came in. Two trucks at once are none of this.
func TestATransferWithinALoad(t *testing.T) {
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 180, Rate: 4.5}
	out := tanktest.Move{From: load.From + 600, Bbl: 40, Rate: 2.5}
	for _, into := range []bool{true, false} {
		taker := tanktest.Well{Level0: 180, Inflow: 20, Moves: []tanktest.Move{load}}
		if into {
			taker.Moves = append(taker.Moves, tanktest.Move{From: out.From, Bbl: -out.Bbl, Rate: out.Rate})
		}
		r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{out}}, taker)
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 2 || r.loads[0].Tank != "TK-1" {
			t.Fatalf("into it %t: %+v", into, r.loads)
		}
		giver, truck := r.loads[0], r.loads[1]
		if asks := strings.Contains(strings.Join(giver.Review, "; "), "fell the slower"); asks != into || len(giver.Review) > 0 != into {
			t.Errorf("into it %t: %+v", into, giver)
		}
		if len(truck.Review) > 0 || math.Abs(truck.RemovedBbl-load.Bbl) > 1 || strings.Contains(strings.Join(truck.Remarks, "; "), "TK-1 was moved into it") != into {
			t.Errorf("into it %t: %+v", into, truck)
		}
	}
}

// Oil is moved into the tank of a LACT unit, whose pump begins meanwhile, or stops: it draws from no other tank, so that nothing was sold of
// the other. A truck that loads there while the unit's pump runs does.
func TestATransferIntoATankThatAMeterDraws(t *testing.T) {
	out := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 84, Rate: 3.6}
	for _, c := range []struct {
		pumpAt float64 // s after the transfer's beginning
		into   bool
	}{{400, true}, {900, true}, {-900, true}, {-900, false}, {400, false}} {
		pump := tanktest.Move{From: out.From + c.pumpAt, Bbl: 120, Rate: 2.6}
		taker := tanktest.Well{Level0: 150, Moves: []tanktest.Move{pump}}
		if c.into {
			taker.Moves = append(taker.Moves, tanktest.Move{From: out.From, Bbl: -out.Bbl, Rate: out.Rate})
		}
		r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{out}}, taker)
		r.site.tanks[1].Lact = true
		r.run(0, 8*tanktest.Hour)
		if got := r.rules()["transfer"]; got != map[bool]int{true: 1, false: 0}[c.into] || len(r.loads) != 1-got {
			t.Errorf("%+v: loads %+v, events %+v", c, r.loads, r.events)
		}
	}
}

// The value of a tank at rest swings with noise while a small load with a pause leaves another: it has not risen, and neither all of the load
// nor what left before the pause moved there.
func TestATankThatSwingsWithNoiseHasNotRisen(t *testing.T) {
	first := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 12, Rate: 4.7}
	rest := tanktest.Move{From: first.End() + 290, Bbl: 30, Rate: 4.7}
	for _, c := range []struct {
		noise float64 // in
		seed  uint64
	}{{1.3, 7}, {1.3, 9}, {1.3, 18}, {1.8, 17}, {1.8, 18}, {2.7, 10}, {2.7, 17}, {2.7, 18}} {
		r := newRig(t, tanktest.Well{Level0: 150, Inflow: 100, Moves: []tanktest.Move{first, rest}}, tanktest.Well{Level0: 120})
		r.every, r.site.tanks[0].Every, r.site.tanks[1].Every = 120, 2*time.Minute, 2*time.Minute
		g := rand.New(rand.NewPCG(7, c.seed))
		r.sensor = func(tank int, at, v float64) (float64, bool) {
			if tank == 1 {
				return math.Round(10*(v+c.noise*g.NormFloat64())) / 10, true
			}
			return tanktest.Radar(tank, at, v), true
		}
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 || len(r.loads[0].Review) > 0 || math.Abs(r.loads[0].RemovedBbl-42) > 2 || len(r.events) > 0 {
			t.Errorf("noise of %g in, seed %d: %+v, %+v", c.noise, c.seed, r.loads, r.events)
		}
	}
}

// Oil is moved to another tank minutes behind a load, and arrives there as it goes: it is no part of the truck's. Where it does not it may be.
func TestATransferMinutesBehindALoad(t *testing.T) {
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 130, Rate: 5}
	out := tanktest.Move{From: load.End() + 960, Bbl: 60, Rate: 3}
	for _, into := range []bool{true, false} {
		taker := tanktest.Well{Level0: 60, Inflow: 20}
		if into {
			taker.Moves = []tanktest.Move{{From: out.From, Bbl: -out.Bbl, Rate: out.Rate}}
		}
		r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{load, out}}, taker)
		r.run(0, 8*tanktest.Hour)
		if asks := strings.Contains(strings.Join(r.loads[0].Review, "; "), "one truck or two"); asks == into {
			t.Errorf("into it %t: %+v", into, r.loads)
		}
	}
}

// A sensor that shows noise all over the tank's height takes in no load of another tank, makes hardly a ticket itself, and
// is told of; when it is mended its loads are found again within the hour.
func TestNoiseIsNoWitness(t *testing.T) {
	load, mended := tanktest.Move{From: 26 * tanktest.Hour, Bbl: 180, Rate: 7.5}, tanktest.Move{From: 30 * tanktest.Hour, Bbl: 150, Rate: 7.5}
	w, noisy := tanktest.Well{Level0: 140, Inflow: 50, Moves: []tanktest.Move{load}}, tanktest.Well{Level0: 150, Moves: []tanktest.Move{mended}}
	for seed := range uint64(6) {
		r := newRig(t, w, noisy)
		r.every = 30
		r.sensor = func(i int, at, v float64) (float64, bool) {
			if i == 1 && at < 29.5*tanktest.Hour {
				return math.Round(24000*rand.New(rand.NewPCG(seed, uint64(at))).Float64()) / 100, true
			}
			return tanktest.Radar(i, at, v), true
		}
		r.run(0, 33*tanktest.Hour)
		own, other := 0, 0
		for _, l := range r.loads {
			switch {
			case l.Tank == "TK-1" && math.Abs(l.RemovedBbl-180) < 2 && l.Confidence >= 0.75:
				own++
			case l.Tank == "TK-2" && l.Start.After(r.at(29.5*tanktest.Hour)) && math.Abs(l.GaugeBbl-150) < 2:
				other++
			}
		}
		if own != 1 || other != 1 || len(r.loads) > 6 || r.rules()["spike-rate"] == 0 {
			t.Errorf("seed %d: %d and %d loads, of %d tickets in all: %+v %+v", seed, own, other, len(r.loads), r.loads, r.events)
		}
	}
}

// Two trucks load from two tanks at once, and behind the first a well that had been shut for it gives what it held, as fast as the second
// truck draws: nothing was moved, for where the second began the first tank fell on as before.
func TestTwoTrucksAtOnceAndAWellThatWasShut(t *testing.T) {
	first := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 180, Rate: 2.2}
	second := tanktest.Move{From: first.From + 530, Bbl: 172, Rate: 2}
	held := tanktest.Move{From: first.End() + 200, Bbl: -16, Rate: 2}
	r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{second}}, tanktest.Well{Level0: 150, Moves: []tanktest.Move{first, held}})
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 2 || r.rules()["transfer"] > 0 {
		t.Fatalf("%+v, %+v", r.loads, r.events)
	}
	for _, l := range r.loads {
		if strings.Contains(strings.Join(append(l.Review, l.Remarks...), "; "), "moved") || math.Abs(l.RemovedBbl-map[string]float64{"TK-1": 172, "TK-2": 180}[l.Tank]) > 1 {
			t.Errorf("%+v", l)
		}
	}
}

// A truck is turned down and pumps back what it took while others load from the tanks next door, as fast or faster, or slower: what they take
// does not fill this one, and its ticket says that oil came back.
func TestALoadNextDoorGivesNothingBack(t *testing.T) {
	for _, c := range []struct{ wait, bbl, rate, lead, beside, other float64 }{
		{1100, 104, 5.4, 50, 170, 6.5}, {1300, 106, 6, 1000, 170, 4}, {660, 108, 4.5, 1800, 180, 4.7},
	} {
		out := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 134, Rate: 5.8}
		back := tanktest.Move{From: out.End() + c.wait, Bbl: -c.bbl, Rate: c.rate}
		load := tanktest.Move{From: back.From - c.lead, Bbl: c.beside, Rate: c.other}
		r := newRig(t, tanktest.Well{Level0: 168, Moves: []tanktest.Move{out, back}}, tanktest.Well{Level0: 170, Inflow: 40, Moves: []tanktest.Move{load}})
		r.every = 60
		r.run(0, 10*tanktest.Hour)
		if len(r.loads) != 2 {
			t.Fatalf("%+v: %+v, %+v", c, r.loads, r.verdicts)
		}
		for _, l := range r.loads {
			why := strings.Join(l.Review, "; ")
			if l.Tank == "TK-1" && !strings.Contains(why, "came back") || math.Abs(l.RemovedBbl-map[string]float64{"TK-1": 134, "TK-2": c.beside}[l.Tank]) > 1 {
				t.Errorf("%+v: %+v", c, l)
			}
		}
	}
}

// Oil that comes back only when the load is nearly confirmed is waited for, and a part of it is told from what the well brings, and from the false
// echoes of whoever gauges the tank before the load.
func TestOilThatComesBackLateOrInPart(t *testing.T) {
	for _, c := range []struct {
		wait, bbl, rate float64
		well            float64 // bbl a day, shut for the load
		gauged          bool
	}{{2560, 122, 5, 0, false}, {2580, 123, 4, 0, false}, {2520, 36, 3.5, 350, false}, {1200, 30, 3.3, 0, true}} {
		out := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 140, Rate: 5.8}
		back := tanktest.Move{From: out.End() + c.wait, Bbl: -c.bbl, Rate: c.rate}
		r := newRig(t, tanktest.Well{Level0: 168, Moves: []tanktest.Move{out, back, {From: 0, Bbl: -c.well / 4, Rate: math.Max(1, c.well) / 1440}}})
		r.every = 30
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if before := out.From - s; c.gauged && before > 300 && before < 420 {
				v += 9
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 10*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-140) > 1 {
			t.Fatalf("%+v: %+v, %+v", c, r.loads, r.verdicts)
		}
		if why := strings.Join(r.loads[0].Review, "; "); !strings.Contains(why, "came back") && !strings.Contains(why, "gave oil back") {
			t.Errorf("%+v: %+v", c, r.loads[0])
		}
	}
}

// A truck that was turned down pumps its load back while another loads from the tank next door: that tank falls on for half an hour behind
// the return, and its oil cannot have arrived before it left.
func TestALoadBesideAReturnIsNoTransfer(t *testing.T) {
	down := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 168, Rate: 2.6}
	back := tanktest.Move{From: down.End() + 1140, Bbl: -107, Rate: 5.6}
	load := tanktest.Move{From: back.From - 390, Bbl: 101, Rate: 2.2}
	r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{down, back}}, tanktest.Well{Level0: 80, Inflow: 200, Moves: []tanktest.Move{load}})
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 2 || r.rules()["transfer"] > 0 || math.Abs(r.loads[1].RemovedBbl-101) > 1 || r.loads[1].Confidence >= 0.75 {
		t.Errorf("%+v, %+v", r.loads, r.events)
	}
}

// A truck gives a few barrels back minutes after it has loaded, into a tank whose well was turned away for it and stays so: what the well made
// before is no reason for the rise, and the ticket asks.
func TestAFewBarrelsGivenBackMinutesBehindALoad(t *testing.T) {
	for _, made := range []float64{300, 700} {
		out := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 160, Rate: 6}
		back := tanktest.Move{From: out.End() + 200, Bbl: -5, Rate: 1.7}
		r := newRig(t, tanktest.Well{Level0: 60, Moves: []tanktest.Move{{Bbl: -made / 3, Rate: made / 1440}, out, back}})
		r.every, r.site.tanks[0].Every = 60, time.Minute
		r.run(0, 12*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-155) > 1.6 && r.loads[0].Confidence >= 0.75 {
			t.Errorf("%g bbl a day: %+v, %+v", made, r.loads, r.verdicts)
		}
	}
}

// An equaliser is opened before a truck loads, and the tank that it fills reports by exception, so that it is silent when it is full: what moved
// there is told.
func TestATransferIntoATankThatIsSilentWhenItIsFull(t *testing.T) {
	load := tanktest.Move{From: 6*tanktest.Hour + 900, Bbl: 98, Rate: 3.7}
	var out, in []tanktest.Move
	for k := range 6 { // it fades
		m := tanktest.Move{From: 6*tanktest.Hour + 180*float64(k), Bbl: 8.86 * math.Exp(-float64(k)/2), Rate: 3 * math.Exp(-float64(k)/2)}
		back := m
		back.Bbl = -m.Bbl
		out, in = append(out, m), append(in, back)
	}
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 190, Moves: append(out, load)}, tanktest.Well{Level0: 102.75, Moves: in})
	told, at := 0.0, -1e9
	r.site.tanks[1].Every = 15 * time.Minute
	r.sensor = func(i int, s, v float64) (float64, bool) {
		v = math.Round(tanktest.Radar(i, s, v)*2) / 2
		if i == 0 || v != told || s-at >= 900 {
			if i == 1 {
				told, at = v, s
			}
			return v, true
		}
		return 0, false
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || !strings.Contains(strings.Join(r.loads[0].Review, "; "), "tank TK-2 rose") {
		t.Errorf("%+v", r.loads)
	}
}

// Behind a load the level sinks on by gravity into another tank, which rises by it: it is no foam that collapses, and what stood before that is the
// closing.
func TestWhatRunsToAnotherTankBehindALoadIsNoFoam(t *testing.T) {
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 100, Rate: 4.1}
	out, in := []tanktest.Move{load}, []tanktest.Move(nil)
	for k := range 8 { // it fades
		m := tanktest.Move{From: load.End() + 600 + 200*float64(k), Bbl: 4.4 * (1 - float64(k)/9), Rate: 1.32 * (1 - float64(k)/9)}
		out = append(out, m)
		m.Bbl = -m.Bbl
		in = append(in, m)
	}
	r := newRig(t, tanktest.Well{Level0: 190, Inflow: 150, Moves: out}, tanktest.Well{Level0: 115, Moves: in})
	r.every = 30
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%+v; %+v", r.loads, r.events)
	}
	l := r.loads[0]
	if said := strings.Join(append(l.Remarks, l.Review...), "; "); math.Abs(l.GaugeBbl-98) > 1.5 || strings.Contains(said, "foam of") || !strings.Contains(said, "tank TK-2 rose") {
		t.Errorf("%.1f bbl, %q", l.GaugeBbl, said)
	}
}
