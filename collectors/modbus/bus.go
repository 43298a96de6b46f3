package modbus

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// bus puts requests on a serial line, or on a socket that leads to one, framed as its codec says.
//
// An answer names its unit, its function and its length, but not which request it belongs to. A late answer is
// therefore the great danger here, and what follows keeps it out:
//   - what lies in the input before a request is thrown away;
//   - a unit that has not answered owes an answer. It is not asked again until the line has been silent for one
//     more time-out, and if what is owed could be taken for the next answer, then first for another number of
//     registers: only when an answer of that length has come are the two in step again (arrears);
//   - a gateway's word that the unit behind it is silent says nothing else, whichever request it answers;
//   - two answers to one request are none;
//   - after a frame that made no sense the line must have been silent for one time-out.
//
// Frames of other units carry their own unit id and are passed over, so that one slow unit costs the others little.
type bus struct {
	codec codec
	char  time.Duration
	gap   time.Duration // of silence that ends a frame
	pause time.Duration // of silence on top of that before a request
	stats *counters

	out   []byte            // the request
	chunk [256]byte         // what a read has brought
	buf   []byte            // what came since the request
	last  time.Time         // when the line last carried a byte
	hold  time.Duration     // how long the line must have been silent before the next request; 0: the gap
	owed  map[byte]*arrears // units that did not answer
}

// outOfStep is how many answers of a unit in a row may be an earlier request's. Refusals look all alike, so that a unit
// that only refuses never gets in step; it is given up sooner when it is slow.
const outOfStep = 20

var errOutOfStep = fmt.Errorf("%w: the unit still answers earlier ones", ErrFrame)

// settleMost is how many time-outs a request waits for a silent line, or for its unit to get in step.
const settleMost = 5

func newBus(at endpoint, stats *counters) *bus {
	return &bus{codec: at.codec(), char: at.serial.char(), gap: at.serial.gap(), pause: at.pause, stats: stats, owed: map[byte]*arrears{}}
}

// fresh leaves the debts: a serial server may hand the late answer to the new connection.
func (b *bus) fresh() { b.last = time.Now() }

func (b *bus) suspect(hold time.Duration) {
	b.last, b.hold = time.Now(), max(b.hold, hold)
}

func (b *bus) exchange(s Stream, a *asking, pdu []byte) ([]byte, error) {
	unit := a.request.Unit
	start := time.Now()
	for range outOfStep {
		turn, ask := *a, pdu
		debt := b.owed[unit]
		if debt != nil && debt.owes(a.request) {
			turn.request = debt.inStep(a.request, a.avoid)
			ask = turn.request.pdu()
		}
		answer, err := b.turn(s, &turn, ask)
		a.heard = turn.heard
		if err != nil || debt == nil {
			return answer, err
		}
		refusal := turn.request.isRefusal(answer)
		debt.sent(turn.request)
		debt.came(turn.request, refusal)
		if len(debt.owed) == 0 {
			delete(b.owed, unit)
		}
		switch {
		case b.owed[unit] == nil && turn.request == a.request, refusal && isSilence(answer[1]):
			return answer, nil
		case time.Since(start) > settleMost*a.timeout:
			return nil, errOutOfStep
		}
	}
	return nil, errOutOfStep
}

// turn sends one request and returns the one answer to it.
func (b *bus) turn(s Stream, a *asking, pdu []byte) ([]byte, error) {
	if err := b.settle(s, a); err != nil {
		return nil, err
	}
	b.out = b.codec.request(b.out[:0], a.request.Unit, pdu)
	until := time.Now().Add(a.timeout + b.char*time.Duration(len(b.out)+b.codec.size(a.request.bytes())))
	if err := a.deadline(s, until); err != nil {
		return nil, err
	}
	_, err := s.Write(b.out)
	b.last = time.Now().Add(b.char * time.Duration(len(b.out)))
	if err != nil {
		return nil, fmt.Errorf("send: %w: %w", errGone, err)
	}
	answer, rest, err := b.await(s, a)
	if err == nil {
		err = b.alone(s, a, rest)
	}
	if err != nil && !b.hasAnswered(a) {
		b.owes(a, err)
	}
	return answer, err
}

// hasAnswered says whether what came, though it could not be used, was as long as the answer and began as it does,
// so that nothing more is to come. A unit that owes something already may have answered an earlier request.
func (b *bus) hasAnswered(a *asking) bool {
	size := b.codec.size(a.request.bytes())
	return b.owed[a.request.Unit] == nil && len(b.buf) >= size && b.codec.begins(b.buf, a.request)
}

// owes notes that the unit may still answer the request that has just failed, and leaves it alone for a time-out
// if nothing has come of it.
func (b *bus) owes(a *asking, why error) {
	debt := b.owed[a.request.Unit]
	if debt == nil {
		debt = &arrears{}
		b.owed[a.request.Unit] = debt
	}
	debt.sent(a.request)
	if errors.Is(why, ErrSilent) {
		debt.again = time.Now().Add(a.timeout)
	}
}

// settle waits until the line is silent and its input is empty.
func (b *bus) settle(s Stream, a *asking) error {
	debt := b.owed[a.request.Unit]
	for start := time.Now(); ; {
		n, err := b.drain(s)
		if err != nil {
			return err
		}
		if n >= fewest(b.codec) {
			b.stats.late.Add(1)
			b.hold = max(b.hold, a.timeout)
		}
		free := b.last.Add(max(b.gap+b.pause, b.hold))
		if debt != nil && debt.again.After(free) {
			free = debt.again
		}
		if time.Until(free) <= 0 && n == 0 {
			b.hold = 0
			return nil
		}
		if time.Since(start) > settleMost*a.timeout {
			return fmt.Errorf("%w: the line does not become silent; another master, or wrong baud rate or wiring", ErrFrame)
		}
		if err := b.listen(s, a, free); err != nil {
			return err
		}
	}
}

