package modbustest

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"
)

// Framing puts requests and answers on the wire.
type Framing uint8

// Modbus TCP frames with a header; RTU frames with a checksum and ASCII frames as text, on a serial line or through
// a socket.
const (
	TCP Framing = iota
	RTU
	ASCII
)

func (f Framing) requestSize() int {
	return [...]int{12, 8, 17}[f]
}

// request is a read that a master asks for.
type request struct {
	id       uint16
	unit     byte
	function byte
	address  int
	quantity int
}

func (f Framing) next(r *bufio.Reader) (request, error) {
	switch f {
	case TCP:
		return nextTCP(r)
	case ASCII:
		return nextASCII(r)
	}
	return nextRTU(r)
}

func nextTCP(r *bufio.Reader) (request, error) {
	var header [7]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return request{}, err
	}
	length := int(binary.BigEndian.Uint16(header[4:]))
	if binary.BigEndian.Uint16(header[2:]) != 0 || length < 2 || length > 254 {
		return request{}, fmt.Errorf("request header % x is not Modbus TCP", header)
	}
	pdu := make([]byte, length-1)
	if _, err := io.ReadFull(r, pdu); err != nil {
		return request{}, err
	}
	q := request{id: binary.BigEndian.Uint16(header[:]), unit: header[6], function: pdu[0]}
	if len(pdu) >= 5 {
		q.address, q.quantity = int(binary.BigEndian.Uint16(pdu[1:])), int(binary.BigEndian.Uint16(pdu[3:]))
	}
	return q, nil
}

// nextRTU finds the next eight bytes with a right checksum, passing over whatever stands before them. Only reads
// have that length, and this slave knows nothing else.
func nextRTU(r *bufio.Reader) (request, error) {
	for {
		frame, err := r.Peek(8)
		if err != nil {
			return request{}, err
		}
		if Checksum(frame) != 0 {
			if _, err := r.Discard(1); err != nil {
				return request{}, err
			}
			continue
		}
		q := readOf(frame)
		_, err = r.Discard(8)
		return q, err
	}
}

// readOf is the request in the first six bytes: unit, function, address, quantity.
func readOf(b []byte) request {
	return request{
		unit: b[0], function: b[1],
		address: int(binary.BigEndian.Uint16(b[2:])), quantity: int(binary.BigEndian.Uint16(b[4:])),
	}
}

// nextASCII finds the next line of text from a colon to a line feed with a right checksum, passing over all else.
func nextASCII(r *bufio.Reader) (request, error) {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return request{}, err
		}
		text := strings.TrimSuffix(line[strings.LastIndexByte(line, ':')+1:], "\r\n")
		if b, err := hex.DecodeString(text); err == nil && len(b) == 7 && sum(b) == 0 {
			return readOf(b), nil
		}
	}
}

// sum adds bytes up; over an ASCII frame with its checksum it is 0.
func sum(b []byte) (total byte) {
	for _, c := range b {
		total += c
	}
	return total
}

// frame wraps an answer for the wire.
func (f Framing) frame(id uint16, unit byte, pdu []byte) []byte {
	if f == TCP {
		b := binary.BigEndian.AppendUint16(nil, id)
		b = append(b, 0, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(len(pdu)+1))
		return append(append(b, unit), pdu...)
	}
	b := append([]byte{unit}, pdu...)
	if f == ASCII {
		return fmt.Appendf(nil, ":%X%02X\r\n", b, -sum(b))
	}
	return binary.LittleEndian.AppendUint16(b, Checksum(b))
}

// Checksum is the CRC-16 of RTU frames; over a frame with its own checksum it is 0.
func Checksum(b []byte) uint16 {
	crc := uint16(0xFFFF)
	for _, c := range b {
		crc ^= uint16(c)
		for range 8 {
			carry := crc & 1
			crc >>= 1
			if carry == 1 {
				crc ^= 0xA001
			}
		}
	}
	return crc
}

// Fault is one way in which an answer goes wrong. The zero value of each field is no fault; several may be
// combined. A fault applies to the requests that Unit, From, To and Longer let through, Times times.
type Fault struct {
	Unit     byte   // of this unit only; 0: of every unit
	From, To uint16 // only requests that touch these addresses, both included; both 0: all requests
	Longer   int    // only requests for more addresses than this; 0: all
	Skip     int    // so many requests pass unharmed first
	Times    int    // so many are spoilt, then the fault is used up; 0: for ever

	Silent    bool          // no answer
	Delay     time.Duration // the answer comes later by this; the slave is busy meanwhile
	Late      int           // the answer is held back and sent in front of the one to the n-th request after it
	Doubled   bool          // the answer is sent twice
	Exception byte          // the answer is this exception
	Torn      int           // only so many first bytes are sent; -1: none
	Rest      time.Duration // after Torn: the other bytes come after this time
	Unitshift byte          // added to the unit id of the answer
	Idshift   uint16        // added to the transaction id of the answer (TCP only)
	Function  byte          // the answer's function code
	Short     int           // the data is so many bytes shorter, and the count, length and checksum say so
	Garbage   []byte        // sent before the answer
	Flip      int           // the n-th byte of the frame (from 1) is inverted on the way; checksums stay
	Reset     bool          // the connection is closed instead of (or, with Torn, after a part of) the answer
}

// active is a fault with how often it has been met.
type active struct {
	Fault
	seen int
}

// meets says whether the fault spoils this request, and counts it.
func (f *active) meets(r request) bool {
	if f.Unit != 0 && f.Unit != r.unit {
		return false
	}
	if (f.From != 0 || f.To != 0) && (int(f.To) < r.address || int(f.From) >= r.address+r.quantity) {
		return false
	}
	if r.quantity <= f.Longer {
		return false
	}
	f.seen++
	n := f.seen - f.Skip
	return n >= 1 && (f.Times == 0 || n <= f.Times)
}
