package tank

import (
	"math"
	"testing"
)

// A float reports only changes. Half an hour behind the truck its heartbeat shows the level of the last reading of the fall, and then the well is turned to the
// tank: nothing came in that half hour. Its deadband is told by how the level rises then, and not by how far a pump draws it from poll to poll.
func TestAClosingThatStoodThroughASilence(t *testing.T) {
	const end, well = 20000.0, 0.044 / 60
	for name, c := range map[string]struct{ every, deadband, usual, closing float64 }{
		"the fall shows no deadband": {240, 1.86, well, 128.19},
		"it was told by the rise":    {240, 0.2, well, 128.19},
		"the well was away before":   {240, 0.2, 0, 128.19},
		"a deadband as wide":         {2600, 1.86, well, 126.8},
	} {
		ts := &tankState{}
		ts.noise.sigma = 0.02
		for k, v := range []float64{132.64, 130.12, 128.26} {
			ts.levels.recent = append(ts.levels.recent, sample{t: end - 60*float64(2-k), v: float32(v), n: 1})
		}
		for k := range 4 {
			ts.levels.recent = append(ts.levels.recent, sample{t: end + 1860 + c.every*float64(k), v: float32(128.19 + well*c.every*float64(k)), n: 1})
		}
		d := draw{start: end - 1200, end: end + 20, closing: gauge{level: 126.8, err: 0.3, carried: 1840}, inflowAfter: well, inflow: production{known: true, usual: c.usual}, resolution: resolution{deadband: c.deadband}}
		ts.stoodInSilence(&d, false)
		if math.Abs(d.closing.level-c.closing) > 0.01 {
			t.Errorf("%s: closing at %.2f in, want %.2f", name, d.closing.level, c.closing)
		}
	}
}
