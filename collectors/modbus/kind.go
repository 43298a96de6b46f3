package modbus

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// kind is how the bits of a point are meant.
type kind uint8

const (
	kindBool kind = iota
	kindInt16
	kindUint16
	kindInt32
	kindUint32
	kindInt64
	kindUint64
	kindFloat32
	kindFloat64
	kindBCD16
	kindBCD32
	kindString
)

var kindNames = []string{"bool", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64", "bcd16", "bcd32", "string"}

// String is the name of the kind in the configuration.
func (k kind) String() string { return kindNames[k] }

func parseKind(name string) (kind, error) {
	i := slices.Index(kindNames, name)
	if i < 0 {
		return 0, fmt.Errorf("unknown type %q; %s", name, strings.Join(kindNames, ", "))
	}
	return kind(i), nil
}

// registers is how many registers a value of this kind takes; a string's length is its own.
func (k kind) registers() int {
	switch k {
	case kindInt32, kindUint32, kindFloat32, kindBCD32:
		return 2
	case kindInt64, kindUint64, kindFloat64:
		return 4
	}
	return 1
}

// enron says whether a value of this kind can be one address of 32 bits.
func (k kind) enron() bool { return k == kindInt32 || k == kindUint32 || k == kindFloat32 }

// limits are the least and the greatest raw number of this kind.
func (k kind) limits() (low, high float64) {
	switch k {
	case kindBool:
		return 0, 1
	case kindInt16, kindInt32, kindInt64:
		bits := 16*k.registers() - 1
		return -math.Ldexp(1, bits), math.Ldexp(1, bits) - 1
	case kindUint16, kindUint32, kindUint64:
		return 0, math.Ldexp(1, 16*k.registers()) - 1
	case kindFloat32:
		return -math.MaxFloat32, math.MaxFloat32
	case kindBCD16:
		return 0, 9999
	case kindBCD32:
		return 0, 99999999
	}
	return -math.MaxFloat64, math.MaxFloat64
}

// number turns bits into the raw number they mean. The error says why they mean none.
func (k kind) number(bits uint64) (float64, error) {
	switch k {
	case kindBool:
		return float64(min(bits, 1)), nil
	case kindInt16:
		return float64(int16(bits)), nil
	case kindInt32:
		return float64(int32(bits)), nil
	case kindInt64:
		return float64(int64(bits)), nil
	case kindFloat32:
		return finite(float64(math.Float32frombits(uint32(bits))))
	case kindFloat64:
		return finite(math.Float64frombits(bits))
	case kindBCD16, kindBCD32:
		return bcd(bits, 4*k.registers())
	}
	return float64(bits), nil
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

// digits are all digits of a 64-bit integer that a float64 cannot hold exactly; empty where it can.
func (k kind) digits(bits uint64) string {
	const exact = 1 << 53
	if v := int64(bits); k == kindInt64 && (v > exact || v < -exact) {
		return fmt.Sprint(v)
	}
	if k == kindUint64 && bits > exact {
		return fmt.Sprint(bits)
	}
	return ""
}
