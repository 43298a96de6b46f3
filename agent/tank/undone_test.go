package tank

import (
	"math"
	"testing"
	"time"

	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

// What was lifted by no oil and collapses is no load; a pump that takes the level back to where it was is one, for a person.
func TestALevelThatOnlyComesBack(t *testing.T) {
	at := 5 * tanktest.Hour
	ice := func(thaw float64) func(s float64) float64 { // grows for an hour, stands for one, thaws
		return func(s float64) float64 {
			up := math.Min(1, math.Max(0, (s-at+2*tanktest.Hour)/tanktest.Hour))
			return 25 * up * math.Exp(-math.Max(0, s-at)/thaw)
		}
	}
	filled := func(s float64) float64 {
		up := math.Min(1, math.Max(0, (s-at+2*tanktest.Hour)/tanktest.Hour))
		return 60 * up * (1 - math.Min(1, math.Max(0, s-at)/1200))
	}
	foam := func(s float64) float64 { // comes up within minutes, and sinks as evenly as under a pump
		return 24 * math.Min(1, math.Max(0, (s-at+480)/400)) * (1 - math.Min(1, math.Max(0, s-at)/1800))
	}
	for _, c := range []struct {
		name   string
		lifted func(s float64) float64
		loads  int
	}{{"foam sinks", foam, 0}, {"ice thaws", ice(240), 0}, {"ice thaws at once", ice(20), 0}, {"filled from elsewhere and hauled", filled, 1}} {
		r := newRig(t, tanktest.Well{Level0: 120, Inflow: 30})
		r.sensor = func(_ int, s, v float64) (float64, bool) { return v + c.lifted(s), true }
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != c.loads {
			t.Fatalf("%s: %+v, want %d", c.name, r.loads, c.loads)
		}
		if c.loads > 0 {
			asksFor(t, r.loads[0], "only came back to where it had been")
		} else {
			r.only("step")
		}
	}
}

// The transmitter is spanned anew behind a load, by chance to what it showed before it: the load was seen, and is one.
func TestASpanThatHidesALoad(t *testing.T) {
	r := newRig(t, aWell)
	back := aLoad.End() + 1200
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s >= back {
			v += r.wells[0].Level(aLoad.From) - r.wells[0].Level(aLoad.End()+60)
		}
		return v, true
	}
	r.run(0, 7*tanktest.Hour)
	r.matches(0.1, 20, labelOf(aWell, aLoad, aLoad))
	asksFor(t, r.loads[0], "stepped up at once")
}

// A sensor that jumps before a fall and behind it, as in the hands of a technician, shows no load; a load that a pump makes
// soon after a jump is one, which says so, and asks where little rest lies in between.
func TestALoadAmongJumps(t *testing.T) {
	from := 4 * tanktest.Hour
	r := newRig(t, tanktest.Well{Level0: 120, Inflow: 30})
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		switch since := s - from; {
		case since < 0 || since > 3000:
			return v, true
		case since < 1200:
			return v + 40 + 0.1*math.Sin(s), true
		default: // laid aside within a minute
			return v + 40 - 80*math.Min(1, (since-1200)/90) + 0.1*math.Sin(s), true
		}
	}
	r.run(0, 7*tanktest.Hour)
	r.matches(0, 0)

	for before, asks := range map[float64]string{1500: "", 180: "sensor jumped 3 min before it"} { // what rested since is a gauge
		r = newRig(t, aWell)
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s < aLoad.From-before {
				v -= 20
			}
			return v, true
		}
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 || r.told[0]-aLoad.End() > 50*60 || asks == "" && !remarked(r.loads[0], "sensor jumped 25 min before it") {
			t.Fatalf("%g s: %+v, %v", before, r.loads, r.told)
		}
		asksFor(t, r.loads[0], asks)
	}
}

