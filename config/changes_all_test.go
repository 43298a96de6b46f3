package config

import (
	"encoding"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAChangeOfEachKeyIsSeenAndNamed changes every key of the example, one after the other, as the structs have them: a key that is added
// later is among them without a word here.
func TestAChangeOfEachKeyIsSeenAndNamed(t *testing.T) {
	dir := t.TempDir()
	parse := func() *Config {
		cfg, err := Parse("example.yaml", withLeftOut(Example), dir)
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	old, now := parse(), parse()
	tried := 0
	w := &keyWalk{tell: func(path []string, what string) {
		tried++
		if _, err := now.checksum(); err != nil { // of the devices, which are compared by their sums
			t.Fatal(path, err)
		}
		all, err := now.ChangesFrom(old)
		if err != nil {
			t.Fatal(path, err)
		}
		if !slices.ContainsFunc(all, func(c Change) bool { return names(c, path) && c.Old != c.New }) {
			t.Errorf("%s, %s: the changes are %q", strings.Join(path, " "), what, all)
		}
	}}
	w.fields(reflect.ValueOf(now).Elem(), nil)
	if all, err := now.ChangesFrom(old); err != nil || len(all) > 0 {
		t.Errorf("in the end %q, %v", all, err)
	}
	if tried < 300 {
		t.Errorf("only %d changes were tried", tried)
	}
}

// names says that a change is of the key at the end of a path. Another name makes an entry another entry.
func names(c Change, path []string) bool {
	words := strings.FieldsFunc(c.Path, func(r rune) bool { return r == ' ' || r == '.' })
	last := path[len(path)-1]
	if slices.Contains([]string{"name", "id", "rule", "point", "code"}, last) && len(path) > 1 && (c.Added() || c.Removed()) {
		last = path[len(path)-2]
	}
	return words[0] == path[0] && slices.Contains(words, last)
}

// keyWalk gives each key of a configuration other values, one at a time, and puts back what it had.
type keyWalk struct {
	tell func(path []string, what string)
}

func (w *keyWalk) fields(v reflect.Value, path []string) {
	for _, f := range fieldsOf(v.Type()) {
		at := append(slices.Clone(path), f.name)
		if f.typ == reflect.TypeFor[Strapping]() {
			continue // a table is compared by what it says, wherever it stands: TestChangesInWords
		}
		if _, device := v.Addr().Interface().(options); device && strings.HasPrefix(f.name, "object") {
			continue // they stand in Device
		}
		w.value(v.FieldByIndex(f.index), at)
	}
}

// with has v be another value while that is told.
func (w *keyWalk) with(v reflect.Value, path []string, other reflect.Value) {
	was := reflect.New(v.Type()).Elem()
	was.Set(v)
	v.Set(other)
	w.tell(path, fmt.Sprintf("%v for %v", other, was))
	v.Set(was)
}

func (w *keyWalk) value(v reflect.Value, path []string) {
	if d, ok := v.Addr().Interface().(*Device); ok {
		w.fields(reflect.ValueOf(d.options).Elem(), path)
		w.value(settable(&d.Object), append(path, "object"))
		w.value(settable(&d.ObjectType), append(path, "object_type"))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if _, text := v.Addr().Interface().(encoding.TextUnmarshaler); !text && len(fieldsOf(v.Type())) > 0 {
			w.fields(v, path)
			return
		}
	case reflect.Pointer:
		if !v.IsNil() {
			w.value(v.Elem(), path)
			return
		}
	case reflect.Slice:
		if v.Len() > 0 {
			w.with(v, path, reflect.Zero(v.Type()))
			for i := range v.Len() {
				w.value(v.Index(i), path)
			}
			return
		}
		empty := reflect.MakeSlice(v.Type(), 0, 0) // says more than none, as in control
		if !v.IsNil() {
			empty = reflect.Zero(v.Type())
		}
		w.with(v, path, empty)
	case reflect.Map:
		for _, k := range v.MapKeys() {
			was := v.MapIndex(k)
			at := append(slices.Clone(path), k.String())
			v.SetMapIndex(k, changed(was))
			w.tell(at, "another value")
			v.SetMapIndex(k, reflect.Value{})
			w.tell(at, "none")
			v.SetMapIndex(k, was)
		}
		return
	}
	w.with(v, path, changed(v))
}

// changed is a value like v that says something else, as near to it as a file can have it.
func changed(v reflect.Value) reflect.Value {
	n := reflect.New(v.Type()).Elem()
	n.Set(v)
	switch x := n.Addr().Interface().(type) {
	case *time.Duration:
		*x += time.Millisecond
		return n
	case *TimeOfDay:
		*x += TimeOfDay(time.Minute)
		return n
	case *Network:
		*x = Network(netip.MustParsePrefix("10.99.0.0/16"))
		return n
	case *Source:
		*x = Source{Constant: new(1.25)}
		return n
	}
	switch v.Kind() {
	case reflect.String:
		n.SetString(v.String() + "x")
	case reflect.Bool:
		n.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		n.SetInt(v.Int() + 1)
	case reflect.Float64:
		n.SetFloat(v.Float() + 0.001)
	case reflect.Pointer:
		n.Set(reflect.New(v.Type().Elem()))
		n.Elem().Set(changed(n.Elem()))
	case reflect.Slice:
		n.Set(reflect.Append(v, changed(reflect.Zero(v.Type().Elem()))))
	case reflect.Struct, reflect.Array:
		inner := n.Field
		if v.Kind() == reflect.Array {
			inner = n.Index
		}
		inner(0).Set(changed(inner(0)))
	default:
		panic("nobody has thought of " + v.Type().String())
	}
	return n
}