// listen reads and throws away until the time comes or something was heard.
func (b *bus) listen(s Stream, a *asking, until time.Time) error {
	if time.Until(until) <= 0 {
		return a.ctx.Err()
	}
	if err := a.deadline(s, until); err != nil {
		return err
	}
	n, err := s.Read(b.chunk[:])
	if n > 0 {
		b.last = time.Now()
	}
	if n >= fewest(b.codec) {
		b.stats.late.Add(1)
		b.hold = max(b.hold, a.timeout)
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return a.ctx.Err()
}

// await reads until a frame that answers the request has come, and returns what came after it apart.
func (b *bus) await(s Stream, a *asking) (answer, rest []byte, err error) {
	b.buf = b.buf[:0]
	for {
		n, err := s.Read(b.chunk[:])
		if n > 0 {
			b.last, a.heard = time.Now(), true
			b.buf = append(b.buf, b.chunk[:n]...)
		}
		if start, end := findAnswer(b.codec, b.buf, a.request); end > 0 {
			b.others(b.buf[:start], a)
			_, pdu := b.codec.open(b.buf[start:end])
			return bytes.Clone(pdu), b.buf[end:], nil
		}
		if err == nil && len(b.buf) < 4096 {
			continue
		}
		return nil, nil, b.nothing(a, err)
	}
}

// nothing explains why await has found no answer in what it has read.
func (b *bus) nothing(a *asking, err error) error {
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if len(b.buf) < fewest(b.codec) {
		return a.silence()
	}
	unknown := b.others(b.buf, a)
	if unknown < fewest(b.codec) {
		return fmt.Errorf("%w, but one of another unit, function or length", a.silence())
	}
	b.hold = max(b.hold, a.timeout)
	return fmt.Errorf("%w: %d bytes came, with a wrong checksum, length, unit or function", errDamaged, len(b.buf))
}

// alone waits for the silence that ends a frame, and refuses the answer if another one follows it.
func (b *bus) alone(s Stream, a *asking, rest []byte) error {
	more, err := b.trail(s, a)
	if err != nil {
		return err
	}
	after := append(rest, more...)
	if few := fewest(b.codec); len(after) < few || b.others(after, a) < few {
		return nil
	}
	b.hold = max(b.hold, a.timeout)
	b.stats.late.Add(1)
	return fmt.Errorf("%w: a second one followed it, and one of the two is another request's", errDamaged)
}

// trail reads what comes until the line was silent for the gap.
func (b *bus) trail(s Stream, a *asking) ([]byte, error) {
	var all []byte
	for len(all) < 4096 {
		if err := a.deadline(s, b.last.Add(b.gap)); err != nil {
			return nil, err
		}
		n, err := s.Read(b.chunk[:])
		if n > 0 {
			b.last = time.Now()
			all = append(all, b.chunk[:n]...)
			continue
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, fmt.Errorf("%w: %w", errGone, err)
		}
		break
	}
	return all, nil
}

// others counts the whole frames in what is left over that are no answer to this request, and returns how many
// bytes belong to none of them.
func (b *bus) others(left []byte, a *asking) (unknown int) {
	for len(left) > 0 {
		n := b.codec.whole(left)
		if n == 0 || isAnswer(b.codec, left[:n], a.request) {
			unknown++
			left = left[1:]
			continue
		}
		if unit, _ := b.codec.open(left[:n]); b.owed[unit] != nil {
			b.stats.late.Add(1)
		} else {
			b.stats.crossTalk.Add(1)
		}
		left = left[n:]
	}
	return unknown
}

// drain empties the input without waiting, and says how many bytes there were.
func (b *bus) drain(s Stream) (total int, err error) {
	for {
		n, err := readNow(s, b.chunk[:])
		total += n
		if n > 0 {
			b.last = time.Now()
		}
		if err != nil {
			return total, fmt.Errorf("%w: %w", errGone, err)
		}
		if n < len(b.chunk) {
			return total, nil
		}
	}
}

// readNow reads what is there already. A deadline cannot do that: one that has passed forbids the read, and one
// that is near can pass before the read begins, on a busy machine.
func readNow(s Stream, b []byte) (n int, err error) {
	if t, ok := s.(*traced); ok {
		n, err := readNow(t.Stream, b)
		t.heard(b[:n], err)
		return n, err
	}
	if err := s.SetDeadline(time.Time{}); err != nil {
		return 0, err
	}
	raw, ok := s.(syscall.Conn)
	if !ok {
		return readSoon(s, b)
	}
	c, err := raw.SyscallConn()
	if err != nil {
		return 0, err
	}
	var readErr error
	err = c.Read(func(fd uintptr) bool {
		n, readErr = syscall.Read(int(fd), b)
		return true
	})
	switch {
	case err != nil:
		return 0, err
	case errors.Is(readErr, syscall.EAGAIN) || errors.Is(readErr, syscall.EINTR):
		return 0, nil
	case readErr != nil:
		return 0, readErr
	case n <= 0:
		return 0, errors.New("end of file")
	}
	return n, nil
}

// readSoon is readNow for a stream without a file descriptor, such as a pipe in a test.
func readSoon(s Stream, b []byte) (int, error) {
	if err := s.SetDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return 0, err
	}
	n, err := s.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}
