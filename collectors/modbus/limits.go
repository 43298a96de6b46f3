package modbus

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// terms are what the options ask of the plan behind an endpoint.
func (d Device) terms(at endpoint) terms {
	t := terms{cost: at.cost(d.Turnaround), registers: d.MaxRegisters, bits: d.MaxBits}
	for _, f := range d.Forbidden {
		if s, err := f.span(); err == nil { // Check has told of the others
			t.holes = append(t.holes, s)
			if enron := s.table.withEnron(); enron != s.table {
				t.holes = append(t.holes, span{enron, s.from, s.count})
			}
		}
	}
	return t
}

// span is where the run lies.
func (f Forbidden) span() (span, error) {
	key, table, from, err := Point{Holding: f.Holding, Input: f.Input, Coil: f.Coil, Discrete: f.Discrete}.place()
	count := cmp.Or(f.Count, 1)
	switch {
	case key == "name":
		return span{}, errors.New("nothing says where; one of holding, input, coil, discrete: {holding: 200, count: 10}")
	case err != nil:
		return span{}, err
	case count < 1 || from+count > 1<<16:
		return span{}, fmt.Errorf("count %d: 1 to %d from %s %d on", f.Count, 1<<16-from, key, from)
	}
	return span{table, from, count}, nil
}

// limits checks what the unit may be asked for, and how often.
func (c *checker) limits(d Device) {
	if d.EveryWhileLoading < 0 || d.EveryWhileLoading > 0 && d.EveryWhileLoading >= cmp.Or(d.Every, DefaultEvery) {
		c.add("every_while_loading", "%s: shorter than every (%s), or leave it out", d.EveryWhileLoading, cmp.Or(d.Every, DefaultEvery))
	}
	if d.Turnaround < 0 || d.Turnaround > time.Minute {
		c.add("turnaround", "%s: how long the unit thinks before it answers, such as 5ms", d.Turnaround)
	}
	if d.MaxRegisters < 0 || d.MaxRegisters > Holding.most() {
		c.add("max_registers", "%d: 1 to %d", d.MaxRegisters, Holding.most())
	}
	if d.MaxBits < 0 || d.MaxBits > Coil.most() {
		c.add("max_bits", "%d: 1 to %d", d.MaxBits, Coil.most())
	}
	for i, f := range d.Forbidden {
		if _, err := f.span(); err != nil {
			c.add(fmt.Sprintf("forbidden[%d]", i), "%s", err)
		}
	}
}

// allowed checks that the unit may be asked for a point at all.
func (c *checker) allowed(d Device, p Point) {
	key, table, from, err := p.place()
	k, kindErr := p.kind(table)
	if err != nil || kindErr != nil {
		return // told already
	}
	s := span{table, from, p.count(k)}
	if p.enron(d.Enron, k, table) {
		s.count = 1
	}
	t := terms{registers: max(0, d.MaxRegisters), bits: max(0, d.MaxBits)}
	if most := t.most(table); s.count > most {
		c.add(key, "%s takes %d registers, and max_registers allows %d in one request", k, s.count, most)
	}
	for i, f := range d.Forbidden {
		if other, err := f.span(); err == nil && overlap(other, s) {
			c.add(key, "%s is what forbidden[%d] rules out (%s); correct one of them", s, i, other)
		}
	}
}

// String is the run as a person writes it: "holding 100-103".
func (s span) String() string {
	if s.count == 1 {
		return fmt.Sprintf("%s %d", s.table, s.from)
	}
	return fmt.Sprintf("%s %d-%d", s.table, s.from, s.to()-1)
}
