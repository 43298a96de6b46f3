package tank

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

// aDoubtedLoad is a load of 150 bbl after four hours, read by a sensor that is not what it should be.
func aDoubtedLoad(t *testing.T, sensor seen, inflow float64) *rig {
	t.Helper()
	r := newRig(t, tanktest.Well{Level0: 170, Inflow: inflow, Moves: []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 150, Rate: 5}}})
	r.sensor = sensor
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%d loads: %+v", len(r.loads), r.loads)
	}
	return r
}

func asksFor(t *testing.T, l Load, why string) {
	t.Helper()
	if all := strings.Join(l.Review, ", "); why == "" && all != "" || !strings.Contains(all, why) {
		t.Errorf("asks for review for %q, want %q", all, why)
	}
}

// A sensor at its blanking distance cuts the noise off on one side: what it shows is its end and not the level.
func TestSaturatedGaugeAsksForReview(t *testing.T) {
	noisy := func(i int, s, v float64) float64 { return v + 3*(tanktest.Radar(i, s, 0)) }
	asksFor(t, aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) { return noisy(i, s, v), true }, 0).loads[0], "")
	end := 170 - 150/tanktest.PerInch
	asksFor(t, aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) { return math.Min(noisy(i, s, v), 170), true }, 0).loads[0], "saturated at the opening")
	asksFor(t, aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) { return math.Max(noisy(i, s, v), end), true }, 0).loads[0], "saturated at the closing")

	inEighths := func(v float64) (float64, bool) { return math.Round(8*v) / 8, true }
	asksFor(t, aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) { return inEighths(noisy(i, s, v)) }, 0).loads[0], "")
	asksFor(t, aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) { return inEighths(math.Min(noisy(i, s, v), 169.95)) }, 0).loads[0], "saturated at the opening")
	asksFor(t, aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) { return inEighths(math.Max(noisy(i, s, v), end)) }, 0).loads[0], "saturated at the closing")

	// Far beyond its end it shows one value only; the noise is seen on the other side of the load, where the well lifts the level.
	inHundredths := func(v float64) (float64, bool) { return math.Round(100*v) / 100, true }
	asksFor(t, aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) { return inHundredths(math.Min(noisy(i, s, v), 160)) }, 60).loads[0], "saturated at the opening")
	stands := newRig(t, tanktest.Well{Level0: 170, Inflow: 60, Moves: []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 150, Rate: 5}}})
	stands.sensor = func(i int, s, v float64) (float64, bool) { return inHundredths(math.Max(noisy(i, s, v), end+25)) }
	stands.run(0, 12*tanktest.Hour)
	asksFor(t, stands.loads[0], "saturated at the closing")
	asksFor(t, stands.loads[0], "value stood still at its closing for 4")
	free := aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) { return inHundredths(math.Max(noisy(i, s, v), end+8)) }, 60).loads[0]
	asksFor(t, free, "value stood still at its closing for 3") // half an hour until the well lifts the level above it

	asksFor(t, aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) { return inHundredths(math.Min(noisy(i, s, v), 172)) }, 60).loads[0], "value stood still for 2")

	// An end that drifts with the temperature by its last digit is one all the same: on the other side of the load the noise is seen.
	asksFor(t, aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) {
		drift := 0.01
		if s > 4*tanktest.Hour-700 {
			drift = 0
		}
		return inHundredths(math.Min(noisy(i, s, v), 165) + drift)
	}, 60).loads[0], "saturated at the opening")

	// What ends alike on both sides is no noise that is cut off: a ripple of few values, and a swell, which is longest at its ends.
	asksFor(t, aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) { return v + 0.02*float64(i%5-2), true }, 0).loads[0], "")
	asksFor(t, aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) {
		return math.Round(100*(v+0.1*math.Sin(float64(i)))) / 100, true
	}, 0).loads[0], "")
}

// A sensor of half inches, whose samples are the means of two readings, shows quarters that it does not have: rounding has one value
// and a few of the next, and is no noise that is cut off.
func TestTheMeanOfTwoReadingsIsNoStep(t *testing.T) {
	before := atRest(t, 2, "9.5 9.5 9.5 9 9.5 9.5 9.5 9.25 9.25 9 9.5 9.5 9.25 9.5 9.5 9.25 9.5 9.5 9.5 9.5 9.5 9.5 9.5 9.5 9.5 9.5 9.5 9.5 9.5 9.25 9.5 9.25"+strings.Repeat(" 9.5", 23))
	after := atRest(t, 2, "3 3 3.25 3.25 3.25"+strings.Repeat(" 3.5", 115))
	if saturated("float", before, after, nil, -1) {
		t.Error("a level at rest between two steps of the sensor is called saturated")
	}
}

