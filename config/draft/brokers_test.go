package draft

import (
	"testing"

	"gauger/collectors/mqtt"
)

// A value whose name says its unit is offered with that one: Enter at inches would make eight inches of 8.33 ft.
func TestTheNameOfAValueSaysItsUnit(t *testing.T) {
	for want, all := range map[string][]mqtt.Point{
		"ft": {{Topic: "field/tk1", Value: "level.ft"}, {Value: "levelFeet.feet"}, {Sparkplug: "g/e/n", Metric: "Tank 1/Level FT"}},
		"in": {{Topic: "field/tk1", Value: "level"}, {Topic: "field/tk1/level_in"}, {Value: "[0]"}},
		"mm": {{Topic: "field/tk1/level/mm"}}, "degF": {{Value: "temp.degF"}},
	} {
		for _, p := range all {
			if got := unitByName(p); got != want {
				t.Errorf("%+v: %s, want %s", p, got, want)
			}
		}
	}
}
