package ledger

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gauger/agent/cloud"
	"gauger/agent/tank"
	"gauger/collectors"
)

// stated are the figures beside the gauges that a load's ticket leaves with unless a person edits them: as measured, else
// as configured.
func (t *Tank) stated(load *tank.Load) *cloud.RunTicket {
	r := &cloud.RunTicket{
		TopTemperature: measuredOrConstant(load.TopTemperature, t.Top), BottomTemperature: measuredOrConstant(load.BottomTemperature, t.Bottom),
		SpecificGravity: measuredOrConstant(load.Gravity, t.Gravity), BSW: measuredOrConstant(load.BSW, t.BSW),
	}
	if t.OpeningClosing {
		r.TopTemperature = mean(r.TopTemperature, r.BottomTemperature)
		r.BottomTemperature = mean(measuredOrConstant(load.ClosingTop, t.Top), measuredOrConstant(load.ClosingBottom, t.Bottom))
	}
	return r
}

// constants names the figures of the ticket that nobody measured or edited.
func (t *Tank) constants(load *tank.Load, edited func(field string) bool) string {
	var out []string
	for _, c := range []struct {
		name     string
		source   Source
		measured *float64
	}{
		{"top_temperature", t.Top, load.TopTemperature}, {"bottom_temperature", t.Bottom, load.BottomTemperature},
		{"specific_gravity", t.Gravity, load.Gravity}, {"bsw", t.BSW, load.BSW},
	} {
		if c.source.Constant != nil && c.measured == nil && !edited(c.name) {
			out = append(out, c.name)
		}
	}
	return strings.Join(out, "+")
}

// measuredOrConstant is the measured figure, else the constant, else nil: nothing is ever invented.
func measuredOrConstant(measured *float64, s Source) *float64 {
	v := cmp.Or(measured, s.Constant)
	if v == nil || !Finite(*v) {
		return nil
	}
	return v
}

// Range of gravity (API) and temperature (degF) for which API MPMS 11.1 (2004) gives factors of crude.
const (
	leastAPI, mostAPI   = -10, 100
	leastDegF, mostDegF = -58, 302
)

// figure is a number beside a ticket's gauges that a person may give.
type figure struct {
	name, such         string
	of                 func(*cloud.RunTicket) **float64
	least, most        float64 // outside it is another unit's
	seldomBelow, above float64 // outside it is oil that hardly anybody buys, and most probably a slip
}

var figures = []figure{
	{"gravity", `a specific gravity such as 0.83, not degrees API (SG = 141.5 / (131.5 + API))`, func(r *cloud.RunTicket) **float64 { return &r.SpecificGravity }, 0.5, 1.2, 0.62, 1.03},
	{"bsw", "a percentage such as 0.4", func(r *cloud.RunTicket) **float64 { return &r.BSW }, 0, 100, 0, 10},
	{"top temperature", "degrees Fahrenheit such as 78.5", func(r *cloud.RunTicket) **float64 { return &r.TopTemperature }, leastDegF, mostDegF, -20, 180},
	{"bottom temperature", "degrees Fahrenheit such as 78.5", func(r *cloud.RunTicket) **float64 { return &r.BottomTemperature }, leastDegF, mostDegF, -20, 180},
}

// figureOf is the figure of a field that can be edited, or of a tank's key in the configuration.
func figureOf(field string) figure {
	name := strings.ReplaceAll(strings.TrimPrefix(field, "specific_"), "_", " ")
	i := slices.IndexFunc(figures, func(f figure) bool { return f.name == name })
	return figures[i]
}

// check refuses what can be no such figure.
func (f figure) check(v float64) error {
	if v >= f.least && v <= f.most {
		return nil
	}
	return fmt.Errorf("%.6g is no %s; want %s, from %g to %g", v, f.name, f.such, f.least, f.most)
}

// bswDrift, in percent, is how far beyond its ends a probe of BS&W may read: its zero drifts, and it means the end.
const bswDrift = 1

// figureKeys are the keys of a tank in the configuration that name the points of its figures.
var figureKeys = [...]string{tank.TopTemperature: "top_temperature", tank.BottomTemperature: "bottom_temperature",
	tank.Gravity: "specific_gravity", tank.BSW: "bsw"}

// Measured is what a point's number in a unit says of a figure of a tank, by the figure's key in the configuration: degrees Fahrenheit, a
// specific gravity or percent. The error says why it can be none: what a person may not write on a ticket no sensor has measured.
func Measured(key string, v float64, unit collectors.Unit) (float64, error) {
	f := figureOf(key)
	switch key {
	case "specific_gravity": // without a unit that says degrees API it is one already
		if u := strings.ToLower(string(unit)); u == "api" || u == "degapi" {
			v = tank.SpecificGravity(v)
		}
	case "bsw":
		if v >= f.least-bswDrift && v <= f.most+bswDrift {
			v = min(max(v, f.least), f.most)
		}
	default:
		if degF, ok := unit.Fahrenheit(v); ok { // what has no unit is in it already
			v = degF
		}
	}
	return v, f.check(v)
}

