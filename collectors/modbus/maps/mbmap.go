package maps

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gauger/collectors/modbus"
)

// object is a JSON object whose keys are squeezed.
type object map[string]any

func objectOf(v any) (object, bool) {
	raw, ok := v.(map[string]any)
	o := object{}
	for k, x := range raw {
		o[squeeze(k)] = x
	}
	return o, ok
}

// take is the value of the first of several keys that is there, which is then done.
func (o object) take(keys ...string) any {
	for _, k := range keys {
		if v, ok := o[k]; ok {
			delete(o, k)
			return v
		}
	}
	return nil
}

func (o object) text(keys ...string) string {
	switch v := o.take(keys...).(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	}
	return ""
}

func (o object) number(keys ...string) (float64, bool) {
	v, err := strconv.ParseFloat(o.text(keys...), 64)
	return v, err == nil
}

// readMBMap makes points of an MBMap file.
func readMBMap(text []byte, from Counting) (Map, error) {
	m := Map{Kind: "MBMap"}
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	var raw any
	if err := dec.Decode(&raw); err != nil {
		return m, fmt.Errorf("no JSON: %w", err)
	}
	whole, _ := objectOf(raw)
	list, ok := whole.take("registers", "points").([]any)
	if !ok {
		return m, errors.New("JSON without a list of registers: this is no MBMap file")
	}
	defaults := whole
	for _, key := range []string{"device", "defaults", "modbus", "encoding"} {
		if inner, ok := objectOf(whole[key]); ok {
			maps.Copy(defaults, inner)
		}
	}
	if base := squeeze(defaults.text("addressbase", "addressing", "base", "addressoffset")); base != "" && from == Unsaid {
		from = map[string]Counting{"0": FromZero, "zero": FromZero, "zerobased": FromZero, "0based": FromZero, "1": FromOne, "one": FromOne, "onebased": FromOne, "1based": FromOne}[base]
	}
	if from == Unsaid {
		return m, errors.New("an MBMap file that does not say whether its addresses count from 0 or from 1; give --map-base 0 or 1")
	}
	unitID, _ := defaults.number("unitid", "slaveid", "unit")
	m.Unit = int(unitID)
	order := mbmapOrder(object{"byteorder": defaults["byteorder"], "wordorder": defaults["wordorder"]}, "ABCD")
	for i, item := range list {
		o, _ := objectOf(item)
		name := o.text("name", "id", "key", "label")
		if name == "" {
			name = fmt.Sprintf("register-%d", i+1)
		}
		m.mbmapRegister(o, name, order, from)
	}
	if len(m.Points) == 0 {
		return m, fmt.Errorf("an MBMap file in which nothing can be read: %s", strings.Join(m.Left[:min(3, len(m.Left))], "; "))
	}
	return m, nil
}

// mbmapRegister takes one register over, or says why not; keys that nobody has asked for are named.
func (m *Map) mbmapRegister(o object, name, order string, from Counting) {
	about := o.text("description", "comment", "label")
	p, err := mbmapPoint(o, order, from)
	if err != nil {
		m.leave(name, "%v", err)
		return
	}
	m.add(p, name, about)
	for _, quiet := range []string{"group", "category", "min", "max", "decimals", "precision", "notes"} {
		delete(o, quiet)
	}
	if len(o) > 0 {
		m.leave(name, "its %s, which has no counterpart here", strings.Join(slices.Sorted(maps.Keys(o)), ", "))
	}
}

var mbmapTables = map[string]byte{
	"coil": '0', "coils": '0', "1": '0', "discrete": '1', "discreteinput": '1', "2": '1', "input": '3', "inputregister": '3', "4": '3',
	"holding": '4', "holdingregister": '4', "3": '4', "": '4',
}

var mbmapTypes = map[string]string{
	"": "uint16", "int16": "int16", "uint16": "uint16", "int32": "int32", "uint32": "uint32", "int64": "int64", "uint64": "uint64", "float32": "float32", "float": "float32",
	"float64": "float64", "double": "float64", "bool": "bool", "boolean": "bool", "bit": "bool", "string": "string", "bcd16": "bcd16", "bcd32": "bcd32",
	"s16": "int16", "u16": "uint16", "s32": "int32", "u32": "uint32", "f32": "float32", "f64": "float64", "bitfield16": "uint16", "enum16": "uint16",
}

func mbmapPoint(o object, order string, from Counting) (p modbus.Point, err error) {
	if access := squeeze(o.text("access", "mode")); access == "w" || access == "wo" || access == "write" || access == "writeonly" {
		return p, errors.New("can only be written")
	}
	table, known := mbmapTables[squeeze(o.text("table", "registertype", "function", "functioncode", "kind", "space"))]
	address, number := o.number("address", "register")
	kind := squeeze(o.text("type", "datatype", "format"))
	p.Type = mbmapTypes[kind]
	switch {
	case !known:
		return p, errors.New("its table is none of coil, discrete, input and holding")
	case !number || address != float64(int(address)):
		return p, errors.New("no address")
	case p.Type == "":
		return p, fmt.Errorf("type %q has no counterpart", kind)
	}
	if from == FromOne {
		address--
	}
	if err := place(&p, table, int(address)); err != nil {
		return p, err
	}
	if own := mbmapOrder(o, order); wide(p.Type) && own != "ABCD" {
		p.Order = own
	}
	if bit, ok := o.number("bit"); ok && bit >= 0 && bit <= 15 {
		p.Bit, p.Type = new(int(bit)), ""
	}
	if isBits(p) {
		p.Type = ""
	}
	if length, ok := o.number("length", "count", "size"); ok && p.Type == "string" {
		p.Length = int(length)
	}
	if scale, ok := o.number("scale", "factor", "multiplier"); ok && scale != 1 {
		p.Scale = &scale
	}
	p.Offset, _ = o.number("offset", "scaleoffset")
	p.Unit = unit(o.text("unit", "units"))
	p.Bad = sentinels(o.take("sentinels", "sentinel", "invalid", "nan"))
	if o["scalefactor"] != nil || o["scaleregister"] != nil {
		return p, errors.New("its scale stands in another register, which gauger does not read")
	}
	return p, nil
}

// mbmapOrder is ABCD and so on by the words big and little of two keys, or as they stand in one.
func mbmapOrder(o object, usual string) string {
	bytes, words := squeeze(o.text("byteorder", "endianness")), squeeze(o.text("wordorder"))
	if letters := strings.ToUpper(bytes); slices.Contains([]string{"ABCD", "CDAB", "BADC", "DCBA"}, letters) {
		return letters
	}
	if bytes == "" && words == "" {
		return usual
	}
	little := func(word string) bool {
		return strings.HasPrefix(word, "little") || strings.HasPrefix(word, "low") || word == "swapped"
	}
	return map[[2]bool]string{{}: "ABCD", {false, true}: "CDAB", {true, false}: "BADC", {true, true}: "DCBA"}[[2]bool{little(bytes), little(words)}]
}

// sentinels are raw numbers that mean no value: one, a list, or objects with a value.
func sentinels(v any) (all []float64) {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			all = append(all, f)
		}
	case []any:
		for _, one := range v {
			all = append(all, sentinels(one)...)
		}
	case map[string]any:
		all = sentinels(v["value"])
	}
	return all
}
