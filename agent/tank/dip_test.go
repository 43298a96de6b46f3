package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A current loop may carry a pressure, which the truck's vacuum dips: what comes up behind the stop quickly at first and then less is
// taken off the closing; where a radar, which feels no pressure, shows the same the hose ran back, and the rest is the closing too. What
// a separator dumps a minute behind it comes at once and is oil.
func TestACurrentLoopThatCarriesAPressureDips(t *testing.T) {
	dip := func(since float64) float64 { return 1.2 * math.Exp(-math.Max(0, since)/110) }
	for _, c := range []struct {
		sensor string
		taken  bool
		up     func(since float64) float64
	}{
		{"analog", true, dip},
		{"radar", true, dip},
		{"analog", true, func(since float64) float64 { return 2 * math.Exp(-math.Max(0, since)/150) }}, // no hose runs back so slowly
		{"analog", false, func(since float64) float64 {
			if since > 100 {
				return 0
			}
			return 1.2
		}},
	} {
		w := aWell
		w.Inflow = 60
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = 20, c.sensor
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s > aLoad.From {
				v -= c.up(s-aLoad.End()) * math.Min(1, (s-aLoad.From)/60)
			}
			return tanktest.Radar(i, s, v), true
		}
		r.side = func(r *rig, s float64) {
			if s == aLoad.End()+600 {
				r.kill(s)
			}
		}
		r.run(0, 6*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%s: loads %+v", c.sensor, r.loads)
		}
		l := r.loads[0]
		off, end := l.Close-w.Level(aLoad.End()), l.End.Sub(r.at(aLoad.End())).Seconds()
		if taken := math.Abs(off) < 0.35; taken != c.taken || math.Abs(end) > 30 {
			t.Errorf("%s: closing off by %.2f in and end by %.0f s, want it taken off: %v", c.sensor, off, end, c.taken)
		}
	}
}

// Oil that a pressure sensor sees come in only minutes behind a load, as where a full neighbour overflows into the tank, is not taken
// off the closing for the minutes before.
func TestOilThatComesInMinutesBehindALoadIsNoneOfItsClosing(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{aLoad}})
	r.every, r.site.tanks[0].Sensor = 60, "hydrostatic"
	r.sensor = func(i int, s, v float64) (float64, bool) {
		return tanktest.Radar(i, s, v+0.0038*math.Max(0, s-aLoad.End()-330)), true
	}
	r.run(0, 6*tanktest.Hour)
	if want := r.wells[0].Level(aLoad.End()); len(r.loads) != 1 || math.Abs(r.loads[0].Close-want) > 0.3 {
		t.Errorf("%+v, want a closing of %.2f in", r.loads, want)
	}
}

// What a pressure sensor's dip leaves behind when it fades is no inflow where the tank was sealed for its load, however much the well
// made until then: the closing is the level on which it comes to rest, also where the well comes back within minutes.
func TestADipThatFadesInASealedTankIsNoInflow(t *testing.T) {
	for _, back := range []float64{480, 2 * tanktest.Hour} {
		end := aLoad.End()
		w := tanktest.Well{Level0: 160, Moves: []tanktest.Move{{From: 0, Bbl: -44, Rate: 0.2}, aLoad, {From: end + back, Bbl: -40, Rate: 0.3}}}
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = 30, "hydrostatic"
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s > aLoad.From {
				v -= 1.2 * math.Exp(-math.Max(0, s-end)/150) * math.Min(1, (s-aLoad.From)/300)
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 7*tanktest.Hour)
		if want := w.Level(end); len(r.loads) != 1 || math.Abs(r.loads[0].Close-want) > 0.2 {
			t.Errorf("back %.0f s behind it: %+v, want a closing of %.2f in", back, r.loads, want)
		}
	}
}

// A fall is no standstill: a load that a driver stopped for minutes is no tank that was sealed for it, and its well flows on behind it.
func TestATankWhoseLoadWasStoppedIsNotSealed(t *testing.T) {
	first := tanktest.Move{From: aLoad.From, Bbl: 80, Rate: 6}
	rest := tanktest.Move{From: first.End() + 300, Bbl: 80, Rate: 6}
	w := tanktest.Well{Level0: 150, Inflow: 330, Moves: []tanktest.Move{first, rest}}
	r := newRig(t, w)
	r.every, r.site.tanks[0].Sensor = 60, "hydrostatic"
	r.run(0, 7*tanktest.Hour)
	if want := w.Level(rest.End()); len(r.loads) != 1 || math.Abs(r.loads[0].Close-want) > 0.25 || math.Abs(r.loads[0].InflowBbl-7.3) > 1 {
		t.Errorf("%+v, want a closing of %.2f in and 7.3 bbl that flowed in", r.loads, want)
	}
}

