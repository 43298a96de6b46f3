package outbox_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// renumber gives records of a closed box other keys, as damage does.
func renumber(t *testing.T, path string, to map[uint64]uint64) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for old, number := range to {
		record := append(binary.BigEndian.AppendUint64(nil, old), 1, 0, 0, 0) // key, format, clock, no address
		for at := bytes.Index(file, record); at >= 0; at = bytes.Index(file, record) {
			binary.BigEndian.PutUint64(file[at:], number)
		}
	}
	write(t, path, file)
}

// The key of a record reads zero, which is no record's number, or a number that was never given: the record is lost and
// counted so; it is no dead letter that nothing lists, or that a later record of that number would meet.
func TestRecordWithoutItsNumberIsLost(t *testing.T) {
	for name, to := range map[string]map[uint64]uint64{"zero": {1: 0, 2: 0}, "never given": {2: 5, 3: 4}} {
		t.Run(name, func(t *testing.T) {
			path, n := boxPath(t), &notes{}
			b := open(t, path, outbox.Options{})
			put(t, b, "events", "first", "second", "third")
			shut(t, b)
			renumber(t, path, to)
			b = open(t, path, outbox.Options{Notify: n.add, Preflight: checkHere})
			defer shut(t, b)
			c := counts(t, b, "events")
			dead, err := outboxtest.All(b, "events", outbox.Dead)
			if err != nil || c != (outbox.Counts{Accepted: 3, Waiting: 1, Lost: 2}) || len(dead) != 0 {
				t.Errorf("%+v, %d dead letters, %v", c, len(dead), err)
			}
			if n.count(outbox.NoteSalvaged) != 1 {
				t.Errorf("told %+v", n.all)
			}
		})
	}
}

// Nothing is left of the counts but what the receipts show: what a person gave up does not count as delivered, and of the
// fourth, which waited, nobody knows.
func TestReceiptsAloneTellDroppedFromDelivered(t *testing.T) {
	path := boxPath(t)
	b := open(t, path, outbox.Options{})
	put(t, b, "tickets", "first", "second", "third", "fourth")
	drainSome(t, b, "tickets", &outboxtest.Service{}, 2)
	if n, err := b.Drop("tickets", "test", 3); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	shut(t, b)
	write(t, path, make([]byte, 100_000))
	if err := os.Remove(path + ".high"); err != nil {
		t.Fatal(err)
	}
	b = open(t, path, outbox.Options{})
	defer shut(t, b)
	if c := counts(t, b, "tickets"); c != (outbox.Counts{Accepted: 3, Delivered: 2, Dropped: 1, LostUnknown: true}) {
		t.Errorf("%+v", c)
	}
}
