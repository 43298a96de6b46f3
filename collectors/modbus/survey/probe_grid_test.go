package survey

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// levels are inches of oil as tanks have them: nearly empty to nearly full, round and not.
var levels = []float64{3.25, 8.7, 12.5, 19.31, 27.75, 36, 44.18, 58.6, 66.25, 79.93, 88.4, 101.5, 117.07, 128, 143.62, 171.25, 184.2, 199.99, 212.6, 236.43}

// encoding is one way in which transmitters and PLCs give a level.
type encoding struct {
	kind  string
	order modbustest.Order
	scale float64
}

func (e encoding) String() string {
	return strings.TrimSpace(fmt.Sprint(e.kind, " ", e.order, " x ", e.scale))
}

var encodings = []encoding{
	{"float32", modbustest.ABCD, 1}, {"float32", modbustest.CDAB, 1}, {"float32", modbustest.BADC, 1}, {"float32", modbustest.DCBA, 1},
	{"float64", modbustest.ABCD, 1}, {"float64", modbustest.CDAB, 1},
	{"int32", modbustest.ABCD, 0.01}, {"int32", modbustest.CDAB, 0.01}, {"int32", modbustest.ABCD, 0.001}, {"int32", modbustest.CDAB, 0.001},
	{"uint32", modbustest.ABCD, 0.01}, {"uint32", modbustest.CDAB, 0.001},
	{"int16", modbustest.ABCD, 0.1}, {"int16", modbustest.ABCD, 0.01}, {"uint16", modbustest.ABCD, 0.1}, {"uint16", modbustest.ABCD, 0.01},
	{"bcd16", modbustest.ABCD, 0.1}, {"bcd32", modbustest.ABCD, 0.01},
	{"int64", modbustest.ABCD, 0.01}, {"uint64", modbustest.CDAB, 0.001}, {"int32", modbustest.BADC, 0.01}, {"int32", modbustest.DCBA, 0.01}, {"float64", modbustest.DCBA, 1}, {"int16", modbustest.BADC, 0.01}, {"bcd32", modbustest.CDAB, 0.01},
}

// write puts a value into the bank, and says what it has become by rounding and how many registers it takes.
func (e encoding) write(b *modbustest.Bank, at uint16, v float64) (float64, uint16) {
	raw := math.Round(v / e.scale)
	switch e.kind {
	case "float32":
		b.SetFloat32(modbustest.Holding, at, float32(v), e.order)
		return float64(float32(v)), 2
	case "float64":
		b.SetFloat64(modbustest.Holding, at, v, e.order)
		return v, 4
	case "int64", "uint64":
		b.SetUint(modbustest.Holding, at, uint64(raw), 64, e.order)
		return raw * e.scale, 4
	case "int16", "uint16":
		b.SetUint(modbustest.Holding, at, uint64(raw), 16, e.order)
		return raw * e.scale, 1
	case "bcd16", "bcd32":
		bits := map[string]int{"bcd16": 16, "bcd32": 32}[e.kind]
		b.SetUint(modbustest.Holding, at, decimals(uint64(raw)), bits, e.order)
		return raw * e.scale, uint16(bits / 16)
	}
	b.SetUint(modbustest.Holding, at, uint64(raw), 32, e.order)
	return raw * e.scale, 2
}

// decimals packs four bits to a digit.
func decimals(v uint64) (packed uint64) {
	for shift := 0; v > 0; shift, v = shift+4, v/10 {
		packed |= v % 10 << shift
	}
	return packed
}

// surroundings of the level in real register maps.
var surroundings = map[string]func(b *modbustest.Bank, e encoding, v float64){
	"empty registers":      func(b *modbustest.Bank, e encoding, v float64) { e.write(b, 100, v) },
	"nothing else exists":  func(b *modbustest.Bank, e encoding, v float64) { b.Strict(true); e.write(b, 100, v) },
	"registers not in use": func(b *modbustest.Bank, e encoding, v float64) { fill(b, e, v, 0xFFFF) },
	"status and counters":  func(b *modbustest.Bank, e encoding, v float64) { fill(b, e, v, 3, 1, 685, 17) },
	"the other tanks in the same type": func(b *modbustest.Bank, e encoding, v float64) {
		_, n := e.write(b, 100, v)
		e.write(b, 100-n, 93.84)
		e.write(b, 100-2*n, 41.5)
		e.write(b, 100+n, 150.27)
		e.write(b, 100+2*n, 7.5)
	},
	"temperatures as floats": func(b *modbustest.Bank, e encoding, v float64) {
		_, n := e.write(b, 100, v)
		b.SetFloat32(modbustest.Holding, 98, 68.52, modbustest.ABCD)
		b.SetFloat32(modbustest.Holding, 100+n, 71.07, modbustest.ABCD)
		b.SetFloat32(modbustest.Holding, 102+n, 0, modbustest.ABCD)
	},
}

