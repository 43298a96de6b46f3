package modbus

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
	"gauger/collectors/registers"
)

// point is a Point made ready for reading, kept small: a site may have thousands.
type point struct {
	*conversion
	nameAt     uint32 // in the names of all points
	nameLength uint32
	from       uint16 // the first of its addresses
	count      uint16
	table      line.Table
	verify     bool
	reread     bool // asked for a second time: twice itself, or a companion of one that is
}

// id is the point's name on the site.
func (p *point) id() collectors.Point {
	return collectors.Point(p.names[p.nameAt : p.nameAt+p.nameLength])
}

// span of the point's addresses.
func (p *point) span() line.Span {
	return line.Span{Table: p.table, From: int(p.from), Count: int(p.count)}
}

// conversion of a point's registers into a reading. Points in a row that are treated alike share one.
type conversion struct {
	names     string // of all points of the device
	unit      collectors.Unit
	kind      registers.Kind
	order     registers.Order
	bit       int8 // -1: none
	unscaled  bool // neither scale nor offset: whole numbers stay whole
	scale     float64
	offset    float64
	most      float64 // that a raw number of the unit may be
	tolerance float64
	limits    *valueLimits // nil: none
	age       *ageRule
	good      *goodRule
}

// valueLimits beyond which a value is Bad. They are rare, and apart for that reason.
type valueLimits struct {
	low, high float64   // of the result, in its unit
	bad       []float64 // raw numbers that mean no value
}

// badReading is a reading without a value, and why.
func (p *point) badReading(at time.Time, why error) collectors.Reading {
	return collectors.Reading{Point: p.id(), Unit: p.unit, Value: math.NaN(), At: at, Err: why}
}

// decode turns the point's registers, or the byte that holds its bit, into a reading. data is exactly the span.
func (p *point) decode(data []byte, at time.Time) collectors.Reading {
	if p.kind == registers.String {
		return p.decodeText(data, at)
	}
	bits := p.rawBits(data)
	raw, err := p.kind.Number(bits)
	if err != nil {
		return p.badReading(at, err)
	}
	value := p.scaled(raw)
	if err := p.validate(data, raw, value); err != nil {
		return p.badReading(at, err)
	}
	r := collectors.Reading{Point: p.id(), Unit: p.unit, Value: value, At: at, Quality: collectors.Good}
	if p.unscaled {
		r.Text = p.kind.Digits(bits)
	}
	if !p.table.IsBits() {
		if orders := p.otherOrders(data, raw); orders != "" {
			r.Quality = collectors.Uncertain
			r.Err = fmt.Errorf("%s %s looks like another word order: try order: %s, or look with `gauger probe`", plainNumber(value), p.unit, orders)
		}
	}
	return r
}

// otherOrders are those in which a float of no sense is one that the point may have; where its limits allow none of them, they say nothing.
func (p *point) otherOrders(data []byte, raw float64) (names string) {
	if p.limits != nil && !math.IsInf(p.limits.high, 1) {
		names = p.kind.OtherOrders(p.order, data, raw, p.most, func(v float64) bool { return p.withinLimits(p.scaled(v), 0) })
	}
	if names == "" {
		names = p.kind.OtherOrders(p.order, data, raw, p.most, nil)
	}
	return names
}

func (p *point) scaled(raw float64) float64 {
	if p.unscaled {
		return raw
	}
	return raw*p.scale + p.offset
}

// mostOf is the greatest raw number that makes sense in a unit: of lengths and temperatures there are no large ones.
func mostOf(u collectors.Unit) float64 {
	_, temperature := u.Fahrenheit(0)
	switch strings.ToLower(string(u)) {
	case "in", "ft", "m", "cm", "mm", "%":
		return 1e6
	}
	if temperature {
		return 1e6
	}
	return 1e15
}

// rawBits are the point's bits as one number.
func (p *point) rawBits(data []byte) uint64 {
	if p.table.IsBits() {
		return uint64(data[0] & 1)
	}
	v := p.order.Number(data)
	if p.bit >= 0 {
		v = v >> p.bit & 1
	}
	return v
}

// validate says why a number is no value for this point; nil when it is one.
func (p *point) validate(data []byte, raw, value float64) error {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return fmt.Errorf("%v times %v plus %v is not a number", raw, p.scale, p.offset)
	}
	if p.limits == nil {
		return nil
	}
	if p.sentinel(raw) {
		return fmt.Errorf("the device says %s, which means no value", plainNumber(raw))
	}
	if !p.withinLimits(value, 0) {
		return fmt.Errorf("%v is outside %v to %v %s%s", value, p.limits.low, p.limits.high, p.unit, p.orderHint(data, value))
	}
	return nil
}

