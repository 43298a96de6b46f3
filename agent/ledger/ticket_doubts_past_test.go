package ledger

import (
	"strings"
	"testing"
	"time"

	"gauger/agent/tank"
)

// A tank's past tickets speak against a wrong month and against a decimal point in another place, and not against a load of the day before the
// first that was seen, nor against what is usual.
func TestATankOwnPastSpeaksAgainstATicket(t *testing.T) {
	first := time.Date(2026, 10, 29, 12, 0, 0, 0, time.UTC)
	var known []TicketRecord
	for i := range 3 {
		known = append(known, TicketRecord{Tank: "B", Start: first.AddDate(0, 0, i), Load: &tank.Load{}, Volumes: &Volumes{BSW: new(0.4)}})
	}
	for _, c := range []struct {
		tank  string
		start time.Time
		bsw   *float64
		known int
		say   string
	}{
		{"B", first.AddDate(0, 0, -4), nil, 3, "before the first that was seen of B, on 2026-10-29: look at the month"},
		{"B", first.Add(-time.Hour), new(0.5), 3, ""}, {"A", first.AddDate(0, 0, -4), new(4.0), 3, ""},
		{"B", time.Time{}, new(4.0), 3, "bsw 4 is ten times what tickets of B usually have, 0.4"}, {"B", time.Time{}, new(4.0), 2, ""}, {"B", first, new(3.0), 3, ""},
	} {
		said := strings.Join(unlikePast(c.tank, c.start, c.bsw, known[:c.known], time.UTC), "; ")
		if (said == "") != (c.say == "") || !strings.Contains(said, c.say) {
			t.Errorf("%s, %s: %q, want %q", c.tank, c.start, said, c.say)
		}
	}
}
