package agent

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/cloud/cloudtest"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/outbox"
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

// A store that begins with a run says so for a day, to the log and to whoever looks: it may lie in the place of a disk that was not
// mounted. One that was begun by a version before, or has ever had a record, does not.
func TestANewStoreSaysThatItIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		begin := func(b *ledgertest.Bench) string {
			t.Helper()
			a := &Agent{Site: b.Site, Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Log: zerolog.New(&log)}
			b.Must(a.beginRun())
			s, err := (&control.Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site}).Status()
			b.Must(err)
			return strings.Join(s.Hints, "; ")
		}
		b := ledgertest.New(t, nil)
		first := begin(b)
		if want := "the store in " + filepath.Dir(b.Box.Path()) + " began "; !strings.Contains(first, want) || !strings.Contains(first, "and mount it") {
			t.Errorf("at the first run: %q", first)
		}
		if told := log.String(); strings.Count(told, `"level":"warn"`) != 1 || !strings.Contains(told, "the store in ") {
			t.Errorf("logged %s", told)
		}
		ledgertest.Pass(23 * time.Hour)
		b.Again()
		if hint := begin(b); !strings.Contains(hint, "the store in ") {
			t.Errorf("at the second run, 23 hours later: %q", hint)
		}
		ledgertest.Pass(time.Hour)
		b.Again()
		if hint := begin(b); hint != "" {
			t.Errorf("a day later: %q", hint)
		}
		b = ledgertest.New(t, nil)
		b.Must(b.SaveState(runKey, runRecord{Began: time.Now(), Clean: true, Config: b.Site.Config}))
		if hint := begin(b); hint != "" {
			t.Errorf("of the version before: %q", hint)
		}
		b = ledgertest.New(t, nil)
		b.Must(b.QueueEvent(ledger.Event{Rule: "leak", Note: "a puddle", Start: time.Now(), End: time.Now()}))
		if hint := begin(b); hint != "" {
			t.Errorf("with a record: %q", hint)
		}
	})
}

// takesAll takes every record.
type takesAll struct{}

func (takesAll) Send(_ context.Context, _ string, batch []outbox.Record) []outbox.Answer {
	return slices.Repeat([]outbox.Answer{{Class: outbox.Stored, Status: 200}}, len(batch))
}

// A store that is new on a site that ran before is a problem of the status and an event, once: the service has gauger's events from before
// it began, or the box has readings of a killed run. A site that is really new, with others' events or none, has neither.
func TestAnEmptiedStoreIsNoNewSite(t *testing.T) {
	for name, c := range map[string]struct {
		rule      string
		inherited bool
		shared    bool
		ran       bool // on this store before
		sent      bool // events of this store have left
		tells     bool
	}{
		"really new": {}, "another program's events": {rule: "leak"}, "shards": {rule: "gap", shared: true},
		"events of before": {rule: "gap", tells: true}, "what may be its own": {rule: "gap", sent: true}, "what is not": {rule: "power-restart", sent: true, tells: true}, "readings of before": {inherited: true, tells: true}, "its own readings": {inherited: true, ran: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := ledgertest.New(t, nil)
			b.Clock.Confirm()
			service := &cloudtest.Service{PrimaryKey: "primary-key-value"}
			if c.rule != "" {
				at := time.Now().Add(-48 * time.Hour)
				service.AddEvents(cloudtest.Event{Type: "Diagnostic", RuleName: c.rule, Start: at, End: at, ObjectID: b.Site.Object, ObjectType: b.Site.ObjectType})
			}
			if c.ran {
				b.Must((&Agent{Site: b.Site, Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Log: zerolog.Nop()}).beginRun())
			}
			a := &Agent{Site: b.Site, Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Log: zerolog.Nop(), Inherited: c.inherited, Shared: c.shared}
			b.Must(a.beginRun())
			if c.sent {
				b.Must(b.QueueEvent(ledger.Event{Rule: "leak", Note: "a puddle", Start: time.Now(), End: time.Now()}))
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- b.Box.Drain(ctx, ledger.Events, takesAll{}) }()
				ledgertest.Pass(time.Second)
				stop()
				b.Must(<-done)
			}
			for range 2 {
				stop := askingAs(b, a, service)
				ledgertest.Pass(time.Hour)
				stop()
			}
			_, problems := hints(b)
			told := strings.Join(problems, "\n")
			if strings.Contains(told, "the store was EMPTIED") != c.tells || strings.Contains(strings.Join(b.Notes("outbox-salvaged"), "\n"), "EMPTIED") != c.tells {
				t.Errorf("%s: %s", name, told)
			}
			if text, _ := b.NewStoreEvent(time.Now()); (text == "") != c.tells {
				t.Errorf("%s: the office is told besides %q", name, text)
			}
		})
	}
}

// A run by other units of the service tells of the tickets that wait by the old.
func TestARunTellsOfTicketsInOldUnits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		a := &Agent{Site: b.Site, Ledger: b.Ledger, Box: b.Box, Clock: b.Clock}
		b.Must(a.beginRun())
		b.Must(b.SaveState("wire-units", map[string]string{"level_unit": "ft"}))
		b.Must(b.Box.Update(func(tx *outbox.Tx) error {
			tx.Append(ledger.Tickets, outbox.Record{Body: []byte(`{"ticketNumber":"A-1"}`)})
			return nil
		}))
		b.Must(a.beginRun())
		b.Must(a.beginRun())
		if said := strings.Join(b.Notes("config-changed"), "\n"); strings.Count(said, "service.wire.level_unit is in (was ft)") != 1 || !strings.Contains(said, "A-1") {
			t.Errorf("said %q", said)
		}
	})
}
