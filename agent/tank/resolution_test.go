package tank

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// excepted is a sensor that reports only what moved by a deadband, or at a heartbeat.
func excepted(dead, beat float64, of func(s float64) float64) seen {
	last, at := math.NaN(), math.Inf(-1)
	return func(_ int, s, _ float64) (float64, bool) {
		x := of(s)
		if math.Abs(x-last) < dead && s-at < beat {
			return x, false
		}
		last, at = x, s
		return x, true
	}
}

// A report by exception before the load and the next one after it are up to a deadband and a
// quarter of an hour away: the inflow carries them, and the deadband bounds them.
func TestReportsByException(t *testing.T) {
	for _, dead := range []float64{0.25, 0.5, 1} {
		r := newRig(t, aWell)
		r.sensor = excepted(dead, 1800, func(s float64) float64 { return tanktest.Radar(0, s, aWell.Level(s)) })
		r.run(0, 9*tanktest.Hour)
		r.matches(0.15, 45, labelOf(aWell, aLoad, aLoad))
		if l := r.loads[0]; len(l.Review) > 0 || l.ErrorBbl > 2 {
			t.Errorf("deadband %g: %+v", dead, l)
		}
	}
}

// An ultrasonic sensor's noise is wider than the deadband: its reports jump to and fro, and
// the small falls that they seem to be hold back no load.
func TestNoisyReportsByException(t *testing.T) {
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		r := newRig(t, aWell)
		r.site.tanks[0].Sensor = "ultrasonic"
		r.sensor = excepted(0.7, 900, func(s float64) float64 { return aWell.Level(s) + 0.35*rnd.NormFloat64() })
		r.run(0, 9*tanktest.Hour)
		want := labelOf(aWell, aLoad, aLoad)
		if len(r.loads) != 1 || math.Abs(r.loads[0].Open-want.open) > 1.2 || math.Abs(r.loads[0].Close-want.close) > 1.2 {
			t.Errorf("sensor %d: %+v, want one load, %.2f to %.2f in", seed, r.loads, want.open, want.close)
		}
	}
}

// A register of whole percents steps by more than makes a ticket wrong: the error says so.
func TestWholePercents(t *testing.T) {
	for k := range 6 {
		w := aWell
		w.Level0 += 0.4 * float64(k)
		r := newRig(t, w)
		r.sensor = func(_ int, s, v float64) (float64, bool) { return math.Round(v/2.4) * 2.4, true }
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-(w.Level(aLoad.From)-w.Level(aLoad.End()))*tanktest.PerInch) > r.loads[0].ErrorBbl || r.loads[0].ErrorBbl < 2 {
			t.Errorf("%+v", r.loads)
		}
	}
}

// A reed chain of half-inch steps: where it changed tells the level better than its value does.
func TestCoarseSteps(t *testing.T) {
	worst := 0.0
	for k := range 8 {
		w := aWell
		w.Level0 += 0.07 * float64(k)
		r := newRig(t, w)
		r.site.tanks[0].Sensor = "float"
		r.sensor = func(_ int, s, _ float64) (float64, bool) { return math.Round(w.Level(s)*2) / 2, true }
		r.run(0, 6*tanktest.Hour)
		r.matches(0.12, 40, labelOf(w, aLoad, aLoad))
		l := r.loads[0]
		worst = math.Max(worst, math.Abs(l.Open-w.Level(aLoad.From)))
		if l.ErrorBbl < 0.3 || l.ErrorBbl > 1.2 {
			t.Errorf("half an inch of steps and an error of %.2f bbl", l.ErrorBbl)
		}
	}
	t.Logf("opening off by %.3f in at most", worst)
}

// A tank whose well is shut in when it is full does not rise through a silence.
func TestFullTankRisesNoFurther(t *testing.T) {
	w := tanktest.Well{Level0: 215, Inflow: 200, Moves: []tanktest.Move{{From: 12 * tanktest.Hour, Bbl: 180, Rate: 6}}}
	level := func(s float64) float64 {
		if s < 12*tanktest.Hour {
			return math.Min(w.Level(s), 232)
		}
		return w.Level(s) - w.Level(12*tanktest.Hour) + 232
	}
	r := newRig(t, w)
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		return tanktest.Radar(0, s, level(s)), s < 3*tanktest.Hour || s > 12*tanktest.Hour+900
	}
	r.run(0, 15*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Open-232) > 0.1 || math.Abs(r.loads[0].Close-level(r.wells[0].Moves[0].End())) > 0.1 {
		t.Fatalf("%+v, want 232 to %.2f in", r.loads, level(r.wells[0].Moves[0].End()))
	}
}

