package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

const plainLog = "log: {level: info}"

// TestLinkAsWrittenAndPrinted: what is printed means what was written.
func TestLinkAsWrittenAndPrinted(t *testing.T) {
	night := Window{TimeOfDay(22 * time.Hour), TimeOfDay(6 * time.Hour)}
	for _, c := range []struct {
		text    string
		link    Link
		printed string
	}{
		{"{}", Link{Rate: 1}, "rate: 1\n"},
		{"{rate: 0.5}", Link{Rate: 0.5}, "rate: 0.5\n"},
		{"{rate: 2/s}", Link{Rate: 2}, "rate: 2\n"},
		{"{rate: 6/min}", Link{Rate: 0.1}, "rate: 0.1\n"},
		{"{rate: 7 /min}", Link{Rate: Rate(7.0) / 60}, "rate: 7/min\n"},
		{"{rate: 0.1234567891234}", Link{Rate: 0.1234567891234}, "rate: 0.1234567891234\n"},
		{"{rate: off, max_bytes_per_day: 5MB}", Link{MaxBytesPerDay: 5_000_000}, "max_bytes_per_day: 5000000\n"},
		{`{windows: ["22:00-06:00", "12:00 - 24:00"]}`, Link{Rate: 1, Windows: []Window{night, {TimeOfDay(12 * time.Hour), 0}}}, "22:00-06:00"},
	} {
		cfg := edited(t, plainLog, "link: "+c.text)
		got := printed(t, cfg)
		if !reflect.DeepEqual(cfg.Link, c.link) || !strings.Contains(got, c.printed) {
			t.Errorf("%s: %+v, printed\n%s", c.text, cfg.Link, got)
		}
		again, err := Parse("gauger.yaml", []byte(got), "")
		if err != nil || !reflect.DeepEqual(again.Link, c.link) {
			t.Errorf("%s: read again %+v, %v", c.text, again.Link, err)
		}
	}
}

// TestRateTowardTheBoxItself: nothing is spared there unless somebody asks for it.
func TestRateTowardTheBoxItself(t *testing.T) {
	for text, want := range map[string]Rate{"": 0, "link: {rate: 2}": 2, "link: {max_bytes_per_day: 1MB}": 0} {
		local := strings.Replace(good(t), "https://api.example.com", "http://127.0.0.1:8080", 1)
		cfg, err := Parse("gauger.yaml", []byte(strings.Replace(local, plainLog, text, 1)), "testdata")
		if err != nil || cfg.Link.Rate != want {
			t.Errorf("%q: rate %v, %v, want %v", text, cfg.Link.Rate, err, want)
		}
	}
}

// One number for both seals says of each ticket that the seal which was taken off was put on again.
func TestAConstantSealForBothIsDoubted(t *testing.T) {
	for text, want := range map[string]bool{"seal_mode: static, seal_on: S1, seal_off: S1": true, "seal_mode: static, seal_on: S1, seal_off: S2": false, "seal_mode: time, seal_on: S1, seal_off: S1": false} {
		cfg := edited(t, "wire: {level_unit: in,", "wire: {level_unit: in, "+text+",")
		if got := slices.ContainsFunc(cfg.Warnings, func(p Problem) bool { return strings.Contains(p.String(), "seal_off too") }); got != want {
			t.Errorf("%s: %v", text, cfg.Warnings)
		}
	}
}

// What a technician sets in good faith and trucks do not keep to is told, at the site and at a tank, and is no mistake.
func TestSettingsThatMissLoadsAreTold(t *testing.T) {
	for loads, want := range map[string]string{
		"min_rate: 2": "min_rate: 2 bbl/min is more than many a hauler draws", "min_rate: 1": "", "max_rate: 6": "max_rate: 6 bbl/min is less than trucks' pumps may draw", "max_rate: 8": "",
		"pause_merge: 40m, truck_max: 0": "pause_merge: 40m, with truck_max 0, makes one load of two trucks", "pause_merge: 40m": "", "pause_merge: 15m, truck_max: 0": "", "truck_max: 0": "",
		"settle: 30m": "settle: the closing would be carried back over 30m", "settle: 10m": "",
	} {
		for path, at := range map[string]string{"loads": "loads: {min_load: 20}", "tanks[0].loads": "    loads: {truck_max: 200}"} {
			said, cfg := "", edited(t, at, at[:len(at)-len(strings.TrimLeft(at, " "))]+"loads: {"+loads+"}")
			for _, key := range []string{"min_rate", "max_rate", "pause_merge", "truck_max", "settle"} {
				if m := told(cfg.Warnings, path+"."+key); m != "" {
					said += key + ": " + m
				}
			}
			if (said != "") != (want != "") || !strings.HasPrefix(said, want) {
				t.Errorf("%s at %s: %q", loads, path, said)
			}
		}
	}
}