// A dump of the separator lifts a quiet level before a load: where it stood until then is no noise of where it stands.
func TestALowerLevelIsNoNoise(t *testing.T) {
	before := atRest(t, 1, strings.Repeat("8 ", 10)+"8.5 "+strings.Repeat("9 9 9 9 8.9 9 ", 5))
	quiet, rough := atRest(t, 1, strings.Repeat("3 3 3.1 3 3 ", 12)), atRest(t, 1, strings.Repeat("3 3.3 2.8 3.1 2.9 ", 12))
	if saturated("", before, quiet, nil, -1) {
		t.Error("a quiet level above a lower one is called saturated")
	}
	if !saturated("", before, rough, nil, -1) { // where the noise is seen to be wide, the same rest is the end of what the sensor shows
		t.Error("a level whose noise is cut off is not called saturated")
	}
}

// atRest is samples 10 s apart, each the mean of n readings.
func atRest(t *testing.T, n uint16, values string) (b []sample) {
	t.Helper()
	for i, x := range strings.Fields(values) {
		v, err := strconv.ParseFloat(x, 32)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, sample{t: 10 * float64(i), v: float32(v), n: n})
	}
	return b
}

// Foam lifts the reading at the end of a load and collapses a quarter of an hour later: the plateau behind it is the gauge, or the
// load is doubted, for at rest a level does not fall.
func TestFoamThatCollapsesIsNoOil(t *testing.T) {
	end := 4*tanktest.Hour + 150/5*60
	l := aDoubtedLoad(t, func(_ int, s, v float64) (float64, bool) {
		if s > end-300 {
			v += 2 * math.Min(1, (s-end+300)/300) / (1 + math.Exp((s-end-900)/60))
		}
		return v, true
	}, 30).loads[0]
	if all := strings.Join(l.Review, ", "); math.Abs(l.GaugeBbl-150) > 1.5 && !strings.Contains(all, "level fell on by") {
		t.Errorf("%.2f bbl, review %q", l.GaugeBbl, all)
	}
}

// Foam that still sinks when a load is decided is reckoned, not seen, and asks.
func TestFoamThatStillSinksAsks(t *testing.T) {
	end := 4*tanktest.Hour + 150/5*60
	for _, c := range []struct {
		inches, stood, fades float64
		why                  string
	}{{4, 0, 300, ""}, {4, 0, 2000, "more than was seen to sink is taken off"}, {3, 1200, 500, "foam still sank by"}} {
		l := aDoubtedLoad(t, func(i int, s, v float64) (float64, bool) {
			return tanktest.Radar(i, s, v+c.inches*stats.Clamp((s-end+300)/300, 0, 1)*math.Exp(-math.Max(0, s-end-c.stood)/c.fades)), true
		}, 0).loads[0]
		asksFor(t, l, c.why)
	}
}

// An opened hatch lets the vapour's pressure go, which a pressure sensor takes for oil: the load begins where the pump does.
func TestHatchIsNoOil(t *testing.T) {
	open, start := 4*tanktest.Hour-420, 4*tanktest.Hour
	r := newRig(t, tanktest.Well{Level0: 170, Moves: []tanktest.Move{{From: start, Bbl: 150, Rate: 5}}})
	r.site.tanks[0].Sensor = "hydrostatic"
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s >= open {
			v -= 2
		}
		return v, true
	}
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-150) > 1 || math.Abs(r.loads[0].Start.Sub(r.at(start)).Seconds()) > 60 {
		t.Fatalf("%+v", r.loads)
	}
	if l := r.loads[0]; len(l.Review) > 0 || len(l.Remarks) != 1 || !strings.Contains(l.Remarks[0], "hatch opened before it") {
		t.Errorf("review %q, remarks %q", l.Review, l.Remarks)
	}
}

