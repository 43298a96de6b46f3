package config

import (
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/mqtt"
)

// TestATemplatesPointIsThereWhereItIsNamed: the name that a tank, an event or a value gives it makes it a point that is
// waited for and checked.
func TestATemplatesPointIsThereWhereItIsNamed(t *testing.T) {
	cfg := edited(t, "{name: tk2-level, topic: field/tk2, value: level.in, time: ts, unit: in}",
		`{name: "{1}-level", topic: field/+/level, value: v, unit: ft, expect_every: 10m}`)
	got, ok := cfg.PointInfo("radio/tk2-level")
	if !ok || got.Unit != "ft" || got.Every != 10*time.Minute {
		t.Fatalf("%+v, %t", got, ok)
	}
	if p := Options[mqtt.Device](cfg.Devices[2]).Points[got.Index]; p.Topic != "field/tk2/level" || p.Name != "tk2-level" {
		t.Errorf("%+v", p)
	}
	for p := range cfg.Points() {
		if p.Point == "radio/{1}-level" {
			t.Error("the template is a point")
		}
	}
	before := cfg.CountPoints()
	for _, name := range []collectors.Point{"radio/tk2-level", "radio/tk7-temp", "serial-plc/tk3-level", "other/tk3-level", "none"} {
		cfg.Refer(name)
	}
	if cfg.CountPoints() != before {
		t.Error("a name that needs no point made one")
	}
	cfg.Refer("radio/tk8-level")
	if cfg.CountPoints() != before+1 {
		t.Error("a name that a template makes made none")
	}
}
