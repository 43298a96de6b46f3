package maps

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"gauger/collectors/modbus"
)

// ignitionPath is the part of an OPC item path behind the device: a unit id, a designator, an address, a bit or a length.
var ignitionPath = regexp.MustCompile(`^(?:(\d+)\.)?(HR|IR|DI|C)(US|UI_64|UI|I_64|I|F|D|BCD_32|BCD|S)?(\d+)(?:[.:](\d+))?$`)

// ignitionTypes are ours for the letters behind HR and IR.
var ignitionTypes = map[string]string{
	"": "int16", "US": "uint16", "I": "int32", "UI": "uint32", "I_64": "int64", "UI_64": "uint64", "F": "float32", "D": "float64", "BCD": "bcd16", "BCD_32": "bcd32", "S": "string",
}

var ignitionTables = map[string]byte{"C": '0', "DI": '1', "IR": '3', "HR": '4'}

// readIgnition makes points of a tag list of Ignition whose tags read its Modbus driver.
func readIgnition(t *table, from Counting) Map {
	m := Map{Kind: "Ignition"}
	devices := map[string]bool{}
	for _, r := range t.rows {
		path := r.get("opcitempath")
		name := strings.TrimSpace(r.get("path") + r.get("name"))
		if name == "" || path == "" {
			if name != "" {
				m.leave(name, "line %d: it reads nothing itself (a folder, a memory tag or an expression)", r.line)
			}
			continue
		}
		_, path, _ = strings.Cut(path, "[")
		device, item, _ := strings.Cut(path, "]")
		p, unitID, err := ignitionPoint(r, item, from)
		if err != nil {
			m.leave(name, "line %d: %v", r.line, err)
			continue
		}
		devices[fmt.Sprint(device, " ", unitID)] = true
		if unitID != 0 {
			m.Unit = unitID
		}
		m.add(p, name, r.get("documentation"))
	}
	if len(devices) > 1 {
		m.Assumed = append(m.Assumed, fmt.Sprintf("the list has %d devices or unit ids, and all its tags are taken for one; take out what belongs to others", len(devices)))
	}
	m.assumeOrder("Reverse Word Order of Ignition's device is on; ABCD where it is off")
	if from == Unsaid {
		m.Assumed = append(m.Assumed, "addresses count from 1 (One-Based Addressing, as Ignition's devices are delivered); else give --map-base 0")
	}
	return m
}

func ignitionPoint(r row, item string, from Counting) (p modbus.Point, unitID int, err error) {
	part := ignitionPath.FindStringSubmatch(item)
	if part == nil {
		return p, 0, fmt.Errorf("%q is no address of Ignition's Modbus driver such as HRF101", item)
	}
	unitID, _ = strconv.Atoi(part[1]) // digits, or nothing
	address, err := strconv.Atoi(part[4])
	if err != nil {
		return p, unitID, err
	}
	if from != FromZero {
		address--
	}
	if err := place(&p, ignitionTables[part[2]], address); err != nil {
		return p, unitID, err
	}
	after, _ := strconv.Atoi(part[5])
	switch {
	case isBits(p):
	case part[3] == "S":
		p.Type, p.Length = "string", after
		if after == 0 {
			return p, unitID, errors.New("a string without its length")
		}
	case part[5] != "":
		if after > 15 {
			return p, unitID, fmt.Errorf("bit %d: a register has 0 to 15", after)
		}
		p.Bit = &after
	default:
		p.Type = ignitionTypes[part[3]]
	}
	p.Unit = unit(r.get("engunit"))
	switch mode := strings.ToLower(r.get("scalemode")); mode {
	case "", "0", "off":
	case "1", "linear":
		err = scaling(&p, r.get("rawlow"), r.get("rawhigh"), r.get("scaledlow"), r.get("scaledhigh"))
	default:
		err = fmt.Errorf("its scaling is %s, and gauger's is linear", mode)
	}
	return p, unitID, err
}
