package outbox_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
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

// filesOf is what lies beside a box, by name.
func filesOf(t *testing.T, path string) map[string]string {
	t.Helper()
	all, err := filepath.Glob(path + "*")
	found := map[string]string{}
	for _, name := range all {
		content, unread := os.ReadFile(name)
		found[name], err = string(content), errors.Join(err, unread)
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Who only looks makes and changes nothing: a sound box is shown, and takes nothing; one that would be mended, brought up to its marks or
// filled up is left to whoever may do that.
func TestLookingChangesNothing(t *testing.T) {
	path := boxPath(t)
	o := outbox.Options{Streams: []outbox.Stream{{Name: "tags"}, {Name: "tickets", Journal: true}}, LookOnly: true}
	if _, err := outbox.Open(path, o); !errors.Is(err, outbox.ErrLookOnly) || len(filesOf(t, path)) > 0 {
		t.Errorf("where nothing is: %v, and it made %d files", err, len(filesOf(t, path)))
	}
	box := open(t, path, outbox.Options{Streams: o.Streams})
	if err := box.Update(func(tx *outbox.Tx) error { tx.Append("tickets", outbox.Record{Body: []byte("x")}); return nil }); err != nil {
		t.Fatal(err)
	}
	older := filesOf(t, path)
	if err := box.Update(func(tx *outbox.Tx) error { tx.Append("tickets", outbox.Record{Body: []byte("y")}); return nil }); err != nil {
		t.Fatal(err)
	}
	shut(t, box)
	before := filesOf(t, path)
	box, err := outbox.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	err = box.Update(func(tx *outbox.Tx) error { tx.Append("tags", outbox.Record{Body: []byte("z")}); return nil })
	if nothing := box.Update(func(tx *outbox.Tx) error { return nil }); !errors.Is(err, outbox.ErrLookOnly) || nothing != nil {
		t.Errorf("it took a record: %v, and of nothing it said %v", err, nothing)
	}
	if c := box.Counts(); c["tickets"].Waiting != 2 || c["tags"].Accepted != 0 {
		t.Errorf("it has %+v", c)
	}
	shut(t, box)
	if !maps.Equal(filesOf(t, path), before) {
		t.Error("looking changed it")
	}
	for name, spoil := range map[string]func(){
		"a stream is new":    func() { o.Streams = append(o.Streams, outbox.Stream{Name: "memos"}) },
		"no receipts":        func() { delete(before, path+".receipts") },
		"older than marked":  func() { before[path] = older[path] },
		"damaged":            func() { before[path] = "no outbox" + before[path] },
		"a change was begun": func() { before[path+".new"] = "half" },
	} {
		was, streams := maps.Clone(before), o.Streams
		spoil()
		for file := range filesOf(t, path) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		for file, content := range before {
			write(t, file, []byte(content))
		}
		if _, err := outbox.Open(path, o); !errors.Is(err, outbox.ErrLookOnly) && !errors.Is(err, outbox.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if !maps.Equal(filesOf(t, path), before) {
			t.Errorf("%s: looking changed it", name)
		}
		before, o.Streams = was, streams
	}
}
