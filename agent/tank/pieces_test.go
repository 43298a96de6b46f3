package tank

import (
	"math"
	"testing"
	"time"

	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

// recorded are samples of a level every ten seconds between two times, with a little even noise.
func recorded(from, to float64, level func(t float64) float64) (b []sample) {
	for t := from; t <= to; t += 10 {
		noise := 0.03 * math.Sin(t*t)
		b = append(b, sample{t: t, v: float32(level(t) + noise), n: 1})
	}
	return b
}

// After the knee the level creeps for three minutes, lies flat, and is lifted by two dumps: the closing is the plateau.
func TestTheClosingIsThePlateauAndNotTheKnee(t *testing.T) {
	level := func(s float64) float64 {
		creep := 0.8 * math.Max(0, 1-s/200)
		return 60 + creep + 0.4*math.Floor(math.Max(0, s-100)/500)
	}
	r := resting{sigma: 0.03, perBbl: 1 / 1.67, samples: recorded(20, 1600, level)}
	if g := r.near(0); math.Abs(g.level-60) > 0.05 {
		t.Errorf("closing %.3f in, the plateau is 60", g.level)
	}
}

// A false echo of a minute and a half stands right before the pump starts.
func TestTheOpeningIsNotAnEcho(t *testing.T) {
	level := func(s float64) float64 {
		if s > -90 {
			return 181.4
		}
		return 180
	}
	r := resting{before: true, sigma: 0.03, perBbl: 1 / 1.67, samples: recorded(-1800, -20, level), head: line{0, 180, -3. / 60}}
	if g := r.near(0); math.Abs(g.level-180) > 0.05 {
		t.Errorf("opening %.3f in, want 180", g.level)
	}
	r.head.v = 181.4 // the line goes through it: it was a dump
	if g := r.near(0); math.Abs(g.level-181.4) > 0.05 {
		t.Errorf("opening %.3f in behind a dump, want 181.4", g.level)
	}
}

// So do three polls of two minutes each, however long they take.
func TestTheOpeningIsNotAnEchoOfSeldomPolls(t *testing.T) {
	r := resting{before: true, sigma: 0.05, perBbl: 1 / 1.67, head: line{0, 180, -3. / 60}}
	for k := -20; k < 0; k++ {
		s := sample{t: float64(120*k) + 100, v: 180 - 0.03*float32(k%2)}
		if k >= -3 {
			s.v += 6
		}
		r.samples = append(r.samples, s)
	}
	if g := r.near(0); math.Abs(g.level-180) > 0.1 {
		t.Errorf("opening %.3f in, want 180", g.level)
	}
}

// A dump that ends before the pump starts counts; one reading that stands out does not.
func TestTheOpeningIsTheNearestPieceAtRest(t *testing.T) {
	r := resting{before: true, sigma: 0.03, perBbl: 1 / 1.67, samples: recorded(-1800, -20, func(s float64) float64 {
		if s > -300 {
			return 180.5
		}
		return 180
	})}
	r.samples[len(r.samples)-4].v += 2
	if g := r.near(0); math.Abs(g.level-180.5) > 0.05 {
		t.Errorf("opening %.3f in, want 180.5", g.level)
	}
}

// A fall between two levels of an echo is no fall.
func TestEchoesAreLeftOutBeforeFallsAreSought(t *testing.T) {
	b := recorded(0, 1000, func(s float64) float64 {
		if s >= 400 && s <= 480 {
			return 102
		}
		return 100
	})
	ends := recorded(0, 1000, func(s float64) float64 { // a sensor of steps comes back to the next of them
		switch {
		case s < 400:
			return 148
		case s <= 480:
			return 154.5
		}
		return 147.5
	})
	r := &readings{}
	for _, s := range append(r.withoutEchoes(b), r.withoutEchoes(ends)...) {
		if s.v > 101 && s.v < 147 || s.v > 149 {
			t.Errorf("the echo's %.2f in at %.0f s stayed", s.v, s.t)
		}
	}
}

// One low reading minutes behind a load is no part of it, also where readings are two minutes apart and the well makes more between two than
// sets an echo's end apart.
func TestOneLowReadingBehindALoadIsNoPartOfIt(t *testing.T) {
	w := aWell
	w.Level0, w.Inflow = 130, 700
	for _, minutes := range []float64{6, 8, 10} {
		r := newRig(t, w)
		r.every, r.site.tanks[0].Every = 120, 2*time.Minute
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s >= aLoad.End()+60*minutes && s < aLoad.End()+60*minutes+120 {
				v -= 8
			}
			return v, true
		}
		r.run(0, 7*tanktest.Hour)
		if want := w.Level(aLoad.End()); len(r.loads) != 1 || math.Abs(r.loads[0].Close-want) > 0.5 {
			t.Errorf("after %.0f min: want one to %.2f in: %+v", minutes, want, r.loads)
		}
	}
}

