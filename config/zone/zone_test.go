package zone

import (
	"testing"
	"time"
)

// Every zone is found, and a box without a database reads the same times: built with -tags packedzones this tests the
// packed database, else Go's own.
func TestZonesAreFoundWithoutADatabase(t *testing.T) {
	if _, err := Load("Mars/Olympus"); err == nil {
		t.Error("a zone that is none was found")
	}
	for name, want := range map[string]string{
		"America/Chicago": "2026-07-01 07:00 CDT", "America/Regina": "2026-07-01 06:00 CST", "US/Central": "2026-07-01 07:00 CDT",
		"Europe/Berlin": "2026-07-01 14:00 CEST", "Australia/Adelaide": "2026-07-01 21:30 ACST", "UTC": "2026-07-01 12:00 UTC",
	} {
		zone, err := Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).In(zone).Format("2006-01-02 15:04 MST"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if data, ok := packed(name); ok && name != "UTC" {
			own, err := time.LoadLocationFromTZData(name, data)
			if err != nil {
				t.Fatal(err)
			}
			if got := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).In(own).Format("2006-01-02 15:04 MST"); got != want {
				t.Errorf("%s as it is packed: %s, want %s", name, got, want)
			}
		}
	}
}
