// Package link spares a metered or slow link: requests leave at a rate, within so many bytes a day, and the less urgent
// ones only at certain times of the day. It knows of a stream only its name and its class.
//
// Everything that crosses the link is counted (Meter); held back is only who asks (Wait).
//
// # Decisions
//
// There is one bucket of four tokens, of which the most urgent in line takes the next, so that a ticket passes any backlog. The day's
// bytes are counted under TLS on the socket, with TCP's and IP's headers. Tickets leave even when all is spent, since a missing
// ticket costs more than an overrun. Windows hold tag values and targets only. A later date begins a new count, an earlier one
// keeps it, for 25 hours at most: no clock locks sending.
package link

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Class says how urgent the requests of a stream are. Where several wait for the rate, the lower class goes first.
type Class uint8

// The classes. What holds one back holds back those behind it too.
const (
	// Must is for run tickets, which cost more when they are late than any link. No window holds them, and the day's bytes only
	// once they are all spent; even then a request leaves every quarter of an hour.
	Must Class = iota
	// Soon is for events and memos, for which somebody waits. No window holds them; the last twentieth of the day's bytes is not theirs.
	Soon
	// Later leaves inside the windows, and until nine tenths of the day's bytes are used.
	Later
	// Bulk leaves inside the windows, and until four fifths of the day's bytes are used.
	Bulk
)

// shares of the day's bytes, used by whomever, after which a class waits for the next day.
var shares = [...]float64{Must: 1, Soon: 0.95, Later: 0.9, Bulk: 0.8}

const (
	// burst requests may leave at once before the rate holds them back.
	burst = 4
	// spread is the longest wait with which a backlog begins to leave after a boot: when the power comes back to a field,
	// a hundred sites must not call at once. After an outage of the link the waits of the drains differ by more than that.
	spread = time.Minute
	// overdraft is the time between two requests of the class Must when the day's bytes are spent: a service that is out of
	// order and refuses each attempt must not run up the bill.
	overdraft = 15 * time.Minute
	// look: whatever is held looks at the clock again, since that may be set.
	look = time.Minute
)

// Options say what the link can bear. The zero value holds nothing back.
type Options struct {
	Every     time.Duration    // between two requests in the long run; 0: no rate
	MaxBytes  int64            // a day, both ways; 0: no limit
	Windows   []Window         // when Later and Bulk leave; none: at any time
	Zone      *time.Location   // of the windows, and of the midnight at which a day begins; nil: UTC
	NotBefore time.Time        // a clock before that is not set, and shuts no window
	Streams   map[string]Class // a stream without a class is Bulk
}

// Link is one site's link. Its methods may be called from any goroutine.
type Link struct {
	o Options

	mu      sync.Mutex
	next    time.Time // when the request after the burst may leave
	hold    time.Time // a backlog waits until then, after the first request
	first   bool      // a request has left
	line    [len(shares)]int
	drafted time.Time // when the last request left although the day's bytes were spent
	day     day
}

// New is a link on which nothing was sent yet; Resume takes up what an earlier run has counted.
func New(o Options) *Link {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	now := time.Now()
	return &Link{o: o, day: day{began: now, keptAt: now}}
}

// Backlog is told how many records waited when the program began.
func (l *Link) Backlog(waiting uint64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if waiting > burst {
		l.hold = now.Add(rand.N(spread))
	}
}

// Wait returns when the next request of a stream may leave, or with the error of ctx.
func (l *Link) Wait(ctx context.Context, stream string) error {
	c := l.class(stream)
	for {
		d := l.ask(c, time.Now())
		if d == 0 {
			return ctx.Err()
		}
		timer := time.NewTimer(min(d, look))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		l.leave(c)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func (l *Link) class(stream string) Class {
	if c, known := l.o.Streams[stream]; known {
		return c
	}
	return Bulk
}

// ask takes the next free place, or says how far away it may be; the class stands in line until leave then.
func (l *Link) ask(c Class, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, _ := l.heldFor(c, now)
	if d == 0 {
		d = l.tokenIn(c, now)
	}
	if d > 0 {
		l.line[c]++
	}
	return d
}

func (l *Link) leave(c Class) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line[c]--
}

// tokenIn is the rate: a bucket of tokens, of which the most urgent in line has the next. The lock is held.
func (l *Link) tokenIn(c Class, now time.Time) time.Duration {
	if l.o.Every > 0 {
		if l.first && now.Before(l.hold) {
			return l.hold.Sub(now)
		}
		if earliest := now.Add(-burst * l.o.Every); l.next.Before(earliest) {
			l.next = earliest
		}
		after := l.next.Add(l.o.Every)
		if after.After(now) {
			return after.Sub(now)
		}
		for _, waiting := range l.line[:c] {
			if waiting > 0 {
				return l.o.Every
			}
		}
		l.next = after
	}
	l.first = true
	if c == Must && l.spent(c, now) {
		l.drafted = now
	}
	return 0
}
