package mqtt

import (
	"encoding/binary"
	"fmt"
	"time"
)

const (
	// keepAlive and pingTimeout find a dead link, and grace after them it is told of. On a cellular link, shorter intervals cost money.
	keepAlive   = 30 * time.Second
	announced   = keepAlive + 5*time.Second // to the broker: no ping is to come later, however late the timer
	pingTimeout = 15 * time.Second
)

var errSilent = fmt.Errorf("it has not answered for %s; the link swallows what is sent, or the broker hangs", pingTimeout)

// life is what is known of a connection's. The packetConn's lock guards it.
type life struct {
	heardAt time.Time // when the latest packet came
	sentAt  time.Time // when something was last sent
	pinged  time.Time // when the broker was asked for a sign; zero: something has come since
	timer   *time.Timer
}

// announceKeepAlive writes into the packet that asks for the connection how long we shall be silent at most. The client is told
// that it is forever, so that it sends no pings of its own.
func announceKeepAlive(connect []byte) {
	at := 1
	for at < len(connect) && connect[at]&0x80 != 0 {
		at++
	}
	at += 1 + len("\x00\x04MQTT") + 2 // level and flags
	if at+2 <= len(connect) {
		binary.BigEndian.PutUint16(connect[at:], uint16(announced/time.Second))
	}
}

// notePacket notes that the broker is there.
func (g *packetConn) notePacket(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.life.heardAt, g.life.pinged = now, time.Time{}
}

func (g *packetConn) noteSent() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.life.sentAt = time.Now()
}

// lastHeard is the arrival of the latest packet.
func (g *packetConn) lastHeard() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.life.heardAt
}

// stayAlive looks after the connection from now on, until it is closed.
func (g *packetConn) stayAlive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.life.timer = time.AfterFunc(keepAlive, g.lookAfter)
}

// lookAfter asks the broker for a sign when nothing was sent or nothing has come for a while, and ends the connection without one.
func (g *packetConn) lookAfter() {
	select {
	case <-g.closed:
		return
	default:
	}
	if g.asksForSign(time.Now()) {
		if _, err := g.Write([]byte{pingreqPacket << 4, 0}); err != nil {
			g.end(fmt.Errorf("ask for a sign: %w", err))
			return
		}
	}
	if g.silentUntilNow(time.Now()) {
		g.end(errSilent)
	}
}

func (g *packetConn) asksForSign(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &g.life
	ask := l.pinged.IsZero() && (now.Sub(l.heardAt) >= keepAlive || now.Sub(l.sentAt) >= keepAlive)
	if ask {
		l.pinged = now
	}
	return ask
}

// silentUntilNow says that the sign has not come; else it lets the timer run until the next look is worth it.
func (g *packetConn) silentUntilNow(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &g.life
	left := keepAlive - max(now.Sub(l.heardAt), now.Sub(l.sentAt))
	if !l.pinged.IsZero() {
		left = pingTimeout - now.Sub(l.pinged)
	}
	if left <= 0 && !l.pinged.IsZero() {
		return true
	}
	l.timer.Reset(max(left, time.Second))
	return false
}
