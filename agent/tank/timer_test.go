package tank

import (
	"math"
	"math/rand/v2"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A pump on a timer has a clock: what it brought over a load is known to a few tenths of a barrel whatever the fall shows, where a pressure sensor
// or a reading each five minutes shows little, and where a value hung.
func TestATimersClockTellsWhatCameMeanwhile(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 175, Rate: 5}
	for name, x := range map[string]struct {
		sensor       string
		every, first float64
		hangs        bool
	}{
		"a pressure sensor":      {sensor: "hydrostatic", every: 60, first: 100},
		"a reading in 5 minutes": {sensor: "radar", every: 300, first: 900},
		"a value that hung":      {sensor: "radar", every: 15, first: 1500, hangs: true},
	} {
		w := tanktest.Well{Level0: 120, Moves: []tanktest.Move{load}}
		came := inLumps(&w, load, x.first, 22, 33, 0.45)
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = x.every, x.sensor
		held := 0.0
		r.sensor = func(_ int, at, v float64) (float64, bool) {
			if x.hangs && at >= load.From-60 && at < load.From+540 {
				return held, true
			}
			held = v
			return v, true
		}
		r.run(0, load.End()+1.5*tanktest.Hour)
		r.inflowIs(name, came, 0.7, 1.6)
	}
}

// A pump-off controller has no clock: its pump runs and rests for as long as the well takes, and the error holds what came.
func TestAPumpThatWaitsForItsWellHasNoClock(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 175, Rate: 5}
	random := rand.New(rand.NewPCG(5, 6))
	for k := range 6 {
		w, came := tanktest.Well{Level0: 120, Moves: []tanktest.Move{load}}, 0.0
		for from := 100.0; from < 12*tanktest.Hour; {
			on, off := 1300*(0.6+0.8*random.Float64()), 2000*(0.6+0.8*random.Float64())
			w.Moves = append(w.Moves, tanktest.Move{From: from, Bbl: -0.45 * on / 60, Rate: 0.45})
			came += 0.45 / 60 * math.Max(0, math.Min(load.End(), from+on)-math.Max(load.From, from))
			from += on + off
		}
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = 60, "hydrostatic"
		r.run(0, load.End()+1.5*tanktest.Hour)
		if l := r.loads[0]; math.Abs(l.InflowBbl-came) > l.InflowErrorBbl || l.InflowErrorBbl < 1.6 {
			t.Errorf("%d: want an inflow of %.1f: %.1f, give or take %.1f", k, came, l.InflowBbl, l.InflowErrorBbl)
		}
	}
}

// A well whose pump is started, or stops, while the truck's draws bends the fall once, by just what it comes faster or slower behind it: there it was.
func TestAPumpThatStartsOrStopsMeanwhileBendsTheFall(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 160, Rate: 5}
	for name, x := range map[string]struct{ from, to float64 }{
		"starts early": {load.From + 500, 12 * tanktest.Hour},
		"starts late":  {load.From + 1400, 12 * tanktest.Hour},
		"stops early":  {load.From - 2*tanktest.Hour, load.From + 500},
		"stops late":   {load.From - 2*tanktest.Hour, load.From + 1400},
	} {
		rate := 0.5
		w := tanktest.Well{Level0: 140, Inflow: 20, Moves: []tanktest.Move{load, {From: x.from, Bbl: -rate * (x.to - x.from) / 60, Rate: rate}}}
		came := 20/86400.*(load.End()-load.From) + rate/60*(math.Min(x.to, load.End())-math.Max(x.from, load.From))
		r := newRig(t, w)
		r.run(0, load.End()+1.5*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: want one load: %+v", name, r.loads)
			continue
		}
		l := r.loads[0]
		if off := math.Abs(l.InflowBbl - came); off > l.InflowErrorBbl || off > 1.5 || l.InflowErrorBbl > 4 {
			t.Errorf("%s: want an inflow of %.1f: %.1f, give or take %.1f; %s", name, came, l.InflowBbl, l.InflowErrorBbl, l.Review)
		}
	}
}
