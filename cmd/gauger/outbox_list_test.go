package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"
)

// Who looks what waits sees the tickets first, and of a device whose messages cannot be decoded one line at the end; asked for them, all.
func TestWaitingTicketsComeFirstAndUndecodedMessagesLast(t *testing.T) {
	var all []control.Entry
	add := func(stream, address string, seq uint64, state string) {
		e := control.Entry{Stream: stream, Seq: seq, State: state, Address: address, At: time.Unix(int64(seq), 0)}
		if stream == ledger.Refused {
			e.Body = json.RawMessage(`{"source":"field/tk1","raw":"eA==","why":"no number"}`)
		}
		all = append(all, e)
	}
	add(ledger.Events, "", 1, "waiting")
	for seq := range uint64(29) {
		add(ledger.Refused, "radio", seq+1, "waiting")
	}
	add(ledger.Refused, "other", 30, "waiting")
	add(ledger.Tickets, "", 7, "waiting")
	add(ledger.Tickets, "", 5, "dead")
	for brief, want := range map[bool]int{true: 6, false: 34} {
		var out bytes.Buffer
		if err := printTable(&out, all, brief, time.UTC); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		last := lines[len(lines)-1]
		if len(lines) != want || !strings.HasPrefix(lines[1], "tickets/7") || !strings.HasPrefix(last, "refused/30") || strings.Contains(last, "messages of") {
			t.Errorf("brief %v: %d lines\n%s", brief, len(lines), out.String())
		}
		if folded := strings.Contains(out.String(), "29 messages of radio  `gauger outbox dead refused` shows them; the newest: no number"); folded != brief {
			t.Errorf("brief %v:\n%s", brief, out.String())
		}
	}
}

// Of many records that were refused the newest of each stream are shown, and how to see the others; a program gets them all.
func TestOnlyTheNewestOfManyRefusedAreShown(t *testing.T) {
	var all []control.Entry
	for seq := range uint64(906) {
		all = append(all, control.Entry{Stream: ledger.Memos, Seq: seq + 1, State: "dead", At: time.Unix(int64(seq), 0)})
	}
	all = append(all, control.Entry{Stream: ledger.Tickets, Seq: 5, State: "dead"})
	var out bytes.Buffer
	o := &listOptions{usual: []string{"dead"}}
	if err := o.print(&call{err: &bytes.Buffer{}, out: &out}, all, false); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if lines := strings.Count(text, "\n"); lines != 23 || !strings.Contains(text, "memos/887 ") || strings.Contains(text, "memos/886 ") || !strings.Contains(text, "memos/906 ") ||
		!strings.Contains(text, "tickets/5 ") || !strings.HasSuffix(text, "\nand 886 older: `gauger outbox dead --all`\n") {
		t.Errorf("%d lines:\n%s", lines, text)
	}
	o.every = true
	if out.Reset(); o.print(&call{err: &bytes.Buffer{}, out: &out}, all, false) != nil || strings.Count(out.String(), "\n") != 908 {
		t.Errorf("--all:\n%s", out.String())
	}
	o.every = false
	if out.Reset(); o.print(&call{err: &bytes.Buffer{}, out: &out, format: "json"}, all, false) != nil || strings.Count(out.String(), `"stream"`) != 907 {
		t.Errorf("as JSON not all")
	}
}
