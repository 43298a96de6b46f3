package outbox_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// The key of a record reads zero, which is no record's number: what is kept of it can be seen and counted, or it is lost
// and counted; it is nothing that is counted and that nobody can look at.
func TestRecordWithoutANumberIsLost(t *testing.T) {
	path, n := boxPath(t), &notes{}
	b := open(t, path, outbox.Options{})
	put(t, b, "events", "first", "second", "third")
	shut(t, b)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for number := uint64(1); number <= 2; number++ {
		record := append(binary.BigEndian.AppendUint64(nil, number), 1, 0, 0, 0) // key, format, clock, no address
		for at := bytes.Index(file, record); at >= 0; at = bytes.Index(file, record) {
			clear(file[at:][:8])
		}
	}
	write(t, path, file)
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
}
