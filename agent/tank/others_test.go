package tank

import (
	"math"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

// wet gives a rig's first tank an interface of a height that water, and only water, takes down.
func (r *rig) wet(height func(s float64) float64) {
	r.site.tanks[0].Interface = true
	r.side = func(r *rig, s float64) { r.feed(s, Input{Kind: Interface, Value: height(s), Good: true}) }
}

// Water is drawn off right before the truck connects: the water is no part of the load.
func TestWaterBeforeALoadIsNotItsPart(t *testing.T) {
	water := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 35, Rate: 3}
	load := tanktest.Move{From: water.End() + 300, Bbl: 160, Rate: 6}
	w := tanktest.Well{Level0: 180, Inflow: 60, Moves: []tanktest.Move{water, load}}
	r := newRig(t, w)
	r.wet(func(s float64) float64 {
		return 40 - stats.Clamp((s-water.From)*water.Rate/60, 0, water.Bbl)/tanktest.PerInch
	})
	r.run(0, 7*tanktest.Hour)
	r.matches(0.1, 30, labelOf(w, load, load))
	r.only("water-draw")
}

// The interface float falls off while a truck loads: that is no water.
func TestInterfaceThatFailsMakesNoWater(t *testing.T) {
	for _, high := range []float64{30, 100} {
		r := newRig(t, aWell)
		r.wet(func(s float64) float64 {
			if s > aLoad.From+600 {
				return 0
			}
			return high
		})
		r.run(0, 7*tanktest.Hour)
		r.matches(0.06, 20, labelOf(aWell, aLoad, aLoad))
		r.only()
	}
}

// Thirteen minutes are longer than a pause is expected to be; what fits in one truck is one.
func TestLatePauseIsOneTruckByVolume(t *testing.T) {
	for _, c := range []struct {
		bbl   float64
		loads int
	}{{70, 1}, {150, 2}} {
		a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 110, Rate: 6}
		b := tanktest.Move{From: a.End() + 13.5*60, Bbl: c.bbl, Rate: 6}
		r := newRig(t, tanktest.Well{Level0: 230, Inflow: 60, Moves: []tanktest.Move{a, b}})
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != c.loads {
			t.Errorf("110 and %v bbl: %d loads, want %d", c.bbl, len(r.loads), c.loads)
		}
	}
}

// Oil is moved to a tank that a truck loads from meanwhile.
func TestTransferIntoATankThatIsHauled(t *testing.T) {
	out := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 110, Rate: 2.5}
	load := tanktest.Move{From: out.From + 600, Bbl: 170, Rate: 6}
	r := newRig(t, tanktest.Well{Level0: 200, Moves: []tanktest.Move{out}}, tanktest.Well{Level0: 150, Moves: []tanktest.Move{{From: out.From + 10, Bbl: -110, Rate: 2.5}, load}})
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].Tank != "TK-2" {
		t.Errorf("%+v", r.loads)
	}
	r.only("transfer")
}

// A truck unloads into one tank while another loads from its neighbour: less comes than left, and a person has to say what it was. All that
// left and came is a transfer, also where a truck loads meanwhile from the tank that it came into.
func TestLessThanLeftArrivingAsks(t *testing.T) {
	for _, c := range []struct {
		came  float64 // share of the load
		loads int
	}{{0.7, 1}, {0.8, 1}, {0.95, 0}, {1, 0}} {
		r := newRig(t, aWell, tanktest.Well{Level0: 60, Moves: []tanktest.Move{{From: aLoad.From + 60, Bbl: -c.came * aLoad.Bbl, Rate: c.came * aLoad.Rate}}})
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != c.loads {
			t.Fatalf("%v of it came to the other tank: %+v", c.came, r.loads)
		}
		if c.loads == 0 {
			r.only("transfer")
			continue
		}
		r.matches(0.06, 20, labelOf(aWell, aLoad, aLoad))
		if why := strings.Join(r.loads[0].Review, "; "); !strings.Contains(why, "tank TK-2 rose by") {
			t.Errorf("%v of it came to the other tank, doubts: %s", c.came, why)
		}
	}
}

// A level that stood still for hours before a load hid how it began, and the neighbour made as much oil in those hours: that is no transfer.
func TestWhatANeighbourMadeWhileThisOneStoodIsNoTransfer(t *testing.T) {
	at := 8 * tanktest.Hour
	load := tanktest.Move{From: at, Bbl: 150, Rate: 5}
	r := newRig(t, tanktest.Well{Level0: 200, Inflow: 60, Moves: []tanktest.Move{load}}, tanktest.Well{Level0: 60, Moves: []tanktest.Move{{From: 3.5 * tanktest.Hour, Bbl: -130, Rate: 0.4}}})
	r.sensor = func(i int, s, v float64) (float64, bool) {
		v = tanktest.Radar(i, s, v)
		if i == 0 {
			v = math.Min(v, 204)
		}
		return math.Round(100*v) / 100, true
	}
	r.run(0, 12*tanktest.Hour)
	if len(r.loads) != 1 || len(r.loads[0].Review) == 0 {
		t.Errorf("loads %+v, events %+v, verdicts %+v", r.loads, r.events, r.verdicts)
	}
}

