package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gauger/outbox"
)

// For a day something gives way every minute: one event at once, then one an hour with the sum, and at the end of the
// program what was not told yet. No record is left out of the sums.
func TestEvictionsAreToldOnceAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		notes := make(chan outbox.Note)
		a := &Agent{Ledger: b.Ledger, Log: zerolog.Nop(), Notes: notes}
		stopped := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { stopped <- a.notes(ctx) }()
		for i := range 24 * 60 {
			notes <- outbox.Note{Kind: outbox.NoteEvicted, Stream: "tagvalues", Count: 7, At: time.Now(), Message: fmt.Sprint("note ", i)}
			if i%600 == 0 {
				notes <- outbox.Note{Kind: outbox.NoteEvicted, Stream: "events", Count: 1, At: time.Now(), Message: "events went"}
			}
			<-time.After(time.Minute)
		}
		cancel()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		tags, events, sum := 0, 0, 0
		for _, n := range b.notes("outbox-dropped") {
			var count int
			switch {
			case strings.HasPrefix(n, "outbox events: events went"):
				events++
			case n == "outbox tagvalues: note 0":
				tags, sum = tags+1, sum+7
			default:
				if _, err := fmt.Sscanf(n, "outbox tagvalues: %d records gave way since", &count); err != nil {
					t.Errorf("%q: %v", n, err)
				}
				tags, sum = tags+1, sum+count
			}
		}
		if tags < 24 || tags > 26 || events != 3 || sum != 24*60*7 {
			t.Errorf("%d events of tag values with %d records, %d of events", tags, sum, events)
		}
	})
}
