package recorder

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gauger/collectors"
)

// oddValues are those that coders get wrong.
var oddValues = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.1, 0.3, 1.0 / 3, -999, 9999, 32767, math.NaN(), math.Inf(1), math.Inf(-1), 171.25, 171.26,
	math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.MaxFloat32, math.SmallestNonzeroFloat32, 1 << 53,
	1<<53 + 2, -(1 << 53), 1e-6, 1.5e-7, 123456.789012, float64(float32(0.1)), math.Float64frombits(0x7ff8000000000123),
}

// oddTimes are steps of the wall clock, before 1970 and in 2106 included.
var oddTimes = []time.Time{
	noon, time.Unix(0, 0), time.Unix(-1, 999999000), time.Date(2106, 2, 7, 6, 28, 16, 0, time.UTC), noon.Add(-time.Hour), {},
}

func TestEveryValueAndTimeComesBackToTheBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	names := []collectors.Point{"a/x", "a/y", "b/x", "", "long/" + collectors.Point(strings.Repeat("n", longestName-5))}
	var want []Row
	for range 5000 {
		v := oddValues[rng.IntN(len(oddValues))]
		if rng.IntN(3) == 0 {
			v = math.Float64frombits(rng.Uint64())
		}
		want = append(want, Row{
			At: oddTimes[rng.IntN(len(oddTimes))].Add(time.Duration(rng.IntN(1e6)) * time.Microsecond), Mono: time.Duration(rng.IntN(1e9)) * time.Microsecond,
			Boot: rng.Int64N(3) * math.MaxInt64 / 3, Point: names[rng.IntN(len(names))], Value: v,
			Unit: []collectors.Unit{"", "in", "degF"}[rng.IntN(3)], Quality: collectors.Quality(rng.IntN(3)),
		})
	}
	dir := t.TempDir()
	ring := openRing(t, dir, usual)
	add(t, ring, noon, want...)
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
	got, errs := readAll(dir)
	if len(got) != len(want) || len(errs) > 0 {
		t.Fatalf("%d rows of %d, %v", len(got), len(want), errs)
	}
	for i, w := range want {
		g := got[i]
		same := g.At.Equal(w.At) && g.Mono == w.Mono && g.Boot == w.Boot && g.Point == w.Point && g.Unit == w.Unit && g.Quality == w.Quality
		if !same || math.Float64bits(g.Value) != math.Float64bits(w.Value) {
			t.Fatalf("row %d: %+v, want %+v", i, g, w)
		}
	}
}

func TestANameThatIsTooLongIsRefusedAlone(t *testing.T) {
	dir := t.TempDir()
	ring := openRing(t, dir, usual)
	good := Row{At: noon, Point: "a/b", Value: 1}
	bad := Row{At: noon, Point: collectors.Point(strings.Repeat("n", longestName+1))}
	if err := ring.Add(noon, []Row{good, bad, good}); err == nil || !strings.Contains(err.Error(), "longer than 1024 bytes") {
		t.Errorf("error %v", err)
	}
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
	if rows, _ := readAll(dir); len(rows) != 2 || ring.Stats().Lost != 1 {
		t.Errorf("%d rows, %d lost; want 2 and 1", len(rows), ring.Stats().Lost)
	}
}

// FuzzPage: bytes that pass for a page never make a reader fail in another way than with an error.
func FuzzPage(f *testing.F) {
	w := newWriter()
	for i, v := range oddValues {
		w.addRow(&Row{At: noon, Point: collectors.Point(strings.Repeat("p", i%5)), Value: v})
	}
	f.Add(w.sealed()[headerSize:len(w.page)], uint16(len(oddValues)))
	f.Fuzz(func(t *testing.T, body []byte, rows uint16) {
		page := make([]byte, pageSize)
		used := headerSize + copy(page[headerSize:], body)
		seal(page, header{used: used, rows: int(rows)})
		h, err := unseal(page)
		if err != nil {
			t.Fatal(err)
		}
		rd := &reader{names: map[string]string{}}
		n := 0
		if _, err := rd.rows(page, h, func(Row) bool { n++; return true }); err == nil && n != int(rows) {
			t.Errorf("%d rows without an error, want %d", n, rows)
		}
	})
}
