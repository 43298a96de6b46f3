package sparkplug

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gauger/collectors"
)

// num, str, dbl and flt are the encoder of these tests: fields one after the other.
func num(id int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(id<<3)), v)
}

func str[T string | []byte](id int, v T) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(id<<3|2)), uint64(len(v))), v...)
}

func dbl(id int, v float64) []byte {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(nil, uint64(id<<3|1)), math.Float64bits(v))
}

func flt(id int, v float32) []byte {
	return binary.LittleEndian.AppendUint32(binary.AppendUvarint(nil, uint64(id<<3|5)), math.Float32bits(v))
}

func TestEveryTypeOfMetric(t *testing.T) {
	minus := func(n int64) uint64 { return uint64(n) }
	cases := []struct {
		kind  DataType
		value []byte
		want  any // a string: part of the error
	}{
		{typeInt8, num(valueInt, uint64(uint32(0xFFFFFFFB))), json.Number("-5")}, // in the width of the field
		{typeInt8, num(valueInt, 0xFB), json.Number("-5")},                       // in the width of the type
		{typeInt8, num(valueInt, 127), json.Number("127")},
		{typeInt8, num(valueInt, 300), "announced as Int8"},
		{typeInt16, num(valueInt, 0x8000), json.Number("-32768")},
		{typeInt16, num(valueInt, uint64(uint32(0xFFFF8000))), json.Number("-32768")},
		{typeInt16, num(valueLong, minus(-32768)), json.Number("-32768")},
		{typeInt16, num(valueInt, 70000), "announced as Int16"},
		{typeInt32, num(valueInt, uint64(uint32(0xFFFFFFFF))), json.Number("-1")},
		{typeInt32, num(valueLong, minus(-1)), json.Number("-1")},
		{typeInt32, num(valueLong, 0xFFFFFFFF), json.Number("-1")},
		{typeInt32, num(valueInt, minus(-1)), "announced as Int32"},
		{typeInt64, num(valueLong, minus(math.MinInt64)), json.Number("-9223372036854775808")},
		{typeUInt8, num(valueInt, 255), json.Number("255")},
		{typeUInt8, num(valueInt, 256), "announced as UInt8"},
		{typeUInt16, num(valueInt, 65536), "announced as UInt16"},
		{typeUInt32, num(valueLong, 4294967295), json.Number("4294967295")},
		{typeUInt32, num(valueInt, 4294967295), json.Number("4294967295")},
		{typeUInt32, num(valueLong, 4294967296), "announced as UInt32"},
		{typeUInt64, num(valueLong, math.MaxUint64), json.Number("18446744073709551615")},
		{typeDateTime, num(valueLong, 1772366400250), json.Number("1772366400250")},
		{typeFloat, flt(valueFloat, 12.3), json.Number("12.3")},
		{typeFloat, dbl(valueDouble, 12.3), json.Number("12.3")},
		{typeDouble, dbl(valueDouble, 0.1), json.Number("0.1")},
		{typeDouble, dbl(valueDouble, math.NaN()), "is NaN"},
		{typeFloat, flt(valueFloat, float32(math.Inf(-1))), "is -Inf"},
		{typeBoolean, num(valueBool, 1), true},
		{typeBoolean, num(valueInt, 0), false},
		{typeString, str(valueString, "7.5"), "7.5"},
		{typeText, str(valueString, ""), ""},
		{typeUUID, str(valueString, "x"), "x"},
		{0, num(valueInt, 5), "without its type"},
		{16, str(17, "x"), "is a DataSet"},
		{17, str(16, "x"), "is a Bytes"},
		{18, str(16, "x"), "is a File"},
		{19, str(18, "x"), "is a Template"},
		{31, str(16, "x"), "is a DoubleArray"},
		{99, str(16, "x"), "is a type 99"},
		{typeDouble, num(valueInt, 5), "is announced as Double"},
		{typeInt32, nil, "has no value"},
		{typeInt32, num(metricNull, 1), nil},
	}
	for _, c := range cases {
		m := parseMetric(c.value)
		got, err := m.Value(c.kind)
		part, text := c.want.(string)
		if err != nil && (!text || !strings.Contains(err.Error(), part)) || err == nil && got != c.want {
			t.Errorf("%s of %x: %v (%v), want %v", c.kind, c.value, got, err, c.want)
		}
	}
}

