package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	goburrow "github.com/goburrow/modbus"

	"gauger/collectors"
)

// Stream is an open socket or serial port: reads and writes obey the deadlines, as those of net.Conn do.
type Stream interface {
	io.ReadWriteCloser
	SetDeadline(t time.Time) error
}

// transport puts one request on a stream and returns the one answer to it, both without what frames them.
type transport interface {
	exchange(s Stream, a *transaction, pdu []byte) ([]byte, error)
	// reconnected forgets what was known of the last stream.
	reconnected()
	// requireSilence: the last answers contradict each other: something on the line is out of step.
	requireSilence(hold time.Duration)
}

// transaction is the request that has the line.
type transaction struct {
	ctx       context.Context
	request   Request
	timeout   time.Duration
	avoid     []Span // what no request to the unit may touch
	answering bool   // a byte came after the request went out
}

// noAnswer is the error of a request that nobody answered.
func (a *transaction) noAnswer() error { return fmt.Errorf("%w within %s", ErrSilent, a.timeout) }

// longPast is a deadline that wakes whoever reads.
var longPast = time.Unix(1, 0)

// setDeadline limits reads and writes, and keeps a context that ended meanwhile from being overlooked.
func (a *transaction) setDeadline(s Stream, t time.Time) error {
	if err := s.SetDeadline(t); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return a.ctx.Err()
}

// DefaultTimeout is the longest wait for an answer, where nothing else is said.
const DefaultTimeout = time.Second

// closeSocketAfter requests in a row may stay unanswered before a socket is given up. A gateway that has
// lost its way often finds it again on a new connection.
const closeSocketAfter = 3

// Line is one socket or serial port. Its methods may be called from any goroutine; one request has it at a time.
type Line struct {
	endpoint Endpoint
	dial     func(context.Context) (Stream, error)
	lock     chan struct{}
	stats    counters

	lastRounds lastRounds

	// Below: for the holder of the lock.
	forbidden map[byte][]Span // by unit: what no request may touch, those that put it back in step included

	transport  transport
	stream     Stream
	waker      *waker // of the stream; nil: none
	client     goburrow.Client
	current    *transaction
	unanswered int  // unanswered requests in a row
	lost       bool // the stream went away, and nobody has opened it again
	redial     redialPauses
}

func newLine(at Endpoint, dial func(context.Context) (Stream, error)) *Line {
	l := &Line{endpoint: at, dial: dial, lock: make(chan struct{}, 1), redial: redialPauses{firstPause: redialFirstPause, maxPause: redialMaxPause}}
	l.client = goburrow.NewClient2(pduOnly{}, clientTransport{l})
	if at.IsPort() {
		l.redial = redialPauses{firstPause: portRetryPause, maxPause: portRetryPause}
	}
	if at.IsSerial() {
		l.transport = newBus(at, &l.stats)
	} else {
		l.transport = &mbap{stats: &l.stats, pause: at.pause}
	}
	return l
}

// URL is the endpoint as it is written in the configuration, with every default said.
func (l *Line) URL() string { return l.endpoint.String() }

// Stats since the program started.
func (l *Line) Stats() Stats { return l.stats.read() }

// Endpoint is the parsed URL.
func (l *Line) Endpoint() Endpoint { return l.endpoint }

// Read asks once and returns the data of the answer: two bytes to a register, high byte first, or eight bits to a
// byte, first bit lowest. The data has exactly the length that was asked for. timeout is the longest wait from
// the request to the whole answer; on a serial line the time of the characters themselves comes on top.
// Errors are ErrForbidden, ErrSilent, ErrDown, ErrGone, ErrFrame, an *Exception, or the context's.
func (l *Line) Read(ctx context.Context, r Request, timeout time.Duration) ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if err := l.acquire(ctx); err != nil {
		return nil, l.waitError(err)
	}
	defer l.release()
	collectors.PulseOf(ctx).WorkFor(3*timeout + minDialTimeout)
	if err := l.checkForbidden(r); err != nil {
		return nil, err
	}
	l.current = &transaction{ctx: ctx, request: r, timeout: timeout, avoid: l.forbidden[r.Unit]}
	l.stats.requests.Add(1)
	l.stats.busyTime.begin(time.Now())
	data, err := clientReads[r.Table](l.client, r.Address, r.Quantity)
	l.stats.busyTime.end(time.Now())
	if err != nil {
		return nil, l.requestError(r, err)
	}
	return data, nil
}

