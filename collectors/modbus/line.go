package modbus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	goburrow "github.com/goburrow/modbus"
)

// Stream is an open socket or serial port: reads and writes obey the deadlines, as those of net.Conn do.
type Stream interface {
	io.ReadWriteCloser
	SetDeadline(t time.Time) error
}

// framer puts one request on a stream and returns the one answer to it, both without what frames them.
type framer interface {
	exchange(s Stream, a *asking, pdu []byte) ([]byte, error)
	// fresh forgets what was known of the last stream.
	fresh()
	// suspect says that the last answers contradict each other: something on the line is out of step.
	suspect(hold time.Duration)
}

// asking is the request that has the line.
type asking struct {
	ctx     context.Context
	request Request
	timeout time.Duration
	avoid   []span // what no request to the unit may touch
	heard   bool   // a byte came after the request went out
}

// silence is the error of a request that nobody answered.
func (a *asking) silence() error { return fmt.Errorf("%w within %s", ErrSilent, a.timeout) }

// past is a deadline that wakes whoever reads.
var past = time.Unix(1, 0)

// deadline limits reads and writes, and keeps a context that ended meanwhile from being overlooked.
func (a *asking) deadline(s Stream, t time.Time) error {
	if err := s.SetDeadline(t); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return a.ctx.Err()
}

// closeAfter is how many requests in a row may stay unanswered before a socket is given up. A gateway that has
// lost its way often finds it again on a new connection.
const closeAfter = 3

// Line is one socket or serial port. Its methods may be called from any goroutine; one request has it at a time.
type Line struct {
	at    endpoint
	dial  func(context.Context) (Stream, error)
	lock  chan struct{}
	stats counters

	rounds rounds

	// Below: for the holder of the lock.
	forbidden map[byte][]span // by unit: what no request may touch, those that put it back in step included

	frames framer
	stream Stream
	client goburrow.Client
	now    *asking
	silent int  // unanswered requests in a row
	lost   bool // the stream went away, and nobody has opened it again
	redial redial
}

func newLine(at endpoint, dial func(context.Context) (Stream, error)) *Line {
	l := &Line{at: at, dial: dial, lock: make(chan struct{}, 1), redial: redial{first: redialFirst, most: redialMost}}
	l.client = goburrow.NewClient2(bare{}, wire{l})
	if at.port() {
		l.redial = redial{first: portRetry, most: portRetry}
	}
	if at.serialLine() {
		l.frames = newBus(at, &l.stats)
	} else {
		l.frames = &mbap{stats: &l.stats, pause: at.pause}
	}
	return l
}

// URL is the endpoint as it is written in the configuration, with every default said.
func (l *Line) URL() string { return l.at.String() }

// Stats is what the line has seen since the program started.
func (l *Line) Stats() Stats { return l.stats.read() }

// Rounds are the last answered rounds of the devices that are polled on the line.
func (l *Line) Rounds() []Round { return l.rounds.read() }

// Read asks once and returns the data of the answer: two bytes to a register, high byte first, or eight bits to a
// byte, first bit lowest. The data has exactly the length that was asked for. timeout is the longest wait from
// the request to the whole answer; on a serial line the time of the characters themselves comes on top.
// Errors are ErrForbidden, ErrSilent, ErrDown, ErrFrame, an *Exception, or the context's.
func (l *Line) Read(ctx context.Context, r Request, timeout time.Duration) ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if err := l.acquire(ctx); err != nil {
		return nil, l.busy(err)
	}
	defer l.release()
	if err := l.keepsOff(r); err != nil {
		return nil, err
	}
	l.now = &asking{ctx: ctx, request: r, timeout: timeout, avoid: l.forbidden[r.Unit]}
	l.stats.requests.Add(1)
	l.stats.use.begin(time.Now())
	data, err := r.ask(l.client)
	l.stats.use.end(time.Now())
	if err != nil {
		return nil, l.unread(r, err)
	}
	return data, nil
}

// busy is the error of a request that did not get the line.
func (l *Line) busy(err error) error { return fmt.Errorf("wait for %s: %w", l.URL(), err) }

