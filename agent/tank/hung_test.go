package tank

import (
	"fmt"
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A value that hangs for some readings while a pump draws, and comes to where the pump is by then, is a gap within one load.
func TestAFloatThatHangsForMinutesWithinALoad(t *testing.T) {
	for _, minutes := range []float64{7, 9} {
		w := tanktest.Well{Level0: 110, Inflow: 40, Moves: []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 155, Rate: 7}}}
		r := newRig(t, w)
		r.every = 60
		hangs := 4*tanktest.Hour + 480
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s > hangs && s < hangs+60*minutes {
				return math.Round(100*w.Level(hangs)) / 100, true
			}
			return v, true
		}
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-155) > 2.5 {
			t.Errorf("hung for %g min: want one load of 155 bbl: %+v, events %+v", minutes, r.loads, r.events)
		}
	}
}

// A sensor that repeats its last value from before a truck comes until minutes into its load, and then falls as under the pump: the load
// began in between, at the value that stood. One that comes to another level and rests there was spanned anew.
func TestASensorThatHangsUntilATruckLoads(t *testing.T) {
	start := 4 * tanktest.Hour
	for _, c := range []struct{ every, hangs, free float64 }{{60, start - 1380, start + 600}, {60, start, start + 870}, {60, start - 1800, start + 590}, {30, start - 900, start + 480}, {60, start - 1800, start - 1200}} {
		w := tanktest.Well{Level0: 150, Inflow: 30, Moves: []tanktest.Move{{From: start, Bbl: 169, Rate: 7}}}
		r := newRig(t, w)
		r.every = c.every
		held := math.NaN()
		r.sensor = func(i int, s, v float64) (float64, bool) {
			switch {
			case s < c.hangs:
				held = v
			case s < c.free:
				return held, true
			case c.free < start: // spanned anew
				return v - 20, true
			}
			return v, true
		}
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: want one load: %+v, events %+v", c, r.loads, r.events)
		}
		opening := w.Level(start)
		if c.free < start {
			opening -= 20
		}
		if l := r.loads[0]; math.Abs(l.Open-opening) > 0.8 {
			t.Errorf("%+v: it opens at %.2f in, want %.2f: %+v", c, l.Open, opening, l)
		}
	}
}

// A loop at its end shows one value from amid the fall until the well has come up to it, hours later and by its least step.
func TestAConverterAtItsEndThatComesFreeByOneStepAsks(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 170, Inflow: 90, Moves: []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 150, Rate: 5}}})
	end := r.wells[0].Level(4*tanktest.Hour+1800) + 2.5
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		v := math.Max(end, r.wells[0].Level(s)+0.02*math.Sin(s))
		return math.Round(v/0.06) * 0.06, true
	}
	r.run(0, 12*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("want one load: %+v", r.loads)
	}
	asksFor(t, r.loads[0], "value stood still at its closing")
}

// A value that hangs minutes into a load, and comes to where the oil is by then, stood where it hung and not at the closing: the
// ticket says the height and how long, as the event says, and asks where that would hide another truck.
func TestAValueThatHungAmidALoadSaysWhereItStood(t *testing.T) {
	for long, says := range map[float64]string{3 * tanktest.Hour: "3.0 h", 2400: "40 min"} {
		r := newRig(t, tanktest.Well{Level0: 170, Inflow: 60, Moves: []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 160, Rate: 6}}})
		hung := 4*tanktest.Hour + 480
		held := math.Round(100*r.wells[0].Level(hung)) / 100
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s > hung && s < hung+long {
				return held, true
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 12*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("want one load: %+v", r.loads)
		}
		says = fmt.Sprintf("value stood still at %.2f in, and not at its closing, for %s", held, says)
		if l := r.loads[0]; long > 3600 {
			asksFor(t, l, says)
		} else if asksFor(t, l, ""); !remarked(l, says) {
			t.Errorf("remarks %q, want %q", l.Remarks, says)
		}
	}
}

// A sensor that is spanned anew minutes into a load, read each minute, asks: eight readings before the step show the pump.
func TestASpanInTheFirstMinutesOfALoadAsks(t *testing.T) {
	start := 4 * tanktest.Hour
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{{From: start, Bbl: 152, Rate: 5.8}}})
	r.every = 60
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s > start+510 {
			v += 12
		}
		return v, true
	}
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("want one load: %+v", r.loads)
	}
	asksFor(t, r.loads[0], "re-spanned during the load")
}

