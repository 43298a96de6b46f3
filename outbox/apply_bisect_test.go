package outbox_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// events is a stream without addresses, and a service that takes no request in which one record is about something that
// it does not know.
func events(t *testing.T, n *notes, all func() bool, said outbox.Answer) (*outbox.Box, *outboxtest.Service) {
	t.Helper()
	b := open(t, boxPath(t), outbox.Options{Notify: n.add, MaxBytes: 8 << 20, Streams: []outbox.Stream{{Name: "events", Batch: 50}}})
	return b, &outboxtest.Service{Fault: func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
		refused := all()
		for _, r := range batch {
			refused = refused || strings.HasPrefix(string(r.Body), "unknown")
		}
		return said, false, refused
	}}
}

// An event of an object that the service does not know holds up no other, though they go together: it waits by itself.
func TestAnUnknownObjectHoldsUpNoOther(t *testing.T) {
	for _, said := range []outbox.Answer{answer(outbox.Path, 404), answer(outbox.Key, 403)} {
		for _, unknown := range [][]int{{0}, {17}, {99}, {0, 1, 2}, {3, 40, 41, 77}} {
			synctest.Test(t, func(t *testing.T) {
				n := &notes{}
				b, s := events(t, n, func() bool { return false }, said)
				var bodies []string
				for i := range 100 {
					bodies = append(bodies, fmt.Sprintf("known %d", i))
				}
				for _, i := range unknown {
					bodies[i] = fmt.Sprintf("unknown %d", i)
				}
				put(t, b, "events", bodies...)
				stop := running(t, b, "events", s)
				wait(2 * time.Minute)
				c := counts(t, b, "events")
				if c.Delivered != uint64(100-len(unknown)) || c.Dead != 0 {
					t.Errorf("%v, %v: %+v", said.Class, unknown, c)
				}
				if s.Requests() > 10+20*len(unknown) {
					t.Errorf("%v, %v: %d requests", said.Class, unknown, s.Requests())
				}
				wait(24 * time.Hour)
				if apart := b.DrainStatus("events").Isolated; len(apart) != len(unknown) || n.count(outbox.NoteIsolated) != len(unknown) {
					t.Errorf("%v, %v: %d wait by themselves, told %d times", said.Class, unknown, len(apart), n.count(outbox.NoteIsolated))
				}
				stop()
				shut(t, b)
			})
		}
	}
}

// While no request is taken, halves are no help: a day costs no more requests than any outage, and all arrives afterwards.
func TestAnOutageIsNotDivided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		down := true
		b, s := events(t, &notes{}, func() bool { mu.Lock(); defer mu.Unlock(); return down }, answer(outbox.Path, 404))
		for i := range 120 {
			put(t, b, "events", fmt.Sprintf("known %d", i))
		}
		stop := running(t, b, "events", s)
		wait(24 * time.Hour)
		if s.Requests() > 400 {
			t.Errorf("%d requests in a day in which nothing is taken", s.Requests())
		}
		mu.Lock()
		down = false
		mu.Unlock()
		wait(time.Hour)
		stop()
		if c := counts(t, b, "events"); c.Delivered != 120 {
			t.Errorf("afterwards %+v", c)
		}
		shut(t, b)
	})
}

// What was known to wait by itself is known again after a restart, though nothing else is there to compare it with: records
// behind it were taken before.
func TestWhatWaitsByItselfIsKnownAfterARestart(t *testing.T) {
	for _, said := range []outbox.Answer{answer(outbox.Path, 404), answer(outbox.Key, 403)} {
		for _, stream := range []string{"memos", "tickets"} {
			synctest.Test(t, func(t *testing.T) {
				path, n := boxPath(t), &notes{}
				b := letters(t, path, n)
				k := newDesk(said, "lost", "for lost")
				to := map[string][]string{"memos": {"lost", "one"}}[stream]
				if to == nil {
					put(t, b, stream, "for lost", "for one")
				} else {
					post(t, b, stream, to...)
				}
				stop := running(t, b, stream, k)
				wait(10 * time.Second)
				stop()
				shut(t, b)
				b = letters(t, path, n)
				stop = running(t, b, stream, k)
				wait(10 * time.Second)
				if s := b.DrainStatus(stream); len(s.Isolated) != 1 || !s.Troubled.IsZero() {
					t.Errorf("%s, %v: it stands %+v", stream, said.Class, s)
				}
				stop()
				shut(t, b)
			})
		}
	}
}

// Nothing of a batch is taken, whole or in parts: after six halvings one record goes by itself, and no larger part any more.
func TestHowOftenABatchIsHalved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, boxPath(t), outbox.Options{Streams: []outbox.Stream{{Name: "events", Batch: 128}}})
		put(t, b, "events", slices.Repeat([]string{"x"}, 128)...)
		var sizes []int
		stop := running(t, b, "events", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			sizes = append(sizes, len(batch))
			return slices.Repeat([]outbox.Answer{answer(outbox.Path, 404)}, len(batch))
		}))
		wait(2 * time.Hour)
		stop()
		want := []int{128, 64, 32, 16, 8, 4, 2}
		if len(sizes) < 10 || !slices.Equal(sizes[:7], want) || slices.Max(sizes[7:]) != 1 {
			t.Errorf("requests of %v, want %v and then of one", sizes, want)
		}
		shut(t, b)
	})
}
