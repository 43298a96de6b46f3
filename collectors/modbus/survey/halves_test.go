package survey

import (
	"strings"
	"testing"

	"gauger/collectors/modbus/modbustest"
)

// Whichever register of a float is asked for, and whatever stands about it, the float itself comes first: not its beginning with another
// value's end, and not one of its registers as a whole value.
func TestAFloatComesBeforeItsHalves(t *testing.T) {
	gauge := Question{Low: 93.75, High: 93.75, Within: 0.5}
	tests := []struct {
		name    string
		q       Question
		prepare func(*modbustest.Bank)
		want    string
	}{
		{"its second register, nothing else there", Question{}, func(b *modbustest.Bank) { b.Strict(true); b.SetFloat32(modbustest.Holding, 99, 93.84, modbustest.CDAB) }, "99, type: float32, order: CDAB"},
		{"the same in the other order", Question{}, func(b *modbustest.Bank) { b.Strict(true); b.SetFloat32(modbustest.Holding, 99, 93.84, modbustest.ABCD) }, "99, type: float32, order: ABCD"},
		{"a round one", Question{}, func(b *modbustest.Bank) { b.Strict(true); b.SetFloat32(modbustest.Holding, 99, 93.75, modbustest.CDAB) }, "99, type: float32, order: CDAB"},
		{"empty registers beside it", Question{}, func(b *modbustest.Bank) { b.SetFloat32(modbustest.Holding, 99, 93.84, modbustest.CDAB) }, "99, type: float32, order: CDAB"},
		{"and a hand gauge", gauge, func(b *modbustest.Bank) { b.SetFloat32(modbustest.Holding, 99, 93.84, modbustest.CDAB) }, "99, type: float32, order: CDAB"},
		{"it begins one later", gauge, func(b *modbustest.Bank) { b.SetFloat32(modbustest.Holding, 101, 93.84, modbustest.ABCD) }, "101, type: float32, order: ABCD"},
		{"another tank behind it", Question{}, twoTanks, "99, type: float32, order: CDAB"},
		{"another tank behind it, both of whose words look like a beginning", Question{}, func(b *modbustest.Bank) {
			b.Strict(true)
			b.SetFloat32(modbustest.Holding, 99, 93.84, modbustest.CDAB)
			b.Set(modbustest.Holding, 101, 0x45B5, 0x4325)
		}, "99, type: float32, order: CDAB"},
		{"another tank behind it, and a hand gauge", gauge, twoTanks, "99, type: float32, order: CDAB"},
		{"the register itself is right", gauge, func(b *modbustest.Bank) {
			b.SetFloat32(modbustest.Holding, 100, 93.75, modbustest.ABCD)
			b.SetFloat32(modbustest.Holding, 102, 117.07, modbustest.ABCD)
		}, "100, type: float32, order: ABCD"},
		{"a whole number that is what was gauged", Question{Low: 171.25, High: 171.25, Within: 0.5}, func(b *modbustest.Bank) { b.Strict(true); b.Set(modbustest.Holding, 100, 17125, 20000) },
			"100, type: int16, scale: 0.01"},
		{"a whole number that is no half of a level", Question{}, func(b *modbustest.Bank) { b.Set(modbustest.Holding, 100, 1500, 20000) }, "100, type: int16"},
	}
	for _, tt := range tests {
		found, err := probeOne(t, tt.q, tt.prepare)
		if err != nil {
			t.Fatal(err)
		}
		if first := found.Candidates[0]; first.YAML != "- {name: NAME, holding: "+tt.want+"}" || first.Doubt+first.HalfOf != "" {
			t.Errorf("%s: %s = %v is the first, want %s; doubt %q, half of %q", tt.name, first.YAML, first.Value, tt.want, first.Doubt, first.HalfOf)
		}
	}
}

// twoTanks are the only registers of a unit.
func twoTanks(b *modbustest.Bank) {
	b.Strict(true)
	b.SetFloat32(modbustest.Holding, 99, 93.84, modbustest.CDAB)
	b.SetFloat32(modbustest.Holding, 101, 117.07, modbustest.CDAB)
}

// A half stands behind everything else, and says what it is a half of.
func TestAHalfSaysSo(t *testing.T) {
	found, err := probeOne(t, Question{}, twoTanks)
	if err != nil {
		t.Fatal(err)
	}
	halves := 0
	for i, c := range found.Candidates {
		switch {
		case strings.HasSuffix(c.Type, "int16") && c.Scale == 1 && c.Address == 100 && c.HalfOf != "float32 CDAB at holding 99":
			t.Errorf("%s: half of %q", c.YAML, c.HalfOf)
		case c.HalfOf != "":
			halves++
		case halves > 0 && c.Why == "" && c.rank < behind/2:
			t.Errorf("%s is the reading %d, behind a half", c.YAML, i)
		}
	}
	if halves == 0 {
		t.Error("nothing is said to be a half")
	}
}
