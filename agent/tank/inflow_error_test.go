package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// What flows into a tank while it is hauled nobody sees: its error is as wide as what the hours before and after show. inflow is bbl a
// minute at a time.
func inflowsOf(t *testing.T, at float64, inflow func(s float64) float64) (off, said float64) {
	r, in := fed(t, 150, at, 2*tanktest.Hour, inflow)
	return r.loads[0].InflowBbl - in, r.loads[0].InflowErrorBbl
}

// fed runs a tank with an inflow through one load, and some time on; in is what flowed in during the load.
func fed(t *testing.T, level, at, on float64, inflow func(s float64) float64) (r *rig, bbl float64) {
	load := aLoad
	load.From += at
	until := load.End() + on
	in := make([]float64, int(until)+1)
	for s := 1; s < len(in); s++ {
		in[s] = in[s-1] + inflow(float64(s))/60
	}
	r = newRig(t, tanktest.Well{Level0: level, Moves: []tanktest.Move{load}})
	r.sensor = func(_ int, s, v float64) (float64, bool) { return v + in[int(s)]/tanktest.PerInch, true }
	r.run(0, until)
	if len(r.loads) != 1 {
		t.Fatalf("%d loads, want one", len(r.loads))
	}
	return r, in[int(load.End())] - in[int(load.From)]
}

// A strong well whose pump runs a quarter of each hour fills the tank by and by: none of a load came back, and its gauges are as good as
// the readings next to it.
func TestAWellThatPumpsByTheClock(t *testing.T) {
	asks := 0
	for at := 8 * tanktest.Hour; at < 9*tanktest.Hour; at += 600 {
		r, _ := fed(t, 50, at, 6*tanktest.Hour, func(s float64) float64 {
			if math.Mod(s, 3600) < 900 {
				return 1.35
			}
			return 0
		})
		l := r.loads[0]
		if len(l.Review) > 0 {
			asks++
		}
		if len(r.corrections) > 0 || l.ErrorBbl > 4 {
			t.Errorf("load at %.0f min of the hour: give or take %.1f bbl, review %q, corrections %+v", math.Mod(at, 3600)/60, l.ErrorBbl, l.Review, r.corrections)
		}
	}
	if asks > 2 {
		t.Errorf("%d of 6 loads ask", asks)
	}
}

func TestTheInflowOfALoadHasItsError(t *testing.T) {
	if off, said := inflowsOf(t, 0, func(float64) float64 { return 0.12 }); math.Abs(off) > said || said > 1.2 {
		t.Errorf("an even well: %.1f bbl off, said %.1f", off, said)
	}
	within, n := 0, 0
	for at := 0.0; at < 5400; at += 360 { // a pump that is on for 25 minutes of each 75
		off, said := inflowsOf(t, at, func(s float64) float64 {
			if math.Mod(s, 4500) < 1500 {
				return 0.4
			}
			return 0
		})
		if n++; math.Abs(off) <= said {
			within++
		}
	}
	if within < n*9/10 {
		t.Errorf("a pump that goes off: %d of %d inflows within their error", within, n)
	}
	for turned := 60.0; turned < 1800; turned += 300 {
		off, said := inflowsOf(t, 0, func(s float64) float64 {
			if s < aLoad.From+turned {
				return 0.3
			}
			return 0
		})
		if math.Abs(off) > said {
			t.Errorf("a well that is turned to another tank %.0f s into the load: %.1f bbl off, said %.1f", turned, off, said)
		}
	}
}

