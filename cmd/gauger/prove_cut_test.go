package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gauger/agent/ledger"
	"gauger/outbox"
)

// told holds the queues after a row.
type told struct {
	at      time.Duration // batches handed over so far
	tickets int
	events  int
}

// The same recording twice is the same to the byte, and a recording that ends at any instant gives exactly what was final
// by then in the whole one: nothing is decided by what comes later.
func TestProveNoHindsight(t *testing.T) {
	cuts, cases := 0, proveCases(t, 10)
	each := max(1, int(proveNumber("GAUGER_CUTS", 30))/len(cases))
	for _, folder := range cases {
		p := newProof(t, folder)
		var after []told
		batches := time.Duration(0)
		whole := p.play(t.TempDir(), p.recording(t.TempDir(), p.rows), func(box *outbox.Box) {
			batches++
			n := box.Counts()
			now := told{batches, int(n[ledger.Tickets].Waiting), int(n[ledger.Events].Waiting)}
			if len(after) == 0 || now.tickets != after[len(after)-1].tickets || now.events != after[len(after)-1].events {
				after = append(after, now)
			}
		})
		if again := p.play(t.TempDir(), p.recording(t.TempDir(), p.rows), nil); !sameBytes(again, whole) {
			t.Errorf("%s: two replays differ", p.name())
		}
		rng := p.seeded()
		for range each {
			batches = 0
			k := p.victim(rng, whole[ledger.Tickets])
			cut := p.play(t.TempDir(), p.recording(t.TempDir(), p.rows[:k]), func(*outbox.Box) { batches++ })
			cuts++
			final := told{}
			for _, a := range after {
				if a.at <= batches {
					final = a
				}
			}
			want := map[string][]json.RawMessage{ledger.Tickets: whole[ledger.Tickets][:final.tickets], ledger.Events: whole[ledger.Events][:final.events]}
			if !sameBytes(cut, want) {
				t.Errorf("%s cut at row %d: %d tickets and %d events, want the first %d and %d of the whole", p.name(), k,
					len(cut[ledger.Tickets]), len(cut[ledger.Events]), final.tickets, final.events)
			}
		}
	}
	t.Logf("%d cuts of %d recordings", cuts, len(cases))
}

func sameBytes(a, b map[string][]json.RawMessage) bool {
	for _, stream := range []string{ledger.Tickets, ledger.Events} {
		if !slices.EqualFunc(a[stream], b[stream], func(x, y json.RawMessage) bool { return string(x) == string(y) }) {
			return false
		}
	}
	return true
}

// What the real program sends of a recording is to the byte what backtest says of it: tickets and events.
func TestProveRunIsBacktest(t *testing.T) {
	program, err := exec.LookPath("gauger") // this test binary, by the name under which it is gauger
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GAUGER_KEY", primaryKey)
	for _, folder := range proveCases(t, 2) {
		p := newProof(t, folder)
		dir := t.TempDir()
		events := filepath.Join(dir, "events.json")
		backtest := exec.Command(program, "backtest", "-c", filepath.Join(p.folder, "gauger.yaml"),
			"--readings", p.recording(dir, p.rows), "--format", "json", "--events", events)
		tickets, err := backtest.Output()
		if err != nil {
			t.Fatalf("%s: backtest: %v", p.name(), err)
		}
		diagnoses, err := os.ReadFile(events)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]json.RawMessage{ledger.Tickets: listed(t, tickets), ledger.Events: listed(t, diagnoses)}
		out := p.killed(program, nil, p.seeded(), want)
		if got := map[string][]json.RawMessage{ledger.Tickets: out.tickets, ledger.Events: out.events}; !sameBytes(got, want) {
			t.Errorf("%s: run sent\n%s\nbacktest says\n%s", p.name(), got, want)
		}
	}
}

// listed are the elements of a list, without the white space that backtest puts in for people.
func listed(t *testing.T, raw []byte) []json.RawMessage {
	t.Helper()
	var b bytes.Buffer
	var all []json.RawMessage
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	return all
}
