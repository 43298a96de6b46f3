package tank

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

func remarked(l Load, what string) bool {
	return strings.Contains(strings.Join(l.Remarks, "; "), what)
}

// dumped are the inches that a separator which dumps 0.7 bbl at a time has brought more than an even
// inflow by each second.
func dumped(seed uint64, perDay float64, until int) []float64 {
	rnd := rand.New(rand.NewPCG(seed, 11))
	off := make([]float64, until)
	bbl := 0.0
	for s := range off {
		if rnd.Float64() < perDay/86400/0.7 {
			bbl += 0.7
		}
		off[s] = (bbl - perDay*float64(s)/86400) / tanktest.PerInch
	}
	return off
}

// dumpedVolume is the truth of a load of a tank whose inflow comes in dumps: the gauged volume.
func dumpedVolume(w tanktest.Well, m tanktest.Move, off []float64) float64 {
	want := labelOf(w, m, m)
	return (want.open + off[int(want.start)] - want.close - off[int(want.end)]) * tanktest.PerInch
}

// A gauge of which the rest some minutes away says otherwise is not sure: oil that creeps out of the hose
// for minutes, foam that collapses.
func TestTheRestBesideAGaugeIsItsWitness(t *testing.T) {
	said := func(inches float64) float64 {
		r := newRig(t, aWell)
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s > aLoad.End() {
				v += inches * math.Min(1, (s-aLoad.End())/500)
			}
			return v, true
		}
		r.run(0, 8*3600)
		return r.loads[0].ErrorBbl
	}
	if plain, crept := said(0), said(0.8); plain > 0.5 || crept < 0.8*tanktest.PerInch/2 {
		t.Errorf("plain %.2f bbl, and where the level crept by 0.8 in behind the end %.2f", plain, crept)
	}
}

// A load of which the confidence is below 0.75 asks for a person, however it came to be so.
func TestALowConfidenceAsks(t *testing.T) {
	low := 0
	for blind := 600.0; blind < 4000; blind += 120 {
		r, off := newRig(t, aWell), dumped(5, aWell.Inflow, 9*3600)
		gap := hide(aLoad.End()-300, aLoad.End()+blind)
		r.sensor = func(i int, s, v float64) (float64, bool) { return gap(i, s, v+off[int(s)]) }
		r.run(0, 9*3600)
		if len(r.loads) != 1 {
			t.Fatalf("blind for %.0f s: %d loads", blind, len(r.loads))
		}
		l := r.loads[0]
		if l.Confidence < 0.75 && l.Confidence > 0.66 {
			low++
		}
		if asks := len(l.Review) > 0; l.Confidence < 0.75 && !asks || l.Confidence > 0.75 && asks {
			t.Errorf("blind for %.0f s: confidence %.2f, review %q", blind, l.Confidence, l.Review)
		}
	}
	if low == 0 {
		t.Error("no load is just below the bar")
	}
}

// The error that a load names is what it says: over tanks fed evenly and by dumps, seen well,
// seldom, and not at all while it was hauled, 19 of 20 volumes are off by less, and the
// errors are not made wide to be safe.
func TestErrorsAreAsWideAsTheyAre(t *testing.T) {
	const until = 8 * 3600
	ways := []struct {
		every float64
		gone  func(s float64) bool
	}{
		{10, func(float64) bool { return false }},
		{60, func(float64) bool { return false }},
		{300, func(float64) bool { return false }},
		{10, func(s float64) bool { return s > aLoad.From-1500 && s < aLoad.From+600 }},
		{10, func(s float64) bool { return s > aLoad.From+900 && s < aLoad.End()+2400 }},
		{10, func(s float64) bool { return s > aLoad.From-1200 && s < aLoad.End()+1800 }},
	}
	n, inside, squares := 0, 0, 0.0
	for seed := range uint64(60) {
		way, w := ways[seed%6], aWell
		off := make([]float64, until)
		if seed%4 > 0 {
			off = dumped(seed, w.Inflow, until)
		}
		r := newRig(t, w)
		r.every, r.site.tanks[0].Every = way.every, time.Duration(way.every*1e9)
		r.sensor = func(_ int, s, v float64) (float64, bool) { return v + off[int(s)], !way.gone(s) }
		r.run(float64(seed), until)
		if len(r.loads) != 1 {
			t.Fatalf("tank %d: %d loads", seed, len(r.loads))
		}
		z := (r.loads[0].GaugeBbl - dumpedVolume(w, aLoad, off)) / (r.loads[0].ErrorBbl / 2)
		n, squares = n+1, squares+z*z
		if math.Abs(z) <= 2 {
			inside++
		}
	}
	rms := math.Sqrt(squares / float64(n))
	t.Logf("%d of %d within the error, standard deviation %.2f of the one named", inside, n, rms)
	if inside < n*9/10 || rms < 0.6 || rms > 1.25 {
		t.Errorf("%d of %d volumes within the error, want 95 %%; %.2f standard errors, want 1", inside, n, rms)
	}
}