// orderHint names the one order in which the same registers lie within the limits, where a value of the point's own order lies far beyond.
func (p *point) orderHint(data []byte, value float64) (hint string) {
	float := p.kind == registers.Float32 || p.kind == registers.Float64
	if p.kind.Registers() == 1 || p.bit >= 0 || p.withinLimits(value, p.limits.high-p.limits.low) || float && math.Abs(value) < 1e6 { // such a float is one that a device may say
		return ""
	}
	for o := range registers.Order(4) {
		raw, err := p.kind.Number(o.Number(data))
		v := p.scaled(raw)
		if o == p.order || err != nil || math.Abs(raw) < 0.01 || !p.withinLimits(v, 0) {
			continue
		}
		if hint != "" {
			return ""
		}
		hint = fmt.Sprintf("; in order %s it would be %.6g %s", o.Of(p.kind.Registers()), v, p.unit)
	}
	return hint
}

func (p *point) withinLimits(value, beyond float64) bool {
	return value >= p.limits.low-beyond && value <= p.limits.high+beyond
}

func (p *point) sentinel(raw float64) bool {
	return slices.ContainsFunc(p.limits.bad, func(b float64) bool { return raw == b || p.kind == registers.Float32 && float32(raw) == float32(b) })
}

// decodeText reads two characters from each register, up to the first zero, without the blanks around them.
func (p *point) decodeText(data []byte, at time.Time) collectors.Reading {
	text := bytes.Clone(data)
	if p.order.SwapsBytes() {
		for i := 0; i+1 < len(text); i += 2 {
			text[i], text[i+1] = text[i+1], text[i]
		}
	}
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	clean := strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return unicode.ReplacementChar
		}
		return c
	}, strings.ToValidUTF8(string(text), "\uFFFD"))
	return collectors.Reading{Point: p.id(), Unit: p.unit, Value: math.NaN(), Text: strings.TrimSpace(clean), At: at, Quality: collectors.Good}
}

// agrees says whether two readings of the point may both be true.
func (p *point) agrees(one, other collectors.Reading) bool {
	if p.kind == registers.String || one.Text != "" || other.Text != "" {
		return one.Text == other.Text
	}
	return math.Abs(one.Value-other.Value) <= p.tolerance
}

// plainNumber is a number as a person writes it: 2147483647, not 2.147483647e+09.
func plainNumber(v float64) string {
	if math.Abs(v) < 1e15 && math.Abs(v) >= 1e-4 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// locate finds the one key of a point that says where it is, and what it says.
func (p Point) locate() (key string, table line.Table, address int, err error) {
	given := []struct {
		key   string
		value *int
		table line.Table
	}{
		{"holding", p.Holding, line.Holding}, {"input", p.Input, line.Input}, {"coil", p.Coil, line.Coil}, {"discrete", p.Discrete, line.Discrete},
		{"modicon", p.Modicon, 0},
	}
	for _, g := range given {
		if g.value == nil {
			continue
		}
		if key != "" {
			return g.key, 0, 0, fmt.Errorf("both %s and %s say where the point is; keep one", key, g.key)
		}
		key, table, address = g.key, g.table, *g.value
	}
	switch {
	case key == "":
		return "name", 0, 0, errors.New("nothing says where the point is; one of holding, input, coil, discrete, modicon")
	case key == "modicon":
		table, address, err = modicon(address)
	case address < 0 || address > 65535:
		err = fmt.Errorf("%s %d: addresses go from 0 to 65535; for 4xxxx numbers use modicon", key, address)
	}
	return key, table, address, err
}

// modicon splits a one-based number with its kind in front: five digits reach 9999, six digits 65536.
func modicon(n int) (line.Table, int, error) {
	tables := map[int]line.Table{0: line.Coil, 1: line.Discrete, 3: line.Input, 4: line.Holding}
	for _, reach := range []int{10_000, 100_000} {
		table, known := tables[n/reach]
		first := n % reach
		if known && first >= 1 && first <= 65536 && (reach == 10_000 || n >= reach) {
			return table, first - 1, nil
		}
	}
	return 0, 0, fmt.Errorf("%d is no modicon number: those of holding registers are 40001 to 49999 (or 400001 to 465536), of input registers 30001 and up, of discrete inputs 10001 and up, of coils 1 to 9999", n)
}