// A rod is lifted, let down by hand as slowly as a pump draws, laid aside and let in again: the level is where it was, and nothing
// left. Where a truck came while it was out, the level is not, and the load is one.
func TestARodInSomebodysHands(t *testing.T) {
	from := 4 * tanktest.Hour
	for _, truck := range []tanktest.Move{{Rate: 1}, {From: from - 2400, Bbl: 170, Rate: 6}, {From: from + 5700, Bbl: 170, Rate: 6}} {
		w := tanktest.Well{Level0: 150, Inflow: 30, Moves: []tanktest.Move{truck}}
		r := newRig(t, w)
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			switch since := s - from; {
			case since < 0 || since > 3900:
				return v, true
			case since < 600: // lifted
				return 210 + tanktest.Radar(0, s, 0), true
			case since < 1500: // let down
				return 210 - (since-600)*0.1 + tanktest.Radar(0, s, 0), true
			case since < 2400: // laid aside
				return 20 + tanktest.Radar(0, s, 0), true
			default: // and held
				return 190 - (since-2400)*0.05 + tanktest.Radar(0, s, 0), true
			}
		}
		r.run(0, 9*tanktest.Hour)
		if truck.Bbl == 0 {
			r.matches(0, 0)
			continue
		}
		took := 0.0
		for _, l := range r.loads {
			if truck.From < s(l.End) && truck.End() > s(l.Start) {
				took += l.GaugeBbl
			}
		}
		if math.Abs(took-truck.Bbl) > 5 {
			t.Errorf("a truck at %.0f s took %.1f", truck.From, took)
			for _, l := range r.loads {
				t.Logf("%.0f to %.0f s: %.2f to %.2f in, %q", s(l.Start), s(l.End), l.Open, l.Close, l.Review)
			}
		}
	}
}

// A sensor jumps while the last of a load leaves, and stays there: nobody saw the load end, and it is one, for a person.
func TestALoadWhoseEndJumps(t *testing.T) {
	r := newRig(t, aWell)
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s > aLoad.End()-40 {
			v += 25
		}
		return v, true
	}
	r.run(0, 10*tanktest.Hour)
	if len(r.loads) != 1 || len(r.loads[0].Review) == 0 {
		t.Errorf("%+v", r.loads)
	}
}

// s are the site seconds of an instant.
func s(at time.Time) float64 { return at.Sub(tanktest.Start).Seconds() }

// A gateway that repeats values lets a jump through that is faster than any pump.
func TestAFallBetweenTwoReadingsIsNoPump(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 150})
	r.every = 60
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		v := r.wells[0].Level(s) + 0.1*math.Sin(math.Floor(s/120)*1.7) // each value twice
		if s >= 4*tanktest.Hour {
			v -= 24
		}
		return v, true
	}
	r.run(0, 7*tanktest.Hour)
	r.matches(0, 0)
}

// Noise that reads the same twice before a jump makes it no slower.
func TestAJumpAfterTwoReadingsThatAreAlike(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 150})
	r.every = 60
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		n := math.Round(s / 60)
		v := r.wells[0].Level(s) + 0.06*math.Round(5*math.Sin(n*n))
		switch at := 4 * tanktest.Hour; {
		case s >= at:
			v -= 17
		case s >= at-120:
			v = 150
		}
		return v, true
	}
	r.run(0, 7*tanktest.Hour)
	r.matches(0, 0)
}

// A technician trims the zero by and by, inches at a time: steps are no pump, however long they take together. Half a load in one step
// may be anything, and is one for a person.
func TestAFallInStepsIsNoPump(t *testing.T) {
	for _, c := range []struct {
		steps, size float64
		pumped      tanktest.Move
		loads       int
	}{{5, 5.5, tanktest.Move{Rate: 1}, 0}, {1, 6, tanktest.Move{From: 4*tanktest.Hour + 120, Bbl: 20, Rate: 4}, 1}} {
		r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{c.pumped}})
		r.every = 20
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			return v - c.size*stats.Clamp(math.Floor((s-4*tanktest.Hour)/100), 0, c.steps), true
		}
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != c.loads {
			t.Fatalf("%v steps: %+v", c.steps, r.loads)
		}
		if c.loads > 0 {
			asksFor(t, r.loads[0], "at once, faster than max_rate")
		}
	}
}

