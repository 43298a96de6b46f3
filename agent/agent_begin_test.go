package agent

import (
	"strings"
	"testing"
	"time"

	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
)

// A run that began before the clock was set began at a time that nobody knows: the service is not told of 1969.
func TestARunOfAnUnsetClockHasNoTime(t *testing.T) {
	b := ledgertest.New(t, func(s *ledger.Site) { s.Zone = time.FixedZone("CST", -6*3600) })
	for _, began := range []time.Time{time.Unix(40, 0), time.Date(2026, 3, 2, 18, 0, 0, 0, time.UTC)} {
		if err := b.SaveState(runKey, runRecord{Began: began, Config: b.Site.Config}); err != nil {
			t.Fatal(err)
		}
		a := &Agent{Site: b.Site, Ledger: b.Ledger, Box: b.Box, Clock: b.Clock}
		if err := a.beginRun(); err != nil {
			t.Fatal(err)
		}
	}
	said := b.Notes("power-restart")
	if len(said) != 2 {
		t.Fatalf("said %q", said)
	}
	if strings.Contains(said[0], "19") || !strings.HasSuffix(said[0], "at a time that is not known: the clock was not set") {
		t.Errorf("said of a clock that was not set %q", said[0])
	}
	if !strings.HasSuffix(said[1], "2026-03-02T12:00:00-06:00") {
		t.Errorf("said of a clock that was set %q", said[1])
	}
}