// A well that is turned to the next tank while a truck loads fills that one, and none of its oil leaves with the truck: nor of one that filled the
// next tank until the truck was gone, but for what came before or after it was turned. Another well's is no evidence.
func TestAWellThatWasTurnedAwayFillsTheOtherTank(t *testing.T) {
	const rate = 0.5 // bbl a minute
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 150, Rate: 5}
	fill := func(from, to float64) tanktest.Move {
		return tanktest.Move{From: from, Bbl: (from - to) / 60 * rate, Rate: rate}
	}
	end, half, last := load.End(), (load.From+load.End())/2, 9*tanktest.Hour
	for name, c := range map[string]struct {
		own, other []tanktest.Move
		inflow     float64
	}{
		"away for the load":      {[]tanktest.Move{fill(0, load.From), fill(end, last)}, []tanktest.Move{fill(load.From, end)}, 0},
		"away from its half on":  {[]tanktest.Move{fill(0, half)}, []tanktest.Move{fill(half, last)}, 7.5},
		"here when it was over":  {[]tanktest.Move{fill(end, last)}, []tanktest.Move{fill(0, end)}, 0},
		"here from its half on":  {[]tanktest.Move{fill(half, last)}, []tanktest.Move{fill(0, half)}, 7.5},
		"here, and another well": {[]tanktest.Move{fill(0, last)}, []tanktest.Move{fill(0, last)}, 15},
	} {
		r := newRig(t, tanktest.Well{Level0: 130, Moves: append(c.own, load)}, tanktest.Well{Level0: 60, Moves: c.other})
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].InflowBbl-c.inflow) > math.Max(0.7, r.loads[0].InflowErrorBbl) || r.loads[0].InflowErrorBbl > 6 {
			t.Errorf("%s: %+v, want an inflow of %.1f bbl", name, r.loads, c.inflow)
		}
	}
}

// A full tank, from which the well was turned to the next a quarter of an hour before a truck came, takes in nothing: the other one's rise is no
// news, and none of the oil is reckoned as here until then.
func TestAWellThatWasTurnedFromAFullTankIsNotInIt(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 150, Rate: 5}
	turned := load.From - 900
	own := tanktest.Well{Level0: 90, Moves: []tanktest.Move{{From: 0, Bbl: -turned / 120, Rate: 0.5}, load}}
	r := newRig(t, own, tanktest.Well{Level0: 60, Moves: []tanktest.Move{{From: turned, Bbl: -200, Rate: 0.5}}})
	r.run(0, 11*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].InflowBbl > 0.5 {
		t.Errorf("%+v", r.loads)
	}
}

// A tank that was shut off before its gauge was read stands until the truck comes, and takes in nothing while it loads: the next tank takes what
// it had made, from the same minute on, or the well is shut in, longer than it ever paused, before the truck and behind it. A well's own
// pause, beside one that fills the next tank all along, is none.
func TestATankThatWasShutOffForItsLoadTakesInNothing(t *testing.T) {
	const rate = 0.4 // bbl a minute
	load := tanktest.Move{From: 5 * tanktest.Hour, Bbl: 150, Rate: 6}
	fill := func(from, to float64) tanktest.Move {
		return tanktest.Move{From: from, Bbl: (from - to) / 60 * rate, Rate: rate}
	}
	off, back, last := load.From-1200, load.End()+1200, 9*tanktest.Hour
	pumps := func(from, to float64) (on []tanktest.Move) {
		for s := from; s < to; s += 2400 {
			on = append(on, fill(s, s+1200))
		}
		return on
	}
	for name, c := range map[string]struct {
		own, other  []tanktest.Move
		inflow, err float64
	}{
		"turned to the next":           {[]tanktest.Move{fill(0, off), fill(back, last)}, []tanktest.Move{fill(off, back)}, 0, 1.5},
		"stays with the next":          {[]tanktest.Move{fill(0, off)}, []tanktest.Move{fill(off, last)}, 0, 1.5},
		"a pump's, turned to the next": {pumps(0, off), pumps(off, last), 0, 5},
		"shut in":                      {[]tanktest.Move{fill(0, off), fill(back, last)}, nil, 0, 1.5},
		"another well fills the next":  {[]tanktest.Move{fill(0, last)}, []tanktest.Move{fill(0, last)}, 10, 1.5},
	} {
		wells := []tanktest.Well{{Level0: 120, Moves: append(c.own, load)}}
		if c.other != nil {
			wells = append(wells, tanktest.Well{Level0: 60, Moves: c.other})
		}
		r := newRig(t, wells...)
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].InflowBbl-c.inflow) > math.Max(0.7, r.loads[0].InflowErrorBbl) || math.Abs(r.loads[0].InflowBbl-c.inflow) > 1 || r.loads[0].InflowErrorBbl > c.err {
			t.Errorf("%s: %+v, want an inflow of %.1f bbl", name, r.loads, c.inflow)
		}
	}
}

