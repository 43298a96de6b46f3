package modbus

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gauger/collectors"
	"gauger/collectors/registers"
)

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
