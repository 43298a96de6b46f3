package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A tank whose well was turned to another shows a radio node's beat no more: a value stands for ten of them. While a truck draws each stands for one:
// what the gateway repeats is no rest between steps, and no value that hung and leapt.
func TestAFallShowsAGatewaysBeat(t *testing.T) {
	for phase := 0.0; phase < 300; phase += 60 {
		load := tanktest.Move{From: 6*tanktest.Hour + phase, Bbl: 180, Rate: 4}
		w := tanktest.Well{Level0: 160, Moves: []tanktest.Move{load}}
		r := newRig(t, w)
		r.every = 30
		r.sensor = func(_ int, s, _ float64) (float64, bool) {
			heard := math.Floor(s / 300)
			return w.Level(heard*300) + 0.01*math.Floor(math.Mod(heard*0.37, 1)*1.1), true
		}
		r.run(0, 10*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-load.Bbl) > 0.5 || len(r.loads[0].Review) > 0 || r.loads[0].Samples > 20 {
			t.Errorf("%.0f s: %+v", phase, r.loads)
		}
	}
}

// A float whose tank stood idle for hours comes down by what a pump took since the node was heard, and not since the gateway was polled: it had not hung.
func TestAnIdleTankBehindAGatewayIsDrawnFrom(t *testing.T) {
	fill := tanktest.Move{From: 3 * tanktest.Hour, Bbl: -150, Rate: 0.25}
	first := tanktest.Move{From: tanktest.Hour, Bbl: 150, Rate: 4}
	load := tanktest.Move{From: fill.End() + 6*tanktest.Hour, Bbl: 150, Rate: 5}
	w := tanktest.Well{Level0: 166, Moves: []tanktest.Move{first, fill, load}}
	r := newRig(t, w)
	r.every, r.site.tanks[0].Sensor = 30, "float"
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		heard := 180 * math.Floor(s/180)
		return math.Round(8*(w.Level(heard)+0.03*math.Sin(heard))) / 8, true
	}
	r.run(0, load.End()+6*tanktest.Hour)
	if len(r.loads) != 2 || math.Abs(r.loads[1].GaugeBbl-load.Bbl) > 0.5 {
		t.Errorf("%+v %+v", r.loads, r.events)
	}
}

// A tape that hung while the tank filled, trembling by a step, and came free when the pump had drawn for a minute: the opening is what flowed in
// since it hung, and asks. The value that hung is none, though all that was read before the load shows it.
func TestATapeThatComesFreeUnderTheTrucksPump(t *testing.T) {
	start := 8 * tanktest.Hour
	for _, c := range []struct{ hangs, free, trembles float64 }{{4800, 50, 0}, {9000, 80, 0.125}, {5400, 20, 0.125}, {7200, 85, 0.125}} {
		w := tanktest.Well{Level0: 110, Inflow: 190, Moves: []tanktest.Move{{From: start, Bbl: 170, Rate: 5.5}}}
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = 30, "float"
		held := 0.0
		r.sensor = func(i int, s, v float64) (float64, bool) {
			v = math.Round((v+tanktest.Radar(i, s, 0))*8) / 8
			if s < start-c.hangs || s >= start+c.free {
				held = v
				return v, true
			}
			return held - c.trembles*math.Max(0, math.Round(math.Sin(s/170))), true
		}
		r.run(0, 12*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: %+v", c, r.loads)
		}
		if l := r.loads[0]; len(l.Review) == 0 || math.Abs(l.Open-w.Level(start)) > 1 || math.Abs(l.Start.Sub(r.at(start)).Seconds()) > 30 {
			t.Errorf("%+v: from %.2f in at %v, want %.2f in at %v, review %q", c, l.Open, l.Start, w.Level(start), r.at(start), l.Review)
		}
	}
}

// Until a level first comes to where it stands it rises, and that is no noise of it; two values in turn are as quiet on either side of a load.
func TestARiseIsNoNoise(t *testing.T) {
	before := atRest(t, 1, strings.Repeat("8 8.2 8.4 8.6 8.8 ", 2)+strings.Repeat("9 8.9 9 ", 8))
	if saturated("", before, atRest(t, 1, strings.Repeat("3 3.1 3.1 3 ", 6)), nil, -1) {
		t.Error("a level that rose before it stood is called saturated")
	}
	for b, want := range map[string]bool{"3 3.1 3 3 3.1 ": false, "3 3 3 3 3 ": true} {
		if quieted("", atRest(t, 1, strings.Repeat(b, 6)), atRest(t, 1, strings.Repeat("9 9.1 9 9.1 9 9.1 ", 5))) != want {
			t.Errorf("%s is quieted: %t", b, !want)
		}
	}
}

// Waves of an inch while a pump draws are no step of the sensor, however a few readings of them lie.
func TestWavesInAFallAreNoStep(t *testing.T) {
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 180, Rate: 4.5}
	for k := range 8 {
		r := newRig(t, tanktest.Well{Level0: 200, Moves: []tanktest.Move{load}})
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s > load.From+60 && s < load.End() {
				v += 20 * (tanktest.Radar(10+k, s, 0) + tanktest.Radar(10+k, s-10, 0))
			}
			return v, true
		}
		r.run(0, 6*tanktest.Hour)
		if len(r.loads) != 1 || said(r.loads[0], "re-spanned") {
			t.Errorf("%d: %+v", k, r.loads)
		}
	}
}

// Noise that stands out of a rest right before the pump starts is no leap of a value that hung, however long the well has been turned away.
func TestNoiseBeforeALoadIsNoLeap(t *testing.T) {
	load := tanktest.Move{From: 9*tanktest.Hour - 20, Bbl: 160, Rate: 4.5}
	w := tanktest.Well{Level0: 100, Moves: []tanktest.Move{{From: 0, Bbl: -48, Rate: 0.1}, load}}
	for _, high := range []float64{0.2, 0.24, 0.28} {
		r := newRig(t, w)
		r.every = 30
		r.sensor = func(_ int, s, _ float64) (float64, bool) {
			heard := 60 * math.Floor(s/60)
			v := w.Level(heard) + 0.02*math.Sin(heard*heard)
			if before := load.From - heard; before > 0 && before < 160 {
				v = w.Level(heard) + high*before/160
			}
			return math.Round(v*100) / 100, true
		}
		r.run(0, 12*tanktest.Hour)
		if r.matches(0.2, 60, labelOf(w, load, load)); len(r.loads) == 1 {
			asksFor(t, r.loads[0], "")
		}
	}
}

// A wave of the pump's start over a level that stood to the last digit is no leap of a value that hung either.
func TestTheWaveOfAPumpsStartIsNoLeap(t *testing.T) {
	for high, want := range map[float64]bool{0.14: false, 0.5: false, 3: true} {
		ts := &tankState{}
		ts.interval = interval{usual: 10, held: 30, changes: heldFew}
		for s := 0.0; s <= 2400; s += 10 {
			ts.levels.recent = append(ts.levels.recent, sample{t: s, v: 120.32})
		}
		for k, v := range []float64{high, high - 0.26, high - 0.7, high - 1.1, high - 1.6} {
			ts.levels.recent = append(ts.levels.recent, sample{t: 2410 + 10*float64(k), v: float32(120.31 + v)})
		}
		d := draw{start: 2425, end: 3900, opening: gauge{level: 120.31}, closing: gauge{level: 53.7}}
		if high == 3 {
			d.start = 2445
		}
		if _, _, leapt := hungInto(ts, d); leapt != want {
			t.Errorf("a rise of %g in: leapt %t", high, leapt)
		}
	}
}
