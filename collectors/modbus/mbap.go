package modbus

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// mbap frames requests for Modbus TCP: transaction id, protocol id (0), length of what follows, unit id, and the
// request itself (Modbus Messaging on TCP/IP V1.0b, 3.1.3).
//
// The transaction id counts over everything that one connection carries, whatever the unit, so an answer that
// comes late or twice is known by its number and passed over.
type mbap struct {
	stats *counters
	id    uint16
	in    *bufio.Reader
}

const (
	mbapHeader = 7
	mbapMost   = 254 // unit id and at most 253 bytes of answer
)

var errTorn = fmt.Errorf("%w: it ended in the middle", ErrFrame)

func (m *mbap) fresh() { m.in = nil }

// suspect has nothing to do: no answer is ever taken for another's here.
func (m *mbap) suspect(time.Duration) {}

func (m *mbap) exchange(s Stream, a *asking, adu []byte) ([]byte, error) {
	if m.in == nil {
		m.in = bufio.NewReaderSize(s, mbapHeader+mbapMost)
	}
	if err := a.deadline(s, time.Now().Add(a.timeout)); err != nil {
		return nil, err
	}
	theirs := binary.BigEndian.Uint16(adu) // the packager's own count, which it expects back
	m.id++
	binary.BigEndian.PutUint16(adu, m.id)
	_, err := s.Write(adu)
	binary.BigEndian.PutUint16(adu, theirs)
	if err != nil {
		return nil, fmt.Errorf("send: %w: %w", errGone, err)
	}
	for {
		frame, err := m.frame(a)
		if err != nil {
			return nil, err
		}
		if binary.BigEndian.Uint16(frame) != m.id {
			m.stats.late.Add(1)
			continue
		}
		if err := m.answers(frame, a.request); err != nil {
			return nil, err
		}
		binary.BigEndian.PutUint16(frame, theirs)
		return frame, nil
	}
}

// frame reads the next whole frame, whatever it answers.
func (m *mbap) frame(a *asking) ([]byte, error) {
	if _, err := m.in.Peek(1); err != nil {
		return nil, broken(err, a.silence())
	}
	a.heard = true
	var header [mbapHeader]byte
	if _, err := io.ReadFull(m.in, header[:]); err != nil {
		return nil, broken(err, errTorn)
	}
	length := int(binary.BigEndian.Uint16(header[4:]))
	if protocol := binary.BigEndian.Uint16(header[2:]); protocol != 0 {
		return nil, fmt.Errorf("%w: protocol id %d instead of 0; this is no Modbus TCP (rtu+tcp, perhaps)", ErrFrame, protocol)
	}
	if length < 2 || length > mbapMost {
		return nil, fmt.Errorf("%w: length %d; 2 to %d are possible", ErrFrame, length, mbapMost)
	}
	frame := make([]byte, mbapHeader-1+length)
	copy(frame, header[:])
	if _, err := io.ReadFull(m.in, frame[mbapHeader:]); err != nil {
		return nil, broken(err, errTorn)
	}
	return frame, nil
}

// broken sorts a failed read: the time was up (and then it is what the caller says), or the connection is lost.
func broken(err, timeUp error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return timeUp
	}
	return fmt.Errorf("%w: %w", errGone, err)
}

// answers says whether a frame with the right number is an answer to the request and to nothing else.
func (m *mbap) answers(frame []byte, r Request) error {
	if unit := frame[6]; unit != r.Unit {
		m.stats.crossTalk.Add(1)
		return fmt.Errorf("%w: it comes from unit %d; if the device calls itself so, say unit: %d", ErrFrame, unit, unit)
	}
	pdu := frame[mbapHeader:]
	if pdu[0] == r.Table.function()|0x80 && len(pdu) == 2 {
		return nil
	}
	if pdu[0] != r.Table.function() {
		m.stats.crossTalk.Add(1)
		return fmt.Errorf("%w: function %d instead of %d", ErrFrame, pdu[0], r.Table.function())
	}
	if len(pdu) != 2+r.bytes() || int(pdu[1]) != r.bytes() {
		return fmt.Errorf("%w: %d bytes of data instead of %d", ErrFrame, len(pdu)-2, r.bytes())
	}
	return nil
}
