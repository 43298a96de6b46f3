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

// refusesFirst takes all but the first records.
type refusesFirst uint64

// Send implements outbox.Sender.
func (n refusesFirst) Send(_ context.Context, _ string, batch []outbox.Record) (all []outbox.Answer) {
	for _, r := range batch {
		a := outbox.Answer{Class: outbox.Stored, Status: 200}
		if r.Seq <= uint64(n) {
			a = outbox.Answer{Class: outbox.Poison, Status: 400, Message: "Unknown tank TK-1"}
		}
		all = append(all, a)
	}
	return all
}

// While a ticket was refused for good nothing says that all is sent, and status names it, with its barrels, the service's words and the cure.
func TestARefusedTicketIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		ring, err := keys.Open("", keys.Seeds{Primary: "a"})
		b.Must(err)
		client, err := cloud.New(cloud.Options{URL: "http://127.0.0.1:9", Keys: ring})
		b.Must(err)
		server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Client: client, Site: b.Site, Daemon: true}).Open()
		slots, _ := ring.Order(false)
		ring.Accepted(slots[0], true)
		ledgertest.Pass(48 * time.Hour)
		for i := range 7 {
			at := time.Now().Add(time.Duration(4*i-40) * time.Hour)
			_, _, err := b.Add(ledger.ManualTicket{Tank: "TK-1", Open: 118, Close: 60, Start: at, End: at.Add(30 * time.Minute), Anyway: "seen"}, "ann")
			b.Must(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- b.Box.Drain(ctx, ledger.Tickets, refusesFirst(5)) }()
		ledgertest.Pass(time.Hour)
		stop()
		b.Must(<-ended)
		look := func() Status {
			s, err := server.Status()
			b.Must(err)
			return s
		}
		s := look()
		if !strings.HasSuffix(s.Headline, "; 5 TICKETS REFUSED; everything else is sent") {
			t.Errorf("the first line: %s", s.Headline)
		}
		if a := s.Answers[1]; a.State != Bad || !strings.HasPrefix(a.Text, "5 tickets refused; nothing else waits") {
			t.Errorf("sending: %+v", a)
		}
		all, want := strings.Join(s.Problems, "\n"), "ticket M-TEST-TK-1-"
		for _, part := range []string{want, "(TK-1 from 09-10-0 to 05-00-0, 9", " bbl, ", ") is refused since ", "status 400: Unknown tank TK-1", ": mend that, then `gauger outbox retry tickets/1`", "2 tickets more were refused, and kept: see `gauger outbox dead tickets`"} {
			if !strings.Contains(all, part) {
				t.Errorf("no %q in\n%s", part, all)
			}
		}
		if why := strings.Join(server.Unready(Overview{Status: s}), "\n"); !strings.Contains(why, want) {
			t.Errorf("/readyz: %s", why)
		}
		_, err = b.Box.Drop(ledger.Tickets, "ann: void", 1, 2, 3, 4)
		b.Must(err)
		if s := look(); !strings.Contains(s.Headline, "1 TICKET REFUSED; everything else is sent") || strings.Contains(strings.Join(s.Problems, "\n"), "more") {
			t.Errorf("of one: %s, %q", s.Headline, s.Problems)
		}
		_, err = b.Box.Drop(ledger.Tickets, "ann: void", 5)
		b.Must(err)
		if s := look(); !strings.HasSuffix(s.Headline, "; everything is sent") {
			t.Errorf("of none: %s", s.Headline)
		}
	})
}

// What the disk has damaged was refused by nobody, and cannot be sent again; one record was, several were.
func TestDamagedIsNotRefused(t *testing.T) {
	d := (&Server{}).Open()
	e := Entry{Stream: ledger.Tickets, Seq: 7, State: "damaged on disk", Since: time.Now().Add(-48 * time.Hour), Reason: "the record was damaged in the file and was not sent: checksum", Raw: []byte("x")}
	all := (&deadLetters{first: []deadLetter{{Entry: e}}, n: 1, damaged: 1}).problems(d, ledger.Tickets)
	if len(all) != 1 || !strings.HasPrefix(all[0].sentence(), "ticket tickets/7 is damaged on disk since ") || !strings.Contains(all[0].Do, "it can only be dropped") {
		t.Errorf("%+v", all)
	}
	e.Stream = ledger.Memos
	for n, want := range map[int]string{1: "1 record of memos was damaged on disk and kept: memos/7", 2: "2 records of memos were refused or damaged on disk and kept: memos/7"} {
		if all := (&deadLetters{first: []deadLetter{{Entry: e}}, n: n, damaged: 1}).problems(d, ledger.Memos); len(all) != 1 || !strings.HasPrefix(all[0].Text, want) || all[0].Cost != Rest {
			t.Errorf("%+v", all)
		}
	}
}

// What the service has already is not to be given up: a person looks at what is there, and says which of the two it is.
func TestWhatTheServiceHasAlreadyIsLookedAtThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site, Daemon: true}).Open()
		ledgertest.Pass(48 * time.Hour)
		for i := range 2 {
			at := time.Now().Add(time.Duration(4*i-20) * time.Hour)
			_, _, err := b.Add(ledger.ManualTicket{Tank: "TK-1", Open: 118, Close: 60, Start: at, End: at.Add(30 * time.Minute), Anyway: "seen"}, "ann")
			b.Must(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- b.Box.Drain(ctx, ledger.Tickets, conflictFirst{}) }()
		ledgertest.Pass(time.Hour)
		stop()
		b.Must(<-ended)
		s, err := server.Status()
		b.Must(err)
		const want = "the service has one of this number already: look at that one there; if it is the same, `gauger outbox confirm tickets/1 --why TEXT`; if not, have its number corrected there, then `gauger outbox retry tickets/1`"
		if all := strings.Join(s.Problems, "\n"); !strings.Contains(all, ": "+want) || strings.Contains(all, "outbox drop") {
			t.Errorf("of the dead letter: %s", all)
		}
		waits := server.whyWaiting(ledger.Tickets, outbox.DrainStatus{Activity: outbox.Paused, Refused: 1, Troubled: time.Now(), Answer: outbox.Answer{Class: outbox.Poison, Status: 409}})
		if !strings.HasSuffix(waits, "; "+want) {
			t.Errorf("while it waits: %s", waits)
		}
		if n, err := b.Box.Confirm(ledger.Tickets, "ann: seen there", 1); n != 1 || err != nil {
			t.Errorf("what is advised does not work: %d, %v", n, err)
		}
	})
}

// conflictFirst has the first record already.
type conflictFirst struct{}

// Send implements outbox.Sender.
func (conflictFirst) Send(_ context.Context, _ string, batch []outbox.Record) (all []outbox.Answer) {
	for _, r := range batch {
		a := outbox.Answer{Class: outbox.Stored, Status: 200}
		if r.Seq == 1 {
			a = outbox.Answer{Class: outbox.Poison, Status: 409, Message: "ticket exists"}
		}
		all = append(all, a)
	}
	return all
}
