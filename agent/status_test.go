package agent

import (
	"testing"
	"time"

	"gauger/agent/link"
	"gauger/outbox"
)

// Whether a site counts as sending is judged by what the link's plan does not hold back, so that tag values which wait for
// the night neither hide a ticket that nobody takes nor make one that has just come look late.
func TestOverdueIsWhatThePlanDoesNotExplain(t *testing.T) {
	now := time.Unix(1e9, 0)
	one := outbox.Counts{Waiting: 1}
	night := &link.Status{Held: map[string]string{TagValues: "outside link.windows"}}
	refused := map[string]DrainStatus{Tickets: {Held: now.Add(-time.Second)}}
	for what, x := range map[string]struct {
		s    Status
		want bool
	}{
		"nothing waits":                           {Status{}, false},
		"a ticket has come":                       {Status{Oldest: now, Streams: map[string]outbox.Counts{Tickets: one}}, false},
		"it is refused":                           {Status{Oldest: now, Streams: map[string]outbox.Counts{Tickets: one}, Drains: refused}, true},
		"it is refused, and values wait by plan":  {Status{Oldest: now, Streams: map[string]outbox.Counts{Tickets: one, TagValues: one}, Drains: refused, Link: night}, true},
		"it is refused, and an event has come":    {Status{Oldest: now, Streams: map[string]outbox.Counts{Tickets: one, Events: one}, Drains: refused}, false},
		"a ticket waits for long":                 {Status{Oldest: now.Add(-time.Hour), Streams: map[string]outbox.Counts{Tickets: one}}, true},
		"values wait by plan, a ticket has come":  {Status{Oldest: now, Streams: map[string]outbox.Counts{Tickets: one, TagValues: one}, Link: night}, false},
		"values wait by plan and nothing besides": {Status{Streams: map[string]outbox.Counts{TagValues: one}, Link: night}, false},
	} {
		if x.s.Now = now; x.s.Overdue() != x.want {
			t.Errorf("%s: overdue %v", what, !x.want)
		}
	}
}
