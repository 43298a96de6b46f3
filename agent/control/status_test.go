package control

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/agent/link"
	"gauger/outbox"
)

// Whether a site counts as sending is judged by what the link's plan does not hold back, so that tag values which wait for
// the night neither hide a ticket that nobody takes nor make one that has just come look late.
func TestOverdueIsWhatThePlanDoesNotExplain(t *testing.T) {
	now := time.Unix(1e9, 0)
	one := outbox.Counts{Waiting: 1}
	night := &link.Status{Held: map[string]string{ledger.TagValues: "outside link.windows"}}
	refused := map[string]DrainStatus{ledger.Tickets: {Held: now.Add(-time.Second)}}
	for what, x := range map[string]struct {
		s    Status
		want bool
	}{
		"nothing waits":                           {Status{}, false},
		"a ticket has come":                       {Status{Oldest: now, Streams: map[string]outbox.Counts{ledger.Tickets: one}}, false},
		"it is refused":                           {Status{Oldest: now, Streams: map[string]outbox.Counts{ledger.Tickets: one}, Drains: refused}, true},
		"it is refused, and values wait by plan":  {Status{Oldest: now, Streams: map[string]outbox.Counts{ledger.Tickets: one, ledger.TagValues: one}, Drains: refused, Link: night}, true},
		"it is refused, and an event has come":    {Status{Oldest: now, Streams: map[string]outbox.Counts{ledger.Tickets: one, ledger.Events: one}, Drains: refused}, false},
		"a ticket waits for long":                 {Status{Oldest: now.Add(-time.Hour), Streams: map[string]outbox.Counts{ledger.Tickets: one}}, true},
		"values wait by plan, a ticket has come":  {Status{Oldest: now, Streams: map[string]outbox.Counts{ledger.Tickets: one, ledger.TagValues: one}, Link: night}, false},
		"values wait by plan and nothing besides": {Status{Streams: map[string]outbox.Counts{ledger.TagValues: one}, Link: night}, false},
	} {
		if x.s.Now = now; x.s.Overdue() != x.want {
			t.Errorf("%s: overdue %v", what, !x.want)
		}
	}
}

// How long a program has run is no matter of the wall clock, which may have been set since.
func TestTheTimeThatAProgramRunsIsNoStepOfTheClock(t *testing.T) {
	d := &Server{Began: time.Now()}
	for _, step := range []time.Duration{0, 26 * 365 * 24 * time.Hour, -time.Hour} {
		now := ledgertest.Stepped(d.Began.Add(90*time.Minute), step)
		if ran := now.Round(0).Sub(d.began(now)); ran != 90*time.Minute {
			t.Errorf("the clock was set by %s: runs for %s, want 1h30m", step, ran)
		}
	}
	if at := (&Server{}).began(time.Now()); !at.IsZero() {
		t.Errorf("a command without a daemon runs since %s", at)
	}
}

// A ticket without a receipt has left: when is not known, since a full disk keeps none either.
func TestATicketWithoutAReceiptIsNotSaidToBeOld(t *testing.T) {
	r := TicketRow{State: "left"}
	if got := r.StateText(false, nil); got != "has left; its receipt is not kept, since it is old, the disk was full or the receipts were damaged" {
		t.Error(got)
	}
}

// A ticket that left with a doubt is named for a week, until somebody has released, matched, replaced or voided it; it is a hint and no
// problem.
func TestTicketsThatLeftWithADoubtAreNamed(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	ticket := func(number string, ago time.Duration, why ...string) ledger.TicketRecord {
		end := now.Add(-ago)
		b := ledger.TicketRecord{Number: number, Ticket: []byte("{}"), Start: end.Add(-time.Hour), End: end}
		if err := json.Unmarshal([]byte(`{"GaugeBbl": 179.89}`), &b.Load); err != nil {
			t.Fatal(err)
		}
		b.Load.Review = why
		return b
	}
	matched, void, released := ticket("A-3", time.Hour, "data gap"), ticket("A-4", time.Hour, "data gap"), ticket("A-5", time.Hour, "data gap")
	matched.Volumes, matched.Matches = &ledger.Volumes{OpenBbl: 300, CloseBbl: 120.11}, []ledger.TruckTicket{{Hauler: "88", Bbl: 179.9, Basis: ledger.AsObserved}}
	void.Voided, released.Person = "ann: no oil", "ann"
	d := &Server{}
	all := []ledger.TicketRecord{ticket("A-1", 170*time.Hour, "data gap"), ticket("A-2", time.Hour, "stood still"), matched, void, released, ticket("A-6", time.Hour)}
	if got := d.unread(all, now); !strings.HasPrefix(got, "1 ticket of the last 7 days, hauled or matched then, 179.89 bbl, needs review: A-2 (stood still). `gauger tickets list --review`") {
		t.Error(got)
	}
	learned := ticket("A-7", time.Hour)
	learned.Found = []ledger.Finding{{Note: "it came back"}}
	if got := d.unread(append(all, learned), now); !strings.HasPrefix(got, "2 tickets of the last 7 days, hauled or matched then, 359.78 bbl, need review: A-7 (learned later: it came back); A-2") {
		t.Error(got)
	}
	if got := d.unread(all[2:], now); got != "" {
		t.Error(got)
	}
	s := Status{Unread: "one", Hints: []string{"two"}}
	if all := s.AllHints(); len(all) != 2 || all[0] != "one" || s.NeedsPerson() {
		t.Errorf("%q", all)
	}
}

// That the store is a new one is a hint for a day, or until the office was told of it and a ticket has left from it.
func TestANewStoreIsNoNewsWhenTicketsLeaveFromIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site, Daemon: true}).Open()
		b.Must(b.BeginStore(time.Now()))
		ledgertest.Pass(30 * time.Minute)
		says := func(want bool, when string) {
			if got := server.newStore(time.Now()); (got != nil) != want {
				t.Errorf("%s: %q", when, got)
			}
		}
		says(true, "before")
		at := time.Now()
		_, _, err := b.Add(ledger.ManualTicket{Tank: "TK-1", Open: 118, Close: 60, Start: at.Add(-30 * time.Minute), End: at, Anyway: "seen"}, "ann")
		b.Must(err)
		b.Deliver()
		says(true, "the office does not know")
		b.ToldStore()
		says(false, "told, and a ticket has left")
	})
}