// The relief of a tank holds half a pound, which is sixteen inches of oil; what falls faster than the pump and then lies still for minutes
// is none of the load, also where a reading or two were on their way.
func TestAHatchOfATightTankIsNoOil(t *testing.T) {
	start := 4 * tanktest.Hour
	for _, c := range []struct{ by, took, inflow float64 }{{6, 1, 0}, {10, 45, 0}, {6, 60, 250}} { // in, s, bbl a day
		r := newRig(t, tanktest.Well{Level0: 130, Inflow: c.inflow, Moves: []tanktest.Move{{From: start, Bbl: 150, Rate: 5}}})
		r.site.tanks[0].Sensor, r.every = "hydrostatic", 20
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			return v - c.by*stats.Clamp((s-start+420)/c.took, 0, 1), true
		}
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-150) > 1.5 || len(r.loads[0].Remarks) != 1 {
			t.Errorf("%v in within %v s: %+v", c.by, c.took, r.loads)
		}
	}
}

// A step that no pump makes, small enough to be believed as a fall or a wave, is a new span.
func TestStepWithinALoadAsksForReview(t *testing.T) {
	at := 4*tanktest.Hour + 800
	for _, by := range []float64{-4, -9, 4, 9, 30, 0} {
		r := aDoubtedLoad(t, func(_ int, s, v float64) (float64, bool) {
			if s >= at {
				v += by
			}
			return v, true
		}, 0)
		if by == 0 {
			asksFor(t, r.loads[0], "")
		} else {
			asksFor(t, r.loads[0], "re-spanned during the load")
			if said(r.loads[0], "before it") {
				t.Errorf("a step by %g in: it came after the start: %q", by, r.loads[0].Review)
			}
		}
	}
}

// A probe that is pulled out shows junk, and what it showed before when it is put back: nothing was sold.
func TestPulledProbeSellsNothing(t *testing.T) {
	out, in := 4*tanktest.Hour, 4*tanktest.Hour+1800
	for _, back := range []float64{0, 12} {
		r := newRig(t, tanktest.Well{Level0: 150, Inflow: 40})
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			switch {
			case s >= in:
				return v + back, true
			case s >= out:
				return v - math.Min(50, (s-out)/8) + math.Sin(s), true
			}
			return v, true
		}
		r.run(0, 7*tanktest.Hour)
		if back == 0 && len(r.loads) > 0 {
			t.Errorf("%+v", r.loads)
		}
		if back > 0 && (len(r.loads) != 1 || len(r.loads[0].Review) == 0) { // it may have been a load, and a new span
			t.Errorf("%+v", r.loads)
		}
	}
}

// What may be no part of a load, or not all of it, is one for a person.
func TestWhatIsAboutALoadAsksForAPerson(t *testing.T) {
	bleed := tanktest.Move{From: aLoad.From - 360, Bbl: 4, Rate: 2}
	flush := tanktest.Move{From: aLoad.From - 470, Bbl: 5, Rate: aLoad.Rate} // of the hose, by the truck's own pump
	back := tanktest.Move{From: aLoad.End() + 600, Bbl: -0.4 * aLoad.Bbl, Rate: 8}
	left := tanktest.Well{Level0: 180, Inflow: 30, Moves: []tanktest.Move{aLoad}}.Level(aLoad.End())
	closesAt := func(v float64) func(float64) float64 { return func(float64) float64 { return v - left } }
	for says, c := range map[string]struct {
		moves []tanktest.Move
		off   func(s float64) float64
	}{
		"in, where no pump draws":             {[]tanktest.Move{aLoad}, closesAt(0.2)},
		"a tank that was cleaned out":         {[]tanktest.Move{aLoad}, closesAt(2.6)},
		"left 9 min before the rest: a bleed": {[]tanktest.Move{{From: aLoad.From - 550 - 550, Bbl: 22, Rate: 2.4}, aLoad}, nil},
		"water, or another truck":             {[]tanktest.Move{aLoad, {From: aLoad.End() + 400, Bbl: 22, Rate: 3}}, nil},
		"the truck gave oil back":             {[]tanktest.Move{aLoad, {From: aLoad.End() + 240, Bbl: -8, Rate: 2}}, nil},
		"came back, from 3 min after it":      {[]tanktest.Move{aLoad, {From: aLoad.End() + 120, Bbl: -30, Rate: 8}}, nil},
		"bbl left 4 min before the rest":      {[]tanktest.Move{bleed, aLoad}, nil},
		"bbl left 7 min before the rest":      {[]tanktest.Move{flush, aLoad}, nil},
		"are not counted: its start":          {[]tanktest.Move{{From: aLoad.From - 630, Bbl: 6, Rate: 3.8}, aLoad}, nil},
		"18 min before it, perhaps as fast":   {[]tanktest.Move{{From: aLoad.From - 1260, Bbl: 18, Rate: 6}, {From: aLoad.From - 700, Bbl: -12, Rate: 3}, aLoad}, nil},
		"7 min before it, perhaps as fast":    {[]tanktest.Move{{From: aLoad.From - 600, Bbl: 3, Rate: 1.3}, aLoad}, func(s float64) float64 { return 10 * tanktest.Radar(1, s, 0) }},
		"in came back":                        {[]tanktest.Move{aLoad, back}, nil},
		"foam, or oil that came in": {[]tanktest.Move{aLoad}, func(s float64) float64 {
			since := s - aLoad.End()
			return 4 * stats.Clamp(since/180, 0, 1) * math.Exp(-math.Max(0, since-500)/300)
		}},
		"bbl, after 4 min, left slower than the pump drew": {[]tanktest.Move{aLoad}, func(s float64) float64 {
			since := s - aLoad.End()
			return 2.6 * stats.Clamp(1+since/300, 0, 1) * math.Exp(-math.Max(0, since-270)/120)
		}},
		"at once, faster than max_rate, which is not counted": {[]tanktest.Move{aLoad}, func(s float64) float64 {
			return -8 * stats.Clamp(math.Floor((s-aLoad.End()-480)/100), 0, 5)
		}},
	} {
		r := newRig(t, tanktest.Well{Level0: 180, Inflow: 30, Moves: c.moves})
		r.every = 20
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if c.off != nil {
				v += c.off(s)
			}
			return v, true
		}
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 || !said(r.loads[0], says) || strings.Contains(says, "gave oil back") && r.loads[0].ErrorBbl < 6 { // of 8
			t.Errorf("want one that says %q: %+v; %+v", says, r.loads, r.verdicts)
		}
	}
}

