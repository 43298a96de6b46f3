package tank

import (
	"math"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// Loads of which the readings show a part, or which they show at another time than that at which they were made.

// A gateway is silent over a whole load, and then tells within minutes, as of now, all that it had kept: what fell lies in the silence, and is a load
// for a person. A sensor that is spanned anew some minutes after a short silence is no load.
func TestALoadThatAGatewayTellsWithinMinutesBehindASilence(t *testing.T) {
	load := tanktest.Move{From: 5 * tanktest.Hour, Bbl: 95, Rate: 2.5}
	for _, c := range []struct{ step, silent, told float64 }{{0.5, 3960, 270}, {0.125, 4200, 330}, {0.5, 0, 0}} {
		r := newRig(t, tanktest.Well{Level0: 150, Inflow: 5, Moves: []tanktest.Move{load}})
		r.every, r.site.tanks[0].Every, r.site.tanks[0].Sensor = 30, 30*time.Second, "float"
		from := load.From - 1200
		spanned := c.silent == 0
		if spanned {
			r.wells[0].Moves, r.wells[0].Inflow = nil, 150
		}
		w := r.wells[0]
		r.sensor = func(_ int, s, _ float64) (float64, bool) {
			off := 0.0
			switch back := from + c.silent; {
			case spanned && s > from && s < from+700:
				return 0, false
			case spanned:
				off = 57 * math.Min(1, math.Max(0, math.Ceil((s-from-1000)/1000)))
				c.step = 0.5
			case s > from && s < back:
				return 0, false
			case s >= back && s < back+c.told:
				s = from + (s-back)*(c.silent+c.told)/c.told
			}
			return math.Round((w.Level(s)-off)/c.step) * c.step, true
		}
		r.run(0, 9*tanktest.Hour)
		switch {
		case spanned && len(r.loads) > 0:
			t.Errorf("spanned anew: %+v", r.loads)
		case !spanned && (len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-load.Bbl) > 2 || len(r.loads[0].Review) == 0):
			t.Errorf("%+v: want one load of 95 bbl that asks: %+v, events %+v", c, r.loads, r.events)
		}
	}
}

// The first levels that are believed come amid a load, from a node that speaks each 140 s and a gateway that repeats them each 10 s: nobody knows yet
// how old a value is, and none of its falls is a step. Where nothing falls before it or behind it a step of a truck's size is none.
func TestALoadUnderWayAtTheFirstValueOfANodeThatSpeaksSeldom(t *testing.T) {
	first, shown := 4*tanktest.Hour, []float64{192.63, 182.62, 178.84, 179, 179.16, 171.57, 162.07, 151.88, 149.87}
	r := newRig(t, tanktest.Well{Level0: 190})
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		k, last := int((s-first)/140), len(shown)-1
		return shown[max(0, min(k, last))] + 0.11*float64(max(0, k-last)), s >= first
	}
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 1 || !said(r.loads[0], BeganBefore) || r.loads[0].GaugeBbl < 60 {
		t.Errorf("want one load that began before it: %+v, events %+v", r.loads, r.events)
	}

	r = newRig(t, tanktest.Well{Level0: 190})
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		if s > 560 {
			return 160, true
		}
		return 190, true
	}
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 0 {
		t.Errorf("spanned anew: %+v", r.loads)
	}
}

