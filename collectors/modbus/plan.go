package modbus

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"gauger/collectors/modbus/line"
)

// maxPoints of one device that a block can number.
const maxPoints = 1 << 16

// block is one request: a run of addresses and the points whose values lie in it.
type block struct {
	line.Span
	points []uint16 // indices, in the order of their addresses
	spans  int      // how many different places those points have
	gaps   int      // addresses that no point wants
}

// hole is a run of addresses that the unit refuses to read together with others: a register that it does not
// have, or, when count is 0, a border that no request may cross.
type hole = line.Span

// crosses says whether a request must not cover s because of hole h.
func crosses(h hole, s line.Span) bool {
	if h.Table != s.Table {
		return false
	}
	if h.Count == 0 {
		return s.From < h.From && h.From < s.End()
	}
	return h.From < s.End() && s.From < h.End()
}

// place is one run of addresses that some points share. It is never cut.
type place struct {
	line.Span
	points []uint16
}

// planLimits of the requests that a plan makes.
type planLimits struct {
	cost         line.Cost
	maxRegisters int    // most in one request; 0: what the standard allows
	maxBits      int    // the same for coils and discrete inputs
	holes        []hole // learnt, and forbidden by the configuration
}

// plan finds the cheapest set of requests for the points that use accepts, around the holes. A place that is
// itself a hole, or lies in one, is asked for alone.
func plan(points []point, use func(*point) bool, t planLimits) []block {
	places := placesOf(points, use)
	var blocks []block
	for len(places) > 0 {
		n := 1
		for n < len(places) && places[n].Table == places[0].Table {
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
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.From, b.From), cmp.Compare(a.Count, b.Count)) < 0
	})
	merged := places[:0]
	for _, p := range places {
		if last := len(merged) - 1; last >= 0 && merged[last].Span == p.Span {
			merged[last].points = append(merged[last].points, p.points...)
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

// cheapest cuts the sorted places of one table into requests so that the sum of their costs is least: best[n] is
// that of the first n places, and where the last request of it begins.
func (t planLimits) cheapest(places []place) []block {
	best := make([]struct {
		cost  time.Duration
		start int
	}, len(places)+1)
	for n := 1; n <= len(places); n++ {
		best[n].cost = math.MaxInt64
		cover := places[n-1].Span
		for i := n - 1; i >= 0; i-- {
			cover = union(cover, places[i].Span)
			if i < n-1 && !t.allows(cover) {
				break
			}
			if sum := best[i].cost + t.cost.Price(cover); sum < best[n].cost {
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

func (t planLimits) allows(s line.Span) bool {
	return s.Count <= t.maxQuantity(s.Table) && !slices.ContainsFunc(t.holes, func(h hole) bool { return crosses(h, s) })
}

// maxQuantity of a table's addresses in one request.
func (t planLimits) maxQuantity(table line.Table) int {
	limit := t.maxRegisters
	switch {
	case table.IsBits():
		limit = t.maxBits
	case table.IsEnron():
		limit = (t.maxRegisters + 1) / 2 // of 32 bits
	}
	if limit == 0 {
		return table.MaxQuantity()
	}
	return min(limit, table.MaxQuantity())
}

// union is the least run that covers both.
func union(a, b line.Span) line.Span {
	from, to := min(a.From, b.From), max(a.End(), b.End())
	return line.Span{Table: a.Table, From: from, Count: to - from}
}

// blockOf is the request for places, which are sorted.
func blockOf(places []place) block {
	b := block{Span: places[0].Span, spans: len(places)}
	for _, p := range places {
		b.gaps += max(0, p.From-b.End())
		b.Span = union(b.Span, p.Span)
		b.points = append(b.points, p.points...)
	}
	return b
}

// planLimits are the options' limits, for requests behind an endpoint.
func (d Device) planLimits(at line.Endpoint) planLimits {
	t := planLimits{cost: at.Cost(d.Turnaround), maxRegisters: d.MaxRegisters, maxBits: d.MaxBits}
	for _, f := range d.Forbidden {
		if s, err := f.span(); err == nil { // Check has told of the others
			t.holes = append(t.holes, s)
			if enron := s.Table.Enron(); enron != s.Table {
				t.holes = append(t.holes, line.Span{Table: enron, From: s.From, Count: s.Count})
			}
		}
	}
	return t
}

// span reads the run, and says what is wrong with it.
func (f Forbidden) span() (line.Span, error) {
	key, table, from, err := Point{Holding: f.Holding, Input: f.Input, Coil: f.Coil, Discrete: f.Discrete}.locate()
	count := cmp.Or(f.Count, 1)
	switch {
	case key == "name":
		return line.Span{}, errors.New("nothing says where; one of holding, input, coil, discrete: {holding: 200, count: 10}")
	case err != nil:
		return line.Span{}, err
	case count < 1 || from+count > 1<<16:
		return line.Span{}, fmt.Errorf("count %d: 1 to %d from %s %d on", f.Count, 1<<16-from, key, from)
	}
	return line.Span{Table: table, From: from, Count: count}, nil
}

// checkLimits checks what the unit may be asked for, and how often.
func (c *checker) checkLimits(d Device) {
	if d.EveryWhileLoading < 0 || d.EveryWhileLoading > 0 && d.EveryWhileLoading >= cmp.Or(d.Every, defaultEvery) {
		c.add("every_while_loading", "%s: shorter than every (%s), or leave it out", d.EveryWhileLoading, cmp.Or(d.Every, defaultEvery))
	}
	if d.Turnaround < 0 || d.Turnaround > time.Minute {
		c.add("turnaround", "%s: how long the unit thinks before it answers, such as 5ms", d.Turnaround)
	}
	if d.MaxRegisters < 0 || d.MaxRegisters > line.Holding.MaxQuantity() {
		c.add("max_registers", "%d: 1 to %d", d.MaxRegisters, line.Holding.MaxQuantity())
	}
	if d.MaxBits < 0 || d.MaxBits > line.Coil.MaxQuantity() {
		c.add("max_bits", "%d: 1 to %d", d.MaxBits, line.Coil.MaxQuantity())
	}
	for i, f := range d.Forbidden {
		if _, err := f.span(); err != nil {
			c.add(fmt.Sprintf("forbidden[%d]", i), "%s", err)
		}
	}
}

// checkAllowed checks that the unit may be asked for a point at all.
func (c *checker) checkAllowed(d Device, p Point) {
	key, table, from, err := p.locate()
	k, kindErr := p.kind(table)
	if err != nil || kindErr != nil {
		return // told already
	}
	s := line.Span{Table: table, From: from, Count: p.registers(k)}
	if p.isEnron(d.Enron, k, table) {
		s.Count = 1
	}
	t := planLimits{maxRegisters: max(0, d.MaxRegisters), maxBits: max(0, d.MaxBits)}
	if most := t.maxQuantity(table); s.Count > most {
		c.add(key, "%s takes %d registers, and max_registers allows %d in one request", k, s.Count, most)
	}
	for i, f := range d.Forbidden {
		if other, err := f.span(); err == nil && other.Overlaps(s) {
			c.add(key, "%s is what forbidden[%d] rules out (%s); correct one of them", s, i, other)
		}
	}
}
