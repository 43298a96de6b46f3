package main

import (
	"strings"
	"testing"

	"gauger/agent/control"
)

// A row may stand for several events, and the counts are of events.
func TestProofCountsEventsAndNotRows(t *testing.T) {
	p := ledgerProof{}
	p.Events = control.EventProof{Compared: true, Delivered: 12, Service: 2,
		Missing: []control.EventCount{{Delivered: 7}, {Delivered: 5, Service: 1}},
		Doubled: []control.EventCount{{Delivered: 1, Service: 3}}}
	var out strings.Builder
	table := newTable(&out)
	p.eventsText(table)
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "12 delivered, the service has 2: 11 missing, 2 doubled, 0 not known here"; !strings.Contains(out.String(), want) || strings.Contains(out.String(), "another store") {
		t.Errorf("want %q in %q", want, out.String())
	}
	p.Events.Unknown = []control.EventCount{{Service: 8}}
	p.eventsText(table)
	if err := table.Flush(); err != nil || !strings.Contains(out.String(), "8 not known here\nwhat is not known here was sent from another store: another gauger") {
		t.Errorf("%v: %q", err, out.String())
	}
}
