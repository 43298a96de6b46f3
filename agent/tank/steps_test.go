package tank

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// Somebody sets the sensor's zero or density minutes before a load or behind it, between two readings that are so far apart, or sent so
// seldom, that a pump at max_rate could have taken as much. This load's pump could not, the level rested on either side, and none of it was sold.
func TestAStepOnlyTheOwnPumpIsTooSlowFor(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 140, Rate: 4}
	for _, c := range []struct {
		every, dead, inches, at float64 // s, in
		sensor                  string
	}{
		{120, 0, 7, load.End() + 560, "radar"},
		{120, 0, 9, load.From - 250, "radar"},
		{120, 0, 7.5, load.End() + 700, "hydrostatic"},
		{60, 0, 6, load.End() + 200, "ultrasonic"},
		{30, 0.1, 5, load.From - 230, "radar"},
		{120, 0, 6.5, load.End() + 1900, "radar"},
	} {
		r := newRig(t, tanktest.Well{Level0: 160, Inflow: 60, Moves: []tanktest.Move{load}})
		r.every, r.site.tanks[0].Sensor, r.site.tanks[0].Every = c.every, c.sensor, time.Duration(c.every)*time.Second
		send := exceptions(c.dead, 450)
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s >= c.at {
				v -= c.inches
			}
			return send(i, s, v)
		}
		r.run(0, 9*tanktest.Hour)
		gauged := load.Bbl - 60*(load.End()-load.From)/86400
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-gauged) > 1.5 || r.rules()["step"] != 1 {
			t.Fatalf("%+v: want one load of %.1f bbl and a step: %+v; %v", c, gauged, r.loads, r.rules())
		}
		if asks := len(r.loads[0].Review) > 0; asks != (c.at < load.End()+900) {
			t.Errorf("%+v: %q", c, r.loads[0].Review)
		}
	}
}

// A truck's last part, from one reading to the next as fast as its pump, and a float that hung behind the load and comes free, are oil.
func TestAPartBetweenTwoReadingsIsOil(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 140, Rate: 5}
	last := tanktest.Move{From: load.End() + 490, Bbl: 8, Rate: 5}
	r := newRig(t, tanktest.Well{Level0: 160, Moves: []tanktest.Move{load, last}})
	r.every, r.site.tanks[0].Every = 120, 2*time.Minute
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-148) > 1.5 {
		t.Errorf("its last part: %+v", r.loads)
	}
	r = newRig(t, tanktest.Well{Level0: 160, Moves: []tanktest.Move{load}})
	r.every, r.site.tanks[0].Every = 120, 2*time.Minute
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s > load.End()-100 && s < load.End()+500 {
			v = 160 - 130/tanktest.PerInch
		}
		return v, true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-140) > 1.5 {
		t.Errorf("a float that hung: %+v", r.loads)
	}
}

// A level that falls by as much as a load between two readings at rest, two minutes apart, is a span that was put right: a pump that does so
// has to come up and to run down.
func TestASpanThatIsPutRightIsNoLoad(t *testing.T) {
	for by, want := range map[float64]int{17.5: 0, 40: 1} {
		r := newRig(t, tanktest.Well{Level0: 160, Inflow: 60})
		r.every, r.site.tanks[0].Every = 120, 2*time.Minute
		if want > 0 {
			r.every, r.site.tanks[0].Every = 420, 7*time.Minute // time enough for a truck
		}
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s >= 6*tanktest.Hour {
				v -= by
			}
			return v, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != want {
			t.Errorf("%v in: %+v", by, r.loads)
		}
	}
}

