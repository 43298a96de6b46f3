package main

import (
	"math"
	"testing"

	"gauger/collectors/modbus/modbustest"
)

// hart fills the registers that Rosemount and VEGA share: a status and four floats from base on. The status is one
// word before a spare one, or the low word of a double word.
func hart(b *modbustest.Bank, base uint16, order modbustest.Order, status ...uint16) {
	b.Set(modbustest.Input, base, status...)
	for i, v := range []float32{171.25, 42.5, 71.5, 8.25} {
		b.SetFloat32(modbustest.Input, base+2+2*uint16(i), v, order)
	}
}

func hartPoints(status float64) []expected {
	return []expected{{"status", status, "", ""}, {"level", 171.25, "in", ""}, {"sv", 42.5, "", ""}, {"tv", 71.5, "degF", ""}, {"qv", 8.25, "", ""}}
}

const hartUnits = "    points: [{name: level, unit: in}, {name: tv, unit: degF}]\n"

var rosemount = mapped{
	unit: 246, yaml: hartUnits,
	fill: func(b *modbustest.Bank) { hart(b, 1300, modbustest.CDAB, 0, 0) },
	want: hartPoints(0),
	states: []state{
		{"PV invalid", func(b *modbustest.Bank) { b.Set(modbustest.Input, 1300, 1) }, []expected{
			{"level", 0, "", "dut/status says 0x0001; the value is no good while bit 0 is set"}, {"sv", 42.5, "", ""}, {"status", 1, "", ""}}},
		{"the others invalid", func(b *modbustest.Bank) { b.Set(modbustest.Input, 1300, 0xE) }, []expected{
			{"level", 171.25, "in", ""}, {"sv", 0, "", "bit 1"}, {"tv", 0, "", "bit 2"}, {"qv", 0, "", "bit 3"}}},
		{"HART bus busy", func(b *modbustest.Bank) { b.Set(modbustest.Input, 1300, 1<<14) }, []expected{
			{"level", 0, "", "bit 14"}, {"qv", 0, "", "bit 14"}}},
		{"converter not running", func(b *modbustest.Bank) { b.Set(modbustest.Input, 1300, 1<<15) }, []expected{
			{"level", 0, "", "bit 15"}, {"tv", 0, "", "bit 15"}}},
		{"the status in the other word", func(b *modbustest.Bank) { b.Set(modbustest.Input, 1301, 1) }, []expected{
			{"level", 0, "", "bit 16"}, {"sv", 42.5, "", ""}}},
		{"a level that is no number", func(b *modbustest.Bank) {
			b.SetFloat32(modbustest.Input, 1302, float32(math.NaN()), modbustest.CDAB)
		}, []expected{{"level", 0, "", "the device says NaN"}, {"sv", 42.5, "", ""}}},
	},
}

var vega = mapped{
	unit: 246, yaml: hartUnits,
	fill: func(b *modbustest.Bank) { hart(b, 1300, modbustest.ABCD, 0, 0) },
	want: hartPoints(0),
	states: []state{
		{"PV invalid, low word last", func(b *modbustest.Bank) { b.Set(modbustest.Input, 1300, 0, 1) }, []expected{
			{"level", 0, "", "no good while bit 0 is set"}, {"sv", 42.5, "", ""}, {"tv", 71.5, "degF", ""}, {"qv", 8.25, "", ""}}},
		{"PV invalid, low word first", func(b *modbustest.Bank) { b.Set(modbustest.Input, 1300, 1, 0) }, []expected{
			{"level", 0, "", "no good while bit 16 is set"}, {"sv", 42.5, "", ""}}},
		{"SV, TV and QV invalid", func(b *modbustest.Bank) { b.Set(modbustest.Input, 1300, 0, 0xE) }, []expected{
			{"level", 171.25, "in", ""}, {"sv", 0, "", "bit 1"}, {"tv", 0, "", "bit 2"}, {"qv", 0, "", "bit 3"}}},
		{"a level that is no number", func(b *modbustest.Bank) {
			b.SetFloat32(modbustest.Input, 1302, float32(math.Inf(1)), modbustest.ABCD)
		}, []expected{{"level", 0, "", "the device says +Inf"}}},
	},
}

// TestTheFixedCopies reads what the files advise where the byte order is in doubt: the copies whose order is fixed.
func TestTheFixedCopies(t *testing.T) {
	for template, copies := range map[string][]mapped{
		"rosemount-5300": {fixedCopy(2000, "    shift: 700\n    order: ABCD\n", modbustest.ABCD)},
		"vegaflex": {
			fixedCopy(2000, "    shift: 700\n", modbustest.ABCD),
			fixedCopy(2100, "    shift: 800\n    order: DCBA\n", modbustest.DCBA),
			fixedCopy(2200, "    shift: 900\n    order: BADC\n", modbustest.BADC),
		},
	} {
		for _, c := range copies {
			c.judge(t, template, templateLines["tcp"])
		}
	}
}

