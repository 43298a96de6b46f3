package main

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/modbustest"
)

// pneumercatorTank writes one tank's sixteen registers: status, height, gross, net and percent volume, temperature,
// water height, ullage; 32 bits each, high word first.
func pneumercatorTank(b *modbustest.Bank, n int, status uint32, height, gross, temperature, water int32) {
	for i, v := range []uint32{status, uint32(height), uint32(gross), uint32(gross - 20), 655, uint32(temperature), uint32(water), 900} {
		b.SetUint(modbustest.Holding, uint16(1+16*(n-1)+2*i), uint64(v), 32, modbustest.ABCD)
	}
}

var pneumercator = mapped{
	unit: 1,
	fill: func(b *modbustest.Bank) {
		b.Set(modbustest.Holding, 0, 0)
		pneumercatorTank(b, 1, 0x80, 1712, 8500, 715, 25) // bit 7 is 1 while the product stands still
		pneumercatorTank(b, 2, 0x81, 3, 0, -120, 0)       // a delivery
		pneumercatorTank(b, 3, 0x80, -2, 0, 700, 0)       // below its zero
		pneumercatorTank(b, 4, 0x6004, 0, 0, 0, 0)        // no probe there: time-out, with alarms of no meaning
	},
	want: append(append(append(append([]expected{{"system", 0, "", ""}},
		pneumercatorPoints(1, 0x80, 171.2, 8500, 71.5, 2.5)...), pneumercatorPoints(2, 0x81, 0.3, 0, -12, 0)...),
		pneumercatorPoints(3, 0x80, -0.2, 0, 70, 0)...),
		expected{"tk4-status", 0x6004, "", ""}, expected{"tk4-level", 0, "", "dut/tk4-status says 0x6004; the value is no good while bit 2 is set"},
		expected{"tk4-volume", 0, "", "bit 2"}, expected{"tk4-temperature", 0, "", "bit 2"}, expected{"tk4-water", 0, "", "bit 2"}),
	states: []state{
		{"probe out of step", func(b *modbustest.Bank) { pneumercatorTank(b, 1, 0x82, 1712, 8500, 715, 25) }, []expected{
			{"tk1-level", 0, "", "bit 1"}, {"tk1-water", 0, "", "bit 1"}, {"tk2-level", 0.3, "in", ""}}},
		{"wireless probe lost", func(b *modbustest.Bank) { pneumercatorTank(b, 1, 0x20080, 1712, 8500, 715, 25) }, []expected{
			{"tk1-level", 0, "", "0x20080; the value is no good while bit 17 is set"}}},
		{"the card has lost the gauge", func(b *modbustest.Bank) {
			b.Set(modbustest.Holding, 0, 1)
			pneumercatorTank(b, 1, 0, math.MaxInt32, math.MaxInt32, math.MaxInt32, math.MaxInt32)
		}, []expected{{"system", 1, "", ""}, {"tk1-level", 0, "", "2147483647, which means no value"},
			{"tk1-volume", 0, "", "which means no value"}, {"tk1-temperature", 0, "", "which means no value"}, {"tk1-water", 0, "", "which means no value"}}},
	},
}

func pneumercatorPoints(n int, status, level, volume, temperature, water float64) []expected {
	name := func(point string) string { return fmt.Sprintf("tk%d-%s", n, point) }
	return []expected{{name("status"), status, "", ""}, {name("level"), level, "in", ""}, {name("volume"), volume, "gal", ""},
		{name("temperature"), temperature, "degF", ""}, {name("water"), water, "in", ""}}
}

var varec = mapped{
	unit: 1,
	fill: func(b *modbustest.Bank) {
		for i := range uint16(20) {
			b.SetFloat32(modbustest.Holding, 100+2*i, 14.25+float32(i), modbustest.ABCD)
			b.SetFloat32(modbustest.Holding, 200+2*i, 70.5+float32(i), modbustest.ABCD)
			b.Set(modbustest.Holding, 300+i, 0)
		}
	},
	want: []expected{
		{"tk1-status", 0, "", ""}, {"tk1-level", 14.25, "ft", ""}, {"tk1-temperature", 70.5, "degF", ""},
		{"tk2-status", 0, "", ""}, {"tk2-level", 15.25, "ft", ""}, {"tk2-temperature", 71.5, "degF", ""},
		{"tk3-status", 0, "", ""}, {"tk3-level", 16.25, "ft", ""}, {"tk3-temperature", 72.5, "degF", ""},
		{"tk4-status", 0, "", ""}, {"tk4-level", 17.25, "ft", ""}, {"tk4-temperature", 73.5, "degF", ""},
	},
	states: []state{
		{"gauge not responding", func(b *modbustest.Bank) { b.Set(modbustest.Holding, 301, 0x10) }, []expected{
			{"tk2-status", 16, "", ""}, {"tk2-level", 0, "", "dut/tk2-status says 16; the value is good at 0 only"}, {"tk2-temperature", 0, "", "says 16"},
			{"tk1-level", 14.25, "ft", ""}, {"tk3-level", 16.25, "ft", ""}}},
		{"the interface no longer scans", func(b *modbustest.Bank) { b.Set(modbustest.Holding, 300, 0x4010) }, []expected{{"tk1-level", 0, "", "says 16400"}}},
		{"the other word order", func(b *modbustest.Bank) { b.SetFloat32(modbustest.Holding, 100, 14.3, modbustest.CDAB) }, []expected{
			{"tk1-level", 0, "", "is outside -1 to 100 ft"}}},
	},
}

