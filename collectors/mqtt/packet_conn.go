package mqtt

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The packets that packetConn knows, by the first four bits of their first byte (MQTT 3.1.1, section 2.2.1).
const (
	connackPacket = 2
	publishPacket = 3
	pubackPacket  = 4
	pubrecPacket  = 5
	subackPacket  = 9
	pingreqPacket = 12
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
// whole packets on as long as they are small.
//
// Messages and their acknowledgements go past the client: there each costs five changes of goroutine and some twenty allocations. Of a
// larger message only the beginning is taken, so that it can be kept and acknowledged; were the connection dropped instead, the broker
// would send the same message for ever. Since the client hears and sends so little, packetConn keeps the connection alive (keep_alive.go).
type packetConn struct {
	net.Conn
	reader   *bufio.Reader
	limit    int
	take     func(m *message, at time.Time, sentLen int) error // an error ends the connection
	room     messageRoom
	ready    []byte // the part of a packet that is ready to be read
	bodyLeft int    // bytes of the same packet that follow from the network

	topicsAsked    atomic.Int32 // topics in the latest subscription
	sessionPresent bool         // the broker had a session for us; fixed, like since, before the first message is handed on
	begunAt        time.Time    // when the connection was begun
	connackAt      time.Time    // when the broker answered the connection
	connacked      bool         // the first packet has come

	writing   sync.Mutex
	outgoing  []byte        // acknowledgements that wait for their group, and what is being written
	connectAt time.Time     // when the connection was asked for
	roundTrip time.Duration // how long the broker took to answer that

	mu          sync.Mutex
	life        life
	unacked     int       // messages that were handed on and are not acknowledged
	idleSince   time.Time // since when none is; zero: since the broker's answer
	protocolErr error     // why we ended the connection; the client only tells that it ended

	once   sync.Once
	closed chan struct{} // closed when it is, and when nothing can be read from it any more
}

// newPacketConn hands messages to take, in their order, from whoever reads.
func newPacketConn(conn net.Conn, limit int, take func(m *message, at time.Time, sentLen int) error) *packetConn {
	return &packetConn{
		Conn: conn, reader: bufio.NewReaderSize(conn, 16<<10), limit: limit, take: take, closed: make(chan struct{}),
	}
}

// Read hands on the bytes of packets that have been found in order, but for messages.
func (g *packetConn) Read(p []byte) (n int, err error) {
	for len(g.ready) == 0 && g.bodyLeft == 0 && err == nil {
		err = g.nextPacket()
	}
	switch {
	case err != nil:
	case len(g.ready) > 0:
		n = copy(p, g.ready)
		g.ready = g.ready[n:]
	default:
		n, err = g.reader.Read(p[:min(len(p), g.bodyLeft)])
		g.bodyLeft -= n
	}
	if err == nil {
		return n, nil
	}
	g.once.Do(func() { close(g.closed) })    // nobody needs to look after it any more
	return n, cmp.Or(g.protocolError(), err) // of a connection that was closed on our side the client tells nobody
}

// Write sends one packet, and takes acknowledgements along that wait.
func (g *packetConn) Write(p []byte) (int, error) {
	g.writing.Lock()
	defer g.writing.Unlock()
	begin := len(g.outgoing)
	g.outgoing = append(g.outgoing, p...)
	if g.connectAt.IsZero() {
		g.connectAt = time.Now()
		announceKeepAlive(g.outgoing[begin:])
	}
	if err := g.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes what waits. The lock for writing is held.
func (g *packetConn) flush() error {
	// Without a limit of time a dead link would hold the writer for ever.
	if err := g.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := g.Conn.Write(g.outgoing)
	g.outgoing = g.outgoing[:0]
	g.noteSent()
	return err
}

// holdAck keeps an acknowledgement for its group.
func (g *packetConn) holdAck(kind byte, id uint16) {
	g.writing.Lock()
	defer g.writing.Unlock()
	g.outgoing = append(g.outgoing, kind<<4, 2, byte(id>>8), byte(id))
}

// sendAcks sends the acknowledgements of a group of n messages together: on a metered link each in a packet of its own costs ten
// times its size. What cannot be acknowledged any more the broker sends again.
func (g *packetConn) sendAcks(n int) {
	g.writing.Lock()
	var err error
	if len(g.outgoing) > 0 {
		err = g.flush()
	}
	g.writing.Unlock()
	if err != nil {
		g.end(fmt.Errorf("acknowledge messages: %w", err))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unacked, g.idleSince = g.unacked-n, time.Now()
}

// Close ends the connection, and tells who waits for room in the queue that the message will come again.
func (g *packetConn) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.Conn.Close()
}

// end closes the connection for a reason of ours.
func (g *packetConn) end(why error) {
	_ = g.fail("%w", why)
	_ = g.Close() // nothing depends on how it ends
}

// fail makes an error that ends the connection, and keeps the first.
func (g *packetConn) fail(format string, args ...any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.protocolErr == nil {
		g.protocolErr = fmt.Errorf(format, args...)
	}
	return g.protocolErr
}

// protocolError says why we ended the connection; nil when we did not.
func (g *packetConn) protocolError() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.protocolErr
}

// nextPacket reads the head of a packet and decides about it; of a message it takes all.
func (g *packetConn) nextPacket() error {
	first, err := g.reader.ReadByte()
	if err != nil {
		return err
	}
	size, err := g.readLength()
	if err != nil {
		return err
	}
	now := time.Now()
	g.notePacket(now)
	kind := first >> 4
	if !g.connacked && kind != connackPacket {
		return g.fail("the first packet is of type %d, not the answer to the connection: this is no MQTT broker", kind)
	}
	switch {
	case kind == connackPacket:
		err = g.readConnack(size)
	case kind == subackPacket && size-2 > int(g.topicsAsked.Load()):
		err = g.fail("broker answered %d topics of a subscription to %d", size-2, g.topicsAsked.Load())
	case kind == publishPacket:
		return g.takeMessage(first, size, now)
	case size > g.limit:
		err = g.fail("packet of type %d and %d bytes is longer than the limit of %d", kind, size, g.limit)
	}
	if err != nil {
		return err
	}
	g.ready, g.bodyLeft = binary.AppendUvarint([]byte{first}, uint64(size)), size
	return nil
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
	g.roundTrip = g.connackAt.Sub(g.connectAt)
	g.writing.Unlock()
	g.stayAlive()
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