func fixedCopy(base uint16, yaml string, order modbustest.Order) mapped {
	invalid := []expected{{"level", 0, "", "the value is no good while bit"}, {"sv", 42.5, "", ""}, {"tv", 71.5, "degF", ""}, {"qv", 8.25, "", ""}}
	return mapped{
		unit: 246, yaml: yaml + hartUnits, fill: func(b *modbustest.Bank) { hart(b, base, order, 0, 0) }, want: hartPoints(0),
		states: []state{
			{"PV invalid, a double word in the floats' order", func(b *modbustest.Bank) { b.SetUint(modbustest.Input, base, 1, 32, order) }, invalid},
			{"PV invalid, a plain double word", func(b *modbustest.Bank) { b.Set(modbustest.Input, base, 0, 1) }, invalid},
			{"PV invalid, one plain word", func(b *modbustest.Bank) { b.Set(modbustest.Input, base, 1, 0) }, invalid},
			{"SV invalid, bytes turned round", func(b *modbustest.Bank) { b.Set(modbustest.Input, base, 0x0200, 0) }, []expected{
				{"level", 171.25, "in", ""}, {"sv", 0, "", "no good while bit"}}},
		},
	}
}

// TestRosemountWithoutFunctionFour reads the same variables 5000 higher, among the holding registers.
func TestRosemountWithoutFunctionFour(t *testing.T) {
	m := mapped{
		unit: 246, yaml: "    only: [level]\n    points: [{name: status, holding: 6300}, {name: level, holding: 6302, unit: in}]\n",
		fill: func(b *modbustest.Bank) {
			b.Set(modbustest.Holding, 6300, 0, 0)
			b.SetFloat32(modbustest.Holding, 6302, 171.25, modbustest.CDAB)
		},
		want: []expected{{"status", 0, "", ""}, {"level", 171.25, "in", ""}},
	}
	m.judge(t, "rosemount-5300", templateLines["tcp"])
}

var lwt300 = mapped{
	unit: 247,
	fill: func(b *modbustest.Bank) {
		b.Set(modbustest.Input, 3001, 17, 2, 0, 0) // sensor id, levels, error, warning
		for i, v := range []float32{171.25, 12.5, 71.5} {
			b.SetFloat32(modbustest.Input, 7001+2*uint16(i), v, modbustest.CDAB)
		}
	},
	want: []expected{{"levels", 2, "", ""}, {"error", 0, "", ""}, {"warning", 0, "", ""},
		{"level", 171.25, "in", ""}, {"interface", 12.5, "in", ""}, {"temperature", 71.5, "degF", ""}},
	states: []state{
		{"an error", func(b *modbustest.Bank) { b.Set(modbustest.Input, 3003, 12) }, []expected{
			{"error", 12, "", ""}, {"level", 0, "", "dut/error says 12; the value is good at 0 only"}, {"interface", 0, "", "says 12"}, {"temperature", 0, "", "says 12"}}},
		{"a warning alone", func(b *modbustest.Bank) { b.Set(modbustest.Input, 3004, 3) }, []expected{
			{"warning", 3, "", ""}, {"level", 171.25, "in", ""}}},
		{"higher than any tank", func(b *modbustest.Bank) { b.SetFloat32(modbustest.Input, 7001, 4000, modbustest.CDAB) }, []expected{
			{"level", 0, "", "4000 is outside -12 to 1200 in"}}},
		{"no temperature probe", func(b *modbustest.Bank) {
			b.SetFloat32(modbustest.Input, 7005, float32(math.NaN()), modbustest.CDAB)
		}, []expected{{"temperature", 0, "", "NaN"}, {"level", 171.25, "in", ""}}},
	},
}

// TestLWT300WithItsMapOffset: the transmitter adds 1 to the address that it is asked for.
func TestLWT300WithItsMapOffset(t *testing.T) {
	moved := func(b *modbustest.Bank) {
		b.Set(modbustest.Input, 3000, 17, 2, 0, 0)
		b.SetFloat32(modbustest.Input, 7000, 171.25, modbustest.CDAB)
		b.Set(modbustest.Input, 7002, 0, 0, 0, 0)
	}
	mapped{unit: 247, yaml: "    shift: -1\n    only: [level]\n", fill: moved,
		want: []expected{{"error", 0, "", ""}, {"level", 171.25, "in", ""}}}.judge(t, "abb-lwt300", templateLines["tcp"])
	mapped{unit: 247, yaml: "    only: [level]\n", fill: func(b *modbustest.Bank) {
		moved(b)
		b.Set(modbustest.Input, 3003, 2)
	}, want: []expected{{"error", 2, "", ""}, {"level", 0, "", "dut/error says 2"}}}.judge(t, "abb-lwt300", templateLines["tcp"])
}
