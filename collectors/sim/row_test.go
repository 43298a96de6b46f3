package sim

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

// slow reads a row with the standard library alone; it judges the fast reader.
func slow(line string) (at time.Time, value float64, ok bool) {
	f := strings.Split(line, ",")
	if len(f) != 6 || f[3] == "" {
		return at, 0, false
	}
	at, err := time.Parse(time.RFC3339Nano, f[0])
	if err != nil {
		return at, 0, false
	}
	mono, err := strconv.ParseFloat(f[1], 64)
	if err != nil || !(math.Abs(mono) < 10*366*86400) {
		return at, 0, false
	}
	if boot, err := strconv.ParseInt(f[2], 10, 32); err != nil || boot < 0 {
		return at, 0, false
	}
	value = math.NaN()
	if f[4] != "" {
		if value, err = strconv.ParseFloat(f[4], 64); err != nil && !strings.Contains(err.Error(), "out of range") {
			return at, 0, false
		}
	}
	if math.IsInf(value, 0) {
		value = math.NaN()
	}
	return at, value, f[5] == "good" || f[5] == "bad" || f[5] == "uncertain"
}

// FuzzRow holds the fast reader of rows against the standard library, the second time with its memory filled. The reader
// takes more than the plain form, so that it may read what the judge does not.
func FuzzRow(f *testing.F) {
	for _, line := range strings.Split(small, "\n") {
		f.Add(line)
	}
	f.Add("2026-03-02T24:00:00Z,1,0,p,1,good")
	f.Add("2026-03-02T07:00:00.25Z,9999999999,0,p,1e400,good")
	f.Add("0000-00-00T00:00:00Z,1,0,p,1,good")
	reader := rowReader{columns: usualColumns()}
	f.Fuzz(func(t *testing.T, line string) {
		at, value, ok := slow(line)
		for range 2 {
			r, err := reader.parse([]byte(line))
			if ok && err != nil {
				t.Fatalf("%q: %v, the standard library says %t", line, err, ok)
			}
			if ok && (!r.at.Equal(at) || r.value != value && !(math.IsNaN(r.value) && math.IsNaN(value))) {
				t.Fatalf("%q: %s %g, the standard library says %s %g", line, r.at, r.value, at, value)
			}
		}
	})
}

func TestCheck(t *testing.T) {
	d := Device{Every: -time.Second, Points: []Point{{Name: "a"}, {Name: "a"}, {Name: ""}, {Name: "x/y"}}}
	var paths []string
	for _, p := range d.Check() {
		paths = append(paths, p.Path)
		if p.Message == "" {
			t.Errorf("%s: no message", p.Path)
		}
	}
	if got, want := strings.Join(paths, " "), "name recording every points[1].name points[2].name points[3].name"; got != want {
		t.Errorf("problems at %s, want %s", got, want)
	}
	if got := (Device{Name: "rec", File: "x.csv"}).Check(); len(got) != 1 || got[0].Path != "points" {
		t.Errorf("without points: %+v", got)
	}
	if _, err := New(d); err == nil {
		t.Error("a device with problems was made")
	}
}
