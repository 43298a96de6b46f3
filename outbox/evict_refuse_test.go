package outbox_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

func poisoned(_ string, r outbox.Record) bool { return strings.HasPrefix(string(r.Body), "bad") }

// mixed returns n bodies, bad at the given places.
func mixed(n int, bad ...int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("good %d", i)
	}
	for _, i := range bad {
		all[i] = fmt.Sprintf("bad %d", i)
	}
	return all
}

// One poison record at every place of a batch: it alone becomes a dead letter, and finding it is cheap.
func TestOnePoisonRecordAtEveryPlace(t *testing.T) {
	const n = 20
	for place := range n {
		bubble(t, func(t *testing.T, b *outbox.Box, notes *notes) {
			put(t, b, "events", mixed(n, place)...)
			s := &outboxtest.Service{Refuse: poisoned}
			stop := running(t, b, "events", s)
			wait(time.Minute)
			stop()
			if c := counts(t, b, "events"); c.Delivered != n-1 || c.Dead != 1 {
				t.Fatalf("place %d: %+v", place, c)
			}
			e, err := b.Entry("events", uint64(place+1))
			if err != nil {
				t.Fatal(err)
			}
			if e.Class != outbox.Poison || e.Status != 400 || e.CorrelationID != "corr-400" {
				t.Errorf("the answer in the dead letter is %v, %d, %q", e.Class, e.Status, e.CorrelationID)
			}
			if e.State != outbox.Dead || !strings.Contains(e.Reason, "invalid request") || string(e.Record.Body) != fmt.Sprintf("bad %d", place) {
				t.Errorf("dead letter is %+v", e)
			}
			if most := 1 + 2*int(math.Ceil(math.Log2(n))+1); s.Requests() > most {
				t.Errorf("place %d: %d requests, at most %d", place, s.Requests(), most)
			}
			if notes.count(outbox.NoteDeadLetter) != 1 || notes.count(outbox.NotePaused) != 0 {
				t.Errorf("place %d: %d notes, %d pauses", place, notes.count(outbox.NoteDeadLetter), notes.count(outbox.NotePaused))
			}
		})
	}
}

// Up to ten poison records anywhere in batches of up to 500, good ones behind them: exactly they become dead letters.
func TestPoisonRecordsAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		n, k := 1+rng.IntN(500), rng.IntN(11)
		bad := map[int]bool{}
		for range min(k, n) {
			bad[rng.IntN(n)] = true
		}
		k = len(bad)
		synctest.Test(t, func(t *testing.T) {
			b := open(t, boxPath(t), outbox.Options{Streams: []outbox.Stream{{Name: "events", Batch: n}}})
			defer shut(t, b)
			put(t, b, "events", mixed(n, slices.Collect(maps.Keys(bad))...)...)
			s := &outboxtest.Service{Refuse: poisoned}
			stop := running(t, b, "events", s)
			for range 4 { // good ones behind, as time goes on
				wait(time.Hour)
				put(t, b, "events", "good after")
			}
			wait(time.Hour)
			stop()
			c := counts(t, b, "events")
			if c.Delivered != uint64(n-k+4) || c.Dead != uint64(k) {
				t.Fatalf("%d of %d are bad (%v): %+v", k, n, bad, c)
			}
			for i := range bad {
				if e, err := b.Entry("events", uint64(i+1)); err != nil || e.State != outbox.Dead {
					t.Errorf("record %d is %v, %v", i+1, e.State, err)
				}
			}
			if s.Doubled() != 0 {
				t.Errorf("%d records were stored twice", s.Doubled())
			}
		})
	}
}

// The interface refuses everything for a day: nothing is given up, few requests are made, one note is told; then it
// works again, and everything arrives.
func TestRefusingEverythingCostsNothing(t *testing.T) {
	for _, stream := range []string{"tickets", "events", "tags"} {
		for _, n := range []int{1, 2, 3, 4, 10, 120} {
			bubble(t, func(t *testing.T, b *outbox.Box, notes *notes) {
				put(t, b, stream, mixed(n)...)
				var mended atomic.Bool
				s := &outboxtest.Service{Refuse: func(string, outbox.Record) bool { return !mended.Load() }}
				stop := running(t, b, stream, s)
				wait(24 * time.Hour)
				if c := counts(t, b, stream); c.Waiting != uint64(n) || s.Requests() > 700 {
					t.Errorf("%s of %d: after %d requests %+v", stream, n, s.Requests(), c)
				}
				if notes.count(outbox.NotePaused) != 1 {
					t.Errorf("%s of %d: %d notes", stream, n, notes.count(outbox.NotePaused))
				}
				mended.Store(true)
				wait(time.Hour)
				stop()
				if c := counts(t, b, stream); c.Delivered != uint64(n) || c.Dead != 0 {
					t.Errorf("%s of %d: afterwards %+v", stream, n, c)
				}
				if s.Doubled() != 0 || notes.count(outbox.NoteResumed) != 1 {
					t.Errorf("%s of %d: %d doubled, %d ends", stream, n, s.Doubled(), notes.count(outbox.NoteResumed))
				}
			})
		}
	}
}

