package mqtt

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// The packets that packetConn looks into, by the first four bits of their first byte (MQTT 3.1.1, section 2.2.1).
const (
	connackPacket = 2
	publishPacket = 3
	pubackPacket  = 4
	subackPacket  = 9
)

const (
	// maxPacket is the largest packet taken by default, in bytes.
	maxPacket = 64 << 10
	// minPacket is the least limit that makes sense: the topic and the beginning of a payload fit in.
	minPacket = 512
	// writeTimeout bounds the wait of one packet for the network to take it.
	writeTimeout = 30 * time.Second
)

// packetConn is between the network and the MQTT client, which believes what a broker says: it allocates any length
// that five bytes announce, and trips over a subscription's answer that is longer than the question. It passes
// whole packets on as long as they are small. Of a larger message it passes the beginning, so that the message can
// be kept and acknowledged; were the connection dropped instead, the broker would send the same message for ever.
type packetConn struct {
	net.Conn
	reader   *bufio.Reader
	limit    int
	ready    []byte // the part of a packet that is ready to be read
	bodyLeft int    // bytes of the same packet that follow from the network
	skipLeft int    // bytes after that which are thrown away

	topicsAsked    atomic.Int32 // topics in the latest subscription
	sessionPresent bool         // the broker had a session for us; fixed, like since, before the first message is handed on
	begunAt        time.Time    // when the connection was begun
	connackAt      time.Time    // when the broker answered the connection
	connacked      bool         // the first packet has come

	writing   sync.Mutex
	heldAcks  []byte        // acknowledgements that wait for their group
	acksDue   int           // acknowledgements that are still to come
	connectAt time.Time     // when the connection was asked for
	roundTrip time.Duration // how long the broker took to answer that

	mu          sync.Mutex
	heardAt     time.Time      // when the latest packet came
	unacked     int            // messages that were handed on and are not acknowledged
	idleSince   time.Time      // since when none is; zero: since the broker's answer
	truncated   map[uint16]int // true payload sizes of the messages that were cut, by packet id
	protocolErr error          // what was wrong with a packet; the client only tells that the connection ended

	once   sync.Once
	closed chan struct{}
}

func newPacketConn(conn net.Conn, limit int) *packetConn {
	return &packetConn{
		Conn: conn, reader: bufio.NewReaderSize(conn, 16<<10), limit: limit,
		truncated: map[uint16]int{}, closed: make(chan struct{}),
	}
}

// Read hands on the bytes of packets that have been found in order.
func (g *packetConn) Read(p []byte) (int, error) {
	for len(g.ready) == 0 && g.bodyLeft == 0 {
		if err := g.nextPacket(); err != nil {
			return 0, err
		}
	}
	if len(g.ready) > 0 {
		n := copy(p, g.ready)
		g.ready = g.ready[n:]
		return n, nil
	}
	n, err := g.reader.Read(p[:min(len(p), g.bodyLeft)])
	g.bodyLeft -= n
	return n, err
}

// Write sends one packet. Acknowledgements wait for the rest of their group and go out together: on a metered link
// each in a packet of its own costs ten times its size. Whatever else is sent takes the waiting ones along.
func (g *packetConn) Write(p []byte) (int, error) {
	g.writing.Lock()
	defer g.writing.Unlock()
	if len(p) == 4 && p[0]>>4 == pubackPacket && g.acksDue > 1 {
		g.acksDue--
		g.heldAcks = append(g.heldAcks, p...)
		return len(p), nil
	}
	if g.acksDue = 0; g.connectAt.IsZero() {
		g.connectAt = time.Now()
	}
	g.heldAcks = append(g.heldAcks, p...)
	// Without a limit of time a dead link would hold the writer for ever.
	if err := g.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	_, err := g.Conn.Write(g.heldAcks)
	g.heldAcks = g.heldAcks[:0]
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// expectAcks says how many acknowledgements are about to be sent.
func (g *packetConn) expectAcks(acknowledgements int) {
	g.writing.Lock()
	defer g.writing.Unlock()
	g.acksDue += acknowledgements
}

// Close ends the connection, and tells who waits for room in the queue that the message will come again.
func (g *packetConn) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.Conn.Close()
}

// fail makes an error about a packet, and keeps it.
func (g *packetConn) fail(format string, args ...any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.protocolErr = fmt.Errorf(format, args...)
	return g.protocolErr
}

// protocolError says what was wrong with a packet; nil when nothing was.
func (g *packetConn) protocolError() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.protocolErr
}