// A separator that dumps, or a slug that runs, in the minute of the stop lifts the level as it did before: the closing is what stood at the
// stop, and neither what the level comes to nor a vacuum's dip is taken off.
func TestADumpAsThePumpStopsIsNoneOfItsClosing(t *testing.T) {
	for _, c := range []struct {
		sensor                  string
		poll, bbl, long, behind float64
		step                    float64 // in
	}{
		{"hydrostatic", 15, 5, 100, 30, 0},
		{"analog", 30, 3.4, 300, 0, 0},
		{"radar", 30, 4, 300, -100, 0},
		{"float", 10, 4, 240, -40, 0.5},
	} {
		w := tanktest.Well{Level0: 130, Moves: []tanktest.Move{aLoad}}
		for at := aLoad.End() + c.behind - 20*1500; at < aLoad.End()+2*tanktest.Hour; at += 1500 {
			w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -c.bbl, Rate: c.bbl / c.long * 60})
		}
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = c.poll, c.sensor
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if c.step > 0 {
				return c.step * math.Round(w.Level(s)/c.step), true
			}
			return tanktest.Radar(i, s, w.Level(s)), true
		}
		r.run(0, 8*tanktest.Hour)
		if want := w.Level(aLoad.End()); len(r.loads) != 1 || math.Abs(r.loads[0].Close-want) > 0.7 {
			t.Errorf("%s: %+v, want a closing of %.2f in", c.sensor, r.loads, want)
		}
	}
}

// A separator dumps 2.3 bbl every few minutes, under the pump too: what the falling line strays by is no slosh, and the tread of the stairs that
// is read for minutes right behind the stop is the closing, and not the next one.
func TestTheFirstTreadBehindThePumpIsItsClosing(t *testing.T) {
	for _, first := range []float64{100, 140, 170, 217} { // s from the stop to a dump
		for _, every := range []float64{200, 288} {
			load := tanktest.Move{From: 4*tanktest.Hour + first/7, Bbl: 160, Rate: 5.2}
			w := tanktest.Well{Level0: 60, Moves: []tanktest.Move{load}}
			for at := math.Mod(load.End()+first, every); at < load.End()+2*tanktest.Hour; at += every {
				w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -2.3, Rate: 2.3 * 60 / 20})
			}
			r := newRig(t, w)
			r.run(0, 7*tanktest.Hour)
			if want := w.Level(load.End()); len(r.loads) != 1 || math.Abs(r.loads[0].Close-want) > 0.3 || len(r.loads[0].Review) > 0 {
				t.Errorf("%g s, every %g s: %+v, want a closing of %.2f in", first, every, r.loads, want)
			}
		}
	}
}

// A pump that sucks air for minutes right before the last of its load leaves a falling line that is far too flat there, and a level that rises
// behind the stop is met by it too late: the end is where the readings are down at the rest.
func TestTheEndIsNotInTheRefilling(t *testing.T) {
	for _, poll := range []float64{15, 30} {
		pump := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 140, Rate: 8}
		air := tanktest.Move{From: pump.End(), Bbl: 4, Rate: 1.4}
		last := tanktest.Move{From: air.End(), Bbl: 3.5, Rate: 8}
		w := tanktest.Well{Level0: 40, Inflow: 1500, Moves: []tanktest.Move{pump, air, last}}
		r := newRig(t, w)
		r.every = poll
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v", r.loads)
		}
		if off, late := r.loads[0].Close-w.Level(last.End()), r.loads[0].End.Sub(r.at(last.End())).Seconds(); math.Abs(off) > 0.5 || math.Abs(late) > 2*poll {
			t.Errorf("every %g s: the closing is %+.2f in off, and the end %+.0f s", poll, off, late)
		}
	}
}

// A haul by gravity takes hours, in which a separator dumps five barrels again and again: what falls on behind each dump is more than had
// left before the first, and none of it foam.
func TestDumpsDoNotCutASlowLoad(t *testing.T) {
	for _, c := range []struct{ every, first, phase float64 }{{1080, 200, 100}, {1200, 300, 10}, {1320, 420, 100}} {
		load := tanktest.Move{From: 4*tanktest.Hour + c.phase, Bbl: 195, Rate: 1.2}
		w := tanktest.Well{Level0: 120, Moves: []tanktest.Move{load}}
		for at := load.From + c.first - 8*c.every; at < load.End()+2*tanktest.Hour; at += c.every {
			w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -5, Rate: 3})
		}
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = 120, "float"
		r.sensor = func(_ int, s, _ float64) (float64, bool) { return math.Round(2*w.Level(s)) / 2, true }
		r.run(0, 9*tanktest.Hour)
		if want := (w.Level(load.From) - w.Level(load.End())) * tanktest.PerInch; len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-want) > 3 {
			t.Errorf("%+v: %+v, want %.1f bbl", c, r.loads, want)
		}
	}
}

// What lies below the closing while a vacuum's dip dies away is the dip, and the level rises meanwhile: it did not fall on.
func TestADipThatDiesAwayIsNoFallBehindALoad(t *testing.T) {
	for _, every := range []float64{60, 120, 300} {
		w := tanktest.Well{Level0: 180, Moves: []tanktest.Move{{From: aLoad.From, Bbl: 66, Rate: 5}}}
		r := newRig(t, w)
		end := w.Moves[0].End()
		r.every, r.site.tanks[0].Sensor = every, "hydrostatic"
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s > aLoad.From {
				v -= 1.9 * math.Exp(-math.Max(0, s-end)/170) * math.Min(1, (s-aLoad.From)/60)
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, end+3*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%g s: loads %+v", every, r.loads)
		}
		if l := r.loads[0]; math.Abs(l.GaugeBbl-66) > 1 || len(l.Review) > 0 {
			t.Errorf("every %g s: %.2f bbl of 66, %q", every, l.GaugeBbl, l.Review)
		}
	}
}