// A level that fell on to where its closing is read is closed, and asks for nothing; one that lay there, rose and sank again did not
// come to rest, and one that rose at once may have been lifted by oil.
func TestALevelThatSinksBehindALoadAsksForAPerson(t *testing.T) {
	shutIn := tanktest.Well{Level0: 180, Moves: []tanktest.Move{aLoad}}
	for name, c := range map[string]struct {
		off  func(since float64) float64 // in, above the oil, s since the end of the load
		says string
	}{
		"falls on to its closing": {func(since float64) float64 { return 1.8 * stats.Clamp(1-since/700, 0, 1) }, ""},
		"rises and sinks": {func(since float64) float64 {
			return 1.8 * (stats.Clamp((since-900)/300, 0, 1) - stats.Clamp((since-1400)/600, 0, 1))
		}, "level fell on by"},
		"jumps up and sinks back": {func(since float64) float64 {
			return 1.8 * (stats.Clamp((since-100)/30, 0, 1) - stats.Clamp((since-600)/600, 0, 1))
		}, "as the well never did"},
	} {
		r := newRig(t, shutIn)
		r.site.tanks[0].Sensor = "float"
		r.sensor = func(_ int, s, v float64) (float64, bool) { return v + c.off(s-aLoad.End()), true }
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%s: loads %+v", name, r.loads)
		}
		if l := r.loads[0]; math.Abs(l.Close-shutIn.Level(aLoad.End())) > 0.2 {
			t.Errorf("%s: closing %.2f in, want %.2f", name, l.Close, shutIn.Level(aLoad.End()))
		}
		t.Run(name, func(t *testing.T) { asksFor(t, r.loads[0], c.says) })
	}
}

// A fall that readings show on its way for minutes is oil that went, also where it went faster than a pump is believed to be: a ticket
// that asks for a look, and not none.
func TestAFallFasterThanMaxRateIsATicketInDoubt(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 170, Moves: []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 115, Rate: 19}}})
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-115) > 1 {
		t.Fatalf("loads %+v, events %+v", r.loads, r.events)
	}
	asksFor(t, r.loads[0], "faster than max_rate")
}

