package line

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
	"gauger/collectors/registers"
)

// conversation of a master: neighbours that look alike, because those are the ones that get mixed up.
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
		slave := linetest.NumberedSlave()
		slave.SetFaults(faults...)
		lines := pipeLines(t, linetest.Only(slave))
		line := linetest.Open(t, lines, url)
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
		linetest.Close(t, lines)
	})
	return sum, stats
}

func carries(data []byte, r Request) bool {
	if len(data) != r.dataLength() {
		return false
	}
	for i := range int(r.Quantity) {
		if registers.ABCD.Number(data[2*i:2*i+2]) != uint64(linetest.Word(r.Unit, r.Table, int(r.Address)+i)) {
			return false
		}
	}
	return true
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
	for framing, urls := range linetest.URLsByFraming {
		for _, url := range urls {
			skips, pauses := moments(url)
			for name, fault := range linetest.EveryFault(framing) {
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
	for framing, urls := range linetest.URLsByFraming {
		for name, fault := range linetest.EveryFault(framing) {
			if got, _ := converse(t, urls[0], 100*time.Millisecond, fault); got.wrong > 0 {
				t.Errorf("%s, %s for ever: %+v", urls[0], name, got)
			}
		}
	}
}

func TestACancelledRequestLeavesTheLineInOrder(t *testing.T) {
	for framing, urls := range linetest.URLsByFraming {
		for after := 1; after < 30; after++ {
			cancelled(t, urls[0], framing, time.Duration(after)*time.Millisecond)
		}
	}
}

// cancelled gives up a request in the middle and asks another register of the same unit at once.
func cancelled(t *testing.T, url string, framing modbustest.Framing, after time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(modbustest.Fault{Torn: 5, Rest: 20 * time.Millisecond, Times: 1})
		lines := pipeLines(t, linetest.Only(slave))
		defer linetest.Close(t, lines)
		line := linetest.Open(t, lines, url)
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
