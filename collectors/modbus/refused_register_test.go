package modbus

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
)

// refusing answers with an exception whatever covers one of the registers.
func refusing(w *witness, code byte, registers ...int) func(asked, []byte) ([]piece, bool) {
	return func(q asked, _ []byte) ([]piece, bool) {
		covers := slices.ContainsFunc(registers, func(r int) bool { return q.address <= r && r < q.address+q.count })
		if q.unit != 1 || !covers {
			return nil, false
		}
		return soon(w.wrap.answer(q, []byte{q.function | 0x80, code})), true
	}
}

// rows is a unit of single registers in a row, and another unit beside it.
func rows(url string) []Device {
	row := Device{Name: "row", URL: url, Every: time.Second}
	for a := range 40 {
		row.Points = append(row.Points, holding(fmt.Sprint(a), a))
	}
	return []Device{row, {Name: "other", URL: url, Unit: new(2), Every: time.Second, Points: []Point{holding("a", 0), holding("b", 4)}}}
}

// pollRow has a collector poll so many times, and returns which points of the row were not good in each.
func pollRow(t *testing.T, host *collectorstest.Host, w *witness, url string, n int) (bad [][]collectors.Point) {
	t.Helper()
	lines := &Lines{Dial: w.dial}
	all, err := New(lines, rows(url))
	if err != nil {
		t.Fatal(err)
	}
	before := len(host.Batches())
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*time.Second-time.Millisecond)
	defer cancel()
	if err := all[0].Run(ctx, host); err != nil {
		t.Error(err)
	}
	for _, batch := range host.Batches()[before:] {
		if len(batch) < 40 {
			continue
		}
		var worse []collectors.Point
		for _, r := range batch {
			if r.Quality != collectors.Good {
				worse = append(worse, r.Point)
			}
		}
		bad = append(bad, worse)
	}
	return bad
}

func TestARefusedRegisterCostsOnlyItself(t *testing.T) {
	for _, l := range wraps {
		for _, registers := range [][]int{{0}, {17}, {39}, {17, 18}, {19, 20, 21}, {3, 30}, {0, 39}, {1, 3, 5, 7}} {
			for _, code := range []byte{2, 3} {
				var want []collectors.Point
				for _, r := range registers {
					want = append(want, collectors.PointOf("row", fmt.Sprint(r)))
				}
				var first, again [][]collectors.Point
				wide := 0
				synctest.Test(t, func(t *testing.T) {
					host := &collectorstest.Host{}
					w := &witness{wrap: l.wrap, turnaround: thinks}
					w.spoil = refusing(w, code, registers...)
					first = pollRow(t, host, w, l.url, 6)
					refuse := w.spoil
					w.spoil = func(q asked, right []byte) ([]piece, bool) {
						pieces, refused := refuse(q, right)
						if refused && q.count > 1 {
							wide++
						}
						return pieces, refused
					}
					again = pollRow(t, host, w, l.url, 3)
				})
				if len(first) < 5 || len(again) < 2 {
					t.Fatalf("%s: %d rounds and %d after the restart", l.url, len(first), len(again))
				}
				for i, bad := range append(first[1:], again...) {
					if !slices.Equal(bad, want) {
						t.Errorf("%s, exception %d: round %d: %v are bad, want %v", l.url, code, i+2, bad, want)
					}
				}
				if wide > 0 {
					t.Errorf("%s, exception %d, registers %v: after the restart %d requests ran into it once more", l.url, code, registers, wide)
				}
			}
		}
	}
}
