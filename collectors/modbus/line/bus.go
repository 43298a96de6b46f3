package line

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
//     registers: only when an answer of that length has come are the two in step again (pending_replies.go);
//   - a gateway's word that the unit behind it is silent says nothing else, whichever request it answers;
//   - two answers to one request are none, and so is one behind a request that is not ours: it may be that one's;
//   - after a frame that made no sense the line must have been silent for one time-out.
//
// Frames of other units carry their own unit id and are passed over, so that one slow unit costs the others little.
type bus struct {
	codec      codec
	charTime   time.Duration
	frameGap   time.Duration // of silence that ends a frame
	extraPause time.Duration // of silence on top of that before a request
	stats      *counters

	out             []byte                   // the request
	chunk           [256]byte                // what a read has brought
	buf             []byte                   // what came since the request
	lastByte        time.Time                // when the line last carried a byte
	requiredSilence time.Duration            // how long the line must have been silent before the next request; 0: the gap
	pending         map[byte]*pendingReplies // units that did not answer
}

// maxLateAnswers of a unit in a row are taken for an earlier request's. Refusals look all alike, so that a unit
// that only refuses never gets in step; it is given up sooner when it is slow.
const maxLateAnswers = 20

var errOutOfStep = fmt.Errorf("%w: the unit still answers earlier ones", ErrFrame)

// maxSilenceWait, in time-outs, for a silent line or for a unit that gets in step.
const maxSilenceWait = 5

func newBus(at Endpoint, stats *counters) *bus {
	return &bus{codec: at.codec(), charTime: at.serial.charTime(), frameGap: at.serial.frameGap(), extraPause: at.pause, stats: stats, pending: map[byte]*pendingReplies{}}
}

// reconnected leaves the pending replies: a serial server may hand the late answer to the new connection.
func (b *bus) reconnected() { b.lastByte = time.Now() }

func (b *bus) requireSilence(hold time.Duration) {
	b.lastByte, b.requiredSilence = time.Now(), max(b.requiredSilence, hold)
}

// exchange sends the request, after as many others of its unit as it takes to be sure which answer is whose.
func (b *bus) exchange(s Stream, a *transaction, pdu []byte) ([]byte, error) {
	unit := a.request.Unit
	start := time.Now()
	for range maxLateAnswers {
		now, sent := *a, pdu
		late := b.pending[unit]
		if late != nil && late.ambiguous(a.request) {
			now.request = late.resyncRequest(a.request, a.avoid)
			sent = now.request.pdu()
		}
		answer, err := b.attempt(s, &now, sent)
		a.answering = now.answering
		if err != nil || late == nil {
			return answer, err
		}
		refusal := now.request.isRefusal(answer)
		late.add(now.request)
		late.received(now.request, refusal)
		if len(late.replies) == 0 {
			delete(b.pending, unit)
		}
		switch {
		case b.pending[unit] == nil && now.request == a.request, refusal && saysSilent(answer[1]):
			return answer, nil
		case time.Since(start) > maxSilenceWait*a.timeout:
			return nil, errOutOfStep
		}
	}
	return nil, errOutOfStep
}

// attempt sends one request and returns the one answer to it.
func (b *bus) attempt(s Stream, a *transaction, pdu []byte) ([]byte, error) {
	if err := b.awaitSilence(s, a); err != nil {
		return nil, err
	}
	b.out = b.codec.appendRequest(b.out[:0], a.request.Unit, pdu)
	until := time.Now().Add(a.timeout + b.charTime*time.Duration(len(b.out)+b.codec.answerSize(a.request.dataLength())))
	if err := a.setDeadline(s, until); err != nil {
		return nil, err
	}
	_, err := s.Write(b.out)
	b.lastByte = time.Now().Add(b.charTime * time.Duration(len(b.out)))
	if err != nil {
		return nil, fmt.Errorf("send: %w: %w", ErrGone, err)
	}
	answer, rest, err := b.readAnswer(s, a)
	if err == nil {
		err = b.checkNothingFollows(s, a, rest)
	}
	if err != nil && !b.cameDamaged(a) {
		b.expectLate(a, err)
	}
	return answer, err
}

