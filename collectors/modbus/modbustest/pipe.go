package modbustest

import (
	"io"
	"os"
	"sync"
	"time"
)

// Pipe is a serial line in memory. Unlike net.Pipe it takes what nobody reads yet, as the buffers of a port or a
// socket do, and unlike a socket it lets virtual time go on while it is waited for.
func Pipe() (near, far *End) {
	changed := sync.NewCond(&sync.Mutex{})
	near, far = &End{changed: changed}, &End{changed: changed}
	near.peer, far.peer = far, near
	return near, far
}

// End is one end of a Pipe.
type End struct {
	changed  *sync.Cond // of both ends, with the lock of both
	peer     *End
	came     []byte
	closed   bool // either end
	deadline time.Time
	due      *time.Timer // wakes readers at the deadline
}

// Read waits for at least one byte. Errors are io.EOF after either end was closed, and os.ErrDeadlineExceeded.
func (e *End) Read(b []byte) (int, error) {
	e.changed.L.Lock()
	defer e.changed.L.Unlock()
	for {
		switch {
		case !e.deadline.IsZero() && !time.Now().Before(e.deadline):
			return 0, os.ErrDeadlineExceeded
		case len(e.came) > 0:
			n := copy(b, e.came)
			e.came = e.came[n:]
			return n, nil
		case e.closed:
			return 0, io.EOF
		}
		e.changed.Wait()
	}
}

// Write never waits. The error is io.ErrClosedPipe after either end was closed.
func (e *End) Write(b []byte) (int, error) {
	e.changed.L.Lock()
	defer e.changed.L.Unlock()
	if e.closed {
		return 0, io.ErrClosedPipe
	}
	e.peer.came = append(e.peer.came, b...)
	e.changed.Broadcast()
	return len(b), nil
}

// SetDeadline limits reads; writes never wait.
func (e *End) SetDeadline(t time.Time) error {
	e.changed.L.Lock()
	defer e.changed.L.Unlock()
	e.deadline = t
	if e.due != nil {
		e.due.Stop()
	}
	if !t.IsZero() {
		e.due = time.AfterFunc(time.Until(t), e.wake)
	}
	e.changed.Broadcast()
	return nil
}

func (e *End) wake() {
	e.changed.L.Lock()
	defer e.changed.L.Unlock()
	e.changed.Broadcast()
}

// Close ends both directions; the other end still reads what was sent.
func (e *End) Close() error {
	e.changed.L.Lock()
	defer e.changed.L.Unlock()
	e.closed, e.peer.closed = true, true
	e.changed.Broadcast()
	return nil
}
