package tank

import (
	"fmt"
	"math"
	"testing"

	"gauger/agent/tank/stats"
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

// What a truck gives back within the confirmation asks, however late and however strong a well that makes as much every hour.
func TestOilThatATruckGivesBackAsks(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 185, Rate: 4}
	for _, c := range []struct{ made, after, bbl, rate float64 }{{200, 1500, 30, 4}, {200, 1080, 30, 4}, {500, 180, 6, 2}, {300, 180, 4, 2}} {
		r := newRig(t, tanktest.Well{Level0: 140, Inflow: c.made, Moves: []tanktest.Move{load, {From: load.End() + c.after, Bbl: -c.bbl, Rate: c.rate}}})
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: want one load: %+v", c, r.loads)
		}
		asksFor(t, r.loads[0], "as the well never did")
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

// A tank is not read for eight hours, in which a truck comes and the well fills it up again. What the well makes is known, and that no other
// tank had it, by its levels on either side where it was not read either; where one had it, nobody knows.
func TestALoadThatASilenceHid(t *testing.T) {
	from, to := 4*tanktest.Hour, 12*tanktest.Hour
	fill := func(a, b float64) tanktest.Move { return tanktest.Move{From: a, Bbl: (a - b) / 120, Rate: 0.5} }
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 185, Rate: 5}
	for name, c := range map[string]struct {
		own, other []tanktest.Move
		away       bool
		gone       float64
	}{
		"loaded":                    {[]tanktest.Move{fill(0, 16*tanktest.Hour), load}, nil, false, 185},
		"the well was turned":       {[]tanktest.Move{fill(0, from+tanktest.Hour), fill(to-tanktest.Hour, 16*tanktest.Hour)}, []tanktest.Move{fill(from+tanktest.Hour, to-tanktest.Hour)}, false, 0},
		"nothing":                   {[]tanktest.Move{fill(0, 16*tanktest.Hour)}, nil, false, 0},
		"the whole box was away":    {[]tanktest.Move{fill(0, 16*tanktest.Hour), load}, nil, true, 185},
		"loaded from the next tank": {[]tanktest.Move{fill(0, 16*tanktest.Hour)}, []tanktest.Move{load}, false, 0},
	} {
		r := newRig(t, tanktest.Well{Level0: 20, Moves: c.own}, tanktest.Well{Level0: 150, Moves: c.other})
		r.sensor = func(i int, s, v float64) (float64, bool) { return v, i == 1 && !c.away || s < from || s > to }
		r.run(0, 15*tanktest.Hour)
		gone := 0.0
		for _, e := range r.events {
			gone += e.Bbl
		}
		if math.Abs(gone-c.gone) > 12 {
			t.Errorf("%s: %.1f bbl are told of, want %g: %+v", name, gone, c.gone, r.events)
		}
	}
}

// A truck loads from a tank that is not read, behind hours in which the next tank is filled: that one goes on as before, and had none of it.
func TestATankThatRisesAsEverTookNoHiddenLoad(t *testing.T) {
	load := tanktest.Move{From: 9 * tanktest.Hour, Bbl: 185, Rate: 6}
	r := newRig(t, tanktest.Well{Level0: 140, Moves: []tanktest.Move{load}}, tanktest.Well{Level0: 20, Moves: []tanktest.Move{{From: 5.8 * tanktest.Hour, Bbl: -300, Rate: 0.5}}})
	r.sensor = func(i int, s, v float64) (float64, bool) {
		return v, i == 1 || s < 6*tanktest.Hour || s > 14*tanktest.Hour
	}
	r.run(0, 16*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-185) > 1 || len(r.loads[0].Review) == 0 {
		t.Errorf("%+v, %+v", r.loads, r.events)
	}
}

