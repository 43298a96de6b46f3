package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gauger/agent/cloud"
	"gauger/config"
)

func TestEventsStandWithTheTankTheyName(t *testing.T) {
	cfg := &config.Config{Zone: time.UTC, Tanks: []config.Tank{{ID: "TK-1"}, {ID: "TK-10"}, {ID: "TK-2"}}}
	cfg.Service.Wire = cloud.DefaultWire()
	trial := &trial{cfg: cfg, watch: watcher{levels: levelsOf(cfg, backtestRange{})}}
	for _, e := range []diagnosticEvent{
		{Rule: "gap", Note: "tank TK-10: no reading for 42 min"},
		{Rule: "transfer", Note: "tank TK-2: 140.2 bbl moved to tank TK-1"},
		{Rule: "High level", Note: "over 228 in"},
		{Rule: "load-needs-review", Note: "TK-1: ticket A of 180.0 bbl needs review"},
	} {
		e.Start, e.End = "2026-03-02T10:00:00", "2026-03-02T10:42:00"
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		trial.events = append(trial.events, raw)
	}
	all, err := trial.tankEvents()
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"TK-10": "gap: no reading for 42 min", "TK-2": "transfer: 140.2 bbl moved to tank TK-1", "TK-1": "(site) High level: over 228 in"} {
		if len(all[id]) != 1 || all[id][0].Rule+": "+all[id][0].Note != want {
			t.Errorf("%s: %+v, want %s", id, all[id], want)
		}
	}
	if e := all["TK-2"]; len(e) == 1 && (e[0].End.Sub(e[0].Start) != 42*time.Minute || e[0].Start.Hour() != 10) {
		t.Errorf("from %s to %s", e[0].Start, e[0].End)
	}
	trial.events = append(trial.events, json.RawMessage(`{"ruleName":"gap","startTimeString":"soon"}`))
	if _, err := trial.tankEvents(); err == nil || !strings.Contains(err.Error(), "read the times of an event gap") {
		t.Errorf("an event without times: %v", err)
	}
}
