package tank

import (
	"math"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// A hatch is opened before a load, behind it, or both, and a sensor that looks down shows inches more for some minutes: the gauges
// are the oil's beside the humps.
func TestAHatchThatIsOpenedAboutALoad(t *testing.T) {
	for name, humps := range map[string][][3]float64{
		"before": {{aLoad.From - 1260, aLoad.From - 870, 6.6}},
		"short":  {{aLoad.From - 540, aLoad.From - 420, 2.5}},
		"behind": {{aLoad.End() + 1500, aLoad.End() + 1770, 6.6}},
		"both":   {{aLoad.From - 1260, aLoad.From - 870, 6.6}, {aLoad.End() + 1500, aLoad.End() + 1770, 6.6}},
	} {
		r := newRig(t, aWell)
		r.every = 15
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			for _, h := range humps {
				if s >= h[0] && s < h[1] {
					v += h[2]
				}
			}
			return v, true
		}
		r.run(0, aLoad.End()+2*tanktest.Hour)
		t.Run(name, func(t *testing.T) {
			want := labelOf(aWell, aLoad, aLoad)
			if len(r.loads) != 1 || math.Abs(r.loads[0].Open-want.open) > 0.15 || math.Abs(r.loads[0].Close-want.close) > 0.15 {
				t.Errorf("%+v, want %.2f to %.2f in", r.loads, want.open, want.close)
			}
		})
	}
}

// A sensor shows the interface until a load is under way: that is no rest before it, and no ticket closes above its opening, wherever the draw before ended.
func TestWhatASensorShowedBeforeItJumpedIsNoOpening(t *testing.T) {
	r := newRig(t, tanktest.Well{})
	ts := &tankState{}
	for k := range 60 {
		s := sample{t: 60 * float64(k), v: 7, n: 1}
		if k >= 31 {
			s.v = float32(math.Max(28, 87.5-2.9*float64(k-31)))
		}
		ts.levels.recent = append(ts.levels.recent, s)
	}
	for _, lo := range []float64{31 * 60, 0} {
		u := &update{siteTanks: siteTanks{r.site, &State{tanks: []*tankState{ts}}}}
		d := draw{start: 30.5 * 60, end: 52 * 60, opening: gauge{level: 87.5}, closing: gauge{level: 28}, within: bounds{lo, 3600}, next: math.Inf(1), leaptAt: math.Inf(1)}
		if u.takeNext(0, ts, &d); d.opening.level != 87.5 || d.closing.level != 28 {
			t.Errorf("it opens at %g in and closes at %g, after a bound at %g s", d.opening.level, d.closing.level, lo)
		}
	}
}

// A device hands on the height of its water for an hour and then the level again, from which a truck was drawn meanwhile: whole, where the
// level comes back at rest, or so that it comes back while it falls. That hour was not read, and what left over it is one load that asks.
func TestAnotherValueForAnHour(t *testing.T) {
	from := 4 * tanktest.Hour
	for name, at := range map[string]float64{"hidden": from + 900, "under way": from + 2700} {
		for _, every := range []float64{30, 120} {
			truck := tanktest.Move{From: at, Bbl: 160, Rate: 5}
			r := newRig(t, tanktest.Well{Level0: 190, Inflow: 150, Moves: []tanktest.Move{truck}})
			r.every = every
			r.sensor = func(_ int, s, v float64) (float64, bool) {
				if s >= from && s < from+3600 {
					v = 12 + math.Sin(s)/8
				}
				return math.Round(v*16) / 16, true
			}
			r.run(0, 9*tanktest.Hour)
			if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-truck.Bbl) > 10 || len(r.loads[0].Review) == 0 {
				t.Errorf("%s, %g s: %+v", name, every, r.loads)
			}
		}
	}
}

// One reading at an end of the tank behind a silence, as usual as that is by exception, is no level: the next one is where it was.
func TestOneReadingAtAnEndOfTheTank(t *testing.T) {
	for name, end := range map[string]float64{"bottom": 0, "top": 240} {
		truck := tanktest.Move{From: 30*tanktest.Hour + 100, Bbl: 150, Rate: 6}
		w := tanktest.Well{Level0: 180, Inflow: 2, Moves: []tanktest.Move{truck}}
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = 60, "float"
		r.sensor = excepted(0.25, 4*tanktest.Hour, func(s float64) float64 {
			if at := math.Mod(s, 9*tanktest.Hour); at >= 7200 && at < 7260 {
				return end
			}
			return math.Round(4*w.Level(s)) / 4
		})
		r.run(0, 44*tanktest.Hour)
		if want := labelOf(w, truck, truck); len(r.loads) != 1 || math.Abs(r.loads[0].Open-want.open) > 0.3 || math.Abs(r.loads[0].Close-want.close) > 0.3 || r.rules()["step"] > 0 {
			t.Errorf("%s: %+v, want %.2f to %.2f in: %+v", name, r.loads, want.open, want.close, r.events)
		}
	}
}

// A radar shows the roof for hours at dawn, up from one seldom poll to the next and down as quickly: no oil came, and none left. What
// was brought and taken by pumps is a load.
func TestAnEchoOfHoursBetweenSeldomPolls(t *testing.T) {
	const up, down = 6*tanktest.Hour + 40, 8*tanktest.Hour + 20
	for _, every := range []float64{300, 600} {
		for pumped, want := range map[bool]int{false: 0, true: 1} {
			w := tanktest.Well{Level0: 130, Inflow: 3}
			if pumped {
				w.Moves = []tanktest.Move{{From: up, Bbl: -70, Rate: 3}, {From: down, Bbl: 70, Rate: 3}}
			}
			r := newRig(t, w)
			r.every, r.site.tanks[0].Every = every, time.Duration(every)*time.Second
			r.sensor = func(i int, s, v float64) (float64, bool) {
				if !pumped && s >= up && s < down {
					v += 70 / tanktest.PerInch
				}
				return tanktest.Radar(i, s, v), true
			}
			if r.run(0, 12*tanktest.Hour); len(r.loads) != want {
				t.Errorf("polled each %g s, pumped %v: %+v, want %d", every, pumped, r.loads, want)
			}
		}
	}
}

// Of a load that was seen a truck pumps the most back, over many minutes, and the oil rocks meanwhile: the level did not jump back to where it had
// been by the sensor's doing. What left beside it has a ticket, which asks; where all of it comes back none has to.
func TestWhatATruckPumpsBackIsNoJump(t *testing.T) {
	first := tanktest.Move{From: 5 * tanktest.Hour, Bbl: 147, Rate: 6}
	again := tanktest.Move{From: first.End() + 2309, Bbl: -147, Rate: 5}
	load := tanktest.Move{From: 10 * tanktest.Hour, Bbl: 180, Rate: 6}
	back := tanktest.Move{From: load.End() + 2326, Bbl: -130, Rate: 5}
	w := tanktest.Well{Level0: 115, Inflow: 190, Moves: []tanktest.Move{first, again, load, back}}
	r := newRig(t, w)
	r.site.tanks[0].Sensor = "hydrostatic"
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if v = tanktest.Radar(0, s, v); s > again.From && s < again.End() || s > back.From && s < back.End() {
			v += 1.5 * math.Cos(s*math.Pi/r.every)
		}
		return v, true
	}
	r.run(0, 16*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-load.Bbl) > 1 || len(r.loads[0].Review) == 0 {
		t.Errorf("%+v %+v", r.loads, r.verdicts)
	}
}