// nextPacket reads the head of a packet and decides about it.
func (g *packetConn) nextPacket() error {
	if g.skipLeft > 0 {
		n, err := g.reader.Discard(min(g.skipLeft, g.reader.Size()))
		g.skipLeft -= n
		return err
	}
	first, err := g.reader.ReadByte()
	if err != nil {
		return err
	}
	size, err := g.readLength()
	if err != nil {
		return err
	}
	g.notePacket()
	kind := first >> 4
	if !g.connacked && kind != connackPacket {
		return g.fail("the first packet is of type %d, not the answer to the connection: this is no MQTT broker", kind)
	}
	switch {
	case kind == connackPacket:
		err = g.readConnack(size)
	case kind == subackPacket && size-2 > int(g.topicsAsked.Load()):
		err = g.fail("broker answered %d topics of a subscription to %d", size-2, g.topicsAsked.Load())
	case size > g.limit && kind == publishPacket:
		return g.truncate(first, size)
	case size > g.limit:
		err = g.fail("packet of type %d and %d bytes is longer than the limit of %d", kind, size, g.limit)
	}
	if err != nil {
		return err
	}
	g.ready, g.bodyLeft = binary.AppendUvarint([]byte{first}, uint64(size)), size
	return nil
}

// notePacket notes that the broker is there.
func (g *packetConn) notePacket() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.heardAt = time.Now()
}

// lastHeard is the arrival of the latest packet.
func (g *packetConn) lastHeard() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.heardAt
}

// readConnack looks at the answer to the connection: two bytes, of which the first tells of a session, the second of success.
func (g *packetConn) readConnack(size int) error {
	if g.connacked || size != 2 {
		return g.fail("broker's answer to the connection has %d bytes, or comes twice", size)
	}
	g.connacked = true
	answer, err := g.reader.Peek(2)
	if err != nil {
		return err
	}
	if answer[1] > 5 {
		return g.fail("broker answered the connection with the unknown code %d", answer[1])
	}
	g.sessionPresent, g.connackAt = answer[0]&1 == 1, time.Now()
	g.writing.Lock()
	defer g.writing.Unlock()
	g.roundTrip = g.connackAt.Sub(g.connectAt)
	return nil
}

// countReceived counts a message that is handed on. It returns since when nothing was open; zero: something is.
func (g *packetConn) countReceived() (free time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.unacked++; g.unacked > 1 {
		return time.Time{}
	}
	if g.idleSince.IsZero() {
		return g.connackAt
	}
	return g.idleSince
}

// countAcked says that so many messages were acknowledged.
func (g *packetConn) countAcked(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unacked, g.idleSince = g.unacked-n, time.Now()
}

// truncate replaces a message that is too long by its beginning, as long as the limit.
func (g *packetConn) truncate(first byte, size int) error {
	var two [2]byte
	if _, err := io.ReadFull(g.reader, two[:]); err != nil {
		return err
	}
	topic := int(binary.BigEndian.Uint16(two[:]))
	fixed := 2 + topic
	if first>>1&3 != 0 {
		fixed += 2 // the packet id, which quality of service 0 does not have
	}
	if fixed > g.limit {
		return g.fail("message has a topic of %d bytes, longer than the limit of %d", topic, g.limit)
	}
	rest := make([]byte, fixed-2)
	if _, err := io.ReadFull(g.reader, rest); err != nil {
		return err
	}
	var id uint16
	if fixed > 2+topic {
		id = binary.BigEndian.Uint16(rest[topic:])
	}
	g.mu.Lock()
	g.truncated[id] = size - fixed
	g.mu.Unlock()
	g.ready = slices.Concat(binary.AppendUvarint([]byte{first}, uint64(g.limit)), two[:], rest)
	g.bodyLeft = g.limit - fixed
	g.skipLeft = size - g.limit
	return nil
}

// sentLength returns the true payload size of a message that was cut, and forgets it; 0 when the message is whole.
func (g *packetConn) sentLength(m paho.Message) int {
	fixed := 2 + len(m.Topic())
	if m.Qos() > 0 {
		fixed += 2
	}
	if fixed+len(m.Payload()) != g.limit {
		return 0 // a message that was cut is exactly as long as the limit
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	size := g.truncated[m.MessageID()]
	delete(g.truncated, m.MessageID())
	return size
}

// readLength reads the remaining length of a packet: seven bits a byte, least first, at most four bytes.
func (g *packetConn) readLength() (int, error) {
	size := 0
	for shift := 0; shift < 28; shift += 7 {
		b, err := g.reader.ReadByte()
		if err != nil {
			return 0, err
		}
		size |= int(b&0x7f) << shift
		if b&0x80 == 0 {
			return size, nil
		}
	}
	return 0, g.fail("a packet's length has more than four bytes")
}
