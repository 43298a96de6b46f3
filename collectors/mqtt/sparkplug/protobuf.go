package sparkplug

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The ways in which a field of a protocol buffer stands in its message.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// errCut means that a message ends in the middle of a field.
var errCut = errors.New("ends in the middle of a field")

// field is one field of a protocol buffer: a number, or bytes that still lie in the message.
type field struct {
	id    uint64
	wire  byte
	bits  uint64 // of a number
	bytes []byte // of a text, of bytes or of a message within
}

// fields shows every field of a message in order, and allocates nothing. Messages within are not gone into.
func fields(message []byte, see func(field) error) error {
	for len(message) > 0 {
		f, n, err := cutField(message)
		if err == nil {
			err = see(f)
		}
		if err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// cutField reads the first field and says how many bytes it takes.
func cutField(message []byte) (f field, n int, err error) {
	key, n := binary.Uvarint(message)
	if n <= 0 {
		return f, 0, errCut
	}
	f.id, f.wire = key>>3, byte(key&7)
	rest := message[n:]
	switch f.wire {
	case wireVarint:
		bits, k := binary.Uvarint(rest)
		if k <= 0 {
			return f, 0, errCut
		}
		f.bits, n = bits, n+k
	case wireFixed64:
		if len(rest) < 8 {
			return f, 0, errCut
		}
		f.bits, n = binary.LittleEndian.Uint64(rest), n+8
	case wireFixed32:
		if len(rest) < 4 {
			return f, 0, errCut
		}
		f.bits, n = uint64(binary.LittleEndian.Uint32(rest)), n+4
	case wireBytes:
		size, k := binary.Uvarint(rest)
		if k <= 0 || size > uint64(len(rest)-k) {
			return f, 0, errCut
		}
		f.bytes, n = rest[k:k+int(size)], n+k+int(size)
	default:
		return f, 0, fmt.Errorf("has a field of the unknown kind %d", f.wire)
	}
	if f.id == 0 {
		return f, 0, errors.New("has a field without a number")
	}
	return f, n, nil
}

// as returns an error unless the field stands in the message as its number demands.
func (f field) as(wire byte) error {
	if f.wire != wire {
		return fmt.Errorf("has field %d in the wrong kind %d", f.id, f.wire)
	}
	return nil
}