// A zero that is trimmed by and by in steps that a pump could make in the time has rests between them; so has a gateway that
// holds its values while a truck loads.
func TestStepsAndRests(t *testing.T) {
	at := 4 * tanktest.Hour
	r := newRig(t, tanktest.Well{Level0: 150})
	r.every = 30
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		return v - 5.5*stats.Clamp(math.Floor((s-at)/300), 0, 5), true
	}
	r.run(0, 7*tanktest.Hour)
	r.matches(0, 0)

	r = newRig(t, aWell)
	r.every = 30
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		held := math.Floor(s/300) * 300
		return tanktest.Radar(0, held, r.wells[0].Level(held)), true
	}
	r.run(0, 8*tanktest.Hour)
	r.matches(0.6, 400, labelOf(aWell, aLoad, aLoad))
}

// So has a gateway whose beat is uneven: what rests between the steps is its value, which stands as long all day.
func TestAPartLoadThroughAGatewayOfAnUnevenBeat(t *testing.T) {
	for _, sensor := range []string{"radar", "hydrostatic"} {
		for phase := 0.0; phase < 900; phase += 180 {
			w := tanktest.Well{Level0: 30, Inflow: 130, Moves: []tanktest.Move{{From: 8*tanktest.Hour + phase, Bbl: 84.4, Rate: 5.5}}}
			r := newRig(t, w)
			r.every, r.site.tanks[0].Sensor = 30, sensor
			r.sensor = func(_ int, s, _ float64) (float64, bool) {
				beat := func(k float64) float64 { return 300*k + 120*math.Sin(k*k) }
				k := math.Floor(s/300) + 1
				for beat(k) > s {
					k--
				}
				held := math.Max(0, beat(k))
				return tanktest.Radar(0, held, w.Level(held)), true
			}
			r.run(0, 11*tanktest.Hour)
			if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-82.5) > 2 { // 1.4 bbl flow in meanwhile
				t.Errorf("%s, %g s: %+v", sensor, phase, r.loads)
			}
		}
	}
}

// So has a zero that is trimmed by a little at a time; a float that tells nothing while it lies still, and a gateway that hangs again and
// again while a truck loads, have told nothing meanwhile: the float asks.
func TestStepsThatAreHardToTell(t *testing.T) {
	at := 4 * tanktest.Hour
	steps := func(s float64, size float64) (fell float64) {
		for k := range 6 {
			if s >= at+270*float64(k)+20*math.Mod(float64(k*k), 7) {
				fell += size
			}
		}
		return fell
	}
	hung := 0.0
	for name, c := range map[string]struct {
		well  tanktest.Well
		every float64
		seen  func(s, v float64) float64
		loads int
	}{
		"by a little": {tanktest.Well{Level0: 150}, 5, func(s, v float64) float64 { return v + 0.05*math.Sin(s*s) - steps(s, 2.8) }, 0},
		"of a still float": {tanktest.Well{Level0: 150}, 10, func(s, _ float64) float64 {
			return 150 + 0.03*math.Round(math.Sin(math.Floor(s/900))) + 0.02*math.Round(math.Sin(math.Floor((s+60)/900))) - steps(s, 4)
		}, 1},
		"a gateway hangs": {aWell, 10, func(s, v float64) float64 {
			if since := s - aLoad.From; since < 0 || since > 1700 || math.Mod(since, 420) < 30 {
				hung = v
			}
			return hung
		}, 1},
	} {
		r := newRig(t, c.well)
		r.every = c.every
		r.sensor = func(_ int, s, v float64) (float64, bool) { return c.seen(s, v), true }
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != c.loads || c.loads > 0 && c.well.Moves == nil && r.loads[0].Confidence >= 0.75 {
			t.Errorf("%s: %+v", name, r.loads)
		}
	}
}

// Half of a fall in steps with rest between them may be a pump that is started again and again, and is a load for a person.
func TestStepsAndAPump(t *testing.T) {
	at := 4 * tanktest.Hour
	r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{{From: at + 720, Bbl: 20, Rate: 6}}})
	r.every = 60
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		return v - 4.5*stats.Clamp(math.Floor((s-at)/240)+1, 0, 3), true
	}
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%+v", r.loads)
	}
	asksFor(t, r.loads[0], "in 3 steps, with rest between them")
}

