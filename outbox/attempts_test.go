package outbox_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// Attempts without a clear answer are counted over a restart: the fifth parks the ticket, whenever the program began. What is
// parked stays so over another restart, for a day, and costs nothing meanwhile.
func TestAttemptsAreKeptOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, n, asked := boxPath(t), &notes{}, 0
		var b *outbox.Box
		shown := -1
		o := outbox.Options{
			Pace: func(context.Context, string) error { asked++; return nil },
			Notify: func(x outbox.Note) {
				if n.add(x); x.Kind == outbox.NoteParked {
					shown = b.DrainStatus("tickets").Parked
				}
			}}
		var tries atomic.Int64
		s := &outboxtest.Service{Fault: func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			if now := int(tries.Add(1)); batch[0].Attempt < now-1 {
				t.Errorf("attempt %d is told as %d", now, batch[0].Attempt)
			}
			return answer(outbox.Ambiguous, 0), false, true
		}}
		run := func(step time.Duration, until func() bool) {
			b = open(t, path, o)
			stop := running(t, b, "tickets", s)
			for !until() {
				wait(step)
			}
			stop()
			shut(t, b)
		}
		b = open(t, path, o)
		put(t, b, "tickets", "lost answer")
		shut(t, b)
		run(100*time.Millisecond, func() bool { return tries.Load() == 3 })
		begin := time.Now()
		run(100*time.Millisecond, func() bool { return n.count(outbox.NoteParked) == 1 })
		if tries.Load() != 5 || shown != 1 || n.of(outbox.NoteParked).Count != 5 {
			t.Errorf("after %d attempts %d parked are shown, told %+v", tries.Load(), shown, n.of(outbox.NoteParked))
		}
		before := asked
		run(time.Minute, func() bool {
			s := b.DrainStatus("tickets")
			if s.Parked != 1 || s.Activity != outbox.Idle && s.Activity != outbox.Stopped {
				t.Fatalf("it stands %+v", s)
			}
			return time.Since(begin) > 20*time.Hour
		})
		if tries.Load() != 5 || asked > before+1 {
			t.Errorf("after %d attempts the pace was asked %d times for nothing", tries.Load(), asked-before)
		}
		run(time.Minute, func() bool { return time.Since(begin) > 25*time.Hour })
		if tries.Load() < 6 {
			t.Errorf("%d attempts after a day", tries.Load())
		}
	})
}
