package ledger

import (
	"math"
	"reflect"
	"strconv"
	"strings"

	"gauger/collectors"
)

// specificGravity turns a gravity into SG 60/60: a unit of API says degrees API, anything else is SG already.
func specificGravity(v float64, unit collectors.Unit) float64 {
	switch strings.ToLower(string(unit)) {
	case "api", "degapi":
		return 141.5 / (131.5 + v)
	}
	return v
}

// hundredths rounds a figure for people.
func hundredths(v float64) float64 { return math.Round(v*100) / 100 }

// Plural is "1 record" or "3 records".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// finite says that a figure is one: neither "not a number" nor infinite, which JSON has no word for.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// dropNotFinite takes the figures that are not finite out of a structure, which is the caller's own copy, and names them: a
// number becomes 0, one that may be absent becomes absent. What pointers lead to is copied before it is changed.
func dropNotFinite[T any](of *T) (names []string) {
	v := reflect.ValueOf(of).Elem()
	for i := range v.NumField() {
		names = append(names, dropFrom(v.Field(i), v.Type().Field(i).Name)...)
	}
	return names
}

func dropFrom(f reflect.Value, name string) (names []string) {
	switch {
	case f.Kind() == reflect.Float64 && !finite(f.Float()):
		f.SetFloat(0)
		return []string{name}
	case f.Kind() != reflect.Pointer || f.IsNil():
		return nil
	case f.Elem().Kind() == reflect.Float64 && !finite(f.Elem().Float()):
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
