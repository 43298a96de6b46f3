package control

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/cloud/keys"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/outbox"
)

// Of one record that is refused nobody says that everything is: others of it may have been taken, and none was tried.
func TestOneRefusedRecordIsNotEverything(t *testing.T) {
	b := ledgertest.New(t, nil)
	server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Daemon: true}).Open()
	for seq, want := range map[uint64]string{7: "the service refuses tickets/7 since ", 0: "the service refuses everything of tickets since "} {
		s := outbox.DrainStatus{Activity: outbox.Paused, Troubled: time.Now(), Answer: outbox.Answer{Class: outbox.Poison, Status: 400}, Refused: seq}
		if got := server.whyWaiting(ledger.Tickets, s); !strings.HasPrefix(got, want) {
			t.Errorf("refused %d: %s, want %s...", seq, got, want)
		}
		if got := server.whyWaiting(ledger.Tickets, s); seq != 0 && !strings.HasSuffix(got, "`gauger outbox show tickets/7` has what is sent, `gauger outbox drop tickets/7 --why TEXT` gives it up") {
			t.Errorf("no next step: %s", got)
		}
	}
}

// A login page in the place of the service says nothing of the id that a record is for, and nobody is told to give the record up.
func TestAWebPageAccusesNoID(t *testing.T) {
	b := ledgertest.New(t, nil)
	ring, err := keys.Open("", keys.Seeds{Primary: "a"})
	b.Must(err)
	client, err := cloud.New(cloud.Options{URL: "http://127.0.0.1:9", Keys: ring})
	b.Must(err)
	all, _ := ring.Order(false)
	server := (&Server{Ledger: b.Ledger, Box: b.Box, Client: client, Clock: b.Clock, Site: b.Site, Daemon: true, Began: time.Now().Add(-time.Hour)}).Open()
	ring.Accepted(all[0], true)
	body, err := b.Site.Wire.EncodeMemo(cloud.Memo{Text: "valve replaced"})
	b.Must(err)
	_, err = server.queue(t.Context(), QueueArgs{ledger.Memos, "7c9e", body})
	b.Must(err)
	s := outbox.DrainStatus{Activity: outbox.BackOff, Troubled: time.Now(), Answer: outbox.Answer{Class: outbox.Path, Status: 404}}
	if got := server.unknownID(ledger.Memos, s); !strings.Contains(got, "not for device 7c9e") {
		t.Errorf("a plain 404: %q", got)
	}
	s.Answer = outbox.Answer{Class: outbox.Path, Status: 200, Tell: true, Message: "200 OK with a web page"}
	if got := server.unknownID(ledger.Memos, s); got != "" {
		t.Errorf("a web page: %q", got)
	}
	if got := server.whyWaiting(ledger.Memos, s); !strings.HasPrefix(got, "no answer came that counts as taken since ") {
		t.Errorf("it waits since %q", got)
	}
}

// A record without a clear answer that waits by itself, while the others leave, is not on its way and is not refused.
func TestWhatWaitsByItselfWithoutAnAnswerSaysSo(t *testing.T) {
	b := ledgertest.New(t, nil)
	server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site, Daemon: true}).Open()
	again := time.Now().Add(time.Minute)
	want := "sent without a clear answer, so that the service may have it; it waits by itself, and is sent again at " + server.localTime(again)
	if got := server.whyWaiting(ledger.Tickets, outbox.DrainStatus{Activity: outbox.Idle, Unclear: 1, FirstSeq: 1, Again: again}); got != want {
		t.Errorf("the stream says %q, want %q", got, want)
	}
	e := outbox.Entry{Stream: ledger.Tickets, State: outbox.Waiting, Again: again, Unclear: outbox.Unclear{Count: 2, Seen: "EOF"}}
	if got := server.withReason(e).Waits; !strings.HasPrefix(got, "sent 2 times without a clear answer (EOF), so that the service may have it; it waits by itself") {
		t.Errorf("the record says %q", got)
	}
}

// Keys that the service takes for something else are not called refused, and nobody is sent for new ones.
func TestWhatTheKeysMayNotDoIsNotTheKeys(t *testing.T) {
	b := ledgertest.New(t, nil)
	server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Daemon: true}).Open()
	for tell, want := range map[bool]string{true: "the keys work, and may not do this since ", false: "no key is accepted since "} {
		s := outbox.DrainStatus{Activity: outbox.BackOff, Troubled: time.Now(), Answer: outbox.Answer{Class: outbox.Key, Status: 401, Tell: tell}}
		got := server.whyWaiting(ledger.Tickets, s)
		if !strings.HasPrefix(got, want) || strings.Contains(got, "a new key does not help: ask whoever runs the service whether the subscription has SaveRunTickets") != tell || strings.Contains(got, "keys show") == tell {
			t.Errorf("%v: %s", tell, got)
		}
	}
}

