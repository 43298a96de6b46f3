package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/cloud/cloudtest"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/outbox"
)

// silence is a collector of a device that never says anything.
type silence struct{}

// Run implements collectors.Collector.
func (silence) Run(ctx context.Context, _ collectors.Host) error {
	<-ctx.Done()
	return nil
}

// The store is removed under an agent at a site where nothing happens: it ends within a minute, with the reason.
func TestARemovedStoreEndsTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "store")
		site := ledger.Site{Name: "test", ID: "TEST", Object: ledgertest.GUID, Zone: time.UTC, Wire: cloud.DefaultWire()}
		done := startIn(t, t.Context(), dir, site, &cloudtest.Service{}, silence{})
		ledgertest.Pass(time.Hour)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if !errors.Is(err, outbox.ErrGone) || !errors.Is(err, outbox.ErrDead) {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("it still runs a minute after its store was removed")
		}
	})
}

// A copy of the store that is put in its place is noticed at the next start, once; a start on the same store is none.
func TestAStoreThatWasPutBackIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, known := bornAt(dir); !known {
		t.Skip("this file system does not keep when a file was made")
	}
	starts := func(what string, told bool) {
		t.Helper()
		if text, err := copiedStore(dir); err != nil || (text != "") != told {
			t.Errorf("%s: %q, %v", what, text, err)
		}
	}
	path := filepath.Join(dir, originFile)
	starts("a new store", false)
	starts("the same", false)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was, err := time.Parse(time.RFC3339Nano, string(text[:len(text)-1]))
	if err != nil {
		t.Fatal(err)
	}
	for at, copied := range map[time.Duration]bool{-time.Hour: true, time.Hour: true, time.Second: false} {
		if err := os.WriteFile(path, []byte(was.Add(at).Format(time.RFC3339Nano)), 0o600); err != nil { // as a copy made so much later has it
			t.Fatal(err)
		}
		starts(at.String(), copied)
		starts(at.String()+", again", false)
		if text, err = os.ReadFile(path); err == nil && copied {
			was, err = time.Parse(time.RFC3339Nano, string(text[:len(text)-1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil { // cut off by a power failure
		t.Fatal(err)
	}
	starts("nothing in it", false)
	starts("after that", false)
}

// What tells at the start that the store is one of before keeps the time of which it knows nothing, a salvage of what there is does not.
func TestAPutBackStoreIsKept(t *testing.T) {
	b := ledgertest.New(t, nil)
	a := &Agent{Site: b.Site, Ledger: b.Ledger, Box: b.Box, Clock: b.Clock}
	kept := func() (back tank.Span) {
		b.Must(b.LoadState("put-back", &back))
		return back
	}
	now := time.Now().Round(0)
	for _, of := range [][]string{nil, {ledger.Events}} {
		b.Must(a.queueNoteEvent(outbox.Note{Kind: outbox.NoteSalvaged, At: now, Message: "it was mended", Behind: of}))
		if back := kept(); !back.To.IsZero() {
			t.Errorf("behind is %q: %+v is kept", of, back)
		}
	}
	b.Must(a.queueNoteEvent(outbox.Note{Kind: outbox.NoteSalvaged, At: now, Message: "it is older", Behind: []string{ledger.Events, ledger.Tickets}}))
	if back := kept(); !back.To.Equal(now) {
		t.Errorf("of an older box %+v is kept, want until %s", back, now)
	}
	origin := filepath.Join(filepath.Dir(b.Box.Path()), originFile)
	if _, known := bornAt(filepath.Dir(origin)); !known {
		t.Skip("this file system does not keep when a file was made")
	}
	b.Must(os.WriteFile(origin, []byte("2026-03-02T12:00:00Z"), 0o600))
	b.Must(a.beginRun())
	if back := kept(); !back.To.After(now) {
		t.Errorf("of a copy %+v is kept, want from its start on", back)
	}
}