// A zero that is set up while a truck loads, near its end or between readings two minutes apart, asks, and the error holds it; so does one
// that is set down where a sensor sends only what moved.
func TestAZeroThatIsSetWhileATruckLoads(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 140, Rate: 5}
	for _, c := range []struct{ every, dead, by, share float64 }{{30, 0, 5, 0.85}, {120, 0, 9, 0.4}, {20, 0.25, -5, 0.4}} {
		r := newRig(t, tanktest.Well{Level0: 160, Inflow: 60, Moves: []tanktest.Move{load}})
		r.every, r.site.tanks[0].Every = c.every, time.Duration(c.every)*time.Second
		send := exceptions(c.dead, 900)
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s >= load.From+c.share*(load.End()-load.From) {
				v += c.by
			}
			return send(i, s, v)
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: %+v", c, r.loads)
		}
		asksFor(t, r.loads[0], "re-spanned during the load")
		if l := r.loads[0]; math.Abs(l.GaugeBbl-load.Bbl) > l.ErrorBbl {
			t.Errorf("%+v: %.1f bbl with an error of %.1f", c, l.GaugeBbl, l.ErrorBbl)
		}
	}
}

// False echoes that are not believed lie between one that is and the next reading of the level: no load begins there.
func TestAnEchoBesideEchoesBeginsNoLoad(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 140, Rate: 5}
	r := newRig(t, tanktest.Well{Level0: 160, Inflow: 60, Moves: []tanktest.Move{load}})
	r.every, r.site.tanks[0].Every = 60, time.Minute
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		switch load.From - s {
		case 600:
			return v - 8, true
		case 540:
			return 239, true
		}
		return v, true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Start.Sub(r.at(load.From)).Seconds()) > 60 || len(r.loads[0].Review) > 0 {
		t.Errorf("%+v", r.loads)
	}
}

// A level that rises into the sensor's blanking distance minutes before a truck comes is not known there; one that a shut well leaves at rest is.
func TestACeilingThatIsReachedMinutesBeforeALoad(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 140, Rate: 4}
	for top, says := range map[float64]string{199.7: "saturated at the opening", 230: ""} {
		r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{{From: load.From - 5700, Bbl: -35, Rate: 0.4}, load}})
		r.every, r.site.tanks[0].Every, r.site.tanks[0].Sensor = 60, time.Minute, "ultrasonic"
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			return math.Round(10*math.Min(top, v+3*tanktest.Radar(1, s, 0))) / 10, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v", r.loads)
		}
		asksFor(t, r.loads[0], says)
	}
}

// Where noise of half a step moves a reading now and then, an end of the sensor's range shows in the better part of an hour, as readings half a
// minute apart come: what lies beyond it never does. At a level that is no end some do.
func TestAnEndOfTheRangeThatLittleNoiseShows(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 140, Rate: 4}
	closing := 180.14 - load.Bbl/tanktest.PerInch
	down := math.Floor(10*closing) / 10
	for least, says := range map[float64]string{down: "saturated at the closing", 0: ""} {
		r := newRig(t, tanktest.Well{Level0: 180.14, Moves: []tanktest.Move{load}})
		r.every, r.site.tanks[0].Every = 30, 30*time.Second
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			return math.Max(least, math.Round(10*(v+tanktest.Radar(1, s, 0)-closing+down+0.045))/10), true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v", r.loads)
		}
		asksFor(t, r.loads[0], says)
	}
}

// Somebody trims a zero step by step while it is read every few seconds: each step is more than a pump does at once, so that it is not believed at
// first, and the next comes before it is. What rested between them tells that no pump drew.
func TestAZeroThatIsTrimmedStepByStep(t *testing.T) {
	for _, c := range []struct {
		every float64
		at    []float64 // s
		by    float64   // in
	}{
		{5, []float64{0, 130, 215, 380}, 6}, {10, []float64{0, 310, 410, 520}, 7.5}, {10, []float64{0, 180, 240, 310}, 7},
	} {
		r := newRig(t, tanktest.Well{Level0: 160})
		r.every, r.site.tanks[0].Every = c.every, time.Duration(c.every)*time.Second
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			for k, at := range c.at {
				if s >= 6*tanktest.Hour+at {
					v -= c.by * (1 - 0.1*float64(k%3))
				}
			}
			return v, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 0 || r.rules()["step"] == 0 {
			t.Errorf("%+v: %+v %v", c, r.loads, r.rules())
		}
	}
}

