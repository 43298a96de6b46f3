package ledger

import (
	"encoding/json"
	"testing"
	"time"

	"gauger/collectors"
	"gauger/outbox"
)

// everyReading is a site whose readings of radio/n all become records.
func everyReading(s *Site) {
	s.Values = []Value{{Well: guid, Code: "Production Target Oil", Point: "radio/n"}}
}

func numbered(from, to int) []collectors.Reading {
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	var all []collectors.Reading
	for n := from; n < to; n++ {
		all = append(all, collectors.Reading{Point: "radio/n", Value: float64(n), Quality: collectors.Good, At: begin.Add(time.Duration(n) * time.Second)})
	}
	return all
}

// What a broker delivers again makes no second record, however long the queue was when gauger was killed.
func TestRedeliveryMakesNoSecondRecord(t *testing.T) {
	b := newBench(t, everyReading)
	b.Ledger.clock.Confirm()
	send := func(from, to int) {
		t.Helper()
		if err := b.Host("mqtt").Emit(t.Context(), numbered(from, to)); err != nil {
			t.Fatal(err)
		}
	}
	for n := 0; n < 3000; n += 50 {
		send(n, n+50)
	}
	for range 2 {
		b.again()
		b.Ledger.clock.Confirm()
		send(1000, 3010)
		if got := b.box.Counts()[TagValues].Accepted; got != 3010 {
			t.Fatalf("%d records of 3010 readings", got)
		}
	}
	if names, err := b.box.Names(recentKey); err != nil || len(names) != recentPages {
		t.Errorf("%d pages are kept (%v), want %d", len(names), err, recentPages)
	}
}

// The version before kept the fingerprints with the value, and not which of the readings was the newest.
func TestRedeliveryOverAnUpgrade(t *testing.T) {
	for last := range 10 {
		redeliverOverAnUpgrade(t, last)
	}
}

func redeliverOverAnUpgrade(t *testing.T, last int) {
	t.Helper()
	b := newBench(t, everyReading)
	old := lastValue{Sent: true, At: numbered(last, last+1)[0].At, Value: float64(last)}
	for _, r := range numbered(0, 10) {
		old.Recent = append(old.Recent, encodePage([]uint64{fingerprint(&r)})...)
	}
	raw, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.box.Update(func(tx *outbox.Tx) error { tx.Put(valueKey+b.site.Values[0].key(), raw); return nil }); err != nil {
		t.Fatal(err)
	}
	b.again()
	b.Ledger.clock.Confirm()
	if err := b.Host("mqtt").Emit(t.Context(), numbered(0, 12)); err != nil {
		t.Fatal(err)
	}
	if got := b.box.Counts()[TagValues].Accepted; got != 2 {
		t.Errorf("reading %d was sent last: %d records, want the two new ones", last, got)
	}
}

// A batch that could not be stored is not remembered: when it comes again it counts.
func TestWhatWasNotStoredIsNotRemembered(t *testing.T) {
	b := newBench(t, everyReading)
	b.Ledger.clock.Confirm()
	if err := b.Host("mqtt").Emit(t.Context(), numbered(0, 10)); err != nil {
		t.Fatal(err)
	}
	b.Ledger.mu.Lock()
	tx := b.Ledger.begin(time.Now())
	for _, r := range numbered(10, 20) {
		tx.apply(&r) // and the transaction is given up
	}
	b.Ledger.mu.Unlock()
	if err := b.Host("mqtt").Emit(t.Context(), numbered(5, 15)); err != nil {
		t.Fatal(err)
	}
	if got := b.box.Counts()[TagValues].Accepted; got != 15 {
		t.Errorf("%d records of 15 readings", got)
	}
}