// keepsOff refuses a request that touches what its unit's device forbids.
func (l *Line) keepsOff(r Request) error {
	avoid := l.forbidden[r.Unit]
	if i := slices.IndexFunc(avoid, func(s span) bool { return overlap(s, r.span()) }); i >= 0 {
		return fmt.Errorf("read %s at %s: %w: %s", r, l.URL(), ErrForbidden, avoid[i])
	}
	return nil
}

// unread is the error of a request that failed.
func (l *Line) unread(r Request, err error) error {
	if refusal, ok := errors.AsType[*goburrow.ModbusError](err); ok {
		l.stats.exceptions.Add(1)
		err = &Exception{Function: r.Table.function(), Code: refusal.ExceptionCode}
	}
	return fmt.Errorf("read %s at %s: %w", r, l.URL(), err)
}

// forbid keeps every request to a unit, whoever makes it, from touching what its device forbids.
func (l *Line) forbid(unit byte, where []span) {
	if len(where) == 0 || l.acquire(context.Background()) != nil {
		return // a background context never ends
	}
	defer l.release()
	if l.forbidden == nil {
		l.forbidden = map[byte][]span{}
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
	l.now = nil
	<-l.lock
}

// hangUp closes the socket or port; the next request opens it again.
func (l *Line) hangUp(ctx context.Context) error {
	if err := l.acquire(ctx); err != nil {
		return err
	}
	defer l.release()
	return l.close()
}

// suspect is told when two answers to the same question contradict each other. On a serial line the next request
// then waits until nothing has come for the given time, so that whatever is out of step comes to its end.
func (l *Line) suspect(ctx context.Context, hold time.Duration) {
	l.stats.mismatches.Add(1)
	if l.acquire(ctx) != nil {
		return // the context has ended, and with it every request that could follow
	}
	defer l.release()
	l.frames.suspect(hold)
}

func (l *Line) close() error {
	if l.stream == nil {
		return nil
	}
	err := l.stream.Close()
	l.stream, l.silent = nil, 0
	if err != nil {
		return fmt.Errorf("close %s: %w", l.URL(), err)
	}
	return nil
}

// wire is the line as goburrow's client sees it.
type wire struct{ line *Line }

// Send implements goburrow's Transporter for the request that has the line. A connection that was kept from
// before may have ended unseen: then, and only if no byte came back, the request goes out once more on a new one.
func (w wire) Send(pdu []byte) ([]byte, error) {
	l := w.line
	for {
		reused := l.stream != nil
		if err := l.connect(l.now.ctx, l.now.timeout); err != nil {
			return nil, err
		}
		answer, err := l.exchange(pdu)
		if !errors.Is(err, errGone) || !reused || l.now.heard {
			return answer, err
		}
	}
}

// exchange sends one request and waits for its answer, closing the line where going on could confuse answers.
func (l *Line) exchange(pdu []byte) ([]byte, error) {
	s, a := l.stream, l.now
	a.heard = false
	woken := make(chan struct{})
	stop := context.AfterFunc(a.ctx, func() {
		defer close(woken)
		_ = s.SetDeadline(past) // only a closed stream refuses, and that one wakes its reader anyway
	})
	answer, err := l.frames.exchange(s, a, pdu)
	if !stop() {
		<-woken
	}
	if err != nil {
		return nil, l.failed(err)
	}
	l.silent = 0
	return answer, nil
}

// failed draws the conclusions from a request that failed.
func (l *Line) failed(err error) error {
	l.count(err)
	closing := l.closeIfLost(err)
	if l.now.ctx.Err() != nil {
		err = l.now.ctx.Err()
	}
	return errors.Join(err, closing)
}

func (l *Line) count(err error) {
	switch {
	case l.now.ctx.Err() != nil: // whoever asked has left; that says nothing about the line
	case errors.Is(err, ErrSilent):
		l.stats.timeouts.Add(1)
		l.silent++
	case errors.Is(err, ErrFrame):
		l.stats.frames.Add(1)
	}
}

// closeIfLost closes the line when it went away, when a socket's frames can no longer be told apart, or when a
// socket was silent for too long.
func (l *Line) closeIfLost(err error) error {
	gone := errors.Is(err, errGone)
	spoilt := !l.at.serialLine() && errors.Is(err, errDamaged)
	mute := !l.at.port() && l.silent >= closeAfter
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
