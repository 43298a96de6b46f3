package tank

import (
	"math"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// What a driver draws to see whether the hose and the seal hold, minutes before the rest, is his, and asks for nothing; what leaves as
// long before as a thief needs is none.
func TestASealCheckBelongsToItsLoad(t *testing.T) {
	check := tanktest.Move{From: aLoad.From - 270, Bbl: 2.5, Rate: 5}
	for name, c := range map[string]struct {
		first   tanktest.Move
		every   float64
		counted bool
		sensor  string
	}{
		"each 10 s":     {check, 10, true, "radar"},
		"each 60 s":     {check, 60, true, "radar"},
		"minutes more":  {tanktest.Move{From: aLoad.From - 600, Bbl: 2.5, Rate: 5}, 10, false, "radar"},
		"5 bbl of them": {tanktest.Move{From: aLoad.From - 300, Bbl: 5, Rate: 5}, 60, true, "radar"},
		"slowly":        {tanktest.Move{From: aLoad.From - 330, Bbl: 3.5, Rate: 2.2}, 45, true, "hydrostatic"}, // either time is known to a reading
		"no hatch":      {tanktest.Move{From: aLoad.From - 270, Bbl: 3, Rate: 5}, 60, true, "hydrostatic"},     // which would be shut again behind it
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{c.first, aLoad}})
			r.every, r.site.tanks[0].Sensor = c.every, c.sensor
			r.run(0, 8*tanktest.Hour)
			first := aLoad
			if c.counted {
				first = c.first
			}
			r.matches(0.15, 90, labelOf(r.wells[0], first, aLoad))
			if len(r.loads) == 1 && c.counted {
				asksFor(t, r.loads[0], "")
			}
		})
	}
}

// A driver tops off, minutes behind the rest, by some barrels that stand little out of the noise: what is less than a load and left at a pump's
// rate is his, and no foam.
func TestATopOffInTheNoiseBelongsToItsLoad(t *testing.T) {
	last := tanktest.Move{From: aLoad.End() + 260, Bbl: 4.5, Rate: 4}
	w := tanktest.Well{Level0: 180, Moves: []tanktest.Move{aLoad, last}}
	r := newRig(t, w)
	r.every, r.site.tanks[0].Sensor = 60, "ultrasonic"
	r.sensor = func(i int, s, v float64) (float64, bool) { return v + 8*tanktest.Radar(i, s, 0), true }
	r.run(0, 8*tanktest.Hour)
	r.matches(0.5, 90, labelOf(w, aLoad, last))
}

// The well of a full tank, which is shut in, comes back behind it, as no hatch that is shut again: what left minutes before was drawn.
func TestAFullTanksWellIsNoHatch(t *testing.T) {
	load := tanktest.Move{From: 24 * tanktest.Hour, Bbl: 150, Rate: 2.5}
	check := tanktest.Move{From: load.From - 330, Bbl: 3, Rate: 3}
	on := func(from, to float64) tanktest.Move {
		return tanktest.Move{From: from, Bbl: (from - to) / 3600 * 6, Rate: 0.1}
	}
	w := tanktest.Well{Level0: 155, Moves: []tanktest.Move{on(0, load.From-7200), check, load, on(load.End()+300, 29*tanktest.Hour)}}
	r := newRig(t, w)
	r.every, r.site.tanks[0].Sensor = 60, "hydrostatic"
	r.run(0, 29*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-(w.Level(check.From)-w.Level(load.End()))*tanktest.PerInch) > 1 {
		t.Errorf("want the seal check's barrels too: %+v", r.loads)
	}
}

// What the noise and seldom readings hide of a seal check is told by the level before it.
func TestASealCheckInTheNoiseBelongsToItsLoad(t *testing.T) {
	for name, c := range map[string]struct{ bbl, every, noise float64 }{
		"seldom read": {3, 120, 3}, "noisy": {2.5, 15, 8}, "small": {1.9, 30, 4},
	} {
		t.Run(name, func(t *testing.T) {
			check := tanktest.Move{From: aLoad.From - 240, Bbl: c.bbl, Rate: 4}
			w := tanktest.Well{Level0: 180, Moves: []tanktest.Move{check, aLoad}}
			r := newRig(t, w)
			r.every, r.site.tanks[0].Sensor, r.site.tanks[0].Every = c.every, "ultrasonic", time.Duration(c.every)*time.Second
			r.sensor = func(i int, s, v float64) (float64, bool) { return v + c.noise*tanktest.Radar(i, s, 0), true }
			r.run(0, 8*tanktest.Hour)
			if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-aLoad.Bbl-c.bbl) > 1 {
				t.Errorf("want %.1f bbl: %+v", aLoad.Bbl+c.bbl, r.loads)
			}
		})
	}
}

