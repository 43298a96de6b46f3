package modbus

import (
	"math"
	"slices"

	"gauger/collectors"
	"gauger/collectors/registers"
)

// Companion is a point that another one rests on, and the key that names it.
type Companion struct {
	Key   string // age.point or good_when.point
	Point string // name within the device
}

// Companions are the points of the same device that p rests on. They are read in the same round.
func (p Point) Companions() []Companion {
	var all []Companion
	if p.Age != nil {
		all = append(all, Companion{"age.point", p.Age.Point})
	}
	if p.GoodWhen != nil {
		all = append(all, Companion{"good_when.point", p.GoodWhen.Point})
	}
	return all
}

// accompany ties a compiled point to its companions. The device must have passed Check.
func (m *conversion) accompany(d Device, p Point) error {
	index := func(name string) int {
		return slices.IndexFunc(d.Points, func(c Point) bool { return c.Name == name })
	}
	if g := p.GoodWhen; g != nil {
		m.good = &goodRule{index(g.Point), *g}
	}
	a := p.Age
	if a == nil {
		return nil
	}
	i := index(a.Point)
	word, unit, err := a.stepOf(d.Points[i])
	m.age = &ageRule{index: i, max: a.Max, countsDownFrom: math.NaN(), step: unit, unitName: word}
	if a.DownFrom != nil {
		m.age.countsDownFrom = *a.DownFrom
	}
	return err
}

// applyCompanions lets the companions speak about every value of the round that is not Bad by itself.
func (s *round) applyCompanions() {
	for i := range s.device.points {
		p, r := &s.device.points[i], &s.batch[i]
		if r.Quality == collectors.Bad {
			continue
		}
		if p.good != nil {
			if why := p.good.whyNot(s.batch[p.good.index]); why != nil {
				asked := r.Asked
				*r = p.badReading(r.At, why)
				r.Asked = asked
				continue
			}
		}
		if p.age != nil {
			*r = p.age.backdate(*r, s.batch[p.age.index])
		}
	}
}

// checkCompanions checks what a point says about those that it rests on.
func (c *checker) checkCompanions(d Device, p Point) {
	for _, ref := range p.Companions() {
		i := slices.IndexFunc(d.Points, func(o Point) bool { return o.Name == ref.Point })
		switch {
		case i < 0:
			c.add(ref.Key, "%q: no point of this device has that name", ref.Point)
		case ref.Point == p.Name:
			c.add(ref.Key, "%s cannot speak about itself", p.Name)
		case d.Points[i].Type == registers.String.String():
			c.add(ref.Key, "%s is a text; a number is needed", ref.Point)
		case d.Points[i].Age != nil || d.Points[i].GoodWhen != nil:
			c.add(ref.Key, "%s rests on another point itself; name one that does not", ref.Point)
		default:
			c.checkCompanion(ref.Key, p, d.Points[i])
		}
	}
}

func (c *checker) checkCompanion(key string, p, other Point) {
	if key == "age.point" {
		c.checkAge(*p.Age, other)
		return
	}
	if err := p.GoodWhen.check(other); err != nil {
		c.add("good_when", "%s", err)
	}
}
