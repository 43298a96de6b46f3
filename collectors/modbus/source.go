package modbus

import (
	"fmt"

	"gauger/collectors/modbus/line"
	"gauger/collectors/registers"
)

// Bits says in which registers a point's number stands, and what makes a number of them.
type Bits struct {
	Table         line.Table // Holding or Input
	From, Count   int
	Kind          registers.Kind
	Order         string
	Scale, Offset float64
}

// Bits of a point of one number in ordinary registers; false: it is a bit, a text or one of Enron's.
func (d Device) Bits(p Point) (Bits, bool) {
	made, m, err := compileOne(d, p)
	if err != nil || made.table.IsBits() || m.bit >= 0 || m.kind == registers.String || made.table != line.Holding && made.table != line.Input {
		return Bits{}, false
	}
	return Bits{made.table, int(made.from), int(made.count), m.kind, m.order.Of(int(made.count)), m.scale, m.offset}, true
}

// Place is the host and port, or the serial port, behind which the device is. Empty where its URL cannot be read.
func (d Device) Place() string {
	at, err := line.ParseEndpoint(d.URL)
	if err != nil {
		return ""
	}
	return at.Place
}

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