// waitError is the error of a request that never had the line. It is made apart from Read, as all that takes room on the stack is:
// with 4 KiB a goroutine of a site with a thousand lines waits for its answer, and one byte more is 8.
func (l *Line) waitError(err error) error { return fmt.Errorf("wait for %s: %w", l.URL(), err) }

// checkForbidden refuses a request that touches what its unit's device forbids.
func (l *Line) checkForbidden(r Request) error {
	avoid := l.forbidden[r.Unit]
	if i := slices.IndexFunc(avoid, func(s Span) bool { return s.Overlaps(r.span()) }); i >= 0 {
		return fmt.Errorf("read %s at %s: %w: %s", r, l.URL(), ErrForbidden, avoid[i])
	}
	return nil
}

// requestError is the error of a request that failed.
func (l *Line) requestError(r Request, err error) error {
	if refusal, ok := errors.AsType[*goburrow.ModbusError](err); ok {
		l.stats.exceptions.Add(1)
		err = &Exception{refusal.ExceptionCode}
	}
	if errors.Is(err, ErrDown) || errors.Is(err, ErrGone) {
		l.stats.down.Add(1)
	}
	if errors.Is(err, ErrDown) {
		return fmt.Errorf("%s: %w", l.URL(), err) // whatever is asked for
	}
	return fmt.Errorf("read %s at %s: %w", r, l.URL(), err)
}

// Forbid keeps every request to a unit, whoever makes it, from touching what its device forbids.
func (l *Line) Forbid(unit byte, where []Span) {
	if len(where) == 0 || l.acquire(context.Background()) != nil {
		return // a background context never ends
	}
	defer l.release()
	if l.forbidden == nil {
		l.forbidden = map[byte][]Span{}
	}
	l.forbidden[unit] = where
}

func (l *Line) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Line) release() {
	l.current = nil
	<-l.lock
}

// HangUp closes the socket or port; the next request opens it again.
func (l *Line) HangUp(ctx context.Context) error {
	if err := l.acquire(ctx); err != nil {
		return err
	}
	defer l.release()
	return l.close()
}

// NoteMismatch is told when two answers to the same question contradict each other. On a serial line the next request
// then waits until nothing has come for the given time, so that whatever is out of step comes to its end.
func (l *Line) NoteMismatch(ctx context.Context, hold time.Duration) {
	l.stats.mismatches.Add(1)
	if l.acquire(ctx) != nil {
		return // the context has ended, and with it every request that could follow
	}
	defer l.release()
	l.transport.requireSilence(hold)
}

func (l *Line) close() error {
	if l.stream == nil {
		return nil
	}
	l.stopWaking()
	err := l.stream.Close()
	l.stream, l.unanswered = nil, 0
	if err != nil {
		return fmt.Errorf("close %s: %w", l.URL(), err)
	}
	return nil
}

// afterFailure draws the conclusions from a request that failed.
func (l *Line) afterFailure(err error) error {
	l.count(err)
	closing := l.closeIfLost(err)
	if l.current.ctx.Err() != nil {
		err = l.current.ctx.Err()
	}
	return errors.Join(err, closing)
}

func (l *Line) count(err error) {
	switch {
	case l.current.ctx.Err() != nil: // whoever asked has left; that says nothing about the line
	case errors.Is(err, ErrSilent):
		l.stats.timeouts.Add(1)
		l.unanswered++
	case errors.Is(err, ErrFrame):
		l.stats.badFrames.Add(1)
	}
}

// closeIfLost closes the line when it went away, when a socket's frames can no longer be told apart, or when a
// socket was silent for too long.
func (l *Line) closeIfLost(err error) error {
	gone := errors.Is(err, ErrGone)
	spoilt := !l.endpoint.IsSerial() && errors.Is(err, ErrDamaged)
	mute := !l.endpoint.IsPort() && l.unanswered >= closeSocketAfter
	if !gone && !spoilt && !mute {
		return nil
	}
	if l.lost = gone; gone {
		l.redial.lost()
	}
	if err := l.close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