// A well that flows evenly is known to better than one that dumps, and only the second makes
// a load with a gap at its edge doubtful.
func TestDumpsMakeAGapDoubtful(t *testing.T) {
	const until = 9 * 3600
	gap := hide(aLoad.End()-600, aLoad.End()+2400)
	even := newRig(t, aWell)
	even.sensor = gap
	even.run(0, until)
	off := dumped(5, aWell.Inflow, until)
	dumps := newRig(t, aWell)
	dumps.sensor = func(i int, s, v float64) (float64, bool) { return gap(i, s, v+off[int(s)]) }
	dumps.run(0, until)
	if len(even.loads) != 1 || len(dumps.loads) != 1 {
		t.Fatalf("%d and %d loads", len(even.loads), len(dumps.loads))
	}
	a, b := even.loads[0], dumps.loads[0]
	if failed := tanktest.Failed(map[string]bool{
		"review":     len(a.Review) > 0,
		"remark":     !remarked(a, "data gap"),
		"error":      a.ErrorBbl > 2,
		"confidence": a.Confidence < 0.9,
	}); failed != "" {
		t.Errorf("%s: even inflow: %+v", failed, a)
	}
	if failed := tanktest.Failed(map[string]bool{
		"volume":     !said(b, "volume uncertain"),
		"gap":        !said(b, "data gap"),
		"error":      b.ErrorBbl < 2*a.ErrorBbl,
		"confidence": b.Confidence > 0.9,
	}); failed != "" {
		t.Errorf("%s: dumps: %+v", failed, b)
	}
}

// Where no reading shows for longer than a load is confirmed for how it ended, or what came before it, another truck may have come and
// gone: whoever looks at the ticket is told, however even the inflow.
func TestALongGapAtAnEdgeAsks(t *testing.T) {
	for _, gap := range []seen{hide(aLoad.End()-600, aLoad.End()+5400), hide(aLoad.From-5400, aLoad.From+600)} {
		r := newRig(t, aWell)
		r.sensor = gap
		r.run(0, 9*3600)
		if len(r.loads) != 1 {
			t.Fatalf("%+v, want one load", r.loads)
		}
		asksFor(t, r.loads[0], "data gap 1.5 h beside it")
	}
}

// A load in whose gap nobody saw anything says so and how long, whatever the error.
func TestHiddenLoadSaysHowLong(t *testing.T) {
	r := newRig(t, aWell)
	r.sensor = hide(aLoad.From-1800, aLoad.End()+1800)
	r.run(0, 8*tanktest.Hour)
	if l := r.loads[0]; !said(l, "no reading inside the load: data gap 1.5 h") || l.ErrorBbl < 0.5 {
		t.Errorf("review %q, error %.2f", l.Review, l.ErrorBbl)
	}
}

// What a gateway renews only at each second poll was seen on the way: a load of a few values asks for no silence and for no pause.
func TestALoadThatAGatewayTellsAtEachSecondPollAsksForNothing(t *testing.T) {
	for _, first := range []float64{60, 180, 300, 420} {
		load := tanktest.Move{From: 8*tanktest.Hour + first, Bbl: 160, Rate: 6}
		r := newRig(t, tanktest.Well{Level0: 150, Inflow: 150, Moves: []tanktest.Move{load}})
		r.every = 300
		r.sensor = func(_ int, s, _ float64) (float64, bool) {
			held := math.Floor(s/600) * 600
			return tanktest.Radar(0, held, r.wells[0].Level(held)), true
		}
		r.run(0, 12*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-160) > 0.8 || len(r.loads[0].Review) > 0 || remarked(r.loads[0], "stopped for") {
			t.Errorf("%.0f s: %+v, want one load that asks for nothing", first, r.loads)
		}
	}
}

