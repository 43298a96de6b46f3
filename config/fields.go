package config

import (
	"reflect"
	"strings"
	"sync"
)

// field is one key of a mapping: a struct's field with its tags.
type field struct {
	name     string // the key, from the yaml tag
	doc      string // what it is, for people, from the doc tag
	words    string // the only words allowed, separated by spaces; empty when free
	required bool   // a mistake when absent (yaml:"name,required")
	index    []int
	typ      reflect.Type
}

type fieldList []field

func (fs fieldList) has(name string) bool {
	for _, f := range fs {
		if f.name == name {
			return true
		}
	}
	return false
}

func (fs fieldList) names() []string {
	out := make([]string, len(fs))
	for i, f := range fs {
		out[i] = f.name
	}
	return out
}

var fieldCache sync.Map // reflect.Type to fieldList: structs do not change

// fieldsOf is the keys of a struct type. Fields without a yaml tag, or with "-", are no keys; an ",inline" struct's
// keys are those of the struct around it.
func fieldsOf(t reflect.Type) fieldList {
	if fs, ok := fieldCache.Load(t); ok {
		return fs.(fieldList)
	}
	fs := readFields(t, nil)
	fieldCache.Store(t, fs)
	return fs
}

func readFields(t reflect.Type, base []int) fieldList {
	var out fieldList
	for f := range t.Fields() {
		tag, ok := f.Tag.Lookup("yaml")
		if !ok || tag == "-" || !f.IsExported() {
			continue
		}
		index := append(append([]int(nil), base...), f.Index...)
		name, options, _ := strings.Cut(tag, ",")
		if options == "inline" {
			out = append(out, readFields(f.Type, index)...)
			continue
		}
		out = append(out, field{name, f.Tag.Get("doc"), f.Tag.Get("words"), options == "required", index, f.Type})
	}
	return out
}

const ambiguousHome = "several"

// keyHomes are the paths of the keys of a struct type that stand in one place alone; of the others ambiguousHome. They help
// whoever wrote a key one level too high or too low.
func keyHomes(t reflect.Type) map[string]string {
	homes := map[string]string{}
	addHomes(homes, t, "", 0)
	return homes
}

func addHomes(out map[string]string, t reflect.Type, path string, depth int) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice {
			path += "[]"
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || depth > 4 {
		return
	}
	for _, f := range fieldsOf(t) {
		here := join(path, f.name)
		if _, taken := out[f.name]; taken {
			out[f.name] = ambiguousHome
		} else {
			out[f.name] = here
		}
		addHomes(out, f.typ, here, depth+1)
	}
}

// defaulter is a struct in which keys have other defaults than zero. They are made each time, so that no two files share a map.
type defaulter interface{ defaults() any }

var defaulterType = reflect.TypeFor[defaulter]()

// defaultOf is the value of a type before its keys are read.
func defaultOf(t reflect.Type) reflect.Value {
	if t.Kind() == reflect.Struct && t.Implements(defaulterType) {
		return reflect.ValueOf(reflect.Zero(t).Interface().(defaulter).defaults())
	}
	return reflect.Zero(t)
}

// settable gives the decoder the variable that p points to.
func settable[T any](p *T) reflect.Value { return reflect.ValueOf(p).Elem() }
