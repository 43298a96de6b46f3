package agent

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gauger/agent/tank"
	"gauger/collectors"
)

// Making is how the value of a point comes about: a number that is read somewhere, times Scale, and Add more, in Unit.
type Making struct {
	Place      string          `json:",omitempty"` // address or port of the device, where it has one
	Source     string          `json:",omitempty"` // where the number is read there and how its bits become one; empty: not known
	Unit       collectors.Unit `json:",omitempty"`
	Scale, Add float64         `json:",omitempty"`
}

// sourced is a point with what its value is made of.
type sourced struct {
	Point collectors.Point `json:",omitempty"`
	Making
}

// making is how a point's value comes about by the configuration; nothing for a point that it does not have.
func (s Site) making(p collectors.Point) Making {
	if s.Making == nil {
		return Making{}
	}
	return s.Making(p)
}

func (s Site) sourced(p collectors.Point) sourced {
	if p == "" {
		return sourced{}
	}
	return sourced{p, s.making(p)}
}

// setting is everything that decides what a level in inches is: two levels compare only by one setting.
type setting struct {
	sourced
	Offset, Height tank.Length
}

// level is the setting of the gear's level.
func (g *gear) level() setting { return setting{sourced{g.Level, g.Making}, g.Offset, g.Height} }

// water is the setting of the gear's oil/water interface.
func (g *gear) water() setting { return setting{g.Interface, g.Offset, g.Height} }

// read gives an input the inches of a reading by the setting; one in no unit of length is not good.
func (s setting) read(r collectors.Reading, x *tank.Input) {
	in, err := LevelInches(r.Value, r.Unit, float64(s.Height))
	x.Value, x.Good = in+float64(s.Offset), x.Good && err == nil
}

// line is how inches follow from the number that is read: so many for each one, and so many more.
func (s setting) line() (each, more float64, ok bool) {
	one, err := LevelInches(1, s.Unit, float64(s.Height))
	each = one * cmp.Or(s.Scale, 1)
	return each, one*s.Add + float64(s.Offset), err == nil && each != 0
}

// reads says that two settings rest on the same number. A point that is read as before at another address is behind
// another modem or adapter.
func (s setting) reads(o setting) bool {
	if s.Source == "" || o.Source == "" {
		return s.Point == o.Point
	}
	return s.Source == o.Source && (s.Place == o.Place || s.Point == o.Point)
}

// into is how a level by this setting reads by another one, where both rest on the same number. A gauge that was turned
// upside down (a distance in place of a level) compares with nothing before.
func (s setting) into(o setting) tank.Conversion {
	each, more, ok := s.line()
	eachNow, moreNow, okNow := o.line()
	if !ok || !okNow || !s.reads(o) || eachNow/each <= 0 {
		return tank.Conversion{}
	}
	c := tank.Conversion{Ratio: eachNow / each}
	if math.Abs(c.Ratio-1) < 1e-9 {
		c.Ratio = 1
	}
	if c.Add = moreNow - c.Ratio*more; math.Abs(c.Add) < 1e-6 {
		c.Add = 0
	}
	return c
}

// corrected names what was changed of how a level is made, where that makes other inches of what is read: whoever changed
// it says that the old was wrong. Empty: nothing.
func (g *gear) corrected(want *gear) string {
	have, now := g.level(), want.level()
	if have == now || have.into(now) == tank.Unchanged {
		return ""
	}
	short, _ := want.changes(g)
	return strings.Join(slices.DeleteFunc(short, func(s string) bool {
		return s != "offset" && s != "height" && !strings.HasPrefix(s, "level ") || s == "level address"
	}), " and ")
}