// One that fell between readings only, and rested at some of them, was not unseen: it says in how many steps it fell, and asks.
func TestALoadOfStepsSaysSo(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 170, Inflow: 20, Moves: []tanktest.Move{
		{From: 8*tanktest.Hour + 20, Bbl: 40, Rate: 9}, {From: 8*tanktest.Hour + 620, Bbl: 40, Rate: 9}, {From: 8*tanktest.Hour + 1220, Bbl: 40, Rate: 9}}})
	r.every = 300
	r.run(0, 12*tanktest.Hour)
	if len(r.loads) != 1 || !said(r.loads[0], "no reading while it fell, in 3 steps: none was due for 5 min") {
		t.Errorf("%+v", r.loads)
	}
}

// A load under a value that stood still, which came down behind it, says that, and not that it stood at a closing nobody read.
func TestALoadUnderAValueThatStoodSaysSo(t *testing.T) {
	r := newRig(t, aWell)
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if from := aLoad.From - 1800; s > from && s < aLoad.End()+1800 {
			v = tanktest.Radar(0, from, aWell.Level(from))
		}
		return v, true
	}
	r.run(0, 8*tanktest.Hour)
	if l := r.loads[0]; !said(l, "the value stood still for 1.5 h, and its times are guesses") || said(l, "at its closing") {
		t.Errorf("review %q", l.Review)
	}
}

// No sensor is better than its kind, not even one that repeats one value for hours.
func TestErrorIsNeverNothing(t *testing.T) {
	least := map[string]float64{"radar": 0.14, "float": 0.14, "analog": 0.19, "ultrasonic": 0.45, "hydrostatic": 0.45}
	for sensor, want := range least {
		r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{aLoad}})
		r.site.tanks[0].Sensor = sensor
		r.sensor = func(_ int, s, _ float64) (float64, bool) { return r.wells[0].Level(s), true }
		r.run(0, 6*tanktest.Hour)
		if l := r.loads[0]; l.ErrorBbl < want || l.ErrorBbl > 4*want {
			t.Errorf("%s: give or take %.2f bbl, want at least %.2f", sensor, l.ErrorBbl, want)
		}
	}
}

// A load right after the first readings, and then silence: what flowed in is not known, and
// is not said to be none.
func TestInflowIsUnknownWithoutRest(t *testing.T) {
	w := tanktest.Well{Level0: 180, Inflow: 120, Moves: []tanktest.Move{{From: 900, Bbl: 180, Rate: 6}}}
	r := newRig(t, w)
	r.sensor = hide(w.Moves[0].End()+300, 4*tanktest.Hour)
	r.ticks = true
	r.run(0, 2*tanktest.Hour)
	if len(r.loads) != 1 || !r.loads[0].InflowUnknown || !remarked(r.loads[0], "inflow unknown") {
		t.Fatalf("%+v", r.loads)
	}
	r = newRig(t, w)
	r.run(0, 3*tanktest.Hour) // the rest after it tells
	if l := r.loads[0]; l.InflowUnknown || math.Abs(l.InflowBbl-2.5) > 0.3 {
		t.Errorf("inflow %.2f bbl, unknown %v, want 2.5", l.InflowBbl, l.InflowUnknown)
	}
}

func TestRestartInsideALoadIsRemarked(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, aLoad.From+600)
	r.kill(aLoad.From + 600)
	r.run(aLoad.From+640, 6*tanktest.Hour)
	if l := r.loads[0]; !remarked(l, "restarted inside the load") || l.Confidence != 0.89 || len(l.Review) > 0 {
		t.Errorf("%+v", l)
	}
}

// The value stood still for two hours while oil came in, and came to life ten minutes into
// the load, hardly lower than it had stood: what rose unseen was hauled too.
func TestFrozenUntilInsideALoad(t *testing.T) {
	w := tanktest.Well{Level0: 120, Inflow: 190, Moves: []tanktest.Move{{From: 9 * tanktest.Hour, Bbl: 160, Rate: 4}}}
	r := newRig(t, w)
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s > 7*tanktest.Hour && s < 9*tanktest.Hour+600 {
			return tanktest.Radar(0, 7*tanktest.Hour, w.Level(7*tanktest.Hour)), true
		}
		return v, true
	}
	r.run(0, 13*tanktest.Hour)
	r.matches(0.5, 60, labelOf(w, w.Moves[0], w.Moves[0]))
	r.only("stuck")
}

