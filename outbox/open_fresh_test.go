package outbox_test

import (
	"testing"

	"go.etcd.io/bbolt"

	"gauger/outbox"
)

// A process that ends between making the file and making its buckets leaves nothing that is damaged.
func TestAFileThatWasJustMadeIsSound(t *testing.T) {
	path := boxPath(t)
	db, err := bbolt.Open(path, 0o640, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := outbox.Check(path); err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	var told []outbox.Note
	box := open(t, path, outbox.Options{Streams: []outbox.Stream{{Name: "tags"}}, Notify: func(n outbox.Note) { told = append(told, n) },
		Preflight: func(path string) error { _, err := outbox.Check(path); return err }})
	if len(told) > 0 {
		t.Errorf("opening it told %+v", told)
	}
	shut(t, box)
}
