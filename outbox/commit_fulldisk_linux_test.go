package outbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// smallDisk is a disk of so many bytes in memory.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("no disk of its own for this test, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillUp takes every byte that the disk has left.
func fillUp(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "others"))
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 20; size >= 1; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Others have filled the disk to the last byte. What was reserved still takes tickets up to the quota, delivered ones
// are deleted, state is kept, and all that over a restart; nothing is in doubt, nothing is lost.
func TestFullDiskStillTakesTickets(t *testing.T) {
	dir := smallDisk(t, "size=14m")
	path, n := filepath.Join(dir, "outbox.db"), &notes{}
	o := outbox.Options{MaxBytes: 8 * mib, Streams: shared(), Notify: n.add, Preflight: checkHere}
	b := open(t, path, o)
	put(t, b, "tickets", "first") // its receipt has a place then
	drainAll(t, b, "tickets", &outboxtest.Service{})
	fillUp(t, dir)
	body := strings.Repeat("x", 3900) // a page each: the quota holds 1,638
	for range 15 {
		put(t, b, "tickets", repeat(body, 70)...)
		put(t, b, "tags", repeat(body, 70)...)
	}
	for range 2 {
		s := &outboxtest.Service{}
		drainSome(t, b, "tickets", s, 250)
		if err := b.Update(func(tx *outbox.Tx) error { tx.Put("tank/1", []byte(body)); return nil }); err != nil {
			t.Fatal(err)
		}
		put(t, b, "tickets", repeat(body, 225)...)
		shut(t, b)
		b = open(t, path, o)
	}
	if c := counts(t, b, "tickets"); c != (outbox.Counts{Accepted: 1501, Delivered: 501, Waiting: 1000}) {
		t.Errorf("tickets: %+v", c)
	}
	if n.count(outbox.NoteSalvaged)+n.count(outbox.NoteFull) != 0 {
		t.Errorf("notes: %+v", n.all)
	}
	drainAll(t, b, "tags", &outboxtest.Service{})
	shut(t, b)
	if _, err := outbox.Check(path); err != nil {
		t.Error(err)
	}
}

// A ticket that is taken on a disk which was filled before any was has its receipt, and the next start accuses nothing of damage.
func TestAFirstReceiptHasItsPlaceOnAFullDisk(t *testing.T) {
	dir := smallDisk(t, "size=14m")
	path, n := filepath.Join(dir, "outbox.db"), &notes{}
	o := outbox.Options{MaxBytes: 8 * mib, Streams: shared(), Notify: n.add, Preflight: checkHere}
	b := open(t, path, o)
	fillUp(t, dir)
	for _, stream := range []string{"tags", "tickets"} {
		put(t, b, stream, "first")
		drainAll(t, b, stream, &outboxtest.Service{})
		if e, err := b.Entry(stream, 1); err != nil || e.State != outbox.Delivered || e.Status != 200 {
			t.Errorf("of %s: %+v, %v", stream, e, err)
		}
	}
	shut(t, b)
	b = open(t, path, o)
	defer shut(t, b)
	if len(n.all) != 0 {
		t.Errorf("notes: %+v", n.all)
	}
}

// The file is damaged and the disk is full: what was reserved for the old file makes room for the mended one.
func TestDamagedFileIsMendedOnAFullDisk(t *testing.T) {
	dir := smallDisk(t, "size=14m")
	path, n := filepath.Join(dir, "outbox.db"), &notes{}
	o := outbox.Options{MaxBytes: 8 * mib, Streams: shared(), Notify: n.add, Preflight: checkHere}
	b := open(t, path, o)
	body := strings.Repeat("x", 1000)
	put(t, b, "tickets", repeat(body, 1500)...)
	put(t, b, "events", "the spoilt one")
	shut(t, b)
	for round := range 3 {
		spoilRecord(t, path, []string{"the spoilt one", "another one 0", "another one 1"}[round])
		if round == 0 {
			fillUp(t, dir)
		}
		b = open(t, path, o)
		if c := counts(t, b, "tickets"); c.Waiting != 1500 || n.count(outbox.NoteSalvaged) != round+1 {
			t.Errorf("round %d: %+v, %d notes", round, c, n.count(outbox.NoteSalvaged))
		}
		put(t, b, "events", "another one "+string(rune('0'+round)))
		put(t, b, "tickets", body)
		drainSome(t, b, "tickets", &outboxtest.Service{}, 1)
		shut(t, b)
	}
}

// A box is to be made on a disk that has so little room. Whatever is left of that half-made when there is room, it opens as
// the new box that it is, and nothing is told as damaged or lost.
func TestAFreshBoxOnAFullDiskIsNotDamaged(t *testing.T) {
	opened := 0
	for room := 0; room < 160<<10; room += 4 << 10 {
		dir := smallDisk(t, "size=1m")
		path, n := filepath.Join(dir, "outbox.db"), &notes{}
		if err := os.WriteFile(filepath.Join(dir, "others"), make([]byte, 1<<20-room), 0o600); err != nil {
			t.Fatal(err)
		}
		o := outbox.Options{MaxBytes: mib, Streams: site(), Notify: n.add, Preflight: checkHere}
		for range 2 {
			if b, err := outbox.Open(path, o); err == nil {
				opened++
				shut(t, b)
			} else if !strings.Contains(err.Error(), unix.ENOSPC.Error()) {
				t.Errorf("with room for %d bytes: %v", room, err)
			}
		}
		if err := os.Remove(filepath.Join(dir, "others")); err != nil {
			t.Fatal(err)
		}
		b := open(t, path, o)
		put(t, b, "tickets", "first")
		if c := counts(t, b, "tickets"); c != (outbox.Counts{Accepted: 1, Waiting: 1}) || n.count(outbox.NoteSalvaged) != 0 {
			t.Errorf("with room for %d bytes: %+v, told %+v", room, c, n.all)
		}
		shut(t, b)
	}
	if opened == 0 || opened == 80 {
		t.Errorf("%d of 80 opened on the full disk: this test tests nothing", opened)
	}
}