func TestQualities(t *testing.T) {
	property := func(name string, v uint64) []byte {
		return str(metricProperties, slices.Concat(str(1, "first"), str(1, name), str(2, num(1, 3)), str(2, append(num(1, 3), num(3, v)...))))
	}
	for v, want := range map[uint64]collectors.Quality{0: collectors.Bad, 192: collectors.Good, 216: collectors.Good, 64: collectors.Uncertain, 500: collectors.Bad, 1 << 40: collectors.Bad} {
		for _, name := range []string{"Quality", "quality"} {
			m := parseMetric(property(name, v))
			if q, why := m.Quality.Judge(); m.err != nil || q != want || (why == nil) != (q == collectors.Good) {
				t.Errorf("%d: %s (%v, %v), want %s", v, q, why, m.err, want)
			}
		}
	}
	m := parseMetric(property("Engineering", 0))
	if q, _ := m.Quality.Judge(); m.err != nil || q != collectors.Good {
		t.Errorf("without a quality: %s, %v", q, m.err)
	}
}

func TestBrokenPayloads(t *testing.T) {
	cases := [][]byte{
		{0x08}, {0x80}, {0x12, 5, 1}, {0x0b}, {0x00, 1}, {0x09, 1, 2}, {0x0d, 1}, bytes.Repeat([]byte{0xff}, 12),
		num(payloadMetrics, 5), str(payloadTime, "x"),
	}
	for _, c := range cases {
		if _, err := Parse(c); err == nil || !strings.Contains(err.Error(), "is no Sparkplug B payload") {
			t.Errorf("%x: %v", c, err)
		}
	}
}

// TestBrokenMetrics: none of them has a value, and none costs the one behind it.
func TestBrokenMetrics(t *testing.T) {
	sound := slices.Concat(str(metricName, "sound"), num(metricType, uint64(typeDouble)), dbl(valueDouble, 7.5))
	for _, c := range [][]byte{
		num(metricName, 1), str(metricAlias, "x"), str(valueDouble, "x"), str(metricProperties, num(1, 1)), num(metricProperties, 1),
		slices.Concat(dbl(valueDouble, 1), str(metricProperties, num(1, 1))), slices.Concat(dbl(valueDouble, 1), []byte{0x80}), {0x0b}, {0x0a, 9},
	} {
		p, err := Parse(slices.Concat(str(payloadMetrics, c), str(payloadMetrics, sound)))
		if err != nil {
			t.Errorf("%x: %v", c, err)
			continue
		}
		var seen []any
		p.Each(func(m *Metric) {
			if v, err := m.Value(typeDouble); err != nil {
				seen = append(seen, "broken")
			} else {
				seen = append(seen, v)
			}
			if broken := string(m.Name) != "sound"; broken && m.aliased {
				t.Errorf("%x has the alias %d", c, m.alias)
			}
		})
		if want := []any{"broken", json.Number("7.5")}; !slices.Equal(seen, want) {
			t.Errorf("%x: %v, want %v", c, seen, want)
		}
	}
}

// TestAPayloadCostsNoMoreThanItself: a packet full of the smallest metrics would be thirty times as large as a list.
func TestAPayloadCostsNoMoreThanItself(t *testing.T) {
	const size = 512 << 10
	metrics := bytes.Repeat(str(payloadMetrics, num(metricAlias, 5)), size/4)
	b := NewNode("G", "N").BirthOf("")
	b.DefinitionOf("x")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p, err := Parse(metrics)
	if err != nil {
		t.Fatal(err)
	}
	b.Define(p)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 16*size {
		t.Errorf("a birth of %d bytes costs %d", len(metrics), got)
	}
}