// The pump stood still shortly before the end, or right after the start: the little that it
// moved on the other side belongs to the load.
func TestPauseNextToAnEdge(t *testing.T) {
	for _, first := range []float64{8, 172} {
		a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: first, Rate: 6}
		b := tanktest.Move{From: a.End() + 160, Bbl: 180 - first, Rate: 6}
		w := tanktest.Well{Level0: 180, Inflow: 120, Moves: []tanktest.Move{a, b}}
		r := newRig(t, w)
		r.run(0, 7*tanktest.Hour)
		r.matches(0.06, 20, labelOf(w, a, b))
	}
}

// Polled each five minutes, a sample in the first half minute of the draw is no rest.
func TestSampleThatHasFallenIsNoRest(t *testing.T) {
	r := newRig(t, aWell)
	r.every, r.site.tanks[0].Every = 300, 5*time.Minute
	r.run(12, 7*tanktest.Hour) // 12 s after the start
	r.matches(0.1, 40, labelOf(aWell, aLoad, aLoad))
}

// A pressure sensor whose radio speaks every two minutes: a dip of a few samples.
func TestDipOfFewSamples(t *testing.T) {
	r := newRig(t, aWell)
	r.site.tanks[0].Sensor = "hydrostatic"
	r.every, r.site.tanks[0].Every = 120, 2*time.Minute
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		switch {
		case s > aLoad.End():
			v -= 1.5 * math.Exp(-(s-aLoad.End())/150)
		case s > aLoad.From:
			v -= 1.5 * (1 - math.Exp(-(s-aLoad.From)/40))
		}
		return v, true
	}
	r.run(0, 7*tanktest.Hour)
	r.matches(0.2, 60, labelOf(aWell, aLoad, aLoad))
}

// A tank that is topped up until a minute or two before the truck opens at the peak, not at the level from which it was
// being filled, nor below it.
func TestToppedUpUntilTheTruck(t *testing.T) {
	for _, rested := range []float64{40, 60, 90, 150} {
		w := tanktest.Well{Level0: 60}
		truck := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 170, Rate: 5}
		w.Moves = []tanktest.Move{{From: truck.From - rested - 1000, Bbl: -100, Rate: 6}, truck}
		r := newRig(t, w)
		r.sensor = func(tank int, at, v float64) (float64, bool) {
			rnd := rand.New(rand.NewPCG(uint64(rested), uint64(int64(at*10))))
			return math.Round((v+0.15*rnd.NormFloat64())*100) / 100, true
		}
		r.run(0, 6*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("rested %g s: %d loads", rested, len(r.loads))
		}
		if l, peak := r.loads[0], w.Level(truck.From); math.Abs(l.Open-peak) > 0.35 {
			t.Errorf("rested %g s: opening %.2f in, the peak was %.2f", rested, l.Open, peak)
		}
	}
}

// Where a well is shut in for a load, a float that stands still says so: its steps are not carried on by what flowed in before.
func TestAFloatStandsStillWhereTheWellIsShutIn(t *testing.T) {
	w := tanktest.Well{Level0: 150, Moves: []tanktest.Move{aLoad}}
	r := newRig(t, w)
	r.site.tanks[0].Sensor = "float"
	shut := aLoad.From - 1200
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		return math.Round((v-300/tanktest.PerInch*math.Max(0, shut-s)/86400)*4) / 4, true
	}
	r.run(0, 6*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Open-w.Level0) > 0.03 {
		t.Errorf("%+v, want one that opens at %.2f in", r.loads, w.Level0)
	}
}

