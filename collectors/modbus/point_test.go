package modbus

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// sample is one value of each type, with all its bytes different, and the bits that the standard forms give it.
var samples = []struct {
	kind  string
	bits  uint64
	width int
	want  float64
	text  string
}{
	{"int16", 0xFF38, 16, -200, ""},
	{"uint16", 0xFF38, 16, 65336, ""},
	{"bcd16", 0x1234, 16, 1234, ""},
	{"int32", 0xFFFE7960, 32, -100000, ""},
	{"uint32", 0xFFFE7960, 32, 4294867296, ""},
	{"bcd32", 0x12345678, 32, 12345678, ""},
	{"float32", 0x42F6E979, 32, 123.45600128173828, ""},
	{"int64", 0xFFFFFFFFFFFE7960, 64, -100000, ""},
	{"int64", 0x8000000000000001, 64, -9223372036854775808, "-9223372036854775807"},
	{"uint64", 0x0020000000000001, 64, 9007199254740992, "9007199254740993"},
	{"uint64", 0x001FFFFFFFFFFFFF, 64, 9007199254740991, ""},
	{"float64", 0x405EDD2F1A9FBE77, 64, 123.456, ""},
}

var wireOrders = []modbustest.Order{modbustest.ABCD, modbustest.CDAB, modbustest.BADC, modbustest.DCBA}

func TestEveryTypeAndOrderOverEveryTransport(t *testing.T) {
	for name, start := range linetest.Transports {
		t.Run(name, func(t *testing.T) {
			slave := modbustest.NewSlave()
			bank := slave.Unit(17)
			d := Device{Name: "d", Unit: new(17)}
			want := map[collectors.Point]int{}
			for i, s := range samples {
				for _, o := range wireOrders {
					point, address := fmt.Sprintf("%d-%s", i, o), 10*len(d.Points)
					bank.SetUint(modbustest.Holding, uint16(address), s.bits, s.width, o)
					d.Points = append(d.Points, holding(point, address, typed(s.kind, string(o))))
					want[collectors.PointOf("d", point)] = i
				}
			}
			d.URL = start(t, slave)
			lines := &line.Lines{}
			defer linetest.Close(t, lines)
			for point, r := range readings(t, lines, d) {
				s := samples[want[point]]
				if err := sound(r); err != nil {
					t.Error(err)
				}
				if r.Quality != collectors.Good || r.Value != s.want || r.Text != s.text {
					t.Errorf("%s as %s: %v %q (%v), want %v %q", point, s.kind, r.Value, r.Text, r.Err, s.want, s.text)
				}
			}
		})
	}
}

// one reads a single point of a bank in memory.
func one(t *testing.T, p Point, words ...uint16) collectors.Reading {
	t.Helper()
	made, err := compile(Device{Name: "d", Points: []Point{p}})
	if err != nil {
		t.Fatal(err)
	}
	var data []byte
	for _, w := range words {
		data = append(data, byte(w>>8), byte(w))
	}
	r := made[0].decode(data, testTime)
	if err := sound(r); err != nil {
		t.Error(err)
	}
	return r
}

func TestGoodValues(t *testing.T) {
	tests := []struct {
		name  string
		point Point
		words []uint16
		want  float64
	}{
		{"default is uint16", Point{}, []uint16{65535}, 65535},
		{"scale and offset", Point{Type: "int16", Scale: new(0.1), Offset: -40}, []uint16{1234}, 1234*0.1 - 40},
		{"bit 0", Point{Bit: new(0)}, []uint16{0x0001}, 1},
		{"bit 15", Point{Bit: new(15)}, []uint16{0x7FFF}, 0},
		{"bit of swapped bytes", Point{Bit: new(0), Order: "DCBA"}, []uint16{0x0100}, 1},
		{"register as bool", Point{Type: "bool"}, []uint16{0x8000}, 1},
		{"range ends belong to it", Point{Range: []float64{0, 240}}, []uint16{240}, 240},
		{"not quite a sentinel", Point{Bad: []float64{32767}}, []uint16{32766}, 32766},
	}
	for _, tt := range tests {
		tt.point.Name, tt.point.Holding = "p", new(0)
		if r := one(t, tt.point, tt.words...); r.Quality != collectors.Good || r.Value != tt.want {
			t.Errorf("%s: %v (%v), want %v", tt.name, r.Value, r.Err, tt.want)
		}
	}
}

