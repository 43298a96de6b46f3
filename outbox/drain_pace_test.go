package outbox_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// What waits for the link, perhaps for hours, is not on its way: it can be dropped, no attempt is noted, and what came
// meanwhile leaves with the rest.
func TestWhatWaitsForThePaceIsNotInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, shutFor := boxPath(t), 10*time.Hour
		o := outbox.Options{Pace: func(ctx context.Context, _ string) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(shutFor):
				return nil
			}
		}}
		b := open(t, path, o)
		put(t, b, "tickets", "a", "b")
		stop := running(t, b, "tickets", &outboxtest.Service{})
		<-time.After(time.Hour)
		if n, err := b.Drop("tickets", "wrong", 1); n != 1 || err != nil {
			t.Errorf("dropped %d, %v", n, err)
		}
		stop()
		shut(t, b)
		shutFor = time.Second
		b = open(t, path, o)
		put(t, b, "tickets", "c")
		var sent []string
		stop = running(t, b, "tickets", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			if batch[0].Attempt != 0 {
				t.Errorf("an attempt was noted that was none: %+v", batch[0])
			}
			sent = append(sent, bodies(batch)...)
			return []outbox.Answer{answer(outbox.Stored, 200)}
		}))
		<-time.After(time.Minute)
		stop()
		if !slices.Equal(sent, []string{"b", "c"}) {
			t.Errorf("sent %q", sent)
		}
		shut(t, b)
	})
}
