package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A sensor reports by exception, and its well comes by dumps of three deadbands each, or by a pump that is on for half an hour and off for as long, or evenly
// through a swinging door that keeps a point each quarter of an hour. Silence for no longer than the well always pauses is no stand: what flowed in
// over the load is what the hours beside it tell, and a pump's beat tells whether it was on.
func TestASilenceAsLongAsAWellPausesIsNoStand(t *testing.T) {
	const truck, bbl = 8*tanktest.Hour + 60, 150.0
	dumped := func(inflow, every, quick float64) func(from, s float64) float64 { // bbl between two times
		made := func(s float64) float64 {
			n := math.Floor(s / every)
			return inflow * every / 86400 * (n + math.Min(1, (s-n*every)/quick))
		}
		return func(from, s float64) float64 { return made(s) - made(from) }
	}
	for _, c := range []struct {
		name       string
		dead, step float64
		made       func(from, s float64) float64
	}{
		{"dumps", 0.25, 0.25, dumped(150, 750, 40)},
		{"half hours", 0.5, 0.01, dumped(170, 3600, 1800)},
	} {
		level := func(s float64) float64 {
			return 110 + (c.made(0, s)-stepsTo(s, truck, bbl))/tanktest.PerInch
		}
		r := newRig(t, tanktest.Well{Level0: 110})
		sensor := excepted(c.dead*0.999, 1e9, func(s float64) float64 { return math.Floor(level(s)/c.step) * c.step })
		r.sensor = func(i int, s, v float64) (float64, bool) { return sensor(i, s, v) }
		r.run(0, 12*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%s: %+v", c.name, r.loads)
		}
		l, came := r.loads[0], c.made(truck, truck+bbl/5*60)
		if math.Abs(l.InflowBbl-came) > 0.8 || math.Abs(l.RemovedBbl-bbl) > 1.4 || len(l.Review) > 0 {
			t.Errorf("%s: %.1f bbl of %.1f, %.1f±%.1f flowed in of %.1f: %q", c.name, l.RemovedBbl, bbl, l.InflowBbl, l.InflowErrorBbl, came, l.Review)
		}
	}
}

// stepsTo are the barrels that a truck has drawn, at five a minute.
func stepsTo(s, truck, bbl float64) float64 { return math.Max(0, math.Min(bbl, (s-truck)/60*5)) }
