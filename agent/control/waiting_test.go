package control

import (
	"strings"
	"testing"
	"time"

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