// The last ticket is one that is booked: a void one has another in its place.
func TestTheLastTicketIsNoVoidOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site, Daemon: true}).Open()
		ledgertest.Pass(8 * time.Hour)
		var numbers []string
		for i := range 2 {
			at := time.Now().Add(time.Duration(i-5) * time.Hour)
			number, _, err := b.Add(ledger.ManualTicket{Tank: "TK-1", Open: 118, Close: 60, Start: at, End: at.Add(30 * time.Minute), Purchaser: "Acme", Anyway: "seen"}, "ann")
			b.Must(err)
			numbers = append(numbers, number)
		}
		b.Deliver()
		b.Must(b.Void(numbers[1], "ann", "no oil was run"))
		s, err := server.Status()
		b.Must(err)
		if s.Last == nil || s.Last.Number != numbers[0] {
			t.Errorf("the last ticket is %+v, want %s", s.Last, numbers[0])
		}
	})
}

// A request that is out for long is shown with its time and with how long its answer is awaited, and an answer with the time of the first of its kind.
func TestWhatIsAwaitedIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		ring, err := keys.Open("", keys.Seeds{Primary: "a"})
		b.Must(err)
		client, err := cloud.New(cloud.Options{URL: "http://127.0.0.1:9", Keys: ring})
		b.Must(err)
		server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Client: client, Site: b.Site, Daemon: true}).Open()
		began := time.Now()
		s := outbox.DrainStatus{Activity: outbox.Sending, Troubled: began, Asked: began, Asking: 1 << 10, Late: 1}
		ledgertest.Pass(time.Minute)
		want := "; it is being tried now, sent at " + server.localTime(began) + " and without an answer so far, which is awaited until " + server.localTime(began.Add(62*time.Second))
		if got := server.whyWaiting(ledger.Tickets, s); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want ...%q", got, want)
		}
		s = outbox.DrainStatus{Activity: outbox.BackOff, Troubled: began, Since: began.Add(time.Minute), Answer: outbox.Answer{Class: outbox.Wait, Status: 429}}
		if got := server.whyWaiting(ledger.Tickets, s); !strings.HasPrefix(got, "the service does not take tickets since "+server.localTime(s.Since)) {
			t.Errorf("%q", got)
		}
	})
}

// silent is a service that is asked and does not answer until it is let go.
type silent chan struct{}

func (s silent) Send(context.Context, string, []outbox.Record) []outbox.Answer {
	<-s
	return []outbox.Answer{{Class: outbox.Stored, Status: 200}}
}

// Another configuration takes over when what is being sent has its answer: until then people are told so, and until when.
func TestWhatAChangeWaitsForIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site, Daemon: true}).Open()
		b.Must(b.QueueEvent(ledger.Event{Rule: "leak", Start: time.Now(), End: time.Now()}))
		if got := server.Awaited(); got != "" {
			t.Errorf("before anything is sent: %q", got)
		}
		s, done := make(silent), make(chan error)
		ctx, stop := context.WithCancel(t.Context())
		go func() { done <- b.Box.Drain(ctx, ledger.Events, s) }()
		ledgertest.Pass(10 * time.Second)
		if got := server.Awaited(); !strings.HasPrefix(got, "the service's answer to what was just sent is awaited first") {
			t.Errorf("while it is out: %q", got)
		}
		close(s)
		ledgertest.Pass(time.Second)
		if got := server.Awaited(); got != "" {
			t.Errorf("when the answer came: %q", got)
		}
		stop()
		b.Must(<-done)
	})
}

// Why a record waits is its own story: one that the service answered, and did not take, was not sent without a clear answer since another was,
// and of two that were each has its own words.
func TestWhyARecordWaitsIsItsOwnStory(t *testing.T) {
	for first, want := range map[outbox.Class]string{outbox.Path: "waits behind tickets/2, answered so far, and not taken", outbox.Ambiguous: "no answer within 30s"} {
		synctest.Test(t, func(t *testing.T) {
			b := ledgertest.New(t, nil)
			server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site, Daemon: true}).Open()
			ledgertest.Pass(48 * time.Hour)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				ended <- b.Box.Drain(ctx, ledger.Tickets, answersBySeq{{Class: first, Message: "no answer within 30s"}, {Message: "EOF"}})
			}()
			for range 2 {
				at := time.Now()
				_, _, err := b.Add(ledger.ManualTicket{Tank: "TK-1", Open: 118, Close: 60, Start: at.Add(-30 * time.Minute), End: at, Anyway: "seen"}, "ann")
				b.Must(err)
				ledgertest.Pass(time.Second)
			}
			said := ""
			for range 20 {
				all, err := server.listRecords(t.Context(), RecordQuery{Stream: ledger.Tickets})
				b.Must(err)
				if said += all[0].Waits; strings.Contains(all[0].Waits, "EOF") || strings.Count(all[1].Waits, "without a clear answer") > 1 {
					t.Errorf("they say %q, %q", all[0].Waits, all[1].Waits)
				}
				ledgertest.Pass(10 * time.Second)
			}
			if !strings.Contains(said, want) {
				t.Errorf("never %q", want)
			}
			stop()
			b.Must(<-ended)
		})
	}
}

// answersBySeq are those to the records, by their places.
type answersBySeq []outbox.Answer

// Send implements outbox.Sender.
func (s answersBySeq) Send(_ context.Context, _ string, batch []outbox.Record) (all []outbox.Answer) {
	for _, r := range batch {
		all = append(all, s[r.Seq-1])
	}
	return all
}
