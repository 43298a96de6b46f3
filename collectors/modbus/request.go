package modbus

import (
	"fmt"

	goburrow "github.com/goburrow/modbus"
)

// Table is one of the four address spaces of a unit.
type Table uint8

// The four tables, with the functions that read them: 3, 4, 1 and 2.
const (
	Holding Table = iota
	Input
	Coil
	Discrete
)

var tableNames = [...]string{"holding", "input", "coil", "discrete"}

// String is the table's key in the configuration.
func (t Table) String() string { return tableNames[t] }

// ParseTable finds a table by its name: holding, input, coil or discrete.
func ParseTable(name string) (Table, error) {
	for i, n := range tableNames {
		if n == name {
			return Table(i), nil
		}
	}
	return 0, fmt.Errorf("unknown table %q; holding, input, coil or discrete", name)
}

func (t Table) function() byte { return [...]byte{3, 4, 1, 2}[t] }

// bits says whether an address of this table is one bit, not a register of sixteen.
func (t Table) bits() bool { return t >= Coil }

// most is how many addresses one request may ask for (Modbus Application Protocol V1.1b3, 6.1 to 6.4).
func (t Table) most() int {
	if t.bits() {
		return 2000
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

// bytes is the length of the data that a right answer carries.
func (r Request) bytes() int {
	if r.Table.bits() {
		return (int(r.Quantity) + 7) / 8
	}
	return 2 * int(r.Quantity)
}

// String names the registers for a person, in the words of the configuration.
func (r Request) String() string {
	if r.Quantity == 1 {
		return fmt.Sprintf("%s %d of unit %d", r.Table, r.Address, r.Unit)
	}
	return fmt.Sprintf("%s %d-%d of unit %d", r.Table, r.Address, int(r.Address)+int(r.Quantity)-1, r.Unit)
}

func (r Request) check() error {
	if r.Quantity == 0 || int(r.Quantity) > r.Table.most() {
		return fmt.Errorf("%d addresses in one request; 1 to %d are allowed", r.Quantity, r.Table.most())
	}
	if int(r.Address)+int(r.Quantity) > 1<<16 {
		return fmt.Errorf("address %d is the last one", 1<<16-1)
	}
	return nil
}

// ask lets goburrow's client code the request and decode the answer.
func (r Request) ask(client goburrow.Client) ([]byte, error) {
	switch r.Table {
	case Input:
		return client.ReadInputRegisters(r.Address, r.Quantity)
	case Coil:
		return client.ReadCoils(r.Address, r.Quantity)
	case Discrete:
		return client.ReadDiscreteInputs(r.Address, r.Quantity)
	}
	return client.ReadHoldingRegisters(r.Address, r.Quantity)
}