func TestBadValues(t *testing.T) {
	tests := []struct {
		name  string
		point Point
		words []uint16
		why   string
	}{
		{"NaN", Point{Type: "float32"}, []uint16{0x7FC0, 0}, "NaN"},
		{"infinite", Point{Type: "float32"}, []uint16{0x7F80, 0}, "+Inf"},
		{"minus infinite", Point{Type: "float32"}, []uint16{0xFF80, 0}, "-Inf"},
		{"signalling NaN", Point{Type: "float32"}, []uint16{0x7FA0, 0}, "NaN"},
		{"negative NaN with the words swapped", Point{Type: "float32", Order: "CDAB"}, []uint16{1, 0xFFC0}, "NaN"},
		{"failed RTD, signed", Point{Type: "int16", Scale: new(0.1), Bad: []float64{-32768}}, []uint16{0x8000}, "-32768, which means no value"},
		{"failed RTD, unsigned", Point{Scale: new(0.1), Bad: []float64{32768}}, []uint16{0x8000}, "32768, which means no value"},
		{"never updated", Point{Bad: []float64{32767, 65535}}, []uint16{0xFFFF}, "65535, which means no value"},
		{"full scale of 32 bits", Point{Type: "int32", Bad: []float64{2147483647}}, []uint16{0x7FFF, 0xFFFF}, "2147483647, which means no value"},
		{"BCD of all ones", Point{Type: "bcd16"}, []uint16{0xFFFF}, "FFFF is not a decimal"},
		{"NaN of 64 bits", Point{Type: "float64"}, []uint16{0x7FF8, 0, 0, 1}, "NaN"},
		{"BCD digit A", Point{Type: "bcd16"}, []uint16{0x12A4}, "12A4 is not a decimal"},
		{"BCD of 32 bits", Point{Type: "bcd32"}, []uint16{0x0000, 0x000F}, "0000000F is not a decimal"},
		{"sentinel", Point{Type: "int16", Bad: []float64{-9999, 32767}}, []uint16{32767}, "32767, which means no value"},
		{"sentinel before scale", Point{Scale: new(0.1), Bad: []float64{65535}}, []uint16{65535}, "means no value"},
		{"float sentinel", Point{Type: "float32", Bad: []float64{9999.9}}, []uint16{0x461C, 0x3F9A}, "means no value"},
		{"below range", Point{Type: "int16", Range: []float64{0, 240}, Unit: "in"}, []uint16{0xFFFF}, "-1 is outside 0 to 240 in"},
		{"far above range, and within it in one other order", Point{Type: "float32", Range: []float64{0, 240}, Unit: "in"}, []uint16{0x7042, 0x0000}, "e+29 is outside 0 to 240 in; in order BADC it would be 60 in"},
		{"far above range, as a device may say it", Point{Type: "float32", Range: []float64{0, 240}, Unit: "in"}, []uint16{0x461C, 0x4000}, "10000 is outside 0 to 240 in"},
		{"far above range, and within it in two", Point{Type: "int32", Range: []float64{0, 70000}}, []uint16{0x0100, 0x0001}, "e+07 is outside 0 to 70000 "},
		{"a little above range", Point{Type: "int32", Range: []float64{0, 100}}, []uint16{0, 150}, "150 is outside 0 to 100 "},
		{"far off is a sentinel", Point{Type: "int32", Range: []float64{0, 100}, Bad: []float64{0x640000}}, []uint16{0x64, 0}, "6553600, which means no value"},
		{"above range after scale", Point{Scale: new(0.5), Range: []float64{0, 100}}, []uint16{201}, "100.5 is outside"},
		{"scaled beyond all numbers", Point{Type: "float64", Scale: new(1e300)}, []uint16{0x7FE0, 0, 0, 0}, "is not a number"},
	}
	for _, tt := range tests {
		tt.point.Name, tt.point.Holding = "p", new(0)
		r := one(t, tt.point, tt.words...)
		if r.Quality != collectors.Bad || r.Err == nil || !strings.Contains(r.Err.Error(), tt.why) || strings.Contains(r.Err.Error(), "in order") != strings.Contains(tt.why, "in order") {
			t.Errorf("%s: %s %v (%v), want bad: %s", tt.name, r.Quality, r.Value, r.Err, tt.why)
		}
	}
}

func TestStrings(t *testing.T) {
	tests := []struct{ order, wire, want string }{
		{"", "TK-1001\x00junk", "TK-1001"},
		{"DCBA", "KT1-00 1", "TK-1001"},
		{"CDAB", "  LIT  ", "LIT"},
		{"", "a\x01\xffb", "a\uFFFD\uFFFDb"},
		{"", "\x00\x00", ""},
	}
	for _, tt := range tests {
		wire := tt.wire
		if len(wire)%2 == 1 {
			wire += "\x00"
		}
		var words []uint16
		for i := 0; i < len(wire); i += 2 {
			words = append(words, uint16(wire[i])<<8|uint16(wire[i+1]))
		}
		r := one(t, Point{Name: "p", Holding: new(0), Type: "string", Length: len(words), Order: tt.order}, words...)
		if r.Text != tt.want || r.Quality != collectors.Good || !math.IsNaN(r.Value) {
			t.Errorf("%q in order %q: %q %v %s, want %q", tt.wire, tt.order, r.Text, r.Value, r.Quality, tt.want)
		}
	}
}

