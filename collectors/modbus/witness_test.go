package modbus

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// witness is a device with its wire, in memory. It works on bytes, from the standards' text alone: neither the
// program's code nor modbustest's is in it, so that a mistake of theirs cannot be its own.
//
// What it answers says where and when it belongs: every second register holds the unit, the table and the address,
// the one after it the number of the request. Sixteen bits of a coil table hold what a register would.
type witness struct {
	wrap       wrapping
	turnaround time.Duration
	asks       int                                                       // requests that came, over all connections
	spoil      func(q asked, right []byte) (pieces []piece, spoilt bool) // nil: nothing goes wrong
	queued     bool                                                      // a late answer holds up those after it, as a device that is busy does
	busy       time.Time                                                 // until then, if queued
	ended      time.Time                                                 // when the last byte of a spoilt answer has come

	dials, open int
	reads       int
	mouth       *mouth
}

// wrapping is how a request and an answer stand on the wire.
type wrapping string

const (
	inTCP   wrapping = "tcp"
	inRTU   wrapping = "rtu"
	inASCII wrapping = "ascii"
)

// asked is a request as the witness understands it.
type asked struct {
	number         int // from 1
	id             uint16
	unit, function byte
	address, count int
}

// piece is bytes that come some time after the request; hangUp closes the connection after them.
type piece struct {
	after  time.Duration
	bytes  []byte
	hangUp bool
	echo   bool // it comes of itself and holds up nothing
}

var errNotARequest = errors.New("witness: that is no request")

// dial opens the wire, for Lines.Dial.
func (w *witness) dial(context.Context, string) (Stream, error) {
	if w.mouth != nil && !w.mouth.closed {
		return nil, errors.New("witness: opened twice")
	}
	w.dials++
	w.open++
	old := w.mouth
	w.mouth = &mouth{device: w, changed: make(chan struct{})}
	if old != nil && w.wrap != inTCP {
		// A serial server hands what is under way to the new connection.
		hungUp := slices.IndexFunc(old.coming, func(a arrival) bool { return a.hangUp })
		w.mouth.coming = old.coming[hungUp+1:]
	}
	return w.mouth, nil
}

// hear takes what was sent, which is always one whole request.
func (w *witness) hear(b []byte) error {
	q, err := w.wrap.request(b)
	if err != nil {
		return err
	}
	w.asks++
	q.number = w.asks
	pieces, spoilt := []piece{{after: w.turnaround, bytes: w.wrap.answer(q, w.pdu(q))}}, false
	if w.spoil != nil {
		if other, yes := w.spoil(q, pieces[0].bytes); yes {
			pieces, spoilt = other, true
		}
	}
	start := time.Now()
	if w.queued && w.busy.After(start) {
		start, spoilt = w.busy, true
	}
	if spoilt && w.ended.Before(start) {
		w.ended = start
	}
	for _, p := range pieces {
		at := start.Add(p.after)
		w.mouth.come(arrival{at, p.bytes, p.hangUp})
		if w.busy.Before(at) && !p.echo {
			w.busy = at
		}
		if spoilt && w.ended.Before(at) {
			w.ended = at
		}
	}
	return nil
}

// pdu is the right answer to a request: the function, the count of bytes, and the data.
func (w *witness) pdu(q asked) []byte {
	words := q.count
	if q.function < 3 {
		words = (q.count + 15) / 16
	}
	pdu := []byte{q.function, 0}
	for i := range words {
		a := q.address + i
		if q.function < 3 {
			a = q.address + 16*i
		}
		word := place16(q.unit, q.function, a)
		if i%2 == 1 {
			word = uint16(q.number)
		}
		pdu = binary.BigEndian.AppendUint16(pdu, word)
	}
	if q.function < 3 {
		pdu = pdu[:2+(q.count+7)/8]
	}
	pdu[1] = byte(len(pdu) - 2)
	return pdu
}

// place16 names a place in sixteen bits: three for the unit, two for the table, eleven for the address.
func place16(unit, function byte, address int) uint16 {
	return uint16(unit&7)<<13 | uint16(function&3)<<11 | uint16(address&0x7FF)
}

// judge says what is wrong with data that was returned for r, when the request before it was number before. The
// request must be for two registers or thirty-two bits at least.
func (w *witness) judge(data []byte, r Request, before int) error {
	function := map[Table]byte{Coil: 1, Discrete: 2, Holding: 3, Input: 4}[r.Table]
	step := 1
	if function < 3 {
		step = 16
	}
	if len(data)*8/16 != int(r.Quantity)/step {
		return fmt.Errorf("%d bytes for %d addresses", len(data), r.Quantity)
	}
	for i := range len(data) / 2 {
		word := binary.BigEndian.Uint16(data[2*i:])
		if want := place16(r.Unit, function, int(r.Address)+i*step); i%2 == 0 && word != want {
			return fmt.Errorf("%04x, where %04x stands: the value of another place", word, want)
		}
		if i%2 == 1 && (int(word) <= before || int(word) > w.asks) {
			return fmt.Errorf("the value of request %d; this poll began with %d", word, before+1)
		}
	}
	return nil
}

