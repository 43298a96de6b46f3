package outbox

import (
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"gauger/outbox/boltfile"
)

// pagesOf reads a box's file as it is on disk now.
func pagesOf(t *testing.T, b *Box) (listed bool, length int64) {
	t.Helper()
	p, err := boltfile.Open(b.path, boxLayout)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // opened for reading only
	return p.HasFreelist(), p.Size
}

// dropUpTo removes the oldest records up to a number.
func dropUpTo(t *testing.T, b *Box, from, to uint64) {
	t.Helper()
	seqs := make([]uint64, 0, to-from)
	for seq := from; seq < to; seq++ {
		seqs = append(seqs, seq)
	}
	if n, err := b.Drop("tags", "test", seqs...); err != nil || n != len(seqs) {
		t.Fatalf("dropped %d of %d: %v", n, len(seqs), err)
	}
}

// A file with few pages in use has no list of free ones, one with many has; it opens either way, over a backlog that
// comes and goes, and the counts and records stay.
func TestTheListOfFreePagesComesAndGoes(t *testing.T) {
	b := oneStream(t, filepath.Join(t.TempDir(), "outbox.db"), 64<<20)
	const n, size = 200, 60_000
	for i := range n {
		if err := b.Update(appends(1, string(make([]byte, size)))); err != nil {
			t.Fatal(err)
		}
		listed, _ := pagesOf(t, b)
		if inUse := b.inUse.Load(); listed && inUse < listAbove/2 || !listed && inUse > listAbove+listAbove/2 {
			t.Fatalf("after %d records with %d bytes in use: list %v", i+1, inUse, listed)
		}
	}
	b = reopened(t, b)
	dropUpTo(t, b, 1, n-19)
	b = reopened(t, b)
	if err := b.Update(appends(1, "more")); err != nil {
		t.Fatal(err)
	}
	if listed, length := pagesOf(t, b); listed || length > 4<<20 {
		t.Errorf("20 records of %d bytes are left in a file of %d bytes, list %v", size, length, listed)
	}
	if c := b.Counts()["tags"]; c.Waiting != 21 || c.Dropped != n-20 || !c.Balanced() {
		t.Errorf("counts %+v", c)
	}
	if err := reopened(t, b).Close(); err != nil {
		t.Error(err)
	}
}

// What is written beside each commit, the list of free pages, stays short while a backlog goes and part of it stays.
func TestAPartialBacklogLeavesAShortList(t *testing.T) {
	b := oneStream(t, filepath.Join(t.TempDir(), "outbox.db"), 64<<20)
	const n, size, keep = 36, 1 << 20, 6
	for range n {
		if err := b.Update(appends(1, string(make([]byte, size)))); err != nil {
			t.Fatal(err)
		}
	}
	for seq := uint64(1); seq <= n-keep; seq++ {
		dropUpTo(t, b, seq, seq+1)
		free, held := b.length.Load()-b.inUse.Load(), b.inUse.Load()
		if held <= replaceMost && free > max(sparseFree*held, replaceAbove)+2*size {
			t.Fatalf("record %d dropped: %d bytes are free beside %d in use", seq, free, held)
		}
	}
	b = reopened(t, b)
	if _, length := pagesOf(t, b); length > (1+sparseFree)*(keep+1)*size+replaceAbove {
		t.Errorf("%d records are left in a file of %d bytes", keep, length)
	}
	entries, err := b.Entries("tags", Waiting, 0, 1)
	if err != nil || len(entries) != 1 || entries[0].Record.Seq != n-keep+1 || len(entries[0].Record.Body) != size {
		t.Errorf("the oldest is %+v, %v", entries, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// A file of the version before has its list; the first commit leaves it out. Nothing else changes.
func TestAFileWithAListIsTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outbox.db")
	b := oneStream(t, path, 4<<20)
	if err := b.Update(appends(50, "kept")); err != nil {
		t.Fatal(err)
	}
	b.db.NoFreelistSync = false
	err := b.db.Update(func(*bbolt.Tx) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if listed, _ := pagesOf(t, b); !listed {
		t.Fatal("the file has no list")
	}
	b = reopened(t, b)
	if err := b.Update(appends(1, "new")); err != nil {
		t.Fatal(err)
	}
	if listed, _ := pagesOf(t, b); listed {
		t.Error("the list stayed")
	}
	b = reopened(t, b)
	if c := b.Counts()["tags"]; c.Waiting != 51 || !c.Balanced() {
		t.Errorf("counts %+v", c)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(path + ".damaged-*"); err != nil || len(left) > 0 {
		t.Errorf("set aside: %v, %v", left, err)
	}
}

// A file without a list whose pages do not hold must be found by the quick check: bbolt reads all of them on opening,
// and not in a goroutine that could be guarded.
func TestAFileWithoutAListIsReadBeforeItIsOpened(t *testing.T) {
	b := oneStream(t, filepath.Join(t.TempDir(), "outbox.db"), 4<<20)
	if err := b.Update(appends(100, "record")); err != nil {
		t.Fatal(err)
	}
	var root uint64
	if err := b.db.View(func(tx *bbolt.Tx) error { root = uint64(tx.Cursor().Bucket().Root()); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 { // the offset of the root page's first element
		file[root*4096+boltfile.PageHeader+4+uint64(i)%4] = 0xFF
	}
	if err := os.WriteFile(b.path, file, 0o640); err != nil {
		t.Fatal(err)
	}
	var notes []NoteKind
	b, err = Open(b.path, Options{MaxBytes: 4 << 20, Streams: b.opt.Streams, Notify: func(n Note) { notes = append(notes, n.Kind) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) == 0 || notes[0] != NoteSalvaged {
		t.Errorf("notes %v, want %s first", notes, NoteSalvaged)
	}
	if c := b.Counts()["tags"]; !c.Balanced() {
		t.Errorf("counts %+v", c)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
