package outbox_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
	"gauger/outbox/preflight"
)

// spoilRecord flips one bit inside a record's body in a closed box.
func spoilRecord(t *testing.T, path, body string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for at := 0; ; n++ {
		i := bytes.Index(file[at:], []byte(body))
		if i < 0 {
			break
		}
		file[at+i] ^= 1
		at += i + 1
	}
	if n == 0 {
		t.Fatalf("%q is not in the file", body)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // in place: what is reserved behind the end stays
	if err == nil {
		_, err = f.WriteAt(file, 0)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// One bit of one record is wrong, and nobody checked the file before the start: the record is never sent.
func TestRecordWithoutItsChecksumIsNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, n := boxPath(t), &notes{}
		b := open(t, path, outbox.Options{})
		put(t, b, "events", "first record", "second record", "third record")
		shut(t, b)
		spoilRecord(t, path, "second record")
		b = open(t, path, outbox.Options{Notify: n.add})
		s := &outboxtest.Service{}
		drained(t, b, "events", s)
		if got := bodies(s.Taken("events")); len(got) != 2 || got[0] != "first record" || got[1] != "third record" {
			t.Errorf("the service has %q", got)
		}
		e, err := b.Entry("events", 2)
		if err != nil || e.State != outbox.Dead || !strings.Contains(e.Reason, "checksum") || e.Raw == nil {
			t.Errorf("the spoilt record is %+v, %v", e, err)
		}
		if n.count(outbox.NoteDeadLetter) != 1 {
			t.Errorf("%d notes", n.count(outbox.NoteDeadLetter))
		}
		if done, err := b.Retry("events", 2); done != 0 || err == nil {
			t.Errorf("retry of spoilt bytes: %d, %v", done, err)
		}
		if done, err := b.Retry("events"); done != 0 || err != nil {
			t.Errorf("retry of all: %d, %v", done, err)
		}
		if done, err := b.Drop("events", "spoilt", 2); done != 1 || err != nil {
			t.Errorf("drop: %d, %v", done, err)
		}
		if c := counts(t, b, "events"); c != (outbox.Counts{Accepted: 3, Delivered: 2, Dropped: 1}) {
			t.Errorf("counts are %+v", c)
		}
		shut(t, b)
	})
}

// The same with the check before the start, in a child: the file is set aside, the good records go, the spoilt one is a
// dead letter, and of the files that were set aside the last two are kept.
func TestCheckedStartMendsTheFile(t *testing.T) {
	path, n := boxPath(t), &notes{}
	o := outbox.Options{Notify: n.add, Preflight: preflight.InChild(os.Args[0], checkWord)}
	for round := range 4 {
		b := open(t, path, o)
		if err := b.Update(func(tx *outbox.Tx) error { tx.Put("tank", []byte("state")); return nil }); err != nil {
			t.Fatal(err)
		}
		put(t, b, "events", "first record", "second record", "third record")
		if c := counts(t, b, "events"); c != (outbox.Counts{Accepted: uint64(3 * (round + 1)), Waiting: uint64(2*round + 3), Dead: uint64(round)}) {
			t.Errorf("round %d: %+v", round, c)
		}
		if n.count(outbox.NoteSalvaged) != round {
			t.Errorf("round %d: %d notes", round, n.count(outbox.NoteSalvaged))
		}
		shut(t, b)
		spoilRecord(t, path, "second record")
	}
	b := open(t, path, o)
	defer shut(t, b)
	if v, err := b.Get("tank"); string(v) != "state" || err != nil {
		t.Errorf("state is %q, %v", v, err)
	}
	e, err := b.Entry("events", 2)
	if err != nil || e.State != outbox.Dead || e.Raw == nil {
		t.Errorf("the spoilt record is %+v, %v", e, err)
	}
	aside, err := filepath.Glob(path + ".damaged-*")
	if err != nil || len(aside) != 2 || !strings.HasSuffix(aside[1], "-4") {
		t.Errorf("set aside are %q, %v", aside, err)
	}
}

// Where no child can be started, the file is examined all the same.
func TestFileIsExaminedWithoutAChild(t *testing.T) {
	path, n := boxPath(t), &notes{}
	b := open(t, path, outbox.Options{})
	put(t, b, "events", "first record", "second record")
	shut(t, b)
	spoilRecord(t, path, "second record")
	b = open(t, path, outbox.Options{Notify: n.add, Preflight: preflight.InChild("/no/such/program")})
	defer shut(t, b)
	if n.count(outbox.NoteTrouble) != 1 || n.count(outbox.NoteSalvaged) != 1 {
		t.Errorf("notes: %+v", n.all)
	}
	if c := counts(t, b, "events"); c != (outbox.Counts{Accepted: 2, Waiting: 1, Dead: 1}) {
		t.Errorf("counts are %+v", c)
	}
}
