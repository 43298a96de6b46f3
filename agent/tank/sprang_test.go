package tank

import (
	"math"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// A line that freezes lifts the reading for an hour, and half of that goes between two readings as it thaws; foam springs up within minutes, decays, and
// leaves some behind. The level is where it had been, and nothing left. Where oil was brought as evenly and a pump takes it out again, it is a load.
func TestWhatSprangUpAndFellBackTookNoOil(t *testing.T) {
	const at = 5 * tanktest.Hour
	level := knots([2]float64{0, 98}, [2]float64{12 * tanktest.Hour, 102})
	foam := knots([2]float64{at, 0}, [2]float64{at + 240, 20}, [2]float64{at + 1800, 20.5}, [2]float64{at + 2300, 11}, [2]float64{at + 3400, 0.8})
	brought := knots([2]float64{at, 0}, [2]float64{at + 3600, 22}, [2]float64{at + 7200, 22}, [2]float64{at + 9000, 0})
	for name, c := range map[string]struct {
		up    func(s float64) float64
		loads int
	}{
		"frozen line": {func(s float64) float64 {
			return 22 * math.Min(1, (s-at)/3600) * math.Min(1, math.Exp(-(s-at-7214)/45))
		}, 0},
		"foam":                   {foam, 0},
		"oil brought and hauled": {brought, 1},
	} {
		r := newRig(t, tanktest.Well{})
		r.every = 20
		r.sensor = func(i int, s, _ float64) (float64, bool) {
			v := level(s)
			if s >= at {
				v += c.up(s)
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != c.loads {
			t.Errorf("%s: %d loads, want %d: %+v %+v", name, len(r.loads), c.loads, r.loads, r.verdicts)
		}
	}
}

// A false echo is believed minutes before a truck comes, stands while the pump begins to draw, and lets go within minutes: the load opens where the level had
// been before it, and asks. Oil that is brought before a load, and hauled by a pump, was there.
func TestALoadBeginsBehindAnEchoThatStoodAtItsOpening(t *testing.T) {
	truck := tanktest.Move{From: 5 * tanktest.Hour, Bbl: 150, Rate: 2}
	brought := tanktest.Move{From: truck.From - 900, Bbl: -30, Rate: 12}
	for name, c := range map[string]struct {
		moves  []tanktest.Move
		up     float64
		sensor string
		asks   string
	}{
		"echo":               {[]tanktest.Move{truck}, 19, "radar", "sprang up"},
		"pressure":           {[]tanktest.Move{truck}, 19, "hydrostatic", "sprang up"},
		"oil that is hauled": {[]tanktest.Move{truck, brought}, 0, "radar", ""},
	} {
		w := tanktest.Well{Level0: 140, Inflow: 40, Moves: c.moves}
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor, r.site.tanks[0].Every = 120, c.sensor, 2*time.Minute
		top := w.Level(truck.From-400) + c.up
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if c.up > 0 && s >= truck.From-400 && s < truck.From+500 {
				v = top - (top-v)*math.Max(0, s-truck.From-320)/180
			}
			return tanktest.Radar(0, s, v), true
		}
		r.run(0, 10*tanktest.Hour)
		if len(r.loads) != 1 || math.Abs(r.loads[0].Open-w.Level(truck.From)) > 1 || strings.Contains(strings.Join(r.loads[0].Review, ", "), "sprang up") != (c.asks != "") {
			t.Errorf("%s: want one load from %.1f in: %+v %+v", name, w.Level(truck.From), r.loads, r.events)
		}
	}
}

// A zero that is trimmed in several steps within a minute each, with rest of two minutes between the last of them, is no silent load where polls are a minute apart.
func TestTwoQuickStepsWithRestBetweenThemAsk(t *testing.T) {
	const at = 5 * tanktest.Hour
	trimmed := []float64{114.7, 109.8, 106.5, 101.25, 101.25, 101.25, 96.45, 96.45, 93.75}
	r := newRig(t, tanktest.Well{})
	r.every, r.site.tanks[0].Every = 60, time.Minute
	r.sensor = func(i int, s, _ float64) (float64, bool) {
		v := trimmed[0] - (at-s)/36000
		if k := int((s - at) / 60); k >= 0 {
			v = trimmed[min(k, len(trimmed)-1)] + (s-at)/36000
		}
		return v + 0.2*tanktest.Radar(i, s, 0), true
	}
	r.run(0, 9*tanktest.Hour)
	for _, l := range r.loads {
		if len(l.Review) == 0 {
			t.Errorf("%+v", l)
		}
	}
}
