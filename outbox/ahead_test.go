package outbox_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
)

// seenAtRequests drains a stream and returns how many records counted as delivered when each request came.
func seenAtRequests(t *testing.T, b *outbox.Box, stream string) (delivered []uint64) {
	t.Helper()
	drainAll(t, b, stream, senderFunc(func(batch []outbox.Record) []outbox.Answer {
		delivered = append(delivered, b.Counts()[stream].Delivered)
		return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
	}))
	return delivered
}

// Where the service answers faster than the disk, two batches are deleted in one commit: the file never has more than one that the
// service has taken and the next. What must not come twice goes one after the other.
func TestDrainIsOneBatchAheadOfTheFile(t *testing.T) {
	defer outbox.HoldDeletions()()
	streams := append(site(), outbox.Stream{Name: "memos", Batch: 1})
	b := open(t, boxPath(t), outbox.Options{Streams: streams})
	defer shut(t, b)
	for stream, want := range map[string][]uint64{
		"events":  {0, 0, 100, 100, 200},
		"tags":    {0, 0, 200},
		"tickets": {0, 1, 2},
		"memos":   {0, 1, 2},
	} {
		records := map[string]int{"events": 220, "tags": 220, "tickets": 3, "memos": 3}[stream]
		put(t, b, stream, slices.Repeat([]string{"x"}, records)...)
		if seen := seenAtRequests(t, b, stream); !slices.Equal(seen, want) {
			t.Errorf("%s: at its requests %v were delivered, want %v", stream, seen, want)
		}
		if c := counts(t, b, stream); c.Delivered != uint64(records) || c.Waiting != 0 {
			t.Errorf("%s: when the drain ended %+v", stream, c)
		}
	}
}

// A service that takes its time holds up no deletion: it is committed while the next answer is awaited, and while the pace holds the
// next request back.
func TestNoDeletionWaitsForASlowService(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "events", slices.Repeat([]string{"x"}, 120)...)
		var seen []uint64
		stop := running(t, b, "events", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			<-time.After(time.Minute)
			seen = append(seen, counts(t, b, "events").Delivered)
			return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
		}))
		wait(time.Hour)
		if want := []uint64{0, 50, 100}; !slices.Equal(seen, want) {
			t.Errorf("before its answers %v were deleted, want %v", seen, want)
		}
		stop()
	})
}

// What is refused behind a batch that was taken changes nothing about that: it is deleted, once, and the refused one kept.
func TestRefusalBehindABatchThatWasTaken(t *testing.T) {
	defer outbox.HoldDeletions()()
	for _, class := range []outbox.Class{outbox.Ambiguous, outbox.Wait, outbox.Key, outbox.Path, outbox.Poison, outbox.TooLarge} {
		synctest.Test(t, func(t *testing.T) {
			b := open(t, boxPath(t), outbox.Options{})
			put(t, b, "events", slices.Repeat([]string{"x"}, 120)...)
			taken := map[uint64]int{}
			n := 0
			stop := running(t, b, "events", senderFunc(func(batch []outbox.Record) []outbox.Answer {
				if n++; n == 2 {
					return slices.Repeat([]outbox.Answer{answer(class, 400)}, len(batch))
				}
				for _, r := range batch {
					taken[r.Seq]++
				}
				return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
			}))
			wait(30 * time.Hour)
			stop()
			for seq, times := range taken {
				if times != 1 {
					t.Errorf("%v: record %d came %d times", class, seq, times)
				}
			}
			if c := counts(t, b, "events"); c.Delivered != 120 || len(taken) != 120 {
				t.Errorf("%v: %+v, %d were taken", class, c, len(taken))
			}
			shut(t, b)
		})
	}
}

// Records are stored while others of the stream are taken, with the box closed and opened in between: each comes once and in order.
func TestAheadWhileRecordsCome(t *testing.T) {
	path := boxPath(t)
	var got, want []string
	for round := range 4 {
		b := open(t, path, outbox.Options{})
		stop := running(t, b, "events", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			got = append(got, bodies(batch)...)
			return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
		}))
		for i := range 300 {
			body := fmt.Sprint(round, "/", i)
			want = append(want, body)
			put(t, b, "events", body)
		}
		stop()
		shut(t, b)
	}
	b := open(t, path, outbox.Options{})
	drainAll(t, b, "events", senderFunc(func(batch []outbox.Record) []outbox.Answer {
		got = append(got, bodies(batch)...)
		return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
	}))
	if c := counts(t, b, "events"); c.Delivered != 1200 || !slices.Equal(got, want) {
		t.Errorf("%+v, %d came of %d", c, len(got), len(want))
	}
	shut(t, b)
}
