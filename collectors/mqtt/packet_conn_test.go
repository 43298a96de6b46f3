package mqtt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"gauger/collectors"
)

// script plays a broker over one pipe: it answers the connection and then does what the test says.
type script struct {
	conn net.Conn
	got  chan packets.ControlPacket // what the client sent after the connection
}

// scripted returns a Dial that leads to a scripted broker at each connection.
func scripted(play func(s *script)) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		s := &script{conn: far, got: make(chan packets.ControlPacket, 100)}
		go func() {
			defer far.Close()
			if _, err := packets.ReadPacket(far); err == nil {
				play(s)
			}
		}()
		return near, nil
	}
}

// send writes bytes as they are.
func (s *script) send(raw ...byte) bool {
	_, err := s.conn.Write(raw)
	return err == nil
}

// welcome lets the client in, and takes its subscription.
func (s *script) welcome() (sub *packets.SubscribePacket, ok bool) { return s.welcomeBack(false) }

// welcomeBack is welcome; the broker may know the session.
func (s *script) welcomeBack(known bool) (sub *packets.SubscribePacket, ok bool) {
	hello := []byte{0x20, 2, 0, 0}
	if known {
		hello[2] = 1
	}
	if !s.send(hello...) {
		return nil, false
	}
	p, err := packets.ReadPacket(s.conn)
	if err != nil {
		return nil, false
	}
	sub, ok = p.(*packets.SubscribePacket)
	return sub, ok
}

// listen collects what the client sends, until the connection ends.
func (s *script) listen() {
	defer close(s.got)
	for {
		p, err := packets.ReadPacket(s.conn)
		if err != nil {
			return
		}
		s.got <- p
	}
}

// granted answers a subscription of one topic.
func (s *script) granted(sub *packets.SubscribePacket) bool {
	return s.send(0x90, 3, byte(sub.MessageID>>8), byte(sub.MessageID), 1)
}

// encoded is a message of quality of service 1.
func encoded(topic string, id uint16, payload []byte) []byte {
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.Qos, p.TopicName, p.MessageID, p.Payload = 1, topic, id, payload
	var b bytes.Buffer
	_ = p.Write(&b)
	return b.Bytes()
}

