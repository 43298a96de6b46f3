package tank

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A device that sends codes now and then, day and night, is told of once a day.
func TestRottenDeviceIsToldOfOnceADay(t *testing.T) {
	r := newRig(t, aWell)
	rnd := rand.New(rand.NewPCG(3, 3))
	left := 0
	r.sensor = func(_ int, _, v float64) (float64, bool) {
		if left == 0 && rnd.Float64() < 0.005 {
			left = 1 + rnd.IntN(6)
		}
		if left > 0 {
			left--
			return 9999, true
		}
		return v, true
	}
	r.run(0, 96*tanktest.Hour)
	if n := r.rules()["bad-value"]; n < 3 || n > 5 || len(r.events) != n {
		t.Errorf("%d events of bad values in four days, and %d others", n, len(r.events)-n)
	}
	r.loads = r.loads[:1]
	r.matches(0.1, 30, labelOf(aWell, aLoad, aLoad))
}

// A sensor that sends nothing but a code is told of after an hour, not when it is mended.
func TestDeadDeviceIsToldOfWhileItIsDead(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 100, Inflow: 60})
	r.ticks = true
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s >= 5*tanktest.Hour {
			v = math.NaN()
		}
		return v, true
	}
	r.run(0, 7*tanktest.Hour)
	r.only("bad-value")
	if note := r.events[0].Note; !strings.Contains(note, "no level, the last not a number") {
		t.Errorf("note %q", note)
	}
	r.run(7*tanktest.Hour, 60*tanktest.Hour)
	if n := r.rules()["bad-value"]; n < 2 || n > 4 {
		t.Errorf("%d events in two days and a half of silence", n)
	}
}

// One that never sent a level, as with a wrong scale, is told of after an hour too.
func TestADeviceThatNeverSentALevelIsToldOf(t *testing.T) {
	r := newRig(t, aWell)
	r.sensor = func(_ int, s, v float64) (float64, bool) { return 1000 * v, true }
	r.run(0, 1.2*tanktest.Hour)
	r.only("bad-value")
	r.run(1.2*tanktest.Hour, 20*tanktest.Hour)
	r.only("bad-value")
}
