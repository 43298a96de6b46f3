// Package doors bounds who comes in through a listener: how many connections there are, in all and of one peer, what becomes of a
// peer that is silent or does not read, and who is turned away, at once. The status page, the control socket and the shared
// Modbus addresses all stand behind one.
//
// A connection waits (nothing is asked for), is at work, or is stuck, when its peer does not take what is written. Where all
// seats are taken, the connection that has waited longest gives way to a new one, and else one that is stuck: what holds a
// seat without using it keeps nobody out. Buffers in the kernel are small, since they count as the agent's memory too.
package doors

import (
	"cmp"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of a listener.
type Limits struct {
	All     int                         // connections at a time
	Each    int                         // of them, those of one peer; 0: all
	Silence time.Duration               // a connection that has waited for this long gives way to a new one
	Write   time.Duration               // a peer may take 16 kB of an answer in this time
	Newly   Rate                        // new connections of one peer
	Peer    func(net.Conn) string       // names the peer; empty: one without a limit of its own. nil: PeerAddress
	Admits  func(net.Addr) bool         // nil: everybody
	Refuse  func(c net.Conn, of string) // tells a peer that it is turned away, and whether by Everybody or ThePeer; nil: nothing is said
}

// What has reached its limit where a peer is turned away.
const (
	Everybody = "connections in all"
	ThePeer   = "connections of one peer"
)

const (
	stuckAfter   = 2 * time.Second // a peer that has not taken what was written for this long gives way too
	piece        = 16 << 10        // bytes that are written under one deadline
	readBuffer   = 16 << 10        // bytes in the kernel
	writeBuffer  = 64 << 10
	refusals     = 8           // that are told at the same time; the others are closed without a word
	refusalLasts = time.Second // at most
)

// Listener lets in who has a seat.
type Listener struct {
	net.Listener
	limits  Limits
	newly   *Meter
	telling chan struct{}

	mu    sync.Mutex
	seats Seats
	conns map[*Conn]bool
}

// Listen puts limits before a listener.
func Listen(l net.Listener, limits Limits) *Listener {
	if limits.Peer == nil {
		limits.Peer = func(c net.Conn) string { return PeerAddress(c.RemoteAddr()) }
	}
	return &Listener{Listener: l, limits: limits, newly: NewMeter(limits.Newly), telling: make(chan struct{}, refusals),
		seats: Seats{All: limits.All, Each: limits.Each}, conns: map[*Conn]bool{}}
}

// PeerAddress is the address of a peer without its port; of IPv6 the network, since whoever has one address there has them
// all. Empty: the box itself, or no address.
func PeerAddress(a net.Addr) string {
	at, ok := a.(*net.TCPAddr)
	ip := netip.Addr{}
	if ok {
		ip = at.AddrPort().Addr().Unmap().WithZone("")
	}
	switch {
	case !ip.IsValid() || ip.IsLoopback():
		return ""
	case ip.Is6():
		return netip.PrefixFrom(ip, 64).Masked().String()
	}
	return ip.String()
}

// Accept waits for the next connection that has a seat, a *Conn.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.limits.Admits != nil && !l.limits.Admits(c.RemoteAddr()) {
			_ = c.Close() // nothing was said that could be lost
			continue
		}
		who := l.limits.Peer(c)
		if l.newly.Take(who) > 0 {
			l.turnAway(c, ThePeer)
			continue
		}
		in, full := l.seat(c, who)
		if in != nil {
			return in, nil
		}
		l.turnAway(c, full)
	}
}

// seat gives a connection a seat, if need be another's; else it says what is full.
func (l *Listener) seat(c net.Conn, who string) (in *Conn, full string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if full = l.seats.take(who); full != "" {
		old := l.givesWay(who, full, time.Now())
		if old == nil {
			return nil, full
		}
		_ = old.Conn.Close() // its owner sees that in its next read or write
		l.leave(old)
		if full = l.seats.take(who); full != "" {
			return nil, full
		}
	}
	if b, ok := c.(interface {
		SetReadBuffer(int) error
		SetWriteBuffer(int) error
	}); ok {
		_, _ = b.SetReadBuffer(readBuffer), b.SetWriteBuffer(writeBuffer) // a kernel that has other sizes has its reasons
	}
	in = &Conn{Conn: c, Peer: who, door: l}
	in.since.Store(time.Now().UnixNano())
	l.conns[in] = true
	return in, ""
}

// givesWay finds the connection that has waited longest, or else been stuck longest: where the peer has reached its own limit,
// among the peer's.
func (l *Listener) givesWay(who, full string, now time.Time) (oldest *Conn) {
	rank := func(c *Conn) (waits bool, since int64) {
		switch stuck := c.stuck.Load(); {
		case stuck != 0 && now.UnixNano()-stuck >= int64(stuckAfter):
			return false, stuck
		case stuck == 0 && !c.busy.Load() && now.UnixNano()-c.since.Load() >= int64(l.limits.Silence):
			return true, c.since.Load()
		}
		return false, 0
	}
	var best int64
	bestWaits := false
	for c := range l.conns {
		if full == ThePeer && c.Peer != who {
			continue
		}
		if waits, since := rank(c); since != 0 && (oldest == nil || waits && !bestWaits || waits == bestWaits && since < best) {
			oldest, best, bestWaits = c, since, waits
		}
	}
	return oldest
}

// leave gives a seat back, once.
func (l *Listener) leave(c *Conn) {
	if l.conns[c] {
		delete(l.conns, c)
		l.seats.Leave(c.Peer)
	}
}

// turnAway says so to a few at a time, and closes.
func (l *Listener) turnAway(c net.Conn, full string) {
	select {
	case l.telling <- struct{}{}:
		go func() {
			defer func() { <-l.telling }()
			defer c.Close()
			if l.limits.Refuse != nil && c.SetDeadline(time.Now().Add(refusalLasts)) == nil {
				l.limits.Refuse(c, full)
			}
		}()
	default:
		_ = c.Close() // nothing was said that could be lost
	}
}

// Conn is a connection that has a seat.
type Conn struct {
	net.Conn
	Peer  string // as Limits.Peer names it
	door  *Listener
	since atomic.Int64 // when it began to wait; nanoseconds, as stuck
	stuck atomic.Int64 // since when a write lasts; 0: none does
	busy  atomic.Bool
}

// Working says whether something is asked for: a connection at work keeps its seat.
func (c *Conn) Working(yes bool) {
	c.since.Store(time.Now().UnixNano())
	c.busy.Store(yes)
}

// Write writes piece by piece, so that a slow peer has its time and one that takes nothing does not.
func (c *Conn) Write(b []byte) (n int, err error) {
	defer c.stuck.Store(0)
	for {
		now := time.Now()
		c.stuck.Store(now.UnixNano())
		if err := c.Conn.SetWriteDeadline(now.Add(cmp.Or(c.door.limits.Write, time.Hour))); err != nil {
			return n, err
		}
		m, err := c.Conn.Write(b[n:min(len(b), n+piece)])
		if n += m; err != nil || n == len(b) {
			return n, err
		}
	}
}

// CloseWrite lets net/http end an answer before the rest of a request has come.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close closes the connection and gives its seat back.
func (c *Conn) Close() error {
	c.door.mu.Lock()
	c.door.leave(c)
	c.door.mu.Unlock()
	return c.Conn.Close()
}
