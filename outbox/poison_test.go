package outbox_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// Ten refused records in a row are ten bad records once the next is taken, and nobody is told of a pause; the eleventh in a
// row makes the service the suspect, and nothing is given up.
func TestTheEleventhInARowOpensTheBreaker(t *testing.T) {
	for bad, dead := range map[int]uint64{10: 10, 11: 0} {
		bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
			put(t, b, "tickets", append(slices.Repeat([]string{"bad"}, bad), "good")...)
			s := &outboxtest.Service{Refuse: poisoned}
			stop := running(t, b, "tickets", s)
			wait(time.Second)
			if c := counts(t, b, "tickets"); c.Dead != dead || (c.Delivered == 1) != (dead > 0) || n.count(outbox.NotePaused) != 0 {
				t.Errorf("%d bad ones in a row: %+v, told %+v", bad, c, n.all)
			}
			paused := b.DrainStatus("tickets").Activity == outbox.Paused
			if paused != (dead == 0) {
				t.Errorf("%d bad ones in a row: it stands %+v", bad, b.DrainStatus("tickets"))
			}
			stop()
		})
	}
}

// Where nine different records are refused, a new one may be another matter and goes at once; where ten are, it is the service
// that refuses, and the new one waits for its turn.
func TestANewRecordAmongFewRefusedOnesGoesAtOnce(t *testing.T) {
	for bad, soon := range map[int]bool{1: true, 9: true, 10: false} {
		bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
			put(t, b, "tickets", slices.Repeat([]string{"bad"}, bad)...)
			s := &outboxtest.Service{Refuse: poisoned}
			stop := running(t, b, "tickets", s)
			wait(5 * time.Hour)
			put(t, b, "tickets", "good")
			wait(time.Millisecond)
			if c := counts(t, b, "tickets"); (c.Delivered == 1) != soon {
				t.Errorf("%d are refused: %+v", bad, c)
			}
			wait(time.Hour)
			stop()
			if c := counts(t, b, "tickets"); c.Delivered != 1 || c.Dead != uint64(bad) {
				t.Errorf("%d are refused: in the end %+v", bad, c)
			}
		})
	}
}

// What people are told of a pause: of a single record its number, and that there is no other to compare it with; of several
// that the service refuses everything.
func TestWordsOfAPause(t *testing.T) {
	for bad, words := range map[int]string{
		1: "tickets: the service refuses record 1 (status 400: as told), and there is no other to compare it with; it is kept, and tried from time to time",
		2: "tickets: the service refuses everything (status 400: as told); nothing is given up, one record is tried from time to time",
	} {
		bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
			put(t, b, "tickets", slices.Repeat([]string{"bad"}, bad)...)
			stop := running(t, b, "tickets", senderFunc(func([]outbox.Record) []outbox.Answer { return []outbox.Answer{answer(outbox.Poison, 400)} }))
			wait(time.Hour)
			paused := b.DrainStatus("tickets")
			stop()
			if told := n.of(outbox.NotePaused); told.Message != words || (told.Seq == 1) != (bad == 1) || paused.Activity != outbox.Paused || paused.Refused != told.Seq {
				t.Errorf("told %+v; the drain is %+v", told, paused)
			}
		})
	}
}

// What the service said of a dead letter is kept: its class, status and words, as many as there is room for; people are told
// the same.
func TestWordsOfADeadLetter(t *testing.T) {
	for message, words := range map[string]string{"": "refused", "no such tank": "refused: no such tank", strings.Repeat("x", 5000): "refused: xxxxx"} {
		bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
			put(t, b, "tickets", "bad", "good")
			stop := running(t, b, "tickets", senderFunc(func(batch []outbox.Record) []outbox.Answer {
				if poisoned("", batch[0]) {
					return []outbox.Answer{{Class: outbox.Poison, Message: message}}
				}
				return []outbox.Answer{answer(outbox.Stored, 200)}
			}))
			wait(time.Minute)
			stop()
			e, err := b.Entry("tickets", 1)
			if err != nil || e.State != outbox.Dead || !strings.HasPrefix(e.Reason, words) || len(message) < 100 && e.Reason != words || len(e.Reason) > 512 {
				t.Errorf("the dead letter is %s, %v", fmt.Sprint(e), err)
			}
			told, ok := strings.CutPrefix(n.of(outbox.NoteDeadLetter).Message, "record 1 of tickets became a dead letter: ")
			if !ok || !strings.HasPrefix(told, words) || len(told) > 512 {
				t.Errorf("told %q", told)
			}
		})
	}
}

// The service wishes the same time of many sites: they do not come back at once, none before, and none much later.
func TestAWishIsSpread(t *testing.T) {
	came := map[time.Duration]bool{}
	for range 20 {
		bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
			put(t, b, "events", "a")
			start := time.Now()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			requests := 0
			err := b.Drain(ctx, "events", senderFunc(func([]outbox.Record) []outbox.Answer {
				if requests++; requests == 1 {
					return []outbox.Answer{{Class: outbox.Wait, Status: 503, RetryAfter: time.Hour}}
				}
				cancel()
				return []outbox.Answer{answer(outbox.Stored, 200)}
			}))
			after := time.Since(start)
			if came[after] = true; err != nil || after < time.Hour || after > 75*time.Minute {
				t.Errorf("it came back after %s, %v", after, err)
			}
		})
	}
	if len(came) < 15 {
		t.Errorf("20 sites came back at %d different times", len(came))
	}
}

// A record that was sent without a clear answer before it was refused says both: the service may have it all the same.
func TestARefusalRemembersUnclearSends(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "tickets", "lost answer, then refused", "good")
		stop := running(t, b, "tickets", &outboxtest.Service{Fault: func(n int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			if batch[0].Attempt < 2 {
				return answer(outbox.Ambiguous, 0), false, batch[0].Seq == 1
			}
			return answer(outbox.Poison, 400), false, true
		}})
		wait(time.Hour)
		put(t, b, "tickets", "good") // that one was taken before the refusal says nothing of it
		wait(time.Hour)
		stop()
		e, err := b.Entry("tickets", 1)
		if want := "status 400: as told; before that sent 2 times without a clear answer"; err != nil || e.State != outbox.Dead || e.Reason != want {
			t.Errorf("%+v, %v; want the reason %q", e, err, want)
		}
	})
}