// A reading that stands at the same end of all it ever showed, load after load, while the well makes oil, is no gauge: a blind zone, or
// a float at its stop. Once is no proof, for the well may have been shut in; and a high level shuts it in each time.
func TestAReadingThatStandsAtItsEndAsksForAPerson(t *testing.T) {
	const made, bbl = 300., 180.
	for name, c := range map[string]struct {
		level0      float64
		least, most float64 // of what the sensor shows
		shut        float64 // s before a load for which the well is shut in, until an hour behind it
		says        string
	}{
		"blind at the top":            {60, 0, 165, 0, "before it, where the well makes"},
		"blind at the bottom":         {30, 42, 240, 0, "behind it, where the well makes"},
		"shut in by a high level":     {118, 0, 224, 0, ""},
		"shut in for the load":        {60, 0, 240, 3000, ""},
		"hauled to the same heel":     {20, 0, 240, 0, ""},
		"the heel, shut in for loads": {20, 0, 240, 1200, ""},
	} {
		for _, every := range []float64{10, 60} {
			w := tanktest.Well{Level0: c.level0, Inflow: made}
			for n := range 2 {
				w.Moves = append(w.Moves, tanktest.Move{From: float64(15*n+15) * tanktest.Hour, Bbl: bbl + float64(n)*7.5, Rate: 6})
			}
			shutIn := func(s float64) (lost float64) {
				for _, m := range w.Moves {
					lost += stats.Clamp(s-m.From+c.shut, 0, c.shut+3600) * made / 86400 / tanktest.PerInch
				}
				return lost
			}
			r := newRig(t, w)
			r.every = every
			r.sensor = func(_ int, s, _ float64) (float64, bool) {
				v := w.Level(s)
				if c.shut > 0 {
					v -= shutIn(s)
				}
				return tanktest.Radar(0, s, stats.Clamp(v, c.least, c.most)), true
			}
			r.run(0, 33*tanktest.Hour)
			if len(r.loads) != 2 {
				t.Fatalf("%s, every %g s: loads %+v", name, every, r.loads)
			}
			if c.level0 > c.least { // else it stood there from the first
				asksFor(t, r.loads[0], "")
			}
			if asksFor(t, r.loads[1], c.says); c.says != "" && math.Abs(r.loads[1].RemovedBbl-w.Moves[1].Bbl) > r.loads[1].ErrorBbl {
				t.Errorf("%s, every %g s: %.1f bbl of %g, give or take %.1f", name, every, r.loads[1].RemovedBbl, w.Moves[1].Bbl, r.loads[1].ErrorBbl)
			}
		}
	}
}

// What went behind a load faster than any pump draws is counted with it, and asks.
func TestALastPartThatWentAtOnceAsks(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, tanktest.Hour)
	a := draw{start: 3600, end: 5400, opening: gauge{level: 170}, closing: gauge{level: 70}, samples: 60, parts: 1}
	for asks, took := range map[bool]float64{true: 30, false: 300} {
		b := draw{start: 6000, end: 6000 + took, opening: gauge{level: 70}, closing: gauge{level: 60}, samples: 1, parts: 1}
		d := r.st.tanks[0].joinedDraw(&r.site.tanks[0], a, b)
		if said := strings.Contains(strings.Join(d.doubts, ", "), "left at once, faster than max_rate"); said != asks || d.closing.level != 60 {
			t.Errorf("10 in within %.0f s: closing %.1f in, doubts %q", took, d.closing.level, d.doubts)
		}
	}
}

// A fall that stops in a blind zone, of a well that fills the tank until the load begins: noise or none, it asks the first time too. Where
// the well was turned to another tank, which rises instead, it does not.
func TestAReadingThatStandsBehindALoadOnceAsks(t *testing.T) {
	w := tanktest.Well{Level0: 100, Inflow: 200, Moves: []tanktest.Move{{From: 10 * tanktest.Hour, Bbl: 185, Rate: 4}}}
	for says, turned := range map[string]bool{"or the well is shut in": false, "": true} {
		r := newRig(t, w, tanktest.Well{Level0: 60})
		r.sensor = func(i int, s, v float64) (float64, bool) {
			lost := 200 * stats.Clamp((s-w.Moves[0].From)/86400, 0, 1) / tanktest.PerInch
			switch {
			case turned && i == 0:
				v -= lost
			case turned:
				v += lost
			case i == 0:
				v = math.Max(v, 46)
			}
			return v + 0.02*math.Sin(s*2.39996), true
		}
		r.run(0, 14*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%q: want one load: %+v", says, r.loads)
		}
		asksFor(t, r.loads[0], says)
	}
}
