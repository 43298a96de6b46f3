package outbox

import (
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// oneStream opens a box with one stream that gives way to nothing.
func oneStream(t *testing.T, path string, quota int64) *Box {
	t.Helper()
	b, err := Open(path, Options{MaxBytes: quota, Streams: []Stream{{Name: "tags", Batch: 100}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// reopened closes the box, checks its file and opens it again.
func reopened(t *testing.T, b *Box) *Box {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := Check(b.path); err != nil {
		t.Fatalf("%v: %+v", err, report)
	}
	return oneStream(t, b.path, b.quota.Load())
}

// stageWhile keeps commits from beginning until what runs has staged, and returns the errors of the updates.
func stageWhile(t *testing.T, b *Box, run func(), updates ...func(*Tx) error) []error {
	t.Helper()
	errs := make([]error, len(updates))
	var wait sync.WaitGroup
	b.commitMu.Lock()
	for i, update := range updates {
		wait.Go(func() { errs[i] = b.Update(update) })
		for staged := false; !staged; runtime.Gosched() {
			b.mu.Lock()
			staged = b.next != nil && b.next.follows == i
			b.mu.Unlock()
		}
	}
	run()
	b.commitMu.Unlock()
	wait.Wait()
	return errs
}

func appends(n int, body string) func(*Tx) error {
	return func(tx *Tx) error {
		for range n {
			tx.Append("tags", Record{Body: []byte(body)})
		}
		return nil
	}
}

// What a failing or panicking function has staged must not be committed by the others that share its commit, and its
// numbers are given to the next ones.
func TestAFailedUpdateLeavesNothingInTheSharedCommit(t *testing.T) {
	b := oneStream(t, filepath.Join(t.TempDir(), "outbox.db"), 4<<20)
	told := errors.New("as told")
	errs := stageWhile(t, b, func() {
		err := b.Update(func(tx *Tx) error {
			tx.Append("tags", Record{Body: []byte("failed")})
			tx.Put("name", []byte("failed"))
			return told
		})
		if !errors.Is(err, told) {
			t.Errorf("the failing update returned %v", err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = b.Update(func(tx *Tx) error { tx.Append("tags", Record{Body: []byte("panicked")}); panic("as told") })
		}()
	}, appends(2, "good"), appends(1, "good"))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if err := b.Update(appends(1, "good")); err != nil {
		t.Fatal(err)
	}
	b = reopened(t, b)
	entries, err := b.Entries("tags", Waiting, 0, 0)
	if err != nil || len(entries) != 4 {
		t.Fatalf("%d records, %v; want 4", len(entries), err)
	}
	for i, e := range entries {
		if e.Record.Seq != uint64(i+1) || string(e.Record.Body) != "good" {
			t.Errorf("record %d is %d %q", i+1, e.Record.Seq, e.Record.Body)
		}
	}
	if v, err := b.Get("name"); v != nil || err != nil {
		t.Errorf("state %q, %v: of an update that failed", v, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// The memory of one commit is the next one's: bytes that are staged while a commit runs must not get into it, nor its
// own change.
func TestCommitsDoNotShareTheirMemory(t *testing.T) {
	b := oneStream(t, filepath.Join(t.TempDir(), "outbox.db"), 8<<20)
	const producers, each = 16, 40
	var wait sync.WaitGroup
	for p := range producers {
		wait.Go(func() {
			for i := range each {
				body := make([]byte, 1+(p*each+i)*7%3000)
				for at := range body {
					body[at] = byte(p*31 + i + at)
				}
				if err := b.Update(func(tx *Tx) error { tx.Append("tags", Record{Body: body, Config: uint32(p*each + i)}); return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	b = reopened(t, b)
	seen := map[uint32]bool{}
	for after := uint64(0); ; {
		page, err := b.Entries("tags", Waiting, after, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			after = e.Record.Seq
			n := int(e.Record.Config)
			seen[e.Record.Config] = true
			if len(e.Record.Body) != 1+n*7%3000 {
				t.Fatalf("record %d has %d bytes", n, len(e.Record.Body))
			}
			for at, c := range e.Record.Body {
				if c != byte(n/each*31+n%each+at) {
					t.Fatalf("record %d is wrong at byte %d", n, at)
				}
			}
		}
	}
	if len(seen) != producers*each {
		t.Errorf("%d records, want %d", len(seen), producers*each)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// A large commit must not leave its memory behind.
func TestALargeCommitGivesItsMemoryBack(t *testing.T) {
	b := oneStream(t, filepath.Join(t.TempDir(), "outbox.db"), 64<<20)
	for _, n := range []int{1, 3000, 1} {
		if err := b.Update(appends(n, string(make([]byte, 1000)))); err != nil {
			t.Fatal(err)
		}
		if cap(b.spareStaging.ops) > maxSpareOps || cap(b.spareStaging.buf) > maxSpareBuf {
			t.Errorf("after %d records room for %d operations and %d bytes is kept", n, cap(b.spareStaging.ops), cap(b.spareStaging.buf))
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// The time of records without one is the same for all of an update, and each update's own.
func TestRecordsWithoutATimeGetTheirUpdatesTime(t *testing.T) {
	b := oneStream(t, filepath.Join(t.TempDir(), "outbox.db"), 4<<20)
	before := time.Now()
	if err := b.Update(appends(2, "x")); err != nil {
		t.Fatal(err)
	}
	after := time.Now()
	entries, err := b.Entries("tags", Waiting, 0, 0)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d records, %v", len(entries), err)
	}
	for _, e := range entries {
		if at := e.Record.At; at.Before(before.Round(0)) || at.After(after.Round(0)) || !at.Equal(entries[0].Record.At) {
			t.Errorf("record %d has the time %v, it was stored between %v and %v", e.Record.Seq, at, before, after)
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
