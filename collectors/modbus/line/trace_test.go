package line

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// traceOf reads holding 100-101 of unit 1 as often as there are faults, each in turn, and returns what a trace shows.
func traceOf(t *testing.T, url string, faults ...modbustest.Fault) (all []Frame) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		slave := modbustest.NewSlave()
		slave.Turnaround = 17 * time.Millisecond
		slave.Unit(1).Set(modbustest.Holding, 100, 0x4338, 0x4000)
		lines := pipeLines(t, linetest.Only(slave))
		line := linetest.Open(t, lines, url)
		stop := lines.Trace(func(f Frame) { all = append(all, f) })
		for i, fault := range faults {
			fault.Times = 1
			slave.SetFaults(fault)
			r := Request{Unit: 1, Table: Holding, Address: 100, Quantity: uint16(2 + i)}
			_, _ = line.Read(t.Context(), r, 200*time.Millisecond) // what goes wrong is what is looked at
		}
		stop()
		shown := len(all)
		slave.SetFaults()
		if _, err := line.Read(t.Context(), Request{Unit: 1, Table: Holding, Quantity: 1}, time.Second); err != nil {
			t.Error(err)
		}
		if len(all) != shown {
			t.Error("a trace that was stopped goes on")
		}
		linetest.Close(t, lines)
	})
	return all
}

func TestTraceExplainsWhatIsOnTheWire(t *testing.T) {
	tests := []struct {
		name, url string
		fault     modbustest.Fault
		want      []string // what stands in the trace, in this order
	}{
		{"an answer", "tcp://site", modbustest.Fault{}, []string{"opened", "unit 1: read holding 100-101 (function 3)", "17 ms later: unit 1: 2 registers: 4338 4000"}},
		{"an answer on a serial line", "rtu:///dev/port?baud=9600", modbustest.Fault{}, []string{"opened", "unit 1: read holding 100-101 (function 3)", "17 ms later: unit 1: 2 registers: 4338 4000"}},
		{"a refusal", "rtu:///dev/port", modbustest.Fault{Exception: 2}, []string{"17 ms later: unit 1 refuses: exception 2 (illegal data address)"}},
		{"silence", "rtu:///dev/port", modbustest.Fault{Silent: true}, []string{"read holding 100-101", "no answer from unit 1 within 2"}},
		{"silence of a socket", "tcp://site", modbustest.Fault{Silent: true}, []string{"read holding 100-101", "no answer from unit 1 within 200 ms"}},
		{"a wrong checksum", "rtu:///dev/port", modbustest.Fault{Flip: 4}, []string{"damaged: the checksum is ", "it should be ", "no answer from unit 1"}},
		{"half a frame", "rtu:///dev/port", modbustest.Fault{Torn: 6}, []string{"damaged: it ended after 6 of 9 bytes", "no answer from unit 1"}},
		{"noise before the answer", "rtu:///dev/port", modbustest.Fault{Garbage: []byte{0, 0xFF}}, []string{"damaged: 2 bytes, too few for a frame", "later: unit 1: 2 registers"}},
		{"an adapter that hears itself", "rtu:///dev/port", modbustest.Fault{Garbage: []byte{1, 3, 0, 100, 0, 2, 0x85, 0xD4}},
			[]string{"an echo of our own request", "later: unit 1: 2 registers"}},
		{"another master", "rtu:///dev/port", modbustest.Fault{Garbage: []byte{0x11, 3, 0, 0x6B, 0, 3, 0x76, 0x87}},
			[]string{"another master asks unit 17: read holding 107-109 (function 3)", "later: unit 1: 2 registers"}},
		{"another unit", "rtu:///dev/port", modbustest.Fault{Unitshift: 6}, []string{"from another unit: unit 7: 2 registers: 4338 4000", "no answer from unit 1"}},
		{"another transaction", "tcp://site", modbustest.Fault{Idshift: 5}, []string{"late, since it belongs to transaction 6: unit 1: 2 registers", "no answer from unit 1"}},
		{"another function", "tcp://site", modbustest.Fault{Function: 4}, []string{"no answer to this request: unit 1: 2 registers: 4338 4000"}},
		{"no Modbus TCP", "tcp://site", modbustest.Fault{Flip: 3}, []string{"damaged: no header of Modbus TCP (protocol id 65280, length 7)", "closed"}},
		{"twice", "rtu:///dev/port", modbustest.Fault{Doubled: true}, []string{"later: unit 1: 2 registers", "late, or answering nobody: unit 1: 2 registers"}},
		{"a connection that ends", "tcp://site", modbustest.Fault{Reset: true}, []string{"the connection is lost: EOF", "closed"}},
	}
	for _, tt := range tests {
		var words strings.Builder
		for _, f := range traceOf(t, tt.url, tt.fault) {
			if !strings.HasPrefix(f.URL, strings.SplitAfter(tt.url, "?")[0][:8]) || f.At.IsZero() {
				t.Errorf("%s: %+v", tt.name, f)
			}
			words.WriteString(f.Words + "\n")
		}
		rest := words.String()
		for _, want := range tt.want {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%s: %q is not there, or not in this order, in\n%s", tt.name, want, words.String())
			}
			rest = after
		}
	}
}

