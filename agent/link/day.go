package link

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"time"
)

// longestDay bounds how long a count can last whatever the clock does: a local day has at most 25 hours.
const longestDay = 25 * time.Hour

// Keeping the day's count wears the flash, so that it is kept once per so much of either.
const (
	keepBytes = 64 << 10
	keepAfter = time.Hour
	keepLook  = 5 * time.Minute
)

// day counts the bytes of one local day.
type day struct {
	Date  string    `json:"date"` // local, as 2026-11-21
	Bytes int64     `json:"bytes"`
	began time.Time // when this count began to run, or the program

	kept   int64 // bytes that are kept
	keptAt time.Time
}

// turn begins a new count when the date has become a later one. One that is earlier was made by a step of the clock, and
// the bytes of the day stay spent; but no count lasts longer than the longest day. The lock is held.
func (l *Link) turn(now time.Time) {
	date := now.In(l.o.Zone).Format(time.DateOnly)
	if date > l.day.Date || now.Sub(l.day.began) >= longestDay {
		l.day = day{Date: date, began: now, keptAt: l.day.keptAt}
	}
}

// spent says that a class must not use more of the day's bytes. The lock is held.
func (l *Link) spent(c Class, now time.Time) bool {
	l.turn(now)
	return l.o.MaxBytes > 0 && float64(l.day.Bytes) >= shares[c]*float64(l.o.MaxBytes)
}

// tomorrow is the time until the next local day begins.
func (l *Link) tomorrow(now time.Time) time.Duration {
	y, m, d := now.In(l.o.Zone).Date()
	return max(time.Second, time.Date(y, m, d+1, 0, 0, 0, 0, l.o.Zone).Sub(now))
}

// Resume takes up the count that Run has kept. An error says that it cannot be read, and the count begins anew.
func (l *Link) Resume(kept []byte) error {
	if len(kept) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var d day
	if err := json.Unmarshal(kept, &d); err != nil || d.Bytes < 0 {
		return fmt.Errorf("read the bytes of the day: %q is no count", kept)
	}
	l.day.Date, l.day.Bytes, l.day.kept = d.Date, d.Bytes, d.Bytes
	l.turn(time.Now())
	return nil
}

// Run keeps the day's count with save: after every 64 KiB, else once an hour if there was anything, until ctx ends. A kill
// makes it forget no more. Where the day has no limit nothing is kept.
func (l *Link) Run(ctx context.Context, save func(count []byte)) error {
	if l.o.MaxBytes <= 0 {
		return nil
	}
	t := time.NewTicker(keepLook)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			l.keep(save, keepBytes, keepAfter)
		}
	}
}

// Keep keeps the day's count if anything crossed the link since it was kept: the last thing before the program ends.
func (l *Link) Keep(save func(count []byte)) {
	if l.o.MaxBytes > 0 {
		l.keep(save, 1, 0)
	}
}

// keep calls save when so many bytes are new, or any after a while.
func (l *Link) keep(save func(count []byte), most int64, after time.Duration) {
	l.mu.Lock()
	now := time.Now()
	l.turn(now)
	d := &l.day
	fresh := d.Bytes - d.kept
	if fresh == 0 || fresh < most && now.Sub(d.keptAt) < after {
		l.mu.Unlock()
		return
	}
	b, err := json.Marshal(d)
	d.kept, d.keptAt = d.Bytes, now
	l.mu.Unlock()
	if err == nil { // a text and a number always marshal
		save(b)
	}
}

// What TCP and IP add to the bytes of a connection: 52 bytes of headers on a packet of at most 1,400 and on the
// acknowledgement of it, and six bare packets to open and close.
const (
	packetBytes = 1400
	headerBytes = 52
	openBytes   = 6 * headerBytes
)

// Meter counts what crosses a connection: every byte that it carries, TLS with its handshakes included, and what TCP and
// IP add to them.
func (l *Link) Meter(c net.Conn) net.Conn {
	l.count(openBytes)
	return &metered{c, l}
}

type metered struct {
	net.Conn
	link *Link
}

// Read counts what arrived.
func (m *metered) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	m.link.carried(n)
	return n, err
}

// Write counts what left.
func (m *metered) Write(b []byte) (int, error) {
	n, err := m.Conn.Write(b)
	m.link.carried(n)
	return n, err
}

func (l *Link) carried(n int) {
	packets := (n + packetBytes - 1) / packetBytes
	l.count(int64(n + 2*headerBytes*packets))
}

func (l *Link) count(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(time.Now())
	l.day.Bytes += n
}
