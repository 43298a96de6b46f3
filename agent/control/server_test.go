package control

import (
	"encoding/json"
	"strings"
	"testing"

	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
)

// TestQueueTakesNoTicketAndNothingUnseen: what a member of the group queues is of the service's shape, or is told which field is
// not; a ticket never comes this way.
func TestQueueTakesNoTicketAndNothingUnseen(t *testing.T) {
	b := ledgertest.New(t, nil)
	d := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site}).Open()
	const set = `{"dataClassificationCode":"Production Target Oil","values":[{"value":412,"timestamp":"2026-03-01T07:00:00-06:00"}]}`
	for _, x := range []struct{ stream, address, body, want string }{
		{ledger.Tickets, "", `{"ticketNumber":"TEST-1"}`, "gauger tickets add"},
		{ledger.Refused, "", `{}`, "refused"},
		{ledger.TagValues, "well", strings.Replace(set, "412", `"412"`, 1), "values.value"},
		{ledger.TagValues, strings.Repeat("w", 1000), set, "address"},
		{ledger.Memos, "4711", `{"anything":1}`, "anything"},
		{ledger.TagValues, "well", set, ""},
	} {
		args, err := json.Marshal(QueueArgs{x.stream, x.address, json.RawMessage(x.body)})
		if err != nil {
			t.Fatal(err)
		}
		before := b.Box.Counts()
		_, err = d.Call(t.Context(), "queue", args)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s %s: %v, want %q", x.stream, x.body, err, x.want)
		}
		if n := b.Box.Counts()[x.stream].Waiting - before[x.stream].Waiting; (n == 1) != (err == nil) {
			t.Errorf("%s %s: %d more wait, with %v", x.stream, x.body, n, err)
		}
	}
}
