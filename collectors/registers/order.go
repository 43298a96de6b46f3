package registers

import (
	"fmt"
	"strings"
)

// Order says where each byte of a value stands on the wire: A is the most significant one.
type Order uint8

// The four orders of two registers. For one register only the order of its two bytes matters, for four registers
// the pattern goes on: CDAB is words backwards, BADC bytes swapped in each word, DCBA everything backwards. Four
// more swap the halves of a 64-bit value.
const (
	ABCD Order = iota
	cdab
	badc
	dcba
	efghabcd
	cdabghef
	fehgbadc
	dcbahgfe
)

var orderNames = map[string]Order{
	"":     ABCD,
	"AB":   ABCD,
	"BA":   dcba,
	"ABCD": ABCD, "ABCDEFGH": ABCD,
	"CDAB": cdab, "GHEFCDAB": cdab,
	"BADC": badc, "BADCFEHG": badc,
	"DCBA": dcba, "HGFEDCBA": dcba,
	"EFGHABCD": efghabcd, "CDABGHEF": cdabghef, "FEHGBADC": fehgbadc, "DCBAHGFE": dcbahgfe,
}

// ParseOrder reads an order for a value of so many registers: eight letters are for 64 bits only, two for 16.
func ParseOrder(name string, registers int) (Order, error) {
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

// letters are the orders as the configuration has them.
var letters = [...]string{"ABCD", "CDAB", "BADC", "DCBA", "EFGHABCD", "CDABGHEF", "FEHGBADC", "DCBAHGFE"}

// Of is the order as it is written for a value of so many registers: two that read it alike are written alike.
func (o Order) Of(registers int) string {
	if registers > 1 {
		return letters[o]
	}
	if o.SwapsBytes() {
		return "BA"
	}
	return "AB"
}

// SwapsBytes says whether the two bytes of each register stand the wrong way round.
func (o Order) SwapsBytes() bool {
	return o == badc || o == dcba || o == fehgbadc || o == dcbahgfe
}

// wordAt is the register, of so many, that holds the n-th most significant word.
func (o Order) wordAt(n, registers int) int {
	switch o {
	case cdab, dcba:
		return registers - 1 - n
	case efghabcd, fehgbadc:
		return n ^ 2
	case cdabghef, dcbahgfe:
		return n ^ 1
	}
	return n
}

// Number is the value of up to four registers as one unsigned number, most significant byte first.
func (o Order) Number(data []byte) uint64 {
	var v uint64
	for n := range len(data) / 2 {
		i := 2 * o.wordAt(n, len(data)/2)
		high, low := data[i], data[i+1]
		if o.SwapsBytes() {
			high, low = low, high
		}
		v = v<<16 | uint64(high)<<8 | uint64(low)
	}
	return v
}
