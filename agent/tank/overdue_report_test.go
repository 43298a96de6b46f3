package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// Of two tanks that report by exception the one is filled until its well is turned to the other, and then a truck loads. Reports that are overdue say that it
// stands: it is drawn from where its last heartbeat says, or, where none came, within a deadband above the last report, nothing flows in meanwhile, and what
// the next heartbeat says is the closing, and not somewhere within the deadband below the last report of the fall.
func TestAnOverdueReportSaysThatTheLevelStands(t *testing.T) {
	const truck, bbl = 8 * tanktest.Hour, 150.0
	for _, c := range []struct{ dead, beat, turned, off float64 }{
		{1, 3600, 5000, 0.15}, {1, 3600, 2800, 0.55}, {0.5, 900, 3000, 0.15}, {0.5, 1800, 3600, 0.15}, {0.25, 900, 2400, 0.15},
	} {
		filled := tanktest.Well{Level0: 90, Inflow: 115}
		stood := tanktest.Well{Level0: filled.Level(truck - c.turned), Moves: []tanktest.Move{{From: truck, Bbl: bbl, Rate: 5}}}
		r := newRig(t, filled, tanktest.Well{Level0: 20})
		levels := []func(s float64) float64{
			func(s float64) float64 {
				if s < truck-c.turned {
					return filled.Level(s)
				}
				return stood.Level(s)
			},
			func(s float64) float64 {
				return 20 + filled.Level(math.Max(0, s-(truck-c.turned))) - 90
			},
		}
		var sensors []seen
		for i, level := range levels {
			sensors = append(sensors, excepted(c.dead, c.beat, func(s float64) float64 { return tanktest.Radar(i, s, level(s)) }))
		}
		r.sensor = func(i int, s, v float64) (float64, bool) { return sensors[i](i, s, v) }
		r.run(0, 13*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%+v: %+v", c, r.loads)
		}
		l, open, closing := r.loads[0], stood.Level(truck), stood.Level(truck+bbl/5*60)
		if math.Abs(l.Open-open) > c.off || math.Abs(l.Close-closing) > 0.15 || l.InflowBbl > 0.2 || len(l.Review) > 0 {
			t.Errorf("%+v: from %.2f to %.2f in, %.1f bbl flowed in, want %.2f to %.2f in and none: %q", c, l.Open, l.Close, l.InflowBbl, open, closing, l.Review)
		}
	}
}