// A radar hangs twice in a load, and shows the oil again when the truck has gone: it too fell at once, with rest between, but no further than a
// pump takes it in as long.
func TestASensorThatHangsTwiceInALoad(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 33, Rate: 5.6}
	r := newRig(t, tanktest.Well{Level0: 160, Inflow: 5, Moves: []tanktest.Move{load}})
	r.every, r.site.tanks[0].Every = 5, 5*time.Second
	r.sensor = func(i int, s, v float64) (float64, bool) {
		switch since := s - load.From; {
		case since >= 50 && since < 180:
			v = tanktest.Radar(i, s, 147.7)
		case since >= 180 && since < 415:
			v = tanktest.Radar(i, s, 141.3)
		}
		return v, true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || len(r.loads[0].Review) == 0 || math.Abs(r.loads[0].GaugeBbl-load.Bbl) > math.Max(1, r.loads[0].ErrorBbl) {
		t.Errorf("%+v %+v", r.loads, r.verdicts)
	}
}

// A zero that is trimmed step by step, read once a minute: by a sensor whose noise is the less seen the more it steps, and by one whose steps take
// two readings. Three steps are not enough to tell it from a truck that stops; a truck whose pump makes waves stays one.
func TestAZeroThatIsTrimmedIsReadOnceAMinute(t *testing.T) {
	noise := func(s float64) float64 { return 5 * tanktest.Radar(3, s, 0) }
	for _, c := range []struct {
		steps, by, each, slow, rough float64 // in, s
		loads                        int
	}{{8, 3.5, 240, 0, 0.3, 0}, {6, 4.5, 300, 60, 0.03, 0}, {3, 7, 300, 60, 0.03, 1}} {
		r := newRig(t, tanktest.Well{Level0: 160})
		r.every, r.site.tanks[0].Every = 60, time.Minute
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			for k := range int(c.steps) {
				if since := s - 6*tanktest.Hour - float64(k)*c.each; since > 0 {
					v -= c.by * math.Min(1, math.Max(0.45, since/(1.5*math.Max(1, c.slow))))
				}
			}
			return v + c.rough/0.05*noise(s)/5, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != c.loads || c.loads > 0 && len(r.loads[0].Review) == 0 {
			t.Errorf("%+v: %+v %v", c, r.loads, r.verdicts)
		}
	}
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 140, Rate: 5}
	r := newRig(t, tanktest.Well{Level0: 160, Moves: []tanktest.Move{load}})
	r.every, r.site.tanks[0].Every = 60, time.Minute
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s > load.From && s < load.End() {
			v += 20 * noise(s)
		}
		return v, true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Errorf("waves: %+v %v", r.loads, r.verdicts)
	}
}

// A step of the sensor that a gateway takes its mean over falls as straight as under a pump, but in equal parts from one reading to the
// next: it asks. A small truck as fast does not start and stop so near to a reading; averaged it has two knees.
func TestAStepThatAGatewayAveragesAsks(t *testing.T) {
	at := 6 * tanktest.Hour
	for _, c := range []struct {
		every, inches float64
		mean          int
	}{{10, 22, 18}, {30, 20, 6}, {60, 20, 3}, {120, 22, 2}, {300, 66, 2}} {
		for _, step := range []bool{true, false} {
			r := newRig(t, tanktest.Well{Level0: 150, Inflow: 20})
			long := c.every * float64(c.mean)
			if load := c.inches * tanktest.PerInch; !step {
				r.wells[0].Moves = []tanktest.Move{{From: at + 0.35*c.every, Bbl: load, Rate: load / long * 60}}
			}
			r.every = c.every
			r.sensor = func(_ int, s, _ float64) (v float64, ok bool) {
				for k := range c.mean {
					was := s - float64(k)*c.every
					level := r.wells[0].Level(was)
					if step && was >= at {
						level -= c.inches
					}
					v += tanktest.Radar(0, was, level) / float64(c.mean)
				}
				return math.Round(100*v) / 100, true
			}
			r.run(0, 10*tanktest.Hour)
			if len(r.loads) != 1 || said(r.loads[0], "equal parts") != step {
				t.Errorf("%+v, a step %v: %+v", c, step, r.loads)
			}
		}
	}
}