// request reads one request off the wire (Modbus Application Protocol V1.1b3, 6.1 to 6.4, in its three envelopes).
func (w wrapping) request(b []byte) (q asked, err error) {
	switch w {
	case inTCP:
		if len(b) != 12 || binary.BigEndian.Uint16(b[2:]) != 0 || binary.BigEndian.Uint16(b[4:]) != 6 {
			return q, fmt.Errorf("%w: % x", errNotARequest, b)
		}
		q.id, b = binary.BigEndian.Uint16(b), b[6:]
	case inRTU:
		if len(b) != 8 || bitwiseCRC(b[:6]) != binary.LittleEndian.Uint16(b[6:]) {
			return q, fmt.Errorf("%w: % x", errNotARequest, b)
		}
		b = b[:6]
	case inASCII:
		raw, err := hex.DecodeString(strings.TrimSuffix(strings.TrimPrefix(string(b), ":"), "\r\n"))
		if err != nil || len(raw) != 7 || b[0] != ':' || sum8(raw) != 0 || strings.ToUpper(string(b)) != string(b) {
			return q, fmt.Errorf("%w: %q", errNotARequest, b)
		}
		b = raw[:6]
	}
	q.unit, q.function = b[0], b[1]
	q.address, q.count = int(binary.BigEndian.Uint16(b[2:])), int(binary.BigEndian.Uint16(b[4:]))
	return q, nil
}

// answer puts an answer into its envelope.
func (w wrapping) answer(q asked, pdu []byte) []byte {
	body := append([]byte{q.unit}, pdu...)
	switch w {
	case inTCP:
		head := binary.BigEndian.AppendUint16(nil, q.id)
		head = append(head, 0, 0, byte(len(body)>>8), byte(len(body)))
		return append(head, body...)
	case inASCII:
		return fmt.Appendf(nil, ":%X\r\n", append(body, -sum8(body)))
	}
	return binary.LittleEndian.AppendUint16(body, bitwiseCRC(body))
}

// bitwiseCRC is the checksum as the flow chart of Modbus over Serial Line V1.02, appendix B, has it.
func bitwiseCRC(b []byte) uint16 {
	register := uint16(0xFFFF)
	for i := range 8 * len(b) {
		if i%8 == 0 {
			register ^= uint16(b[i/8])
		}
		out := register & 1
		register >>= 1
		register ^= out * 0xA001
	}
	return register
}

func sum8(b []byte) (sum byte) {
	for _, c := range b {
		sum += c
	}
	return sum
}

// arrival is bytes on their way to the program.
type arrival struct {
	at     time.Time
	bytes  []byte
	hangUp bool
}

// mouth is the program's end of the wire.
type mouth struct {
	device *witness

	mu       sync.Mutex
	coming   []arrival
	deadline time.Time
	closed   bool
	changed  chan struct{} // closed when the deadline moves or the stream is closed
}

// come puts bytes among those that are on their way, in the order in which they arrive.
func (m *mouth) come(a arrival) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, _ := slices.BinarySearchFunc(m.coming, a, func(x, y arrival) int {
		if x.at.After(y.at) {
			return 1
		}
		return -1
	})
	m.coming = slices.Insert(m.coming, i, a)
}

// Read gives what has come; it waits as a socket does.
func (m *mouth) Read(b []byte) (int, error) {
	for {
		n, wait, changed, err := m.take(b)
		if n > 0 || err != nil {
			return n, err
		}
		awaitEither(changed, wait)
	}
}

func (m *mouth) take(b []byte) (n int, until time.Time, changed chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.device.reads++
	now := time.Now()
	until = m.deadline
	switch {
	case m.closed:
		return 0, until, nil, os.ErrClosed
	case !until.IsZero() && !now.Before(until):
		return 0, until, nil, os.ErrDeadlineExceeded
	}
	for len(m.coming) > 0 && !m.coming[0].at.After(now) {
		first := &m.coming[0]
		n = copy(b, first.bytes)
		first.bytes = first.bytes[n:]
		if len(first.bytes) == 0 && !first.hangUp {
			m.coming = m.coming[1:]
		}
		if n > 0 {
			return n, until, nil, nil
		}
		if first.hangUp {
			return 0, until, nil, io.EOF
		}
	}
	if len(m.coming) > 0 && (until.IsZero() || m.coming[0].at.Before(until)) {
		until = m.coming[0].at
	}
	return 0, until, m.changed, nil
}

func awaitEither(changed chan struct{}, until time.Time) {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-changed:
	case <-due:
	}
}

// Write hands a request to the device.
func (m *mouth) Write(b []byte) (int, error) {
	m.mu.Lock()
	gone := m.closed || len(m.coming) > 0 && m.coming[0].hangUp && !m.coming[0].at.After(time.Now())
	m.mu.Unlock()
	if gone {
		return 0, io.ErrClosedPipe
	}
	return len(b), m.device.hear(b)
}

func (m *mouth) SetDeadline(t time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return os.ErrClosed
	}
	m.deadline = t
	close(m.changed)
	m.changed = make(chan struct{})
	return nil
}

func (m *mouth) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return os.ErrClosed
	}
	m.closed = true
	m.device.open--
	close(m.changed)
	return nil
}