// A well in lumps that was turned to the next tank minutes before the truck came had stood as long between two of them often: that the next lump is in the
// other tank, and none here behind the load, shows where it is. Beside a tank with a pump of its own it shows nothing.
func TestAWellInLumpsIsWhereItsNextLumpIs(t *testing.T) {
	const rate = 0.6 // bbl a minute
	load, last := tanktest.Move{From: 7*tanktest.Hour + 1920, Bbl: 150, Rate: 5}, 11*tanktest.Hour
	lumps := func(first, to float64) (on []tanktest.Move) {
		for s := first; s < to; s += 3600 {
			on = append(on, tanktest.Move{From: s, Bbl: -1200 / 60 * rate, Rate: rate})
		}
		return on
	}
	for name, c := range map[string]struct {
		own, other []tanktest.Move
		least      float64
		most       float64
	}{
		"turned to the next":  {lumps(0, 8*tanktest.Hour), lumps(8*tanktest.Hour, last), 0, 0.1},
		"a pump of each tank": {lumps(0, last), lumps(600, last), 1, 1.5}, // it goes on two minutes before the end
	} {
		r := newRig(t, tanktest.Well{Level0: 110, Moves: append(c.own, load)}, tanktest.Well{Level0: 60, Moves: c.other})
		r.run(0, last)
		if len(r.loads) != 1 || r.loads[0].InflowBbl < c.least || r.loads[0].InflowBbl > c.most {
			t.Errorf("%s: %+v, want an inflow of %.1f to %.1f bbl", name, r.loads, c.least, c.most)
		}
	}
}

// The error alone asks where it is about twice what makes a ticket wrong: nearer, nine of ten are right.
func TestTheErrorThatAsks(t *testing.T) {
	for _, c := range []struct {
		bbl, err float64
		asks     bool
	}{{80, 1.8, false}, {80, 2, true}, {200, 3.6, false}, {200, 4, true}} {
		if asks := chanceWrong(c.bbl, usualError*c.err) > reviewChance; asks != c.asks {
			t.Errorf("%g bbl, give or take %g: asks %v", c.bbl, c.err, asks)
		}
	}
}

// A well that pumps by a timer strays far. Where it was turned to another tank an hour before the truck, and stays there, nothing strays about the
// gauges, however seldom they are read.
func TestAWellThatIsAwayDoesNotStray(t *testing.T) {
	load := tanktest.Move{From: 11 * tanktest.Hour, Bbl: 150, Rate: 6}
	timed := func(from, to float64) (on []tanktest.Move) {
		for s := from; s < to; s += 3000 {
			on = append(on, tanktest.Move{From: s, Bbl: -16, Rate: 1.6})
		}
		return on
	}
	off := load.From - 3600
	r := newRig(t, tanktest.Well{Level0: 90, Moves: append(timed(0, off), load)}, tanktest.Well{Level0: 40, Moves: timed(off, 13*tanktest.Hour)})
	r.every = 120
	r.run(0, 14*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-150) > r.loads[0].ErrorBbl || r.loads[0].ErrorBbl > 1 {
		t.Errorf("%+v", r.loads)
	}
}