// A poison ticket, one to a request: the next ticket that is taken shows that it is the ticket, not the interface.
func TestPoisonTicketWaitsForAGoodOne(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "tickets", "bad 1")
		s := &outboxtest.Service{Refuse: poisoned}
		stop := running(t, b, "tickets", s)
		wait(24 * time.Hour)
		if c := counts(t, b, "tickets"); c.Waiting != 1 {
			t.Errorf("alone: %+v", c)
		}
		put(t, b, "tickets", "good", "bad 2", "good 2")
		wait(time.Hour)
		stop()
		if c := counts(t, b, "tickets"); c.Delivered != 2 || c.Dead != 2 {
			t.Errorf("with others: %+v", c)
		}
	})
}

// Many poison records in a row before a good one: never more than ten dead letters without a success between.
func TestNeverMoreThanTenInARow(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
		all := append(slices.Repeat([]string{"bad"}, 40), slices.Repeat([]string{"good"}, 20)...)
		put(t, b, "tickets", all...)
		stored, deadAtSuccess := 0, 0
		s := &outboxtest.Service{Refuse: poisoned, Fault: func(_ int, _ string, batch []outbox.Record) (a outbox.Answer, x, y bool) {
			dead := n.count(outbox.NoteDeadLetter)
			if dead-deadAtSuccess > 10 {
				t.Errorf("%d dead letters since the last success", dead-deadAtSuccess)
			}
			if !poisoned("", batch[0]) {
				stored, deadAtSuccess = stored+1, dead
			}
			return a, false, false
		}}
		stop := running(t, b, "tickets", s)
		wait(14 * 24 * time.Hour)
		stop()
		if c := counts(t, b, "tickets"); c.Delivered != 20 || c.Dead+c.Waiting != 40 || c.Dead < 30 {
			t.Errorf("after two weeks: %+v", c)
		}
	})
}

// A version that made nothing but bad records for a while is mended: the good ones behind hundreds of bad ones are there
// within the day, and the bad ones are dead letters.
func TestGoodRecordsBehindManyBadOnes(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
		all := append(slices.Repeat([]string{"bad"}, 300), slices.Repeat([]string{"good"}, 60)...)
		put(t, b, "events", all...)
		s := &outboxtest.Service{Refuse: poisoned}
		stop := running(t, b, "events", s)
		wait(24 * time.Hour)
		stop()
		if c := counts(t, b, "events"); c.Delivered != 60 || c.Dead < 250 {
			t.Errorf("after a day and %d requests: %+v", s.Requests(), c)
		}
	})
}

// While one record of a batch is told apart by the service itself, the others count as delivered.
func TestMixedReceipts(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "events", mixed(10, 3, 8)...)
		stop := running(t, b, "events", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			receipts := make([]outbox.Answer, len(batch))
			for i, r := range batch {
				receipts[i] = outbox.Answer{Class: outbox.Stored, Status: 200}
				if poisoned("", r) {
					receipts[i] = outbox.Answer{Class: outbox.Poison, Status: 400}
				}
			}
			return receipts
		}))
		wait(time.Minute)
		stop()
		if c := counts(t, b, "events"); c.Delivered != 8 || c.Dead != 2 {
			t.Errorf("counts are %+v", c)
		}
	})
}

func TestRetryAndDropOfDeadLetters(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "events", mixed(10, 2, 4, 6)...)
		var fixed atomic.Bool
		s := &outboxtest.Service{Refuse: func(stream string, r outbox.Record) bool { return !fixed.Load() && poisoned(stream, r) }}
		stop := running(t, b, "events", s)
		wait(time.Hour)
		if n, err := b.Drop("events", "asked by pumper", 3, 99); n != 1 || err == nil || !strings.Contains(err.Error(), "99") {
			t.Errorf("drop: %d, %v", n, err)
		}
		if e, err := b.Entry("events", 3); err != nil || e.State != outbox.Dropped || e.Label != "asked by pumper" {
			t.Errorf("the dropped one is %+v, %v", e, err)
		}
		fixed.Store(true)
		if n, err := b.Retry("events"); n != 2 || err != nil {
			t.Errorf("retry of all: %d, %v", n, err)
		}
		wait(time.Hour)
		stop()
		if c := counts(t, b, "events"); c != (outbox.Counts{Accepted: 10, Delivered: 9, Dropped: 1}) {
			t.Errorf("counts are %+v", c)
		}
		if n, err := b.Retry("events", 5); n != 0 || err == nil {
			t.Errorf("retry of a delivered one: %d, %v", n, err)
		}
	})
}
