package modbus

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// block is one request: a run of addresses and the points whose values lie in it.
type block struct {
	span
	points []uint16 // indices, in the order of their addresses
	spans  int      // how many different places those points have
}

// cost is what a request takes on the wire, in any one unit.
type cost struct {
	request  float64 // for asking at all
	register float64 // for each register more
}

// costOf models the endpoint. On a serial line a request is 8 characters, an answer 5 and two for each register,
// with 3.5 characters of silence after each and 5 ms for the unit to think: at 19200 baud it pays to read through
// a gap of up to 14 registers. Behind a TCP socket bytes cost next to nothing, but units with holes in their map,
// and gateways with a serial line behind them, are common: a request counts as much as 21 registers.
func (e endpoint) cost() cost {
	if !e.serialLine() {
		return cost{request: 21, register: 1}
	}
	c, char := e.codec(), e.serial.char()
	characters := len(c.request(nil, 0, Request{}.pdu())) + c.size(0)
	frames := time.Duration(characters)*char + 2*e.serial.gap() + 5*time.Millisecond
	return cost{request: float64(frames), register: float64(time.Duration(c.size(2)-c.size(0)) * char)}
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

// plan finds the cheapest set of requests for the points that use accepts, around the holes. A place that is
// itself a hole, or lies in one, is asked for alone.
func plan(points []point, use func(*point) bool, holes []hole, c cost) []block {
	places := placesOf(points, use)
	var blocks []block
	for len(places) > 0 {
		n := 1
		for n < len(places) && places[n].table == places[0].table {
			n++
		}
		blocks = append(blocks, cheapest(places[:n], holes, c)...)
		places = places[n:]
	}
	return blocks
}

func placesOf(points []point, use func(*point) bool) []place {
	var places []place
	for i := range points {
		if use(&points[i]) {
			places = append(places, place{points[i].span, []uint16{uint16(i)}})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.from, b.from), cmp.Compare(a.count, b.count))
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
// the least cost of the first n places, and start[n] where the last request of that begins.
func cheapest(places []place, holes []hole, c cost) []block {
	best, start := make([]float64, len(places)+1), make([]int, len(places)+1)
	for n := 1; n <= len(places); n++ {
		best[n] = math.Inf(1)
		cover := places[n-1].span
		for i := n - 1; i >= 0; i-- {
			cover = join(cover, places[i].span)
			if i < n-1 && !allowed(cover, holes) {
				break
			}
			if sum := best[i] + c.of(cover); sum < best[n] {
				best[n], start[n] = sum, i
			}
		}
	}
	var blocks []block
	for n := len(places); n > 0; n = start[n] {
		blocks = append(blocks, blockOf(places[start[n]:n]))
	}
	slices.Reverse(blocks)
	return blocks
}

func (c cost) of(s span) float64 {
	return c.request + c.register*float64(s.table.bytes(s.count))/2
}

func allowed(s span, holes []hole) bool {
	if s.count > s.table.most() {
		return false
	}
	return !slices.ContainsFunc(holes, func(h hole) bool { return forbids(h, s) })
}

// join is the least run that covers both.
func join(a, b span) span {
	from, to := min(a.from, b.from), max(a.to(), b.to())
	return span{a.table, from, to - from}
}

func blockOf(places []place) block {
	b := block{span: places[0].span, spans: len(places)}
	for _, p := range places {
		b.span = join(b.span, p.span)
		b.points = append(b.points, p.points...)
	}
	return b
}
