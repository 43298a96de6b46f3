package tank

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// exceptions lets a reading through when it has moved by a deadband, or after a heartbeat.
func exceptions(deadband, heartbeat float64) seen {
	var last, at float64
	return func(_ int, s, v float64) (float64, bool) {
		if at > 0 && math.Abs(v-last) < deadband && s-at < heartbeat {
			return v, false
		}
		last, at = v, s
		return v, true
	}
}

// A device that reports only changes is silent from one truck to the next: that is no fall.
func TestSilenceBetweenTwoTrucksIsNoFall(t *testing.T) {
	a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 165, Rate: 6}
	b := tanktest.Move{From: a.End() + 1080, Bbl: 170, Rate: 6}
	w := tanktest.Well{Level0: 236, Inflow: 30, Moves: []tanktest.Move{a, b}}
	for _, heartbeat := range []float64{900, 1800, 3600} {
		r := newRig(t, w)
		r.sensor = exceptions(0.5, heartbeat)
		r.run(0, 11*tanktest.Hour)
		r.matches(0.8, 90, labelOf(w, a, a), labelOf(w, b, b))
		r.only()
	}
}

// A historian that keeps the ends of straight lines has hours between its readings, but for the two of the load: it was then.
func TestALoadBetweenReadingsHoursApart(t *testing.T) {
	w := tanktest.Well{Level0: 150, Moves: []tanktest.Move{{From: 6 * tanktest.Hour, Bbl: 180, Rate: 8}}}
	kept := map[float64]bool{}
	for at := 0.0; at < 14*tanktest.Hour; at += 4200 {
		kept[at] = true
	}
	kept[w.Moves[0].From-20], kept[w.Moves[0].From+40], kept[math.Floor(w.Moves[0].End()/10)*10+10] = true, true, true
	r := newRig(t, w)
	r.sensor = func(_ int, s, v float64) (float64, bool) { return v, kept[s] }
	r.run(0, 14*tanktest.Hour)
	r.matches(0.3, 90, labelOf(w, w.Moves[0], w.Moves[0]))
}

// The readings come back two minutes after a load began: its opening is the level before.
func TestGapThatHidesTheStart(t *testing.T) {
	r := newRig(t, aWell)
	r.sensor = hide(aLoad.From-1900, aLoad.From+100)
	r.run(0, 7*tanktest.Hour)
	r.only("gap")
	want := labelOf(aWell, aLoad, aLoad)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Open-want.open) > 0.7 {
		t.Errorf("%+v, want an opening of %.2f in", r.loads, want.open)
	}
}

// Nobody saw the opening of a load that was under way at the first reading.
func TestLoadUnderWayAtTheFirstReadingIsForAPerson(t *testing.T) {
	r := newRig(t, aWell)
	r.run(aLoad.From+600, 8*tanktest.Hour)
	if len(r.loads) != 1 || !said(r.loads[0], "before the first reading") {
		t.Errorf("%+v", r.loads)
	}
}

// Two trucks came while the box was away, the first and the last minutes were seen.
func TestTwoTrucksOverOneGapAreForAPerson(t *testing.T) {
	a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 180, Rate: 6}
	b := tanktest.Move{From: a.End() + 3600, Bbl: 170, Rate: 6}
	r := newRig(t, tanktest.Well{Level0: 236, Moves: []tanktest.Move{a, b}})
	r.sensor = hide(a.From+600, b.From+600)
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || !said(r.loads[0], "maybe 2 loads") {
		t.Errorf("%+v", r.loads)
	}
}

// Oil moved to another tank while the link to both was down is no load.
func TestTransferInAGap(t *testing.T) {
	out := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 100, Rate: 3}
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{out}}, tanktest.Well{Level0: 40, Moves: []tanktest.Move{{From: out.From + 10, Bbl: -100, Rate: 3}}})
	r.sensor = hide(out.From-900, out.End()+900)
	r.run(0, 8*tanktest.Hour)
	r.matches(0, 0)
	if got := r.rules(); got["transfer"] != 1 || got["gap"] != 2 || len(got) != 2 {
		t.Errorf("events %v", got)
	}
}