// A float hangs while the truck pumps on and comes free before it is done: what it shows then is oil, and no new span.
func TestAFloatThatFreesItselfIsNotRespanned(t *testing.T) {
	for _, long := range []float64{100, 200, 400} {
		r := newRig(t, aWell)
		held := r.wells[0].Level(aLoad.From + 400)
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s > aLoad.From+400 && s < aLoad.From+400+long {
				v = held
			}
			return v, true
		}
		r.run(0, 7*tanktest.Hour)
		r.matches(0.1, 20, labelOf(aWell, aLoad, aLoad))
		if len(r.loads[0].Review) > 0 {
			t.Errorf("hung for %.0f s: %q", long, r.loads[0].Review)
		}
	}
}

// Trucks of which nobody saw the first one's end are one ticket, for a person.
func TestMoreThanATruckHolds(t *testing.T) {
	long := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 320, Rate: 7}
	for most, asks := range map[float64]string{215: "where a truck holds 215: maybe 2 loads", 150: "maybe 3 loads"} {
		r := newRig(t, tanktest.Well{Level0: 225, Moves: []tanktest.Move{long}})
		r.site.tanks[0].Loads.TruckMax = most
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v", r.loads)
		}
		asksFor(t, r.loads[0], asks)
	}
}

// What the driver takes at last, or the noise between two trucks, does not make their pause the shorter.
func TestSmallFallBetweenTwoTrucksJoinsThemNot(t *testing.T) {
	a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 150, Rate: 5}
	last := tanktest.Move{From: a.End() + 240, Bbl: 2.6, Rate: 2}
	b := tanktest.Move{From: last.End() + 270, Bbl: 150, Rate: 5}
	well := tanktest.Well{Level0: 225, Moves: []tanktest.Move{a, last, b}}
	r := newRig(t, well)
	r.run(0, 8*tanktest.Hour)
	r.matches(0.1, 30, labelOf(well, a, last), labelOf(well, b, b))
}

// A group's tank that still moves when it is gauged, since the equaliser is narrow, asks for a person.
func TestAGroupThatStillMovesWhenItIsGauged(t *testing.T) {
	for _, slow := range []float64{60, 2400} {
		r := newRig(t, aWell, tanktest.Well{Level0: 180, Moves: []tanktest.Move{{From: aLoad.From, Bbl: 60, Rate: 2}}})
		for i := range r.site.tanks {
			r.site.tanks[i].Group = "west"
		}
		r.sensor = func(i int, s, v float64) (float64, bool) {
			by := 20 * (1 - math.Exp(-math.Max(0, s-aLoad.End())/slow))
			return v + []float64{by, -by}[i], true
		}
		r.run(0, 7*tanktest.Hour)
		for _, l := range r.loads {
			if l.Tank == "TK-1" && (len(l.Review) > 0) != (slow > 1000) {
				t.Errorf("fades within %g s: %+v", slow, l)
			}
		}
	}
}

// Four steps among fourteen readings are beside most of them, and hide no noise.
func TestScatterBesideSteps(t *testing.T) {
	var b []sample
	for i := range 14 {
		b = append(b, sample{t: 60 * float64(i), v: float32(100 - 8*float64((i+1)/3) + 0.1*math.Sin(float64(i*i)))})
	}
	if quiet, all := quietScatter(b), neighbourScatter(b); quiet > 0.3 || all < 1 {
		t.Errorf("%.2f in beside steps, %.2f in with them", quiet, all)
	}
}

// decayed is a level that goes from one to another, ever slower, since an instant.
func decayed(s, at, from, to, slow float64) float64 {
	if s < at {
		return from
	}
	return to + (from-to)*math.Exp(-(s-at)/slow)
}

// An echo of the ladder lies above the oil, then below it, behind a filter: where all of it is over the level is where it was, and
// nothing left. A truck that came meanwhile left a level that is not.
func TestEchoesAboveAndBelow(t *testing.T) {
	at := 4 * tanktest.Hour
	for _, truck := range []tanktest.Move{{Rate: 1}, {From: at + 1800, Bbl: 80, Rate: 6}} {
		r := newRig(t, tanktest.Well{Level0: 150, Inflow: 20, Moves: []tanktest.Move{truck}})
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			off := decayed(s, at, 0, 26, 40) - decayed(s, at+1200, 0, 26, 60) - decayed(s, at+1530, 0, 22, 60) + decayed(s, at+2600, 0, 22, 40)
			return v + off, true
		}
		r.run(0, 8*tanktest.Hour)
		if got := len(r.loads) > 0; got != (truck.Bbl > 0) {
			t.Errorf("a truck of %g bbl: %+v", truck.Bbl, r.loads)
		}
	}
}