// cameDamaged says whether what came, though it could not be used, was as long as the answer and began as it does,
// so that nothing more is to come. A unit that owes something already may have answered an earlier request.
func (b *bus) cameDamaged(a *transaction) bool {
	size := b.codec.answerSize(a.request.dataLength())
	return b.pending[a.request.Unit] == nil && len(b.buf) >= size && b.codec.mayBegin(b.buf, a.request)
}

// expectLate notes that the unit may still answer the request that has just failed, and leaves it alone for a time-out
// if nothing has come of it.
func (b *bus) expectLate(a *transaction, why error) {
	late := b.pending[a.request.Unit]
	if late == nil {
		late = &pendingReplies{}
		b.pending[a.request.Unit] = late
	}
	late.add(a.request)
	if errors.Is(why, ErrSilent) {
		late.askAgainAt = time.Now().Add(a.timeout)
	}
}

// awaitSilence waits until the line is silent and its input is empty.
func (b *bus) awaitSilence(s Stream, a *transaction) error {
	late := b.pending[a.request.Unit]
	for start := time.Now(); ; {
		n, err := b.discardInput(s)
		if err != nil {
			return err
		}
		if n >= shortestAnswer(b.codec) {
			b.stats.late.Add(1)
			b.requiredSilence = max(b.requiredSilence, a.timeout)
		}
		free := b.lastByte.Add(max(b.frameGap+b.extraPause, b.requiredSilence))
		if late != nil && late.askAgainAt.After(free) {
			free = late.askAgainAt
		}
		if time.Until(free) <= 0 && n == 0 {
			b.requiredSilence = 0
			return nil
		}
		if time.Since(start) > maxSilenceWait*a.timeout {
			return fmt.Errorf("%w: the line does not become silent; another master, or wrong baud rate or wiring", ErrFrame)
		}
		if err := b.discardUntil(s, a, free); err != nil {
			return err
		}
	}
}

