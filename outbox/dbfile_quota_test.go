package outbox_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// The quota counts waiting records and dead letters, addresses and all, and nothing of what was delivered or dropped.
func TestWhatTheQuotaCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, boxPath(t), outbox.Options{})
		defer shut(t, b)
		counts := func(what string, least int64) {
			t.Helper()
			if n := outbox.Used(b); n < least || n > 2*least {
				t.Errorf("%s: the quota counts %d bytes, want %d and a little", what, n, least)
			}
		}
		body := strings.Repeat("x", 1000)
		err := b.Update(func(tx *outbox.Tx) error {
			for _, kind := range []string{"good", "bad", "good"} {
				tx.Append("events", outbox.Record{Address: strings.Repeat("a", outbox.MaxAddress), Body: []byte(kind + body)})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		counts("three wait", 3*1255)
		drained(t, b, "events", &outboxtest.Service{Refuse: poisoned})
		counts("two are delivered, one is a dead letter", 1255)
		if n, err := b.Drop("events", "not wanted", 2); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		counts("it is dropped", 0)
	})
}

// A parked record that is dropped leaves no count of its attempts behind: nothing is said to be parked any more.
func TestADroppedRecordTakesItsAttemptsAlong(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "tickets", "lost answer")
		stop := running(t, b, "tickets", senderFunc(func([]outbox.Record) []outbox.Answer { return []outbox.Answer{answer(outbox.Ambiguous, 0)} }))
		wait(time.Hour)
		if n := b.DrainStatus("tickets").Parked; n != 1 {
			t.Errorf("%d are parked, want 1", n)
		}
		if n, err := b.Drop("tickets", "not wanted", 1); n != 1 || err != nil {
			t.Error(n, err)
		}
		if n := b.DrainStatus("tickets").Parked; n != 0 {
			t.Errorf("%d are parked, and it was dropped", n)
		}
		stop()
	})
}

// Where the room for receipts is used up, those of the streams that give way first go first, however old the others are.
func TestReceiptsGiveWayInTheOrderOfTheirStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, boxPath(t), outbox.Options{ReceiptsBytes: 256 << 10})
		put(t, b, "events", repeat("x", 500)...)
		drained(t, b, "events", &outboxtest.Service{})
		for range 40 {
			put(t, b, "tags", repeat("x", 100)...)
			drained(t, b, "tags", &outboxtest.Service{})
		}
		for stream, all := range map[string]bool{"events": true, "tags": false} {
			kept, err := outboxtest.All(b, stream, outbox.Delivered)
			if whole := uint64(len(kept)) == counts(t, b, stream).Delivered; err != nil || whole != all {
				t.Errorf("%s: %d receipts are left, %v", stream, len(kept), err)
			}
		}
		shut(t, b)
	})
}
