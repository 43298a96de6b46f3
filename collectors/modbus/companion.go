package modbus

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gauger/collectors"
)

// Age names the point that says how old a value is. Gateways have one where they keep what a radio node sent last:
// minutes since its check-in, or minutes until its time-out.
type Age struct {
	Point    string        `yaml:"point" doc:"point of this device that says how old the value is"`
	Max      time.Duration `yaml:"max" doc:"a value older than this is Bad"`
	DownFrom *float64      `yaml:"down_from" doc:"that point counts down to a time-out, from this number: the age is this less the point"`
	Unit     string        `yaml:"unit" doc:"what one of that point is: ms s min h. Default: the point's own unit"`
}

// GoodWhen names the point that says whether a value is any good. Exactly one of Is, Not, Between and Clear is set.
type GoodWhen struct {
	Point   string    `yaml:"point" doc:"point of this device that says whether the value is good"`
	Is      []float64 `yaml:"is" doc:"numbers of that point at which the value is good; at others it is Bad"`
	Not     []float64 `yaml:"not" doc:"numbers of that point at which the value is Bad; at others it is good"`
	Between []float64 `yaml:"between" doc:"[low, high] of that point, both included, within which the value is good"`
	Clear   []int     `yaml:"clear" doc:"bits of that point that must not be set, 0 (least) to 63"`
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

// ageRule is an Age made ready for reading.
type ageRule struct {
	index int // of the companion among the device's points
	max   time.Duration
	from  float64 // of a countdown; NaN: the companion is the age
	unit  time.Duration
	word  string // the unit's name
}

// goodRule is a GoodWhen made ready for reading.
type goodRule struct {
	index int
	GoodWhen
}

var ageUnits = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "min": time.Minute, "h": time.Hour}

// unit is what one of the age's point is; c is that point.
func (a Age) unit(c Point) (word string, of time.Duration, err error) {
	key, word := "unit", a.Unit
	if word == "" {
		key, word = "unit of "+c.Name, c.Unit
	}
	if of = ageUnits[word]; of == 0 {
		return "", 0, fmt.Errorf("%s is %q, which is no time; write unit: ms, s, min or h", key, word)
	}
	return word, of, nil
}

// accompany ties a compiled point to its companions. The device must have passed Check.
func (made *point) accompany(d Device, p Point) error {
	index := func(name string) int {
		return slices.IndexFunc(d.Points, func(c Point) bool { return c.Name == name })
	}
	if g := p.GoodWhen; g != nil {
		made.good = &goodRule{index(g.Point), *g}
	}
	a := p.Age
	if a == nil {
		return nil
	}
	i := index(a.Point)
	word, unit, err := a.unit(d.Points[i])
	made.age = &ageRule{index: i, max: a.Max, from: math.NaN(), unit: unit, word: word}
	if a.DownFrom != nil {
		made.age.from = *a.DownFrom
	}
	return err
}

// refuses says why the companion's reading makes the value Bad; nil when it does not.
func (g *goodRule) refuses(c collectors.Reading) error {
	if c.Quality != collectors.Good {
		return fmt.Errorf("%s, which says whether this value is good, is %s: %w", c.Point, c.Quality, c.Err)
	}
	v := c.Value
	switch {
	case g.Is != nil && !slices.Contains(g.Is, v):
		return fmt.Errorf("%s says %s; the value is good at %s only", c.Point, figure(v), numbers(g.Is))
	case g.Not != nil && slices.Contains(g.Not, v):
		return fmt.Errorf("%s says %s; the value is no good then", c.Point, figure(v))
	case g.Between != nil && (v < g.Between[0] || v > g.Between[1]):
		return fmt.Errorf("%s says %s; the value is good from %v to %v only", c.Point, figure(v), g.Between[0], g.Between[1])
	}
	for _, bit := range g.Clear {
		if bits := uint64(int64(v)); bits>>bit&1 == 1 {
			return fmt.Errorf("%s says 0x%04X; the value is no good while bit %d is set", c.Point, bits, bit)
		}
	}
	return nil
}

func numbers(list []float64) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = figure(v)
	}
	return strings.Join(words, ", ")
}

