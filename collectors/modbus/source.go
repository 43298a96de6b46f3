package modbus

import (
	"fmt"

	"gauger/collectors/modbus/line"
)

// Source says where the number of a point is read, at which address or port (place) and there, and how its bits become one,
// before scale, offset and unit: what two configurations say alike is the same number. It is stored: another wording would
// look like another gauge. Empty for a point that cannot be read.
func (d Device) Source(p Point) (place, source string) {
	at, err := line.ParseEndpoint(d.URL)
	made, m, wrong := compileOne(d, p)
	if err != nil || wrong != nil {
		return "", ""
	}
	source = fmt.Sprintf("unit %d, %s %d", d.unitID(), made.table, made.from)
	if m.bit >= 0 {
		return at.Place, fmt.Sprintf("%s, bit %d", source, m.bit)
	}
	return at.Place, fmt.Sprintf("%s, %s %s", source, m.kind, m.order.Of(p.registers(m.kind)))
}
