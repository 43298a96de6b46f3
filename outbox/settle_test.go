package outbox_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
)

// What was answered "try again later" at the first attempt cannot be stored: it need not go alone again, and what came
// meanwhile goes with it. What may be stored goes with the same records, until the service has it.
func TestOnlyWhatMayBeStoredStaysTogether(t *testing.T) {
	for first, want := range map[outbox.Class][][]uint64{
		outbox.Wait:      {{1}, {1, 2}, {1, 2}},
		outbox.Ambiguous: {{1}, {1}, {1}, {2}},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := open(t, boxPath(t), outbox.Options{Streams: []outbox.Stream{{Name: "tickets", Batch: 5, Journal: true}}})
			put(t, b, "tickets", "one")
			var sent [][]uint64
			stop := running(t, b, "tickets", senderFunc(func(batch []outbox.Record) []outbox.Receipt {
				sent = append(sent, seqsOf(batch))
				class := []outbox.Class{first, outbox.Wait, outbox.Stored}[min(len(sent)-1, 2)]
				return slices.Repeat([]outbox.Receipt{answer(class, 0)}, len(batch))
			}))
			synctest.Wait()
			put(t, b, "tickets", "two")
			wait(time.Minute)
			stop()
			if !slices.EqualFunc(sent, want, slices.Equal) {
				t.Errorf("after %s: sent %v, want %v", first, sent, want)
			}
			shut(t, b)
		})
	}
}
