package outbox_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// Something in between calls every request too large, however small, and whoever hears of a refused record makes another
// of it. Nothing is given up, few requests are made, and what was made of it stays little; afterwards all arrives.
func TestEverythingTooLargeCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &notes{}
		var b *outbox.Box
		var telling sync.WaitGroup
		b = open(t, boxPath(t), outbox.Options{Notify: func(x outbox.Note) {
			n.add(x)
			if x.Kind == outbox.NoteDeadLetter || x.Kind == outbox.NotePaused {
				telling.Go(func() { put(t, b, "events", "about "+x.Stream) })
			}
		}})
		var mended atomic.Bool
		s := &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
			return answer(outbox.TooLarge, 413), false, !mended.Load()
		}}
		put(t, b, "tickets", mixed(6)...)
		put(t, b, "events", mixed(60)...)
		ends := []func(){running(t, b, "tickets", s), running(t, b, "events", s)}
		wait(24 * time.Hour)
		for stream, waiting := range map[string]uint64{"tickets": 6, "events": 62} {
			if c := counts(t, b, stream); c.Dead != 0 || c.Waiting != waiting {
				t.Errorf("%s after a day: %+v", stream, c)
			}
		}
		if s.Requests() > 700 || n.count(outbox.NotePaused) != 2 {
			t.Errorf("%d requests, told %d times", s.Requests(), n.count(outbox.NotePaused))
		}
		mended.Store(true)
		wait(2 * time.Hour)
		for _, end := range ends {
			end()
		}
		telling.Wait()
		if c := counts(t, b, "events"); c.Delivered != 62 || counts(t, b, "tickets").Delivered != 6 {
			t.Errorf("afterwards %+v, tickets %+v", c, counts(t, b, "tickets"))
		}
		shut(t, b)
	})
}

// A record that is too large by itself is a dead letter once the service takes others, and not before.
func TestTooLargeByItselfWaitsForAGoodOne(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
		put(t, b, "tickets", "huge 1", "huge 2")
		s := &outboxtest.Service{Fault: func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			return answer(outbox.TooLarge, 413), false, strings.HasPrefix(string(batch[0].Body), "huge")
		}}
		stop := running(t, b, "tickets", s)
		wait(24 * time.Hour)
		if c := counts(t, b, "tickets"); c.Waiting != 2 {
			t.Errorf("with nothing to compare them with: %+v", c)
		}
		put(t, b, "tickets", "small")
		wait(time.Hour)
		stop()
		if c := counts(t, b, "tickets"); c.Delivered != 1 || c.Dead != 2 {
			t.Errorf("%+v", c)
		}
		e, err := b.Entry("tickets", 2)
		if err != nil || e.Class != outbox.TooLarge || e.Status != 413 {
			t.Errorf("%s, %v", fmt.Sprint(e), err)
		}
	})
}
