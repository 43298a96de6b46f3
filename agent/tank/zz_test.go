package tank

import "testing"
import "gauger/agent/tank/tanktest"

func TestZZ(t *testing.T) {
	_ = tanktest.Hour
	for blind := 600.0; blind < 4000; blind += 120 {
		r, off := newRig(t, aWell), dumped(5, aWell.Inflow, 9*3600)
		gap := hide(aLoad.End()-300, aLoad.End()+blind)
		r.sensor = func(i int, s, v float64) (float64, bool) { return gap(i, s, v+off[int(s)]) }
		r.run(0, 9*3600)
		l := r.loads[0]
		t.Logf("%.0f %.3f err %.2f %q", blind, l.Confidence, l.ErrorBbl, l.Review)
	}
}