// knots is a level that goes in straight lines from knot to knot, each a time in seconds and inches.
func knots(of ...[2]float64) func(s float64) float64 {
	return func(s float64) float64 {
		k := 1
		for k < len(of)-1 && of[k][0] < s {
			k++
		}
		a, b := of[k-1], of[k]
		return a[1] + (b[1]-a[1])*math.Min(1, math.Max(0, (s-a[0])/(b[0]-a[0])))
	}
}

// The well is turned to another tank when the truck comes: what is silent behind a load has not moved by a deadband, be it for an hour,
// and the next truck's reports are none of this one's, nor are this one's of the next.
func TestSilenceBehindALoadIsWithinADeadband(t *testing.T) {
	const first, second = 6 * tanktest.Hour, 9 * tanktest.Hour
	pause := knots([2]float64{0, 150}, [2]float64{first, 171}, [2]float64{first + 1500, 114}, [2]float64{first + 1920, 114},
		[2]float64{first + 3500, 60}, [2]float64{first + 3700, 57.6}, [2]float64{second, 57.6}, [2]float64{second + 1500, 12}, [2]float64{24 * tanktest.Hour, 12})
	for _, after := range []float64{0, 38 * 60} { // the second truck comes hours later, or soon
		of := func(s float64) float64 {
			if after > 0 && s > first+3700 {
				s = math.Max(first+3700, s+second-(first+3700+after))
			}
			return pause(s)
		}
		r := newRig(t, aWell)
		r.sensor = excepted(0.25, 3600, func(s float64) float64 { return of(s) + 0.02*math.Sin(s/7) })
		r.run(0, 16*tanktest.Hour)
		if len(r.loads) != 2 {
			t.Fatalf("second truck after %v s: %+v, want two loads", after, r.loads)
		}
		for i, want := range [][2]float64{{171, 57.6}, {57.6, 12}} {
			if l := r.loads[i]; math.Abs(l.Open-want[0]) > 0.5 || math.Abs(l.Close-want[1]) > 0.5 {
				t.Errorf("second truck after %v s: load from %.2f to %.2f in, want %v", after, l.Open, l.Close, want)
			}
		}
	}
}

// The well fills another tank for hours after a truck, and a float stands as it never does while it fills: that the next truck moves it
// says that it was alive, and where it stood is that load's opening.
func TestIdleFloatIsNotStuck(t *testing.T) {
	const first, second = 5 * tanktest.Hour, 15 * tanktest.Hour
	level := knots([2]float64{0, 110}, [2]float64{first, 150}, [2]float64{first + 1500, 89}, [2]float64{second, 89}, [2]float64{second + 1440, 19}, [2]float64{30 * tanktest.Hour, 19})
	r, rnd := newRig(t, aWell), rand.New(rand.NewPCG(1, 2))
	r.site.tanks[0].Sensor, r.site.tanks[0].Height, r.site.tanks[0].Every, r.every = "float", 180, 2*time.Minute, 120
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		waves := 0.0
		if s < first+3000 {
			waves = 0.15 * rnd.NormFloat64()
		}
		return math.Round((level(s)+waves)*4) / 4, true
	}
	r.run(0, 18*tanktest.Hour)
	if len(r.loads) != 2 || math.Abs(r.loads[1].Open-89) > 0.3 || math.Abs(r.loads[1].Close-19) > 0.3 || len(r.loads[1].Review) > 0 {
		t.Fatalf("%+v, want two loads, the second from 89 to 19 in", r.loads)
	}
}