// Oil that rocks on for minutes behind the stop, while the driver drains his hose, is not at rest at its lowest wave, however high the well's
// slugs lift the level at other times: the closing is the rest behind it.
func TestTheClosingIsNotReadInTheSloshBehindTheStop(t *testing.T) {
	for k := range 6 {
		w := tanktest.Well{Level0: 130, Moves: []tanktest.Move{aLoad}}
		for at := aLoad.From - 3*tanktest.Hour; at < aLoad.From+3*tanktest.Hour; at += 1800 {
			w.Moves = append(w.Moves, tanktest.Move{From: at + 900, Bbl: -4, Rate: 2})
		}
		r := newRig(t, w)
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s > aLoad.From && s < aLoad.End()+220 {
				v += 1.4 * math.Sin(s*s+float64(k)) // uncorrelated from one reading to the next
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 6*tanktest.Hour)
		if want := w.Level(aLoad.End()); len(r.loads) != 1 || math.Abs(r.loads[0].Close-want) > 0.35 {
			t.Errorf("%d: %+v, want a closing of %.2f in", k, r.loads, want)
		}
	}
}

// A tank whose well is turned to the next one stands still, and is right: its noise is not cut off at an end of the
// sensor, and what stands behind the load had come to rest. Where the next one takes no more than before it may be so.
func TestATankWhoseWellIsTurnedAwayIsNotAccused(t *testing.T) {
	fill := func(from, to float64) tanktest.Move {
		return tanktest.Move{From: from, Bbl: (from - to) / 60 * 0.3, Rate: 0.3}
	}
	load := tanktest.Move{From: 9 * tanktest.Hour, Bbl: 150, Rate: 6}
	last := 15 * tanktest.Hour
	for name, c := range map[string]struct {
		every, off float64 // when the well is turned away
		shows      func(s, v float64) float64
		says       string
	}{
		"flickers": {30, load.From - 2400, func(s, v float64) float64 {
			return math.Round(8*math.Min(v+0.64+2*tanktest.Radar(0, s, 0), 119.95)) / 8
		}, "saturated at the opening"},
		"a float": {30, load.End(), func(_, v float64) float64 { return 0.08 * math.Round(v/0.08) }, "stood still at its closing"},
	} {
		for _, turned := range []bool{true, false} {
			own := tanktest.Well{Level0: 30, Moves: []tanktest.Move{fill(0, c.off), load}}
			next := tanktest.Well{Level0: 60, Moves: []tanktest.Move{fill(c.off, last)}}
			if !turned {
				next = tanktest.Well{Level0: 60}
			}
			r := newRig(t, own, next)
			r.every = c.every
			r.sensor = func(i int, s, _ float64) (float64, bool) {
				v := r.wells[i].Level(s)
				if i == 0 {
					v = c.shows(s, v)
				}
				return v, true
			}
			r.run(0, last)
			if len(r.loads) != 1 {
				t.Fatalf("%s, %v: %+v", name, turned, r.loads)
			}
			if !turned {
				asksFor(t, r.loads[0], c.says)
				continue
			}
			asksFor(t, r.loads[0], "")
		}
	}
}