// signalfire is a node with an RTD and a level of its own, as the gateway shows it with its registers from base on.
func signalfire(base uint16) mapped {
	return mapped{
		unit: 12,
		yaml: `    unit: 12
    points:
      - {name: level, holding: 20, type: float32, unit: in, age: {point: timeout, max: 30m, down_from: 60}, good_when: {point: status, clear: [1]}}
      - {name: rtd, holding: 1002, type: uint16, scale: 0.1, unit: degC, bad: [32768]}
      - {name: rtd-float, holding: 1007, type: float32, unit: degC}
`,
		fill: func(b *modbustest.Bank) {
			b.SetFloat32(modbustest.Holding, 20, 171.25, modbustest.ABCD)
			b.Set(modbustest.Holding, 1002, 231)
			b.SetFloat32(modbustest.Holding, 1007, 23.1, modbustest.ABCD)
			b.Set(modbustest.Holding, base, 0, 1, 4, 2, 7, 0x0001, 0x86A0, 12, 0xFFAB, 3580, 57, 40, 51)
		},
		want: []expected{{"status", 0, "", ""}, {"rssi", -85, "dBm", ""}, {"battery", 3580, "mV", ""}, {"timeout", 57, "min", ""},
			{"registers", 40, "", ""}, {"device-type", 51, "", ""},
			{"level", 171.25, "in", ""}, {"rtd", 23.1, "degC", ""}, {"rtd-float", 23.1, "degC", ""}},
		states: []state{
			{"battery low", func(b *modbustest.Bank) { b.Set(modbustest.Holding, base, 1) }, []expected{{"status", 1, "", ""}, {"level", 171.25, "in", ""}}},
			{"sensor not read", func(b *modbustest.Bank) { b.Set(modbustest.Holding, base, 2) }, []expected{
				{"level", 0, "", "dut/status says 0x0002; the value is no good while bit 1 is set"}}},
			{"both", func(b *modbustest.Bank) { b.Set(modbustest.Holding, base, 3) }, []expected{{"level", 0, "", "bit 1"}}},
			{"silent for too long", func(b *modbustest.Bank) { b.Set(modbustest.Holding, base+10, 29) }, []expected{
				{"level", 0, "", "31 min old by dut/timeout; more than 30 min is not believed"}}},
			{"failed RTD", func(b *modbustest.Bank) {
				b.Set(modbustest.Holding, 1002, 32768)
				b.SetFloat32(modbustest.Holding, 1007, float32(math.Inf(1)), modbustest.ABCD)
			}, []expected{{"rtd", 0, "", "32768, which means no value"}, {"rtd-float", 0, "", "the device says +Inf"}, {"level", 171.25, "in", ""}}},
		},
	}
}

// TestAGatewaysValueHasTheTimeOfItsCheckIn: three minutes of sixty are gone, so the level is three minutes old.
func TestAGatewaysValueHasTheTimeOfItsCheckIn(t *testing.T) {
	slave := modbustest.NewSlave()
	m := signalfire(65523)
	m.fill(slave.Unit(12))
	device := deviceOf(t, "  - name: dut\n    modbus: "+templateLines["tcp"](t, slave)+"\n    template: signalfire-gateway\n"+m.yaml)
	lines := &line.Lines{}
	before := time.Now()
	got := readDevice(t, lines, device)
	level, battery := got["dut/level"], got["dut/battery"]
	if age := before.Sub(level.At); level.Quality != collectors.Good || age > 3*time.Minute || age < 3*time.Minute-10*time.Second {
		t.Errorf("the level is %s old (%v), want three minutes", age, level.Err)
	}
	if battery.At.Before(before) || level.Asked.Before(before) {
		t.Errorf("battery at %s, level asked for %s; the request was made after %s", battery.At, level.Asked, before)
	}
	if err := lines.Close(); err != nil {
		t.Error(err)
	}
}
