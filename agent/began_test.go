package agent

import (
	"strings"
	"testing"
	"time"
)

// How long a program has run is no matter of the wall clock, which may have been set since.
func TestTheTimeThatAProgramRunsIsNoStepOfTheClock(t *testing.T) {
	d := &Server{Began: time.Now()}
	for _, step := range []time.Duration{0, 26 * 365 * 24 * time.Hour, -time.Hour} {
		now := stepped(d.Began.Add(90*time.Minute), step)
		if ran := now.Round(0).Sub(d.began(now)); ran != 90*time.Minute {
			t.Errorf("the clock was set by %s: runs for %s, want 1h30m", step, ran)
		}
	}
	if at := (&Server{}).began(time.Now()); !at.IsZero() {
		t.Errorf("a command without a daemon runs since %s", at)
	}
}

// A run that began before the clock was set began at a time that nobody knows: the service is not told of 1969.
func TestARunOfAnUnsetClockHasNoTime(t *testing.T) {
	b := newBench(t, func(s *Site) { s.Zone = time.FixedZone("CST", -6*3600) })
	for _, began := range []time.Time{time.Unix(40, 0), time.Date(2026, 3, 2, 18, 0, 0, 0, time.UTC)} {
		if err := b.remember(runKey, runRecord{Began: began, Config: b.site.Config}); err != nil {
			t.Fatal(err)
		}
		a := &Agent{Site: b.site, Ledger: b.Ledger, Box: b.box, Clock: b.clock}
		if err := a.beginRun(); err != nil {
			t.Fatal(err)
		}
	}
	said := b.notes("power-restart")
	if len(said) != 2 || strings.Contains(said[0], "19") || !strings.HasSuffix(said[0], "at a time that is not known: the clock was not set") || !strings.HasSuffix(said[1], "2026-03-02T12:00:00-06:00") {
		t.Errorf("said %q", said)
	}
}
