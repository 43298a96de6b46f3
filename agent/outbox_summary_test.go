package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/outbox"
)

// handleNotes has an agent listen to an outbox's notes until it is stopped.
func handleNotes(t *testing.T, b *ledgertest.Bench) (notes chan<- outbox.Note, stop func()) {
	c := make(chan outbox.Note)
	a := &Agent{Ledger: b.Ledger, Log: zerolog.Nop(), Notes: c}
	stopped := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() { stopped <- a.handleNotes(ctx) }()
	return c, func() {
		cancel()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	}
}

// For a day something gives way every half minute: one event at once, then one an hour with the sum, and at the end of the
// program what was not told yet. No record is left out of the sums.
func TestEvictionsAreToldOnceAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		notes, stop := handleNotes(t, b)
		for i := range 24 * 120 {
			notes <- outbox.Note{Kind: outbox.NoteEvicted, Stream: "tagvalues", Count: 7, At: time.Now(), Message: fmt.Sprint("note ", i)}
			if i%1200 == 0 {
				notes <- outbox.Note{Kind: outbox.NoteEvicted, Stream: "events", Count: 1, At: time.Now(), Message: "events went"}
			}
			<-time.After(time.Minute / 2)
		}
		stop()
		tags, events, sum := 0, 0, 0
		for _, n := range b.Notes("outbox-dropped") {
			var count int
			switch {
			case strings.HasPrefix(n, "outbox events: events went"):
				events++
			case strings.HasPrefix(n, "outbox tagvalues: note 0; so far"):
				tags, sum = tags+1, sum+7
			default:
				if _, err := fmt.Sscanf(n, "outbox tagvalues: %d records gave way since", &count); err != nil {
					t.Errorf("%q: %v", n, err)
				}
				tags, sum = tags+1, sum+count
			}
		}
		if tags < 24 || tags > 26 || events != 3 || sum != 24*120*7 {
			t.Errorf("%d events of tag values with %d records, %d of events", tags, sum, events)
		}
	})
}

// What gives way in a burst is told in full: at once with the number so far, and the rest when nothing has given way for a
// minute. A stream that gives way and rests by turns makes two events an hour, and status names the number for a day.
func TestWhatGaveWayIsToldWhenItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		notes, stop := handleNotes(t, b)
		gives := func(n int) {
			notes <- outbox.Note{Kind: outbox.NoteEvicted, Stream: ledger.TagValues, Count: n, At: time.Now(), Message: fmt.Sprint(n, " gave way")}
		}
		gives(1050)
		<-time.After(time.Second)
		gives(8000)
		gives(997)
		<-time.After(90 * time.Second)
		said := b.Notes("outbox-dropped")
		if len(said) != 2 || !strings.Contains(said[0], "1050 gave way; so far") || !strings.Contains(said[1], "none for a minute: 8997 records gave way since") {
			t.Fatalf("after the burst: %q", said)
		}
		for range 36 { // an hour and a half
			gives(1)
			<-time.After(150 * time.Second)
		}
		if said = b.Notes("outbox-dropped"); len(said) > 5 {
			t.Errorf("%d events of a stream that rests by turns: %q", len(said), said)
		}
		stop()
		line := func() string {
			s, err := (&control.Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock}).Open().Status()
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(s.Problems, "\n")
		}
		if got := line(); !strings.Contains(got, "10083 records of tagvalues gave way") || !strings.Contains(got, "store.max_bytes") {
			t.Errorf("status says %q", got)
		}
		b.Again()
		if got := line(); !strings.Contains(got, "10083 records of tagvalues gave way") {
			t.Errorf("after a restart status says %q", got)
		}
		<-time.After(25 * time.Hour)
		if got := line(); strings.Contains(got, "gave way") {
			t.Errorf("a day later status says %q", got)
		}
	})
}
