package outbox_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// A person has seen three records at the service: one that waits, one that is parked and one that was refused. They count as
// delivered, are never sent again, and the receipts keep who said so, why, and the record's own words, over a restart too.
func TestConfirmedRecordsAreDelivered(t *testing.T) {
	const words = "confirmed by ann: seen at the service as the ticket of the 3rd, in the list that Bob sent from the office"
	label := func(_ string, r outbox.Record) string { return "label " + string(r.Body) }
	synctest.Test(t, func(t *testing.T) {
		path := boxPath(t)
		b := open(t, path, outbox.Options{Label: label})
		put(t, b, "tickets", "parked", "refused", "good", "waits")
		stop := running(t, b, "tickets", &outboxtest.Service{Fault: func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			class, bad := map[uint64]outbox.Class{1: outbox.Ambiguous, 2: outbox.Poison, 4: outbox.Wait}[batch[0].Seq]
			return answer(class, 0), false, bad
		}})
		wait(time.Hour)
		stop()
		if c := counts(t, b, "tickets"); c.Waiting != 2 || c.Dead != 1 || c.Delivered != 1 {
			t.Fatalf("before: %+v", c)
		}
		n, err := b.Confirm("tickets", words, 1, 2, 3, 4)
		if n != 3 || !errors.Is(err, outbox.ErrRecord) || !strings.Contains(err.Error(), "confirm record 3 of tickets") {
			t.Errorf("confirmed %d, %v", n, err)
		}
		shut(t, b)
		b = open(t, path, outbox.Options{Label: label})
		s := &outboxtest.Service{}
		drained(t, b, "tickets", s)
		if c := counts(t, b, "tickets"); c.Delivered != 4 || c.Dropped != 0 || s.Requests() != 0 {
			t.Errorf("after: %+v, %d requests", c, s.Requests())
		}
		for seq, body := range map[uint64]string{1: "parked", 2: "refused", 4: "waits"} {
			e, err := b.Entry("tickets", seq)
			if err != nil || e.State != outbox.Delivered || e.Label != "label "+body || e.Confirmed != words || e.CorrelationID != "" || e.Status != 0 {
				t.Errorf("record %d: %+v, %v", seq, e, err)
			}
			if want := map[uint64]int{1: 3}[seq]; e.Unclear.Count != want {
				t.Errorf("record %d was unclear %d times, want %d", seq, e.Unclear.Count, want)
			}
		}
		if e, err := b.Entry("tickets", 3); err != nil || e.Confirmed != "" {
			t.Errorf("what the service took itself: %+v, %v", e, err)
		}
		shut(t, b)
	})
}

// What is never sent no service has, what is being sent may still be refused, and nobody confirms without a word.
func TestWhatCannotBeConfirmed(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "refused", "not decoded")
		put(t, b, "tickets", "on its way")
		drained(t, b, "tickets", &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
			if n, err := b.Confirm("tickets", "ann: seen", 1); n != 0 || !errors.Is(err, outbox.ErrRefused) || !strings.Contains(err.Error(), "being sent") {
				t.Errorf("confirmed while it was sent: %d, %v", n, err)
			}
			return answer(outbox.Wait, 503), false, true
		}})
		for _, x := range []struct{ stream, words string }{{"refused", "ann: seen"}, {"tickets", ""}, {"nothing", "ann: seen"}} {
			if n, err := b.Confirm(x.stream, x.words, 1); n != 0 || err == nil {
				t.Errorf("%v: %d, %v", x, n, err)
			}
		}
		if n := counts(t, b, "tickets").Waiting + counts(t, b, "refused").Waiting; n != 2 {
			t.Errorf("%d wait, want 2", n)
		}
	})
}

// A ticket that waits behind another one was never sent: nobody takes it for seen at the service. What had any answer may be.
func TestWhatWasNeverSentIsNotConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := boxPath(t)
		b := open(t, path, outbox.Options{})
		put(t, b, "tickets", "refused", "taken", "unclear", "behind it")
		stop := running(t, b, "tickets", &outboxtest.Service{Fault: func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			class, bad := map[uint64]outbox.Class{1: outbox.Poison, 3: outbox.Ambiguous}[batch[0].Seq]
			return answer(class, 0), false, bad
		}})
		wait(5 * time.Second)
		stop()
		if n, err := b.Retry("tickets", 1); n != 1 || err != nil {
			t.Fatalf("retried %d, %v", n, err)
		}
		shut(t, b)
		b = open(t, path, outbox.Options{})
		if s := b.DrainStatus("tickets"); s.Unclear != 1 || s.FirstSeq != 3 {
			t.Errorf("it stands %+v", s)
		}
		n, err := b.Confirm("tickets", "ann: seen", 1, 3, 4)
		if n != 2 || !errors.Is(err, outbox.ErrRefused) || !strings.Contains(err.Error(), "confirm record 4 of tickets: gauger never sent it") {
			t.Errorf("confirmed %d, %v", n, err)
		}
		if e, err := b.Entry("tickets", 4); err != nil || e.State != outbox.Waiting || !e.NeverSent {
			t.Errorf("%+v, %v", e, err)
		}
		shut(t, b)
	})
}