// A sensor that fades as evenly as a pump draws, stands dead, and is back alive where it was shows no load.
func TestASensorThatFadesAndIsBackShowsNoLoad(t *testing.T) {
	at := 4 * tanktest.Hour
	for _, every := range []float64{10, 60} {
		for _, low := range []float64{0, 40} {
			for _, stands := range []float64{300, 1020, 2400} {
				r := newRig(t, tanktest.Well{Level0: 130, Inflow: 60})
				r.every = every
				r.sensor = func(_ int, s, v float64) (float64, bool) {
					if back := at + (v-low)/(3.3/60) + stands; s > at && s < back {
						return math.Max(low, v-3.3/60*(s-at)), true
					}
					return v, true
				}
				r.run(0, 9*tanktest.Hour)
				if len(r.loads) > 0 || r.rules()["step"] == 0 {
					t.Errorf("read every %g s, down to %g in for %g s: want a step and no load: %+v, %+v", every, low, stands, r.events, r.loads)
				}
			}
		}
	}
}

// A load that a sensor slept through, while it repeated a value as it never does, is a ticket for a person.
func TestALoadWithinAHangAsks(t *testing.T) {
	start := 4 * tanktest.Hour
	for _, c := range []struct{ every, bbl, hangs, free float64 }{{10, 100, start - 120, start + 840}, {10, 150, start - 180, start + 1800}, {60, 150, start - 180, start + 1800}} {
		w := tanktest.Well{Level0: 150, Inflow: 30, Moves: []tanktest.Move{{From: start, Bbl: c.bbl, Rate: 8}}}
		r := newRig(t, w)
		r.every = c.every
		held := math.NaN()
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s >= c.hangs && s < c.free {
				return held, true
			}
			held = v
			return v, true
		}
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-c.bbl) > 2 || len(r.loads[0].Review) == 0 {
			t.Errorf("%+v: want one load that asks: %+v, events %+v", c, r.loads, r.events)
		}
	}
}

// Water that is drawn until the truck's pump begins is in the ticket, and asks; so quick a start as a pump's does not.
func TestWaterDrawnUntilTheTruckPumpsAsks(t *testing.T) {
	start := 4 * tanktest.Hour
	for _, c := range []struct {
		bbl, rate, every float64
		asks             string
	}{{30, 1.5, 10, "before the pump drew"}, {12, 1.2, 30, "before the pump drew"}, {30, 1.5, 60, "before the pump drew"}, {3, 1.5, 10, ""}, {12, 6, 10, ""}} {
		first := tanktest.Move{From: start, Bbl: c.bbl, Rate: c.rate}
		r := newRig(t, tanktest.Well{Level0: 170, Inflow: 30, Moves: []tanktest.Move{first, {From: first.End(), Bbl: 185, Rate: 7.4}}})
		r.every = c.every
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: want one load: %+v", c, r.loads)
		}
		asksFor(t, r.loads[0], c.asks)
	}
}

