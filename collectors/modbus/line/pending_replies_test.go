package line

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

func TestStepsAreOfALengthThatIsNotOwed(t *testing.T) {
	for _, tt := range []struct {
		asked Request
		owed  []Request
		want  Request
	}{
		{Request{1, Holding, 100, 2}, []Request{{1, Holding, 0, 2}}, Request{1, Holding, 100, 1}},
		{Request{1, Holding, 100, 1}, []Request{{1, Holding, 0, 1}}, Request{1, Holding, 100, 2}},
		{Request{1, Holding, 65535, 1}, []Request{{1, Holding, 0, 2}, {1, Holding, 0, 1}}, Request{1, Holding, 65533, 3}},
		{Request{1, EnronHolding, 100, 1}, []Request{{1, Holding, 0, 2}}, Request{1, EnronHolding, 100, 2}},
		{Request{1, Coil, 12, 1}, []Request{{1, Coil, 12, 8}}, Request{1, Coil, 12, 9}},
		{Request{1, Discrete, 12, 20}, []Request{{1, Discrete, 12, 20}, {1, Coil, 12, 1}}, Request{1, Discrete, 12, 1}},
		// The last one that is owed is asked for again: what it proves it proves once more.
		{Request{1, Holding, 100, 2}, []Request{{1, Holding, 0, 2}, {1, Holding, 0, 1}, {1, Holding, 0, 1}}, Request{1, Holding, 100, 1}},
		{Request{1, Holding, 100, 2}, []Request{{1, Holding, 0, 1}, {1, Holding, 0, 2}}, Request{1, Holding, 100, 3}},
	} {
		var debt pendingReplies
		for _, r := range tt.owed {
			debt.add(r)
		}
		if !debt.ambiguous(tt.asked) && tt.asked.Table != Coil {
			t.Errorf("%+v is not owed by %+v", tt.asked, debt)
		}
		if got := debt.resyncRequest(tt.asked, nil); got != tt.want {
			t.Errorf("%+v owing %+v: %+v, want %+v", tt.asked, tt.owed, got, tt.want)
		}
	}
}

func TestWhatAnAnswerProves(t *testing.T) {
	one, two, three := Request{1, Holding, 0, 1}, Request{1, Holding, 0, 2}, Request{1, Holding, 0, 3}
	coil := Request{1, Coil, 0, 1}
	for _, tt := range []struct {
		name    string
		sent    []Request
		came    Request
		refusal bool
		left    []Request // that are still owed
		gone    []Request
	}{
		{"data proves that all before it is gone", []Request{one, two, three}, three, false, nil, []Request{one, two, three}},
		{"but it may be the first of its run", []Request{two, one, one}, one, false, []Request{one}, []Request{two}},
		{"a refusal may be the first answer of all", []Request{two, one}, one, true, []Request{one}, []Request{two}},
		{"to the same table", []Request{coil, two, one}, one, true, []Request{one}, []Request{coil, two}},
	} {
		var debt pendingReplies
		for _, r := range tt.sent {
			debt.add(r)
		}
		debt.received(tt.came, tt.refusal)
		for _, r := range tt.left {
			if !debt.ambiguous(r) {
				t.Errorf("%s: %+v is no longer owed", tt.name, r)
			}
		}
		for _, r := range tt.gone {
			if debt.ambiguous(r) {
				t.Errorf("%s: %+v is still owed", tt.name, r)
			}
		}
	}
}

// TestAUnitThatOnlyRefusesDoesNotKeepTheLine: refusals look all alike, so that none of them proves that an answer which
// once came too late is out of the way; a gateway's word that its unit is silent is none to wait for another second.
func TestAUnitThatOnlyRefusesDoesNotKeepTheLine(t *testing.T) {
	for code, most := range map[byte]time.Duration{11: 2 * time.Second, 4: (maxSilenceWait + 2) * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			slave := linetest.NumberedSlave()
			slave.SetFaults(modbustest.Fault{Times: 1, Delay: 1500 * time.Millisecond, Exception: code}, modbustest.Fault{Delay: 900 * time.Millisecond, Exception: code})
			lines := pipeLines(t, linetest.Only(slave))
			defer linetest.Close(t, lines)
			line := linetest.Open(t, lines, "rtu:///dev/port")
			r := Request{Unit: 1, Table: Holding, Address: 100, Quantity: 2}
			if _, err := line.Read(t.Context(), r, time.Second); !errors.Is(err, ErrSilent) {
				t.Fatal(err)
			}
			linetest.Await(t, 3*time.Second)
			for range 3 {
				start := time.Now()
				_, err := line.Read(t.Context(), r, time.Second)
				if took := time.Since(start); err == nil || took > most {
					t.Errorf("exception %d: %v after %s, at most %s", code, err, took, most)
				}
			}
		})
	}
}

// TestNoForbiddenAddressPutsAUnitBackInStep: a unit that did not answer on a serial line is asked for another number
// of registers first, which must keep away from what is forbidden, too.
func TestNoForbiddenAddressPutsAUnitBackInStep(t *testing.T) {
	avoid := []Span{{Holding, 11, 4}, {Input, 8, 1}, {Holding, 9, 1}}
	for _, tt := range []struct{ asked, want Request }{
		{Request{Unit: 1, Table: Holding, Address: 10, Quantity: 3}, Request{Unit: 1, Table: Holding, Address: 10, Quantity: 1}},
		{Request{Unit: 1, Table: Holding, Address: 10, Quantity: 1}, Request{Unit: 1, Table: Holding, Address: 7, Quantity: 2}}, // not 9 to 10, nor 8 to 9, nor 10 to 15
	} {
		var debt pendingReplies
		debt.add(tt.asked)
		if got := debt.resyncRequest(tt.asked, avoid); got != tt.want {
			t.Errorf("%s is owed: %s, want %s", tt.asked, got, tt.want)
		}
	}
}
