package agent

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"gauger/collectors"
)

// TestTheNewestReadingsAreKeptWhole gives batches in which readings have much, little and nothing in common.
func TestTheNewestReadingsAreKeptWhole(t *testing.T) {
	at := time.Now()
	why := errors.New("why")
	batch := []collectors.Reading{
		{Point: "a/1", Value: 1, Unit: "in", Quality: collectors.Good, At: at},
		{Point: "a/2", Value: 2, Unit: "in", Quality: collectors.Good, At: at},
		{Point: "a/3", Value: 3, Unit: "ft", Quality: collectors.Good, At: at},
		{Point: "a/4", Value: 4, Unit: "ft", Quality: collectors.Uncertain, At: at, Err: why},
		{Point: "a/5", Value: 5, Unit: "ft", Quality: collectors.Uncertain, At: at, Err: errors.New("another")},
		{Point: "a/6", Value: 6, Quality: collectors.Good, At: at.Add(time.Second), Text: "six"},
	}
	want := slices.Clone(batch)
	n := newest{}
	n.take(batch)
	for i := range batch {
		batch[i] = collectors.Reading{Point: "x", Err: why} // a collector may use its batch again
	}
	for _, w := range want {
		if got, ok := n.get(w.Point); !ok || got != w {
			t.Errorf("%s: %+v, want %+v", w.Point, got, w)
		}
	}
	if len(slices.Collect(n.points())) != len(want) {
		t.Errorf("%d points, want %d", len(slices.Collect(n.points())), len(want))
	}
	n.take([]collectors.Reading{{Point: "a/1", Value: math.NaN(), At: at, Err: why}})
	if got, _ := n.get("a/1"); !math.IsNaN(got.Value) || got.Err != why || got.Unit != "" {
		t.Errorf("%+v after a bad one", got)
	}
	if got, _ := n.get("a/2"); got != want[1] {
		t.Errorf("%+v: the next reading of its neighbour changed it", got)
	}
	if _, ok := n.get("a/7"); ok {
		t.Error("a point that never was has a reading")
	}
}