// aboveLevel, in inches, is how far an oil/water interface may be read above the level, of which it is no part: each has its error.
const aboveLevel = 1

// dropImpossible leaves out what was measured beside the gauges of a load and cannot be: a ticket says nothing rather than that, and asks.
func dropImpossible(l *tank.Load) {
	var why []string
	measured := [...]**float64{&l.TopTemperature, &l.BottomTemperature, &l.Gravity, &l.BSW, &l.ClosingTop, &l.ClosingBottom}
	for i, kind := range [...]tank.Kind{tank.TopTemperature, tank.BottomTemperature, tank.Gravity, tank.BSW, tank.TopTemperature, tank.BottomTemperature} {
		of, key := measured[i], figureKeys[kind]
		if *of == nil {
			continue
		}
		v, err := Measured(key, **of, "")
		if *of = &v; err != nil {
			*of = nil
			name := figureOf(key).name
			if !strings.Contains(strings.Join(why, ""), name) {
				why = append(why, fmt.Sprintf("%s was read as %.6g: that cannot be and is left out", name, v))
			}
		}
	}
	if w := l.OpenWater; w != nil && *w > l.Open+aboveLevel || l.CloseWater != nil && *l.CloseWater > l.Close+aboveLevel {
		l.OpenWater, l.CloseWater = nil, nil
		why = append(why, "the oil/water interface was read above the level: that cannot be and no free water is taken off")
	}
	askForReview(l, why...)
}

// mean is the mean of those figures that are known; nil when none is, or when they are too large to have one.
func mean(all ...*float64) *float64 {
	sum, n := 0.0, 0
	for _, v := range all {
		if v != nil {
			sum, n = sum+*v, n+1
		}
	}
	if n == 0 || !Finite(sum) {
		return nil
	}
	return new(sum / float64(n))
}

// hundredths rounds a figure for people.
func hundredths(v float64) float64 { return math.Round(v*100) / 100 }

// Plural is "1 record" or "3 records".
func Plural(n int, noun string) string {
	return strconv.Itoa(n) + " " + noun + either(n == 1, "", "s")
}

// either is the first of two texts where something holds, else the second.
func either(holds bool, yes, no string) string {
	if holds {
		return yes
	}
	return no
}

// behind is a text behind what leads to it, and nothing where there is none.
func behind(lead, text string) string { return either(text != "", lead+text, "") }

// askForReview gives a load reasons why a person should look at it. Its reasons may be another's too: they are copied.
func askForReview(l *tank.Load, why ...string) { l.Review = append(slices.Clone(l.Review), why...) }

// Finite says that a figure is one: neither "not a number" nor infinite, which JSON has no word for.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// dropNotFinite takes the figures that are not finite out of a structure that of leads to, which is the caller's own copy, and names them: a
// number becomes 0, one that may be absent becomes absent. What pointers lead to is copied before it is changed.
func dropNotFinite(of any) (names []string) {
	v := reflect.ValueOf(of).Elem()
	for i := range v.NumField() {
		names = append(names, dropFrom(v.Field(i), v.Type().Field(i).Name)...)
	}
	return names
}

func dropFrom(f reflect.Value, name string) (names []string) {
	switch {
	case f.Kind() == reflect.Float64 && !Finite(f.Float()):
		f.SetFloat(0)
		return []string{name}
	case f.Kind() != reflect.Pointer || f.IsNil():
		return nil
	case f.Elem().Kind() == reflect.Float64 && !Finite(f.Elem().Float()):
		f.SetZero()
		return []string{name}
	case f.Elem().Kind() != reflect.Struct:
		return nil
	}
	own := reflect.New(f.Type().Elem())
	own.Elem().Set(f.Elem())
	for i := range own.Elem().NumField() {
		if inner := own.Elem().Field(i); inner.CanSet() {
			names = append(names, dropFrom(inner, name+"."+own.Elem().Type().Field(i).Name)...)
		}
	}
	if len(names) > 0 {
		f.Set(own)
	}
	return names
}

// saysNothing says that a reading has no value, of a device that speaks when it likes: mostly the collector tells with it that the
// device is silent, or its broker away. The detector learns that from the clock. Taken for a reading with a time, that of the box, it
// would be the newest, behind which nothing is used of what the device kept meanwhile with times of its own.
func saysNothing(r collectors.Reading) bool {
	return r.Quality != collectors.Good && math.IsNaN(r.Value) && r.Asked.IsZero()
}

// MaybeThere says what to do about the ticket of a position in the outbox that the service may have, where it has it.
func MaybeThere(seq uint64) string {
	return fmt.Sprintf("the service may have it, so look there first; if it has it, `gauger outbox confirm %s/%d --why TEXT`, and then `gauger tickets add --replaces` or `gauger tickets reject --left` where it is wrong", Tickets, seq)
}
