package recorder

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestADayCostsLittleFlash: 20 points every 10 s for a day, in pages that are written once. What the file system writes
// beside a page is logged, not judged, since others share it: with the file's space reserved, in a journal a page that
// announces the file's entry, the entry and a commit, and later the entry in its place.
func TestADayCostsLittleFlash(t *testing.T) {
	for _, tt := range []struct {
		name  string
		value func(*rand.Rand, int) float64
		most  int // bytes
	}{{"constant", constant, 600_000}, {"radar noise", radar, 1_000_000}, {"ugly", ugly, 2_000_000}} {
		dir := t.TempDir()
		ring := openRing(t, dir, usual)
		site := newSimSite(20, tt.value)
		for at := time.Duration(0); at < 24*time.Hour; at += 10 * time.Second {
			add(t, ring, noon.Add(at), site.poll(at)...)
		}
		if err := ring.Close(); err != nil {
			t.Fatal(err)
		}
		rows, errs := readAll(dir)
		if len(rows) != 20*8640 || len(errs) > 0 {
			t.Fatalf("%s: %d rows of %d, %v", tt.name, len(rows), 20*8640, errs)
		}
		pages := pagesOf(t, dir)
		t.Logf("%s: %d rows in %d pages: %d bytes, %.2f a row; %d with a journal that serves nobody else", tt.name, len(rows), pages,
			pages*pageSize, float64(pages*pageSize)/float64(len(rows)), 5*pages*pageSize)
		if pages*pageSize > tt.most {
			t.Errorf("%s: %d bytes a day, want at most %d", tt.name, pages*pageSize, tt.most)
		}
	}
}

func TestAddMakesNoGarbage(t *testing.T) {
	ring := openRing(t, t.TempDir(), usual)
	site := newSimSite(20, radar)
	at := time.Duration(0)
	poll := func() {
		at += 10 * time.Second
		add(t, ring, noon.Add(at), site.poll(at)...)
	}
	for range 300 {
		poll()
	}
	if n := testing.AllocsPerRun(600, poll); n > 0.2 {
		t.Errorf("%.2f allocations for a poll of 20 points, want none but for a new file", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, bm := range []struct {
		name  string
		value func(*rand.Rand, int) float64
	}{{"radar", radar}, {"constant", constant}, {"ugly", ugly}} {
		b.Run(bm.name, func(b *testing.B) {
			ring := openRing(b, b.TempDir(), usual)
			site := newSimSite(20, bm.value)
			polls := make([][]Row, 100)
			for i := range polls {
				polls[i] = append(polls[i], site.poll(time.Duration(i)*10*time.Second)...)
			}
			b.ReportAllocs()
			at := noon
			for n := 0; b.Loop(); n++ {
				at = at.Add(10 * time.Second)
				rows := polls[n%len(polls)]
				for i := range rows {
					rows[i].At = at.Add(time.Duration(i/4) * 8 * time.Millisecond)
					rows[i].Mono = rows[i].At.Sub(noon)
				}
				add(b, ring, at, rows...)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20, "ns/row")
		})
	}
}
