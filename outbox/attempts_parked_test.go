package outbox_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

func TestTicketIsParkedAfterFiveAmbiguousAttempts(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
		put(t, b, "tickets", "lost answer") // no other: nobody knows whether it is the record or the way
		tries := 0
		s := &outboxtest.Service{Fault: func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			if batch[0].Attempt != tries {
				t.Errorf("attempt %d is told as %d", tries, batch[0].Attempt)
			}
			tries++
			return answer(outbox.Ambiguous, 0), false, tries <= 7
		}}
		stop := running(t, b, "tickets", s)
		wait(time.Hour)
		if tries != 5 || n.count(outbox.NoteParked) != 1 || counts(t, b, "tickets").Delivered != 0 {
			t.Errorf("%d tries, %d notes, %+v", tries, n.count(outbox.NoteParked), counts(t, b, "tickets"))
		}
		e, err := b.Entry("tickets", 1)
		if err != nil || e.State != outbox.Waiting || e.Parked.IsZero() {
			t.Errorf("the parked ticket is %+v, %v", e, err)
		}
		if done, err := b.Retry("tickets", 1); done != 1 || err != nil {
			t.Errorf("retry: %d, %v", done, err)
		}
		wait(time.Hour)
		if tries != 8 || counts(t, b, "tickets").Delivered != 1 {
			t.Errorf("after retry: %d tries, %+v", tries, counts(t, b, "tickets"))
		}
		stop()
	})
}

func TestParkedTicketGoesAgainAfterADay(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "tickets", "lost answer")
		var tries atomic.Int32
		s := &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
			return answer(outbox.Ambiguous, 0), false, tries.Add(1) <= 5
		}}
		stop := running(t, b, "tickets", s)
		wait(23 * time.Hour)
		if got := tries.Load(); got != 5 {
			t.Errorf("%d tries within the day", got)
		}
		wait(2 * time.Hour)
		stop()
		if counts(t, b, "tickets").Delivered != 1 {
			t.Errorf("after a day: %+v", counts(t, b, "tickets"))
		}
	})
}

func TestAttemptThatWasCutOffIsKnownAfterTheRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := boxPath(t)
		b := open(t, path, outbox.Options{})
		put(t, b, "tickets", "a", "b")
		ctx, cancel := context.WithCancel(t.Context())
		cut := &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
			cancel()
			return answer(outbox.Ambiguous, 0), false, true
		}}
		if err := b.Drain(ctx, "tickets", cut); err != nil {
			t.Fatal(err)
		}
		shut(t, b)
		b = open(t, path, outbox.Options{})
		var attempts []int
		stop := running(t, b, "tickets", &outboxtest.Service{Fault: func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			attempts = append(attempts, batch[0].Attempt)
			return outbox.Answer{}, false, false
		}})
		wait(time.Minute)
		stop()
		if !slices.Equal(attempts, []int{1, 0}) {
			t.Errorf("attempts told after the restart were %v", attempts)
		}
		shut(t, b)
	})
}

// The service is away for two days while a record comes every minute; then it is back, and now and then an answer is
// lost. Everything arrives, and only what was ambiguous arrives twice.
func TestTwoDaysOutage(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
		rng := rand.New(rand.NewPCG(7, 7))
		start := time.Now()
		lost := 0
		s := &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
			if since := time.Since(start); since > time.Hour && since < 49*time.Hour {
				return answer(outbox.Wait, 0), false, true
			}
			if rng.IntN(20) == 0 {
				lost++
				return answer(outbox.Ambiguous, 0), true, true
			}
			return outbox.Answer{}, false, false
		}}
		stops := []func(){running(t, b, "tickets", s), running(t, b, "events", s), running(t, b, "tags", s)}
		const minutes = 50 * 60
		for i := range minutes {
			put(t, b, "tags", fmt.Sprint(i))
			if i%60 == 0 {
				put(t, b, "tickets", fmt.Sprint(i))
				put(t, b, "events", fmt.Sprint(i))
			}
			<-time.After(time.Minute)
		}
		wait(3 * 24 * time.Hour) // a ticket whose answers were lost one after the other waits for a day
		for _, stop := range stops {
			stop()
		}
		for stream, want := range map[string]uint64{"tags": minutes, "tickets": 50, "events": 50} {
			if c := counts(t, b, stream); c.Delivered != want || c.Accepted != want {
				t.Errorf("%s: %+v, want %d", stream, c, want)
			}
			for seq := range want {
				if s.Times(stream, seq+1) == 0 {
					t.Fatalf("%s: record %d never arrived", stream, seq+1)
				}
			}
		}
		if s.Doubled() > lost*100 || lost == 0 {
			t.Errorf("%d doubled after %d lost answers", s.Doubled(), lost)
		}
		if n.count(outbox.NoteStalled) != 3 || n.count(outbox.NoteResumed) != 3 {
			t.Errorf("%d stalls, %d ends", n.count(outbox.NoteStalled), n.count(outbox.NoteResumed))
		}
	})
}

// A ticket is parked by a clock that is five days ahead, and the clock is set right while the program is down: it waits
// for a day at most.
func TestParkedByAClockThatWasAhead(t *testing.T) {
	path := boxPath(t)
	synctest.Test(t, func(t *testing.T) {
		wait(5 * 24 * time.Hour)
		b := open(t, path, outbox.Options{})
		put(t, b, "tickets", "lost answer")
		stop := running(t, b, "tickets", &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
			return answer(outbox.Ambiguous, 0), false, true
		}})
		wait(time.Hour)
		stop()
		if e, err := b.Entry("tickets", 1); err != nil || e.Parked.IsZero() {
			t.Fatalf("%+v is not parked (%v)", e, err)
		}
		shut(t, b)
	})
	synctest.Test(t, func(t *testing.T) { // another bubble begins where the first one began
		b := open(t, path, outbox.Options{})
		stop := running(t, b, "tickets", &outboxtest.Service{})
		wait(24*time.Hour + time.Minute)
		stop()
		if n := counts(t, b, "tickets").Delivered; n != 1 {
			t.Errorf("%d delivered a day after the clock was set right, want 1", n)
		}
		shut(t, b)
	})
}
