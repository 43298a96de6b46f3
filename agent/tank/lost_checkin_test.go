package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A gateway hands on the mean of each five minutes, and one of them is lost as a truck begins: what had left by the one before stands for ten
// minutes as a rest would, behind a small draw that was seen to end before it fell. What is in neither is told, and not only what that was read as.
func TestWhatFellBehindASmallDrawThatWasMisreadIsTold(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 93})
	ts := &tankState{}
	for at := 0.0; at < 5000; at += 30 {
		v := 93.0
		if at >= 4010 {
			v = 90.7
		}
		ts.levels.recent = append(ts.levels.recent, sample{t: at, v: float32(v), n: 1})
	}
	ts.lastDrawStart, ts.lastDrawEnd = 3900, 3901
	ts.smallDraws = smallDraws{last: 3901, lastBbl: 0.1}
	d := draw{start: 4440, end: 5400, opening: gauge{level: 90.7}, closing: gauge{level: 47}, samples: 5}
	bbl, pause := begunBefore(ts, &r.site.tanks[0], d)
	if want := 2.3 * tanktest.PerInch; math.Abs(bbl-want) > 0.1 || pause != 539 {
		t.Errorf("%.2f bbl left %v s before it, want %.2f", bbl, pause, want)
	}
}