// figure is a number as a person writes it: 2147483647, not 2.147483647e+09.
func figure(v float64) string {
	if math.Abs(v) < 1e15 && math.Abs(v) >= 1e-4 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// of is the age that the companion's reading tells.
func (a *ageRule) of(c collectors.Reading) (time.Duration, error) {
	if c.Quality != collectors.Good {
		return 0, fmt.Errorf("how old it is cannot be told: %s is %s: %w", c.Point, c.Quality, c.Err)
	}
	age := c.Value
	if !math.IsNaN(a.from) {
		age = a.from - c.Value
		if c.Value < 0 || age < 0 {
			return 0, fmt.Errorf("how old it is cannot be told: %s says %v, and counts down from %v", c.Point, c.Value, a.from)
		}
	}
	const longest = 100 * 365 * 24 * time.Hour
	if age < 0 || age*float64(a.unit) > float64(longest) {
		return 0, fmt.Errorf("how old it is cannot be told: %s says %v %s", c.Point, c.Value, a.word)
	}
	return time.Duration(age * float64(a.unit)), nil
}

// sample is the newest value that came with an age.
type sample struct {
	value float64
	text  string
	at    time.Time // when it was true; zero: nothing is known yet
	seen  time.Time // when the age was last asked for and this was still the newest
}

// ageSlack is how far two instants of one sample may lie apart beside the step of its age: the time on the line.
const ageSlack = 2 * time.Second

// date puts a good value where its age says. An age is coarse, so that the instant that follows from it wanders
// by up to one unit from poll to poll; the same value within that is the same sample, and keeps the first instant.
// A new sample is dated by its age, but not before the moment when the old one was still the newest.
func (a *ageRule) date(r, c collectors.Reading, last *sample) collectors.Reading {
	age, err := a.of(c)
	if err != nil {
		r.Quality, r.Err = collectors.Uncertain, err
		return r
	}
	at := c.At.Add(-age)
	same := (r.Value == last.value || math.IsNaN(r.Value)) && r.Text == last.text && at.Sub(last.at) <= a.unit+ageSlack
	if last.at.IsZero() || !same {
		if at.Before(last.seen) {
			at = last.seen
		}
		last.value, last.text, last.at = r.Value, r.Text, at
	}
	last.seen = c.At
	if age = max(age, c.At.Sub(last.at)); age > a.max {
		step := func(d time.Duration) float64 { return float64(d) / float64(a.unit) }
		return a.tooOld(r, fmt.Errorf("%.4g %s old by %s; more than %.4g %s is not believed", step(age), a.word, c.Point, step(a.max), a.word))
	}
	r.At = last.at
	return r
}

// tooOld is the reading without its value, dated when that was found.
func (a *ageRule) tooOld(r collectors.Reading, why error) collectors.Reading {
	r.Value, r.Text, r.Quality, r.Err = math.NaN(), "", collectors.Bad, why
	return r
}

// consult lets the companions speak about every good value of the round.
func (s *sweep) consult() {
	for i := range s.device.points {
		p, r := &s.device.points[i], &s.batch[i]
		if r.Quality != collectors.Good {
			continue
		}
		if p.good != nil {
			if why := p.good.refuses(s.batch[p.good.index]); why != nil {
				asked := r.Asked
				*r = p.bad(r.At, why)
				r.Asked = asked
				continue
			}
		}
		if p.age != nil {
			*r = p.age.date(*r, s.batch[p.age.index], s.device.sampleOf(i))
		}
	}
}

func (d *device) sampleOf(i int) *sample {
	if d.samples[i] == nil {
		d.samples[i] = &sample{}
	}
	return d.samples[i]
}

// agesFirst puts requests that read an age before those that read only values: a check-in between the two then
// makes the new value look old for one poll, and never an old value new.
func (d *device) agesFirst() {
	ages := map[uint16]bool{}
	for _, p := range d.points {
		if p.age != nil {
			ages[uint16(p.age.index)] = true
		}
	}
	rank := func(b block) int {
		if slices.ContainsFunc(b.points, func(i uint16) bool { return ages[i] }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(d.blocks, func(a, b block) int { return rank(a) - rank(b) })
}

// companions checks what a point says about those that it rests on.
func (c *checker) companions(d Device, p Point) {
	for _, ref := range p.Companions() {
		i := slices.IndexFunc(d.Points, func(o Point) bool { return o.Name == ref.Point })
		switch {
		case i < 0:
			c.add(ref.Key, "%q: no point of this device has that name", ref.Point)
		case ref.Point == p.Name:
			c.add(ref.Key, "%s cannot speak about itself", p.Name)
		case d.Points[i].Type == kindString.String():
			c.add(ref.Key, "%s is a text; a number is needed", ref.Point)
		case d.Points[i].Age != nil || d.Points[i].GoodWhen != nil:
			c.add(ref.Key, "%s rests on another point itself; name one that does not", ref.Point)
		default:
			c.companion(ref.Key, p, d.Points[i])
		}
	}
}

func (c *checker) companion(key string, p, other Point) {
	if key == "age.point" {
		c.age(*p.Age, other)
		return
	}
	if err := p.GoodWhen.check(other); err != nil {
		c.add("good_when", "%s", err)
	}
}

func (c *checker) age(a Age, other Point) {
	_, unit, err := a.unit(other)
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
	_, table, _, err := other.place()
	k, kindErr := other.kind(table)
	if err != nil || kindErr != nil {
		return nil // told with that point
	}
	if k != kindUint16 && k != kindUint32 && k != kindUint64 || other.Scale != nil || other.Offset != 0 {
		return fmt.Errorf("clear looks at bits; %s must be uint16, uint32 or uint64 without scale and offset", other.Name)
	}
	for _, bit := range g.Clear {
		if most := 16*k.registers() - 1; bit < 0 || bit > most {
			return fmt.Errorf("clear %d: the bits of %s go from 0 (least) to %d", bit, other.Name, most)
		}
	}
	return nil
}
