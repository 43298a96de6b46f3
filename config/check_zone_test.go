package config

import (
	"testing"
	"time"
)

// The names that a site may write lead to its clock, summer time and all.
func TestZonesByName(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"America/Chicago": "2026-07-01 07:00 CDT", "America/Regina": "2026-07-01 06:00 CST", "US/Central": "2026-07-01 07:00 CDT",
		"Europe/Berlin": "2026-07-01 14:00 CEST", "Australia/Adelaide": "2026-07-01 21:30 ACST", "UTC": "2026-07-01 12:00 UTC",
	} {
		cfg := edited(t, "time_zone: America/Chicago", "time_zone: "+name)
		if got := noon.In(cfg.Zone).Format("2006-01-02 15:04 MST"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