// A well that makes five inches in a quarter of an hour and then pauses for an hour or two, all day long: that the value stood for as long before a
// load is how it feeds its tank, and no sensor that hung.
func TestAValueThatStoodBetweenSlugsHungNot(t *testing.T) {
	const at = 8 * tanktest.Hour
	slugs := knots([2]float64{0, 150}, [2]float64{5000, 150}, [2]float64{5900, 155}, [2]float64{11000, 155}, [2]float64{11900, 160}, [2]float64{17500, 160},
		[2]float64{18400, 165}, [2]float64{22000, 165}, [2]float64{22900, 170}, [2]float64{at, 170}, [2]float64{at + 1200, 90}, [2]float64{at + 4000, 90}, [2]float64{at + 5000, 95})
	r := newRig(t, aWell)
	r.site.tanks[0].Sensor = "magnetostrictive"
	r.sensor = func(_ int, s, _ float64) (float64, bool) { return math.Round(slugs(s)/0.05) * 0.05, true }
	r.run(0, at+2*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%+v, want one load", r.loads)
	}
	asksFor(t, r.loads[0], "")
}

// A well of 1.6 barrels a minute or more: what comes back behind a load at the rate of before it is no recirculation, and no reason to wait. The
// tank that one truck after the other hauls is under way as drawn from all day, and its well is known as of the load before.
func TestAStrongWellIsNoRecirculation(t *testing.T) {
	for _, c := range []struct{ day, every, confidence float64 }{{2300, 2.6, 0.75}, {4000, 0.8, 0.6}, {4200, 0.75, 0.6}} {
		w := tanktest.Well{Level0: 60, Inflow: c.day}
		var want []label
		for at := tanktest.Hour; at < 5*tanktest.Hour; at += c.every * tanktest.Hour {
			w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: 130, Rate: 7})
		}
		for _, m := range w.Moves {
			want = append(want, labelOf(w, m, m))
		}
		r := newRig(t, w)
		r.run(0, 5.9*tanktest.Hour)
		r.only()
		r.matches(0.5, 30, want...)
		for k, l := range r.loads {
			late := r.told[k] - l.End.Sub(tanktest.Start).Seconds()
			if math.Abs(l.RemovedBbl-130) > 1 || late > 2900 || k > 0 && l.Confidence < c.confidence {
				t.Errorf("%g bbl a day: told %.0f s behind its end: %+v", c.day, late, l)
			}
		}
	}
}

// A separator dumps 4.5 bbl every 14 minutes, one of them minutes behind the load and none of them next to an edge: the gauges are sharp.
func TestADumpMinutesFromAGaugeIsNoneOfItsError(t *testing.T) {
	r, _ := fed(t, 50, 4*tanktest.Hour, 2*tanktest.Hour, func(s float64) float64 {
		if math.Mod(s+40*840-aLoad.End()-4*tanktest.Hour-90, 840) < 24 {
			return 11.2
		}
		return 0
	})
	if l := r.loads[0]; l.ErrorBbl > 2.5 || len(l.Review) > 0 {
		t.Errorf("give or take %.1f bbl, review %q", l.ErrorBbl, l.Review)
	}
}

// A well that is turned away from its tank shortly before a truck loads, and back an hour behind it, brings nothing next to the draw: the two
// readings there lie nearer than its slope makes, and neither gauge is carried beyond them. One that goes on is carried.
func TestAWellThatIsTurnedAwayCarriesNoGauge(t *testing.T) {
	for _, c := range []struct{ every, away float64 }{{300, 480}, {600, 1000}, {900, 0}} {
		load := tanktest.Move{From: 8*tanktest.Hour + 0.7*c.every, Bbl: 180, Rate: 6}
		from, to := load.From-c.away, load.End()+3600
		well := func(s float64) float64 { // in, at 500 bbl a day
			if c.away > 0 {
				s -= math.Min(math.Max(0, s-from), to-from)
			}
			return s * 500 / 86400 / tanktest.PerInch
		}
		w := tanktest.Well{Level0: 60, Moves: []tanktest.Move{load}}
		r := newRig(t, w)
		r.every = c.every
		r.sensor = func(_ int, s, v float64) (float64, bool) { return v + well(s), true }
		r.run(0, 12*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: want one load: %+v", c, r.loads)
		}
		l, open, end := r.loads[0], w.Level(load.From)+well(load.From), w.Level(load.End())+well(load.End())
		if math.Abs(l.Open-open) > 0.4 || math.Abs(l.Close-end) > 0.4 {
			t.Errorf("%+v: %.2f to %.2f in, want %.2f to %.2f: %+v", c, l.Open, l.Close, open, end, l)
		}
	}
}

