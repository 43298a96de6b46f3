// Package registers says what the 16-bit words of a device mean: how many make a value, in which order they stand, and
// which number they are. Modbus hands them over as they are, other protocols as hex or base64.
package registers

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kind is the type of a point's bits.
type Kind uint8

// The kinds. Bool is a bit, a String's length is its own, and BCD has one decimal digit in every four bits.
const (
	Bool Kind = iota
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Uint64
	Float32
	Float64
	BCD16
	BCD32
	String
)

var kindNames = []string{"bool", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64", "bcd16", "bcd32", "string"}

// String is the name of the kind in the configuration.
func (k Kind) String() string { return kindNames[k] }

// ParseKind reads the name of a kind, as the configuration has it.
func ParseKind(name string) (Kind, error) {
	i := slices.Index(kindNames, name)
	if i < 0 {
		return 0, fmt.Errorf("unknown type %q; %s", name, strings.Join(kindNames, ", "))
	}
	return Kind(i), nil
}

// Registers is the number of registers that a value of this kind takes; a string's length is its own.
func (k Kind) Registers() int {
	switch k {
	case Int32, Uint32, Float32, BCD32:
		return 2
	case Int64, Uint64, Float64:
		return 4
	}
	return 1
}

// Enron says whether a value of this kind can be one address of 32 bits.
func (k Kind) Enron() bool { return k == Int32 || k == Uint32 || k == Float32 }

// Limits are the least and the greatest raw number of this kind.
func (k Kind) Limits() (low, high float64) {
	switch k {
	case Bool:
		return 0, 1
	case Int16, Int32, Int64:
		bits := 16*k.Registers() - 1
		return -math.Ldexp(1, bits), math.Ldexp(1, bits) - 1
	case Uint16, Uint32, Uint64:
		return 0, math.Ldexp(1, 16*k.Registers()) - 1
	case Float32:
		return -math.MaxFloat32, math.MaxFloat32
	case BCD16:
		return 0, 9999
	case BCD32:
		return 0, 99999999
	}
	return -math.MaxFloat64, math.MaxFloat64
}

// Number turns bits into the raw number they mean. The error says why they mean none.
func (k Kind) Number(bits uint64) (float64, error) {
	switch k {
	case Bool:
		return float64(min(bits, 1)), nil
	case Int16:
		return float64(int16(bits)), nil
	case Int32:
		return float64(int32(bits)), nil
	case Int64:
		return float64(int64(bits)), nil
	case Float32:
		return finite(float64(math.Float32frombits(uint32(bits))))
	case Float64:
		return finite(math.Float64frombits(bits))
	case BCD16, BCD32:
		return bcd(bits, 4*k.Registers())
	}
	return float64(bits), nil
}

// leastSeen is the least size of a number that a person reads; what is below it and not zero is nothing that was measured.
const leastSeen = 1e-2

// leastNoise is how near to zero a device's own arithmetic comes that subtracts two numbers of 64 bits which are not quite equal.
const leastNoise = 1e-14

// endOfMantissa are bits that are zero in what arithmetic on floats of 32 bits leaves near zero, and in hardly any level as it is measured.
const endOfMantissa = 0xFFF

// OtherOrders names the orders in which the registers' bits are a number that a person reads, where in their own they are one of no
// sense: nearer to zero than anything that is measured, or greater than most. Nothing is found of another kind than a float.
// Between what arithmetic leaves and what is read only the swap of words speaks, where it makes a level or a temperature, and the swap of
// bytes where the number is one that the point has by its limits (within; nil: nobody knows them).
func (k Kind) OtherOrders(own Order, data []byte, v, most float64, within func(float64) bool) (names string) {
	size := math.Abs(v)
	if k != Float32 && k != Float64 || v == 0 {
		return ""
	}
	amidst := size <= most && size > leastNoise
	for _, o := range []Order{ABCD, cdab, badc, dcba} {
		other, err := k.Number(o.Number(data))
		switch {
		case o == own || err != nil || within != nil && !within(other):
		case !amidst && math.Abs(other) >= leastSeen && math.Abs(other) <= most,
			amidst && o == own^1 && most <= 1e6 && own <= dcba && size < 1e-4 && other >= 1 && other <= 1e4, // ABCD and CDAB, BADC and DCBA
			amidst && within != nil && size < 1e-4 && other >= 1 && own.Number(data)&endOfMantissa != 0:
			if names != "" {
				names += " or "
			}
			names += letters[o]
		}
	}
	return names
}

func finite(v float64) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return math.NaN(), fmt.Errorf("the device says %v", v)
	}
	return v, nil
}

// bcd reads one decimal digit from every four bits.
func bcd(bits uint64, digits int) (float64, error) {
	var v uint64
	for i := digits - 1; i >= 0; i-- {
		digit := bits >> (4 * i) & 0xF
		if digit > 9 {
			return math.NaN(), fmt.Errorf("%0*X is not a decimal number in BCD", digits, bits)
		}
		v = 10*v + digit
	}
	return float64(v), nil
}

// Digits are all digits of a 64-bit integer that a float64 cannot hold exactly; empty where it can.
func (k Kind) Digits(bits uint64) string {
	const exact = 1 << 53
	if v := int64(bits); k == Int64 && (v > exact || v < -exact) {
		return fmt.Sprint(v)
	}
	if k == Uint64 && bits > exact {
		return fmt.Sprint(bits)
	}
	return ""
}
