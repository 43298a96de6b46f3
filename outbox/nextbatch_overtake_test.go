package outbox_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// lined is a pace of one request a second for all streams together, first come, first served.
type lined struct {
	mu   sync.Mutex
	next time.Time
}

func (l *lined) wait(ctx context.Context, _ string) error {
	l.mu.Lock()
	now := time.Now()
	if l.next.Before(now) {
		l.next = now
	}
	d := l.next.Sub(now)
	l.next = l.next.Add(time.Second)
	l.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// A link that is slow has a backlog of tag values, and the service does not know the events' path: a fresh ticket is
// there within two requests, and the events hold nothing up.
func TestAFreshTicketOvertakesABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace := &lined{}
		b := open(t, boxPath(t), outbox.Options{Pace: pace.wait})
		defer shut(t, b)
		var mu sync.Mutex
		var order []string
		s := &outboxtest.Service{Fault: func(_ int, stream string, _ []outbox.Record) (outbox.Answer, bool, bool) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, stream)
			return answer(outbox.Path, 404), false, stream == "events"
		}}
		put(t, b, "tags", mixed(5000)...)
		put(t, b, "events", mixed(60)...)
		for _, stream := range []string{"tickets", "events", "tags"} {
			defer running(t, b, stream, s)()
		}
		wait(20*time.Second + 500*time.Millisecond)
		for range 20 {
			mu.Lock()
			before := len(order)
			mu.Unlock()
			put(t, b, "tickets", "fresh")
			wait(3 * time.Second)
			mu.Lock()
			late := 0
			for late < len(order)-before && order[before+late] != "tickets" {
				late++
			}
			mu.Unlock()
			if late > 2 {
				t.Errorf("%d requests went before a fresh ticket", late)
			}
		}
		if c := counts(t, b, "tickets"); c.Delivered != 20 {
			t.Errorf("tickets: %+v", c)
		}
		if c := counts(t, b, "events"); c.Waiting != 60 || c.Dead != 0 {
			t.Errorf("events whose path nobody knows: %+v", c)
		}
	})
}