// Two loads at once, and a tank that fills beside a load, are no transfer.
func TestLoadBesideAFillIsALoad(t *testing.T) {
	fill := tanktest.Move{From: aLoad.From - tanktest.Hour, Bbl: -60, Rate: 1}
	r := newRig(t, aWell, tanktest.Well{Level0: 60, Moves: []tanktest.Move{fill}})
	r.run(0, 7*tanktest.Hour)
	r.matches(0.06, 20, labelOf(aWell, aLoad, aLoad))
	r.only()
}

// An equaliser that is opened an hour after a load evens the tanks out: nothing was sold.
func TestEqualiserOpenedAfterALoadSellsNothing(t *testing.T) {
	open := aLoad.End() + tanktest.Hour
	r := newRig(t, aWell, tanktest.Well{Level0: 180})
	for i := range r.site.tanks {
		r.site.tanks[i].Group = "west"
	}
	r.sensor = func(i int, s, v float64) (float64, bool) {
		if s < open {
			return v, true
		}
		a, b := r.wells[0].Level(s), r.wells[1].Level(s)
		by := (b - a) / 2 * (1 - math.Exp(-(s-open)/900))
		return v + []float64{by, -by}[i], true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].Tank != "TK-1" {
		t.Errorf("%+v", r.loads)
	}
	r.only()
}

// What comes back more slowly than it left is another pump's oil: a load, which a person should look at.
func TestSlowReturnIsALoadForReview(t *testing.T) {
	out := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 86, Rate: 5}
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{out, {From: out.End() + 300, Bbl: -86, Rate: 1.2}}})
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 1 || len(r.loads[0].Review) == 0 || !strings.Contains(r.loads[0].Review[0], "came back") {
		t.Errorf("%+v", r.loads)
	}
	r.only()
}

// A leaking valve between two tanks is no loss.
func TestOilThatRunsOverSlowlyIsATransfer(t *testing.T) {
	crawl := tanktest.Move{From: 3 * tanktest.Hour, Bbl: 130, Rate: 0.2}
	r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{crawl}}, tanktest.Well{Level0: 40, Moves: []tanktest.Move{{From: crawl.From, Bbl: -130, Rate: 0.2}}})
	r.run(0, 24*tanktest.Hour)
	r.matches(0, 0)
	r.only("transfer")
}

// An equaliser of 0.6 bbl/min an inch is opened between tanks far apart: faster at first than
// any level is believed to move. Nothing was sold, in a group or not.
func TestWideEqualiserSellsNothing(t *testing.T) {
	for _, group := range []string{"west", ""} {
		r := newRig(t, aWell, tanktest.Well{Level0: 185})
		levels := [2][]float64{}
		a, b := aWell.Level0, 185.0
		for s := range int(9 * tanktest.Hour) {
			levels[0], levels[1] = append(levels[0], a), append(levels[1], b)
			out, q := 0.0, 0.0
			if float64(s) >= aLoad.From && float64(s) < aLoad.End() {
				out = aLoad.Rate / 60
			}
			if float64(s) >= aLoad.End()+1.5*tanktest.Hour {
				q = (b - a) * 0.6 / 60
			}
			a, b = a+(q-out)/tanktest.PerInch, b-q/tanktest.PerInch
		}
		for i := range r.site.tanks {
			r.site.tanks[i].Group = group
		}
		r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, levels[i][int(s)]), true }
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 || r.loads[0].Tank != "TK-1" {
			t.Errorf("group %q: %+v", group, r.loads)
		}
	}
}

// A load out of two tanks that an equaliser joins is of one production day: both tickets end when the later of the two did.
func TestALoadOfAGroupEndsOnce(t *testing.T) {
	slow := tanktest.Move{From: aLoad.From + 60, Bbl: 70, Rate: 70 / (aLoad.End() + 300 - aLoad.From) * 60}
	r := newRig(t, aWell, tanktest.Well{Level0: 180, Moves: []tanktest.Move{slow}})
	for i := range r.site.tanks {
		r.site.tanks[i].Group = "west"
	}
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 2 || r.loads[0].End != r.loads[1].End || math.Abs(r.loads[0].End.Sub(r.at(slow.End())).Seconds()) > 30 {
		t.Fatalf("%+v", r.loads)
	}
	for i, want := range []float64{aLoad.Bbl, slow.Bbl} { // what the well makes until the closing is read is no less gone
		if got := r.loads[i].RemovedBbl; math.Abs(got-want) > 0.6 {
			t.Errorf("%s: %.2f bbl were removed, want %.2f", r.loads[i].Tank, got, want)
		}
	}
}