func TestTraceShowsALateAnswerWhereItComes(t *testing.T) {
	all := traceOf(t, "rtu:///dev/port", modbustest.Fault{Delay: 210 * time.Millisecond}, modbustest.Fault{})
	var words []string
	for _, f := range all {
		words = append(words, f.Words)
	}
	text := strings.Join(words, "\n")
	silence, late := strings.Index(text, "no answer from unit 1"), strings.Index(text, "late, or answering nobody: unit 1: 2 registers")
	if silence < 0 || late < silence || !strings.Contains(text[late:], "later: unit 1: 3 registers") {
		t.Errorf("want silence, then the late answer, then the next one:\n%s", text)
	}
}

// TestTraceThatBeginsBeforeAnAnswerCallsNothingLate: on a busy line that is how most of them begin.
func TestTraceThatBeginsBeforeAnAnswerCallsNothingLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.Turnaround = 20 * time.Millisecond
		lines := pipeLines(t, linetest.Only(slave))
		defer linetest.Close(t, lines)
		line := linetest.Open(t, lines, "rtu:///dev/port")
		ended := make(chan error, 1)
		go func() {
			_, err := line.Read(t.Context(), Request{Unit: 1, Table: Holding, Quantity: 1}, time.Second)
			ended <- err
		}()
		linetest.Await(t, 10*time.Millisecond)
		var all []Frame
		defer lines.Trace(func(f Frame) { all = append(all, f) })()
		if err := <-ended; err != nil || len(all) != 1 || !strings.HasPrefix(all[0].Words, "to a request from before: unit 1: 1 register") {
			t.Errorf("%v, %+v", err, all)
		}
	})
}

// The bytes and words are those of the examples in Modbus over Serial Line V1.02 and of the standard's own checksums.
func TestTraceReadsTextFrames(t *testing.T) {
	at, err := ParseEndpoint("ascii:///dev/port")
	if err != nil {
		t.Fatal(err)
	}
	request := []byte(":010300640002")
	request = append(request, []byte("96\r\n")...)
	if got := decodeFrame(at, request).describeRequest(); got != "unit 1: read holding 100-101 (function 3)" {
		t.Error(got)
	}
	if e, asks := requestOfOtherMaster(at, request); !asks || e.describeRequest() != "unit 1: read holding 100-101 (function 3)" {
		t.Errorf("another master's %q is not recognised", request)
	}
	answer := []byte(":0103044338400041\r\n")
	if got := explainDamage(at, answer); got != "the checksum is 41, it should be 3D" {
		t.Error(got)
	}
	if got := explainDamage(at, answer[:9]); !strings.Contains(got, "it ended after 9 characters") && !strings.Contains(got, "no frame") {
		t.Error(got)
	}
}

// FuzzTraceShowsEveryByte: whatever comes, in whatever pieces, each byte is shown once and in its order.
func FuzzTraceShowsEveryByte(f *testing.F) {
	f.Add(uint8(0), []byte{0, 1, 0, 0, 0, 5, 1, 3, 2, 0x12, 0x34, 0, 1}, uint8(3))
	f.Add(uint8(1), []byte{0xFF, 1, 3, 2, 0x12, 0x34, 0xB5, 0x33, 1, 3}, uint8(2))
	f.Add(uint8(2), []byte("x:01030443384000D5\r\n:0103"), uint8(5))
	urls := []string{"tcp://site", "rtu:///dev/port", "ascii:///dev/port"}
	f.Fuzz(func(t *testing.T, which uint8, heard []byte, piece uint8) {
		at, err := ParseEndpoint(urls[int(which)%len(urls)])
		if err != nil {
			t.Fatal(err)
		}
		var shown []byte
		tap := &tracedStream{at: &at, tracer: &tracer{}}
		see := func(f Frame) { shown = append(shown, f.Bytes...) }
		tap.tracer.watchers = map[*func(Frame)]bool{&see: true}
		tap.tracer.on.Store(true)
		tap.pending = &tracedRequest{decodedFrame: decodedFrame{unit: 1, pdu: []byte{3, 0, 0, 0, 1}}}
		for rest := heard; len(rest) > 0; {
			n := min(int(piece%32)+1, len(rest))
			tap.observe(rest[:n], nil)
			rest = rest[n:]
		}
		tap.flush()
		if string(shown) != string(heard) {
			t.Errorf("heard % x, shown % x", heard, shown)
		}
	})
}
