package agent

import (
	"iter"
	"maps"

	"gauger/collectors"
)

// newest holds the last reading of every point. A poll's readings mostly differ in point and value alone, so the
// rest of them is kept once for all: a site may have a hundred thousand points, on a box with little memory.
type newest map[collectors.Point]held

// held is a reading taken apart: rest is everything but its point and its value.
type held struct {
	value float64
	rest  *collectors.Reading
}

// take keeps a batch, and nothing of the slice.
func (n newest) take(batch []collectors.Reading) {
	var last *collectors.Reading
	for _, r := range batch {
		point, value := r.Point, r.Value
		r.Point, r.Value = "", 0
		// Errors are not compared: some of their types cannot be.
		if last == nil || last.Err != nil || r.Err != nil || r != *last {
			last = new(r)
		}
		n[point] = held{value, last}
	}
}

// get is the last reading of a point, if there has been one.
func (n newest) get(p collectors.Point) (collectors.Reading, bool) {
	h, ok := n[p]
	if !ok {
		return collectors.Reading{}, false
	}
	r := *h.rest
	r.Point, r.Value = p, h.value
	return r, true
}

// points are all points that have a reading, in any order.
func (n newest) points() iter.Seq[collectors.Point] { return maps.Keys(n) }
