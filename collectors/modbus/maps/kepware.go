package maps

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gauger/collectors/modbus"
)

// kepwareTypes are ours for Kepware's.
var kepwareTypes = map[string]string{
	"boolean": "bool", "short": "int16", "word": "uint16", "long": "int32", "dword": "uint32", "float": "float32", "double": "float64",
	"bcd": "bcd16", "lbcd": "bcd32", "llong": "int64", "qword": "uint64", "string": "string",
}

// readKepware makes points of a tag list of KEPServerEX's Modbus drivers.
func readKepware(t *table, from Counting) Map {
	m := Map{Kind: "Kepware"}
	for _, r := range t.rows {
		name := r.get("tagname")
		if name == "" {
			continue
		}
		p, err := kepwarePoint(r, from)
		if err != nil {
			m.leave(name, "line %d: %v", r.line, err)
			continue
		}
		if r.get("clamplow") == "1" || r.get("clamphigh") == "1" {
			m.leave(name, "its clamp: gauger refuses what is out of range (range: at the point) and bends nothing")
		}
		m.add(p, name, r.get("description"))
	}
	m.assumeOrder("First Word Low, as Kepware's devices are delivered")
	if from == Unsaid {
		m.Assumed = append(m.Assumed, "addresses count from 1 (Zero-Based Addressing of Kepware's device, as delivered); else give --map-base 0")
	}
	return m
}

// assumeOrder says which order of words points of several registers have, which no list of tags holds.
func (m *Map) assumeOrder(why string) {
	for _, p := range m.Points {
		if wide(p.Type) {
			m.Order = "CDAB"
			m.Assumed = append(m.Assumed, "word order CDAB ("+why+"); `gauger commission` proves it with the gauge")
			return
		}
	}
}

func kepwarePoint(r row, from Counting) (p modbus.Point, err error) {
	kind := strings.ToLower(r.get("datatype"))
	p.Type = kepwareTypes[kind]
	address, rest, _ := strings.Cut(r.get("address"), ".")
	switch {
	case p.Type == "":
		return p, fmt.Errorf("data type %q has no counterpart", r.get("datatype"))
	case strings.EqualFold(r.get("clientaccess"), "WO"):
		return p, errors.New("can only be written")
	}
	if err := kepwarePlace(&p, address, from); err != nil {
		return p, err
	}
	switch {
	case isBits(p):
		p.Type = ""
	case p.Type == "string":
		length, order := strings.TrimRight(rest, "HLhl"), strings.ToUpper(rest)
		bytes, err := strconv.Atoi(length)
		if err != nil || bytes < 1 {
			return p, fmt.Errorf("address %q names no length of the string", r.get("address"))
		}
		p.Length = (bytes + 1) / 2
		if strings.HasSuffix(order, "L") {
			p.Order = "BADC"
		}
	case rest != "":
		bit, err := strconv.Atoi(rest)
		if err != nil || bit < 0 || bit > 15 {
			return p, fmt.Errorf("address %q: %q is no bit of a register", r.get("address"), rest)
		}
		p.Bit, p.Type = &bit, ""
	case p.Type == "bool":
		return p, errors.New("a register as a boolean without its bit")
	}
	return p, kepwareScale(&p, r)
}

// kepwarePlace reads 4xxxxx, of which the zeros behind the table's digit may be missing.
func kepwarePlace(p *modbus.Point, address string, from Counting) error {
	if strings.ContainsAny(address, "[") {
		return errors.New("an array; name its elements one by one")
	}
	n, err := strconv.Atoi(address[min(1, len(address)):])
	if err != nil || n < 0 {
		return fmt.Errorf("%q is no Modbus address such as 400101", address)
	}
	if from != FromZero {
		n--
	}
	return place(p, address[0], n)
}

func kepwareScale(p *modbus.Point, r row) error {
	p.Unit = unit(r.get("engunits"))
	switch mode := strings.ToLower(r.get("scaling")); mode {
	case "", "none":
	case "linear":
		if err := scaling(p, r.get("rawlow"), r.get("rawhigh"), r.get("scaledlow"), r.get("scaledhigh")); err != nil {
			return err
		}
	default:
		return fmt.Errorf("its scaling is %s, and gauger's is linear", mode)
	}
	if r.get("negatevalue") == "1" {
		scale := 1.0
		if p.Scale != nil {
			scale = *p.Scale
		}
		scale, p.Offset = -scale, 0-p.Offset
		p.Scale = &scale
	}
	return nil
}
