package tank

import (
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A step of the sensor is told with the time from the load to it, before or behind it, or to the load's end.
func TestAStepOfTheSensorIsToldWithItsTime(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, tanktest.Hour)
	u := update{siteTanks: siteTanks{site: r.site, st: &r.st}}
	d := draw{start: 1000, end: 2000, moved: []sensorStep{{at: 700, inches: 3}, {at: 1687, inches: 3}, {at: 2120, inches: 3}}}
	u.tellMoved(0, r.st.tanks[0], &d)
	for k, want := range []string{" 5 min before the load", " 5 min before the end of the load", " 2 min behind the load"} {
		if got := u.out[k].Event.Note; !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
