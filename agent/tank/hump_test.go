package tank

import (
	"math"
	"testing"

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
