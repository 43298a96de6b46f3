package outbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func openTickets(t *testing.T, path string) *Box {
	t.Helper()
	b, err := Open(path, Options{MaxBytes: 4 << 20, Streams: []Stream{{Name: "tickets"}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func appendOne(b *Box, body string) error {
	return b.Update(func(tx *Tx) error { tx.Append("tickets", Record{Body: []byte(body)}); return nil })
}

// A commit that fails ends the box: nobody hangs, everybody is told the cause, and the next Open has what was accepted.
func TestFailedCommitEndsTheBox(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outbox.db")
	b := openTickets(t, path)
	if err := appendOne(b, "kept"); err != nil {
		t.Fatal(err)
	}
	if err := b.db.Close(); err != nil { // the file goes away under the box
		t.Fatal(err)
	}
	if err := appendOne(b, "refused"); !errors.Is(err, ErrDead) {
		t.Fatalf("commit without a file: %v", err)
	}
	_, getErr := b.Get("x")
	_, listErr := b.Entries("tickets", Waiting, 0, 1)
	drainErr := b.Drain(t.Context(), "tickets", nil)
	for _, err := range []error{appendOne(b, "again"), getErr, listErr, drainErr, b.Err()} {
		if !errors.Is(err, ErrDead) {
			t.Errorf("afterwards: %v", err)
		}
	}
	if err := b.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	b = openTickets(t, path)
	defer b.Close()
	if c := b.Counts()["tickets"]; c.Accepted != 1 || c.Waiting != 1 {
		t.Errorf("counts are %+v", c)
	}
}

// The file is cut short while it is open: reading its memory map faults. That is an error of the box, not the end of
// the process, and nobody hangs.
func TestFileCutShortWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outbox.db")
	b := openTickets(t, path)
	for range 50 {
		if err := appendOne(b, string(make([]byte, 3000))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Entries("tickets", Waiting, 0, 50); !errors.Is(err, ErrDead) {
		t.Errorf("reading: %v", err)
	}
	if err := appendOne(b, "more"); !errors.Is(err, ErrDead) {
		t.Errorf("writing: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	b = openTickets(t, path)
	defer b.Close()
	if err := appendOne(b, "new"); err != nil {
		t.Errorf("after the restart: %v", err)
	}
	if c := b.Counts()["tickets"]; !c.Balanced() {
		t.Errorf("counts are %+v", c)
	}
}

// A cut in the middle of a replacement or a mending leaves a second file. Whichever is complete is the box.
func TestCutBetweenTwoFiles(t *testing.T) {
	whole := func(t *testing.T, path, body string) {
		t.Helper()
		b := openTickets(t, path)
		if err := appendOne(b, body); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		make func(t *testing.T, path string)
		want string
	}{
		"both": {func(t *testing.T, path string) { whole(t, path, "old"); whole(t, path+".new", "new") }, "old"},
		"old and half": {func(t *testing.T, path string) {
			whole(t, path, "old")
			if err := os.WriteFile(path+".new", make([]byte, 5000), 0o640); err != nil {
				t.Fatal(err)
			}
		}, "old"},
		"new only": {func(t *testing.T, path string) { whole(t, path+".new", "new") }, "new"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "outbox.db")
			c.make(t, path)
			b := openTickets(t, path)
			defer b.Close()
			e, err := b.Entry("tickets", 1)
			if err != nil || string(e.Record.Body) != c.want {
				t.Errorf("record is %q, %v", e.Record.Body, err)
			}
			if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the second file is still there: %v", err)
			}
		})
	}
}

// While a commit hangs, its age can be seen; a finished one has none.
func TestStalledIsTheAgeOfACommit(t *testing.T) {
	b := openTickets(t, filepath.Join(t.TempDir(), "outbox.db"))
	defer b.Close()
	if err := appendOne(b, "a"); err != nil || b.Stalled() != 0 {
		t.Errorf("after a commit: %v, %v", b.Stalled(), err)
	}
	b.commitSince.Store(time.Now().Add(-time.Minute).UnixNano())
	if err := b.Hung(); b.Stalled() < time.Minute || err == nil || !strings.Contains(err.Error(), "has not come back for 1m0s") {
		t.Errorf("a minute into a commit: %v, %v", b.Stalled(), err)
	}
	b.commitSince.Store(time.Now().Add(-hung / 2).UnixNano())
	if err := b.Hung(); err != nil {
		t.Errorf("a slow disk counts as a hung one: %v", err)
	}
	b.commitSince.Store(0)
}

// A panic inside the staging function is the caller's; the box goes on.
func TestPanicOfTheCallerLeavesTheBoxWhole(t *testing.T) {
	b := openTickets(t, filepath.Join(t.TempDir(), "outbox.db"))
	defer b.Close()
	func() {
		defer func() { _ = recover() }()
		_ = b.Update(func(tx *Tx) error {
			tx.Append("tickets", Record{Body: []byte("lost")})
			panic("caller")
		})
	}()
	if err := appendOne(b, "kept"); err != nil {
		t.Fatal(err)
	}
	e, err := b.Entry("tickets", 1)
	if err != nil || string(e.Record.Body) != "kept" {
		t.Errorf("record is %+v, %v", e, err)
	}
}
