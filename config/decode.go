package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gauger/agent/tank"
	"gauger/collectors/mqtt"

	"go.yaml.in/yaml/v3"
)

// What aliases can blow a small file up to, in values. mostRepeats is what check takes, some 10 MB of memory; with maxVisits, as
// before, run still starts: 2,000 devices of 100 points.
const (
	mostRepeats = 40_000
	maxVisits   = 1 << 20
)

// maxProblems bounds the mistakes that are told of one file; after so many it is not the file that was meant.
const maxProblems = 100

// decoder fills structs from a tree of nodes by their yaml tags, strictly, and goes on after a mistake.
type decoder struct {
	file     string
	last     int                      // the number of its last line
	loads    *tank.Loads              // the site's, which tanks inherit
	home     func(name string) string // the only place of a key in a configuration; empty: there is none, or several
	problems []Problem
	visits   int
	written  int                 // values that stand in the file or in a template; what is visited beyond that, aliases repeat
	sparing  bool                // for check: mostRepeats is the end
	ended    bool                // aliases have unfolded to too much; what follows was not looked at
	open     map[*yaml.Node]bool // anchors that are being decoded, to see one inside itself
}

// nodeDecoder is implemented by types that are more than the sum of their fields.
type nodeDecoder interface {
	decodeNode(d *decoder, n *yaml.Node, path string)
}

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	ownDecoder      = reflect.TypeFor[nodeDecoder]()
)

func (d *decoder) addf(n *yaml.Node, path, format string, args ...any) {
	if len(d.problems) > maxProblems {
		return
	}
	if len(d.problems) == maxProblems {
		path, format, args = "", "more mistakes follow; mend these first", nil
	}
	d.problems = append(d.problems, d.at(n, path, fmt.Sprintf(format, args...)))
}

// at places a message. The parser puts a value that is missing at the end of the file on the line below it.
func (d *decoder) at(n *yaml.Node, path, message string) Problem {
	return Problem{d.file, max(1, min(n.Line, d.last)), max(1, n.Column), path, message}
}

// countVisit counts what is visited, and ends it when aliases have unfolded to more than any configuration holds.
func (d *decoder) countVisit(n *yaml.Node, path string) bool {
	most := maxVisits
	if d.sparing {
		most = min(most, d.written+mostRepeats)
	}
	if d.visits < most {
		d.visits++
		if d.visits == most {
			d.ended = true
			d.addf(n, path, "%s", d.repeats(most))
		}
	}
	return d.visits < most
}

// repeats says what is wrong with too many values by alias.
func (d *decoder) repeats(most int) string {
	if most == maxVisits {
		return fmt.Sprintf("the file unfolds to more than %d values; write less by alias", maxVisits)
	}
	return fmt.Sprintf("aliases (*name, <<) repeat values of the file more than %d times, which takes memory that a box does not have: "+
		"name a template, leave out points that nobody needs, or give some of the devices a gauger of their own; gauger run starts all the same", mostRepeats)
}

func countNodes(n *yaml.Node) int {
	count := 1
	for _, c := range n.Content {
		count += countNodes(c)
	}
	return count
}

func (d *decoder) decode(n *yaml.Node, v reflect.Value, path string) {
	if !d.countVisit(n, path) {
		return
	}
	if n.Kind == yaml.AliasNode {
		d.decodeAlias(n, v, path)
		return
	}
	t := v.Type()
	switch {
	case reflect.PointerTo(t).Implements(ownDecoder):
		v.Addr().Interface().(nodeDecoder).decodeNode(d, n, path)
	case t.Kind() == reflect.Pointer:
		d.decodePointer(n, v, path)
	case t == durationType || reflect.PointerTo(t).Implements(textUnmarshaler):
		d.decodeScalar(n, v, path)
	case t.Kind() == reflect.Struct:
		d.decodeStruct(n, v, path)
	case t == reflect.TypeFor[mqtt.Brokers]() && n.Kind == yaml.ScalarNode && !isNull(n):
		v.Set(reflect.ValueOf(make(mqtt.Brokers, 1)))
		d.decode(n, v.Index(0), path)
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		d.decodeList(n, v, path)
	case t.Kind() == reflect.Map:
		d.decodeMap(n, v, path)
	default:
		d.decodeScalar(n, v, path)
	}
}

func (d *decoder) decodeAlias(n *yaml.Node, v reflect.Value, path string) {
	if n.Alias == nil || d.open[n.Alias] {
		d.addf(n, path, "*%s stands inside itself; write the value out", n.Value)
		return
	}
	d.open[n.Alias] = true
	d.decode(n.Alias, v, path)
	delete(d.open, n.Alias)
}

func (d *decoder) decodePointer(n *yaml.Node, v reflect.Value, path string) {
	fresh := reflect.New(v.Type().Elem())
	fresh.Elem().Set(defaultOf(v.Type().Elem()))
	d.decode(n, fresh.Elem(), path)
	v.Set(fresh)
}

// decodeList decodes a sequence; a slice is replaced, an array must be filled to the last place.
func (d *decoder) decodeList(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		if v.Kind() == reflect.Slice && isNull(n) {
			return
		}
		d.addf(n, path, "%s where a list is wanted; write [a, b] or lines that begin with \"- \"", shapeOf(n))
		return
	}
	if v.Kind() == reflect.Array && len(n.Content) != v.Len() {
		d.addf(n, path, "%d values; write exactly %d", len(n.Content), v.Len())
		return
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	}
	for i, c := range n.Content {
		item := v.Index(i)
		item.Set(defaultOf(item.Type()))
		d.decode(c, item, fmt.Sprintf("%s[%d]", path, i))
	}
}

