package main

import (
	"strings"
	"testing"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/config"
)

func TestInstant(t *testing.T) {
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ text, want string }{
		{"2026-03-01 14:30", "2026-03-01T20:30:00Z"},    // winter: six hours behind
		{"2026-07-01 14:30", "2026-07-01T19:30:00Z"},    // summer: five
		{"2026-07-01 14:30:15", "2026-07-01T19:30:15Z"}, // seconds
		{"2026-07-01T14:30", "2026-07-01T19:30:00Z"},
		{" 2026-07-01 ", "2026-07-01T05:00:00Z"},
		{"2026-07-01T14:30:00+02:00", "2026-07-01T12:30:00Z"}, // its own offset wins
		{"2026-07-01T14:30:00Z", "2026-07-01T14:30:00Z"},
		{"now", "2026-07-01T12:00:00Z"},
		{"24h", "2026-06-30T12:00:00Z"},
		{"1h30m", "2026-07-01T10:30:00Z"},
		{"7d", "2026-06-24T12:00:00Z"},
	} {
		got, err := parseTime(c.text, chicago, now)
		if err != nil || got.UTC().Format(time.RFC3339) != c.want {
			t.Errorf("%q: %v, %v; want %s", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "yesterday", "14:30", "-24h", "-7d", "2026-13-01", "2026-02-30", "1.5d", "01/03/2026"} {
		if got, err := parseTime(text, chicago, now); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// TestAnHourThatCameTwice: where clocks are set, a time without its offset is not guessed.
func TestAnHourThatCameTwice(t *testing.T) {
	for _, c := range []struct{ zone, text, want string }{
		{"America/Chicago", "2026-11-01 01:30", "2026-11-01T01:30:00-05:00 or 2026-11-01T01:30:00-06:00"},
		{"America/Chicago", "2026-11-01 01:00", "twice"},
		{"America/Chicago", "2026-11-01T01:59:59", "twice"},
		{"America/Chicago", "2026-11-01 00:59", ""},
		{"America/Chicago", "2026-11-01 02:00", ""},
		{"America/Chicago", "2026-11-01T01:30:00-06:00", ""},
		{"America/Chicago", "2026-03-08 02:30", "was no time at the site"},
		{"America/Chicago", "2026-03-08 03:00", ""},
		{"America/Chicago", "24h", ""},
		{"America/Chicago", "now", ""},
		{"America/Phoenix", "2026-11-01 01:30", ""},
		{"Australia/Lord_Howe", "2026-04-05 01:45", "twice"}, // by half an hour
		{"UTC", "2026-11-01 01:30", ""},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := parseTime(c.text, zone, time.Date(2026, 11, 20, 12, 0, 0, 0, zone))
		if err != nil {
			t.Fatal(err)
		}
		err = onceOnly(c.text, at)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in %s: %v, want %q", c.text, c.zone, err, c.want)
		}
	}
}

// A value or an event that is kept by hand is refused as a ticket is, where its hour was twice or not at all.
func TestSavedTimesAreOnceOnly(t *testing.T) {
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	cfg, one := &config.Config{Zone: chicago}, 1.0
	cfg.Service.Wire = cloud.DefaultWire()
	for at, want := range map[string]string{"2026-03-08 02:30": "was no time", "2026-11-01 01:45": "twice", "2026-11-01 03:45": ""} {
		_, value := valueRecord(nil, cfg, ledger.TagValues, "W-1", valueSet{"Average Cost per MCF", []value{{&one, at}}})
		_, event := eventRecord(cfg.Service.Wire, diagnosticEvent{Start: at}, chicago)
		if want != "" && (value == nil || !strings.Contains(value.Error(), want) || event == nil || !strings.Contains(event.Error(), want)) {
			t.Errorf("%s: %v, %v, want %q", at, value, event, want)
		}
		if want == "" && value != nil {
			t.Errorf("%s: %v", at, value)
		}
	}
}

func TestNear(t *testing.T) {
	points := []string{"plc/level", "plc/top", "radio/level"}
	for _, c := range []struct{ got, want string }{
		{"plc/levl", "plc/level"},
		{"PLC/LEVEL", "plc/level"},
		{"top", "plc/top"}, // the only one that ends so
		{"level", ""},      // two do
		{"radio/levels", "radio/level"},
		{"something else", ""},
		{"", ""},
	} {
		if got := nearest(c.got, points); got != c.want {
			t.Errorf("%q: %q, want %q", c.got, got, c.want)
		}
	}
}
