package line

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"gauger/collectors"
)

// Lines are the sockets and serial ports of one process, each opened once however many ask for it. One value is
// made at the top and handed to the collectors and to whoever wants to ask a unit in between.
type Lines struct {
	// Dial opens an endpoint instead of the network and the serial ports, for a site that lives in memory. The
	// argument is the line's URL.
	Dial func(ctx context.Context, url string) (Stream, error)

	Retry time.Duration // between two attempts to open a serial port; 0: portRetryPause

	mu        sync.Mutex
	lines     map[string]*Line // by place: host:port or the serial port's path
	borrowers map[*Line]int    // lines that nobody but a command asked for, and how many use them now
	tracer    tracer
	turns     chan struct{}
}

// Turns is a channel with so much room, the same for everybody who reads lines of this process.
func (ls *Lines) Turns(room int) chan struct{} {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.turns == nil {
		ls.turns = make(chan struct{}, room)
	}
	return ls.turns
}

// Open returns the line behind a device URL. Nothing is connected yet. The error is a URL that cannot be read, or
// one that gives the same place another protocol or other serial settings than an earlier one did.
func (ls *Lines) Open(url string) (*Line, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l, err := ls.openLocked(url)
	delete(ls.borrowers, l)
	return l, err
}

func (ls *Lines) openLocked(url string) (*Line, error) {
	at, err := ParseEndpoint(url)
	if err != nil {
		return nil, err
	}
	if l := ls.lines[at.Place]; l != nil {
		if err := l.endpoint.ConflictsWith(at); err != nil {
			return nil, err
		}
		return l, nil
	}
	if ls.lines == nil {
		ls.lines = map[string]*Line{}
	}
	l := newLine(at, ls.tracer.wrap(&at, ls.dialer(&at)))
	if ls.Retry > 0 && at.IsPort() {
		l.redial.firstPause, l.redial.maxPause = ls.Retry, ls.Retry
	}
	ls.lines[at.Place] = l
	return l, nil
}

func (ls *Lines) dialer(at *Endpoint) func(context.Context) (Stream, error) {
	if ls.Dial != nil {
		return func(ctx context.Context) (Stream, error) { return ls.Dial(ctx, at.String()) }
	}
	if at.IsPort() {
		return func(context.Context) (Stream, error) { return openPort(at.Place, at.serial) }
	}
	return func(ctx context.Context) (Stream, error) {
		dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}}
		conn, err := dialer.DialContext(ctx, "tcp", at.Place)
		switch {
		case err != nil:
			return nil, collectors.DialCause(err)
		case at.scheme != schemeTLS:
			return conn, nil
		}
		return tlsHandshake(ctx, conn, *at)
	}
}

// Each calls f with every line, in the order of their URLs.
func (ls *Lines) Each(f func(*Line)) {
	for _, l := range ls.sorted() {
		f(l)
	}
}

func (ls *Lines) sorted() []*Line {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	all := make([]*Line, 0, len(ls.lines))
	for _, l := range ls.lines {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *Line) int { return cmp.Compare(a.URL(), b.URL()) })
	return all
}

// Close closes every socket and port. A request that has a line is waited for. The lines stay usable: the next
// request opens them again.
func (ls *Lines) Close() error {
	var errs []error
	for _, l := range ls.sorted() {
		errs = append(errs, l.HangUp(context.Background()))
	}
	return errors.Join(errs...)
}

// Forget drops the lines at other places than those that keep names, once nobody asks on them any more: the next one there may have
// another protocol and other settings.
func (ls *Lines) Forget(keep func(place string) bool) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	maps.DeleteFunc(ls.lines, func(place string, _ *Line) bool { return !keep(place) })
}