// Two tanks that fill side by side from their own wells go on filling while one is hauled: what rose until then as it does behind flowed in.
func TestATankThatFillsBesideAnotherKeepsItsInflow(t *testing.T) {
	var loads, others []tanktest.Move
	for k := range 4 {
		loads = append(loads, tanktest.Move{From: 2*tanktest.Hour + float64(k)*6000, Bbl: 100, Rate: 6})
		others = append(others, tanktest.Move{From: 2*tanktest.Hour + float64(k)*6000 + 2500, Bbl: 100, Rate: 6})
	}
	r := newRig(t, tanktest.Well{Level0: 100, Inflow: 1000, Moves: loads}, tanktest.Well{Level0: 80, Inflow: 1000, Moves: others})
	r.every = 15
	r.sensor = func(i int, s, v float64) (float64, bool) {
		return tanktest.Radar(i, s, v+0.3*math.Sin(s/48)), true
	}
	r.run(0, 9*tanktest.Hour)
	for _, l := range r.loads {
		if made := 1000.0 / 1440 * l.End.Sub(l.Start).Minutes(); math.Abs(l.InflowBbl-made) > made/2 {
			t.Errorf("%s %v: %.1f bbl flowed in, want %.1f", l.Tank, l.Start, l.InflowBbl, made)
		}
	}
}

// Water is drawn off slowly, and the truck's pump starts minutes behind it: the shelf between the two is where the load begins, however the
// sensor steps, whatever the pump's rate.
func TestWaterThatIsDrawnOffMinutesBeforeALoadIsNotTheTrucks(t *testing.T) {
	for name, c := range map[string]struct {
		bbl, rate, shelf, pump, every, step float64
	}{
		"coarse steps":       {2.1, 0.7, 210, 2.5, 15, 0.25},
		"fine steps":         {3.7, 1, 165, 6, 15, 0.01},
		"a short shelf":      {2.9, 0.8, 125, 5, 10, 0.01},
		"polls of a minute":  {3.3, 0.8, 212, 5, 60, 0.01},
		"slowly, each 5 s":   {2.3, 0.4, 150, 7, 5, 0.01},
		"coarse, more of it": {5.3, 1.2, 174, 6, 15, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 180, Rate: c.pump}
			water := tanktest.Move{From: load.From - c.shelf - c.bbl/c.rate*60, Bbl: c.bbl, Rate: c.rate}
			w := tanktest.Well{Level0: 180, Inflow: 30, Moves: []tanktest.Move{water, load}}
			r := newRig(t, w)
			r.every = c.every
			r.sensor = func(_ int, _, v float64) (float64, bool) { return math.Round(v/c.step) * c.step, true }
			r.run(0, 8*tanktest.Hour)
			r.matches(math.Max(0.15, c.step), 60, labelOf(w, load, load))
			if len(r.loads) == 1 && c.bbl > 2.5 && c.shelf < 200 { // clearly more than makes a ticket wrong, and near
				asksFor(t, r.loads[0], "are not counted")
			}
		})
	}
}

// What trucks draw from the tank beside it is no sign against a well that was turned to that: a float that stands still while the next one fills, and
// is hauled, has not hung; and one that fills it as fast as before, and always was hauled, was not turned to it.
func TestATankBesideAHauledOne(t *testing.T) {
	fill := func(from, to, rate float64) tanktest.Move {
		return tanktest.Move{From: from, Bbl: (from - to) / 60 * rate, Rate: rate}
	}
	load, last := tanktest.Move{From: 9 * tanktest.Hour, Bbl: 150, Rate: 6}, 13*tanktest.Hour
	haul := func(at float64) tanktest.Move { return tanktest.Move{From: at, Bbl: 120, Rate: 6} }
	for name, c := range map[string]struct {
		own, next []tanktest.Move
		came      float64
	}{
		"turned away": {
			[]tanktest.Move{fill(0, load.From-6000, 0.3), load},
			[]tanktest.Move{fill(load.From-6000, last, 0.3), haul(load.From - 3000)}, 0,
		},
		"full for a while": {
			[]tanktest.Move{fill(3600, load.From-900, 0.6), load, fill(load.From+60, last, 0.6)},
			[]tanktest.Move{fill(3600, last, 0.6), haul(load.From - 9000), haul(load.From - 4000)}, 0.6 * 25,
		},
	} {
		r := newRig(t, tanktest.Well{Level0: 60, Moves: c.own}, tanktest.Well{Level0: 110, Moves: c.next})
		r.every = 30
		r.site.tanks[0].Sensor = "float"
		r.sensor = func(i int, s, v float64) (float64, bool) {
			return 0.08 * math.Round(r.wells[i].Level(s)/0.08), true
		}
		r.run(0, last)
		for _, l := range r.loads {
			if l.Tank != "TK-1" {
				continue
			}
			if asksFor(t, l, ""); math.Abs(l.InflowBbl-c.came) > 4 {
				t.Errorf("%s: %.1f bbl flowed in, want %.1f", name, l.InflowBbl, c.came)
			}
		}
	}
}