// fill puts words around the level.
func fill(b *modbustest.Bank, e encoding, v float64, words ...uint16) {
	for i := range uint16(16) {
		b.Set(modbustest.Holding, 94+i, words[int(i)%len(words)])
	}
	e.write(b, 100, v)
}

// names are the types and orders that the first candidate stands for: its own, and those that read the same.
func (c Candidate) names() []string {
	return append([]string{strings.TrimSpace(c.Type + " " + c.Order)}, c.Same...)
}

func (e encoding) name() string {
	if strings.HasSuffix(e.kind, "16") && e.order == modbustest.BADC {
		return e.kind + " BADC"
	}
	if strings.HasSuffix(e.kind, "16") {
		return e.kind
	}
	return e.kind + " " + string(e.order)
}

// TestProbeGrid asks for every encoding, level and surroundings whether the truth comes first: for a person who has
// gauged the tank to a quarter inch, and, where less can be promised, for one who only knows how high the tank is.
func TestProbeGrid(t *testing.T) {
	tests := []struct {
		known  string
		least  float64
		around []string
		ask    func(true float64) Question
	}{
		{"a hand gauge", 0.95, slices.Sorted(maps.Keys(surroundings)), func(v float64) Question {
			gauge := math.Round(4*v) / 4
			return Question{Low: gauge, High: gauge, Within: 0.5}
		}},
		{"the tank's height", 0.7, []string{"empty registers", "status and counters", "the other tanks in the same type"}, func(float64) Question {
			return Question{Low: 0, High: 240}
		}},
	}
	for _, tt := range tests {
		right, strict, all := 0, 0, 0
		wrong := map[string]int{}
		for _, around := range tt.around {
			for _, e := range encodings {
				for _, first := range firstOf(t, e, surroundings[around], tt.ask) {
					all++
					switch names := first.names(); {
					case first.Address == 100 && names[0] == e.name():
						right, strict = right+1, strict+1
					case first.Address == 100 && slices.Contains(names, e.name()):
						right++
					default:
						wrong[e.String()+", "+around]++
					}
				}
			}
		}
		rate := float64(right) / float64(all)
		t.Logf("%s: %d of %d right (%.1f %%), %.1f %% without those that read the same number", tt.known, right, all, 100*rate, 100*float64(strict)/float64(all))
		if rate < tt.least {
			t.Errorf("%s: %.1f %%, want %.0f %%; wrong: %v", tt.known, 100*rate, 100*tt.least, wrong)
		}
	}
}

// TestProbeFindsTheUnit asks the same where the register counts in another unit than the hand gauge's.
func TestProbeFindsTheUnit(t *testing.T) {
	measures := []Measure{{"in", 1}, {"ft", 12}, {"mm", 1 / 25.4}, {"cm", 1 / 2.54}, {"m", 1 / 0.0254}, {"percent", 2.4}}
	usual := []encoding{
		{"float32", modbustest.ABCD, 1}, {"float32", modbustest.CDAB, 1}, {"int16", modbustest.ABCD, 0.01}, {"uint16", modbustest.ABCD, 0.01}, {"int32", modbustest.CDAB, 0.001},
	}
	// A level in cm is the same number in mm with another scale: which of them comes first makes no difference.
	for m, least := range map[Measure]float64{measures[0]: 0.95, measures[1]: 0.95, measures[3]: 0.9, measures[5]: 0.95} {
		right, all := 0, 0
		for _, around := range []string{"empty registers", "status and counters"} {
			for _, e := range usual {
				for _, first := range firstOf(t, e, func(b *modbustest.Bank, e encoding, v float64) { surroundings[around](b, e, v/m.Size) }, func(v float64) Question {
					gauge := math.Round(4*v) / 4
					return Question{Low: gauge, High: gauge, Within: 0.5, Measures: measures}
				}) {
					all++
					if first.Address == 100 && (first.Measure == m || m == measures[3]) && first.Fits && slices.Contains(first.names(), e.name()) {
						right++
					}
				}
			}
		}
		t.Logf("%s: %d of %d", m.Name, right, all)
		if rate := float64(right) / float64(all); rate < least {
			t.Errorf("a level in %s: %.1f %% right, want %.0f %%", m.Name, 100*rate, 100*least)
		}
	}
}

// firstOf probes one encoding of every level, each in a unit of its own.
func firstOf(t *testing.T, e encoding, prepare func(*modbustest.Bank, encoding, float64), ask func(float64) Question) (first []Candidate) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		slave := modbustest.NewSlave()
		lines := pipeLines(t, linetest.Only(slave))
		defer linetest.Close(t, lines)
		l := linetest.Open(t, lines, "tcp://site")
		for i, v := range levels {
			bank := slave.Unit(byte(i + 1))
			prepare(bank, e, v)
			truth, _ := e.write(modbustest.NewSlave().Unit(1), 100, v)
			q := ask(truth)
			q.Unit, q.Address = i+1, 100
			found, err := Probe(t.Context(), l, q)
			if err != nil {
				t.Fatal(err)
			}
			first = append(first, found.Candidates[0])
		}
	})
	return first
}
