package mqtt

import (
	"bytes"
	"encoding/binary"
	"io"
	"time"
)

// message is a message as a broker has sent it, for us to acknowledge.
type message struct {
	conn    *packetConn
	topic   string
	payload []byte
	id      uint16
	flags   byte // of its packet: it was sent before, its quality of service, it was retained
}

func (m *message) Topic() string     { return m.topic }
func (m *message) Payload() []byte   { return m.payload }
func (m *message) MessageID() uint16 { return m.id }
func (m *message) Duplicate() bool   { return m.flags&8 != 0 }
func (m *message) Qos() byte         { return m.flags >> 1 & 3 }
func (m *message) Retained() bool    { return m.flags&1 != 0 }

// Ack keeps its acknowledgement for packetConn.sendAcks. The second half of a delivery of quality 2, which nobody has asked for, is the
// client's.
func (m *message) Ack() {
	switch m.Qos() {
	case 1:
		m.conn.holdAck(pubackPacket, m.id)
	case 2:
		m.conn.holdAck(pubrecPacket, m.id)
	}
}

const (
	// roomBytes are allocated for payloads at a time; one of more than a quarter has its own.
	roomBytes = 4 << 10
	// topicsKnown bounds the topics whose names are kept, so that a message does not bring its own.
	topicsKnown = 1024
)

// messageRoom is where messages are put together.
type messageRoom struct {
	bytes  []byte
	topics map[string]string
}

// payload is a copy.
func (r *messageRoom) payload(p []byte) []byte {
	if len(p) > roomBytes/4 {
		return bytes.Clone(p)
	}
	if len(p) > cap(r.bytes)-len(r.bytes) {
		r.bytes = make([]byte, 0, roomBytes)
	}
	at := len(r.bytes)
	r.bytes = append(r.bytes, p...)
	return r.bytes[at:len(r.bytes):len(r.bytes)]
}

func (r *messageRoom) topic(name []byte) string {
	if known, ok := r.topics[string(name)]; ok {
		return known
	}
	if r.topics == nil || len(r.topics) >= topicsKnown {
		r.topics = map[string]string{}
	}
	topic := string(name)
	r.topics[topic] = topic
	return topic
}

// takeMessage reads a message, or of one that is too long the beginning, as long as the limit.
func (g *packetConn) takeMessage(first byte, size int, at time.Time) error {
	kept := min(size, g.limit)
	body, err := g.peek(kept)
	if err != nil {
		return err
	}
	m := &message{conn: g, flags: first & 15}
	fixed := 2
	if len(body) >= fixed {
		fixed += int(binary.BigEndian.Uint16(body))
	}
	topic := fixed - 2
	if m.Qos() > 0 {
		fixed += 2 // the packet id, which quality of service 0 does not have
	}
	switch {
	case m.Qos() > 2:
		return g.fail("message has the quality of service 3, which there is not")
	case fixed > kept && size > kept:
		return g.fail("message has a topic of %d bytes, longer than the limit of %d", topic, g.limit)
	case fixed > kept:
		return g.fail("message of %d bytes is too short for its topic", size)
	case m.Qos() > 0:
		m.id = binary.BigEndian.Uint16(body[fixed-2:])
	}
	m.topic, m.payload = g.room.topic(body[2:2+topic]), g.room.payload(body[fixed:])
	if kept <= g.reader.Size() {
		_, err = g.reader.Discard(kept)
	}
	if err != nil {
		return err
	}
	sentLen := 0
	if size > kept {
		sentLen = size - fixed
	}
	if err := g.take(m, at, sentLen); err != nil {
		return err
	}
	_, err = g.reader.Discard(size - kept)
	return err
}

// peek looks at the next bytes, which are still to be discarded if the reader has room for so many, and are read if not.
func (g *packetConn) peek(n int) ([]byte, error) {
	if n <= g.reader.Size() {
		return g.reader.Peek(n)
	}
	body := make([]byte, n)
	_, err := io.ReadFull(g.reader, body)
	return body, err
}
