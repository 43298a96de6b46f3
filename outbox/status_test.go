package outbox_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// Whoever asks is told at any time what a stream's drain is at, since when it is in trouble, and what it was last told.
func TestStandingSaysWhatHoldsAStreamUp(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		check := func(what string, is outbox.Activity, next, troubled bool, status int) outbox.DrainStatus {
			t.Helper()
			s := b.DrainStatus("events")
			if s.Activity != is || s.Next.After(time.Now()) != next || s.Troubled.IsZero() == troubled || s.Answer.Status != status ||
				(status != 0) == s.Answered.IsZero() {
				t.Errorf("%s: it stands %+v", what, s)
			}
			return s
		}
		check("before the drain", outbox.Stopped, false, false, 0)
		put(t, b, "events", "one", "two")
		var fault atomic.Pointer[outbox.Answer]
		say := func(r outbox.Answer) { fault.Store(&r) }
		say(answer(outbox.Wait, 503))
		s := &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
			return *fault.Load(), false, fault.Load().Class != outbox.Stored
		}}
		stop := running(t, b, "events", s)
		began := time.Now()
		wait(5 * time.Minute)
		if s := check("the service is away", outbox.BackOff, true, true, 503); s.Troubled.Sub(began) > time.Second {
			t.Errorf("in trouble since %s, want %s", s.Troubled, began)
		}
		say(answer(outbox.Poison, 400))
		wait(time.Hour)
		check("everything is refused", outbox.Paused, true, true, 400)
		say(answer(outbox.Stored, 200))
		wait(time.Hour)
		check("all is well", outbox.Idle, false, false, 0)
		stop()
		check("after the drain", outbox.Stopped, false, false, 0)
	})
}

// While the pace holds a request back, and while one is out, that is what is said.
func TestStandingWhilePacedAndWhileSending(t *testing.T) {
	var b *outbox.Box
	hold := make(chan struct{})
	b = open(t, boxPath(t), outbox.Options{Pace: func(_ context.Context, stream string) error {
		if got := b.DrainStatus(stream).Activity; got != outbox.Pacing {
			t.Errorf("while it is paced it is %q", got)
		}
		<-hold
		return nil
	}})
	defer shut(t, b)
	put(t, b, "tickets", "one")
	s := &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
		if got := b.DrainStatus("tickets").Activity; got != outbox.Sending {
			t.Errorf("while it is sent it is %q", got)
		}
		hold <- struct{}{}
		return answer(outbox.Stored, 200), true, true
	}}
	stop := running(t, b, "tickets", s)
	hold <- struct{}{}
	<-hold
	stop()
	if c := counts(t, b, "tickets"); c.Delivered != 1 {
		t.Errorf("counts are %+v", c)
	}
}

// The audit counts records, not counts: what a file has must be what its ledger says.
func TestAuditCountsTheRecordsThemselves(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) { auditCounts(t, b) })
}

func auditCounts(t *testing.T, b *outbox.Box) {
	put(t, b, "events", mixed(40)...)
	s := &outboxtest.Service{Refuse: func(_ string, r outbox.Record) bool { return r.Seq == 3 }}
	stop := running(t, b, "events", s)
	wait(time.Hour)
	stop()
	put(t, b, "events", "a", "b")
	if n, err := b.Drop("events", "not wanted", 41); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	all, err := b.Audit()
	a := all["events"]
	want := outbox.Counts{Accepted: 42, Delivered: 39, Dead: 1, Waiting: 1, Dropped: 1}
	if err != nil || !a.Holds() || a.Counts != want || a.Queued != 1 || a.Letters != 1 {
		t.Errorf("events: %+v, %v", a, err)
	}
	if tickets := all["tickets"]; !tickets.Holds() || tickets.Accepted != 0 {
		t.Errorf("tickets: %+v", tickets)
	}
	if since, whole, err := b.ReceiptsSince("events", b.Counts()["events"]); err != nil || !whole || since.IsZero() {
		t.Errorf("receipts since %s, all: %t, %v", since, whole, err)
	}
	if a.Queued++; a.Holds() {
		t.Error("a record too many holds")
	}
	e, err := b.Entry("events", 41)
	if err != nil || e.State != outbox.Dropped || e.Record.At.IsZero() || e.Since.Before(e.Record.At) {
		t.Errorf("the dropped record is %+v, %v", e, err)
	}
}

// An answer that people should hear of is told at once, and not after ten minutes; so is its end.
func TestAnAnswerToHearOfIsToldAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
		put(t, b, "events", "one")
		page := outbox.Answer{Class: outbox.Path, Status: 200, Message: "a web page", Tell: true}
		s := &outboxtest.Service{Fault: func(i int, _ string, _ []outbox.Record) (outbox.Answer, bool, bool) { return page, false, i < 4 }}
		stop := running(t, b, "events", s)
		wait(time.Millisecond)
		if n.count(outbox.NoteStalled) != 1 || !strings.Contains(n.of(outbox.NoteStalled).Message, "a web page") {
			t.Errorf("told %+v", n.of(outbox.NoteStalled))
		}
		wait(time.Minute)
		stop()
		if c := counts(t, b, "events"); c.Delivered != 1 || n.count(outbox.NoteStalled) != 1 || n.count(outbox.NoteResumed) != 1 {
			t.Errorf("%+v, told %+v", c, n.all)
		}
	})
}