// discardUntil reads and throws away until the time comes or something was heard.
func (b *bus) discardUntil(s Stream, a *transaction, until time.Time) error {
	if time.Until(until) <= 0 {
		return a.ctx.Err()
	}
	if err := a.setDeadline(s, until); err != nil {
		return err
	}
	n, err := s.Read(b.chunk[:])
	if n > 0 {
		b.lastByte = time.Now()
	}
	if n >= shortestAnswer(b.codec) {
		b.stats.late.Add(1)
		b.requiredSilence = max(b.requiredSilence, a.timeout)
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return a.ctx.Err()
}

// readAnswer reads until a frame that answers the request has come, and returns what came after it apart.
func (b *bus) readAnswer(s Stream, a *transaction) (answer, rest []byte, err error) {
	b.buf = b.buf[:0]
	for {
		n, err := s.Read(b.chunk[:])
		if n > 0 {
			b.lastByte, a.answering = time.Now(), true
			b.buf = append(b.buf, b.chunk[:n]...)
		}
		if start, end := findAnswer(b.codec, b.buf, a.request); end > 0 {
			if b.hasForeignRequest(b.buf[:start], a.request.Unit) {
				b.requiredSilence = max(b.requiredSilence, a.timeout)
				return nil, nil, errOtherMaster
			}
			b.countOtherFrames(b.buf[:start], a)
			_, pdu := b.codec.unpack(b.buf[start:end])
			return bytes.Clone(pdu), b.buf[end:], nil
		}
		if err == nil && len(b.buf) < 4096 {
			continue
		}
		return nil, nil, b.whyNoAnswer(a, err)
	}
}

// whyNoAnswer explains why readAnswer has found no answer in what it has read.
func (b *bus) whyNoAnswer(a *transaction, err error) error {
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	if len(b.buf) < shortestAnswer(b.codec) {
		return a.noAnswer()
	}
	if b.hasForeignRequest(b.buf, a.request.Unit) {
		b.requiredSilence = max(b.requiredSilence, a.timeout)
		return errOtherMaster
	}
	unknown := b.countOtherFrames(b.buf, a)
	if unknown < shortestAnswer(b.codec) {
		return fmt.Errorf("%w, but one of another unit, function or length", a.noAnswer())
	}
	b.requiredSilence = max(b.requiredSilence, a.timeout)
	return fmt.Errorf("%w: %d bytes came, with a wrong checksum, length, unit or function", ErrDamaged, len(b.buf))
}

var errOtherMaster = fmt.Errorf("%w: another master speaks on this line, and the answer may be to its request: let one master ask, and the others ask that one (share:)", ErrDamaged)

// requestSize of an RTU frame that asks for something or writes one value: unit, function, address, number, checksum.
const requestSize = 8

// hasForeignRequest says whether a request to the unit is in what came that is not ours, which some adapters echo: whoever made it gets an
// answer from that unit too. Only RTU frames are known.
func (b *bus) hasForeignRequest(came []byte, unit byte) bool {
	if _, ok := b.codec.(rtu); !ok {
		return false
	}
	for ; len(came) >= requestSize; came = came[1:] {
		f := came[:requestSize]
		if f[0] == unit && f[1] >= 1 && f[1] <= 6 && crc16(f) == 0 && b.codec.answerLength(f) == 0 && !bytes.Equal(f, b.out) {
			b.stats.noteOtherMaster(time.Now())
			return true
		}
	}
	return false
}

// checkNothingFollows waits for the silence that ends a frame, and refuses the answer if another one follows it.
func (b *bus) checkNothingFollows(s Stream, a *transaction, rest []byte) error {
	more, err := b.readUntilSilent(s, a)
	if err != nil {
		return err
	}
	after := append(rest, more...)
	if few := shortestAnswer(b.codec); len(after) < few || b.countOtherFrames(after, a) < few {
		return nil
	}
	b.requiredSilence = max(b.requiredSilence, a.timeout)
	b.stats.late.Add(1)
	return fmt.Errorf("%w: a second one followed it, and one of the two is another request's", ErrDamaged)
}

// readUntilSilent reads what comes until the line was silent for the gap.
func (b *bus) readUntilSilent(s Stream, a *transaction) ([]byte, error) {
	var all []byte
	for len(all) < 4096 {
		if err := a.setDeadline(s, b.lastByte.Add(b.frameGap)); err != nil {
			return nil, err
		}
		n, err := s.Read(b.chunk[:])
		if n > 0 {
			b.lastByte = time.Now()
			all = append(all, b.chunk[:n]...)
			continue
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, fmt.Errorf("%w: %w", ErrGone, err)
		}
		break
	}
	return all, nil
}

// countOtherFrames counts the whole frames in what is left over that are no answer to this request, and returns how many
// bytes belong to none of them.
func (b *bus) countOtherFrames(left []byte, a *transaction) (unknown int) {
	for len(left) > 0 {
		n := b.codec.answerLength(left)
		if n == 0 || isAnswer(b.codec, left[:n], a.request) {
			unknown++
			left = left[1:]
			continue
		}
		if unit, _ := b.codec.unpack(left[:n]); b.pending[unit] != nil {
			b.stats.late.Add(1)
		} else {
			b.stats.crossTalk.Add(1)
		}
		left = left[n:]
	}
	return unknown
}

// mostDiscarded bounds, in bytes, what is thrown away without a look at the time: far more than a serial line keeps.
const mostDiscarded = 64 << 10

// discardInput empties the input without waiting, and says how many bytes there were.
func (b *bus) discardInput(s Stream) (total int, err error) {
	for {
		n, err := readNow(s, b.chunk[:])
		total += n
		if n > 0 {
			b.lastByte = time.Now()
		}
		if err != nil {
			return total, fmt.Errorf("%w: %w", ErrGone, err)
		}
		if n < len(b.chunk) || total >= mostDiscarded { // else who never stops to send would never let go of the line
			return total, nil
		}
	}
}

// readNow reads what is there already. A deadline cannot do that: one that has passed forbids the read, and one
// that is near can pass before the read begins, on a busy machine.
func readNow(s Stream, b []byte) (n int, err error) {
	if t, ok := s.(*tracedStream); ok {
		n, err := readNow(t.Stream, b)
		t.observe(b[:n], err)
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