// A tank is moved into the next while it is not read: that one shows it, whenever it was.
func TestATransferThatASilenceHid(t *testing.T) {
	for _, at := range []float64{7, 10, 13} {
		out := tanktest.Move{From: at * tanktest.Hour, Bbl: 120, Rate: 5}
		r := newRig(t, tanktest.Well{Level0: 140, Moves: []tanktest.Move{out}}, tanktest.Well{Level0: 20, Inflow: 60, Moves: []tanktest.Move{{From: out.From, Bbl: -120, Rate: 5}}})
		r.sensor = func(i int, s, v float64) (float64, bool) {
			return v, i == 1 || s < 6*tanktest.Hour || s > 14*tanktest.Hour
		}
		r.run(0, 16*tanktest.Hour)
		if len(r.loads) > 0 || r.rules()["transfer"] != 1 {
			t.Errorf("at %g h: %+v, %+v", at, r.loads, r.events)
		}
	}
}

// The well was turned to the next tank when this one was full, which then was not read: it rose no further, and the opening is not above
// what was last seen.
func TestAnOpeningIsNotCarriedByAWellThatFillsAnother(t *testing.T) {
	turned := 6 * tanktest.Hour
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 150, Rate: 5}
	own := tanktest.Well{Level0: 60, Moves: []tanktest.Move{{From: 0, Bbl: -180, Rate: 0.5}, load}}
	r := newRig(t, own, tanktest.Well{Level0: 20, Moves: []tanktest.Move{{From: turned, Bbl: -300, Rate: 0.5}}})
	r.sensor = func(i int, s, v float64) (float64, bool) { return v, i == 1 || s < turned || s > 11*tanktest.Hour }
	r.run(0, 14*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-150) > 3 || len(r.loads[0].Review) == 0 {
		t.Errorf("%+v, %+v", r.loads, r.events)
	}
}

// The readings of one tank come a quarter of an hour late: it rises as much as the other fell and as long, but not then, and the ticket asks, as
// often as that happens.
func TestATransferThatIsReadLate(t *testing.T) {
	for _, by := range []float64{900, -900} {
		moves, back := []tanktest.Move{}, []tanktest.Move{}
		for k := range 3 {
			at := float64(4+2*k) * tanktest.Hour
			moves = append(moves, tanktest.Move{From: at, Bbl: 40, Rate: 5})
			back = append(back, tanktest.Move{From: at + by, Bbl: -40, Rate: 5})
		}
		r := newRig(t, tanktest.Well{Level0: 200, Moves: moves}, tanktest.Well{Level0: 60, Inflow: 100, Moves: back})
		r.run(0, 11*tanktest.Hour)
		if len(r.loads) != 3 {
			t.Fatalf("%+v, %+v", r.loads, r.events)
		}
		for _, l := range r.loads {
			if !said(l, "TK-2 rose by as much") {
				t.Errorf("%g s late: %+v", by, l)
			}
		}
	}
}

// A well that is turned to another tank as the truck comes fills that one as it filled this one: nothing of the load moved there, and a
// closing at which the level stands, as it did behind the loads before, is no blind zone.
func TestAWellThatIsTurnedToAnotherTankForTheLoadAsksNothing(t *testing.T) {
	pulses := func(from, to float64) (in []tanktest.Move) {
		for at := from; at < to; at += 2400 {
			in = append(in, tanktest.Move{From: at, Bbl: -16, Rate: 2})
		}
		return in
	}
	first := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 160, Rate: 6.4}
	second := tanktest.Move{From: 13 * tanktest.Hour, Bbl: 160, Rate: 6.4}
	r := newRig(t,
		tanktest.Well{Level0: 48, Moves: append(pulses(1200, first.From), append(pulses(first.From+7.4*tanktest.Hour, 20*tanktest.Hour), first)...)},
		tanktest.Well{Level0: 12, Moves: append(pulses(first.From+300, second.From-900), second)})
	r.run(0, 17*tanktest.Hour)
	if len(r.loads) != 2 {
		t.Fatalf("want two loads: %+v", r.loads)
	}
	for _, l := range r.loads {
		if len(l.Review) > 0 {
			t.Errorf("%s asks: %q", l.Tank, l.Review)
		}
	}
}

// A plunger's well brings a foot of oil every few hours: one that comes behind a load is no oil that a truck gave back.
func TestAPlungersDumpBehindALoadAsksNothing(t *testing.T) {
	load := tanktest.Move{From: 18 * tanktest.Hour, Bbl: 150, Rate: 7}
	w := tanktest.Well{Level0: 60, Moves: []tanktest.Move{load}}
	for at := load.End() + 1800 - 20*tanktest.Hour; at < 30*tanktest.Hour; at += 5 * tanktest.Hour {
		w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -28, Rate: 28. / 15})
	}
	r := newRig(t, w)
	r.run(0, 22*tanktest.Hour)
	if len(r.loads) != 1 || len(r.loads[0].Review) > 0 {
		t.Errorf("want one load that asks nothing: %+v", r.loads)
	}
}

