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

// A proxy is down for three minutes and closes each connection after it has read the request. The ticket is not parked by that, it
// is sent a few times only, and what happened stays known: with the record while it waits, over a restart, and in its receipt.
func TestAProxysRestartParksNoTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, n := boxPath(t), &notes{}
		b := open(t, path, outbox.Options{Notify: n.add})
		put(t, b, "tickets", "lost answer")
		begin := time.Now()
		var times []time.Duration
		s := &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
			if since := time.Since(begin); since < 3*time.Minute {
				times = append(times, since)
				return outbox.Answer{Class: outbox.Ambiguous, Message: "EOF; the service may have it"}, false, true
			}
			return outbox.Answer{}, false, false
		}}
		stop := running(t, b, "tickets", s)
		wait(40 * time.Second)
		stop()
		shut(t, b)
		b = open(t, path, outbox.Options{Notify: n.add})
		e, err := b.Entry("tickets", 1)
		want := outbox.Unclear{Count: len(times), First: begin.Round(0), Last: begin.Add(times[len(times)-1]).Round(0), Seen: "EOF; the service may have it"}
		if err != nil || len(times) < 2 || e.Unclear.Count != want.Count || !e.Unclear.First.Equal(want.First) || !e.Unclear.Last.Equal(want.Last) || e.Unclear.Seen != want.Seen {
			t.Errorf("while it waits %+v, %v; want %+v", e.Unclear, err, want)
		}
		stop = running(t, b, "tickets", s)
		wait(30 * time.Minute)
		stop()
		if counts(t, b, "tickets").Delivered != 1 || n.count(outbox.NoteParked) != 0 || len(times) > 4 {
			t.Errorf("%+v after %v, parked %d times", counts(t, b, "tickets"), times, n.count(outbox.NoteParked))
		}
		if e, err := b.Entry("tickets", 1); err != nil || e.State != outbox.Delivered || e.Unclear.Count < len(times) {
			t.Errorf("its receipt is %+v, %v, after %d sends without an answer", e, err, len(times))
		}
		shut(t, b)
	})
}

// The program is killed again and again while the answer to a ticket is awaited. Each of those sends counts, wherever it is counted;
// the waits between them are those of a program that runs on, and the fifth parks the ticket.
func TestKillsWhileATicketIsSentCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := boxPath(t)
		var times []time.Time
		for kills := 0; ; kills++ {
			b := open(t, path, outbox.Options{})
			if kills == 0 {
				put(t, b, "tickets", "cut off")
			}
			e, err := b.Entry("tickets", 1)
			if err != nil || e.Unclear.Count != kills || e.Record.Attempt != kills {
				t.Fatalf("after %d kills %d unclear sends and %d attempts are shown, %v", kills, e.Unclear.Count, e.Record.Attempt, err)
			}
			if kills == 5 {
				if s := b.DrainStatus("tickets"); s.Parked != 1 || e.Parked.IsZero() {
					t.Errorf("after five it stands %+v", s)
				}
				shut(t, b)
				break
			}
			ctx, kill := context.WithCancel(t.Context())
			if err := b.Drain(ctx, "tickets", &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
				times = append(times, time.Now())
				kill()
				return answer(outbox.Ambiguous, 0), true, true
			}}); err != nil {
				t.Fatal(err)
			}
			kill()
			shut(t, b)
		}
		for i, least := range []time.Duration{7 * time.Second, 22 * time.Second, 67 * time.Second, 202 * time.Second} {
			if waited := times[i+1].Sub(times[i]); waited < least || waited > 4*least {
				t.Errorf("it was sent again after %s, want %s at least and not four times that", waited, least)
			}
		}
	})
}

// The service was out of reach or answered clearly before the restart: that is no send without a clear answer.
func TestAClearAnswerIsNoneThatIsUnknownAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := boxPath(t)
		b := open(t, path, outbox.Options{})
		put(t, b, "tickets", "a", "b")
		for _, class := range []outbox.Class{outbox.Wait, outbox.Path, outbox.Key} {
			stop := running(t, b, "tickets", &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
				return answer(class, 503), false, true
			}})
			wait(5 * time.Second)
			stop()
			shut(t, b)
			b = open(t, path, outbox.Options{})
			if e, err := b.Entry("tickets", 1); err != nil || e.Unclear.Count+e.Record.Attempt != 0 || e.NeverSent {
				t.Errorf("%s: %+v, %v", class, e, err)
			}
		}
		shut(t, b)
	})
}
