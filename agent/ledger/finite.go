package ledger

import (
	"math"
	"reflect"

	"gauger/collectors"
	"gauger/eventrules"
)

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

// UnwritableSource is how the sources of notices about records and state begin that could not be written.
const UnwritableSource = "what is kept as "

// leaveOut tells of something that cannot be written down. It is left out: the rest of the batch must not wait for it.
func (d *txn) leaveOut(name string, why error) {
	d.afterCommit = append(d.afterCommit, func() {
		d.l.log.Error().Err(why).Str("name", name).Msg("something cannot be written down and was left out")
	})
	if name != episodesKey { // the notice itself is kept there
		d.applyNotice(collectors.Notice{Rule: eventrules.RecordUnwritable, Source: UnwritableSource + clip(name), Since: d.now,
			Note: "it cannot be written down and was left out, while everything else goes on: " + why.Error()})
	}
}

// clip shortens a name for people.
func clip(name string) string {
	if len(name) > 80 {
		return name[:80] + "..."
	}
	return name
}