// decodeMap decodes a mapping with free keys over what the map already holds.
func (d *decoder) decodeMap(n *yaml.Node, v reflect.Value, path string) {
	pairs, ok := d.pairs(n, path)
	if !ok {
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, p := range pairs {
		item := reflect.New(v.Type().Elem()).Elem()
		d.decode(p.value, item, join(path, p.name))
		v.SetMapIndex(reflect.ValueOf(p.name).Convert(v.Type().Key()), item)
	}
}

// decodeStruct decodes a mapping whose keys are the fields of v, over what v already holds. Fields are taken in the
// struct's own order, so that a later one may rest on an earlier one.
func (d *decoder) decodeStruct(n *yaml.Node, v reflect.Value, path string) {
	pairs, ok := d.pairs(n, path)
	if !ok {
		return
	}
	fields := fieldsOf(v.Type())
	given := make(map[string]*yaml.Node, len(pairs))
	for _, p := range pairs {
		if fields.has(p.name) {
			given[p.name] = p.value
		}
	}
	for _, p := range pairs {
		if fields.has(p.name) {
			continue
		}
		if meant := d.unknownKey(p, fields, path); meant != "" && given[meant] == nil {
			given[meant] = p.value // so that one misspelt key does not make others wrong too
		}
	}
	for _, f := range fields {
		value := given[f.name]
		if value == nil {
			if f.required {
				d.addf(n, join(path, f.name), "missing; add the key %s (%s)", f.name, f.doc)
			}
			continue
		}
		d.decode(value, v.FieldByIndex(f.index), join(path, f.name))
		if f.words != "" {
			d.checkWord(value, v.FieldByIndex(f.index).String(), strings.Fields(f.words), join(path, f.name))
		}
	}
}

func (d *decoder) checkWord(n *yaml.Node, got string, allowed []string, path string) {
	if n = target(n); n.Kind == yaml.ScalarNode && !isNull(n) && !slices.Contains(allowed, got) {
		d.addf(n, path, "%s is not known; %s", quote(got), suggest(got, allowed))
	}
}

// unknownKey reports a key that is none, and returns the one that was probably meant.
func (d *decoder) unknownKey(p pair, fields fieldList, path string) string {
	if w := Nearest(p.name, fields.names()); w != "" {
		d.addf(p.key, join(path, p.name), "no such key; did you mean %s?", w)
		return w
	}
	if _, err := strconv.Atoi(p.name); err == nil && isNull(p.value) {
		d.addf(p.key, join(path, p.name), "a number where a key is wanted; decimals come after a point, as in 0.%s, since a comma ends the value before it", p.name)
		return ""
	}
	if home := d.home(p.name); home != "" && home != join(path, p.name) {
		d.addf(p.key, join(path, p.name), "no such key here; it belongs at %s. Here stand: %s", home, joinWords(fields.names()))
		return ""
	}
	d.addf(p.key, join(path, p.name), "no such key; here stand: %s", joinWords(fields.names()))
	return ""
}

// pair is one line of a mapping.
type pair struct {
	name       string
	key, value *yaml.Node
}

// pairs is the keys of a mapping, each once, with what << merges in behind those written out. Nothing at all
// (key: without a value) is an empty mapping.
func (d *decoder) pairs(n *yaml.Node, path string) ([]pair, bool) {
	if n.Kind != yaml.MappingNode {
		if isNull(n) {
			return nil, true
		}
		d.addf(n, path, "%s where keys are wanted; write lines of key: value, or {key: value}", shapeOf(n))
		return nil, false
	}
	lines := map[string]int{}
	var out []pair
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind == yaml.ScalarNode && key.Tag == "!!merge":
			merged = append(merged, value)
		case key.Kind != yaml.ScalarNode:
			d.addf(key, path, "%s as a key; a key is one word", shapeOf(key))
		case lines[key.Value] != 0:
			d.addf(key, join(path, key.Value), "given twice, first on line %d; keep one", lines[key.Value])
		default:
			lines[key.Value] = max(1, key.Line)
			out = append(out, pair{key.Value, key, value})
		}
	}
	for _, m := range merged {
		out = d.merge(m, out, lines, path)
	}
	return out, true
}

// merge adds the keys of an aliased mapping, or of a list of them, that are not there yet.
func (d *decoder) merge(n *yaml.Node, out []pair, lines map[string]int, path string) []pair {
	if !d.countVisit(n, path) {
		return out
	}
	target := n
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		target = n.Alias
	}
	if d.open[target] {
		d.addf(n, path, "<< stands inside itself; write the keys out")
		return out
	}
	d.open[target] = true
	defer delete(d.open, target)
	switch target.Kind {
	case yaml.SequenceNode:
		for _, c := range target.Content {
			out = d.merge(c, out, lines, path)
		}
	case yaml.MappingNode:
		more, _ := d.pairs(target, path)
		for _, p := range more {
			if lines[p.name] == 0 {
				lines[p.name] = max(1, p.key.Line)
				out = append(out, p)
			}
		}
	default:
		d.addf(n, path, "<< wants the name of a mapping; write <<: *name")
	}
	return out
}

func (d *decoder) decodeScalar(n *yaml.Node, v reflect.Value, path string) {
	switch {
	case n.Kind != yaml.ScalarNode:
		d.addf(n, path, "%s where one value is wanted; write %s", shapeOf(n), typeWords(v.Type()))
		return
	case isNull(n):
		d.addf(n, path, "has no value; write %s, or remove the line", typeWords(v.Type()))
		return
	case len(n.Value) > 8192:
		d.addf(n, path, "a value of %d characters; none is that long", len(n.Value))
		return
	}
	if err := setScalar(n.Value, v); err != nil {
		d.addf(n, path, "%v", err)
	}
}
