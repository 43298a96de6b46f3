package modbus

import (
	"errors"
	"fmt"
	"math"
	"slices"
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
	packNames(d, points)
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
func packNames(d Device, points []point) {
	var all []byte
	for i := range points {
		from := len(all)
		all = append(all, collectors.PointOf(d.Name, d.Points[i].Name)...)
		points[i].nameAt, points[i].nameLength = uint32(from), uint32(len(all)-from)
	}
	names := string(all)
	for i := range points {
		points[i].names = names
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
		table: table, from: uint16(address), count: uint16(count), verify: p.Verify == "twice",
	}
	m := conversion{unit: collectors.Unit(p.Unit), kind: k, order: o, bit: -1, scale: 1, offset: p.Offset, tolerance: p.Agree, most: mostOf(collectors.Unit(p.Unit)), limits: limitsOf(p)}
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

// GoodWhen names the point that says whether a value is any good. Exactly one of Is, Not, Between and Clear is set.
type GoodWhen struct {
	Point   string    `yaml:"point" doc:"point of this device that says whether the value is good"`
	Is      []float64 `yaml:"is" doc:"numbers of that point at which the value is good; at others it is Bad"`
	Not     []float64 `yaml:"not" doc:"numbers of that point at which the value is Bad; at others it is good"`
	Between []float64 `yaml:"between" doc:"[low, high] of that point, both included, within which the value is good"`
	Clear   []int     `yaml:"clear" doc:"bits of that point that must not be set, 0 (least) to 15, or 31 of a uint32"`
}

// goodRule is a GoodWhen made ready for reading.
type goodRule struct {
	index int
	GoodWhen
}

// whyNot says why the companion's reading makes the value Bad; nil when it does not.
func (g *goodRule) whyNot(c collectors.Reading) error {
	if c.Quality != collectors.Good {
		return fmt.Errorf("%s, which says whether this value is good, is %s: %w", c.Point, c.Quality, c.Err)
	}
	v := c.Value
	switch {
	case g.Is != nil && !slices.Contains(g.Is, v):
		return fmt.Errorf("%s says %s; the value is good at %s only", c.Point, plainNumber(v), numbers(g.Is))
	case g.Not != nil && slices.Contains(g.Not, v):
		return fmt.Errorf("%s says %s; the value is no good then", c.Point, plainNumber(v))
	case g.Between != nil && (v < g.Between[0] || v > g.Between[1]):
		return fmt.Errorf("%s says %s; the value is good from %v to %v only", c.Point, plainNumber(v), g.Between[0], g.Between[1])
	}
	for _, bit := range g.Clear {
		if bits := uint32(v); bits>>bit&1 == 1 {
			return fmt.Errorf("%s says 0x%04X; the value is no good while bit %d is set", c.Point, bits, bit)
		}
	}
	return nil
}

func numbers(list []float64) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = plainNumber(v)
	}
	return strings.Join(words, ", ")
}

func (g GoodWhen) check(other Point) error {
	given := 0
	for _, there := range []bool{g.Is != nil, g.Not != nil, g.Between != nil, g.Clear != nil} {
		if there {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("exactly one of is, not, between and clear says when the value is good: is: [0]")
	case g.Between != nil && (len(g.Between) != 2 || !(g.Between[0] <= g.Between[1])):
		return fmt.Errorf("between %v: [low, high], the lower one first", g.Between)
	case len(g.Is)+len(g.Not)+len(g.Between)+len(g.Clear) == 0:
		return errors.New("an empty list says nothing; write is: [0]")
	}
	return g.checkBits(other)
}

func (g GoodWhen) checkBits(other Point) error {
	if g.Clear == nil {
		return nil
	}
	_, table, _, err := other.locate()
	k, kindErr := other.kind(table)
	if err != nil || kindErr != nil {
		return nil // told with that point
	}
	if k != registers.Uint16 && k != registers.Uint32 || other.Scale != nil || other.Offset != 0 {
		return fmt.Errorf("clear looks at bits; %s must be uint16 or uint32 without scale and offset", other.Name)
	}
	for _, bit := range g.Clear {
		if most := 16*k.Registers() - 1; bit < 0 || bit > most {
			return fmt.Errorf("clear %d: the bits of %s go from 0 (least) to %d", bit, other.Name, most)
		}
	}
	return nil
}
