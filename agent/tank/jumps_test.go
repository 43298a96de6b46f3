package tank

import (
	"math"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

// shown plays a tank whose sensor shows its level, off by what the time tells, and expects so many loads.
func shown(t *testing.T, name string, every float64, off func(s float64) float64, truck tanktest.Move, loads int) {
	t.Helper()
	r := newRig(t, tanktest.Well{Level0: 138, Inflow: 20, Moves: []tanktest.Move{truck}})
	r.every = every
	r.sensor = func(i int, s, v float64) (float64, bool) { return tanktest.Radar(i, s, v+off(s)), true }
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != loads {
		t.Errorf("%s: want %d loads: %+v %+v %+v", name, loads, r.loads, r.events, r.verdicts)
	}
}

// An echo behind a filter comes down by 37 in and goes back to where it was, a part of the way unseen while it is not believed, and then
// away to somewhere else before anything is decided: nothing left. Where a truck came meanwhile the level is not where it was.
func TestAnEchoThatGoesBackAndOn(t *testing.T) {
	at := 4 * tanktest.Hour
	hung := func(s float64) float64 {
		return -decayed(s, at, 0, 37, 45) + decayed(s, at+1500, 0, 37, 45) + decayed(s, at+3800, 0, 26, 60)
	}
	shown(t, "an echo", 10, hung, tanktest.Move{Rate: 1}, 0)
	shown(t, "a truck meanwhile", 10, hung, tanktest.Move{From: at + 1800, Bbl: 80, Rate: 6}, 1)
}

// A technician feeds the input of a transmitter with a quarter of its range after the other, and with its own reading for seconds in
// between. What he began with was no oil: where the level is back where it was before him, nothing left.
func TestACurrentLoopIsTested(t *testing.T) {
	at := 4 * tanktest.Hour
	quarters := []float64{240, 180, 120, 60, 0, 0, 60, 120, 180, 240}
	loop := func(s float64) float64 {
		k, in := math.Floor((s-at)/150), math.Mod(s-at, 150)
		if s < at || int(k) >= len(quarters) || in < 6 {
			return 0
		}
		return quarters[int(k)] - 138
	}
	shown(t, "a loop", 5, loop, tanktest.Move{Rate: 1}, 0)
}

// A well makes nothing, so that a good sensor of few digits stands for two minutes at rest: where all of a fall is between two readings, the
// sensor was spanned anew, and no truck took it while the value stood. Where a value stands for longer than it does at rest, one may have.
func TestAFallWhileTheValueStands(t *testing.T) {
	for stood, want := range map[float64]float64{120: 15.7, 400: 0} {
		ts := &tankState{}
		ts.interval = interval{usual: 10, mean: 10, held: 90, heldDev: 80, changes: 30}
		for s := 0.0; s < 900; s += 10 {
			v := float32(211.9)
			if s >= 600 {
				v = 196.3
			} else if s >= 600-stood {
				v = 212
			}
			ts.levels.recent = append(ts.levels.recent, sample{t: s, v: v, n: 1})
		}
		d := draw{start: 440, end: 700}
		d.opening.level, d.closing.level = 212, 196.3
		if got, _ := leaps(ts, &Tank{Table: testTable(t), Loads: DefaultLoads()}, d, fasterThan); math.Abs(got-want) > 0.01 {
			t.Errorf("stood for %.0f s: %.2f in at once, want %.2f", stood, got, want)
		}
	}
}

// A technician lifts the float of a tank that was hauled half an hour before, again and again, to anywhere or to where it had stood: what
// left has left, however high the float is held, and the ticket has the closing of before.
func TestARodIsLiftedBehindALoad(t *testing.T) {
	for _, c := range []struct{ first, held, every, high, jitter float64 }{
		{2400, 195, 400, 0, 0.2}, {1300, 200, 400, 0, 0.2}, {1300, 240, 400, 90, 0.2}, {2300, 240, 500, 75, 0.2}, {850, 300, 500, 0, 0.4},
	} {
		r := newRig(t, tanktest.Well{Level0: 185, Moves: []tanktest.Move{aLoad}})
		r.site.tanks[0].Sensor, r.every = "float", 15
		high := c.high
		if high == 0 {
			high = aLoad.Bbl / tanktest.PerInch
		}
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s < aLoad.From {
				v += 0.07 * math.Sin(s*s)
			}
			if since := s - aLoad.End() - c.first; since > 0 && since < 4*c.every && math.Mod(since, c.every) < c.held {
				v += high*(1-0.1*math.Floor(since/c.every)) + c.jitter*math.Sin(s*s)
			}
			return math.Round(8*v) / 8, true
		}
		r.run(0, 10*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-aLoad.Bbl) > 1 {
			t.Errorf("%+v: %+v %+v", c, r.loads, r.events)
		}
	}
}

