package recorder

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// sheltered is a ring's folder, and its options with a refuge in a folder of its own.
func sheltered(t *testing.T) (dir string, o Options) {
	t.Helper()
	o = usual
	o.Refuge = filepath.Join(t.TempDir(), "recorder-1")
	return t.TempDir(), o
}

// counting adds a row every five seconds from one instant to before another; the value is the number of its instant.
func counting(t *testing.T, r *Ring, from, to time.Duration) {
	t.Helper()
	for at := from; at < to; at += 5 * time.Second {
		add(t, r, noon.Add(at), Row{At: noon.Add(at), Mono: at, Point: "plc/count", Value: at.Seconds()})
	}
}

// The program is killed every four minutes: of each run but the last fifteen seconds are kept, each row once and in order.
func TestAKillCostsSeconds(t *testing.T) {
	dir, o := sheltered(t)
	const run = 4 * time.Minute
	for n := range time.Duration(10) {
		counting(t, openRing(t, dir, o), n*run, n*run+run)
	}
	ring := openRing(t, dir, o)
	add(t, ring, noon.Add(10*run))
	rows, errs := readAll(dir)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	kept := map[time.Duration]int{}
	for i, r := range rows {
		if i > 0 && r.Value <= rows[i-1].Value {
			t.Fatalf("row %v follows %v", r.Value, rows[i-1].Value)
		}
		kept[r.Mono/run]++
	}
	for n := range time.Duration(10) {
		if kept[n] < int((run-keepEvery)/(5*time.Second)) {
			t.Errorf("of run %d %d rows are kept: %v", n, kept[n], kept)
		}
	}
}

// A kill after the block was written into the ring and before its refuge was emptied: no row is there twice.
func TestABlockIsNotInheritedTwice(t *testing.T) {
	dir, o := sheltered(t)
	ring := openRing(t, dir, o)
	counting(t, ring, 0, 5*time.Minute)
	kept, err := os.ReadFile(o.Refuge)
	if err != nil || len(kept) != pageSize {
		t.Fatal(len(kept), err)
	}
	counting(t, ring, 5*time.Minute, blockAge)
	add(t, ring, noon.Add(blockAge))
	if err := os.WriteFile(o.Refuge, kept, 0o600); err != nil {
		t.Fatal(err)
	}
	add(t, openRing(t, dir, o), noon.Add(blockAge))
	if rows, errs := readAll(dir); len(rows) != 120 || len(errs) > 0 {
		t.Errorf("%d rows, want 120; %v", len(rows), errs)
	}
}

// Who only looks sees what a killed run has left, and leaves it where it is.
func TestALookLeavesTheRefugeAlone(t *testing.T) {
	dir, o := sheltered(t)
	counting(t, openRing(t, dir, o), 0, time.Minute)
	for range 2 {
		look := openRing(t, dir, o)
		n := 0
		for _, err := range look.Rows(time.Time{}, time.Time{}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if err := look.Close(); err != nil || n < 9 {
			t.Errorf("%d rows are seen, want at least 9; %v", n, err)
		}
	}
	if rows, _ := readAll(dir); len(rows) != 0 {
		t.Errorf("a look wrote %d rows", len(rows))
	}
}

// A run that ends in order leaves no refuge; torn or foreign bytes in one count as none; and the ring works without one.
func TestARefugeIsNoCondition(t *testing.T) {
	dir, o := sheltered(t)
	ring := openRing(t, dir, o)
	counting(t, ring, 0, time.Minute)
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(o.Refuge); !gone(err) {
		t.Errorf("after an orderly end the refuge is there: %v", err)
	}
	for _, odd := range [][]byte{nil, make([]byte, 100), make([]byte, pageSize)} {
		if err := os.WriteFile(o.Refuge, odd, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := openRing(t, dir, o).Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(o.Refuge); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(o.Refuge, 0o700); err != nil {
		t.Fatal(err)
	}
	ring = openRing(t, dir, o)
	counting(t, ring, time.Minute, 2*time.Minute)
	if ring.Exposed() == nil {
		t.Error("it is not said that a kill costs the open block")
	}
	if err := ring.Close(); err != nil {
		t.Error(err)
	}
	if rows, errs := readAll(dir); len(rows) != 24 || len(errs) > 0 {
		t.Errorf("%d rows, want 24; %v", len(rows), errs)
	}
}

// The folder is removed under the ring: what comes after the next block is kept again.
func TestARemovedFolderIsMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recorder")
	ring := openRing(t, dir, usual)
	for n := range time.Duration(3) {
		page(t, ring, noon.Add(n*blockAge))
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for n := range time.Duration(3) {
		page(t, ring, noon.Add((n+3)*blockAge))
	}
	if rows, errs := readAll(dir); len(rows) != 3 || len(errs) > 0 {
		t.Errorf("%d rows, want the 3 that came since; %v", len(rows), errs)
	}
}

// A quiet site with a refuge writes as many pages as one without.
func TestARefugeCostsNoFlash(t *testing.T) {
	var pages [2]int
	for i := range pages {
		dir, o := sheltered(t)
		if i == 0 {
			o.Refuge = ""
		}
		ring := openRing(t, dir, o)
		counting(t, ring, 0, 12*time.Hour)
		if err := ring.Close(); err != nil {
			t.Fatal(err)
		}
		pages[i] = pagesOf(t, dir)
	}
	if pages[0] != pages[1] {
		t.Errorf("%d pages without a refuge, %d with one", pages[0], pages[1])
	}
}
