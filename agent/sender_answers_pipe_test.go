package agent

import (
	"io"
	"net"
	"sync"
	"time"
)

// lane is one direction of a connection in memory. Like a socket's, its buffer takes what nobody reads yet: without one a
// farewell can block what it is to end.
type lane struct {
	mu     sync.Mutex
	change sync.Cond
	bytes  []byte
	ended  bool // nothing more is written
	torn   bool // nobody reads any more
}

const laneRoom = 64 << 10

// end is one end of a connection in memory; it keeps no deadlines, since TLS and HTTP close it where they want it ended.
type end struct {
	in, out *lane
}

func newPipe() (near, far end) {
	a, b := new(lane), new(lane)
	a.change.L, b.change.L = &a.mu, &b.mu
	return end{in: a, out: b}, end{in: b, out: a}
}

// Read takes what is there, or waits.
func (e end) Read(p []byte) (int, error) {
	l := e.in
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.bytes) == 0 && !l.ended && !l.torn {
		l.change.Wait()
	}
	switch {
	case l.torn:
		return 0, io.ErrClosedPipe
	case len(l.bytes) == 0:
		return 0, io.EOF
	}
	n := copy(p, l.bytes)
	l.bytes = l.bytes[n:]
	l.change.Broadcast()
	return n, nil
}

// Write waits while the buffer is full.
func (e end) Write(p []byte) (int, error) {
	l := e.out
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := 0; n < len(p); {
		for len(l.bytes) >= laneRoom && !l.torn && !l.ended {
			l.change.Wait()
		}
		if l.torn || l.ended {
			return n, io.ErrClosedPipe
		}
		more := min(len(p)-n, laneRoom-len(l.bytes))
		l.bytes = append(l.bytes, p[n:n+more]...)
		n += more
		l.change.Broadcast()
	}
	return len(p), nil
}

// Close lets the other end read what was written before.
func (e end) Close() error {
	for l, f := range map[*lane]func(*lane){e.out: func(l *lane) { l.ended = true }, e.in: func(l *lane) { l.torn = true }} {
		l.mu.Lock()
		f(l)
		l.change.Broadcast()
		l.mu.Unlock()
	}
	return nil
}

func (end) LocalAddr() net.Addr              { return &net.IPAddr{} }
func (end) RemoteAddr() net.Addr             { return &net.IPAddr{} }
func (end) SetDeadline(time.Time) error      { return nil }
func (end) SetReadDeadline(time.Time) error  { return nil }
func (end) SetWriteDeadline(time.Time) error { return nil }
