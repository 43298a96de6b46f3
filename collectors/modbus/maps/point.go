package maps

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gauger/collectors/modbus"
)

// add takes a point over under a name of its own.
func (m *Map) add(p modbus.Point, name, about string) {
	p.Name = m.fresh(pointName(name))
	m.Points = append(m.Points, p)
	if about = strings.Join(strings.Fields(about), " "); about != "" {
		if m.About == nil {
			m.About = map[string]string{}
		}
		m.About[p.Name] = about
	}
}

func (m *Map) leave(name, format string, args ...any) {
	m.Left = append(m.Left, name+": "+fmt.Sprintf(format, args...))
}

func (m *Map) fresh(name string) string {
	taken := func(n string) bool {
		return slices.ContainsFunc(m.Points, func(p modbus.Point) bool { return p.Name == n })
	}
	fresh := name
	for n := 2; taken(fresh); n++ {
		fresh = fmt.Sprintf("%s-%d", name, n)
	}
	return fresh
}

// pointName is a tag's name in letters, digits and dashes.
func pointName(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
	if len(words) == 0 {
		return "value"
	}
	return strings.ToLower(strings.Join(words, "-"))
}

// place sets where a point is: table is 0, 1, 3 or 4 as in Modicon's numbers, address zero-based.
func place(p *modbus.Point, table byte, address int) error {
	if address < 0 || address > 65535 {
		return fmt.Errorf("address %d: they go from 0 to 65535 on the wire", address)
	}
	switch table {
	case '0':
		p.Coil = &address
	case '1':
		p.Discrete = &address
	case '3':
		p.Input = &address
	case '4':
		p.Holding = &address
	default:
		return errors.New("no table of Modbus")
	}
	return nil
}

// isBits says that a point is a coil or a discrete input, which have no type.
func isBits(p modbus.Point) bool { return p.Coil != nil || p.Discrete != nil }

// wide says that a type takes more than one register, so that their order counts.
func wide(kind string) bool {
	return strings.HasSuffix(kind, "32") || strings.HasSuffix(kind, "64")
}

// scaling is a line between two ranges, as lists of tags have it.
func scaling(p *modbus.Point, rawLow, rawHigh, low, high string) error {
	var v [4]float64
	for i, text := range []string{rawLow, rawHigh, low, high} {
		var err error
		if v[i], err = strconv.ParseFloat(text, 64); err != nil {
			return fmt.Errorf("its scaling has %q where a number is wanted", text)
		}
	}
	if v[0] == v[1] {
		return errors.New("its scaling has no raw range")
	}
	scale := (v[3] - v[2]) / (v[1] - v[0])
	p.Scale, p.Offset = &scale, v[2]-v[0]*scale
	return nil
}

// units are our words for those that lists of tags have.
var units = map[string]string{
	"in": "in", "inch": "in", "inches": "in", `"`: "in", "ft": "ft", "feet": "ft", "foot": "ft", "'": "ft", "m": "m", "cm": "cm", "mm": "mm",
	"%": "percent", "percent": "percent", "pct": "percent", "f": "degF", "degf": "degF", "°f": "degF", "deg f": "degF", "c": "degC", "degc": "degC", "°c": "degC",
	"deg c": "degC", "bbl": "bbl", "bbls": "bbl", "barrels": "bbl", "psi": "psi", "psig": "psi",
}

func unit(text string) string {
	if known, ok := units[strings.ToLower(strings.TrimSpace(text))]; ok {
		return known
	}
	return strings.TrimSpace(text)
}
