package line

import (
	"encoding/binary"
	"fmt"
)

// Table is one of the address spaces of a unit.
type Table uint8

// The four tables of the standard, with the functions that read them: 3, 4, 1 and 2. In Enron's (Daniel's) way of
// numbering an address of holding or input registers is one value of 32 bits, and a request counts values: asked
// for 7 a unit sends 28 bytes. Those are tables of their own here, so that no request mixes them with registers.
const (
	Holding Table = iota
	Input
	Coil
	Discrete
	EnronHolding
	EnronInput
)

var tableNames = [...]string{"holding", "input", "coil", "discrete", "enron holding", "enron input"}

// String is the table's key in the configuration, with the word enron before it where that is set.
func (t Table) String() string { return tableNames[t] }

// ParseTable finds one of the standard's tables by its name: holding, input, coil or discrete.
func ParseTable(name string) (Table, error) {
	for i, n := range tableNames[:EnronHolding] {
		if n == name {
			return Table(i), nil
		}
	}
	return 0, fmt.Errorf("unknown table %q; holding, input, coil or discrete", name)
}

func (t Table) function() byte { return [...]byte{3, 4, 1, 2, 3, 4}[t] }

// IsBits says whether an address of this table is one bit.
func (t Table) IsBits() bool { return t == Coil || t == Discrete }

// IsEnron says whether an address of this table is 32 bits.
func (t Table) IsEnron() bool { return t >= EnronHolding }

// Enron is the table when its addresses are numbered in Enron's way.
func (t Table) Enron() Table {
	switch t {
	case Holding:
		return EnronHolding
	case Input:
		return EnronInput
	}
	return t
}

// DataLength of so many addresses, in bytes.
func (t Table) DataLength(quantity int) int {
	switch {
	case t.IsBits():
		return (quantity + 7) / 8
	case t.IsEnron():
		return 4 * quantity
	}
	return 2 * quantity
}

// MaxQuantity of addresses in one request (Modbus Application Protocol V1.1b3, 6.1 to 6.4); of Enron's
// as many as fit into the same answer.
func (t Table) MaxQuantity() int {
	switch {
	case t.IsBits():
		return 2000
	case t.IsEnron():
		return 62
	}
	return 125
}

// Request asks one unit for Quantity addresses from Address on: registers or bits, as the table says.
type Request struct {
	Unit     byte
	Table    Table
	Address  uint16
	Quantity uint16
}

// dataLength is the length of the data that a right answer carries.
func (r Request) dataLength() int { return r.Table.DataLength(int(r.Quantity)) }

// Span of the addresses that are read.
func (r Request) span() Span { return Span{r.Table, int(r.Address), int(r.Quantity)} }

// pdu is the request without what a transport puts round it: function, address, quantity.
func (r Request) pdu() []byte {
	pdu := binary.BigEndian.AppendUint16([]byte{r.Table.function()}, r.Address)
	return binary.BigEndian.AppendUint16(pdu, r.Quantity)
}

// isRefusal says whether an answer is an exception to this request.
func (r Request) isRefusal(pdu []byte) bool {
	return len(pdu) == 2 && pdu[0] == r.Table.function()|0x80
}

// isData says whether an answer is exactly the data that was asked for.
func (r Request) isData(pdu []byte) bool {
	return len(pdu) == 2+r.dataLength() && pdu[0] == r.Table.function() && int(pdu[1]) == r.dataLength()
}

// String names the registers for a person, in the words of the configuration.
func (r Request) String() string {
	if r.Quantity == 1 {
		return fmt.Sprintf("%s %d of unit %d", r.Table, r.Address, r.Unit)
	}
	return fmt.Sprintf("%s %d-%d of unit %d", r.Table, r.Address, int(r.Address)+int(r.Quantity)-1, r.Unit)
}

// Check says why a request cannot be made.
func (r Request) Check() error {
	if r.Quantity == 0 || int(r.Quantity) > r.Table.MaxQuantity() {
		return fmt.Errorf("read %s: %d addresses in one request; 1 to %d are allowed", r, r.Quantity, r.Table.MaxQuantity())
	}
	if int(r.Address)+int(r.Quantity) > 1<<16 {
		return fmt.Errorf("read %s: address %d is the last one", r, 1<<16-1)
	}
	return nil
}

// TableOfFunction are the tables that functions 1 to 4 read.
var TableOfFunction = map[byte]Table{1: Coil, 2: Discrete, 3: Holding, 4: Input}

// ParseRequest reads the function and what follows it as a read; ok is false when it is none.
func ParseRequest(unit byte, pdu []byte) (r Request, ok bool) {
	if len(pdu) != 5 {
		return Request{}, false
	}
	table, ok := TableOfFunction[pdu[0]]
	return Request{unit, table, binary.BigEndian.Uint16(pdu[1:]), binary.BigEndian.Uint16(pdu[3:])}, ok
}
