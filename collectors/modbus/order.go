package modbus

import (
	"fmt"
	"strings"
)

// order says where each byte of a value stands on the wire: A is the most significant one.
type order uint8

// The four orders of two registers. For one register only the order of its two bytes matters, for four registers
// the pattern goes on: CDAB is words backwards, BADC bytes swapped in each word, DCBA everything backwards. Four
// more swap the halves of a 64-bit value.
const (
	orderABCD order = iota
	orderCDAB
	orderBADC
	orderDCBA
	orderEFGHABCD
	orderCDABGHEF
	orderFEHGBADC
	orderDCBAHGFE
)

var orderNames = map[string]order{
	"":     orderABCD,
	"AB":   orderABCD,
	"BA":   orderDCBA,
	"ABCD": orderABCD, "ABCDEFGH": orderABCD,
	"CDAB": orderCDAB, "GHEFCDAB": orderCDAB,
	"BADC": orderBADC, "BADCFEHG": orderBADC,
	"DCBA": orderDCBA, "HGFEDCBA": orderDCBA,
	"EFGHABCD": orderEFGHABCD, "CDABGHEF": orderCDABGHEF, "FEHGBADC": orderFEHGBADC, "DCBAHGFE": orderDCBAHGFE,
}

// parseOrder reads an order for a value of so many registers: eight letters are for 64 bits only, two for 16.
func parseOrder(name string, registers int) (order, error) {
	o, ok := orderNames[strings.ToUpper(name)]
	if !ok {
		return 0, fmt.Errorf("unknown order %q; ABCD, CDAB, BADC or DCBA", name)
	}
	if len(name) == 8 && registers != 4 {
		return 0, fmt.Errorf("order %s has eight letters, for 64 bits only; ABCD, CDAB, BADC or DCBA", name)
	}
	if len(name) == 2 && registers != 1 {
		return 0, fmt.Errorf("order %s has two letters, for one register only; ABCD, CDAB, BADC or DCBA", name)
	}
	return o, nil
}

// swapsBytes says whether the two bytes of each register stand the wrong way round.
func (o order) swapsBytes() bool {
	return o == orderBADC || o == orderDCBA || o == orderFEHGBADC || o == orderDCBAHGFE
}

// wordAt is the register, of so many, that holds the n-th most significant word.
func (o order) wordAt(n, registers int) int {
	switch o {
	case orderCDAB, orderDCBA:
		return registers - 1 - n
	case orderEFGHABCD, orderFEHGBADC:
		return n ^ 2
	case orderCDABGHEF, orderDCBAHGFE:
		return n ^ 1
	}
	return n
}

// number is the value of up to four registers as one unsigned number, most significant byte first.
func (o order) number(data []byte) uint64 {
	var v uint64
	for n := range len(data) / 2 {
		i := 2 * o.wordAt(n, len(data)/2)
		high, low := data[i], data[i+1]
		if o.swapsBytes() {
			high, low = low, high
		}
		v = v<<16 | uint64(high)<<8 | uint64(low)
	}
	return v
}
