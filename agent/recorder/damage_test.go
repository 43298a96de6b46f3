package recorder

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// recorded makes a ring of some blocks in one file, and returns its rows by block.
func recorded(t *testing.T, dir string, blocks int) (name string, rows [][]Row) {
	t.Helper()
	ring := openRing(t, dir, usual)
	site := newSimSite(20, radar)
	for b := range blocks {
		at := time.Duration(b) * blockAge
		polled := slices.Clone(site.poll(at))
		add(t, ring, noon.Add(at), polled...)
		for i := range polled {
			polled[i] = cut(polled[i])
		}
		rows = append(rows, polled)
	}
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
	return fileName(dir, 1), rows
}

// TestATornBlockCostsItselfAlone tears the last block at every byte, with nothing and with zeroes behind the tear. The
// next run goes on behind it.
func TestATornBlockCostsItselfAlone(t *testing.T) {
	dir := t.TempDir()
	name, rows := recorded(t, dir, 2)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	h, err := unseal(whole[pageSize:])
	if err != nil {
		t.Fatal(err)
	}
	for at := len(whole) - 1; at > pageSize; at-- {
		for _, size := range []int64{int64(at), int64(len(whole))} {
			if err := os.Truncate(name, size); err != nil {
				t.Fatal(err)
			}
			want, torn := rows[0], 1
			if size == int64(len(whole)) && at >= pageSize+h.used {
				want, torn = slices.Concat(rows...), 0
			}
			if got, errs := readAll(dir); !slices.Equal(got, want) || len(errs) != torn {
				t.Fatalf("torn at %d of %d: %d rows, want %d; errors %v", at-pageSize, h.used, len(got), len(want), errs)
			}
		}
	}
	ring := openRing(t, dir, usual)
	add(t, ring, noon, rows[1]...)
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
	if got, errs := readAll(dir); !slices.Equal(got, slices.Concat(rows...)) || len(errs) != 1 {
		t.Errorf("after the tear %d rows were read, %v", len(got), errs)
	}
}

// TestAFlippedBitCostsItsBlockAlone also checks that no damaged block passes for a good one.
func TestAFlippedBitCostsItsBlockAlone(t *testing.T) {
	dir := t.TempDir()
	name, rows := recorded(t, dir, 5)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	set := func(at int, b byte) {
		if _, err := file.WriteAt([]byte{b}, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		at, bit := rng.IntN(len(whole)), rng.IntN(8)
		set(at, whole[at]^1<<bit)
		hit := at / pageSize
		want := slices.Concat(slices.Concat(rows[:hit]...), slices.Concat(rows[hit+1:]...))
		got, errs := readAll(dir)
		unused := len(errs) == 0 && slices.Equal(got, slices.Concat(rows...))
		if !unused && (len(errs) != 1 || !slices.Equal(got, want)) {
			t.Fatalf("bit %d of byte %d: %d rows of %d, errors %v", bit, at, len(got), len(want), errs)
		}
		set(at, whole[at])
	}
}

// TestABrokenDiskCostsWhatItTakes: nothing can be written while a file stands where the folder should be; then it goes on.
func TestABrokenDiskCostsWhatItTakes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recorder")
	ring := openRing(t, dir, usual)
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	site := newSimSite(20, radar)
	failures := 0
	for at := time.Duration(0); at < time.Hour; at += 10 * time.Second {
		if err := ring.Add(noon.Add(at), site.poll(at)); err != nil {
			failures++
		}
	}
	s := ring.Stats()
	if failures < 6 || failures > 12 {
		t.Errorf("%d failures in an hour", failures)
	}
	if s.Err == nil || s.Lost == 0 || s.Lost > s.Rows || s.Rows != 7200 {
		t.Errorf("after them: %+v", s)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
	rows, errs := readAll(dir)
	if s := ring.Stats(); s.Err != nil || len(errs) > 0 || uint64(len(rows)) != s.Rows-s.Lost {
		t.Errorf("%d rows read, %v; %+v", len(rows), errs, s)
	}
}
