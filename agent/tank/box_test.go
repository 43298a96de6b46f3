package tank

import (
	"reflect"
	"testing"

	"gauger/agent/tank/tanktest"
)

// The program is killed inside a load, and the clock is set while it is away: the box's uptime tells how long that was.
// With the clock alone an hour would lie inside the load.
func TestProgramIsKilledWhileTheClockIsSet(t *testing.T) {
	for _, step := range []float64{-86400, -3300, 3300, 86400} {
		for _, at := range []float64{aLoad.From - 120, aLoad.From + 400, aLoad.From + 1200, aLoad.End() + 200} {
			r := newRig(t, aWell)
			r.box, r.ticks = 77, true
			r.clock = func(s float64) float64 {
				if s < at {
					return -step
				}
				return 0
			}
			r.run(0, at)
			r.kill(at)
			r.run(at+20, 7*tanktest.Hour)
			r.matches(0.06, 30, labelOf(aWell, aLoad, aLoad))
		}
	}
}

// A state of a version that did not know the box's boot is read, and the next restart is measured by the clock.
func TestStateOfBeforeIsRead(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, aLoad.From+900)
	var whole, old State
	if err := whole.UnmarshalBinary(r.stored); err != nil {
		t.Fatal(err)
	}
	before := append([]byte{2}, r.stored[1:len(r.stored)-1]...)
	if err := old.UnmarshalBinary(before); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(old, whole) {
		t.Error("what an earlier version stored is not what is read")
	}
}
