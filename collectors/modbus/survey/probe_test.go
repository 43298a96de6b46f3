package survey

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// probeOne asks a slave in memory about register 100 of unit 1.
func probeOne(t *testing.T, q Question, prepare func(*modbustest.Bank)) (found Probed, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		slave := modbustest.NewSlave()
		prepare(slave.Unit(1))
		lines := pipeLines(t, linetest.Only(slave))
		q.Unit, q.Address = 1, 100
		found, err = Probe(t.Context(), linetest.Open(t, lines, "tcp://site"), q)
		linetest.Close(t, lines)
	})
	return found, err
}

// TestOneLengthFitsInEveryUnitOrInNone: 96.5 in is as far from 96 in as a gauge by hand may be, in millimetres as in metres.
func TestOneLengthFitsInEveryUnitOrInNone(t *testing.T) {
	q := Question{Low: 96, High: 96, Within: 0.5, Measures: []Measure{{"mm", 1 / 25.4}, {"cm", 1 / 2.54}, {"m", 1 / 0.0254}}}
	found, err := probeOne(t, q, func(b *modbustest.Bank) { b.Set(modbustest.Holding, 100, 24511) })
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]bool{}
	for _, c := range found.Candidates {
		if c.Type == "uint16" && c.Order == "" && c.Offset == 0 && c.Expected() > 96.49 && c.Expected() < 96.51 {
			if units[c.Measure.Name] = true; !c.Fits {
				t.Errorf("%v %s does not fit", c.Value, c.Measure.Name)
			}
		}
	}
	if len(units) != 3 {
		t.Errorf("seen in %v", units)
	}
}

func TestProbeRanksWhatIsExpectedFirst(t *testing.T) {
	tests := []struct {
		name    string
		q       Question
		prepare func(*modbustest.Bank)
		want    string
		value   float64
	}{
		{"a float with swapped words", Question{Low: 100, High: 150}, func(b *modbustest.Bank) { b.SetFloat32(modbustest.Holding, 100, 123.5, modbustest.CDAB) },
			"- {name: NAME, holding: 100, type: float32, order: CDAB}", 123.5},
		{"a float without a word about it", Question{}, func(b *modbustest.Bank) { b.SetFloat32(modbustest.Holding, 100, 123.456, modbustest.CDAB) },
			"- {name: NAME, holding: 100, type: float32, order: CDAB}", 123.45600128173828},
		{"one address too high", Question{Low: 87.2, High: 87.3}, func(b *modbustest.Bank) { b.SetFloat32(modbustest.Holding, 99, 87.25, modbustest.ABCD) },
			"- {name: NAME, holding: 99, type: float32, order: ABCD}", 87.25},
		{"one address too low", Question{Low: 1234, High: 1234}, func(b *modbustest.Bank) { b.Set(modbustest.Holding, 100, 77, 1234, 9) },
			"- {name: NAME, holding: 101, type: int16}", 1234},
		{"swapped bytes", Question{Low: 1234, High: 1234}, func(b *modbustest.Bank) { b.SetUint(modbustest.Holding, 100, 1234, 16, modbustest.DCBA) },
			"- {name: NAME, holding: 100, type: int16, order: BADC}", 1234},
		{"64 bits backwards", Question{Low: -70000.5, High: -70000.5}, func(b *modbustest.Bank) { b.SetFloat64(modbustest.Holding, 100, -70000.5, modbustest.DCBA) },
			"- {name: NAME, holding: 100, type: float64, order: DCBA}", -70000.5},
		{"packed decimals", Question{Low: 9876, High: 9876}, func(b *modbustest.Bank) { b.Set(modbustest.Holding, 100, 0x9876) },
			"- {name: NAME, holding: 100, type: bcd16}", 9876},
		{"input registers", Question{Table: line.Input, Low: 5, High: 5}, func(b *modbustest.Bank) { b.Set(modbustest.Input, 100, 5) },
			"- {name: NAME, input: 100, type: int16}", 5},
		{"the neighbours do not exist", Question{Low: 55, High: 55}, func(b *modbustest.Bank) { b.Strict(true); b.Set(modbustest.Holding, 100, 55) },
			"- {name: NAME, holding: 100, type: int16}", 55},
	}
	for _, tt := range tests {
		found, err := probeOne(t, tt.q, tt.prepare)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if first := found.Candidates[0]; first.YAML != tt.want || first.Value != tt.value {
			t.Errorf("%s: first %s = %v, want %s = %v", tt.name, first.YAML, first.Value, tt.want, tt.value)
		}
	}
}