// A sensor that shows what is not there, with a load under it, has seen nothing: what is missing behind it is a ticket for a person.
// Where nothing is missing, and where a technician spanned it anew, there is none, or the load that was seen.
func TestALoadUnderAFalseEchoAsks(t *testing.T) {
	start := 5 * tanktest.Hour
	load := tanktest.Move{From: start, Bbl: 150, Rate: 6}
	for _, c := range []struct {
		name     string
		every    float64
		moves    []tanktest.Move
		from, to float64
		shows    func(v float64) float64
		bbl      float64
		asks     bool
		sways    float64
	}{
		{"ice over the load", 10, []tanktest.Move{load}, start - tanktest.Hour, load.End() + 2*tanktest.Hour, func(float64) float64 { return 228 }, 150, true, 0.15},
		{"ice that lets it stand still", 10, []tanktest.Move{load}, start - tanktest.Hour, load.End() + 2*tanktest.Hour, func(float64) float64 { return 228 }, 150, true, 0.02},
		{"ice over the load, read each minute", 60, []tanktest.Move{load}, start - 2*tanktest.Hour, load.End() + tanktest.Hour, func(float64) float64 { return 228 }, 150, true, 0.15},
		{"ice, and no load", 10, nil, start - tanktest.Hour, start + 2*tanktest.Hour, func(float64) float64 { return 228 }, 0, false, 0.15},
		{"a new span, and back", 10, nil, start - tanktest.Hour, start + 2*tanktest.Hour, func(v float64) float64 { return v + 12 }, 0, false, 0.15},
		{"a load in a new span", 10, []tanktest.Move{load}, start - tanktest.Hour, load.End() + 2*tanktest.Hour, func(v float64) float64 { return v + 12 }, 150, false, 0.15},
	} {
		r := newRig(t, tanktest.Well{Level0: 150, Inflow: 30, Moves: c.moves})
		r.every = c.every
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s >= c.from && s < c.to {
				v = c.shows(v)
			}
			return v + c.sways*math.Sin(s*2.39996), true
		}
		r.run(0, 12*tanktest.Hour)
		if c.bbl == 0 {
			if len(r.loads) > 0 {
				t.Errorf("%s: want no load: %+v, events %+v", c.name, r.loads, r.events)
			}
			continue
		}
		if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-c.bbl) > 4 || c.asks != (len(r.loads[0].Review) > 0) {
			t.Errorf("%s: want one load of %g bbl, asks %v: %+v, events %+v", c.name, c.bbl, c.asks, r.loads, r.events)
		}
	}
}

// A value that stands still from some minutes before a truck until it loads hides what flowed in meanwhile, and the load says so.
func TestTheOpeningBehindAValueThatHung(t *testing.T) {
	start := 4 * tanktest.Hour
	for _, c := range []struct{ every, hangs, free float64 }{{60, 600, 150}, {120, 720, 420}, {10, 780, 120}} {
		w := tanktest.Well{Level0: 130, Inflow: 300, Moves: []tanktest.Move{{From: start, Bbl: 150, Rate: 6}}}
		r := newRig(t, w)
		r.every = c.every
		held := math.NaN()
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s < start-c.hangs || s >= start+c.free {
				held = v
			}
			return held, true
		}
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: %d loads", c, len(r.loads))
		}
		if l := r.loads[0]; len(l.Review) == 0 || math.Abs(l.Open-w.Level(start)) > 0.4 || math.Abs(l.GaugeBbl-(150-w.Inflow/86400*1500)) > 1 {
			t.Errorf("%+v: opens at %.2f in, want %.2f, %.1f bbl, review %q", c, l.Open, w.Level(start), l.GaugeBbl, l.Review)
		}
	}
}

// One that comes free right before the pump starts, to where the well has filled meanwhile, shows the opening in one reading.
func TestAHangThatEndsRightBeforeALoad(t *testing.T) {
	for _, free := range []float64{7, 40, 100} {
		start := 4*tanktest.Hour + free
		w := tanktest.Well{Level0: 95, Inflow: 270, Moves: []tanktest.Move{{From: start, Bbl: 154, Rate: 4.6}}}
		r := newRig(t, w)
		r.every = 120
		held := 0.0
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s < start-1300 || s >= 4*tanktest.Hour {
				held = v
			}
			return held, true
		}
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].Open-w.Level(start)) > 0.3 {
			t.Errorf("%g s: want one load from %.2f in: %+v", free, w.Level(start), r.loads)
		}
	}
}

// A value that stands from minutes before the end of a load, and comes down by less than looks like a jump when the truck has gone: the load
// ended where the pump came to that level, and not when the value did.
func TestASensorThatHangsOverTheEndOfALoad(t *testing.T) {
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 120, Rate: 6}
	w := tanktest.Well{Level0: 110, Inflow: 260, Moves: []tanktest.Move{load}}
	r := newRig(t, w)
	r.every = 30
	hangs := load.End() - 150
	r.sensor = func(i int, s, v float64) (float64, bool) {
		if s > hangs && s < hangs+630 {
			return tanktest.Radar(i, hangs, w.Level(hangs)), true
		}
		return v, true
	}
	r.run(0, 7*tanktest.Hour)
	r.matches(0.15, 60, labelOf(w, load, load))
	asksFor(t, r.loads[0], "stuck")
}

