package recorder

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"gauger/collectors"
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

// Row is one reading as it is kept. At and Mono are exact to the microsecond, Value to the bit.
type Row struct {
	At      time.Time     // the wall clock's, UTC when it was read from disk
	Mono    time.Duration // since Boot, on a clock that never steps
	Boot    int64         // names the run of the program (or the recorded box's boot) that Mono counts from
	Point   collectors.Point
	Value   float64 // in Unit; NaN where there was no number
	Unit    collectors.Unit
	Quality collectors.Quality
}

// within says whether the row lies in from <= At < to; a zero time is no bound.
func (r Row) within(from, to time.Time) bool {
	return (from.IsZero() || !r.At.Before(from)) && (to.IsZero() || r.At.Before(to))
}

// CSVHeader is the first line of a recording, as backtest reads it.
const CSVHeader = "ts,mono_s,boot,point,value,quality\n"

// CSV writes rows as a recording has them: the form that backtest reads.
type CSV struct {
	Text []byte // whole lines, without the header
	boot int64  // of the last row, as the recorder has it
	runs int64  // of the program that have been seen
}

// Add writes a row. A recorded box's boot count is told as it was recorded; runs of this program, which the recorder
// knows by when they began, are counted from 1.
func (c *CSV) Add(r Row) {
	if r.Boot != c.boot {
		c.boot = r.Boot
		c.runs++
	}
	boot := c.runs
	if r.Boot > 0 && r.Boot <= math.MaxInt32 {
		boot = r.Boot - 1
	}
	b := r.At.AppendFormat(c.Text, "2006-01-02T15:04:05.999999Z07:00")
	b = append(b, ',')
	b = strconv.AppendFloat(b, r.Mono.Seconds(), 'f', -1, 64)
	b = append(b, ',')
	b = strconv.AppendInt(b, boot, 10)
	b = append(b, ',')
	b = append(b, r.Point...)
	b = append(b, ',')
	b = strconv.AppendFloat(b, r.Value, 'g', -1, 64)
	b = append(b, ',')
	b = append(b, r.Quality.String()...)
	c.Text = append(b, '\n')
}