// The transmitter is re-spanned a minute before the pump starts.
func TestRespanRightBeforeALoad(t *testing.T) {
	r := newRig(t, aWell)
	at := aLoad.From - 60
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s >= at {
			v += 12
		}
		return v, true
	}
	r.run(0, 7*tanktest.Hour)
	r.only("step")
	want := labelOf(aWell, aLoad, aLoad)
	want.open, want.close = want.open+12, want.close+12
	r.matches(0.3, 30, want)
}

// A clock that gains and is set back each hour is told of once.
func TestClockThatIsSetEachHour(t *testing.T) {
	r := newRig(t, aWell)
	r.clock = func(s float64) float64 { return math.Mod(s, tanktest.Hour) / 30 }
	r.run(0, 20*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Errorf("%d loads, want 1", len(r.loads))
	}
	r.only("clock-step")
}

// Oil that is lost faster than drift and slower than any load is told of too, to where it ended, and not to where the well has filled up
// since.
func TestLossJustBelowALoadsRateIsTold(t *testing.T) {
	for _, rate := range []float64{0.2, 0.3, 0.35, 0.4} {
		r := newRig(t, tanktest.Well{Level0: 180, Inflow: 20, Moves: []tanktest.Move{{From: 5 * tanktest.Hour, Bbl: 60, Rate: rate}}})
		r.run(0, 20*tanktest.Hour)
		r.matches(0, 0)
		if n := r.rules()["unexplained-loss"]; n < 1 || n > 2 {
			t.Errorf("%v bbl/min: %d events of the loss: %+v", rate, n, r.events)
			continue
		}
		lost := 60 - 20.0/1440*60/rate // what flowed in meanwhile is not seen
		if e := r.events[0]; math.Abs(e.Bbl-lost) > 1.5 || math.Abs(e.End.Sub(r.at(5*tanktest.Hour+60/rate*60)).Minutes()) > 20 {
			t.Errorf("%v bbl/min, %.1f bbl until %v: %+v", rate, lost, r.at(5*tanktest.Hour+60/rate*60), e)
		}
	}
}

// A load that a poll each half an hour saw is a load, and no slow loss besides.
func TestLoadOfASparsePollIsNoLoss(t *testing.T) {
	r := newRig(t, aWell)
	r.every, r.site.tanks[0].Every = 1800, 30*time.Minute
	r.run(900, 30*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Errorf("%d loads, want 1", len(r.loads))
	}
	r.only()
}

// A recorder that keeps what bends a line alone shows a load as its first inch and its closing: it began just before the one and is not
// spread over the hours since the reading before, nor is what was read within it oil that came back.
func TestALoadOfWhichTheFirstInchAloneIsSeen(t *testing.T) {
	const began = 4 * tanktest.Hour
	w := tanktest.Well{Level0: 200, Moves: []tanktest.Move{{From: began, Bbl: 170, Rate: 4.4}}}
	r := newRig(t, w)
	kept := []float64{began - 2*tanktest.Hour, began - tanktest.Hour, began + 16, w.Moves[0].End() + 47}
	r.every = 1
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		return math.Round(50*v) / 50, slices.Contains(kept, s) || s > w.Moves[0].End() && math.Mod(s, 1800) == 0 || s < began-tanktest.Hour && math.Mod(s, 3600) == 0
	}
	r.run(0, 10*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%+v %+v", r.loads, r.events)
	}
	if l := r.loads[0]; math.Abs(s(l.Start)-began) > 120 || math.Abs(l.GaugeBbl-170) > 1 {
		t.Errorf("began %.0f s off, %.1f bbl of 170", s(l.Start)-began, l.GaugeBbl)
	}
}

// A tank that is read every three hours is emptied between two readings: the load is one, for a person, though a truck that had taken
// the whole time would have been too slow for one.
func TestALoadBetweenTwoPolls(t *testing.T) {
	for _, every := range []float64{2400, 3 * tanktest.Hour, 6 * tanktest.Hour} {
		truck := tanktest.Move{From: 18*tanktest.Hour + 600, Bbl: 45, Rate: 6}
		w := tanktest.Well{Level0: 120, Inflow: 20, Moves: []tanktest.Move{truck}}
		r := newRig(t, w)
		r.every, r.ticks, r.site.tanks[0].Every = 60, true, time.Duration(every)*time.Second
		r.sensor = func(_ int, s, v float64) (float64, bool) { return v, math.Mod(s, every) == 0 }
		r.run(0, 40*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-truck.Bbl) > 6 || math.Abs(r.loads[0].GaugeBbl-truck.Bbl) > r.loads[0].ErrorBbl {
			t.Fatalf("readings every %.0f s: %+v", every, r.loads)
		}
		asksFor(t, r.loads[0], "no reading inside the load")
	}
}

