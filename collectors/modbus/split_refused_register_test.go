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
	"gauger/collectors/modbus/linetest"
)

// refusing answers with an exception whatever covers one of the registers.
func refusing(w *linetest.Witness, code byte, registers ...int) func(linetest.Asked, []byte) ([]linetest.Piece, bool) {
	return func(q linetest.Asked, _ []byte) ([]linetest.Piece, bool) {
		covers := slices.ContainsFunc(registers, func(r int) bool { return q.Address <= r && r < q.Address+q.Count })
		if q.Unit != 1 || !covers {
			return nil, false
		}
		return linetest.Soon(w.Envelope.Answer(q, []byte{q.Function | 0x80, code})), true
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
func pollRow(t *testing.T, host *collectorstest.Host, w *linetest.Witness, url string, n int) (bad [][]collectors.Point) {
	t.Helper()
	lines := linesTo(w)
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
	for _, l := range linetest.Wires {
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
					w := &linetest.Witness{Envelope: l.Envelope, Turnaround: linetest.Thinks}
					w.Spoil = refusing(w, code, registers...)
					first = pollRow(t, host, w, l.URL, 6)
					refuse := w.Spoil
					w.Spoil = func(q linetest.Asked, right []byte) ([]linetest.Piece, bool) {
						pieces, refused := refuse(q, right)
						if refused && q.Count > 1 {
							wide++
						}
						return pieces, refused
					}
					again = pollRow(t, host, w, l.URL, 3)
				})
				if len(first) < 5 || len(again) < 2 {
					t.Fatalf("%s: %d rounds and %d after the restart", l.URL, len(first), len(again))
				}
				for i, bad := range append(first[1:], again...) {
					if !slices.Equal(bad, want) {
						t.Errorf("%s, exception %d: round %d: %v are bad, want %v", l.URL, code, i+2, bad, want)
					}
				}
				if wide > 0 {
					t.Errorf("%s, exception %d, registers %v: after the restart %d requests ran into it once more", l.URL, code, registers, wide)
				}
			}
		}
	}
}
