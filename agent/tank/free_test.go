package tank

import (
	"math"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// Polled each half minute, the few readings before an echo hangs do not show the rate of a pump that wanders: what comes down to its line is one load.
func TestAnEchoThatHangsAmidAWanderingFall(t *testing.T) {
	const at = 5*tanktest.Hour + 18
	fall := []float64{146.88, 146.4, 145.84, 144.9, 144.58, 144.04, 143.66, 143.04, 142.08}
	on := []float64{132.6, 131.96, 131.6, 131.36, 130.72, 129.5, 128.48, 128.1, 127.7, 128.1}
	level := [][2]float64{{0, 165}, {at, 165}}
	for k, v := range fall {
		level = append(level, [2]float64{at + 819 + 30*float64(k), v})
	}
	rests := at + 819 + 30*float64(len(fall)-1)
	level = append(level, [2]float64{rests + 390, 142.12})
	for k, v := range on {
		level = append(level, [2]float64{rests + 420 + 30*float64(k), v})
	}
	shown := knots(level...)
	r := newRig(t, tanktest.Well{})
	rows := [][2]float64{{0, 0}, {192, 537.72}}
	table, err := NewTable(rows)
	if err != nil {
		t.Fatal(err)
	}
	r.every, r.site.tanks[0].Every, r.site.tanks[0].Height, r.site.tanks[0].Table = 30, 30*time.Second, 192, table
	r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, shown(s)), true }
	r.run(at-5*tanktest.Hour+9, 9*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Close-128) > 0.5 || r.rules()["stuck"] != 1 {
		t.Errorf("want one load down to 128 in: %+v, events %+v", r.loads, r.events)
	}
}

// An echo that hangs for minutes amid a fall, alive, and comes free at the pump's line, is no new span of the sensor: the load is known and does not ask. One that
// comes down to elsewhere is.
func TestAnEchoThatComesFreeAtThePumpsLineIsNoNewSpan(t *testing.T) {
	truck := tanktest.Move{From: 5 * tanktest.Hour, Bbl: 120, Rate: 3.5}
	w := tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{truck}}
	for _, every := range []float64{5, 10, 30} {
		for _, long := range []float64{130, 180} {
			for _, off := range []float64{0, 9} {
				r := newRig(t, w)
				r.every, r.site.tanks[0].Every = every, time.Duration(every)*time.Second
				hangs := truck.From + 600
				r.sensor = func(i int, s, v float64) (float64, bool) {
					switch {
					case s >= hangs && s < hangs+long:
						v = tanktest.Radar(i, s, w.Level(hangs))
					case s >= hangs:
						v -= off
					}
					return v, true
				}
				r.run(0, 9*tanktest.Hour)
				if len(r.loads) == 0 || off == 0 && len(r.loads) > 1 || len(r.loads[0].Review) > 0 != (off > 0) {
					t.Errorf("each %g s, %g s, off by %g in: %+v, events %+v", every, long, off, r.loads, r.events)
				}
			}
		}
	}
}
