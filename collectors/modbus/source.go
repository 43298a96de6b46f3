package modbus

import "fmt"

// Source says where the number of a point is read and how its bits become one, before scale, offset and unit: what two
// configurations say alike is the same number. It is stored: another wording would look like another gauge. Empty for a
// point that cannot be read.
func (d Device) Source(p Point) string {
	at, err := parseEndpoint(d.URL)
	made, m, wrong := compilePoint(d, p)
	if err != nil || wrong != nil {
		return ""
	}
	text := fmt.Sprintf("%s, unit %d, %s %d", at.place, d.UnitID(), made.table, made.from)
	if m.bit >= 0 {
		return fmt.Sprintf("%s, bit %d", text, m.bit)
	}
	return fmt.Sprintf("%s, %s %s", text, m.kind, m.order.Of(p.count(m.kind)))
}
