package tank

import "testing"

func TestPhaseNamesWhatIsSeen(t *testing.T) {
	r := newRig(t, aWell, well{level0: 100})
	if got := r.st.Phase(0); got != "waiting" {
		t.Errorf("before the first reading: %s", got)
	}
	at := 0.0
	for _, want := range []struct {
		until float64
		phase string
	}{
		{aLoad.from - 60, "idle"}, {aLoad.from + 600, "drawing"}, {aLoad.end() + 60, "drawing"},
		{aLoad.end() + 900, "confirming"}, {aLoad.end() + 2400, "confirming"}, {aLoad.end() + 3600, "idle"},
	} {
		r.run(at, want.until)
		at = want.until
		if got := r.st.Phase(0); got != want.phase {
			t.Errorf("%.0f s after the end of the load: %s, want %s", at-aLoad.end(), got, want.phase)
		}
		if got := r.st.Phase(1); got != "idle" {
			t.Errorf("the other tank: %s", got)
		}
	}
}
