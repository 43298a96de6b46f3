package commission

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank"
	"gauger/collectors/registers"
)

func TestTheHandGaugeSaysWhatIsWrong(t *testing.T) {
	place := Place{Height: 240}
	for _, tt := range []struct {
		name     string
		readings []float64
		unit     string
		gauge    tank.Length
		offset   tank.Length // that the tank has
		want     tank.Length
		agrees   bool
		doubts   []string // each a part of one, in this order
	}{
		{"to the quarter", []float64{184.2, 184.25, 184.3}, "in", 184.25, 0, 0, true, nil},
		{"an offset", []float64{184.2, 184.2}, "in", 185.5, 0, 1.3, false, nil},
		{"an offset that is there already", []float64{184.2}, "in", 185.5, 1.25, 1.3, true, nil},
		{"an offset that is no more", []float64{184.2}, "in", 184.25, 1.25, 0.05, false, nil},
		{"one wild reading", []float64{184.2, 184.2, 12, 184.2}, "in", 184.25, 0, 0.05, true, []string{"172.20 in apart"}},
		{"feet taken for inches", []float64{15.35}, "in", 184.25, 0, 168.9, false, []string{"more than a transmitter", "in ft the reading"}},
		{"centimetres", []float64{468}, "in", 184.25, 0, -283.75, false, []string{"more than", "in cm the reading"}},
		{"a tenth", []float64{18.4}, "in", 184.25, 0, 165.85, false, []string{"more than", "10 times the reading"}},
		{"percent", []float64{76.8}, "in", 184.25, 0, 107.45, false, []string{"more than", "in percent the reading"}},
		{"from the top", []float64{55.8}, "in", 184.25, 0, 128.45, false, []string{"more than", "measures from the top"}},
		{"another tank", []float64{100}, "in", 184.25, 0, 84.25, false, []string{"more than"}},
		{"no level of this tank", []float64{184.2}, "in", 250, 0, 65.8, false, []string{"no level of a tank of 20-00-0", "more than"}},
		{"in feet, as configured", []float64{15.354}, "ft", 184.25, 0, 0, true, nil},
	} {
		place.Offset = tt.offset
		v, err := Judge(Gauged{tt.readings, tt.unit, tt.gauge, place})
		if err != nil || math.Abs(float64(v.Offset-tt.want)) > 0.006 || v.Agrees != tt.agrees || len(v.Doubts) != len(tt.doubts) {
			t.Errorf("%s: %+v, %v", tt.name, v, err)
			continue
		}
		for i, part := range tt.doubts {
			if !strings.Contains(v.Doubts[i], part) {
				t.Errorf("%s: doubt %q, want %q in it", tt.name, v.Doubts[i], part)
			}
		}
	}
	if _, err := Judge(Gauged{[]float64{1}, "psi", 100, place}); err == nil {
		t.Error("a pressure was judged as a level")
	}
}