// An echo hangs, alive, amid a load for longer than that is waited for, and comes free at once when the truck is gone: the ticket of before is told
// that its load may be larger, at whatever time it is, and whether the step is believed or not. A sensor that is spanned anew while the well
// goes on says nothing of a load.
func TestAnEchoThatComesFreeHoursBehindALoadCorrectsIt(t *testing.T) {
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 132, Rate: 6.6}
	for _, c := range []struct {
		hung, spanned float64 // s from when to when it hung, s at which it is spanned anew
		corrected     int
	}{{76 * 60, 0, 1}, {5 * tanktest.Hour, 0, 1}, {0, 2 * tanktest.Hour, 0}} {
		r := newRig(t, tanktest.Well{Level0: 200, Inflow: 74, Moves: []tanktest.Move{load}})
		w, from := r.wells[0], load.From+600
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s > from && s < from+c.hung {
				v += w.Level(from) - w.Level(s)
			}
			if c.spanned > 0 && s > load.End()+c.spanned {
				v -= 20
			}
			return v, true
		}
		r.run(0, 14*tanktest.Hour)
		notes := ""
		for _, x := range r.corrections {
			notes += x.Note
		}
		if len(r.loads) == 0 || len(r.corrections) != c.corrected || c.corrected > 0 && !strings.Contains(notes, "stepped down at once") {
			t.Errorf("%+v: %+v, corrections %+v, events %+v", c, r.loads, r.corrections, r.events)
		}
	}
}

// The pump thins the vapour above the oil, which a pressure cell feels from its first minute on and which comes back behind the load: where the
// readings go on falling as the pump draws, nobody opened a hatch before it, however far apart the readings at rest come. Where they rest first it
// was one.
func TestAPumpsVacuumIsNoHatch(t *testing.T) {
	for _, rests := range []float64{0, 900} {
		r := newRig(t, tanktest.Well{Level0: 150})
		ts, start := &tankState{}, 36000.0
		ts.noise.sigma, ts.interval.n, ts.interval.usual, ts.interval.mean = 0.43, 100, 289, 289
		put := func(s, v float64) { ts.levels.recent = append(ts.levels.recent, sample{t: s, v: float32(v), n: 1}) }
		for s := start - 7000; s < start-60; s += 340 {
			put(s, 140)
		}
		step := 0.0
		if rests > 0 {
			step = 3
		}
		for s := start + 20; s < start+rests; s += 120 {
			put(s, 137)
		}
		pump, end := 1.5/60, start+rests+2350
		for s := start + rests + 20; s < end; s += 20 {
			put(s, 140-step-pump*(s-start-rests)-1.2*(1-math.Exp(-(s-start-rests)/60)))
		}
		closing := 140 - step - pump*2350 - 1.2
		for s := end + 60; s < end+2700; s += 300 {
			put(s, closing+(1.2+step)*(1-math.Exp(-(s-end)/150)))
		}
		d := draw{start: start, end: end, next: math.Inf(1), leaptAt: math.Inf(1), samples: 100, opening: gauge{level: 140}, closing: gauge{level: closing}}
		tank := &r.site.tanks[0]
		tank.Sensor = "hydrostatic"
		if step := startAfterSeldom(ts, tank, &d, end+2700); (step > 0) != (rests > 0) {
			t.Errorf("rests for %g s: a hatch of %.2f in, from %.0f s", rests, step, d.start-start)
		}
	}
}

// Noise that is wider than the deadband moves each report, and its highest one next to a load is no leap of a value that stood.
func TestNoiseThatMovesEachReportHasNotStood(t *testing.T) {
	ts := &tankState{}
	ts.noise.sigma, ts.interval.n, ts.interval.usual, ts.interval.mean = 0.5, 100, 30, 30
	ts.interval.changes, ts.interval.held = 100, 30
	start := 36000.0
	for k := range 100 {
		ts.levels.recent = append(ts.levels.recent, sample{t: start - 30*float64(100-k), v: float32(149 + 0.6*float64(k%2)), n: 1})
	}
	ts.levels.recent[98].v, ts.levels.recent[99].v = 151.2, 149.9
	for k := range 100 {
		ts.levels.recent = append(ts.levels.recent, sample{t: start + 20 + 20*float64(k), v: float32(149.2 - 0.4*float64(k)), n: 1})
	}
	d := draw{start: start, end: start + 2000, opening: gauge{level: 149.6}, closing: gauge{level: 110}, inflowBefore: 0.001}
	if since, _, _ := hungInto(ts, d); since > 0 {
		t.Errorf("it stood for %.0f s", start-since)
	}
}