// A well that is turned away minutes before a load leaves a level that rose until then, and stands between two steps of the sensor: neither is noise
// that is cut off. As little is a rest of two values quieter than one of four, where a step is as wide as the noise.
func TestAStepIsNotQuiet(t *testing.T) {
	rose := atRest(t, 1, strings.Repeat("7 ", 5)+"7.1 7.1 "+strings.Repeat("7.2 ", 4)+"7.1 7.1 "+strings.Repeat("7.2 ", 12)+"7.1 7.1 "+strings.Repeat("7.2 ", 12)+"7.1")
	if saturated("radar", rose, atRest(t, 1, "3.3 3.3 3.3 3 "+strings.Repeat("3 3.1 ", 18)), nil, -1) {
		t.Error("a level that had risen to where it rests is called saturated")
	}
	few := atRest(t, 1, "2.1 "+strings.Repeat("2.2 ", 7)+strings.Repeat("2.3 ", 15)+"2.4")
	noisy := atRest(t, 1, "8.2 7.6 7.9 7.9 7.8 8 7.8 7.7 7.8 7.9 7.8 7.7 7.8 7.9 8 7.9 8 7.8 8 7.9 7.8 7.7 7.8 8")
	if quieted("radar", few, noisy) {
		t.Error("a rest of two steps' width is called quiet")
	}
	if !quieted("radar", atRest(t, 1, strings.Repeat("2.3 ", 24)), noisy) {
		t.Error("a rest of one value beside noise is not called quiet")
	}
}

// A float that hangs when the truck begins stood where the level stood, if the well had been turned to the next tank: nothing flowed in unseen.
func TestAFloatThatHangsInAnIdleTank(t *testing.T) {
	load, last := tanktest.Move{From: 9 * tanktest.Hour, Bbl: 150, Rate: 6}, 15*tanktest.Hour
	off := load.From - 3000
	own := tanktest.Well{Level0: 30, Moves: []tanktest.Move{{Bbl: -off / 60 * 0.4, Rate: 0.4}, load}}
	next := tanktest.Well{Level0: 60, Moves: []tanktest.Move{{From: off, Bbl: -(last - off) / 60 * 0.4, Rate: 0.4}}}
	r := newRig(t, own, next)
	r.every, r.site.tanks[0].Sensor = 15, "float"
	r.sensor = func(i int, s, v float64) (float64, bool) {
		if i == 0 && s > load.From && s < load.From+900 {
			s = load.From
		}
		return 0.08 * math.Round(r.wells[i].Level(s)/0.08), true
	}
	r.run(0, last)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-load.Bbl) > 2 {
		t.Fatalf("want %.1f bbl: %+v", load.Bbl, r.loads)
	}
	asksFor(t, r.loads[0], "stood still")
}

// A sensor that is blind below its head shows nothing until the pump has drawn for a while, and first shows a level that falls already, while the
// pump still comes up to its rate: it is no rest, and the well filled the tank until the pump began.
func TestAFirstReadingOutOfADeadZone(t *testing.T) {
	for _, c := range []struct{ inflow, slowly, rate float64 }{{60, 5, 4}, {120, 5, 3}, {120, 12, 3}, {240, 12, 4}} {
		first := tanktest.Move{From: 4 * tanktest.Hour, Bbl: c.slowly, Rate: c.rate}
		w := tanktest.Well{Level0: 180, Inflow: c.inflow, Moves: []tanktest.Move{first, {From: first.End(), Bbl: 170, Rate: 6}}}
		r := newRig(t, w)
		r.sensor = func(_ int, s, v float64) (float64, bool) { return v, v < w.Level(first.From-2400) }
		r.run(0, 7*tanktest.Hour)
		if want := w.Level(first.From); len(r.loads) != 1 || math.Abs(r.loads[0].Open-want) > 0.3 || len(r.loads[0].Review) > 0 {
			t.Errorf("%+v: opening of %.2f: %+v", c, want, r.loads)
		}
	}
}