// Behind a load out of two tanks that an equaliser joins, the well comes on, and both tanks rise: that is production. What the
// equaliser does shows between the tanks, and is done long before.
func TestWhatBothTanksOfAGroupRiseIsTheWells(t *testing.T) {
	r := newRig(t, aWell, aWell)
	for i := range r.site.tanks {
		r.site.tanks[i].Group, r.site.tanks[i].Loads.GroupSettle = "west", 5*time.Minute
	}
	made := func(s float64) float64 { return 6 * (1 - math.Exp(-math.Max(0, s-aLoad.End())/1500)) }
	apart := func(s float64) float64 {
		return 3 * stats.Clamp((s-aLoad.From)/300, 0, 1) * math.Exp(-math.Max(0, s-aLoad.End())/180)
	}
	r.sensor = func(i int, s, v float64) (float64, bool) { return v + made(s) + float64(2*i-1)*apart(s), true }
	r.run(0, 8*tanktest.Hour)
	at := aLoad.End() + 180*math.Log(3*tanktest.PerInch/0.1)
	want := aWell.Level(at) + made(at)
	if len(r.loads) != 2 || math.Abs(r.loads[0].Close-want) > 0.8 || math.Abs(r.loads[1].Close-want) > 0.8 {
		t.Errorf("%+v, want closings of %.2f in", r.loads, want)
	}
}

// A truck loads from a tank while another tank is pumped into it: what comes in meanwhile leaves with it, and the load says so. A truck that
// loads from the other tank is none of its business.
func TestATransferIntoATankThatIsHauled(t *testing.T) {
	moved := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 150, Rate: 4}
	load := tanktest.Move{From: moved.From + 900, Bbl: 140, Rate: 7}
	came := (load.End() - load.From) / 60 * moved.Rate
	for _, into := range []bool{true, false} {
		giver := tanktest.Well{Level0: 150, Inflow: 20, Moves: []tanktest.Move{moved}}
		taker := tanktest.Well{Level0: 100, Inflow: 20, Moves: []tanktest.Move{load}}
		if into {
			taker.Moves = append(taker.Moves, tanktest.Move{From: moved.From, Bbl: -moved.Bbl, Rate: moved.Rate})
		}
		r := newRig(t, giver, taker)
		r.run(0, 9*tanktest.Hour)
		var l *Load
		for k := range r.loads {
			if asks := len(r.loads[k].Review) > 0; asks != into {
				t.Errorf("into it %t: %+v", into, r.loads[k])
			}
			if r.loads[k].Tank == "TK-2" {
				l = &r.loads[k]
			}
		}
		switch {
		case l == nil:
			t.Errorf("into it %t: no load of TK-2: %+v", into, r.loads)
		case into && (math.Abs(l.RemovedBbl-load.Bbl) > 6 || len(l.Review) == 0 || !strings.HasPrefix(l.Review[0], "tank TK-1 was moved into it meanwhile: ")):
			t.Errorf("%.1f bbl removed of %g, %.1f of %.1f came in, review %q", l.RemovedBbl, load.Bbl, l.InflowBbl, came, l.Review)
		case !into && (len(l.Review) > 0 || math.Abs(l.RemovedBbl-load.Bbl) > 1):
			t.Errorf("two trucks at two tanks: %.1f bbl, review %q", l.RemovedBbl, l.Review)
		}
	}
}

// Without an interface nobody sees that it was water that left before the truck connected, but that it left slower, minutes before.
func TestASlowerPartBeforeALoadAsks(t *testing.T) {
	for _, c := range []struct {
		rate float64
		asks bool
	}{{3.8, true}, {6.8, false}} {
		first := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 40, Rate: c.rate}
		load := tanktest.Move{From: first.End() + 8*60, Bbl: 138, Rate: 7}
		r := newRig(t, tanktest.Well{Level0: 180, Inflow: 60, Moves: []tanktest.Move{first, load}})
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 || len(r.loads[0].Review) > 0 != c.asks {
			t.Errorf("%.1f bbl a minute: %+v", c.rate, r.loads)
		}
	}
}

// A truck loads from a tank as fast as another is moved into it: its level only stops to rise, and falls when the transfer is over. What was
// drawn before is in no gauge, and the ticket asks. One that loads behind a transfer asks nothing.
func TestALoadBeganWhileATransferCameIn(t *testing.T) {
	moved := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 150, Rate: 5}
	for _, wait := range []float64{-900, 60} {
		load := tanktest.Move{From: moved.End() + wait, Bbl: 170, Rate: 4.8}
		into := tanktest.Move{From: moved.From, Bbl: -moved.Bbl, Rate: moved.Rate}
		r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{moved}}, tanktest.Well{Level0: 100, Moves: []tanktest.Move{into, load}})
		r.run(0, 9*tanktest.Hour)
		for _, l := range r.loads {
			if asks := len(l.Review) > 0; asks != (wait < 0) {
				t.Errorf("%g s behind the transfer: %+v", wait, l)
			}
		}
		if n := len(r.loads); n == 0 || r.loads[n-1].Tank != "TK-2" {
			t.Errorf("%g s behind the transfer: %+v", wait, r.loads)
		}
	}
}

