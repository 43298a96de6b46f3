package modbus

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"
)

// mostPoints is how many points of one device a block can number.
const mostPoints = 1 << 16

// block is one request: a run of addresses and the points whose values lie in it.
type block struct {
	span
	points []uint16 // indices, in the order of their addresses
	spans  int      // how many different places those points have
	gaps   int      // addresses that no point wants
}

// hole is a run of addresses that the unit refuses to read together with others: a register that it does not
// have, or, when count is 0, a border that no request may cross.
type hole = span

// forbids says whether a request must not cover s because of hole h.
func forbids(h hole, s span) bool {
	if h.table != s.table {
		return false
	}
	if h.count == 0 {
		return s.from < h.from && h.from < s.to()
	}
	return h.from < s.to() && s.from < h.to()
}

// place is one run of addresses that some points share. It is never cut.
type place struct {
	span
	points []uint16
}

// terms are what a plan must obey.
type terms struct {
	cost      cost
	registers int    // most in one request; 0: what the standard allows
	bits      int    // the same for coils and discrete inputs
	holes     []hole // learnt, and forbidden by the configuration
}

// plan finds the cheapest set of requests for the points that use accepts, around the holes. A place that is
// itself a hole, or lies in one, is asked for alone.
func plan(points []point, use func(*point) bool, t terms) []block {
	places := placesOf(points, use)
	var blocks []block
	for len(places) > 0 {
		n := 1
		for n < len(places) && places[n].table == places[0].table {
			n++
		}
		blocks = append(blocks, t.cheapest(places[:n])...)
		places = places[n:]
	}
	return blocks
}

func placesOf(points []point, use func(*point) bool) []place {
	var places []place
	for i := range points {
		if use(&points[i]) {
			places = append(places, place{points[i].span(), []uint16{uint16(i)}})
		}
	}
	sort.SliceStable(places, func(i, j int) bool { // slices.SortStableFunc costs the binary 6 kB for each struct
		a, b := places[i], places[j]
		return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.from, b.from), cmp.Compare(a.count, b.count)) < 0
	})
	merged := places[:0]
	for _, p := range places {
		if last := len(merged) - 1; last >= 0 && merged[last].span == p.span {
			merged[last].points = append(merged[last].points, p.points...)
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

// cheapest cuts the sorted places of one table into requests so that the sum of their costs is least: best[n] is
// that of the first n places, and where the last request of it begins.
func (t terms) cheapest(places []place) []block {
	best := make([]struct {
		cost  time.Duration
		start int
	}, len(places)+1)
	for n := 1; n <= len(places); n++ {
		best[n].cost = math.MaxInt64
		cover := places[n-1].span
		for i := n - 1; i >= 0; i-- {
			cover = join(cover, places[i].span)
			if i < n-1 && !t.allow(cover) {
				break
			}
			if sum := best[i].cost + t.cost.price(cover); sum < best[n].cost {
				best[n].cost, best[n].start = sum, i
			}
		}
	}
	var blocks []block
	for n := len(places); n > 0; n = best[n].start {
		blocks = append(blocks, blockOf(places[best[n].start:n]))
	}
	slices.Reverse(blocks)
	return blocks
}

// allow says whether one request may cover s.
func (t terms) allow(s span) bool {
	return s.count <= t.most(s.table) && !slices.ContainsFunc(t.holes, func(h hole) bool { return forbids(h, s) })
}

// most is how many addresses of a table one request may ask for.
func (t terms) most(table Table) int {
	limit := t.registers
	switch {
	case table.bits():
		limit = t.bits
	case table.enron():
		limit = (t.registers + 1) / 2 // of 32 bits
	}
	if limit == 0 {
		return table.most()
	}
	return min(limit, table.most())
}

// join is the least run that covers both.
func join(a, b span) span {
	from, to := min(a.from, b.from), max(a.to(), b.to())
	return span{a.table, from, to - from}
}

// blockOf is the request for places, which are sorted.
func blockOf(places []place) block {
	b := block{span: places[0].span, spans: len(places)}
	for _, p := range places {
		b.gaps += max(0, p.from-b.to())
		b.span = join(b.span, p.span)
		b.points = append(b.points, p.points...)
	}
	return b
}
