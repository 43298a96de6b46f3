package outbox_test

import (
	"strings"
	"testing"
	"testing/synctest"

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