// Oil that is rolled comes back into its own tank, whatever a truck takes out of another one meanwhile.
func TestOilIsRolledWhileATruckLoadsFromAnotherTank(t *testing.T) {
	out := tanktest.Move{From: 10 * tanktest.Hour, Bbl: 27.5, Rate: 2.5}
	back := tanktest.Move{From: out.End(), Bbl: -27.5, Rate: 2.5}
	truck := tanktest.Move{From: out.From + 300, Bbl: 168, Rate: 6.4}
	r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{out, back}}, tanktest.Well{Level0: 160, Moves: []tanktest.Move{truck}})
	r.run(0, 16*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].Tank != "TK-2" || math.Abs(r.loads[0].GaugeBbl-168) > 1 {
		t.Errorf("want the truck's load alone: %+v", r.loads)
	}
}

// A transfer arrives as a whole out of a tank that the well fills as soon as it is over: what it may have made meanwhile is no part of it.
func TestATransferOutOfATankThatTheWellIsTurnedTo(t *testing.T) {
	out := tanktest.Move{From: 10 * tanktest.Hour, Bbl: 60, Rate: 1.5}
	made := tanktest.Move{From: out.End() - 300, Bbl: -510 / 24. * 6, Rate: 510 / 1440.}
	r := newRig(t, tanktest.Well{Level0: 50, Moves: []tanktest.Move{made, out}}, tanktest.Well{Level0: 60, Moves: []tanktest.Move{{From: out.From, Bbl: -out.Bbl, Rate: out.Rate}}})
	r.run(0, 16*tanktest.Hour)
	if len(r.loads) > 0 || r.rules()["transfer"] != 1 {
		t.Errorf("want a transfer alone: %+v, events %+v", r.loads, r.events)
	}
}

// A truck that begins while another tank is still moved into its own has what it took then too: the load begins where the level was highest.
func TestALoadThatBeginsBeforeATransferIntoItEnds(t *testing.T) {
	moved := tanktest.Move{From: 5 * tanktest.Hour, Bbl: 77, Rate: 3.9}
	load := tanktest.Move{From: moved.End() - 105, Bbl: 172, Rate: 5.7}
	into := tanktest.Move{From: moved.From, Bbl: -moved.Bbl, Rate: moved.Rate}
	w := tanktest.Well{Level0: 115, Moves: []tanktest.Move{into, load}}
	r := newRig(t, tanktest.Well{Level0: 130, Moves: []tanktest.Move{moved}}, w)
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("want one load: %+v", r.loads)
	}
	if l := r.loads[0]; math.Abs(l.Open-w.Level(load.From)) > 0.3 || math.Abs(l.RemovedBbl-load.Bbl) > 1.5 {
		t.Errorf("opening %.2f in, %.1f bbl removed, want %.2f and %.1f: %+v", l.Open, l.RemovedBbl, w.Level(load.From), load.Bbl, l)
	}
}

// A gateway gives the answers of two tanks for each other's for a while, then of a third unit for both, of which one was not read for half an
// hour before: no truck moves a level at once to where another tank's was, and nothing was hauled.
func TestAGatewayMixesUpTwoTanks(t *testing.T) {
	for _, unread := range []bool{false, true} {
		r := newRig(t, tanktest.Well{Level0: 170}, tanktest.Well{Level0: 90})
		r.sensor = func(i int, s, v float64) (float64, bool) {
			switch at := s - 4*tanktest.Hour; {
			case at >= 0 && at < 3000: // as they come, the one before the other
				return tanktest.Radar(1-i, s, r.wells[1-i].Level(s)), true
			case unread && i == 1 && at >= 7200 && at < 9300:
				return 0, false
			case at >= 9000 && at < 13200:
				return tanktest.Radar(i, s, 60), true
			}
			return v, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) > 0 || len(r.verdicts) > 1 {
			t.Errorf("unread %t: %+v %+v", unread, r.loads, r.verdicts)
		}
		said := 0
		for _, e := range r.events {
			if strings.Contains(e.Note, "gateway") {
				said++
			}
		}
		if want := map[bool]int{false: 4, true: 5}[unread]; said != want {
			t.Errorf("unread %t: a gateway was said %d times, want %d: %+v", unread, said, want, r.events)
		}
	}
}