// A value that stands for 22 minutes above a closing, to which the slope behind it was carried back, hung if it then leaps to where that slope is;
// where it goes on from where it stood the well may have been away, and what it makes in that time asks.
func TestAValueThatGoesOnFromWhereItStoodAsks(t *testing.T) {
	for free, want := range map[float64]bool{27.1: true, 29.9: false} { // in
		var ts tankState
		ts.faults.unfrozeAt = 7520
		ts.levels.recent = []sample{{t: 6180, v: 27.1}, {t: 6200, v: 27.1}, {t: 7520, v: float32(free)}, {t: 7540, v: float32(free + 0.04)}}
		d := draw{start: 1000, end: 6100, next: 9000, samples: 200, inflowAfter: 0.13 / 60, opening: gauge{level: 87.2}, closing: gauge{level: 24.15}}
		tank := Tank{Sensor: "float", Table: testTable(t), Loads: DefaultLoads()}
		if where, long, asks := stoodStill(&ts, &tank, d); long != 1320 || asks != want {
			t.Errorf("free at %g in: stood at %s for %g s, asks %v, want %v", free, where, long, asks, want)
		}
	}
}

// The rate of an even well wanders by some hundredths in hours: what flowed in over a load is as it is beside the load, and not as the day has it.
func TestAWanderingWellFlowsInAsBesideTheLoad(t *testing.T) {
	sum, n := 0.0, 0.0
	for at := 6 * tanktest.Hour; at < 9*tanktest.Hour; at += 1200 {
		r, in := fed(t, 60, at, 2*tanktest.Hour, func(s float64) float64 { return 0.35 * (1 + 0.15*math.Sin(2*math.Pi*s/(7*tanktest.Hour))) })
		off := r.loads[0].InflowBbl - in
		sum, n = sum+off*off, n+1
	}
	if off := math.Sqrt(sum / n); off > 0.2 {
		t.Errorf("what flowed in is %.2f bbl off", off)
	}
}

// The surface comes up behind a load as no well of the site fills a tank: foam, or oil from elsewhere. It did not flow in while the truck loaded.
func TestWhatComesUpBehindALoadAsNoWellMakesIsNoInflow(t *testing.T) {
	load := tanktest.Move{From: 12 * tanktest.Hour, Bbl: 170, Rate: 7}
	w := tanktest.Well{Level0: 140, Inflow: 60, Moves: []tanktest.Move{load}}
	r := newRig(t, w, tanktest.Well{Level0: 140})
	r.every = 60
	r.sensor = func(i int, s, v float64) (float64, bool) {
		if since := s - load.End() - 400; i == 0 && since > 0 {
			v += 9 * math.Min(1, since/2100) * math.Exp(-math.Max(0, since-5000)/3600)
		}
		return tanktest.Radar(i, s, v), true
	}
	r.run(0, load.End()+4*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%+v", r.loads)
	}
	if l := r.loads[0]; l.InflowBbl > 2 || len(l.Review) == 0 {
		t.Errorf("%.1f bbl flowed in, of 1: %q", l.InflowBbl, l.Review)
	}
}

// A tank that stood dead still for hours strays by nothing, and with nothing beside it.
func TestADeadStillTankStraysWithNothing(t *testing.T) {
	var l levels
	for s := 0.0; s < 12*tanktest.Hour; s += historyEvery {
		l.history = append(l.history, sample{t: s, v: 150, n: 1})
	}
	if strays, beside := l.strayed(12*tanktest.Hour, 1800, 0, 1.68, 222); strays != 0 || beside != 0 {
		t.Errorf("strays by %v, and by %v of what is beside it", strays, beside)
	}
}
