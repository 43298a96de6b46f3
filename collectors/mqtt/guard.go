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

// The packets that the guard looks into, by the first four bits of their first byte (MQTT 3.1.1, section 2.2.1).
const (
	connack = 2
	publish = 3
	puback  = 4
	suback  = 9
)

const (
	// maxPacket is the largest packet taken by default, in bytes.
	maxPacket = 64 << 10
	// minPacket is the least limit that makes sense: the topic and the beginning of a payload fit in.
	minPacket = 512
	// writeLimit is how long one packet may wait for the network to take it.
	writeLimit = 30 * time.Second
)

// guard stands between the network and the MQTT client, which believes what a broker says: it allocates any length
// that five bytes announce, and trips over a subscription's answer that is longer than the question. The guard passes
// whole packets on as long as they are small. Of a larger message it passes the beginning, so that the message can
// be kept and acknowledged; were the connection dropped instead, the broker would send the same message for ever.
type guard struct {
	net.Conn
	in    *bufio.Reader
	limit int
	head  []byte // the part of a packet that is ready to be read
	body  int    // bytes of the same packet that follow from the network
	skip  int    // bytes after that which are thrown away

	asked   atomic.Int32 // topics in the latest subscription
	present bool         // the broker had a session for us; fixed, like since, before the first message is handed on
	begun   time.Time    // when the connection was begun
	since   time.Time    // when the broker answered the connection
	greeted bool         // the first packet has come

	out     sync.Mutex
	waiting []byte        // acknowledgements that wait for their group
	due     int           // acknowledgements that are still to come
	spoke   time.Time     // when the connection was asked for
	answer  time.Duration // how long the broker took to answer that

	mu    sync.Mutex
	heard time.Time      // when the latest packet came
	open  int            // messages that were handed on and are not acknowledged
	free  time.Time      // since when none is; zero: since the broker's answer
	cut   map[uint16]int // true payload sizes of the messages that were cut, by packet id
	fault error          // what was wrong with a packet; the client only tells that the connection ended

	once   sync.Once
	closed chan struct{}
}

func newGuard(conn net.Conn, limit int) *guard {
	return &guard{
		Conn: conn, in: bufio.NewReaderSize(conn, 16<<10), limit: limit,
		cut: map[uint16]int{}, closed: make(chan struct{}),
	}
}

// Read hands on the bytes of packets that have been found in order.
func (g *guard) Read(p []byte) (int, error) {
	for len(g.head) == 0 && g.body == 0 {
		if err := g.next(); err != nil {
			return 0, err
		}
	}
	if len(g.head) > 0 {
		n := copy(p, g.head)
		g.head = g.head[n:]
		return n, nil
	}
	n, err := g.in.Read(p[:min(len(p), g.body)])
	g.body -= n
	return n, err
}

// Write sends one packet. Acknowledgements wait for the rest of their group and go out together: on a metered link
// each in a packet of its own costs ten times its size. Whatever else is sent takes the waiting ones along.
func (g *guard) Write(p []byte) (int, error) {
	g.out.Lock()
	defer g.out.Unlock()
	if len(p) == 4 && p[0]>>4 == puback && g.due > 1 {
		g.due--
		g.waiting = append(g.waiting, p...)
		return len(p), nil
	}
	if g.due = 0; g.spoke.IsZero() {
		g.spoke = time.Now()
	}
	g.waiting = append(g.waiting, p...)
	// Without a limit of time a dead link would hold the writer for ever.
	if err := g.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return 0, err
	}
	_, err := g.Conn.Write(g.waiting)
	g.waiting = g.waiting[:0]
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// expect says how many acknowledgements are about to be sent.
func (g *guard) expect(acknowledgements int) {
	g.out.Lock()
	defer g.out.Unlock()
	g.due += acknowledgements
}

// Close ends the connection, and tells who waits for room in the queue that the message will come again.
func (g *guard) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.Conn.Close()
}

// complain makes an error about a packet, and keeps it.
func (g *guard) complain(format string, args ...any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault = fmt.Errorf(format, args...)
	return g.fault
}

// complaint is what was wrong with a packet; nil when nothing was.
func (g *guard) complaint() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fault
}