// The trend follows the true level from 20 minutes before to the decision, in 64 samples of
// few bytes.
func TestALoadKeepsItsTrend(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].Trend == nil {
		t.Fatalf("loads %+v, want one with a trend", r.loads)
	}
	l := r.loads[0]
	n := len(l.Trend.Seconds)
	if n != len(l.Trend.Level) || n < 50 || n > trendMost {
		t.Fatalf("%d instants and %d levels, want at most %d", n, len(l.Trend.Level), trendMost)
	}
	for i, s := range l.Trend.Seconds {
		at := l.Start.Add(time.Duration(s) * time.Second).Sub(tanktest.Start).Seconds()
		if got, want := float64(l.Trend.Level[i])/100, aWell.Level(at); math.Abs(got-want) > 0.3 {
			t.Errorf("level %d s after the start is %.2f in, want %.2f", s, got, want)
		}
	}
	if first, last := l.Trend.Seconds[0], l.Trend.Seconds[n-1]; first > -1000 || float64(last) < aLoad.End()-aLoad.From+40*60 {
		t.Errorf("the trend is from %d s to %d s", first, last)
	}
	raw, err := json.Marshal(l.Trend)
	if err != nil || len(raw) > 900 {
		t.Errorf("the trend takes %d bytes (%v)", len(raw), err)
	}
}

func TestALoadNamesWhatSpeaksForIt(t *testing.T) {
	r := newRig(t, aWell, tanktest.Well{Level0: 60, Inflow: 50})
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].Rivals == nil {
		t.Fatalf("loads %+v", r.loads)
	}
	l := r.loads[0]
	v := l.Rivals
	if failed := tanktest.Failed(map[string]bool{
		"others":            v.Others != 1,
		"rose":              math.Abs(v.RoseBbl) > 3,
		"came back":         math.Abs(v.BackIn) > 0.5,
		"watched too short": v.Watched < 45*time.Minute,
		"watched too long":  v.Watched > 50*time.Minute,
		"water":             v.WaterIn != nil,
	}); failed != "" {
		t.Errorf("%s: rivals %+v", failed, v)
	}
	if math.Abs(l.OpenBbl-l.Open*tanktest.PerInch) > 0.01 || math.Abs(l.CloseBbl-l.Close*tanktest.PerInch) > 0.01 || math.Abs(l.OpenBbl-l.CloseBbl-l.GaugeBbl) > 1e-9 {
		t.Errorf("%.2f bbl at %.2f in, %.2f bbl at %.2f in, %.2f bbl between", l.OpenBbl, l.Open, l.CloseBbl, l.Close, l.GaugeBbl)
	}
}

func TestFreeWaterIsKnownAtBothGauges(t *testing.T) {
	r := newRig(t, aWell)
	r.site.tanks[0].Interface = true
	r.side = func(r *rig, s float64) { r.feed(s, Input{Kind: Interface, Value: 6, Good: true}) }
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("loads %+v", r.loads)
	}
	l := r.loads[0]
	if l.OpenWater == nil || l.CloseWater == nil || l.Rivals.WaterIn == nil {
		t.Fatalf("water %v and %v, fell by %v", l.OpenWater, l.CloseWater, l.Rivals.WaterIn)
	}
	if *l.OpenWater != 6 || *l.CloseWater != 6 || *l.Rivals.WaterIn != 0 {
		t.Errorf("water %v in and %v in, fell by %v in; want 6, 6, 0", *l.OpenWater, *l.CloseWater, *l.Rivals.WaterIn)
	}
}

// The link breaks while the pump draws, and comes back when the well has filled the tank again: the last reading is no closing that was seen.
func TestALinkThatBreaksWhileThePumpDraws(t *testing.T) {
	const at = 4 * tanktest.Hour
	level := knots([2]float64{0, 110}, [2]float64{at, 123}, [2]float64{at + 3000, 20}, [2]float64{at + 7000, 26.6}, [2]float64{9 * tanktest.Hour, 40})
	r := newRig(t, aWell)
	r.sensor = func(i int, s, _ float64) (float64, bool) {
		return tanktest.Radar(i, s, level(s)), s < at+2880 || s > at+7000
	}
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%+v, want one load", r.loads)
	}
	asksFor(t, r.loads[0], "data gap")
}

// What came while nothing was read behind a load was not watched.
func TestASilenceBehindALoadIsNotWatched(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 180, Inflow: 60, Moves: []tanktest.Move{aLoad}})
	r.sensor = func(i int, s, v float64) (float64, bool) {
		return tanktest.Radar(i, s, v), s < aLoad.End()-60 || s > aLoad.End()+2*tanktest.Hour
	}
	r.run(0, aLoad.End()+5*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].Rivals.Watched > time.Duration(r.told[0]-aLoad.End()-1.9*tanktest.Hour)*time.Second {
		t.Errorf("told at %v s: %+v", r.told, r.loads)
	}
}