// A tank that reports only changes and every few hours that it is alive: its load is decided when it says so for the first time.
func TestALoadOfATankThatIsSilentAtRest(t *testing.T) {
	const alive = 6 * tanktest.Hour
	truck := tanktest.Move{From: 2*alive + 700, Bbl: 170, Rate: 6}
	w := tanktest.Well{Level0: 190, Moves: []tanktest.Move{truck}}
	r := newRig(t, w)
	r.every, r.ticks = 30, true
	changed := exceptions(0.25, alive)
	r.sensor = func(i int, s, v float64) (float64, bool) { return changed(i, s, math.Round(4*v)/4) }
	r.run(0, truck.End()+alive+1800)
	r.matches(0.7, 120, labelOf(w, truck, truck))
	if l := r.loads[0]; len(l.Review) > 0 || l.ErrorBbl > 4 || math.Abs(l.GaugeBbl-truck.Bbl) > l.ErrorBbl {
		t.Errorf("a load that was seen from its start to its end: %+v", l)
	}
}

// A load by gravity out of a tank that its well fills falls by what is left: it is one load, however much of it the well makes good.
func TestASlowLoadOutOfATankThatFills(t *testing.T) {
	for _, c := range []struct{ rate, made float64 }{{0.72, 400}, {0.62, 200}, {0.8, 420}} {
		load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 185, Rate: c.rate}
		w := tanktest.Well{Level0: 110, Inflow: c.made, Moves: []tanktest.Move{load}}
		r := newRig(t, w)
		r.run(0, load.End()+3*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%+v: want one load: %+v %+v", c, r.loads, r.verdicts)
			continue
		}
		if gauged := 185 - c.made*(load.End()-load.From)/86400; math.Abs(r.loads[0].GaugeBbl-gauged) > 1 {
			t.Errorf("%+v: gauged %.1f bbl, want %.1f", c, r.loads[0].GaugeBbl, gauged)
		}
		asksFor(t, r.loads[0], "slower than trucks and pipelines do")
	}
}

// A closing, or an opening, to which one reading leads and no other is that of the readings next to it, and the ticket asks.
func TestAGaugeIsWhatWasReadNextToIt(t *testing.T) {
	w := tanktest.Well{Level0: 120, Inflow: 300, Moves: []tanktest.Move{aLoad}}
	r := newRig(t, w)
	r.every = 60
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		switch since := s - aLoad.End(); {
		case since > 60 && since <= 120:
			return v + 78, true
		case since > 120 && since <= 180:
			return v - 2.4, true
		}
		return v, true
	}
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("want one load: %+v", r.loads)
	}
	if l := r.loads[0]; math.Abs(l.Close-w.Level(aLoad.End())) > 0.9 {
		t.Errorf("closing %.2f in, want %.2f: %+v", l.Close, w.Level(aLoad.End()), l)
	}
}

// A truck proves its meter before it loads: some barrels go out and come back at the pump's rate, twice. The load begins behind them. A first
// part of the load that a dump makes up for is the load's all the same.
func TestAMeterIsProvedBeforeALoad(t *testing.T) {
	at := 6 * tanktest.Hour
	out := func(from, bbl float64) tanktest.Move { return tanktest.Move{From: from, Bbl: bbl, Rate: 5.5} }
	for _, proved := range []bool{true, false} {
		moves := []tanktest.Move{out(at, 6.5), out(at+240, -6.5), out(at+500, 5.7), out(at+760, -5.7), out(at+930, 150)}
		if !proved {
			moves = []tanktest.Move{out(at, 20), {From: at + 300, Bbl: -4, Rate: 8}, out(at+420, 130)}
		}
		w := tanktest.Well{Level0: 120, Inflow: 60, Moves: moves}
		r := newRig(t, w)
		r.run(0, 10*tanktest.Hour)
		load, last := moves[len(moves)-1], moves[len(moves)-1]
		if !proved {
			load = moves[0]
		}
		if len(r.loads) != 1 {
			t.Fatalf("proved %t: %+v", proved, r.loads)
		}
		if l := r.loads[0]; math.Abs(l.Open-w.Level(load.From)) > 0.15 || math.Abs(l.Close-w.Level(last.End())) > 0.15 || proved && len(l.Review) > 0 {
			t.Errorf("proved %t: %.2f to %.2f in, want %.2f to %.2f: %+v", proved, l.Open, l.Close, w.Level(load.From), w.Level(last.End()), l)
		}
	}
}