// A blind zone shows its end, but for a flicker of the last digit, which is as coarse as the noise of the level on the other side of the load.
func TestABlindZoneThatFlickers(t *testing.T) {
	asksFor(t, aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) {
		if v = math.Round(10*math.Min(v+2*tanktest.Radar(i, s, 0), 160)) / 10; v == 160 && math.Mod(s, 310) == 0 {
			v = 160.1
		}
		return v, true
	}, 60).loads[0], "saturated at the opening")
}

// A value that hung for a whole load and for the hours in which the well made it good shows no fall: what is missing is told, by the tank
// beside it, which took no more than its well makes. So it is behind a silence of as long.
func TestALoadThatAHungValueHid(t *testing.T) {
	for _, c := range []struct {
		hours  float64
		silent bool
	}{{7, false}, {16, false}, {40, false}, {7, true}, {16, true}} {
		from := 20 * tanktest.Hour
		w := tanktest.Well{Level0: 30, Inflow: 150 * 24 / c.hours, Moves: []tanktest.Move{{From: from + 2*tanktest.Hour, Bbl: 135, Rate: 6}}}
		w.Level0 = 150 - w.Level(from) + 30
		r := newRig(t, w, tanktest.Well{Level0: 40, Inflow: 60})
		r.every = 30
		held := 0.0
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if i == 0 && s >= from && s < from+c.hours*tanktest.Hour {
				return held, !c.silent
			}
			if i == 0 {
				held = v
			}
			return v, true
		}
		r.run(0, from+(c.hours+4)*tanktest.Hour)
		var told []float64
		for _, e := range r.events {
			if e.Rule == "unexplained-loss" {
				told = append(told, e.Bbl)
			}
		}
		if len(r.loads) > 0 || len(told) != 1 || math.Abs(told[0]-135) > 8 {
			t.Errorf("%+v: told of %.1f bbl: %+v", c, told, r.events)
		}
	}
}

// A float that reports only changes hangs above the oil when the truck goes, is silent but for a heartbeat, and comes down at once half an hour
// later: that is the end of the one load, and it asks.
func TestAFloatThatHangsInSilenceOverTheEndOfALoad(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 120, Rate: 5}
	w := tanktest.Well{Level0: 170, Inflow: 40, Moves: []tanktest.Move{load}}
	r := newRig(t, w)
	r.every, r.site.tanks[0].Sensor, r.site.tanks[0].Every = 20, "float", 0
	told, at, high := 0.0, -2*tanktest.Hour, w.Level(load.End())+10
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s > load.From && s < load.End()+1800 {
			v = math.Max(v, high)
		}
		v = math.Round(4*(v+0.12*math.Sin(s*2.39996))) / 4
		if s > load.From+600 && s < load.End()+1800 && v < high+0.3 {
			v = told
		}
		if v == told && s-at < 1500 {
			return 0, false
		}
		told, at = v, s
		return v, true
	}
	r.run(0, 10*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-120) > 4 {
		t.Fatalf("want one load of 120 bbl: %+v", r.loads)
	}
	asksFor(t, r.loads[0], "sensor stuck")
}

// A float that stands for an hour before a load, where the well nowhere lets it stand for half an hour, may have hung: the load asks and its
// error holds what the well makes.
func TestAFloatThatStandsAsTheWellNeverLetsIt(t *testing.T) {
	load := tanktest.Move{From: 14 * tanktest.Hour, Bbl: 150, Rate: 6}
	for _, hung := range []float64{0, 3300} {
		w := tanktest.Well{Level0: 70, Inflow: 280, Moves: []tanktest.Move{load}}
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = 30, "float"
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s > load.From-hung && s < load.End() {
				v = math.Min(v, w.Level(load.From-hung))
			}
			return math.Round(8*v) / 8, true
		}
		r.run(0, 18*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("want one load: %+v", r.loads)
		}
		if hung == 0 {
			asksFor(t, r.loads[0], "")
			continue
		}
		asksFor(t, r.loads[0], "a float at its stop or that hangs")
		if l := r.loads[0]; math.Abs(l.GaugeBbl-150+280*load.Bbl/6/1440) > l.ErrorBbl {
			t.Errorf("%.1f bbl, give or take %.1f", l.GaugeBbl, l.ErrorBbl)
		}
	}
}
