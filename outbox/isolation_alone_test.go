package outbox_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
)

// A ticket whose tank the service does not know is answered 404, although it has no address, and one that the service stumbles
// over 500: the next tickets leave. Where a gateway says that the service is away, it is away for all.
func TestARecordWithoutAddressWaitsByItself(t *testing.T) {
	for _, c := range []struct {
		answer    outbox.Answer
		within    time.Duration
		delivered uint64
	}{
		{answer(outbox.Path, 404), 10 * time.Second, 2},
		{answer(outbox.Wait, 500), 10 * time.Minute, 2},
		{answer(outbox.Wait, 503), 10 * time.Minute, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := &notes{}
			b := letters(t, boxPath(t), n)
			k := newDesk(c.answer, "lost")
			put(t, b, "tickets", "lost", "one", "two")
			stop := running(t, b, "tickets", k)
			wait(c.within)
			if got := counts(t, b, "tickets"); got.Delivered != c.delivered || got.Waiting != 3-c.delivered {
				t.Errorf("%d: %+v", c.answer.Status, got)
			}
			if c.answer.Class == outbox.Path && !strings.Contains(n.of(outbox.NoteIsolated).Message, "record 1 is not taken") {
				t.Errorf("told %+v", n.all)
			}
			k.say(func() { k.unknown = nil })
			wait(2 * time.Hour)
			stop()
			if got := counts(t, b, "tickets"); got.Delivered != 3 || !k.ordered("tickets") != (c.delivered > 0) {
				t.Errorf("%d: in the end %+v", c.answer.Status, got)
			}
			shut(t, b)
		})
	}
}

// One of a batch that the service stumbles over is found by halves, and the others leave.
func TestABatchWithARecordThatIsStumbledOverIsTakenApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := letters(t, boxPath(t), &notes{})
		k := newDesk(answer(outbox.Wait, 500))
		k.Fault = func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			bad := slices.ContainsFunc(batch, func(r outbox.Record) bool { return string(r.Body) == "lost" })
			return k.answer, false, bad
		}
		put(t, b, "tags", "one", "lost", "two", "three", "four")
		stop := running(t, b, "tags", k)
		wait(10 * time.Minute)
		stop()
		if got := counts(t, b, "tags"); got.Delivered != 4 || got.Waiting != 1 {
			t.Errorf("%+v", got)
		}
		shut(t, b)
	})
}
