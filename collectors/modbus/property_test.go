package modbus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/modbustest"
	"gauger/collectors/registers"
)

// word is what register a of a table of a unit holds: no two registers of the site hold the same.
func word(unit byte, t Table, a int) uint16 { return uint16(int(unit)*10000 + int(t)*5000 + a) }

// numberedSlave has units 1 to 3 whose registers hold their own address.
func numberedSlave() *modbustest.Slave {
	s := modbustest.NewSlave()
	s.Turnaround = 5 * time.Millisecond
	for unit := byte(1); unit <= 3; unit++ {
		for _, t := range []Table{Holding, Input} {
			for a := range 64 {
				s.Unit(unit).Set(modbustest.Table(t), uint16(a), word(unit, t, a))
			}
		}
	}
	return s
}

// conversation is what a master asks in turn: neighbours that look alike, because those are the ones that get mixed up.
var conversation = []Request{
	{1, Holding, 0, 2}, {1, Holding, 2, 2}, {2, Holding, 0, 2}, {1, Holding, 4, 2}, {2, Input, 0, 2}, {1, Holding, 0, 2},
	{3, Holding, 6, 2}, {1, Holding, 8, 3}, {1, Holding, 2, 2}, {2, Holding, 2, 2}, {1, Input, 4, 2}, {1, Holding, 10, 2},
}

// result of a conversation with a slave that has one fault.
type tally struct{ right, failed, wrong int }

// converse asks everything in turn, on one line in virtual time, and compares each answer with its address.
func converse(t *testing.T, url string, between time.Duration, faults ...modbustest.Fault) (sum tally, stats Stats) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		slave := numberedSlave()
		slave.SetFaults(faults...)
		lines := pipeLines(t, only(slave))
		line := openLine(t, lines, url)
		for _, r := range conversation {
			data, err := line.Read(t.Context(), r, time.Second)
			switch {
			case err != nil:
				sum.failed++
			case !carries(data, r):
				sum.wrong++
				t.Errorf("%s: % x (faults %+v)", r, data, faults)
			default:
				sum.right++
			}
			collectors.Wait(t.Context(), between)
		}
		stats = line.Stats()
		closeLines(t, lines)
	})
	return sum, stats
}

func carries(data []byte, r Request) bool {
	if len(data) != r.dataLength() {
		return false
	}
	for i := range int(r.Quantity) {
		if registers.ABCD.Number(data[2*i:2*i+2]) != uint64(word(r.Unit, r.Table, int(r.Address)+i)) {
			return false
		}
	}
	return true
}

// everyFault is each kind of fault at each byte and each lateness where that makes a difference.
func everyFault(framing modbustest.Framing) map[string]modbustest.Fault {
	length, unprotected := 9, 99 // RTU: unit, function, count, four bytes of data, checksum
	switch framing {
	case modbustest.TCP:
		length, unprotected = 13, 9 // the data itself is TCP's to protect
	case modbustest.ASCII:
		length = 19 // the same in text: a colon, two characters a byte, a checksum of one byte, and the end
	}
	faults := map[string]modbustest.Fault{
		"silent": {Silent: true}, "doubled": {Doubled: true}, "reset": {Reset: true}, "short": {Short: 2}, "odd": {Short: 1},
		"exception": {Exception: 4}, "torn at 0": {Torn: -1},
	}
	for k := 1; k < length; k++ {
		faults[fmt.Sprintf("torn at %d", k)] = modbustest.Fault{Torn: k}
		faults[fmt.Sprintf("reset at %d", k)] = modbustest.Fault{Torn: k, Reset: true}
		for _, rest := range []time.Duration{3, 30, 400, 995, 1005, 1500, 2100} {
			faults[fmt.Sprintf("torn at %d, rest after %d ms", k, rest)] = modbustest.Fault{Torn: k, Rest: rest * time.Millisecond}
		}
	}
	for k := 1; k <= length && k <= unprotected; k++ {
		faults[fmt.Sprintf("byte %d inverted", k)] = modbustest.Fault{Flip: k}
	}
	for ms := 100; ms <= 6000; ms += 100 {
		late := modbustest.Fault{Delay: time.Duration(ms) * time.Millisecond}
		faults[fmt.Sprintf("%d ms late", ms)] = late
		late.Exception = 2
		faults[fmt.Sprintf("a refusal %d ms late", ms)] = late
	}
	for n := 1; n <= 6; n++ {
		faults[fmt.Sprintf("%d requests late", n)] = modbustest.Fault{Late: n}
	}
	for _, shift := range []byte{1, 2, 255} {
		faults[fmt.Sprintf("unit %d more", shift)] = modbustest.Fault{Unitshift: shift}
		faults[fmt.Sprintf("transaction %d more", shift)] = modbustest.Fault{Idshift: uint16(shift)}
	}
	for _, f := range []byte{1, 2, 4, 16, 131, 132} {
		faults[fmt.Sprintf("function %d", f)] = modbustest.Fault{Function: f}
	}
	for name, garbage := range map[string]string{"one zero": "\x00", "three bytes": "\xff\x00\xff", "a header": "\x01\x03\x04", "half a frame": "\x01\x03\x04\x27\x10\x27"} {
		faults["garbage: "+name] = modbustest.Fault{Garbage: []byte(garbage)}
	}
	return faults
}

