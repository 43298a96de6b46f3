package modbus

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"gauger/collectors/modbus/line"
)

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
