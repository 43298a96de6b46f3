package sparkplug

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gauger/collectors"
)

// The fields of a Sparkplug B payload and of its metrics.
const (
	payloadTime    = 1
	payloadMetrics = 2
	payloadSeq     = 3

	metricName       = 1
	metricAlias      = 2
	metricTime       = 3
	metricType       = 4
	metricHistorical = 5
	metricNull       = 7
	metricProperties = 9
	valueInt         = 10
	valueLong        = 11
	valueFloat       = 12
	valueDouble      = 13
	valueBool        = 14
	valueString      = 15
	valueLast        = 19
)

// DataType is a metric's type by its number in Sparkplug B.
type DataType uint32

const (
	typeInt8 DataType = 1 + iota
	typeInt16
	typeInt32
	typeInt64
	typeUInt8
	typeUInt16
	typeUInt32
	typeUInt64
	typeFloat
	typeDouble
	typeBoolean
	typeString
	typeDateTime
	typeText
	typeUUID
)

var dataTypes = strings.Fields("unknown Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float Double Boolean String DateTime Text UUID " +
	"DataSet Bytes File Template PropertySet PropertySetList Int8Array Int16Array Int32Array Int64Array UInt8Array UInt16Array " +
	"UInt32Array UInt64Array FloatArray DoubleArray BooleanArray StringArray DateTimeArray")

