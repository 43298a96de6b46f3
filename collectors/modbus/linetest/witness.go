// Package linetest is for the tests of the Modbus rooms: slaves behind every kind of URL (slaves.go, certificates.go, ptys_linux.go), and
// a witness, a device with its wire in memory that works on bytes, from the standards' text alone (witness.go), with every
// way in which its answers go wrong (spoilings.go).
package linetest

import (
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

// Witness is a device with its wire, in memory. It works on bytes, from the standards' text alone: neither the
// program's code nor modbustest's is in it, so that a mistake of theirs cannot be its own.
//
// What it answers says where and when it belongs: every second register holds the unit, the table and the address,
// the one after it the number of the request. Sixteen bits of a coil table hold what a register would.
type Witness struct {
	Envelope    Envelope
	Turnaround  time.Duration
	Requests    int                                                       // requests that came, over all connections
	Spoil       func(q Asked, right []byte) (pieces []Piece, spoilt bool) // nil: nothing goes wrong
	Queued      bool                                                      // a late answer holds up those after it, as a device that is busy does
	busy        time.Time                                                 // until then, if queued
	SpoiltUntil time.Time                                                 // when the last byte of a spoilt answer has come

	Dials, Open int
	Reads       int
	end         *streamEnd
}

// Envelope wraps requests and answers for the wire.
type Envelope string

// The three envelopes of the standards.
const (
	InTCP   Envelope = "tcp"
	InRTU   Envelope = "rtu"
	InASCII Envelope = "ascii"
)

// Asked is a request as the witness understands it.
type Asked struct {
	Number         int // from 1
	ID             uint16
	Unit, Function byte
	Address, Count int
}

// Piece is bytes that come some time after the request; hangUp closes the connection after them.
type Piece struct {
	After  time.Duration
	Bytes  []byte
	HangUp bool
	echo   bool // it comes of itself and holds up nothing
}

var errNotARequest = errors.New("witness: that is no request")

// Dial opens the wire, for the dialer of the lines.
func (w *Witness) Dial() (Conn, error) {
	if w.end != nil && !w.end.closed {
		return nil, errors.New("witness: opened twice")
	}
	w.Dials++
	w.Open++
	old := w.end
	w.end = &streamEnd{device: w, changed: make(chan struct{})}
	if old != nil && w.Envelope != InTCP {
		// A serial server hands what is under way to the new connection.
		hungUp := slices.IndexFunc(old.coming, func(a arrival) bool { return a.hangUp })
		w.end.coming = old.coming[hungUp+1:]
	}
	return w.end, nil
}

// receive takes what was sent, which is always one whole request.
func (w *Witness) receive(b []byte) error {
	q, err := w.Envelope.Request(b)
	if err != nil {
		return err
	}
	w.Requests++
	q.Number = w.Requests
	pieces, spoilt := []Piece{{After: w.Turnaround, Bytes: w.Envelope.Answer(q, w.PDU(q))}}, false
	if w.Spoil != nil {
		if other, yes := w.Spoil(q, pieces[0].Bytes); yes {
			pieces, spoilt = other, true
		}
	}
	start := time.Now()
	if w.Queued && w.busy.After(start) {
		start, spoilt = w.busy, true
	}
	if spoilt && w.SpoiltUntil.Before(start) {
		w.SpoiltUntil = start
	}
	for _, p := range pieces {
		at := start.Add(p.After)
		w.end.schedule(arrival{at, p.Bytes, p.HangUp})
		if w.busy.Before(at) && !p.echo {
			w.busy = at
		}
		if spoilt && w.SpoiltUntil.Before(at) {
			w.SpoiltUntil = at
		}
	}
	return nil
}

// PDU is the right answer to a request: the function, the count of bytes, and the data.
func (w *Witness) PDU(q Asked) []byte {
	words := q.Count
	if q.Function < 3 {
		words = (q.Count + 15) / 16
	}
	pdu := []byte{q.Function, 0}
	for i := range words {
		a := q.Address + i
		if q.Function < 3 {
			a = q.Address + 16*i
		}
		word := Place16(q.Unit, q.Function, a)
		if i%2 == 1 {
			word = uint16(q.Number)
		}
		pdu = binary.BigEndian.AppendUint16(pdu, word)
	}
	if q.Function < 3 {
		pdu = pdu[:2+(q.Count+7)/8]
	}
	pdu[1] = byte(len(pdu) - 2)
	return pdu
}

// Place16 names a place in sixteen bits: three for the unit, two for the table, eleven for the address.
func Place16(unit, function byte, address int) uint16 {
	return uint16(unit&7)<<13 | uint16(function&3)<<11 | uint16(address&0x7FF)
}

// Judge says what is wrong with data that was returned for a read, when the request before it was number before. The
// read must be of two registers or thirty-two bits at least.
func (w *Witness) Judge(data []byte, r Asked, before int) error {
	step := 1
	if r.Function < 3 {
		step = 16
	}
	if len(data)*8/16 != r.Count/step {
		return fmt.Errorf("%d bytes for %d addresses", len(data), r.Count)
	}
	for i := range len(data) / 2 {
		word := binary.BigEndian.Uint16(data[2*i:])
		if want := Place16(r.Unit, r.Function, r.Address+i*step); i%2 == 0 && word != want {
			return fmt.Errorf("%04x, where %04x stands: the value of another place", word, want)
		}
		if i%2 == 1 && (int(word) <= before || int(word) > w.Requests) {
			return fmt.Errorf("the value of request %d; this poll began with %d", word, before+1)
		}
	}
	return nil
}

// Request reads one request off the wire (Modbus Application Protocol V1.1b3, 6.1 to 6.4, in its three envelopes).
func (w Envelope) Request(b []byte) (q Asked, err error) {
	switch w {
	case InTCP:
		if len(b) != 12 || binary.BigEndian.Uint16(b[2:]) != 0 || binary.BigEndian.Uint16(b[4:]) != 6 {
			return q, fmt.Errorf("%w: % x", errNotARequest, b)
		}
		q.ID, b = binary.BigEndian.Uint16(b), b[6:]
	case InRTU:
		if len(b) != 8 || bitwiseCRC(b[:6]) != binary.LittleEndian.Uint16(b[6:]) {
			return q, fmt.Errorf("%w: % x", errNotARequest, b)
		}
		b = b[:6]
	case InASCII:
		raw, err := hex.DecodeString(strings.TrimSuffix(strings.TrimPrefix(string(b), ":"), "\r\n"))
		if err != nil || len(raw) != 7 || b[0] != ':' || sum8(raw) != 0 || strings.ToUpper(string(b)) != string(b) {
			return q, fmt.Errorf("%w: %q", errNotARequest, b)
		}
		b = raw[:6]
	}
	q.Unit, q.Function = b[0], b[1]
	q.Address, q.Count = int(binary.BigEndian.Uint16(b[2:])), int(binary.BigEndian.Uint16(b[4:]))
	return q, nil
}

// Answer puts an answer into its envelope.
func (w Envelope) Answer(q Asked, pdu []byte) []byte {
	body := append([]byte{q.Unit}, pdu...)
	switch w {
	case InTCP:
		head := binary.BigEndian.AppendUint16(nil, q.ID)
		head = append(head, 0, 0, byte(len(body)>>8), byte(len(body)))
		return append(head, body...)
	case InASCII:
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

// streamEnd is the program's end of the wire.
type streamEnd struct {
	device *Witness

	mu       sync.Mutex
	coming   []arrival
	deadline time.Time
	closed   bool
	changed  chan struct{} // closed when the deadline moves or the stream is closed
}

// schedule puts bytes among those that are on their way, in the order in which they arrive.
func (m *streamEnd) schedule(a arrival) {
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
func (m *streamEnd) Read(b []byte) (int, error) {
	for {
		n, wait, changed, err := m.readDue(b)
		if n > 0 || err != nil {
			return n, err
		}
		awaitEither(changed, wait)
	}
}

func (m *streamEnd) readDue(b []byte) (n int, until time.Time, changed chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.device.Reads++
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
func (m *streamEnd) Write(b []byte) (int, error) {
	m.mu.Lock()
	gone := m.closed || len(m.coming) > 0 && m.coming[0].hangUp && !m.coming[0].at.After(time.Now())
	m.mu.Unlock()
	if gone {
		return 0, io.ErrClosedPipe
	}
	return len(b), m.device.receive(b)
}

func (m *streamEnd) SetDeadline(t time.Time) error {
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

func (m *streamEnd) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return os.ErrClosed
	}
	m.closed = true
	m.device.Open--
	close(m.changed)
	return nil
}
