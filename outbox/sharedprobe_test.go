package outbox_test

import (
	"sync/atomic"
	"testing"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// probing starts the drains of all three streams, each with a record, at a service that answers 503 as long as away
// says so for the stream. It counts the requests of each.
func probing(t *testing.T, b *outbox.Box, away func(stream string) bool) (count map[string]*atomic.Int64, stop func()) {
	count = map[string]*atomic.Int64{}
	var stops []func()
	for _, stream := range []string{"tickets", "events", "tags"} {
		n := &atomic.Int64{}
		count[stream] = n
		put(t, b, stream, "a")
		stops = append(stops, running(t, b, stream, &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
			n.Add(1)
			return answer(outbox.Wait, 503), false, away(stream)
		}}))
	}
	return count, func() {
		for _, end := range stops {
			end()
		}
	}
}

// However many streams wait for a service that is away, a box makes the requests of one; and each has its turn.
func TestOneStreamProbesForAll(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		count, stop := probing(t, b, func(string) bool { return true })
		defer stop()
		wait(time.Hour) // the waits have grown by then
		before := map[string]int64{}
		for stream, n := range count {
			before[stream] = n.Load()
		}
		wait(10 * time.Hour)
		sum := int64(0)
		for stream, n := range count {
			sum += n.Load() - before[stream]
			if n.Load()-before[stream] < 15 {
				t.Errorf("%s has tried %d times in ten hours", stream, n.Load()-before[stream])
			}
		}
		if sum < 80 || sum > 150 {
			t.Errorf("%d requests in ten hours, want one in 320 s, some 112", sum)
		}
	})
}

// An operation that stays dead does not keep the others from finding out that theirs is back.
func TestADeadOperationHoldsUpNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		var back atomic.Bool
		_, stop := probing(t, b, func(stream string) bool { return stream == "events" || !back.Load() })
		defer stop()
		wait(3 * time.Hour)
		back.Store(true)
		wait(17 * time.Minute) // one turn of the dead one, and one's own: 8 min each at most
		if n := counts(t, b, "tickets").Waiting + counts(t, b, "tags").Waiting; n != 0 {
			t.Errorf("%d records still wait for a service that is back", n)
		}
		if counts(t, b, "events").Waiting != 1 {
			t.Error("the event has left through an operation that is dead")
		}
	})
}