func TestProbeShowsEveryTypeOrderAndOffset(t *testing.T) {
	found, err := probeOne(t, Question{}, func(b *modbustest.Bank) { b.Set(modbustest.Holding, 99, 1, 2, 3, 4, 5, 6) })
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, c := range found.Candidates {
		if c.Scale == 1 {
			kinds[c.Type]++
		}
	}
	// Three offsets; two orders of one register, four of two, eight of four.
	for kind, want := range map[string]int{"int16": 6, "uint16": 6, "bcd16": 6, "int32": 12, "uint32": 12, "float32": 12, "bcd32": 12, "int64": 24, "uint64": 24, "float64": 24} {
		if kinds[kind] != want {
			t.Errorf("%s: %d candidates, want %d", kind, kinds[kind], want)
		}
	}
}

func TestProbeFailsWithAReason(t *testing.T) {
	if _, err := probeOne(t, Question{}, func(b *modbustest.Bank) { b.Strict(true) }); err == nil || !strings.Contains(err.Error(), "exception 2") {
		t.Errorf("no register there: %v", err)
	}
	if _, err := probeOne(t, Question{Table: line.Coil}, func(*modbustest.Bank) {}); err == nil || !strings.Contains(err.Error(), "one bit") {
		t.Errorf("a coil: %v", err)
	}
}

func TestScanFindsTheUnitsThatAnswer(t *testing.T) {
	for _, url := range []string{"tcp://site", "rtu:///dev/port"} {
		synctest.Test(t, func(t *testing.T) {
			slave := modbustest.NewSlave()
			slave.Unit(3).Set(modbustest.Holding, 0, 77)
			slave.Unit(7).Strict(true)
			slave.Unit(9)
			slave.SetFaults(modbustest.Fault{Unit: 9, Exception: 11})
			lines := pipeLines(t, linetest.Only(slave))
			defer linetest.Close(t, lines)
			var told []int
			units := []int{1, 2, 3, 4, 7, 9, 10}
			start := time.Now()
			found, err := Scan(t.Context(), linetest.Open(t, lines, url), Search{Units: units, Timeout: 200 * time.Millisecond}, func(f Found) { told = append(told, f.Unit) })
			if err != nil || !slices.Equal(told, units) {
				t.Fatalf("told of %v: %v", told, err)
			}
			var answer []int
			for _, f := range found {
				if f.Answers {
					answer = append(answer, f.Unit)
				}
			}
			if !slices.Equal(answer, []int{3, 7}) || found[2].How != "holding 0 is 77" || !strings.Contains(found[5].How, "gateway target") {
				t.Errorf("%+v", found)
			}
			if took := time.Since(start); took > 1500*time.Millisecond {
				t.Errorf("%s: %s for four silent units of 200 ms", url, took)
			}
		})
	}
}

func TestScanEndsWithItsContextAndItsLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := pipeLines(t, linetest.Only(modbustest.NewSlave()))
		defer linetest.Close(t, lines)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		found, err := Scan(ctx, linetest.Open(t, lines, "tcp://site"), Search{Units: []int{1, 2, 3, 4}, Timeout: 200 * time.Millisecond}, nil)
		if !errors.Is(err, context.DeadlineExceeded) || len(found) != 2 {
			t.Errorf("%+v, %v", found, err)
		}
		down := pipeLines(t, func(string) (*modbustest.Slave, error) { return nil, errors.New("no route") })
		if _, err := Scan(t.Context(), linetest.Open(t, down, "tcp://site"), Search{Units: []int{1, 2}, Timeout: time.Second}, nil); !errors.Is(err, line.ErrDown) {
			t.Errorf("a line that is down: %v", err)
		}
		if _, err := Scan(t.Context(), linetest.Open(t, lines, "rtu:///dev/x"), Search{Units: []int{0}, Timeout: time.Second}, nil); err == nil {
			t.Error("unit 0 was asked on a serial line")
		}
	})
}