// next reads the head of a packet and decides about it.
func (g *guard) next() error {
	if g.skip > 0 {
		n, err := g.in.Discard(min(g.skip, g.in.Size()))
		g.skip -= n
		return err
	}
	first, err := g.in.ReadByte()
	if err != nil {
		return err
	}
	size, err := g.length()
	if err != nil {
		return err
	}
	g.hears()
	kind := first >> 4
	if !g.greeted && kind != connack {
		return g.complain("the first packet is of type %d, not the answer to the connection: this is no MQTT broker", kind)
	}
	switch {
	case kind == connack:
		err = g.welcome(size)
	case kind == suback && size-2 > int(g.asked.Load()):
		err = g.complain("broker answered %d topics of a subscription to %d", size-2, g.asked.Load())
	case size > g.limit && kind == publish:
		return g.shorten(first, size)
	case size > g.limit:
		err = g.complain("packet of type %d and %d bytes is longer than the limit of %d", kind, size, g.limit)
	}
	if err != nil {
		return err
	}
	g.head, g.body = append([]byte{first}, encodeLength(size)...), size
	return nil
}

// hears notes that the broker is there.
func (g *guard) hears() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.heard = time.Now()
}

// last is when the broker was heard last.
func (g *guard) last() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.heard
}

// welcome looks at the answer to the connection: two bytes, of which the first tells of a session, the second of success.
func (g *guard) welcome(size int) error {
	if g.greeted || size != 2 {
		return g.complain("broker's answer to the connection has %d bytes, or comes twice", size)
	}
	g.greeted = true
	answer, err := g.in.Peek(2)
	if err != nil {
		return err
	}
	if answer[1] > 5 {
		return g.complain("broker answered the connection with the unknown code %d", answer[1])
	}
	g.present, g.since = answer[0]&1 == 1, time.Now()
	g.out.Lock()
	defer g.out.Unlock()
	g.answer = g.since.Sub(g.spoke)
	return nil
}

// took counts a message that is handed on. It returns since when nothing was open; zero: something is.
func (g *guard) took() (free time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open++; g.open > 1 {
		return time.Time{}
	}
	if g.free.IsZero() {
		return g.since
	}
	return g.free
}

// settled says that so many messages were acknowledged.
func (g *guard) settled(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open, g.free = g.open-n, time.Now()
}

// shorten replaces a message that is too long by its beginning, as long as the limit.
func (g *guard) shorten(first byte, size int) error {
	var two [2]byte
	if _, err := io.ReadFull(g.in, two[:]); err != nil {
		return err
	}
	topic := int(binary.BigEndian.Uint16(two[:]))
	fixed := 2 + topic
	if first>>1&3 != 0 {
		fixed += 2 // the packet id, which quality of service 0 does not have
	}
	if fixed > g.limit {
		return g.complain("message has a topic of %d bytes, longer than the limit of %d", topic, g.limit)
	}
	rest := make([]byte, fixed-2)
	if _, err := io.ReadFull(g.in, rest); err != nil {
		return err
	}
	var id uint16
	if fixed > 2+topic {
		id = binary.BigEndian.Uint16(rest[topic:])
	}
	g.mu.Lock()
	g.cut[id] = size - fixed
	g.mu.Unlock()
	g.head = slices.Concat([]byte{first}, encodeLength(g.limit), two[:], rest)
	g.body = g.limit - fixed
	g.skip = size - g.limit
	return nil
}

// wasCut returns the true payload size of a message that was cut, and forgets it; 0 when the message is whole.
func (g *guard) wasCut(m paho.Message) int {
	fixed := 2 + len(m.Topic())
	if m.Qos() > 0 {
		fixed += 2
	}
	if fixed+len(m.Payload()) != g.limit {
		return 0 // a message that was cut is exactly as long as the limit
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	size := g.cut[m.MessageID()]
	delete(g.cut, m.MessageID())
	return size
}

// length reads the remaining length of a packet: seven bits a byte, least first, at most four bytes.
func (g *guard) length() (int, error) {
	size := 0
	for shift := 0; shift < 28; shift += 7 {
		b, err := g.in.ReadByte()
		if err != nil {
			return 0, err
		}
		size |= int(b&0x7f) << shift
		if b&0x80 == 0 {
			return size, nil
		}
	}
	return 0, g.complain("a packet's length has more than four bytes")
}

// encodeLength writes a remaining length.
func encodeLength(size int) []byte {
	var out []byte
	for {
		b := byte(size & 0x7f)
		size >>= 7
		if size == 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}
