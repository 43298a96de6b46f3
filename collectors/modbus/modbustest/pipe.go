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
	there, back := newQueue(), newQueue()
	return &End{in: back, out: there, moved: make(chan struct{})}, &End{in: there, out: back, moved: make(chan struct{})}
}

// End is one end of a Pipe.
type End struct {
	in, out *queue

	mu       sync.Mutex
	deadline time.Time
	moved    chan struct{} // closed when the deadline changes
}

// queue is the bytes on their way in one direction.
type queue struct {
	mu      sync.Mutex
	data    []byte
	closed  bool
	changed chan struct{} // closed at the next change
}

func newQueue() *queue { return &queue{changed: make(chan struct{})} }

func (q *queue) change(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f()
	close(q.changed)
	q.changed = make(chan struct{})
}

// take moves what is there to b, or says what to wait for.
func (q *queue) take(b []byte) (n int, changed chan struct{}, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = copy(b, q.data)
	q.data = q.data[n:]
	if n == 0 && q.closed {
		err = io.EOF
	}
	return n, q.changed, err
}

// Read waits for at least one byte. Errors are io.EOF after either end was closed, and os.ErrDeadlineExceeded.
func (e *End) Read(b []byte) (int, error) {
	for {
		e.mu.Lock()
		deadline, moved := e.deadline, e.moved
		e.mu.Unlock()
		if !deadline.IsZero() && !time.Now().Before(deadline) {
			return 0, os.ErrDeadlineExceeded
		}
		n, changed, err := e.in.take(b)
		if n > 0 || err != nil {
			return n, err
		}
		awaitAny(changed, moved, deadline)
	}
}

// awaitAny returns when something has changed or the deadline has come.
func awaitAny(changed, moved chan struct{}, deadline time.Time) {
	var due <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-changed:
	case <-moved:
	case <-due:
	}
}

// Write never waits. The error is io.ErrClosedPipe after either end was closed.
func (e *End) Write(b []byte) (int, error) {
	err := error(nil)
	e.out.change(func() {
		if e.out.closed {
			err = io.ErrClosedPipe
			return
		}
		e.out.data = append(e.out.data, b...)
	})
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// SetDeadline limits reads; writes never wait.
func (e *End) SetDeadline(t time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deadline = t
	close(e.moved)
	e.moved = make(chan struct{})
	return nil
}

// Close ends both directions; the other end still reads what was sent.
func (e *End) Close() error {
	for _, q := range []*queue{e.in, e.out} {
		q.change(func() { q.closed = true })
	}
	return nil
}
