package survey

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// everyone is the unit ids of a serial line.
func everyone() (ids []int) {
	for id := 1; id <= 247; id++ {
		ids = append(ids, id)
	}
	return ids
}

// TestScanTakesLittleMoreThanItsTimeouts counts what 247 ids must take: for each that is silent its request, the
// time-out and two silences of 3.5 characters; for each that answers its answer instead of the time-out.
func TestScanTakesLittleMoreThanItsTimeouts(t *testing.T) {
	const timeout = 300 * time.Millisecond
	living := []int{1, 2, 17, 100, 247}
	tests := []struct {
		url     string
		bits    time.Duration // of a character
		baud    time.Duration
		gateway bool // says at once that nobody is there
	}{
		{"rtu:///dev/port?baud=1200", 11, 1200, false},
		{"rtu:///dev/port?baud=9600&parity=N", 10, 9600, false},
		{"rtu:///dev/port?baud=19200", 11, 19200, false},
		{"rtu+tcp://site:4001?baud=115200&parity=N", 10, 115200, false},
		{"tcp://site", 0, 1, false},
		{"tcp://site", 0, 1, true},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			char := tt.bits * time.Second / tt.baud
			slave := modbustest.NewSlave()
			slave.Char, slave.Turnaround = char, 10*time.Millisecond
			for _, id := range living {
				slave.Unit(byte(id)).Set(modbustest.Holding, 0, uint16(id))
			}
			if tt.gateway {
				for id := 1; id <= 247; id++ {
					slave.Unit(byte(id))
				}
				slave.SetFaults(faultsOfTheOthers(living)...)
			}
			lines := pipeLines(t, linetest.Only(slave))
			defer linetest.Close(t, lines)
			l := linetest.Open(t, lines, tt.url)
			search := Search{Units: everyone(), Timeout: timeout}
			start := time.Now()
			found, err := Scan(t.Context(), l, search, nil)
			took := time.Since(start)
			if err != nil || len(found) != 247 {
				t.Fatalf("%d units, %v", len(found), err)
			}
			var answer []int
			for _, f := range found {
				if f.Answers {
					answer = append(answer, f.Unit)
				}
			}
			if !slices.Equal(answer, living) {
				t.Errorf("%s: %v answer, want %v", tt.url, answer, living)
			}
			theory := 242*(8*char+timeout+7*char) + 5*(15*char+10*time.Millisecond+7*char)
			if tt.gateway {
				theory = 247 * 10 * time.Millisecond
			}
			t.Logf("%s: %s, in theory %s (%.3f)", tt.url, took, theory, float64(took)/float64(theory))
			if took > theory*12/10 {
				t.Errorf("%s: %s, more than 1.2 times %s", tt.url, took, theory)
			}
			if longest := search.MaxDuration(tt.url); took > longest {
				t.Errorf("%s: it took %s, and was to take %s at most", tt.url, took, longest)
			}
		})
	}
}

// faultsOfTheOthers lets a gateway say at once that the others do not answer.
func faultsOfTheOthers(living []int) (faults []modbustest.Fault) {
	for id := 1; id <= 247; id++ {
		if !slices.Contains(living, id) {
			faults = append(faults, modbustest.Fault{Unit: byte(id), Exception: 11})
		}
	}
	return faults
}

func TestScanTellsDamageFromSilence(t *testing.T) {
	for _, tt := range []struct {
		url, want string
		fault     modbustest.Fault
	}{
		{"rtu:///dev/port", "something answered damaged: two units with this id, or another baud rate or parity", modbustest.Fault{Unit: 5, Flip: 3}},
		{"rtu:///dev/port", "a second one followed it", modbustest.Fault{Unit: 5, Doubled: true}},
		{"tcp://site", "it comes from unit 6", modbustest.Fault{Unit: 5, Unitshift: 1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			slave := modbustest.NewSlave()
			slave.Unit(5)
			slave.Unit(7)
			slave.SetFaults(tt.fault)
			lines := pipeLines(t, linetest.Only(slave))
			defer linetest.Close(t, lines)
			found, err := Scan(t.Context(), linetest.Open(t, lines, tt.url), Search{Units: []int{4, 5, 6, 7}, Timeout: 100 * time.Millisecond}, nil)
			if err != nil || len(found) != 4 {
				t.Fatalf("%+v, %v", found, err)
			}
			for i, damaged := range []bool{false, true, false, false} {
				if f := found[i]; f.Damaged != damaged || f.Answers != (f.Unit == 7) {
					t.Errorf("%s: %+v", tt.url, f)
				}
			}
			if !strings.Contains(found[1].How, tt.want) || strings.Contains(found[1].How, "read holding") {
				t.Errorf("%s: %q, want %q", tt.url, found[1].How, tt.want)
			}
		})
	}
}

func TestScanAsksAnotherTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := modbustest.NewSlave()
		slave.Unit(3).SetBit(modbustest.Coil, 0, true)
		lines := pipeLines(t, linetest.Only(slave))
		defer linetest.Close(t, lines)
		found, err := Scan(t.Context(), linetest.Open(t, lines, "tcp://site"), Search{Units: []int{3}, Table: line.Coil, Timeout: time.Second}, nil)
		if err != nil || found[0].How != "coil 0 is 1" {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

func TestSettingsAreOneURLForEachCombination(t *testing.T) {
	got, err := Settings("rtu:///dev/ttyUSB0?stop=1", []string{"9600", "19200"}, []string{"N", "E"})
	want := []string{
		"rtu:///dev/ttyUSB0?baud=9600&parity=N&stop=1", "rtu:///dev/ttyUSB0?baud=9600&parity=E&stop=1",
		"rtu:///dev/ttyUSB0?baud=19200&parity=N&stop=1", "rtu:///dev/ttyUSB0?baud=19200&parity=E&stop=1",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := Settings("tcp://site:502", nil, nil); err != nil || !slices.Equal(got, []string{"tcp://site:502"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, wrong := range []struct{ url, baud, say string }{
		{"tcp://site:502", "9600", "is a socket"}, {"rtu+tcp://site:4001", "9600", "is a socket"}, {"rtu:///dev/x", "fast", "baud=fast"}, {"nonsense", "9600", "is not a URL"},
	} {
		if _, err := Settings(wrong.url, []string{wrong.baud}, nil); err == nil || !strings.Contains(err.Error(), wrong.say) {
			t.Errorf("%s, %s: %v", wrong.url, wrong.baud, err)
		}
	}
}
