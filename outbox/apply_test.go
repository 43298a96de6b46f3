package outbox_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
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
			stop := running(t, b, "tickets", senderFunc(func(batch []outbox.Record) []outbox.Answer {
				sent = append(sent, seqsOf(batch))
				class := []outbox.Class{first, outbox.Wait, outbox.Stored}[min(len(sent)-1, 2)]
				return slices.Repeat([]outbox.Answer{answer(class, 0)}, len(batch))
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

// A sender that returns nothing at all has sent perhaps: everything goes again, and nothing else is told.
func TestASenderWithoutReceipts(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
		put(t, b, "events", "a", "b")
		calls := 0
		stop := running(t, b, "events", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			if calls++; calls == 1 {
				return nil
			}
			if len(batch) != 2 || batch[1].Attempt != 1 {
				t.Errorf("sent again %+v", batch)
			}
			return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
		}))
		wait(time.Minute)
		stop()
		if c := counts(t, b, "events"); c.Delivered != 2 || calls != 2 || len(n.all) != 0 {
			t.Errorf("%d calls, %+v, told %+v", calls, c, n.all)
		}
	})
}

// A limit that "too large" has halved is doubled after a hundred full requests were taken, and is gone when it reaches the
// stream's own.
func TestALimitIsDoubledAfterAHundredFullRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, boxPath(t), outbox.Options{Streams: []outbox.Stream{{Name: "events", Batch: 16}}})
		put(t, b, "events", slices.Repeat([]string{"x"}, 400+800+1600)...)
		var sizes []int
		stop := running(t, b, "events", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			a := answer(outbox.Stored, 200)
			if sizes = append(sizes, len(batch)); len(sizes) <= 2 {
				a = answer(outbox.TooLarge, 413)
			} else if most := b.DrainStatus("events").Limit; most != len(batch)%16 {
				t.Fatalf("%d go together, the limit is %d", len(batch), most)
			}
			return slices.Repeat([]outbox.Answer{a}, len(batch))
		}))
		wait(time.Minute)
		stop()
		want := append([]int{16, 8}, slices.Repeat([]int{4}, 100)...)
		want = append(append(want, slices.Repeat([]int{8}, 100)...), slices.Repeat([]int{16}, 100)...)
		if !slices.Equal(sizes, want) {
			t.Errorf("requests of %v", sizes)
		}
		shut(t, b)
	})
}

// A limit that was doubled up to the stream's own is gone: after a restart with larger batches nothing is left of it.
func TestALimitThatIsGoneBindsNoLargerBatch(t *testing.T) {
	path := boxPath(t)
	for _, batch := range []int{4, 8} {
		synctest.Test(t, func(t *testing.T) {
			b := open(t, path, outbox.Options{Streams: []outbox.Stream{{Name: "events", Batch: batch}}})
			put(t, b, "events", slices.Repeat([]string{"x"}, 200)...)
			var sizes []int
			stop := running(t, b, "events", senderFunc(func(records []outbox.Record) []outbox.Answer {
				a := answer(outbox.Stored, 200)
				if sizes = append(sizes, len(records)); batch == 4 && len(sizes) == 1 {
					a = answer(outbox.TooLarge, 413)
				}
				return slices.Repeat([]outbox.Answer{a}, len(records))
			}))
			wait(time.Minute)
			stop()
			want := append([]int{4}, slices.Repeat([]int{2}, 100)...)
			if batch == 8 {
				want = slices.Repeat([]int{8}, 25)
			}
			if !slices.Equal(sizes, want) {
				t.Errorf("batches of %d: requests of %v", batch, sizes)
			}
			shut(t, b)
		})
	}
}

// One answer takes a record, finds two too large and one invalid: the invalid one is judged by that answer, and not sent again.
func TestAnInvalidRecordBesideTooLargeOnes(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
		put(t, b, "events", "good", "large", "large", "bad")
		sent := map[string]int{}
		stop := running(t, b, "events", senderFunc(func(batch []outbox.Record) (all []outbox.Answer) {
			for _, body := range bodies(batch) {
				sent[body]++
				a := answer(outbox.Stored, 200)
				switch {
				case body == "bad":
					a = answer(outbox.Poison, 400)
				case body == "large" && len(batch) == 4:
					a = answer(outbox.TooLarge, 413)
				}
				all = append(all, a)
			}
			return all
		}))
		wait(time.Minute)
		stop()
		if c := counts(t, b, "events"); c.Delivered != 3 || c.Dead != 1 || sent["bad"] != 1 || n.of(outbox.NoteShrunk).Count != 2 {
			t.Errorf("%+v, sent %v, told %+v", c, sent, n.all)
		}
	})
}

// Whoever is told that receipts go before their time is told how many days that time is.
func TestReceiptsThatGoEarlyAreToldInDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &notes{}
		b := open(t, boxPath(t), outbox.Options{Notify: n.add, ReceiptsFor: 72 * time.Hour, ReceiptsBytes: 256 << 10})
		for range 40 {
			put(t, b, "tags", slices.Repeat([]string{"x"}, 100)...)
			drained(t, b, "tags", &outboxtest.Service{})
		}
		if told := n.of(outbox.NoteReceipts); told.Stream != "tags" || !strings.Contains(told.Message, " before their 3 days are over") {
			t.Errorf("told %+v", told)
		}
		shut(t, b)
	})
}
