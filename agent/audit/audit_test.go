package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func entry(n int) Entry {
	return Entry{At: time.Unix(int64(n), 0).UTC(), UID: 1000, Name: "ann", PID: 7, Verb: "tickets.release", Record: fmt.Sprint(n), Result: Done}
}

// read gives the records of what is in a trail.
func read(t *testing.T, a *Trail, since time.Time) Log {
	t.Helper()
	all, err := a.Read(since)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestATrailIsReadAsItWasWritten(t *testing.T) {
	a := New(t.TempDir())
	if all := read(t, a, time.Time{}); len(all.Entries) != 0 || !all.Oldest.IsZero() {
		t.Errorf("an empty trail: %+v", all)
	}
	for n := range 5 {
		if err := a.Add(entry(n)); err != nil {
			t.Fatal(err)
		}
	}
	if all := read(t, a, time.Unix(3, 0)); len(all.Entries) != 2 || all.Entries[0] != entry(3) || all.Entries[1] != entry(4) || all.Torn != 0 || !all.Oldest.Equal(entry(0).At) {
		t.Errorf("since the third second: %+v", all)
	}
}

// TestACutCostsTheLastLineAlone: the file is cut at each byte, and the trail goes on.
func TestACutCostsTheLastLineAlone(t *testing.T) {
	a := New(t.TempDir())
	var ends []int64
	for n := range 3 {
		if err := a.Add(entry(n)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(a.path)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, info.Size())
	}
	whole, err := os.ReadFile(a.path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) + 1 {
		if err := os.WriteFile(a.path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := a.Add(entry(9)); err != nil {
			t.Fatal(err)
		}
		want, torn := 1, 1
		for _, end := range ends {
			if int64(cut) >= end-1 { // a line is whole without its newline
				want++
			}
			if int64(cut) == end || int64(cut) == end-1 {
				torn = 0
			}
		}
		if cut == 0 {
			torn = 0
		}
		all := read(t, a, time.Time{})
		if len(all.Entries) != want || all.Torn != torn || all.Entries[want-1] != entry(9) {
			t.Fatalf("cut at %d: %d entries and %d torn, want %d and %d", cut, len(all.Entries), all.Torn, want, torn)
		}
	}
}

// TestATrailIsBounded: it never has more than two files' bytes, and holds the newest entries without a gap.
func TestATrailIsBounded(t *testing.T) {
	a := New(t.TempDir())
	big := entry(0)
	big.Name, big.Verb, big.Record, big.Why = strings.Repeat("n", 1<<20), strings.Repeat("v", 1<<20), strings.Repeat("\x01", 1<<20), strings.Repeat("é", 1<<20)
	const n = 1000
	for i := range n {
		big.PID = i
		if err := a.Add(big); err != nil {
			t.Fatal(err)
		}
	}
	all := read(t, a, time.Time{})
	if all.Torn != 0 || len(all.Entries) < 100 || len(all.Entries) == n {
		t.Errorf("%d entries, %d torn", len(all.Entries), all.Torn)
	}
	for i, e := range all.Entries {
		if want := n - len(all.Entries) + i; e.PID != want || len(e.Why) > maxText {
			t.Fatalf("entry %d is number %d, want %d", i, e.PID, want)
		}
	}
	files, err := os.ReadDir(filepath.Dir(a.path))
	if err != nil || len(files) != 2 {
		t.Errorf("%d files (%v)", len(files), err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Size() > maxFile || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info, err)
		}
	}
}

func TestATrailThatCannotBeWrittenSaysSo(t *testing.T) {
	a := New(t.TempDir())
	if err := os.Symlink("elsewhere", a.path); err != nil {
		t.Fatal(err)
	}
	if err := a.Add(entry(1)); !errors.Is(err, syscall.ELOOP) || a.Err() == nil {
		t.Errorf("a link: %v", err)
	}
	if _, err := a.Read(time.Time{}); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link was read: %v", err)
	}
	if err := os.Remove(a.path); err != nil {
		t.Fatal(err)
	}
	if err := a.Add(entry(1)); err != nil || a.Err() != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestTheNewestAreKeptAtHand: what was there before, and what has come since, as the files have it.
func TestTheNewestAreKeptAtHand(t *testing.T) {
	folder := t.TempDir()
	a := New(folder)
	for n := range 3 {
		if err := a.Add(entry(n)); err != nil {
			t.Fatal(err)
		}
	}
	a = New(folder)
	for n := range 40 {
		got := a.Newest(2)
		if want := []Entry{entry(2 + n), entry(1 + n)}; !slices.Equal(got, want) {
			t.Fatalf("after %d more: %v, want %v", n, got, want)
		}
		if err := a.Add(entry(3 + n)); err != nil {
			t.Fatal(err)
		}
	}
}

// What is too long ends behind a whole word and says that more was said.
func TestALongTextIsCutBehindAWord(t *testing.T) {
	trail := New(t.TempDir())
	e := entry(1)
	e.Why = strings.Repeat("cubits ", 200)
	if err := trail.Add(e); err != nil {
		t.Fatal(err)
	}
	all, err := trail.Read(time.Time{})
	if err != nil || len(all.Entries) != 1 {
		t.Fatal(all, err)
	}
	if got := all.Entries[0].Why; len(got) > maxText || !strings.HasSuffix(got, " cubits …") {
		t.Errorf("%d bytes, %q", len(got), got)
	}
}