// String is the type's name in the specification.
func (t DataType) String() string {
	if int(t) < len(dataTypes) {
		return dataTypes[t]
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// Metric is one value in a payload. Name and value lie in the message.
type Metric struct {
	Name       []byte
	alias      uint64
	aliased    bool
	Millis     uint64 // since 1970; 0: not told
	Type       DataType
	Historical bool // not the present value
	null       bool
	Quality    OPC

	field field // of the value; id 0: none
	err   error // why the metric is not in order; what stands before that is there
}

// Payload is a Sparkplug B message that has been found in order, each metric apart.
type Payload struct {
	raw    []byte
	Millis uint64 // when it was sent, in milliseconds since 1970; 0: not told
	seq    uint64
	hasSeq bool // seq is there
}

// Parse checks a message. A metric that is not in order is no fault of the others: its value tells (Metric.Value).
func Parse(raw []byte) (*Payload, error) {
	p := &Payload{raw: raw}
	err := fields(raw, func(f field) error {
		switch f.id {
		case payloadTime:
			p.Millis = f.bits
			return f.as(wireVarint)
		case payloadSeq:
			p.seq, p.hasSeq = f.bits, true
			return f.as(wireVarint)
		case payloadMetrics:
			return f.as(wireBytes)
		}
		return nil
	})
	if err != nil {
		return p, fmt.Errorf("is no Sparkplug B payload: %w", err)
	}
	return p, nil
}

// Each shows the metrics in order. They are read again each time: a list of them could be many times the message.
func (p *Payload) Each(see func(*Metric)) {
	var m Metric
	_ = fields(p.raw, func(f field) error { // Parse has found it in order
		if f.id == payloadMetrics {
			m = parseMetric(f.bytes)
			see(&m)
		}
		return nil
	})
}

// parseMetric reads one metric, up to what is not in order. Data sets and templates in it are not gone into, so that their
// depth does not matter.
func parseMetric(raw []byte) (m Metric) {
	m.Quality = opcUntold
	m.err = fields(raw, func(f field) error {
		wire, known := wireOf(f.id)
		if !known {
			return nil
		}
		err := f.as(wire)
		if err != nil {
			return err
		}
		switch f.id {
		case metricName:
			m.Name = f.bytes
		case metricAlias:
			m.alias, m.aliased = f.bits, true
		case metricTime:
			m.Millis = f.bits
		case metricType:
			m.Type = DataType(min(f.bits, math.MaxUint32))
		case metricHistorical:
			m.Historical = f.bits != 0
		case metricNull:
			m.null = f.bits != 0
		case metricProperties:
			m.Quality, err = qualityOf(f.bytes)
		default:
			m.field = f
		}
		return err
	})
	return m
}

// wireOf is the wire type of a field of a metric; false for one that nobody reads.
func wireOf(id uint64) (wire byte, known bool) {
	switch id {
	case metricAlias, metricTime, metricType, metricHistorical, metricNull, valueInt, valueLong, valueBool:
		return wireVarint, true
	case valueFloat:
		return wireFixed32, true
	case valueDouble:
		return wireFixed64, true
	}
	return wireBytes, id == metricName || id == metricProperties || id >= valueString && id <= valueLast
}

// qualityOf looks for the property Quality: keys and values stand in two lists beside each other.
func qualityOf(set []byte) (OPC, error) {
	const propertyKey, propertyValue, propertyInt, propertyLong = 1, 2, 3, 4
	at, keys := -1, 0
	err := fields(set, func(f field) error {
		if f.id != propertyKey {
			return nil
		}
		if bytes.EqualFold(f.bytes, []byte("quality")) {
			at = keys
		}
		keys++
		return f.as(wireBytes)
	})
	quality, values := opcUntold, 0
	if err != nil || at < 0 {
		return quality, err
	}
	err = fields(set, func(f field) error {
		if f.id != propertyValue {
			return nil
		}
		values++
		if values-1 != at {
			return f.as(wireBytes)
		}
		return fields(f.bytes, func(v field) error {
			if v.id == propertyInt || v.id == propertyLong {
				quality = OPC(min(v.bits, math.MaxInt32))
			}
			return nil
		})
	})
	return quality, err
}

// Value is the value as a point takes it: a json.Number, a string, a bool; nil when the node says that there is none.
// kind is the type, from the metric or from its birth.
func (m *Metric) Value(kind DataType) (any, error) {
	v := m.field
	whole := v.id == valueInt || v.id == valueLong
	switch {
	case m.err != nil:
		return nil, m.err
	case m.null:
		return nil, nil
	case v.id == 0:
		return nil, errors.New("has no value")
	case kind >= typeInt8 && kind <= typeInt64 && whole:
		return signed(kind, &v)
	case (kind >= typeUInt8 && kind <= typeUInt64 || kind == typeDateTime) && whole:
		return unsigned(kind, v.bits)
	case (kind == typeFloat || kind == typeDouble) && v.id == valueFloat:
		return decimal(float64(math.Float32frombits(uint32(v.bits))), 32)
	case (kind == typeFloat || kind == typeDouble) && v.id == valueDouble:
		return decimal(math.Float64frombits(v.bits), 64)
	case kind == typeBoolean && (v.id == valueBool || whole):
		return v.bits != 0, nil
	case (kind == typeString || kind == typeText || kind == typeUUID) && v.id == valueString:
		return string(v.bytes), nil
	case kind == 0:
		return nil, errors.New("comes without its type, neither with the value nor at the birth")
	case kind > typeUUID:
		return nil, fmt.Errorf("is a %s, which is not one value; let the node publish the value as a metric of its own", kind)
	}
	return nil, fmt.Errorf("is announced as %s, and its value stands in field %d", kind, v.id)
}

// signed reads a signed integer from the unsigned field that carries it: by some encoders in the width of its type,
// by others in that of the field.
func signed(kind DataType, v *field) (any, error) {
	n := int64(v.bits)
	if v.id == valueInt {
		if v.bits > math.MaxUint32 {
			return nil, fmt.Errorf("is announced as %s, and is %d", kind, v.bits)
		}
		n = int64(int32(uint32(v.bits)))
	}
	bits := 8 << (kind - typeInt8)
	least, most := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
	if bits < 64 && n > most && n < 1<<bits {
		n -= 1 << bits
	}
	if n < least || n > most {
		return nil, fmt.Errorf("is announced as %s, and is %d", kind, n)
	}
	return json.Number(strconv.FormatInt(n, 10)), nil
}

// unsigned reads an unsigned integer and holds it against its type.
func unsigned(kind DataType, n uint64) (any, error) {
	if kind <= typeUInt32 && n >= 1<<(8<<(kind-typeUInt8)) {
		return nil, fmt.Errorf("is announced as %s, and is %d", kind, n)
	}
	return json.Number(strconv.FormatUint(n, 10)), nil
}

// decimal writes a number with the digits that it has in its own precision, so that 12.3 stays 12.3.
func decimal(v float64, precision int) (any, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("is %v", v)
	}
	return json.Number(strconv.FormatFloat(v, 'g', -1, precision)), nil
}

// OPC is a quality as OPC and Sparkplug number it: 192 is good, 0 bad, 500 stale.
type OPC int64

const (
	opcUntold    OPC = -1
	opcUncertain OPC = 64
	opcBad       OPC = 128
	opcGood      OPC = 192
	opcBeyond    OPC = 256
)

// Judge turns the number into a quality, and says why it is not good. A metric without one is good.
func (q OPC) Judge() (collectors.Quality, error) {
	switch {
	case q == opcUntold, q >= opcGood && q < opcBeyond:
		return collectors.Good, nil
	case q >= opcUncertain && q < opcBad:
		return collectors.Uncertain, fmt.Errorf("the device calls it uncertain (quality %d)", q)
	case q == 500:
		return collectors.Bad, errors.New("the device calls it stale (quality 500)")
	}
	return collectors.Bad, fmt.Errorf("the device calls it bad (quality %d)", q)
}

// The ways in which a field of a protocol buffer stands in its message.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// errCut means that a message ends in the middle of a field.
var errCut = errors.New("ends in the middle of a field")

// field is one field of a protocol buffer: a number, or bytes that still lie in the message.
type field struct {
	id    uint64
	wire  byte
	bits  uint64 // of a number
	bytes []byte // of a text, of bytes or of a message within
}

// fields shows every field of a message in order, and allocates nothing. Messages within are not gone into.
func fields(message []byte, see func(field) error) error {
	for len(message) > 0 {
		f, n, err := cutField(message)
		if err == nil {
			err = see(f)
		}
		if err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// cutField reads the first field and says how many bytes it takes.
func cutField(message []byte) (f field, n int, err error) {
	key, n := binary.Uvarint(message)
	if n <= 0 {
		return f, 0, errCut
	}
	f.id, f.wire = key>>3, byte(key&7)
	rest := message[n:]
	switch f.wire {
	case wireVarint:
		bits, k := binary.Uvarint(rest)
		if k <= 0 {
			return f, 0, errCut
		}
		f.bits, n = bits, n+k
	case wireFixed64:
		if len(rest) < 8 {
			return f, 0, errCut
		}
		f.bits, n = binary.LittleEndian.Uint64(rest), n+8
	case wireFixed32:
		if len(rest) < 4 {
			return f, 0, errCut
		}
		f.bits, n = uint64(binary.LittleEndian.Uint32(rest)), n+4
	case wireBytes:
		size, k := binary.Uvarint(rest)
		if k <= 0 || size > uint64(len(rest)-k) {
			return f, 0, errCut
		}
		f.bytes, n = rest[k:k+int(size)], n+k+int(size)
	default:
		return f, 0, fmt.Errorf("has a field of the unknown kind %d", f.wire)
	}
	if f.id == 0 {
		return f, 0, errors.New("has a field without a number")
	}
	return f, n, nil
}

// as returns an error unless the field stands in the message as its number demands.
func (f field) as(wire byte) error {
	if f.wire != wire {
		return fmt.Errorf("has field %d in the wrong kind %d", f.id, f.wire)
	}
	return nil
}
