package modbus

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"gauger/collectors"
	"gauger/collectors/registers"
)

// Age names the point that says how old a value is. Gateways have one where they keep what a radio node sent last:
// minutes since its check-in, or minutes until its time-out.
type Age struct {
	Point    string        `yaml:"point" doc:"point of this device that says how old the value is"`
	Max      time.Duration `yaml:"max" doc:"a value older than this is Bad"`
	DownFrom *float64      `yaml:"down_from" doc:"that point counts down to a time-out, from this number: the age is this less the point"`
	Unit     string        `yaml:"unit" doc:"what one of that point is: ms s min h. Default: the point's own unit"`
}

// ageRule is an Age made ready for reading, and what it has dated last.
type ageRule struct {
	index          int // of the companion among the device's points
	max            time.Duration
	countsDownFrom float64 // of a countdown; NaN: the companion is the age
	step           time.Duration
	unitName       string // the unit's name
	newest         datedSample
}

var ageUnits = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "min": time.Minute, "h": time.Hour}

// stepOf is the unit of the age's point c.
func (a Age) stepOf(c Point) (word string, of time.Duration, err error) {
	key, word := "unit", a.Unit
	if word == "" {
		key, word = "unit of "+c.Name, c.Unit
	}
	if of = ageUnits[word]; of == 0 {
		return "", 0, fmt.Errorf("%s is %q, which is no time; write unit: ms, s, min or h", key, word)
	}
	return word, of, nil
}

func (a *ageRule) age(c collectors.Reading) (time.Duration, error) {
	if c.Quality != collectors.Good {
		return 0, fmt.Errorf("how old it is cannot be told: %s is %s: %w", c.Point, c.Quality, c.Err)
	}
	age := c.Value
	if !math.IsNaN(a.countsDownFrom) {
		age = a.countsDownFrom - c.Value
		if c.Value < 0 || age < 0 {
			return 0, fmt.Errorf("how old it is cannot be told: %s says %v, and counts down from %v", c.Point, c.Value, a.countsDownFrom)
		}
	}
	const longest = 100 * 365 * 24 * time.Hour
	if age < 0 || age*float64(a.step) > float64(longest) {
		return 0, fmt.Errorf("how old it is cannot be told: %s says %v %s", c.Point, c.Value, a.unitName)
	}
	return time.Duration(age * float64(a.step)), nil
}

// datedSample is the newest value that came with an age.
type datedSample struct {
	value     float64
	text      string
	at        time.Time // when it was true; zero: nothing is known yet
	confirmed time.Time // when the age was last asked for and this was still the newest
}

// ageSlack allows for the time on the line: two instants of one sample lie apart by that, beside the step of its age.
const ageSlack = 2 * time.Second

// backdate puts a good value where its age says. An age is coarse, so that the instant that follows from it wanders
// by up to one unit from poll to poll; the same value within that is the same sample, and keeps the first instant.
// A new sample is dated by its age, but not before the moment when the old one was still the newest.
func (a *ageRule) backdate(r, c collectors.Reading) collectors.Reading {
	age, err := a.age(c)
	if err != nil {
		r.Quality, r.Err = collectors.Uncertain, err
		return r
	}
	last, before := &a.newest, a.newest.confirmed
	last.confirmed = c.At
	if age > a.max {
		r.Value, r.Text, r.Quality, r.Err = math.NaN(), "", collectors.Bad, a.tooOld(age, c.Point)
		return r
	}
	at := c.At.Add(-age)
	same := (r.Value == last.value || math.IsNaN(r.Value)) && r.Text == last.text && at.Sub(last.at) <= a.step+ageSlack
	if last.at.IsZero() || !same {
		if at.Before(before) {
			at = before
		}
		last.value, last.text, last.at = r.Value, r.Text, at
	}
	r.At = last.at
	return r
}

func (a *ageRule) tooOld(age time.Duration, by collectors.Point) error {
	steps := func(d time.Duration) float64 { return float64(d) / float64(a.step) }
	return fmt.Errorf("%.4g %s old by %s; more than %.4g %s is not believed", steps(age), a.unitName, by, steps(a.max), a.unitName)
}

// planAgesFirst puts requests that read an age before those that read only values: a check-in between the two then
// makes the new value look old for one poll, and never an old value new.
func (d *device) planAgesFirst() {
	ages := map[uint16]bool{}
	for _, p := range d.points {
		if p.age != nil {
			ages[uint16(p.age.index)] = true
		}
	}
	tells := func(b block) bool { return slices.ContainsFunc(b.points, func(i uint16) bool { return ages[i] }) }
	sort.SliceStable(d.blocks, func(i, j int) bool { return tells(d.blocks[i]) && !tells(d.blocks[j]) })
}

func (c *checker) checkAge(a Age, other Point) {
	_, unit, err := a.stepOf(other)
	if err != nil {
		c.add("age.unit", "%s", err)
	}
	if a.Max <= 0 {
		c.add("age.max", "%s: longer than zero, such as 30m: how old a value may be", a.Max)
	}
	if a.DownFrom == nil {
		return
	}
	if !(*a.DownFrom > 0) {
		c.add("age.down_from", "%v: the number that %s begins at, more than zero", *a.DownFrom, other.Name)
	} else if err == nil && float64(a.Max) > *a.DownFrom*float64(unit) {
		c.add("age.max", "%s is never reached: %s counts down from %v", a.Max, other.Name, *a.DownFrom)
	}
}

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