// What stands since a load and then is far above it was lifted, and had not hung in the load; what comes down from there may have.
func TestAValueThatStandsSinceALoad(t *testing.T) {
	for to, want := range map[float64]acceptance{149: refused, 30: unfrozen} {
		ts := &tankState{}
		ts.seen, ts.drawing, ts.searchFrom, ts.lastFallAt = true, true, 8000, 10_060
		ts.last, ts.heldSince = point{12_385, 75.125}, 10_000
		ts.interval = interval{usual: 15, mean: 15, held: 40, changes: 30}
		ts.pending = pending{count: 6, distinct: 3, first: point{12_400, to}, last: point{12_475, to + 0.125}}
		if got := ts.pendingIsTrue(&Tank{Height: 192, Table: testTable(t), Loads: DefaultLoads()}); got != want {
			t.Errorf("to %.0f in: %v, want %v", to, got, want)
		}
	}
}

// A float that is lifted by hand, slowly enough to be seen on its way, and let down again brings no oil back.
func TestWhatIsLiftedAndLetDownHasNotComeBack(t *testing.T) {
	for _, down := range []float64{0, 1} {
		ts := &tankState{}
		for s := 0.0; s < 3600; s += 15 {
			up := stats.Clamp((s-1200)/180, 0, 1) - down*stats.Clamp((s-1800)/60, 0, 1)
			ts.levels.recent = append(ts.levels.recent, sample{t: s, v: float32(78 + 70*up), n: 1})
		}
		ts.last.t = 3585
		d := draw{start: -1500, end: 0, samples: 40, next: math.Inf(1), leaptAt: math.Inf(1)}
		d.opening.level, d.closing.level = 150, 78
		r := ts.regained(&Tank{Table: testTable(t), Loads: DefaultLoads()}, d, 3585)
		if came := r.inches > 60; came != (down == 0) {
			t.Errorf("let down %v: %+v", down == 1, r)
		}
	}
}

// A float hangs in a load and drops to the oil before anything is decided: what was a load of a third, sure of itself, asks.
func TestTheRestOfALoadThatHung(t *testing.T) {
	hung := aLoad.From + 500
	r := newRig(t, aWell)
	held := r.wells[0].Level(hung)
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s > hung && s < aLoad.End()+300 {
			v = held + 0.125*math.Mod(math.Floor(s/40), 2)
		}
		return v, true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) == 0 {
		t.Fatal("no load")
	}
	if off := aLoad.Bbl - r.loads[0].GaugeBbl; off > 1 {
		asksFor(t, r.loads[0], "if the sensor hung")
		if r.loads[0].ErrorBbl < off-5 {
			t.Errorf("off by %.1f bbl, and says %.1f", off, r.loads[0].ErrorBbl)
		}
	}
}

// Five minutes behind a load the tank is filled from its neighbour, and a pressure sensor's dip has hardly faded: what is poured in is no
// rest, and none of the closing.
func TestAPressureSensorsClosingBeforeARefill(t *testing.T) {
	for _, rate := range []float64{1.5, 6} {
		refill := tanktest.Move{From: aLoad.End() + 330, Bbl: -60, Rate: rate}
		r := newRig(t, tanktest.Well{Level0: 170, Moves: []tanktest.Move{aLoad, refill}})
		r.site.tanks[0].Sensor, r.every = "hydrostatic", 20
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s > aLoad.From {
				v -= 0.6 * math.Exp(-math.Max(0, s-aLoad.End())/150)
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-aLoad.Bbl) > 1 {
			t.Errorf("refilled at %v bbl a minute: %+v", rate, r.loads)
		}
	}
}

// A neighbour that nobody gauges fills a hauled tank up to seven eighths of what was taken: that is no circulation, and a person says so.
func TestALoadThatIsMostlyRefilled(t *testing.T) {
	refill := tanktest.Move{From: aLoad.End() + 800, Bbl: -0.86 * aLoad.Bbl, Rate: 6.5}
	r := newRig(t, tanktest.Well{Level0: 185, Moves: []tanktest.Move{aLoad, refill}})
	r.run(0, 10*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%+v %+v", r.loads, r.events)
	}
	asksFor(t, r.loads[0], "came back")
}