func TestALengthIsNotBelieved(t *testing.T) {
	var before, after runtime.MemStats
	announced := make(chan bool, 1)
	g := newPacketConn(nil, maxPacket, nil)
	near, far := net.Pipe()
	g.Conn = near
	g.reader.Reset(near)
	go func() {
		defer far.Close()
		_, _ = far.Write([]byte{0x20, 2, 0, 0})
		_, err := far.Write([]byte{0x32, 0xff, 0xff, 0xff, 0x7f}) // a message of 256 MiB
		announced <- err == nil
	}()
	runtime.ReadMemStats(&before)
	if _, err := packets.ReadPacket(g); err != nil {
		t.Fatal(err)
	}
	_, err := packets.ReadPacket(g)
	runtime.ReadMemStats(&after)
	if err == nil || !<-announced {
		t.Fatalf("a message without a body was read: %v", err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes were allocated for five", grown)
	}
}

func TestAMessageThatIsTooLongIsKeptInPartAndAcknowledged(t *testing.T) {
	h := newMemo()
	long := bytes.Repeat([]byte("7"), 300_000)
	acks := make(chan uint16, 10)
	dial := scripted(func(s *script) {
		sub, ok := s.welcome()
		if !ok || !s.granted(sub) {
			return
		}
		go s.listen()
		s.send(encoded("field/tk1", 8, long)...)
		s.send(encoded("field/tk1", 9, []byte("12"))...)
		for p := range s.got {
			if ack, is := p.(*packets.PubackPacket); is {
				acks <- ack.MessageID
			}
		}
	})
	start(t, h, collect(t, Session{Dial: dial, MaxPacket: 10_000}, at(address, "field/tk1")))
	if got := h.values(t, "radio/field-tk1", 1); got[0] != 12 {
		t.Errorf("after it: %v", got)
	}
	for _, want := range []uint16{8, 9} {
		select {
		case id := <-acks:
			if id != want {
				t.Errorf("acknowledged %d, not %d", id, want)
			}
		case <-time.After(patienceOfTests):
			t.Fatalf("%d was not acknowledged", want)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.refused) != 1 || len(h.refused[0].Raw) != 10_000-2-len("field/tk1")-2 {
		t.Fatalf("kept %d messages", len(h.refused))
	}
	if why := h.refused[0].Err.Error(); !strings.Contains(why, "300000 bytes") {
		t.Errorf("why: %s", why)
	}
	if r := h.readings("radio/field-tk1")[0]; r.Quality != collectors.Bad {
		t.Errorf("the point was %+v", r)
	}
}

func TestBrokersThatTalkNonsense(t *testing.T) {
	cases := []struct {
		name string
		play func(s *script)
		want string
	}{
		{"too many answers", func(s *script) {
			if sub, ok := s.welcome(); ok {
				s.send(0x90, 5, byte(sub.MessageID>>8), byte(sub.MessageID), 1, 1, 1)
			}
		}, "answered 3 topics of a subscription to 1"},
		{"not a broker", func(s *script) { s.send([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")...) }, "no MQTT broker"},
		{"unknown code", func(s *script) { s.send(0x20, 2, 0, 77) }, "unknown code 77"},
		{"bad password", func(s *script) { s.send(0x20, 2, 0, 4) }, "check username and password"},
		{"not authorized", func(s *script) { s.send(0x20, 2, 0, 5) }, "list of permissions"},
		{"long length", func(s *script) {
			s.welcome()
			s.send(0x30, 0xff, 0xff, 0xff, 0xff, 0x7f)
		}, "more than four bytes"},
		{"long answer", func(s *script) {
			s.welcome()
			s.send(0xd0, 0xff, 0xff, 0x7f)
		}, "longer than the limit"},
		{"hangs up", func(*script) {}, "EOF"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if r := firstReading(t, Session{Dial: scripted(c.play)}, at(address, "field/tk1")); r.Quality != collectors.Bad || r.Err == nil || !strings.Contains(r.Err.Error(), c.want) {
					t.Errorf("reading %+v, expected %q", r, c.want)
				}
			})
		})
	}
}

// chunked hands out a few bytes at a time, as a network may.
type chunked struct {
	net.Conn
	in   io.Reader
	size int
}

func (c chunked) Read(p []byte) (int, error) { return c.in.Read(p[:min(len(p), c.size)]) }

func FuzzGuard(f *testing.F) {
	hello := []byte{0x20, 2, 1, 0}
	f.Add(hello, 1)
	f.Add(append(hello[:4:4], encoded("a/b", 1, []byte("12"))...), 3)
	f.Add(append(hello[:4:4], encoded("a/b", 1, make([]byte, 2000))...), 7)
	f.Add(append(hello[:4:4], 0x32, 0xff, 0xff, 0xff, 0x7f, 0, 3, 'a', '/', 'b', 0, 1), 1)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		g := newPacketConn(chunked{in: bytes.NewReader(stream), size: max(1, min(size, 64))}, minPacket, func(m *message, _ time.Time, sentLen int) error {
			if len(m.payload) > minPacket || sentLen > 0 && sentLen <= len(m.payload) {
				t.Fatalf("a payload of %d bytes, %d were sent, passed the limit of %d", len(m.payload), sentLen, minPacket)
			}
			return nil
		})
		for {
			p, err := packets.ReadPacket(g)
			if err != nil {
				break
			}
			if _, is := p.(*packets.PublishPacket); is {
				t.Fatal("the client has got a message")
			}
		}
	})
}

func TestWithinTheLimitNothingIsChanged(t *testing.T) {
	var stream, want, got bytes.Buffer
	hello := []byte{0x20, 2, 1, 0}
	stream.Write(hello)
	for i := range 200 {
		sent := encoded(fmt.Sprintf("t/%d", i), uint16(i+1), bytes.Repeat([]byte{byte(i)}, i*2))
		want.Write(sent)
		stream.Write(sent)
		stream.Write([]byte{0xd0, 0})
	}
	var all []*message
	g := newPacketConn(chunked{in: &stream, size: 5}, minPacket, func(m *message, _ time.Time, sentLen int) error {
		if all = append(all, m); sentLen != 0 {
			t.Errorf("message %d was cut", m.id)
		}
		return nil
	})
	rest, err := io.ReadAll(g)
	if err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(rest, append(hello, bytes.Repeat([]byte{0xd0, 0}, 200)...)) {
		t.Errorf("%d bytes of other packets, %v", len(rest), err)
	}
	for _, m := range all { // after the last has come, so that none lies on another
		got.Write(encoded(m.Topic(), m.MessageID(), m.Payload()))
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%d bytes of messages became %d", want.Len(), got.Len())
	}
}

// TestHalfDeliveriesAreNotKept: of a message of quality 2, which nobody has asked for, the broker may never send the second half.
func TestHalfDeliveriesAreNotKept(t *testing.T) {
	const count, size = 400, 60_000
	h := newMemo()
	dial := scripted(func(s *script) {
		sub, ok := s.welcome()
		if !ok || !s.granted(sub) {
			return
		}
		go s.listen()
		over := make(chan struct{})
		go func() {
			defer close(over)
			for range s.got { // its acknowledgements, until the end
			}
		}()
		for i := range count {
			whole := encoded("field/tk1", uint16(i+1), append(bytes.Repeat([]byte(" "), size), fmt.Sprint(i)...))
			whole[0] |= 4
			whole[0] &^= 2
			s.send(whole...)
		}
		<-over
	})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	stop := start(t, h, collect(t, Session{Dial: dial}, at(address, "field/tk1")))
	defer stop()
	h.until(t, "the last", func() bool { return len(h.readings("radio/field-tk1")) >= count })
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int(after.HeapAlloc) - int(before.HeapAlloc); kept > count*size/4 {
		t.Errorf("%d bytes are kept of messages of %d", kept, count*size)
	}
}
