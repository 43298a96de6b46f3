package ledger

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gauger/agent/tank"
	"gauger/collectors"
)

// Origin is how the value of a point comes about: a number that is read somewhere, times Scale, and Add more, in Unit.
type Origin struct {
	Place      string          `json:",omitempty"` // address or port of the device, where it has one
	Source     string          `json:",omitempty"` // where the number is read there and how its bits become one; empty: not known
	Unit       collectors.Unit `json:",omitempty"`
	Scale, Add float64         `json:",omitempty"`
}

// pointOrigin is a point with what its value is made of.
type pointOrigin struct {
	Point collectors.Point `json:",omitempty"`
	Origin
}

// origin is how a point's value comes about by the configuration; nothing for a point that it does not have.
func (s Site) origin(p collectors.Point) Origin {
	if s.OriginOf == nil {
		return Origin{}
	}
	return s.OriginOf(p)
}

func (s Site) pointOrigin(p collectors.Point) pointOrigin {
	if p == "" {
		return pointOrigin{}
	}
	return pointOrigin{p, s.origin(p)}
}

// levelSetting is everything that decides what a level in inches is: two levels compare only by one setting.
type levelSetting struct {
	pointOrigin
	Offset, Height tank.Length
}

// levelSetting is the setting of the setup's level.
func (g *setup) levelSetting() levelSetting {
	return levelSetting{pointOrigin{g.Level, g.Origin}, g.Offset, g.Height}
}

// interfaceSetting is the setting of the setup's oil/water interface.
func (g *setup) interfaceSetting() levelSetting { return levelSetting{g.Interface, g.Offset, g.Height} }

// toInches gives an input the inches of a reading by the setting; one in no unit of length is not good.
func (s levelSetting) toInches(r collectors.Reading, x *tank.Input) {
	in, err := LevelInches(r.Value, r.Unit, float64(s.Height))
	x.Value, x.Good = in+float64(s.Offset), x.Good && err == nil
}

// linear is how inches follow from the number that is read: so many for each one, and so many more.
func (s levelSetting) linear() (each, more float64, ok bool) {
	one, err := LevelInches(1, s.Unit, float64(s.Height))
	each = one * cmp.Or(s.Scale, 1)
	return each, one*s.Add + float64(s.Offset), err == nil && each != 0
}

// sameSource says that two settings rest on the same number. A point that is read as before at another address is behind
// another modem or adapter.
func (s levelSetting) sameSource(o levelSetting) bool {
	if s.Source == "" || o.Source == "" {
		return s.Point == o.Point
	}
	return s.Source == o.Source && (s.Place == o.Place || s.Point == o.Point)
}

// conversionTo is how a level by this setting reads by another one, where both rest on the same number. A gauge that was turned
// upside down (a distance in place of a level) compares with nothing before.
func (s levelSetting) conversionTo(o levelSetting) tank.Conversion {
	each, more, ok := s.linear()
	eachNow, moreNow, okNow := o.linear()
	if !ok || !okNow || !s.sameSource(o) || eachNow/each <= 0 {
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

// levelCorrections names what was changed of how a level is made, where that makes other inches of what is read: whoever changed
// it says that the old was wrong. Empty: nothing.
func (g *setup) levelCorrections(want *setup) string {
	have, now := g.levelSetting(), want.levelSetting()
	if have == now || have.conversionTo(now) == tank.Unchanged {
		return ""
	}
	short, _ := want.changesFrom(g)
	return strings.Join(slices.DeleteFunc(short, func(s string) bool {
		return s != "offset" && s != "height" && !strings.HasPrefix(s, "level ") || s == "level address"
	}), " and ")
}