func TestBitTables(t *testing.T) {
	for name, start := range linetest.Transports {
		t.Run(name, func(t *testing.T) {
			slave := modbustest.NewSlave()
			bank := slave.Unit(1)
			d := Device{Name: "d"}
			for i := range 40 {
				bank.SetBit(modbustest.Coil, uint16(i), i%3 == 0)
				bank.SetBit(modbustest.Discrete, uint16(i), i%5 == 0)
				d.Points = append(d.Points, Point{Name: fmt.Sprintf("c%d", i), Coil: new(i)}, Point{Name: fmt.Sprintf("d%d", i), Discrete: new(i)})
			}
			d.URL = start(t, slave)
			lines := &line.Lines{}
			defer linetest.Close(t, lines)
			got := readings(t, lines, d)
			for i := range 40 {
				c, di := got[collectors.PointOf("d", fmt.Sprintf("c%d", i))], got[collectors.PointOf("d", fmt.Sprintf("d%d", i))]
				if c.Value != oneIf(i%3 == 0) || di.Value != oneIf(i%5 == 0) {
					t.Errorf("%d: coil %v (%v), discrete %v (%v)", i, c.Value, c.Err, di.Value, di.Err)
				}
			}
			if n := slave.Requests(1); n != 2 {
				t.Errorf("%d requests for two runs of bits, want 2", n)
			}
		})
	}
}

func oneIf(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// A float of no sensible size that is one in another word order is shown and makes no ticket; zero, what arithmetic leaves around it, and what makes sense, is good.
func TestAnotherWordOrderIsUncertain(t *testing.T) {
	for _, c := range []struct {
		order, unit string
		words       []byte
		says        string
		limits      []float64
	}{
		{"ABCD", "in", []byte{0x03, 0x04, 0x43, 0x2B}, "e-37 in looks like another word order: try order: CDAB, or look with `gauger probe`", nil},
		{"ABCD", "in", []byte{0x4F, 0xC5, 0x43, 0x38}, "looks like another word order: try order: CDAB", nil},
		{"ABCD", "in", []byte{0x24, 0x9C, 0x43, 0x3E}, "looks like another word order: try order: CDAB", nil},
		{"ABCD", "in", []byte{0x2B, 0x95, 0x43, 0x38}, "looks like another word order: try order: CDAB", nil}, // 1.1e-12, or 184.17
		{"CDAB", "degF", []byte{0x42, 0x91, 0x30, 0x12}, "looks like another word order: try order: ABCD", nil},
		{"ABCD", "", []byte{0x2B, 0x95, 0x43, 0x38}, "", nil},   // of a unit that nobody knows
		{"ABCD", "in", []byte{0x35, 0x80, 0x00, 0x00}, "", nil}, // 9.5e-7, as a device's arithmetic leaves it
		{"ABCD", "in", []byte{0x2B, 0x95, 0xC3, 0x38}, "", nil}, // a level is not -184.17
		{"CDAB", "in", []byte{0x4F, 0xC5, 0x43, 0x38}, "", nil},
		{"ABCD", "in", []byte{0, 0, 0, 0}, "", nil},
		{"ABCD", "", []byte{0x4F, 0xC5, 0x43, 0x38}, "", nil}, // a count may be as large
		{"ABCD", "in", []byte{0x00, 0x00, 0x00, 0x12}, "", nil},
		{"CDAB", "in", []byte{0x34, 0x43, 0x2B, 0x87}, "9.606832473627036e-13 in looks like another word order: try order: BADC, or", []float64{0, 240}}, // 180.53
		{"ABCD", "in", []byte{0x38, 0x43, 0x85, 0x2B}, "try order: BADC, or", []float64{0, 240}},                                                         // 4.7e-5, or 184.17
		{"ABCD", "in", []byte{0x37, 0x40, 0x00, 0x00}, "", []float64{0, 240}},                                                                            // 1.1e-5, as arithmetic leaves it
		{"DCBA", "in", []byte{0x45, 0x42, 0x1A, 0x00}, "try order: ABCD or BADC", nil},
		{"DCBA", "in", []byte{0x45, 0x42, 0x1A, 0x00}, "try order: BADC, or", []float64{0, 240}},
	} {
		made, err := compile(Device{Name: "d", URL: "tcp://site", Points: []Point{{Name: "p", Holding: new(100), Type: "float32", Order: c.order, Unit: c.unit, Range: c.limits}}})
		if err != nil {
			t.Fatal(err)
		}
		r := made[0].decode(c.words, testTime)
		if (r.Quality == collectors.Uncertain) != (c.says != "") || c.says != "" && !strings.Contains(r.Err.Error(), c.says) {
			t.Errorf("%s %s % X: %v, %v, %v", c.order, c.unit, c.words, r.Value, r.Quality, r.Err)
		}
	}
}