// A technician tests the loop while a truck loads: the level goes on behind it where the pump has taken it, and it is one load, for a person.
// Where a sensor is spanned anew beside a load that came to rest, the load is what it was.
func TestALoopIsTestedInALoad(t *testing.T) {
	quarters := []float64{0, 60, 120, 180, 240}
	for _, c := range []struct{ every, begins, span float64 }{{10, 400, 0}, {15, 400, 0}, {15, 330, 0}, {5, 420, 0}, {10, 3300, -30}} {
		r := newRig(t, aWell)
		r.every = c.every
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if k := int(math.Floor((s - aLoad.From - c.begins) / 150)); k >= 0 && k < len(quarters) {
				return quarters[k] + 0.02*math.Sin(s*s), true
			} else if k >= 0 {
				v += c.span
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-(aWell.Level(aLoad.From)-aWell.Level(aLoad.End()))*tanktest.PerInch) > 1.5 {
			t.Errorf("%+v: %+v %+v", c, r.loads, r.events)
		}
	}
}

// A float that drops by a truckload after hours may have hung through a load: the event says how much is gone. One that is set by inches
// says nothing of trucks.
func TestAStepOfATruckload(t *testing.T) {
	for by, says := range map[float64]string{95: "if a truck or two came while the sensor hung, they took some 1", 170: "they took some 2", 9: "no ticket across it"} {
		r := newRig(t, tanktest.Well{Level0: 185, Inflow: 60})
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s > 5*tanktest.Hour {
				v -= by
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 8*tanktest.Hour)
		if len(r.events) != 1 || !strings.Contains(r.events[0].Note, says) || by < 10 && strings.Contains(r.events[0].Note, "truck") {
			t.Errorf("%g in: %+v", by, r.events)
		}
	}
}

// Somebody steps the loop through its quarters, three minutes each. One of them is near enough to be believed, and nobody saw the level come
// there or go: it is where it was.
func TestALoopTestOfWhichOneStepIsBelievedIsNoLoad(t *testing.T) {
	for _, steps := range [][]float64{{192, 144, 96, 48, 0}, {0, 48, 96, 144, 192}} {
		for _, level := range []float64{67.2, 30, 120} {
			at := 4.0 * tanktest.Hour
			r := newRig(t, tanktest.Well{Level0: level, Inflow: 20})
			r.sensor = func(i int, s, v float64) (float64, bool) {
				if k := int((s - at) / 180); s >= at && k < len(steps) {
					return steps[k], true
				}
				return tanktest.Radar(i, s, v), true
			}
			r.run(0, 8*tanktest.Hour)
			if len(r.loads) != 0 {
				t.Errorf("steps %v at %v in: %+v", steps, level, r.loads)
			}
		}
	}
}

// A sensor that moves between two readings some minutes before a load or behind it, faster than any pump, and stays: no oil, and what
// comes behind a load may be a float that had hung, so that it asks.
func TestAStepBesideALoadIsNoOil(t *testing.T) {
	w := tanktest.Well{Level0: 160, Inflow: 200, Moves: []tanktest.Move{{From: 6 * tanktest.Hour, Bbl: 185, Rate: 4}}}
	gauged := 185 - 200*(w.Moves[0].End()-w.Moves[0].From)/86400
	for _, c := range []struct {
		every, inches, at float64
		says              string
	}{
		{10, 4, w.Moves[0].End() + 355, "at once, faster than max_rate, which is not counted"},
		{30, 8, w.Moves[0].End() + 355, "at once, faster than max_rate, which is not counted"},
		{60, 15, w.Moves[0].End() + 355, "at once, faster than max_rate, which is not counted"},
		{60, 12, w.Moves[0].From - 545, ""},
		{30, 6, w.Moves[0].End() + 100, "faster than the pump drew and with rest on either side"}, // taken for its last part
		{30, 8, w.Moves[0].End() + 240, "faster than the pump drew and with rest on either side"},
	} {
		r := newRig(t, w)
		r.every = c.every
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s > c.at {
				v -= c.inches
			}
			return tanktest.Radar(0, s, v), true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-gauged) > 1 {
			t.Fatalf("%+v: want one load of %.1f bbl: %+v", c, gauged, r.loads)
		}
		asksFor(t, r.loads[0], c.says)
	}
}

// Readings a minute apart show the pump's own rate right behind a stop: no step.
func TestAStopIsNoStepOfTheSensor(t *testing.T) {
	a := tanktest.Move{From: 4*tanktest.Hour + 5, Bbl: 45, Rate: 6.6}
	b := tanktest.Move{From: a.End() + 400, Bbl: 64, Rate: 6.6}
	r := newRig(t, tanktest.Well{Level0: 120, Inflow: 200, Moves: []tanktest.Move{a, b}})
	r.every, r.site.tanks[0].Every = 60, time.Minute
	r.run(0, 7*tanktest.Hour)
	asksFor(t, r.loads[0], "")
}

