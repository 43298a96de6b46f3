package mqtt

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"gauger/collectors"
	"gauger/deploy/proof"
)

// tally is a Host that counts what it is given and keeps nothing.
type tally struct {
	memo     *memo // for the little memory
	mu       sync.Mutex
	good     int // readings of the point that is well published
	bad      int
	refused  int
	heap     uint64
	settled  int // messages that left a trace
	finished chan struct{}
	want     int
}

func (h *tally) count(good, bad, refused int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.good, h.bad, h.refused = h.good+good, h.bad+bad, h.refused+refused
	before := h.settled
	h.settled = h.good + h.refused
	if before/10_000 != h.settled/10_000 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		h.heap = max(h.heap, m.HeapAlloc)
	}
	if before < h.want && h.settled >= h.want {
		close(h.finished)
	}
}

func (h *tally) Emit(_ context.Context, batch []collectors.Reading) error {
	good := 0
	for _, r := range batch {
		if r.Quality == collectors.Good && r.Point == "radio/good" {
			good++
		}
	}
	h.count(good, len(batch)-good, 0)
	return nil
}

func (h *tally) Keeps(collectors.Refusal) bool { return true }

func (h *tally) Refuse(_ context.Context, batch []collectors.Refusal) error {
	h.count(0, 0, len(batch))
	return nil
}

func (h *tally) Notice(context.Context, collectors.Notice) error { return nil }
func (h *tally) Recall(name string) ([]byte, error)              { return h.memo.Recall(name) }
func (h *tally) Remember(name string, v []byte) error            { return h.memo.Remember(name, v) }
func (h *tally) Hurry([]collectors.Point) bool                   { return false }

// TestProveMQTTMalformed sends payloads that cannot be read, a thousand for each case, and a good message after each: none
// stalls or ends the session, each is refused, and each good one arrives.
func TestProveMQTTMalformed(t *testing.T) {
	s := proof.Of(t, 3)
	total := s.N * 1000
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	h := &tally{memo: newMemo(), finished: make(chan struct{}), want: 2 * total}
	d := Device{Name: "radio", Brokers: Brokers{"mqtt://" + l.Addr().String()}, ClientID: "gauger-test", Points: []Point{
		{Name: "good", Topic: "field/good"},
		{Name: "level", Topic: "field/json", Value: "level.in", Time: "ts"},
		{Name: "plain", Topic: "field/plain"},
	}}
	stop := start(t, h, collect(t, Session{}, d))
	served := make(chan error, 1)
	go func() { served <- spray(l, s) }()
	select {
	case <-h.finished:
	case err := <-served:
		if err != nil {
			t.Fatal(err)
		}
		<-h.finished
	}
	stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.good != total || h.refused != total {
		t.Errorf("%d good messages and %d refused ones were accounted for, want %d each", h.good, h.refused, total)
	}
	if h.heap > 32<<20 {
		t.Errorf("the heap had %d bytes", h.heap)
	}
	s.Tell(t, "%d malformed payloads and %d good ones between them, each accounted for, largest heap %.1f MiB", h.refused, h.good, float64(h.heap)/(1<<20))
}

// spray is the least broker: it sends a malformed and a good message in turn, 100 at most unacknowledged.
func spray(l net.Listener, s proof.Stretch) error {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	if err := letIn(conn, in); err != nil {
		return err
	}
	out := bufio.NewWriter(conn)
	id, open := uint16(0), 0
	send := func(topic string, payload []byte) error {
		id = id%60_000 + 1
		raw := encoded(topic, 1, payload)
		at := bytes.Index(raw, []byte(topic)) + len(topic)
		binary.BigEndian.PutUint16(raw[at:], id)
		if _, err := out.Write(raw); err != nil {
			return err
		}
		if open++; open < 100 {
			return nil
		}
		if err := out.Flush(); err != nil {
			return err
		}
		_, err := in.Discard(4 * open)
		open = 0
		return err
	}
	for _, r := range s.Cases() {
		for i := range 1000 {
			topic, payload := malformed(r)
			if err := send(topic, payload); err != nil {
				return err
			}
			if err := send("field/good", fmt.Append(nil, i)); err != nil {
				return err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = in.Discard(4 * open)
	return err
}

// letIn answers a connection and its subscription, whatever topics that asks for.
func letIn(conn net.Conn, in *bufio.Reader) error {
	if _, err := packets.ReadPacket(in); err != nil {
		return err
	}
	if _, err := conn.Write([]byte{0x20, 2, 0, 0}); err != nil {
		return err
	}
	p, err := packets.ReadPacket(in)
	if err != nil {
		return err
	}
	sub, ok := p.(*packets.SubscribePacket)
	if !ok {
		return fmt.Errorf("a %T came instead of the subscription", p)
	}
	answer := append([]byte{0x90, byte(2 + len(sub.Topics)), byte(sub.MessageID >> 8), byte(sub.MessageID)}, bytes.Repeat([]byte{1}, len(sub.Topics))...)
	_, err = conn.Write(answer)
	return err
}

// malformed is a topic and a payload that no point of it can read: noise, cut and nested JSON, other types, large ones.
func malformed(r *rand.Rand) (string, []byte) {
	noise := make([]byte, 1+r.IntN(200))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	noise[0] = 0xff // so that by no chance a number comes out
	whole := fmt.Appendf(nil, `{"level":{"in":%d},"ts":1772366400}`, r.IntN(300))
	switch r.IntN(7) {
	case 0:
		return "field/plain", noise
	case 1:
		return "field/json", noise
	case 2:
		return "field/json", whole[:1+r.IntN(len(whole)-1)]
	case 3:
		return "field/json", bytes.Repeat([]byte("["), 1+r.IntN(20_000))
	case 4:
		return "field/json", []byte(`{"level":{"in":{"deeper":[1,2]}}}`)
	case 5:
		return "field/plain", []byte("118.2 in")
	}
	return "field/plain", slices.Repeat([]byte("9x"), 1+r.IntN(20_000))
}