// More comes back than a truck took, as evenly as it went: no oil does, but a float that is lifted behind the load.
func TestMoreThanItTookComesBack(t *testing.T) {
	r := newRig(t, aWell)
	up := aLoad.End() + 900
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if since := s - up; since > 0 && since < 5400 {
			v += math.Min(130, since*0.15)
		}
		return tanktest.Radar(0, s, v), true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) == 0 || math.Abs(r.loads[0].RemovedBbl-aLoad.Bbl) > 2 {
		t.Errorf("%+v %+v", r.loads, r.verdicts)
	}
}

// Oil runs by gravity from one tank into another, ever slower, to below what a load draws: where its fall seems to end is no end, and what the one
// lost until then the other has. What a truck draws as it fades, while the other takes in a part, asks.
func TestATransferThatFadesIsNoLoad(t *testing.T) {
	for _, c := range []struct {
		every, part float64
		loads       int
	}{{90, 1, 0}, {180, 1, 0}, {90, 0.7, 1}} {
		out := func(s float64) float64 {
			return 65 * (1 - math.Exp(-stats.Clamp(s-6*tanktest.Hour, 0, 6900)/3900)) / tanktest.PerInch
		}
		r := newRig(t, tanktest.Well{Level0: 80}, tanktest.Well{Level0: 25}, tanktest.Well{Level0: 40, Inflow: 130})
		r.every = c.every
		r.sensor = func(i int, s, v float64) (float64, bool) { return v + [...]float64{-1, c.part, 0}[i]*out(s), true }
		r.run(0, 11*tanktest.Hour)
		moved := r.rules()["transfer"]
		if len(r.loads) != c.loads || c.loads == 0 && moved != 1 || c.loads == 1 && len(r.loads[0].Review) == 0 {
			t.Errorf("each %g s, a share of %g arrives: %+v, events %+v", c.every, c.part, r.loads, r.events)
		}
	}
}

// A pumper moves oil out of the tank that a truck loads from, no faster than a separator dumps into the other for minutes: it goes on for longer than
// any dump, and the ticket asks.
func TestATransferBesideALoadIntoATankOfDumps(t *testing.T) {
	const at, moved, long = 5 * tanktest.Hour, 5*tanktest.Hour + 600, 1260.0
	r := newRig(t, make([]tanktest.Well, 2)...)
	r.sensor = func(i int, s, _ float64) (float64, bool) {
		went := 17 * math.Min(1, math.Max(0, s-moved)/long)
		if i == 0 {
			return tanktest.Radar(i, s, 170-40*math.Min(1, math.Max(0, s-at)/900)-went), true
		}
		beat, s := 2700.0, s+1200 // none of them while oil is moved
		dumps := 3.2 * (math.Floor(s/beat) + math.Min(1, math.Mod(s, beat)/240))
		return tanktest.Radar(i, s-1200, 90+dumps+went), true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%+v %+v, want one load", r.loads, r.verdicts)
	}
	asksFor(t, r.loads[0], "tank TK-2 rose by")
}

// What comes at once when the closing has been read at rest for longer than a truck stays, one dump or foam, says nothing against it.
func TestARiseLongBehindALoad(t *testing.T) {
	for _, behind := range []float64{1080, 1500, 2100} {
		r := newRig(t, tanktest.Well{Level0: 180, Inflow: 30, Moves: []tanktest.Move{aLoad, {From: aLoad.End() + behind, Bbl: -2.5, Rate: 0.5}}})
		r.run(0, aLoad.End()+2*tanktest.Hour)
		if l := r.loads[0]; len(l.Review) > 0 || l.ErrorBbl > 1 {
			t.Errorf("%.0f min behind: give or take %.1f bbl, %q", behind/60, l.ErrorBbl, l.Review)
		}
	}
}