// Behind a load a valve leaks, or water is drained, at a rate that no truck has: the load ends at the kink, asks, and what left behind it is a
// movement of its own that asks. What tops a truck off, slower but not so slow, or drains out of a hose, is the load's.
func TestALoadEndsWhereADrainBegins(t *testing.T) {
	for _, c := range []struct{ every, pause, bbl, rate, load float64 }{
		{60, 0, 100, 0.6, 170}, {10, 0, 40, 0.6, 170}, {60, 0, 20, 0.6, 170}, {60, 0, 60, 0.9, 170}, {300, 0, 60, 0.6, 170}, {60, 600, 40, 0.6, 170},
		{60, 0, 6, 0.9, 176}, {60, 0, 30, 1.5, 200},
	} {
		load := tanktest.Move{From: 3 * tanktest.Hour, Bbl: 170, Rate: 6}
		drain := tanktest.Move{From: load.End() + c.pause, Bbl: c.bbl, Rate: c.rate}
		r := newRig(t, tanktest.Well{Level0: 200, Inflow: 20, Moves: []tanktest.Move{load, drain}})
		r.every = c.every
		r.run(0, load.End()+1200)
		r.kill(load.End() + 1260)
		r.run(load.End()+1260, drain.End()+2*tanktest.Hour)
		if len(r.loads) == 0 || math.Abs(r.loads[0].RemovedBbl-c.load) > 1.5 {
			t.Errorf("%+v: want a load of its barrels: %+v", c, r.loads)
			continue
		}
		if r.loads[0].Review == nil == (c.load == 170) || c.load > 170 && len(r.loads) > 1 {
			t.Errorf("%+v: %+v", c, r.loads)
		}
		for _, l := range r.loads[1:] {
			asksFor(t, l, "slower than trucks and pipelines do")
		}
	}
}

// Behind a seal check, and at the tank's bottom, a pump loses its prime and draws its last barrels at a quarter of its rate: they are the load's, and a
// person is asked. The error holds them, for it may have been a drain. Where the pump draws on minutes later it was none.
func TestAPumpThatLosesItsPrime(t *testing.T) {
	load, last, more := tanktest.Move{From: 10800, Bbl: 133, Rate: 3.2}, tanktest.Move{From: 13293.75, Bbl: 11.5, Rate: 0.75}, tanktest.Move{From: 14400, Bbl: 6, Rate: 2.4}
	for _, moves := range [][]tanktest.Move{{load, last}, {{From: 10500, Bbl: 5, Rate: 3.2}, load, last}, {load, last, more}} {
		w := tanktest.Well{Level0: 110, Inflow: 80, Moves: moves}
		r := newRig(t, w)
		r.run(0, 6*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].Close-w.Level(moves[len(moves)-1].End())) > 0.2 || len(r.loads[0].Review) > 0 && r.loads[0].ErrorBbl < last.Bbl {
			t.Fatalf("%+v: %+v", moves, r.loads)
		}
		asksFor(t, r.loads[0], map[bool]string{true: "right behind the pump's rate"}[moves[len(moves)-1] == last])
	}
}