// A hose that runs back lifts the level within minutes of the end, to a rest: that is the closing. What the well dumps as quickly is
// none of it, and is known by the hours before; neither is what a well brings that is pumped off, however far it goes in five minutes.
func TestAHoseThatRunsBackIsNotTheTrucks(t *testing.T) {
	for _, c := range []struct{ back, dump, after, slack, often, long, every float64 }{ // in, in, s from the end to the next dump, in, s of the dumps
		{1.2, 0, 300, 0.15, 600, 60, 20}, // 2 bbl
		{1.2, 0.5, 300, 0.2, 600, 60, 20},
		{0, 1.2, 20, 0.8, 600, 60, 20}, // of which an even inflow takes back a part
		{1.8, 5, 1500, 0.3, 2700, 900, 120},
	} {
		load := tanktest.Move{From: aLoad.From - 30, Bbl: aLoad.Bbl, Rate: aLoad.Rate}
		r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{load}})
		r.every = c.every
		r.sensor = func(i int, s, v float64) (float64, bool) {
			since := s - load.End() - c.after
			dumps := c.dump * (math.Floor(since/c.often) + stats.Clamp((since-c.often*math.Floor(since/c.often))/c.long, 0, 1))
			return tanktest.Radar(i, s, v+dumps+c.back*stats.Clamp((s-load.End()-20)/70, 0, 1)), true
		}
		r.run(0, 8*tanktest.Hour)
		if want := r.wells[0].Level(load.End()) + c.back; len(r.loads) != 1 || math.Abs(r.loads[0].Close-want) > c.slack {
			t.Errorf("%+v: %+v, want a closing of %.2f in", c, r.loads, want)
		}
	}
}

// A well on a timer, polled each minute, pumps while the truck comes: the opening lies where its rise meets the fall, and an hour of its
// pulses shows how far the level goes in a minute at most, which is no reason for a person to look.
func TestATruckComesWhileATimersWellPumps(t *testing.T) {
	for k := range 8 {
		load := tanktest.Move{From: 8*tanktest.Hour + 360 + 61*float64(k), Bbl: 160, Rate: 6.5}
		w := tanktest.Well{Level0: 60, Moves: []tanktest.Move{load}}
		for hour := range 12 {
			w.Moves = append(w.Moves, tanktest.Move{From: float64(hour) * tanktest.Hour, Bbl: -20.8, Rate: 20.8 / 15})
		}
		r := newRig(t, w)
		r.every = 60
		r.run(0, 11.9*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%d loads, want one: %+v", len(r.loads), r.loads)
		}
		l, off := r.loads[0], r.loads[0].Open-w.Level(load.From)
		if math.Abs(off) > 0.6 || math.Abs(l.Close-w.Level(load.End())) > 0.1 || len(l.Review) > 0 || l.ErrorBbl > 2.7 {
			t.Errorf("a load %.0f s after the pump started: opening %+.2f in off, err %.2f, review %q", load.From-8*tanktest.Hour, off, l.ErrorBbl, l.Review)
		}
	}
}

// A pump fades for minutes, and then a strong well fills the tank again: the rise is carried back to where the level still crept down, and no
// further.
func TestAStrongWellBehindAFadingPump(t *testing.T) {
	const at = 4 * tanktest.Hour
	level := knots([2]float64{0, 148}, [2]float64{at, 234.5}, [2]float64{at + 2700, 142}, [2]float64{at + 2940, 139.4}, [2]float64{at + 3360, 138.65}, [2]float64{9 * tanktest.Hour, 138.65 + 0.006*(5*tanktest.Hour-3360)})
	r := newRig(t, aWell)
	r.site.tanks[0].Table, r.site.tanks[0].Height, r.site.tanks[0].Every, r.every = tableOf(t, 2.8), 300, time.Minute, 60
	r.sensor = func(i int, s, _ float64) (float64, bool) { return level(s) + 1.5*tanktest.Radar(i, s, 0), true }
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Close-138.9) > 0.6 {
		t.Errorf("%+v, want one load to 138.7 to 139.4 in", r.loads)
	}
}

