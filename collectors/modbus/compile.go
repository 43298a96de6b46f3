package modbus

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gauger/collectors"
	"gauger/collectors/registers"
)

// compile makes the points of a device ready for reading. The device must have passed Check.
func compile(d Device) ([]point, error) {
	points := make([]point, 0, len(d.Points))
	var last *conversion
	for _, p := range d.Points {
		made, m, err := compileOne(d, p)
		if err != nil {
			return nil, fmt.Errorf("point %s/%s: %w", d.Name, p.Name, err)
		}
		if last == nil || *last != m {
			last = new(m)
		}
		made.conversion = last
		points = append(points, made)
	}
	packNames(points)
	for i := range points {
		p := &points[i]
		p.reread = p.reread || p.verify
		if p.verify && p.age != nil {
			points[p.age.index].reread = true
		}
		if p.verify && p.good != nil {
			points[p.good.index].reread = true
		}
	}
	return points, nil
}

// packNames puts the names of the points into one piece of memory: a hundred small ones, scattered among what the
// configuration leaves behind, cost several times as much.
func packNames(points []point) {
	length := 0
	for _, p := range points {
		length += len(p.id)
	}
	var all strings.Builder
	all.Grow(length)
	for _, p := range points {
		all.WriteString(string(p.id))
	}
	rest := collectors.Point(all.String())
	for i := range points {
		n := len(points[i].id)
		points[i].id, rest = rest[:n], rest[n:]
	}
}

// compileOne returns the point still without its conversion, and the conversion.
func compileOne(d Device, p Point) (point, conversion, error) {
	_, table, address, err := p.locate()
	k, kindErr := p.kind(table)
	o, orderErr := registers.ParseOrder(p.Order, p.registers(k))
	if p.Order == "" {
		o, orderErr = registers.ParseOrder(d.Order, 2)
	}
	if err := errors.Join(err, kindErr, orderErr); err != nil {
		return point{}, conversion{}, err
	}
	count := p.registers(k)
	if p.isEnron(d.Enron, k, table) {
		table, count = table.Enron(), 1
	}
	made := point{
		id: collectors.PointOf(d.Name, p.Name), table: table, from: uint16(address), count: uint16(count), verify: p.Verify == "twice",
	}
	m := conversion{unit: collectors.Unit(p.Unit), kind: k, order: o, bit: -1, scale: 1, offset: p.Offset, tolerance: p.Agree, limits: limitsOf(p)}
	if p.Bit != nil {
		m.bit = int8(*p.Bit)
	}
	if p.Scale != nil {
		m.scale = *p.Scale
	}
	m.unscaled = m.scale == 1 && m.offset == 0
	err = m.accompany(d, p)
	return made, m, err
}

func limitsOf(p Point) *valueLimits {
	if p.Range == nil && p.Bad == nil {
		return nil
	}
	l := &valueLimits{low: math.Inf(-1), high: math.Inf(1), bad: p.Bad}
	if p.Range != nil {
		l.low, l.high = p.Range[0], p.Range[1]
	}
	return l
}

// optionsError turns what Check and Conflicts find into one error.
func optionsError(devices []Device) error {
	var errs []error
	for _, d := range devices {
		for _, p := range d.Check() {
			errs = append(errs, fmt.Errorf("device %s: %s: %s", d.Name, p.Path, p.Message))
		}
	}
	for _, c := range Conflicts(devices) {
		errs = append(errs, fmt.Errorf("device %s: %s: %s", devices[c.Device].Name, c.Path, c.Message))
	}
	return errors.Join(errs...)
}
