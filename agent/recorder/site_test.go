package recorder

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"gauger/collectors"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// simSite is a site whose points are read every ten seconds, four to a request, each request some milliseconds later.
type simSite struct {
	rng   *rand.Rand
	names []collectors.Point
	value func(rng *rand.Rand, point int) float64
	rows  []Row
}

func newSimSite(points int, value func(*rand.Rand, int) float64) *simSite {
	s := &simSite{rng: rand.New(rand.NewPCG(1, 2)), value: value}
	for i := range points {
		s.names = append(s.names, collectors.PointOf("battery-plc", fmt.Sprintf("tank-%d-level", i+1)))
	}
	return s
}

// poll is what one poll at a time brings.
func (s *simSite) poll(at time.Duration) []Row {
	s.rows = s.rows[:0]
	for i, name := range s.names {
		if i%4 == 0 {
			at += 8*time.Millisecond + time.Duration(s.rng.IntN(4_000_000))
		}
		s.rows = append(s.rows, Row{
			At: noon.Add(at), Mono: at + time.Hour, Boot: noon.UnixNano(), Point: name, Unit: "in",
			Value: s.value(s.rng, i), Quality: collectors.Good,
		})
	}
	return s.rows
}

// radar is a guided wave radar in a 32-bit register: a level that creeps up, and 0.05 in of noise.
func radar(rng *rand.Rand, point int) float64 {
	return float64(float32(100 + float64(point) + 0.05*rng.NormFloat64()))
}

func constant(*rand.Rand, int) float64 { return 171.25 }

// ugly is every bit of a float64 in use.
func ugly(rng *rand.Rand, point int) float64 { return 100 + float64(point) + 0.05*rng.NormFloat64() }

func openRing(t testing.TB, dir string, o Options) *Ring {
	t.Helper()
	r, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func add(t testing.TB, r *Ring, now time.Time, rows ...Row) {
	t.Helper()
	if err := r.Add(now, rows); err != nil {
		t.Fatal(err)
	}
}

// rowsOf gives the rows in the files of dir, as a ring that is opened there would.
func rowsOf(dir string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		numbers, err := numbersIn(dir)
		if err != nil {
			yield(Row{}, fmt.Errorf("read the recorder: %w", err))
			return
		}
		s := newScan(time.Time{}, time.Time{}, nil, yield)
		s.files(dir, numbers, -1)
	}
}

// readAll is all that rowsOf gives: rows, and the errors beside them.
func readAll(dir string) (rows []Row, errs []error) {
	for r, err := range rowsOf(dir) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rows = append(rows, r)
	}
	return rows, errs
}

// cut is a row as it is kept: to the microsecond.
func cut(r Row) Row {
	r.At, r.Mono = r.At.Truncate(time.Microsecond), r.Mono.Truncate(time.Microsecond)
	return r
}

// pagesOf is a ring's pages in order.
func pagesOf(t testing.TB, dir string) (pages int) {
	t.Helper()
	numbers, err := numbersIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		b, err := os.ReadFile(fileName(dir, n))
		if err != nil {
			t.Fatal(err)
		}
		pages += len(b) / pageSize
	}
	return pages
}

var usual = Options{MaxBytes: 64 << 20, Days: 30}

func TestWhatWasAddedIsRead(t *testing.T) {
	dir := t.TempDir()
	ring := openRing(t, dir, usual)
	site := newSimSite(20, radar)
	var want []Row
	for at := time.Duration(0); at < 2*time.Hour; at += 10 * time.Second {
		rows := site.poll(at)
		add(t, ring, noon.Add(at), rows...)
		for _, r := range rows {
			want = append(want, cut(r))
		}
	}
	var live []Row
	for r, err := range ring.Rows(time.Time{}, time.Time{}) {
		if err != nil {
			t.Fatal(err)
		}
		live = append(live, r)
	}
	if !slices.Equal(live, want) {
		t.Fatalf("the ring at work gives %d rows that differ from the %d added", len(live), len(want))
	}
	if closed, errs := readAll(dir); len(errs) > 0 || len(closed) >= len(want) || !slices.Equal(closed, want[:len(closed)]) {
		t.Fatalf("closed blocks: %d rows of %d, %v", len(closed), len(want), errs)
	}
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
	if all, errs := readAll(dir); len(errs) > 0 || !slices.Equal(all, want) {
		t.Fatalf("after Close: %d rows of %d, %v", len(all), len(want), errs)
	}
}

func TestOnlyTheRowsAskedFor(t *testing.T) {
	dir := t.TempDir()
	ring := openRing(t, dir, usual)
	site := newSimSite(3, radar)
	for at := time.Duration(0); at < time.Hour; at += 10 * time.Second {
		add(t, ring, noon.Add(at), site.poll(at)...)
	}
	from, to := noon.Add(20*time.Minute), noon.Add(40*time.Minute)
	n := 0
	for r, err := range ring.Rows(from, to, site.names[1]) {
		if err != nil || r.Point != site.names[1] || r.At.Before(from) || !r.At.Before(to) {
			t.Fatalf("%+v, %v", r, err)
		}
		n++
	}
	if n != 120 {
		t.Errorf("%d rows, want 120: one point for 20 minutes", n)
	}
	n = 0
	for range ring.Rows(time.Time{}, time.Time{}) {
		if n++; n == 5 {
			break
		}
	}
	if n != 5 {
		t.Errorf("reading did not end at the fifth row but after %d", n)
	}
}

// TestABlockIsClosedAfterTenMinutes: also when no rows come any more.
func TestABlockIsClosedAfterTenMinutes(t *testing.T) {
	dir := t.TempDir()
	ring := openRing(t, dir, usual)
	site := newSimSite(2, radar)
	add(t, ring, noon, site.poll(0)...)
	add(t, ring, noon.Add(blockAge-time.Second))
	if rows, _ := readAll(dir); len(rows) != 0 {
		t.Fatalf("%d rows are on disk before the block is old", len(rows))
	}
	add(t, ring, noon.Add(blockAge))
	if rows, errs := readAll(dir); len(rows) != 2 || len(errs) > 0 {
		t.Fatalf("%d rows on disk, %v; want 2", len(rows), errs)
	}
	add(t, ring, noon.Add(2*blockAge))
	if n := pagesOf(t, dir); n != 1 {
		t.Errorf("%d blocks, want 1: an empty block is never written", n)
	}
}