// lines under test, by framing. The serial options only set how long characters and gaps are.
var framings = map[modbustest.Framing][]string{
	modbustest.TCP:   {"tcp://site:502", "tls://site:802"},
	modbustest.RTU:   {"rtu:///dev/port?baud=9600", "rtu+tcp://site:4001?baud=115200"},
	modbustest.ASCII: {"ascii:///dev/port?baud=9600", "ascii+tcp://site:4001?baud=115200"},
}

// moments are after how many requests, and with how much time between requests, a fault strikes. Inside TLS it is
// the same frames again, and each conversation begins with a costly handshake.
func moments(url string) (skips []int, between []time.Duration) {
	if strings.HasPrefix(url, "tls:") {
		return []int{1}, []time.Duration{0}
	}
	return []int{0, 1, 3}, []time.Duration{0, 700 * time.Millisecond}
}

func TestNoFaultBringsAnotherRegistersValue(t *testing.T) {
	var sum tally
	cases := 0
	for framing, urls := range framings {
		for _, url := range urls {
			skips, pauses := moments(url)
			for name, fault := range everyFault(framing) {
				for _, skip := range skips {
					fault.Skip, fault.Times = skip, 1
					for _, between := range pauses {
						got, _ := converse(t, url, between, fault)
						most := 3 + int(fault.Delay/time.Second) // a unit that is busy answers nobody meanwhile
						if got.wrong > 0 || got.failed > most {
							t.Errorf("%s, %s after %d requests, %s between: %+v; at most %d may fail", url, name, skip, between, got, most)
						}
						sum.right, sum.failed, sum.wrong = sum.right+got.right, sum.failed+got.failed, sum.wrong+got.wrong
						cases++
					}
				}
			}
		}
	}
	t.Logf("%d conversations: %+v", cases, sum)
}

func TestFaultsThatStayBringNoOthersValueEither(t *testing.T) {
	for framing, urls := range framings {
		for name, fault := range everyFault(framing) {
			if got, _ := converse(t, urls[0], 100*time.Millisecond, fault); got.wrong > 0 {
				t.Errorf("%s, %s for ever: %+v", urls[0], name, got)
			}
		}
	}
}

// TestManyFaultsAtOnce mixes faults at random under devices whose points are verified: one fault can then no
// longer hide another.
func TestManyFaultsAtOnce(t *testing.T) {
	good := 0
	for seed := range uint64(60) {
		for framing, urls := range framings {
			good += verifiedUnderFaults(t, urls[0], seed, framing)
		}
	}
	if good == 0 {
		t.Error("no value came through at all")
	}
	t.Logf("%d good values", good)
}

func verifiedUnderFaults(t *testing.T, url string, seed uint64, framing modbustest.Framing) (good int) {
	random := rand.New(rand.NewPCG(seed, 1))
	kinds := everyFault(framing)
	names := sortedKeys(kinds)
	var faults []modbustest.Fault
	for range 25 {
		f := kinds[names[random.IntN(len(names))]]
		f.Skip, f.Times = random.IntN(100), 1+random.IntN(2)
		faults = append(faults, f)
	}
	synctest.Test(t, func(t *testing.T) {
		slave := numberedSlave()
		slave.SetFaults(faults...)
		lines := pipeLines(t, only(slave))
		defer closeLines(t, lines)
		for range 12 {
			all, err := Read(t.Context(), lines, verifiedSite(url))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				if r.Quality == collectors.Good {
					good++
				}
				if want := expected(r.Point); r.Quality == collectors.Good && r.Value != want {
					t.Errorf("seed %d, %s: %v for %s, want %v", seed, url, r.Value, r.Point, want)
				}
			}
		}
	})
	return good
}

// verifiedSite has three units with two levels each; the point's name says what is expected.
func verifiedSite(url string) []Device {
	var all []Device
	for unit := 1; unit <= 3; unit++ {
		d := Device{Name: fmt.Sprintf("u%d", unit), URL: url, Unit: new(unit)}
		for _, a := range []int{0, 40} {
			d.Points = append(d.Points, holding(fmt.Sprint(word(byte(unit), Holding, a)), a, func(p *Point) { p.Verify = "twice" }))
		}
		all = append(all, d)
	}
	return all
}

func expected(p collectors.Point) (v float64) {
	var unit int
	if _, err := fmt.Sscanf(string(p), "u%d/%g", &unit, &v); err != nil {
		return -1
	}
	return v
}

func TestACancelledRequestLeavesTheLineInOrder(t *testing.T) {
	for framing, urls := range framings {
		for after := 1; after < 30; after++ {
			cancelled(t, urls[0], framing, time.Duration(after)*time.Millisecond)
		}
	}
}

// cancelled gives up a request in the middle and asks another register of the same unit at once.
func cancelled(t *testing.T, url string, framing modbustest.Framing, after time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		slave := numberedSlave()
		slave.SetFaults(modbustest.Fault{Torn: 5, Rest: 20 * time.Millisecond, Times: 1})
		lines := pipeLines(t, only(slave))
		defer closeLines(t, lines)
		line := openLine(t, lines, url)
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		start := time.Now()
		if data, err := line.Read(ctx, conversation[0], time.Second); err == nil && !carries(data, conversation[0]) {
			t.Errorf("%d, %s: % x", framing, after, data)
		} else if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d, %s: %v", framing, after, err)
		}
		if took := time.Since(start); took > after+time.Millisecond {
			t.Errorf("%d: a context of %s let go after %s", framing, after, took)
		}
		data, err := line.Read(t.Context(), conversation[1], time.Second)
		if err == nil && !carries(data, conversation[1]) {
			t.Errorf("%d, after %s the next answer is % x", framing, after, data)
		}
	})
}
