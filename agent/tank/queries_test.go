package tank

import (
	"testing"

	"gauger/agent/tank/tanktest"
)

func TestPhaseNamesWhatIsSeen(t *testing.T) {
	r := newRig(t, aWell, tanktest.Well{Level0: 100})
	if got := r.st.Phase(0); got != "waiting" {
		t.Errorf("before the first reading: %s", got)
	}
	at := 0.0
	for _, want := range []struct {
		until float64
		phase string
	}{
		{aLoad.From - 60, "idle"}, {aLoad.From + 600, "drawing"}, {aLoad.End() + 60, "drawing"},
		{aLoad.End() + 240, "confirming"}, // nothing falls any more
		{aLoad.End() + 900, "confirming"}, {aLoad.End() + 2400, "confirming"}, {aLoad.End() + 3600, "idle"},
	} {
		r.run(at, want.until)
		at = want.until
		if got := r.st.Phase(0); got != want.phase {
			t.Errorf("%.0f s after the end of the load: %s, want %s", at-aLoad.End(), got, want.phase)
		}
		if got := r.st.Phase(1); got != "idle" {
			t.Errorf("the other tank: %s", got)
		}
	}
}
