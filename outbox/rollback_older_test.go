package outbox_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// A daemon is upgraded in place: the files that earlier programs wrote open as they are, with everything that was in
// them. testdata/box-1.db is of the program that kept no tally of the state; of each stream's five records two tickets
// were delivered and the third sent five times without an answer, the second event was refused, and a tag dropped.
func TestFilesOfEarlierProgramsOpen(t *testing.T) {
	for _, name := range []string{"box-1.db"} {
		path, n := filepath.Join(scratch(t), name), &notes{}
		unpack(t, filepath.Join("testdata", name), path)
		unpack(t, filepath.Join("testdata", name+".receipts"), path+".receipts")
		if _, err := outbox.Check(path); err != nil {
			t.Fatal(err)
		}
		b := open(t, path, outbox.Options{MaxBytes: mib, Notify: n.add, Preflight: checkHere})
		if n.count(outbox.NoteSalvaged) != 0 {
			t.Errorf("%s was mended, and was sound", name)
		}
		for stream, want := range map[string]outbox.Counts{
			"tickets": {Accepted: 5, Delivered: 2, Waiting: 3}, "events": {Accepted: 5, Delivered: 4, Dead: 1},
			"tags": {Accepted: 5, Waiting: 4, Dropped: 1}, "refused": {Accepted: 5, Waiting: 5},
		} {
			if got := counts(t, b, stream); got != want {
				t.Errorf("%s: %+v, want %+v", stream, got, want)
			}
			if v, err := b.Get("tank/" + stream); string(v) != "state 5" || err != nil {
				t.Errorf("state of %s is %q, %v", stream, v, err)
			}
		}
		e, err := b.Entry("tickets", 3)
		if err != nil || e.Record.Attempt < 5 || e.Record.Address != "well-7" || e.Record.Config != 77 {
			t.Errorf("the ticket without an answer is %+v, %v", e, err)
		}
		if e, err := b.Entry("tickets", 2); err != nil || e.State != outbox.Delivered || e.Status != 200 {
			t.Errorf("the delivered ticket is %+v, %v", e, err)
		}
		s := &outboxtest.Service{}
		drainAll(t, b, "tags", s)
		if got := bodies(s.Taken("tags")); fmt.Sprint(got) != "[tags body 1 tags body 2 tags body 4 tags body 5]" {
			t.Errorf("sent %q", got)
		}
		if err := b.Update(func(tx *outbox.Tx) error { tx.Put("tank/new", []byte("x")); return nil }); err != nil {
			t.Error(err)
		}
		shut(t, b)
		if _, err := outbox.Check(path); err != nil {
			t.Error(err)
		}
	}
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	f, err := os.Open(from + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, content)
}