// Ice lifts a level off its rest for an hour and is gone between two readings, or foam sinks for as long as it is watched: the level
// rests where it had rested. A well that begins to flow fills the tank by as much, and flows on when a truck has been: a load.
func TestALevelThatRestsWhereItRested(t *testing.T) {
	at := 5 * tanktest.Hour
	for name, c := range map[string]struct {
		every, slow float64
		truck       tanktest.Move
		flows       float64 // in/s since two hours before
		inflow      float64 // bbl a day
		loads       int
	}{
		"ice":                {30, 25, tanktest.Move{Rate: 1}, 0, 10, 0},
		"ice on a good well": {60, 60, tanktest.Move{Rate: 1}, 0, 160, 0},
		"foam":               {20, 1500, tanktest.Move{Rate: 1}, 0, 10, 0},
		"well":               {120, 0, tanktest.Move{From: at, Bbl: 50, Rate: 9}, 15.0 / 3600, 10, 1},
	} {
		r := newRig(t, tanktest.Well{Level0: 120, Inflow: c.inflow, Moves: []tanktest.Move{c.truck}})
		r.every = c.every
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if c.slow > 0 {
				v += 21*stats.Clamp((s-at+2*tanktest.Hour)/tanktest.Hour, 0, 1) - decayed(s, at+40, 0, 21, c.slow)
			}
			return v + math.Max(0, s-at+2*tanktest.Hour)*c.flows, true
		}
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != c.loads {
			t.Errorf("%s: %+v", name, r.loads)
		}
		if c.slow > 0 && len(r.loads) > 0 && len(r.loads[0].Review) == 0 {
			t.Errorf("%s: nobody is asked: %+v", name, r.loads)
		}
	}
}

// A rod that was out is let in too high, and then as slowly as a pump draws to where it was: nobody can tell it from a sensor that came
// free before a truck, so a person is asked.
func TestARodThatIsLetInSlowly(t *testing.T) {
	at := 4 * tanktest.Hour
	r := newRig(t, tanktest.Well{Level0: 110, Inflow: 20})
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if since := s - at; since > 0 && since < 1500 {
			v += 33 * math.Min(1, (1500-since)/400)
		}
		return v, true
	}
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || len(r.loads[0].Review) == 0 {
		t.Errorf("%+v", r.loads)
	}
}

// A sensor that jumped not an hour ago and jumps again while it falls is in somebody's hands, and no truck is under way: what was read
// long before it is as it was.
func TestAJumpAmongJumpsIsNoNewSpan(t *testing.T) {
	at := 4 * tanktest.Hour
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 20})
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		switch since := s - at; {
		case since < 0 || since > 3600:
			return v, true
		case since < 1200:
			return 60 + 0.1*math.Sin(s), true
		case since < 1800: // let down
			return 190 - (since-1200)*0.06 + 0.1*math.Sin(s), true
		case since < 2400: // slips
			return 120 - (since-1800)*0.06 + 0.1*math.Sin(s), true
		}
		return 84 + 0.1*math.Sin(s), true
	}
	r.run(0, 8*tanktest.Hour)
	r.matches(0, 0)
}

// A truck unloads into the tank, and hours later another takes as much, stops three times and goes on with ever less: seen as a whole that
// looks as what decays to where it was, and it is a pump that stops.
func TestALoadOfEverSmallerPartsBehindAnUnloadingTruck(t *testing.T) {
	at := 4.0 * tanktest.Hour
	moves := []tanktest.Move{{From: at - 2.7*tanktest.Hour, Bbl: -137, Rate: 5}}
	for _, bbl := range []float64{82, 18, 19, 18} {
		part := tanktest.Move{From: at, Bbl: bbl, Rate: 6.6}
		moves, at = append(moves, part), part.End()+360
	}
	w := tanktest.Well{Level0: 90, Inflow: 60, Moves: moves}
	r := newRig(t, w)
	r.run(0, 9*tanktest.Hour)
	r.matches(0.1, 30, labelOf(w, moves[1], moves[len(moves)-1]))
}