// A separator dumps four barrels an hour, the last ones in the minute before the truck: the opening is where the fall begins, though one
// reading alone saw it, or two on the rise. As high a reading in a tank whose level never rises so is a spike, and lifts nothing.
func TestADumpRightBeforeTheTruckIsInTheOpening(t *testing.T) {
	for _, c := range []struct{ every, before, dumps, spike float64 }{{120, 80, 4, 0}, {30, 75, 4, 0}, {30, 90, 4, 0}, {120, 80, 0, 2.4}} {
		load := tanktest.Move{From: 6*tanktest.Hour + 20, Bbl: 130, Rate: 6}
		w := tanktest.Well{Level0: 120, Moves: []tanktest.Move{load}}
		for hour := range 7 {
			w.Moves = append(w.Moves, tanktest.Move{From: float64(hour)*tanktest.Hour + 20 - c.before, Bbl: -c.dumps, Rate: 4})
		}
		r := newRig(t, w)
		r.every = c.every
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s == 6*tanktest.Hour {
				v += c.spike
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].Open-w.Level(load.From)) > 0.5 || len(r.loads[0].Review) > 0 {
			t.Errorf("%+v: %+v, want an opening of %.2f in and no review", c, r.loads, w.Level(load.From))
		}
	}
}

// Of readings ten minutes apart two saw a slug come before the truck: the last one before the fall counts.
func TestASlugBeforeTheTruckOfReadingsFarApart(t *testing.T) {
	load := tanktest.Move{From: 6*tanktest.Hour + 360, Bbl: 140, Rate: 5.5}
	w := tanktest.Well{Level0: 90, Inflow: 130, Moves: []tanktest.Move{{From: load.From - 1560, Bbl: -30, Rate: 2}, load}}
	r := newRig(t, w)
	r.every = 600
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Open-w.Level(load.From)) > 1 {
		t.Errorf("%+v, want an opening of %.2f in", r.loads, w.Level(load.From))
	}
}

// A truck's pump gasses out minutes after it began, in a tank that rises: the line of the whole fall meets the rest before the truck came, and
// the level was seen to rise until then.
func TestALevelThatRisesHasNotBegunToFall(t *testing.T) {
	load := tanktest.Move{From: 6*tanktest.Hour + 10, Bbl: 17, Rate: 6.5}
	w := tanktest.Well{Level0: 120, Moves: []tanktest.Move{load}}
	for k := range 7 {
		w.Moves = append(w.Moves, tanktest.Move{From: load.From + 330*float64(k+1), Bbl: 17, Rate: 6.5})
	}
	for k := range 4 {
		w.Moves = append(w.Moves, tanktest.Move{From: load.From - 700 - 5000*float64(k), Bbl: -7, Rate: 0.6})
	}
	r := newRig(t, w)
	r.every = 60
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Open-w.Level(load.From)) > 0.4 {
		t.Errorf("%+v, want an opening of %.2f in", r.loads, w.Level(load.From))
	}
}

// Where the surface still heaves as the pump stops a few readings lie low: the closing is that of the rest behind them.
func TestAHeaveBehindThePumpIsNoRest(t *testing.T) {
	for _, seed := range []float64{30, 80} {
		r := newRig(t, aWell)
		r.site.tanks[0].Sensor = "ultrasonic"
		r.sensor = func(_ int, s, _ float64) (float64, bool) {
			v := aWell.Level(s) + 0.15*math.Sin(s*s+seed)
			if s > aLoad.End() && s <= aLoad.End()+40 {
				v -= 0.6
			}
			return math.Round(10*v) / 10, true
		}
		r.run(0, 7*tanktest.Hour)
		r.matches(0.25, 40, labelOf(aWell, aLoad, aLoad))
	}
}

// One reading that strays by no more than noise does, with the one beside it, is no piece of the level that an opening is read off.
func TestTheLastReadingMayStray(t *testing.T) {
	r := newRig(t, aWell)
	r.site.tanks[0].Sensor = "ultrasonic"
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		v := aWell.Level(s) + 0.15*math.Sin(s*s+2)
		if s == aLoad.From-20 {
			v = aWell.Level(s) + 0.5
		}
		return math.Round(10*v) / 10, true
	}
	r.run(0, 7*tanktest.Hour)
	r.matches(0.25, 40, labelOf(aWell, aLoad, aLoad))
}

// What rises behind a load by as much as two dumps of the separator is the hose or they: the gauge says that it may be either.
func TestARiseOfTwoDumpsBehindALoadIsInTheError(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 70, Rate: 5}
	w := tanktest.Well{Level0: 150, Moves: []tanktest.Move{load}}
	for at := 300.0; at < 9*tanktest.Hour; at += 600 {
		if at < load.From-60 || at > load.End()+900 {
			w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -0.7, Rate: 2})
		}
	}
	for _, after := range []float64{30, 80} {
		w.Moves = append(w.Moves, tanktest.Move{From: load.End() + after, Bbl: -0.7, Rate: 2})
	}
	r := newRig(t, w)
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-load.Bbl) > r.loads[0].ErrorBbl+0.1 {
		t.Errorf("want %.1f bbl within its error: %+v", load.Bbl, r.loads)
	}
}
