package outbox_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
)

// While everything is refused one record is tried from time to time: the newest, one that was refused, and the next that was
// not tried yet, in turn; so good ones behind many bad ones are found, and what the service has learned meanwhile.
func TestTheTurnsOfProbes(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "tickets", slices.Repeat([]string{"bad"}, 40)...)
		var sent []uint64
		stop := running(t, b, "tickets", senderFunc(func(batch []outbox.Record) []outbox.Receipt {
			sent = append(sent, batch[0].Seq)
			return []outbox.Receipt{answer(outbox.Poison, 400)}
		}))
		wait(10 * time.Hour)
		stop()
		want := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 40, 1, 12, 39, 2, 13, 38, 3, 14, 37, 4}
		if len(sent) < 40 || !slices.Equal(sent[:len(want)], want) {
			t.Errorf("sent %v, want %v first", sent, want)
		}
	})
}

// A person drops whatever is refused: the next record is tried at once, and the stream is well again.
func TestWhatIsRefusedIsDropped(t *testing.T) {
	for _, n := range []int{1, 5, 16} {
		bubble(t, func(t *testing.T, b *outbox.Box, notes *notes) {
			put(t, b, "tickets", slices.Repeat([]string{"bad"}, n)...)
			var sent atomic.Int64
			stop := running(t, b, "tickets", senderFunc(func(batch []outbox.Record) []outbox.Receipt {
				sent.Add(1)
				if poisoned("", batch[0]) {
					return []outbox.Receipt{answer(outbox.Poison, 400)}
				}
				return []outbox.Receipt{answer(outbox.Stored, 200)}
			}))
			wait(5 * time.Hour)
			for seq := range n {
				if done, err := b.Drop("tickets", "not wanted", uint64(seq+1)); done != 1 || err != nil {
					t.Fatal(done, err)
				}
			}
			before := sent.Load()
			wait(time.Hour)
			if sent.Load() != before {
				t.Errorf("%d of %d: %d requests for nothing", n, n, sent.Load()-before)
			}
			put(t, b, "tickets", "good")
			wait(time.Second)
			if c := counts(t, b, "tickets"); c.Delivered != 1 || notes.count(outbox.NoteResumed) != 1 {
				t.Errorf("%d were dropped: %+v, told %+v", n, c, notes.all)
			}
			stop()
		})
	}
}

// A batch of one address leaves out what lies between, however it is mixed, and ends at the stream's own number.
func TestABatchTakesOneAddressFromBetweenOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := letters(t, boxPath(t), &notes{})
		for range 25 {
			post(t, b, "tags", "one", "two", "two")
		}
		var sent []string
		stop := running(t, b, "tags", senderFunc(func(batch []outbox.Record) []outbox.Receipt {
			sent = append(sent, fmt.Sprint(len(batch), " ", batch[0].Address))
			return slices.Repeat([]outbox.Receipt{answer(outbox.Stored, 200)}, len(batch))
		}))
		wait(time.Second)
		stop()
		if got := strings.Join(sent, ", "); got != "20 one, 20 two, 20 two, 5 one, 10 two" {
			t.Errorf("sent %s", got)
		}
		shut(t, b)
	})
}
