package recorder

import (
	"encoding/binary"
	"math"
)

// Forms of a value, four bits of a row's first byte. Each is exact; the encoder takes the one that fits the point.
const (
	formSame    = 0 // the point's last value again
	formFloat32 = 1 // a 32-bit float, as registers hold: how many steps it is from the last
	formDecimal = 2 // to 8: a number with 0 to 6 decimals, as texts hold: how many units of its last place from the last
	formBits    = 9 // any other: the bits that differ from the last

	mostDecimals = 6
)

var powers = [mostDecimals + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6}

// mostUnits is the largest whole number that a float64 holds with all its neighbours.
const mostUnits = 1 << 53

// units is v in units of its last of n decimals; 0 where that is no number worth a difference.
func units(v float64, n int) int64 {
	u := math.Round(v * powers[n])
	if !(math.Abs(u) < mostUnits) {
		return 0
	}
	return int64(u)
}

// steps is the rank of v, as a 32-bit float, in the order of all those with its sign; 0 where it is no number.
func steps(v float64) int64 {
	if v != v {
		return 0
	}
	return int64(math.Float32bits(float32(v)))
}

// fits says whether form gives v back to the bit.
func fits(form byte, v float64) bool {
	bits := math.Float64bits(v)
	switch {
	case form == formFloat32:
		return math.Float64bits(float64(float32(v))) == bits && v == v
	case form >= formDecimal && form <= formDecimal+mostDecimals:
		n := int(form - formDecimal)
		return math.Float64bits(float64(units(v, n))/powers[n]) == bits
	}
	return true
}

// formOf finds the form for v, the last one of the point first. What is no number says nothing about those to come.
func (t *track) formOf(v float64) byte {
	if math.Float64bits(v) == math.Float64bits(t.value) {
		return formSame
	}
	if v != v || math.IsInf(v, 0) {
		return formBits
	}
	if t.form != formSame && fits(t.form, v) {
		return t.form
	}
	t.form = formBits
	for _, form := range [...]byte{formDecimal, formDecimal + 1, formDecimal + 2, formDecimal + 3, formFloat32, formDecimal + 4, formDecimal + 5, formDecimal + 6} {
		if fits(form, v) {
			t.form = form
			break
		}
	}
	return t.form
}

// appendValue writes v as its form has it, and makes it the point's last.
func (t *track) appendValue(b []byte, form byte, v float64) []byte {
	switch {
	case form == formSame:
	case form == formFloat32:
		b = binary.AppendVarint(b, steps(v)-steps(t.value))
	case form == formBits:
		b = binary.AppendUvarint(b, math.Float64bits(v)^math.Float64bits(t.value))
	default:
		n := int(form - formDecimal)
		b = binary.AppendVarint(b, units(v, n)-units(t.value, n))
	}
	t.value = v
	return b
}

// readValue is appendValue the other way round.
func (t *track) readValue(in *cursor, form byte) float64 {
	switch {
	case form == formSame:
	case form == formFloat32:
		t.value = float64(math.Float32frombits(uint32(steps(t.value) + in.varint())))
	case form == formBits:
		t.value = math.Float64frombits(math.Float64bits(t.value) ^ in.uvarint())
	case form <= formDecimal+mostDecimals:
		n := int(form - formDecimal)
		t.value = float64(units(t.value, n)+in.varint()) / powers[n]
	default:
		in.bad = true
	}
	return t.value
}