// Somebody opens the hatch a quarter of an hour before the truck pumps, and what the pump stirs up is as high as what it draws in some readings:
// waves are no leaps, however still the level was before them.
func TestWavesOfALoadBehindAnOpenedHatch(t *testing.T) {
	for seed := range uint64(6) {
		lot := rand.New(rand.NewPCG(seed, 13))
		load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 60, Rate: 3}
		r := newRig(t, tanktest.Well{Level0: 160, Moves: []tanktest.Move{load}})
		r.every, r.site.tanks[0].Every, r.site.tanks[0].Sensor = 10, 10*time.Second, "hydrostatic"
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s > load.From-900 && s < load.From+3600 {
				v -= 0.9
			}
			waves := 0.02
			if s > load.From && s < load.From+1200 {
				waves = 2.4
			}
			return v + waves*lot.NormFloat64(), true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-load.Bbl) > math.Max(2, r.loads[0].ErrorBbl) {
			t.Errorf("%d: %+v %+v", seed, r.loads, r.verdicts)
		}
	}
}

// A sensor that is taken out, or shows a false echo, a quarter of an hour behind a load whose closing rested alive in full view says nothing against it,
// and as little one that is back at its closing minutes later. A step soon after the end may be the rest of a load.
func TestASensorThatMovesBehindARestAsksNothing(t *testing.T) {
	for name, c := range map[string]struct {
		after, long, by, step float64
		says                  string
	}{
		"a truckload, at rest": {1200, 9 * tanktest.Hour, 60, 0.01, ""},
		"inches, at rest":      {1500, 9 * tanktest.Hour, 6, 0.01, ""},
		"dead, and back":       {1080, 290, 17.5, 0.5, ""},
		"soon":                 {420, 9 * tanktest.Hour, 60, 0.01, "the rest of it, if the sensor hung"},
	} {
		r := newRig(t, tanktest.Well{Level0: 180, Inflow: 60, Moves: []tanktest.Move{aLoad}})
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if since := s - aLoad.End() - c.after; since > 0 && since < c.long {
				v -= c.by
			}
			return math.Round(tanktest.Radar(i, s, v)/c.step) * c.step, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 || c.says == "" && r.loads[0].ErrorBbl > 1 {
			t.Fatalf("%s: %+v, want one load", name, r.loads)
		}
		asksFor(t, r.loads[0], c.says)
	}
}

// A slow draw in a tank that rocks looks like steps with rest between them; readings lie under way in each, as under nobody's hand.
// It asks, unless it is right.
func TestADrawThatRocksIsNoStaircase(t *testing.T) {
	for _, period := range []float64{225, 255, 285} {
		load := tanktest.Move{From: 5 * tanktest.Hour, Bbl: 26, Rate: 1.05}
		r := newRig(t, tanktest.Well{Level0: 140, Moves: []tanktest.Move{load}})
		r.every, r.site.tanks[0].Sensor = 30, "hydrostatic"
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if over := s - load.From; over > 0 && s < load.End()+120 {
				v -= 0.65 * math.Sin(2*math.Pi*over/period)
			}
			return v, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-26) > 3 || len(r.loads[0].Review) == 0 && math.Abs(r.loads[0].GaugeBbl-26) > 1 {
			t.Errorf("rocking in %.0f s: %+v, %+v", period, r.loads, r.events)
		}
	}
}

// What a pump stirs up makes two of its first readings look like rest, a step behind the true one: one reading of a wave, or of what a gateway held, is
// none, and what fell before it was drawn.
func TestAWaveIsNoRestBesideAStep(t *testing.T) {
	load := tanktest.Move{From: 6*tanktest.Hour + 34, Bbl: 115, Rate: 2.5}
	w := tanktest.Well{Level0: 109, Moves: []tanktest.Move{load}}
	r := newRig(t, w)
	r.every, r.site.tanks[0].Every = 60, time.Minute
	r.sensor = func(i int, s, v float64) (float64, bool) {
		if k := int((s - load.From) / 60); s > load.From && k < 5 {
			v += []float64{1, -0.75, 0.6, 0.7, -0.9}[k]
		}
		return tanktest.Radar(i, s, v), true
	}
	r.run(0, 9*tanktest.Hour)
	r.matches(0.3, 60, labelOf(w, load, load))
	asksFor(t, r.loads[0], "")
}
