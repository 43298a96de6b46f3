package outbox_test

import (
	"os"
	"strings"
	"testing"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// Whatever becomes of the receipts file, no record is lost or sent twice for it, and it is told once.
func TestReceiptsFileCanBeLost(t *testing.T) {
	spoil := map[string]func(path string) error{
		"removed":   os.Remove,
		"emptied":   func(path string) error { return os.Truncate(path, 0) },
		"cut short": func(path string) error { return os.Truncate(path, 777) },
		"garbage": func(path string) error {
			junk := make([]byte, 300_000)
			for i := range junk {
				junk[i] = byte(i * 7)
			}
			return os.WriteFile(path, junk, 0o640)
		},
	}
	for name, spoil := range spoil {
		t.Run(name, func(t *testing.T) {
			path := boxPath(t)
			b := open(t, path, outbox.Options{})
			s := &outboxtest.Service{}
			put(t, b, "events", mixed(60)...)
			drainAll(t, b, "events", s)
			put(t, b, "events", mixed(5)...)
			put(t, b, "tickets", "one")
			drainAll(t, b, "tickets", s)
			put(t, b, "tickets", "two")
			shut(t, b)
			if err := spoil(path + ".receipts"); err != nil {
				t.Fatal(err)
			}
			var told notes
			b = open(t, path, outbox.Options{Notify: told.add})
			defer func() { shut(t, b) }()
			if told.count(outbox.NoteSalvaged) != 1 || !strings.Contains(told.of(outbox.NoteSalvaged).Message, "no record is lost by that") {
				t.Errorf("told is %+v", told.all)
			}
			if c := counts(t, b, "events"); c.Delivered != 60 || c.Waiting != 5 {
				t.Errorf("counts are %+v", c)
			}
			drainAll(t, b, "events", s)
			if c := counts(t, b, "events"); c.Delivered != 65 || s.Doubled() != 0 {
				t.Errorf("counts are %+v, %d doubled", c, s.Doubled())
			}
			if e, err := b.Entry("events", 61); err != nil || e.State != outbox.Delivered {
				t.Errorf("a new receipt is %+v, %v", e, err)
			}
			drainAll(t, b, "tickets", s)
			shut(t, b)
			if b = open(t, path, outbox.Options{Notify: told.add}); told.count(outbox.NoteSalvaged) != 1 {
				t.Errorf("told again: %+v", told.all)
			}
		})
	}
}

func TestReceiptsAreKeptOverARestart(t *testing.T) {
	path := boxPath(t)
	b := open(t, path, outbox.Options{})
	s := &outboxtest.Service{}
	put(t, b, "tickets", "only one")
	drainAll(t, b, "tickets", s)
	put(t, b, "tags", mixed(2500)...)
	drainAll(t, b, "tags", s)
	shut(t, b)
	b = open(t, path, outbox.Options{})
	defer shut(t, b)
	if e, err := b.Entry("tickets", 1); err != nil || e.State != outbox.Delivered {
		t.Errorf("the ticket's receipt is %+v, %v", e, err)
	}
	all, err := outboxtest.All(b, "tags", outbox.Delivered)
	if err != nil || len(all) != 2500 {
		t.Fatalf("%d receipts, %v", len(all), err)
	}
	if first, last := all[0].Record.Seq, all[2499].Record.Seq; first != 1 || last != 2500 {
		t.Errorf("receipts of the records %d to %d", first, last)
	}
}

// The process ends after the service's answer and before its commit: the receipt shows that the record was taken.
func TestOlderFileBesideNewerReceipts(t *testing.T) {
	path := boxPath(t)
	b := open(t, path, outbox.Options{})
	put(t, b, "tickets", "a", "b", "c")
	shut(t, b)
	older, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = open(t, path, outbox.Options{})
	s := &outboxtest.Service{Fault: func(n int, _ string, _ []outbox.Record) (outbox.Answer, bool, bool) {
		return outbox.Answer{Class: outbox.Wait}, false, n == 3
	}}
	drainSome(t, b, "tickets", s, 2)
	shut(t, b)
	if err := os.WriteFile(path, older, 0o640); err != nil {
		t.Fatal(err)
	}
	b = open(t, path, outbox.Options{})
	defer shut(t, b)
	if c := counts(t, b, "tickets"); c.Delivered != 2 || c.Waiting != 1 {
		t.Errorf("counts are %+v", c)
	}
	put(t, b, "tickets", "d")
	drainAll(t, b, "tickets", s)
	if s.Doubled() != 0 || len(s.Taken("tickets")) != 4 {
		t.Errorf("%d doubled, the service has %d", s.Doubled(), len(s.Taken("tickets")))
	}
}
