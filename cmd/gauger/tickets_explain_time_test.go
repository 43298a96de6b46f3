package main

import (
	"strings"
	"testing"
	"time"

	"gauger/agent/ledger"
)

// Where a load covers the time that is asked for, one that was over some minutes before is only near it.
func TestTheLoadOfATimeComesBeforeOneNearIt(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 48, 0, 0, time.UTC)
	record := func(number string, from, to time.Duration) ledger.TicketRecord {
		return ledger.TicketRecord{Number: number, Tank: "TK-1", Start: at.Add(from), End: at.Add(to)}
	}
	a := timeAnswer{Explanation: &ledger.Explanation{Tank: "TK-1", At: at, Now: at.Add(time.Hour),
		Tickets: []ledger.TicketRecord{record("A-1", -5*time.Minute, -4*time.Minute), record("A-2", -15*time.Second, 13*time.Second)}}}
	says := a.sentences()
	if !strings.HasSuffix(says[0], "tank TK-1 was being hauled; there is a ticket.") || !strings.Contains(says[len(says)-1], "Ticket A-1 is near") {
		t.Errorf("%q", says)
	}
	// The minute after its end is not of it, and of two that are near the nearer one answers, the other is named.
	a.Tickets = []ledger.TicketRecord{record("A-1", -12*time.Minute, -8*time.Minute), record("A-2", -5*time.Minute, -30*time.Second)}
	says = a.sentences()
	if whole := strings.Join(says, " "); !strings.Contains(says[0], "was not being hauled, but it was from 09:43 to 09:47") || !strings.Contains(whole, "It is A-2") || strings.Contains(whole, "It is A-1") || !strings.Contains(whole, "Ticket A-1 is near") {
		t.Errorf("of two before it: %q", says)
	}
	a.Tickets = []ledger.TicketRecord{record("A-1", -5*time.Minute, -4*time.Minute)}
	if says := a.sentences(); !strings.Contains(says[0], "was not being hauled, but it was from 09:43 to 09:44") {
		t.Errorf("with the one before alone: %q", says)
	}
}
