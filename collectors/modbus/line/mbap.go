package line

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"gauger/collectors"
)

// mbap frames requests for Modbus TCP: transaction id, protocol id (0), length of what follows, unit id, and the
// request itself (Modbus Messaging on TCP/IP V1.0b, 3.1.3).
//
// The transaction id counts over everything that one connection carries, whatever the unit, so an answer that
// comes late or twice is known by its number and passed over.
type mbap struct {
	stats         *counters
	pause         time.Duration // between the end of an answer and the next request
	transactionID uint16
	in            *bufio.Reader
	out           []byte
	lastAnswer    time.Time // when the last answer had come
}

// Lengths of a frame of Modbus TCP, in bytes.
const (
	MBAPHeaderSize = 7
	MBAPMaxLength  = 254 // unit id and at most 253 bytes of answer
)

var errTorn = fmt.Errorf("%w: it ended in the middle", ErrDamaged)

func (m *mbap) reconnected() { m.in = nil }

// requireSilence has nothing to do: no answer is ever taken for another's here.
func (m *mbap) requireSilence(time.Duration) {}

func (m *mbap) exchange(s Stream, a *transaction, pdu []byte) ([]byte, error) {
	if m.in == nil {
		m.in = bufio.NewReaderSize(s, MBAPHeaderSize+MBAPMaxLength)
	}
	if err := m.send(s, a, pdu); err != nil {
		return nil, err
	}
	for strays := 0; ; strays++ {
		id, unit, answer, err := m.nextFrame(a)
		switch {
		case strays > 0 && errors.Is(err, ErrSilent):
			return nil, fmt.Errorf("%w, but one with another transaction id: it answers late, or a gateway does not keep the number", err)
		case err != nil:
			return nil, err
		case id == m.transactionID:
			return answer, m.check(unit, answer, a.request)
		}
		m.stats.late.Add(1)
	}
}

// send puts a request on the stream, under the next number.
func (m *mbap) send(s Stream, a *transaction, pdu []byte) error {
	if !collectors.Wait(a.ctx, time.Until(m.lastAnswer.Add(m.pause))) {
		return a.ctx.Err()
	}
	if err := a.setDeadline(s, time.Now().Add(a.timeout)); err != nil {
		return err
	}
	m.transactionID++
	m.out = binary.BigEndian.AppendUint16(m.out[:0], m.transactionID)
	m.out = append(m.out, 0, 0, 0, byte(1+len(pdu)), a.request.Unit)
	m.out = append(m.out, pdu...)
	if _, err := s.Write(m.out); err != nil {
		return fmt.Errorf("send: %w: %w", ErrGone, err)
	}
	return nil
}

// nextFrame reads the next whole frame, whatever it answers.
func (m *mbap) nextFrame(a *transaction) (id uint16, unit byte, answer []byte, err error) {
	if _, err := m.in.Peek(1); err != nil {
		return 0, 0, nil, readError(err, a.noAnswer())
	}
	a.answering = true
	header, err := m.in.Peek(MBAPHeaderSize)
	if err != nil {
		return 0, 0, nil, readError(err, errTorn)
	}
	length, err := lengthOf(header)
	if err != nil {
		return 0, 0, nil, err
	}
	frame, err := m.in.Peek(MBAPHeaderSize - 1 + length)
	if err != nil {
		return 0, 0, nil, readError(err, errTorn)
	}
	id, unit, answer = binary.BigEndian.Uint16(frame), frame[6], bytes.Clone(frame[MBAPHeaderSize:])
	m.lastAnswer = time.Now()
	_, err = m.in.Discard(len(frame))
	return id, unit, answer, err
}

// lengthOf the bytes that follow the length in a header, the unit id included.
func lengthOf(header []byte) (int, error) {
	length := int(binary.BigEndian.Uint16(header[4:]))
	if protocol := binary.BigEndian.Uint16(header[2:]); protocol != 0 {
		return 0, fmt.Errorf("%w: protocol id %d instead of 0; this is no Modbus TCP (rtu+tcp, perhaps)", ErrDamaged, protocol)
	}
	if length < 2 || length > MBAPMaxLength {
		return 0, fmt.Errorf("%w: length %d; 2 to %d are possible", ErrDamaged, length, MBAPMaxLength)
	}
	return length, nil
}

// readError sorts a failed read: the time was up (and then it is what the caller says), or the connection is lost.
func readError(err, timeUp error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return timeUp
	}
	return fmt.Errorf("%w: %w", ErrGone, err)
}

// check says whether a frame with the right number is an answer to the request and to nothing else. A frame of
// another unit or function is whole all the same: the next one is found after it, and the connection stays.
func (m *mbap) check(unit byte, answer []byte, r Request) error {
	switch {
	case unit != r.Unit:
		m.stats.crossTalk.Add(1)
		return fmt.Errorf("%w: it comes from unit %d; if the device calls itself so, say unit: %d", ErrFrame, unit, unit)
	case r.isRefusal(answer) || r.isData(answer):
		return nil
	case answer[0] != r.Table.function():
		m.stats.crossTalk.Add(1)
		return fmt.Errorf("%w: function %d instead of %d", ErrFrame, answer[0], r.Table.function())
	case len(answer) > 1 && int(answer[1]) == len(answer)-2:
		return fmt.Errorf("%w: %d bytes of data instead of %d", ErrFrame, len(answer)-2, r.dataLength())
	}
	return fmt.Errorf("%w: %d bytes of data instead of %d", ErrDamaged, max(len(answer)-2, 0), r.dataLength())
}

// ValidMBAP says whether a header can be one of Modbus TCP.
func ValidMBAP(b []byte) bool {
	length := binary.BigEndian.Uint16(b[4:])
	return binary.BigEndian.Uint16(b[2:]) == 0 && length >= 2 && length <= MBAPMaxLength
}