// A tank whose well is turned to another one before the truck comes, and that is sealed for it, stands still behind the load: what its
// sensor says again after each silence is the closing, however much the well made before. What it hardly said has not stood, and asks no one.
func TestASealedTankClosesWhereItStands(t *testing.T) {
	for _, beat := range []float64{900, 3600} {
		truck := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 140, Rate: 6}
		filling := tanktest.Well{Level0: 90, Inflow: 240}
		level := func(s float64) float64 {
			w := tanktest.Well{Level0: filling.Level(truck.From - 290), Moves: []tanktest.Move{truck}}
			if s < truck.From-290 {
				return filling.Level(s)
			}
			return w.Level(s)
		}
		r := newRig(t, filling)
		r.site.tanks[0].Sensor = "float"
		r.sensor = excepted(0.1, beat, func(s float64) float64 { return math.Round(100*level(s)) / 100 })
		r.run(0, 16*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("said again after %.0f s: %+v", beat, r.loads)
		}
		if l := r.loads[0]; math.Abs(l.Open-level(truck.From)) > 0.15 || math.Abs(l.Close-level(truck.End())) > 0.1 || math.Abs(l.GaugeBbl-truck.Bbl) > math.Max(l.ErrorBbl, 0.3) {
			t.Errorf("said again after %.0f s: %.2f to %.2f in, want %.2f to %.2f: %+v", beat, l.Open, l.Close, level(truck.From), level(truck.End()), l)
		} else if len(l.Review) > 0 {
			t.Errorf("said again after %.0f s: asks %q", beat, l.Review)
		}
	}
}

// Truck after truck fills the hours with falls: a sensor that speaks in eighths at rest is one all the same, and a fine one is none.
func TestTrucksInLineHideNoSteps(t *testing.T) {
	well := tanktest.Well{Level0: 215}
	for k := range 4 {
		well.Moves = append(well.Moves, tanktest.Move{From: 1200 + float64(k)*2220, Bbl: 80, Rate: 2.6})
	}
	for grain, want := range map[float64]float64{0.125: 0.125, 1. / 64: 0} {
		var b []sample
		for s := 0.0; s < 1200+4*2220; s += 10 {
			b = append(b, sample{t: s, v: float32(math.Round((well.Level(s)+0.02*math.Sin(s))/grain) * grain), n: 1})
		}
		if step := learnStep(b, nil); step != want {
			t.Errorf("values of %g in: a step of %g, want %g", grain, step, want)
		}
	}
}

// Oil rocks while a pump draws: of a sensor that reports by exception the last report of the fall is a trough, below the closing.
func TestATroughIsNoClosing(t *testing.T) {
	const truck = 6 * tanktest.Hour
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		w := tanktest.Well{Level0: 80, Inflow: 400, Moves: []tanktest.Move{{From: truck + float64(seed), Bbl: 170, Rate: 5}}}
		end := w.Moves[0].End()
		r := newRig(t, w)
		r.every = 15
		r.sensor = excepted(0.25, 3600, func(s float64) float64 {
			waves := 0.6 * math.Max(0, math.Min(1, (s-truck)/25)) * math.Exp(-math.Max(0, s-end)/80)
			return math.Round(100*(w.Level(s)+waves*(0.7*math.Sin(s/3.1)+0.4*rnd.NormFloat64())+0.05*rnd.NormFloat64())) / 100
		})
		r.run(0, 9*tanktest.Hour)
		r.matches(0.3, 60, labelOf(w, w.Moves[0], w.Moves[0]))
	}
}

// A box is dead over a whole load. That its sensor did not say even the load proves that it was not silent because nothing moved: the well went on
// before it as behind it. Where it cannot have, for the tank would have been emptied below its bottom, the load closes no lower than there.
func TestWhatAGapHidesWasNotSilentByException(t *testing.T) {
	for _, c := range []struct{ dead, level, inflow, off float64 }{{0.25, 50, 400, 8}, {0, 20, 400, 30}} {
		w := tanktest.Well{Level0: c.level, Inflow: c.inflow, Moves: []tanktest.Move{{From: 8 * tanktest.Hour, Bbl: 170, Rate: 5}}}
		if c.dead == 0 { // it was turned away for two hours
			w.Moves = append(w.Moves, tanktest.Move{From: 9 * tanktest.Hour, Bbl: 45, Rate: 0.4})
		}
		r := newRig(t, w)
		r.every = 15
		told := excepted(c.dead, 3600, func(s float64) float64 { return tanktest.Radar(0, s, w.Level(s)) })
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s > 7*tanktest.Hour && s < 12.5*tanktest.Hour {
				return v, false
			}
			return told(i, s, v)
		}
		r.run(0, 15*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-170) > c.off || r.loads[0].Close < 0 || len(r.loads[0].Review) == 0 {
			t.Errorf("deadband %g: %+v", c.dead, r.loads)
		}
	}
}
