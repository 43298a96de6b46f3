package outbox_test

import (
	"slices"
	"testing"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// The service takes one ticket and its answer never comes, all else is well. The others go by behind the second attempt, and the third, since
// others were taken meanwhile, is the last: it would only be one more copy.
func TestOneTicketWithoutAnAnswerHoldsUpNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
		put(t, b, "tickets", "its answer is cut off", "another", "a third")
		begin, sends := time.Now(), 0
		var taken []time.Duration
		s := &outboxtest.Service{Fault: func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			if batch[0].Seq == 1 {
				sends++
				return answer(outbox.Ambiguous, 0), true, true
			}
			taken = append(taken, time.Since(begin))
			return outbox.Answer{}, false, false
		}}
		stop := running(t, b, "tickets", s)
		wait(time.Minute)
		if len(taken) != 2 || counts(t, b, "tickets").Delivered != 2 {
			t.Errorf("within a minute the others were taken after %v", taken)
		}
		if e, err := b.Entry("tickets", 1); err != nil || e.Parked.IsZero() && (!e.Again.After(time.Now()) || !b.DrainStatus("tickets").Again.Equal(e.Again)) {
			t.Errorf("when it goes again is not shown: %+v, %v, %+v", e, err, b.DrainStatus("tickets"))
		}
		wait(2 * time.Minute)
		put(t, b, "tickets", "new")
		wait(time.Second)
		if c := counts(t, b, "tickets"); c.Delivered != 3 || sends != 3 || n.count(outbox.NoteParked) != 1 || b.DrainStatus("tickets").Parked != 1 {
			t.Errorf("after %d sends %+v, told %+v", sends, c, n.all)
		}
		wait(72 * time.Hour)
		if stop(); sends != 6 { // once a day
			t.Errorf("%d sends after three days more", sends)
		}
	})
}

// No answer of the service comes at all while five tickets wait. Two of them may be there twice, and one of these only once: the first is tried at its
// times, and the one that went by it waits; when answers come again all are taken.
func TestAnOutageWithoutAnswersPutsFewTicketsInDoubt(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "tickets", "a", "b", "c", "d", "e")
		begin, sent := time.Now(), []uint64{}
		s := &outboxtest.Service{Fault: func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			if time.Since(begin) > 3*time.Minute {
				return outbox.Answer{}, false, false
			}
			sent = append(sent, batch[0].Seq)
			return answer(outbox.Ambiguous, 0), true, true
		}}
		stop := running(t, b, "tickets", s)
		wait(3 * time.Minute)
		if first := slices.Compact(slices.Sorted(slices.Values(sent))); !slices.Equal(first, []uint64{1, 2}) || len(sent) > 5 {
			t.Errorf("in three minutes went %v", sent)
		}
		if n := len(slices.DeleteFunc(slices.Clone(sent), func(seq uint64) bool { return seq != 2 })); n != 1 {
			t.Errorf("the one that went by was sent %d times", n)
		}
		if at, err := b.Oldest("tickets"); err != nil || at.IsZero() || b.DrainStatus("tickets").Troubled.IsZero() {
			t.Errorf("nothing is shown as waiting: %v, %v", at, err)
		}
		wait(15 * time.Minute)
		if stop(); counts(t, b, "tickets").Delivered != 5 {
			t.Errorf("afterwards %+v, sent %v", counts(t, b, "tickets"), sent)
		}
	})
}

// The same while another stream is taken: it is not the link, and one more ticket goes by behind each attempt.
func TestWhatIsTakenElsewhereLetsOneMoreBy(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "tickets", "cut", "cut", "well", "well")
		s := &outboxtest.Service{Fault: func(_ int, stream string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			return answer(outbox.Ambiguous, 0), true, stream == "tickets" && batch[0].Seq < 3
		}}
		stops := []func(){running(t, b, "tickets", s), running(t, b, "events", s)}
		for range 60 {
			put(t, b, "events", "x")
			wait(5 * time.Second)
		}
		for _, stop := range stops {
			stop()
		}
		if c := counts(t, b, "tickets"); c.Delivered != 2 {
			t.Errorf("after five minutes %+v", c)
		}
	})
}

// Only an answer that was late is awaited longer the next time, and what is being sent is shown, with its time.
func TestOnlyALateAnswerIsAwaitedLonger(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "tickets", "x")
		var late []int
		s := &outboxtest.Service{Fault: func(n int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			if late = append(late, batch[0].Late); n == 3 {
				if at := b.DrainStatus("tickets"); at.Activity != outbox.Sending || !at.Asked.Equal(time.Now()) || at.Asking != 1 || at.Late != 2 {
					t.Errorf("what is being sent is shown as %+v", at)
				}
			}
			return outbox.Answer{Class: outbox.Ambiguous, Late: n < 3}, false, n < 5
		}}
		stop := running(t, b, "tickets", s)
		wait(time.Hour)
		if stop(); !slices.Equal(late, []int{0, 1, 2, 0, 0}) {
			t.Errorf("told as late: %v", late)
		}
	})
}

// The time since which the service answers as it does is that of the first such answer, and not of another trouble before.
func TestEachKindOfAnswerHasItsTime(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "events", "x")
		begin := time.Now()
		s := &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
			if time.Since(begin) < 5*time.Minute {
				return answer(outbox.Wait, 429), false, true
			}
			return answer(outbox.Key, 401), false, true
		}}
		stop := running(t, b, "events", s)
		wait(20 * time.Minute)
		at := b.DrainStatus("events")
		if stop(); !at.Troubled.Equal(begin) || at.Since.Sub(begin) < 5*time.Minute || !at.Since.Before(at.Answered) {
			t.Errorf("began at %v: %+v", begin, at)
		}
	})
}

// A restart behind the second attempt holds up the others no longer than running on.
func TestARestartKeepsATicketWithoutAnAnswerAside(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "tickets", "its answer is cut off")
		sends := 0
		s := &outboxtest.Service{Fault: func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			if batch[0].Seq == 1 {
				sends++
			}
			return answer(outbox.Ambiguous, 0), true, batch[0].Seq == 1
		}}
		stop := running(t, b, "tickets", s)
		for sends < 3 {
			wait(time.Second)
		}
		stop()
		put(t, b, "tickets", "another")
		stop = running(t, b, "tickets", s)
		wait(time.Second)
		if c := counts(t, b, "tickets"); c.Delivered != 1 || sends != 3 {
			t.Errorf("behind the restart %+v, %d sends", c, sends)
		}
		wait(10 * time.Minute)
		if stop(); sends != 4 || b.DrainStatus("tickets").Parked != 1 {
			t.Errorf("%d sends, %+v", sends, b.DrainStatus("tickets"))
		}
	})
}