// A rod is let down, lifted and laid aside, and let in at last as evenly as a pump draws: where the level rests where it had rested nothing
// left. The same of one that is hauled up while it is let down, by more than anybody spans. A truck that comes once it has calmed down is a
// load, also where the well makes much.
func TestARodThatJumpedAgainAndAgain(t *testing.T) {
	from := 4 * tanktest.Hour
	aside := func(since, v float64) float64 {
		switch {
		case since < 800:
			return v - math.Min(30, since*0.3)
		case since < 1400:
			return v + 40
		case since < 2000:
			return v + 85
		}
		return v + stats.Clamp(50-(since-2600)*0.06, 2.5, 50) // hung up elsewhere
	}
	hauled := func(since, v float64) float64 {
		switch {
		case since < 300:
			return v - since*0.06
		case since < 1500:
			return v + 45 - (since-300)*0.06
		case since < 2400:
			return v - 60
		}
		return v
	}
	for name, c := range map[string]struct {
		rod    func(since, v float64) float64
		inflow float64
		truck  tanktest.Move
	}{
		"let in slowly":                     {aside, 30, tanktest.Move{Rate: 1}},
		"hauled up":                         {hauled, 30, tanktest.Move{Rate: 1}},
		"a truck after it":                  {aside, 30, tanktest.Move{From: from + 4800, Bbl: 60, Rate: 6}},
		"what the well made since it":       {aside, 400, tanktest.Move{From: from + 4800, Bbl: 26, Rate: 6}},
		"a truck after one that was hauled": {hauled, 330, tanktest.Move{From: from + 4800, Bbl: 40, Rate: 6}},
	} {
		r := newRig(t, tanktest.Well{Level0: 110, Inflow: c.inflow, Moves: []tanktest.Move{c.truck}})
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if since := s - from; since > 0 {
				v = c.rod(since, v)
			}
			return v, true
		}
		r.run(0, 9*tanktest.Hour)
		took := 0.0
		for _, l := range r.loads {
			if c.truck.Bbl == 0 || c.truck.From < s(l.End) && c.truck.End() > s(l.Start) {
				took += l.GaugeBbl
			}
		}
		if math.Abs(took-c.truck.Bbl) > 3 {
			t.Errorf("%s: %.1f bbl", name, took)
			for _, l := range r.loads {
				t.Logf("%.0f to %.0f s: %.2f to %.2f in, %q", s(l.Start), s(l.End), l.Open, l.Close, l.Review)
			}
		}
	}
}

// Somebody trims the zero of a sensor without noise in a tank that nothing feeds: nobody can tell its steps from what a gateway holds back
// of a load, so that a person is asked.
func TestStepsOfAValueThatStandsStill(t *testing.T) {
	at := 4 * tanktest.Hour
	r := newRig(t, tanktest.Well{Level0: 150})
	r.every = 60
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		return 150 - 8*stats.Clamp(math.Floor((s-at)/200), 0, 3), true
	}
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%+v", r.loads)
	}
	asksFor(t, r.loads[0], "with rest between them")
}

// A zero is trimmed in many steps, some of them so soon behind another that no reading rests between them: no load. With a load's worth
// beside the steps it is one.
func TestAZeroThatIsTrimmedInManySteps(t *testing.T) {
	at := 4 * tanktest.Hour
	for name, c := range map[string]struct {
		every float64
		steps map[float64]float64 // in by s
		truck tanktest.Move
		loads int
	}{
		"six":           {60, map[float64]float64{0: 4, 240: 2, 320: 4, 490: 5.5, 680: 3, 730: 4}, tanktest.Move{Rate: 1}, 0},
		"seven":         {60, map[float64]float64{0: 7, 180: 7, 410: 4, 700: 2.5, 860: 5, 910: 3.5, 1050: 4}, tanktest.Move{Rate: 1}, 0},
		"beside a load": {60, map[float64]float64{0: 5, 240: 5, 480: 5, 960: 5, 1200: 5}, tanktest.Move{From: at + 1260, Bbl: 40, Rate: 8}, 1},
	} {
		r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{c.truck}})
		r.every, r.site.tanks[0].Every = c.every, time.Duration(c.every)*time.Second
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			for by, in := range c.steps {
				if s >= at+by {
					v -= in
				}
			}
			return tanktest.Radar(0, s, v), true
		}
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != c.loads {
			t.Errorf("%s: %+v %+v", name, r.loads, r.verdicts)
		}
	}
}