// A register too late, of a float with its words the other way round, reads its beginning: near enough to fit, and said.
func TestHalfOfAnotherFloatIsDoubted(t *testing.T) {
	found, err := probeOne(t, Question{Low: 93.75, High: 93.75, Within: 0.5}, func(b *modbustest.Bank) {
		b.SetFloat32(modbustest.Holding, 99, 93.84, modbustest.CDAB) // 99 and 100
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found.Candidates {
		half := c.Type == "float32" && c.Order == "ABCD" && c.Address == 100
		if want := "holding 99 in order CDAB is 93.84, of words as a float has them: that is likelier, unless the device's own list says 100"; half && c.Doubt != want {
			t.Errorf("doubt %q, want %q", c.Doubt, want)
		}
		if c.Type == "float32" && c.Order == "CDAB" && c.Address == 99 && (c.Doubt != "" || !c.Fits) {
			t.Errorf("the value itself: %+v", c)
		}
	}
}

// A half that fits, of a float beside the gauge by more than a hand gauge is off, comes behind that float: the one reads whole inches alone, the
// other is off by an offset, as many a transmitter is.
func TestAFloatNearTheGaugeComesBeforeItsHalfThatFits(t *testing.T) {
	var lengths []Measure
	for name, size := range map[string]float64{"in": 1, "ft": 12, "mm": 1 / 25.4, "cm": 1 / 2.54, "m": 1 / 0.0254, "percent": 2.4} {
		lengths = append(lengths, Measure{name, size})
	}
	for name, prepare := range map[string]func(*modbustest.Bank){
		"nothing before it": func(b *modbustest.Bank) { b.SetFloat32(modbustest.Holding, 100, 180.528, modbustest.BADC) },
		"another behind it": func(b *modbustest.Bank) {
			b.SetFloat32(modbustest.Holding, 100, 180.528, modbustest.BADC)
			b.SetFloat32(modbustest.Holding, 102, 25.107, modbustest.BADC)
			b.Set(modbustest.Holding, 104, 853)
		},
	} {
		found, err := probeOne(t, Question{Low: 180, High: 180, Within: 0.5, Measures: lengths}, prepare)
		if err != nil {
			t.Fatal(err)
		}
		if c := found.Candidates[0]; c.YAML != "- {name: NAME, holding: 100, type: float32, order: BADC, unit: in}" || c.Doubt != "" {
			t.Errorf("%s: %s = %v is the first", name, c.YAML, c.Value)
		}
		if c := found.Candidates[1]; c.Address != 99 || c.Order != "DCBA" || c.Doubt == "" {
			t.Errorf("%s: %s = %v, %q is the second", name, c.YAML, c.Value, c.Doubt)
		}
	}
}

// A level that moves is never put together of two answers, where the unit refuses the block about it: on its way over 120 in it would
// read half an inch too much or too little, and nobody would see why.
func TestProbeMakesNoValueOfTwoAnswers(t *testing.T) {
	for name, refuse := range map[string][]modbustest.Fault{
		"only these two are there": nil, "a row is refused, and a value is not": {{Longer: 2, Exception: 2}}, "only one at a time": {{Longer: 1, Exception: 2}},
	} {
		synctest.Test(t, func(t *testing.T) {
			slave := modbustest.NewSlave()
			slave.Turnaround = 5 * time.Millisecond
			bank := slave.Unit(1)
			bank.Strict(true)
			if name != "only these two are there" {
				bank.SetFloat32(modbustest.Holding, 102, 33.3, modbustest.ABCD)
			}
			slave.SetFaults(refuse...)
			ctx, cancel := context.WithCancel(t.Context())
			set := func(k int) { bank.SetFloat32(modbustest.Holding, 100, []float32{119.98, 120.02}[k%2], modbustest.ABCD) }
			set(0)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for k := 1; ctx.Err() == nil; k++ {
					select {
					case <-ctx.Done():
					case <-time.After(13 * time.Millisecond):
						set(k)
					}
				}
			}()
			lines := pipeLines(t, linetest.Only(slave))
			found, err := Probe(t.Context(), linetest.Open(t, lines, "tcp://site"), Question{Unit: 1, Address: 100, Low: 120, High: 120, Within: 0.5})
			cancel()
			<-ended
			linetest.Close(t, lines)
			whole := 0
			for _, c := range found.Candidates {
				if c.Address != 100 || c.Type != "float32" || c.Order != "ABCD" {
					continue
				}
				whole++
				if c.Value < 119.97 || c.Value > 120.03 {
					t.Errorf("%s: %.4f was never the level", name, c.Value)
				}
			}
			if want := map[bool]int{true: 0, false: 1}[name == "only one at a time"]; err != nil || whole != want {
				t.Errorf("%s: %d floats, want %d, %v", name, whole, want, err)
			}
		})
	}
}