// Water is drained slowly until a truck draws: the load begins at the kink and asks, and no sensor was spanned. Where the truck had drawn minutes
// before, the slow part is its own.
func TestALoadBeginsWhereADrainEnds(t *testing.T) {
	for _, c := range []struct{ first, bbl, every, load float64 }{{0, 30, 60, 170}, {0, 12, 10, 170}, {70, 12, 10, 252}} {
		own := tanktest.Move{From: 3 * tanktest.Hour, Bbl: c.first, Rate: 6}
		drain := tanktest.Move{From: own.End() + 300, Bbl: c.bbl, Rate: 0.6}
		load := tanktest.Move{From: drain.End(), Bbl: 170, Rate: 6}
		r := newRig(t, tanktest.Well{Level0: 200, Inflow: 20, Moves: []tanktest.Move{own, drain, load}})
		r.every = c.every
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-c.load) > 1.5 || len(r.loads[0].Review) == 0 {
			t.Fatalf("%+v: %+v", c, r.loads)
		}
		if why := strings.Join(r.loads[0].Review, ", "); c.first == 0 && !strings.Contains(why, "left right before it at 0.6 bbl a minute") || strings.Contains(why, "re-spanned") {
			t.Errorf("%+v: %s", c, why)
		}
	}
}

// More than a truck holds asks where a part of it left at a truck's rate, though the mean is a pipeline's, or where the rest was another pump's.
func TestMoreThanATruckHoldsAtTwoRates(t *testing.T) {
	for _, c := range [][4]float64{{180, 4, 180, 1.1}, {150, 6, 85, 1.4}} {
		quick := tanktest.Move{From: 3 * tanktest.Hour, Bbl: c[0], Rate: c[1]}
		slow := tanktest.Move{From: quick.End(), Bbl: c[2], Rate: c[3]}
		r := newRig(t, tanktest.Well{Level0: 235, Moves: []tanktest.Move{quick, slow}})
		r.every = 60
		r.run(0, slow.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%v: want one load: %+v", c, r.loads)
		}
		asksFor(t, r.loads[0], "bbl at once, where a truck holds 215")
	}
}

// A silence over the start of a load ends on a fall, where the truck has taken as much as the well had made meanwhile, or less, or more:
// that reading is no rest, however high it stands. The well's line carried in meets the fall's line back, and a person is asked.
func TestASilenceThatEndsOnAFallHidesItsStart(t *testing.T) {
	w := aWell
	w.Level0, w.Inflow = 100, 432
	for _, seen := range []float64{60, 120, 130, 240} {
		r := newRig(t, w)
		r.sensor = hide(aLoad.From-2280, aLoad.From+seen)
		r.run(0, 8*tanktest.Hour)
		r.matches(0.7, 30, labelOf(w, aLoad, aLoad))
		if l := r.loads[0]; len(l.Review) == 0 || math.Abs(l.GaugeBbl-(w.Level(aLoad.From)-w.Level(aLoad.End()))*tanktest.PerInch) > l.ErrorBbl {
			t.Errorf("seen after %.0f s: %+v", seen, l)
		}
	}
}

// What lifts the level right before a truck is in the opening, of a sensor of coarse steps too: from the top of the rise it began to fall, and
// not from where it stood on the way. The first wave of a draw that rocks the oil is no such rise, though a separator dumps as much.
func TestOnlyOilLiftsAnOpening(t *testing.T) {
	well := func(bbl, rate, every, last float64) tanktest.Well {
		w := tanktest.Well{Level0: 130, Moves: []tanktest.Move{aLoad}}
		for from := 600.0; from < last; from += every {
			w.Moves = append(w.Moves, tanktest.Move{From: from, Bbl: -bbl, Rate: rate})
		}
		return w
	}
	slug := well(9.5, 3.6, 3600, aLoad.From-3600)
	slug.Moves = append(slug.Moves, tanktest.Move{From: aLoad.From - 150, Bbl: -9.5, Rate: 3.6})
	dumps := well(1, 4, 900, aLoad.From-300)
	for _, c := range []struct {
		w    tanktest.Well
		seen seen
	}{
		{slug, func(_ int, _, v float64) (float64, bool) { return math.Round(2*v) / 2, true }},
		{dumps, func(i int, s, v float64) (float64, bool) {
			if s > aLoad.From && s < aLoad.End() {
				v += 1.2 * math.Cos((s-aLoad.From-10)/7)
			}
			return tanktest.Radar(i, s, v), true
		}},
	} {
		r := newRig(t, c.w)
		r.sensor = c.seen
		r.run(5, 6*tanktest.Hour)
		if want := c.w.Level(aLoad.From); len(r.loads) != 1 || math.Abs(r.loads[0].Open-want) > 0.5 {
			t.Errorf("opening of %.2f: %+v", want, r.loads)
		}
	}
}
