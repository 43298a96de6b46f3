package share

import (
	"bytes"
	"testing"
	"time"

	"gauger/collectors/modbus/line"
)

func TestOldAnswersAreNotServed(t *testing.T) {
	start := time.Now()
	s := NewCache("127.0.0.1:1502", 1, 21*time.Second, nil)
	s.StoreAnswer(line.Span{Table: line.Holding, From: 10, Count: 2}, []byte{0, 1, 0, 2})
	s.StoreRefusal(line.Span{Table: line.Holding, From: 12, Count: 1}, 1, &line.Exception{Code: 2})
	s.StoreRefusal(line.Span{Table: line.Holding, From: 14, Count: 3}, 2, &line.Exception{Code: 2}) // only one of two places is at fault
	s.StoreRefusal(line.Span{Table: line.Holding, From: 10, Count: 1}, 1, &line.Exception{Code: 6}) // busy is no refusal of the place
	ask := func(from, count byte, after time.Duration) []byte {
		return s.Answer([]byte{3, 0, from, 0, count}, start.Add(after))
	}
	for _, tt := range []struct {
		from, count byte
		after       time.Duration
		want        []byte
	}{
		{10, 2, 20 * time.Second, []byte{3, 4, 0, 1, 0, 2}}, {11, 1, 20 * time.Second, []byte{3, 2, 0, 2}},
		{10, 2, 22 * time.Second, []byte{0x83, 11}}, {12, 1, time.Second, []byte{0x83, 2}}, {11, 2, time.Second, []byte{0x83, 2}},
		{14, 1, time.Second, []byte{0x83, 2}}, {10, 0, 0, []byte{0x83, 3}}, {10, 126, 0, []byte{0x83, 3}},
	} {
		if got := ask(tt.from, tt.count, tt.after); !bytes.Equal(got, tt.want) {
			t.Errorf("%d registers from %d after %s: % x, want % x", tt.count, tt.from, tt.after, got, tt.want)
		}
	}
	for _, pdu := range [][]byte{{6, 0, 10, 0, 1}, {16, 0, 10, 0, 1, 2, 0, 0}, {5, 0, 1, 0xFF, 0}, {43, 14, 1, 0}, {0}} {
		if got := s.Answer(pdu, start); !bytes.Equal(got, []byte{pdu[0] | 0x80, 1}) {
			t.Errorf("function %d: % x, want exception 1", pdu[0], got)
		}
	}
	s.StoreAnswer(line.Span{Table: line.EnronHolding, From: 7000, Count: 2}, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	if got := s.Answer([]byte{3, 0x1B, 0x59, 0, 1}, start); !bytes.Equal(got, []byte{3, 4, 5, 6, 7, 8}) {
		t.Errorf("an Enron value: % x", got)
	}
}
