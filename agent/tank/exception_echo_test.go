package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A sensor that reports only changes was silent for an hour when it shows a false echo once: the next reading is back where the level was, and the truck
// that comes minutes later is seen from beginning to end, though usually an hour lies between two readings.
func TestAnEchoBehindASilenceTakesNoLoadAway(t *testing.T) {
	load := tanktest.Move{From: 30*tanktest.Hour - 7, Bbl: 145, Rate: 6.5}
	for name, c := range map[string]struct{ off, long, on float64 }{"above": {20.5, 30, 0}, "above for two polls": {20.5, 60, 0}, "above, and told twice": {20.5, 60, 1.6}, "below": {-22, 30, 0}} {
		t.Run(name, func(t *testing.T) {
			w := tanktest.Well{Level0: 120.5, Moves: []tanktest.Move{load}}
			r := newRig(t, w)
			send := exceptions(1, 3600)
			r.every, r.ticks = 30, true
			r.sensor = func(i int, s, v float64) (float64, bool) {
				if s >= load.From-900 && s < load.From-900+c.long {
					v += c.off + c.on*(s-load.From+900)/30
				}
				return send(i, s, v)
			}
			r.run(0, 33*tanktest.Hour)
			if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-load.Bbl) > 3+2*c.on || math.Abs(r.loads[0].Start.Sub(r.at(load.From)).Seconds()) > 180 {
				t.Fatalf("want %g bbl at %v: %+v; %+v", load.Bbl, r.at(load.From), r.loads, r.events)
			}
			if c.off > 0 && c.on == 0 && (r.loads[0].Samples == 0 || r.rules()["step"] > 0) {
				t.Errorf("an echo is no step: %+v; %+v", r.loads[0], r.events)
			}
			if c.on > 0 && len(r.loads[0].Review) == 0 {
				t.Errorf("two readings are no echo that is sure: %+v", r.loads[0])
			}
		})
	}
}
