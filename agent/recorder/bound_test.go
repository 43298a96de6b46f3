package recorder

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// onDisk is what a folder's files take of the disk by their own account.
func onDisk(t *testing.T, dir string) (bytes int64, files int) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
	}
	return bytes, len(all)
}

// page adds rows that make one block, and closes it.
func page(t *testing.T, r *Ring, at time.Time) {
	t.Helper()
	add(t, r, at, Row{At: at, Point: "a/b", Value: float64(at.Unix())})
	add(t, r, at.Add(blockAge))
}

func TestTheRingStaysWithinItsBytes(t *testing.T) {
	for _, most := range []int64{leastPages * pageSize, 100_000, 1 << 20} {
		dir := t.TempDir()
		ring := openRing(t, dir, Options{MaxBytes: most})
		at := noon
		for i := range 400 {
			page(t, ring, at)
			at = at.Add(blockAge)
			if i%9 > 0 {
				continue
			}
			if n, _ := onDisk(t, dir); n > most || ring.Stats().Bytes > most {
				t.Fatalf("%d bytes on disk, %d by its own account; at most %d", n, ring.Stats().Bytes, most)
			}
		}
		rows, errs := readAll(dir)
		kept := min(most*3/4/pageSize, 300)
		if len(errs) > 0 || int64(len(rows)) < kept || !rows[len(rows)-1].At.Equal(at.Add(-blockAge)) {
			t.Errorf("most %d: %d rows kept, want at least %d and the newest; %v", most, len(rows), kept, errs)
		}
		if got := ring.Stats().Oldest; !got.Equal(rows[0].At) {
			t.Errorf("oldest %s, want %s", got, rows[0].At)
		}
	}
}

func TestASmallerRingShrinksAtItsOpening(t *testing.T) {
	dir := t.TempDir()
	ring := openRing(t, dir, Options{MaxBytes: 4 << 20})
	for i := range 300 {
		page(t, ring, noon.Add(time.Duration(i)*blockAge))
	}
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
	openRing(t, dir, Options{MaxBytes: 600_000})
	if n, _ := onDisk(t, dir); n > 600_000 || n < 200_000 {
		t.Errorf("%d bytes on disk, want at most 600000, and not much less", n)
	}
}

// TestOldFilesGo: twelve quiet days, of which four are kept.
func TestOldFilesGo(t *testing.T) {
	dir := t.TempDir()
	ring := openRing(t, dir, Options{MaxBytes: 64 << 20, Days: 4})
	at := noon
	for range 12 * 144 {
		page(t, ring, at)
		at = at.Add(blockAge)
	}
	rows, _ := readAll(dir)
	kept := at.Sub(rows[0].At)
	if kept < 4*24*time.Hour || kept > 6*24*time.Hour {
		t.Errorf("%s are kept, want four days and at most two files of 11 hours more, and the one in work", kept)
	}
}

// TestAWrongClockDeletesNothingThatCounts: the clock is in 2099 or 1970 for half a day, after five good ones.
func TestAWrongClockDeletesNothingThatCounts(t *testing.T) {
	for _, wrong := range []time.Time{time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(5, 0)} {
		dir := t.TempDir()
		ring := openRing(t, dir, Options{MaxBytes: 64 << 20, Days: 30})
		at := noon
		for range 5 * 144 {
			page(t, ring, at)
			at = at.Add(blockAge)
		}
		for i := range 72 {
			page(t, ring, wrong.Add(time.Duration(i)*blockAge))
		}
		for range 144 {
			page(t, ring, at)
			at = at.Add(blockAge)
		}
		rows, errs := readAll(dir)
		if want := 6*144 + 72; len(rows) != want || len(errs) > 0 {
			t.Errorf("clock in %d: %d rows of %d are kept, %v", wrong.Year(), len(rows), want, errs)
		}
	}
}

// TestReadingWhileTheRingGoesOn: what is deleted under a reader's hands is no error, and it gets no row that came later.
func TestReadingWhileTheRingGoesOn(t *testing.T) {
	ring := openRing(t, t.TempDir(), Options{MaxBytes: 20 * pageSize})
	at := noon
	for range 20 {
		page(t, ring, at)
		at = at.Add(blockAge)
	}
	var seen []float64
	for r, err := range ring.Rows(time.Time{}, time.Time{}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen = append(seen, r.Value); len(seen) == 1 {
			for i := range 12 {
				page(t, ring, at.Add(time.Duration(i)*blockAge))
			}
		}
	}
	if n := len(seen); n < 2 || n > 18 || seen[n-1] != float64(at.Add(-blockAge).Unix()) {
		t.Errorf("%d rows, want the first file's, fewer than all 18 others, and at last the newest before the reading began", n)
	}
}

// TestMemoryIsBounded: a ring of 200 points at work, read through once.
func TestMemoryIsBounded(t *testing.T) {
	site := newSimSite(200, radar)
	dir := t.TempDir()
	site.poll(0)
	before := live()
	ring := openRing(t, dir, usual)
	for at := time.Duration(0); at < time.Hour; at += 10 * time.Second {
		add(t, ring, noon.Add(at), site.poll(at)...)
	}
	scanned, n := uint64(0), 0
	for range ring.Rows(time.Time{}, time.Time{}) {
		if n++; n == 60_000 {
			scanned = live()
		}
	}
	if used := int64(scanned) - int64(before); n != 72_000 || used > 200<<10 {
		t.Errorf("%d rows; ring and reader have %d bytes, want at most 200 kB", n, used)
	}
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
}

// live is what is in use, in bytes.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestAFolderThatIsNone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recorder")
	if rows, errs := readAll(dir); len(rows) > 0 || len(errs) > 0 {
		t.Errorf("a recorder that has never run: %v, %v", rows, errs)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs := readAll(dir); len(errs) != 1 {
		t.Errorf("a file in the folder's place: %v, want one error", errs)
	}
	if _, err := Open(dir, Options{MaxBytes: 100}); err == nil {
		t.Error("a ring of 100 bytes was opened")
	}
}