func TestTwoTanksAreExchanged(t *testing.T) {
	unknown := tank.Length(math.NaN())
	for _, tt := range []struct {
		name                            string
		level, gauge, other, otherGauge tank.Length
		want                            bool
	}{
		{"each was gauged what the other reads", 80, 82, 82.1, 80, true},
		{"far apart", 80, 97.5, 97.5, 80.25, true},
		{"the other was not gauged yet", 80, 82, 82.1, unknown, true},
		{"the other is right", 80, 82, 82.1, 82, false},
		{"the other is off too, elsewhere", 80, 82, 82.1, 84, false},
		{"as the own level", 80, 80, 82.1, 82, false},
		{"alike", 80, 80.5, 80.4, 80, false},
		{"nothing is read there", 80, 82, unknown, 80, false},
	} {
		if got := Exchanged(tt.level, tt.gauge, tt.other, tt.otherGauge); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

func TestTheGaugeProvesTheOrderOfWords(t *testing.T) {
	bits := math.Float32bits(171.25)
	float := []uint16{uint16(bits >> 16), uint16(bits)}
	swapped := []uint16{float[1], float[0]}
	for _, tt := range []struct {
		name  string
		r     Registers
		gauge tank.Length
		words string
		wrong string
	}{
		{"right", Registers{swapped, registers.Float32, "CDAB", 1, 0}, 171, "order CDAB proved", ""},
		{"wrong", Registers{swapped, registers.Float32, "ABCD", 1, 0}, 171, "in order CDAB it would be 14-03-1", "CDAB"},
		{"one register", Registers{[]uint16{1713}, registers.Int16, "AB", 0.1, 0}, 171, "one register, int16", ""},
		{"one register, bytes turned", Registers{[]uint16{1713<<8&0xFF00 | 1713>>8}, registers.Uint16, "AB", 0.1, 0}, 171, "in order BA", "BA"},
		{"another number altogether", Registers{float, registers.Float32, "ABCD", 1, 0}, 20, "order ABCD not proved: in none is it near the gauge", ""},
		{"nothing to tell by", Registers{[]uint16{0, 0}, registers.Float32, "ABCD", 1, 0}, 0, "order ABCD not proved", ""},
		{"two orders near", Registers{[]uint16{0x0064, 0x0064}, registers.Int32, "ABCD", 1e-5, 0}, 65, "order ABCD not proved: this level does not tell it", ""},
	} {
		words, wrong := ProveOrder(tt.r, "in", 240, tt.gauge)
		if !strings.HasPrefix(words, tt.words) || wrong != tt.wrong {
			t.Errorf("%s: %q, %q", tt.name, words, wrong)
		}
	}
}

func TestAWalkGoesOnWhereItStopped(t *testing.T) {
	places := []Place{
		{Point: "plc/l1", Tank: "TK-1", Role: Level, Source: "holding 100"}, {Point: "plc/t1", Tank: "TK-1", Role: "top_temperature", Source: "holding 102"},
		{Point: "plc/l2", Tank: "TK-2", Role: Level, Source: "holding 200"}, {Point: "plc/battery", Source: "holding 1"},
	}
	at := time.Date(2026, 3, 2, 10, 12, 0, 0, time.UTC)
	var w Walk
	w.Add(Visit{Point: "plc/l1", Tank: "TK-1", Role: Level, Source: "holding 100", At: at, By: "ann", Outcome: Offset, Read: "184.20 in", Level: 184.2, Gauge: 185.5, Offset: 1.3, Order: "order CDAB proved"})
	if owed := w.Owed(places); len(owed) != 0 {
		t.Errorf("a memo of a tank that is half done: %v", owed)
	}
	w.Add(Visit{Point: "plc/t1", Tank: "TK-1", Role: "top_temperature", Source: "holding 102", At: at.Add(time.Minute), By: "ann", Outcome: Agrees, Read: "68.5 degF"})
	w.Add(Visit{Point: "plc/l2", Tank: "TK-2", Role: Level, Source: "holding 200", At: at, By: "ann", Outcome: Wrong, Read: "3 in", Note: "false echo"})
	text, err := w.Text()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	left := func(w Walk) (points []string) {
		for _, p := range w.Left(places) {
			points = append(points, string(p.Point))
		}
		return points
	}
	if got := left(again); !slices.Equal(got, []string{"plc/l2", "plc/battery"}) {
		t.Errorf("left: %v", got)
	}
	owed := again.Owed(places)
	want := "Commissioned TK-1, 2026-03-02 10:13 UTC, by ann: level plc/l1 (holding 100): reads 15-04-1 (184.20 in), hand gauge 15-05-2 (185.50 in), offset 1.3in; order CDAB proved. " +
		"top_temperature plc/t1 (holding 102): 68.5 degF confirmed."
	if got := Memo("TK-1", owed["TK-1"], time.UTC); got != want {
		t.Errorf("memo %q", got)
	}
	if _, ok := owed["TK-2"]; ok {
		t.Error("a memo of what is wrong")
	}
	again.Queued(owed["TK-1"], "memos/7")
	if owed := again.Owed(places); len(owed["TK-1"]) != 0 {
		t.Errorf("owed twice: %v", owed["TK-1"])
	}
	places[0].Source = "holding 104"
	if got := left(again); !slices.Equal(got, []string{"plc/l1", "plc/l2", "plc/battery"}) {
		t.Errorf("left after a change of place: %v", got)
	}
	if _, err := Parse([]byte("{")); err == nil {
		t.Error("half a file was read")
	}
}
