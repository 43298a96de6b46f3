package outbox_test

import (
	"sync/atomic"
	"testing"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// After an outage the stream whose attempt comes first finds the service, and the others need not wait their own time.
func TestOneStreamThatGetsThroughWakesTheOthers(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "tickets", "a")
		put(t, b, "events", "b")
		var back atomic.Bool
		var at [2]atomic.Int64
		service := func(i int) *outboxtest.Service {
			return &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
				if back.Load() {
					at[i].Store(time.Now().UnixNano())
				}
				return answer(outbox.Wait, 503), false, !back.Load()
			}}
		}
		stopTickets := running(t, b, "tickets", service(0))
		stopEvents := running(t, b, "events", service(1))
		wait(6 * time.Hour)
		back.Store(true)
		wait(10 * time.Minute)
		stopTickets()
		stopEvents()
		if counts(t, b, "tickets").Waiting+counts(t, b, "events").Waiting != 0 {
			t.Fatal("not everything was delivered ten minutes after the service came back")
		}
		if apart := time.Duration(at[0].Load() - at[1].Load()).Abs(); apart > time.Second {
			t.Errorf("the second stream left %s after the first had got through", apart)
		}
	})
}
