package modbus

import (
	"errors"
	"fmt"
	"math"

	"gauger/collectors"
)

// compile makes the points of a device ready for reading. The device must have passed Check.
func compile(d Device) ([]point, error) {
	points := make([]point, 0, len(d.Points))
	for _, p := range d.Points {
		made, err := compilePoint(d, p)
		if err != nil {
			return nil, fmt.Errorf("point %s/%s: %w", d.Name, p.Name, err)
		}
		if last := len(points) - 1; last >= 0 && *points[last].manner == *made.manner {
			made.manner = points[last].manner
		}
		points = append(points, made)
	}
	for i := range points {
		p := &points[i]
		p.again = p.again || p.twice
		if p.twice && p.age != nil {
			points[p.age.index].again = true
		}
		if p.twice && p.good != nil {
			points[p.good.index].again = true
		}
	}
	return points, nil
}

func compilePoint(d Device, p Point) (point, error) {
	_, table, address, err := p.place()
	k, kindErr := p.kind(table)
	o, orderErr := parseOrder(p.Order, p.count(k))
	if p.Order == "" {
		o, orderErr = parseOrder(d.Order, 2)
	}
	if err := errors.Join(err, kindErr, orderErr); err != nil {
		return point{}, err
	}
	count := p.count(k)
	if p.enron(d.Enron, k, table) {
		table, count = table.withEnron(), 1
	}
	made := point{
		id: collectors.PointOf(d.Name, p.Name), span: span{table, address, count}, twice: p.Verify == "twice",
		manner: &manner{unit: collectors.Unit(p.Unit), kind: k, order: o, bit: -1, scale: 1, offset: p.Offset, agree: p.Agree},
	}
	if p.Bit != nil {
		made.bit = int8(*p.Bit)
	}
	if p.Scale != nil {
		made.scale = *p.Scale
	}
	made.plain = made.scale == 1 && made.offset == 0
	made.limits = limitsOf(p)
	return made, made.accompany(d, p)
}

func limitsOf(p Point) *limits {
	if p.Range == nil && p.Bad == nil {
		return nil
	}
	l := &limits{low: math.Inf(-1), high: math.Inf(1), bad: p.Bad}
	if p.Range != nil {
		l.low, l.high = p.Range[0], p.Range[1]
	}
	return l
}

// problems turns what Check and Conflicts find into one error.
func problems(devices []Device) error {
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
