package config

import (
	"cmp"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

var durationType = reflect.TypeFor[time.Duration]()

// setScalar puts the text of a scalar into v. The error says what is wrong and what would be right.
func setScalar(s string, v reflect.Value) error {
	if v.Type() == durationType {
		return setDuration(s, v)
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(s))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
		return nil
	case reflect.Bool:
		return setBool(s, v)
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		return setInt(s, v)
	case reflect.Float64:
		f, err := number(s)
		if err == nil {
			v.SetFloat(f)
		}
		return err
	}
	return fmt.Errorf("a value of type %s cannot be configured", v.Type())
}

func setBool(s string, v reflect.Value) error {
	switch s {
	case "true", "false":
		v.SetBool(s == "true")
		return nil
	case "yes", "on", "Yes", "On", "True", "TRUE":
		return fmt.Errorf("%s is not a truth value; write true", s)
	case "no", "off", "No", "Off", "False", "FALSE":
		return fmt.Errorf("%s is not a truth value; write false", s)
	}
	return fmt.Errorf("%s is not a truth value; write true or false", quote(s))
}

// setInt refuses leading zeros: one reader takes 010 for ten, another for eight, and a register is a tank.
func setInt(s string, v reflect.Value) error {
	digits := strings.TrimLeft(s, "+-")
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return fmt.Errorf("%s begins with a zero; write %s for the decimal number", quote(s), cmp.Or(strings.TrimLeft(digits, "0"), "0"))
	}
	i, err := strconv.ParseInt(s, 0, 64)
	if err != nil || v.OverflowInt(i) {
		return fmt.Errorf("%s is not a whole number; write one such as 1", quote(s))
	}
	v.SetInt(i)
	return nil
}

// number reads a finite decimal number.
func number(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return f, nil
	}
	if dotted := strings.Replace(s, ",", ".", 1); dotted != s {
		if _, err := strconv.ParseFloat(dotted, 64); err == nil {
			return 0, fmt.Errorf("%s has a comma; write %s", quote(s), dotted)
		}
	}
	return 0, fmt.Errorf("%s is not a number; write one such as 0.5", quote(s))
}

func setDuration(s string, v reflect.Value) error {
	dur, err := time.ParseDuration(s)
	switch {
	case err == nil && dur < 0:
		return fmt.Errorf("%s is negative; write a duration such as 5s, 30m or 24h", s)
	case err == nil && (s == "0" || dur != 0 || strings.ContainsAny(s, "hmsnuµ")):
		v.SetInt(int64(dur))
		return nil
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return fmt.Errorf("%s has no unit; write %sms, %[2]ss, %[2]sm or %[2]sh", quote(s), s)
	}
	if days, err := strconv.Atoi(strings.TrimSuffix(s, "d")); err == nil && days >= 0 && days < 1e5 {
		return fmt.Errorf("%s: days are no unit; write %dh", quote(s), days*24)
	}
	return fmt.Errorf("%s is not a duration; write one such as 5s, 30m or 24h", quote(s))
}

// typeWords names what a type takes, for a message.
func typeWords(t reflect.Type) string {
	switch {
	case t == durationType:
		return "a duration such as 5s"
	case t.Kind() == reflect.String:
		return "a text"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64, t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return "a number"
	}
	return "one value"
}

// quote is a value as it stands in a message: in quotes, and cut when long.
func quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "..."
	}
	return strconv.Quote(s)
}

// shortDuration is a duration without the zeros at its end: 45m, not 45m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

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
	return slices.ContainsFunc(fs, func(f field) bool { return f.name == name })
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
