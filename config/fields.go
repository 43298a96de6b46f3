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

// homeOf is the path of the one place in the configuration where a key of this name stands; empty when there is
// none or more than one. It helps whoever wrote a key one level too high or too low.
func homeOf(name string) string {
	home := homes()[name]
	if home == severalHomes {
		return ""
	}
	return home
}

const severalHomes = "several"

var homes = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	settle(out, reflect.TypeFor[Config](), "", 0)
	return out
})

func settle(out map[string]string, t reflect.Type, path string, depth int) {
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
			out[f.name] = severalHomes
		} else {
			out[f.name] = here
		}
		settle(out, f.typ, here, depth+1)
	}
}
