package ledger

import (
	"fmt"
	"testing"
	"time"

	"gauger/collectors"
)

// TestAValueMakesNoGarbage: a reading that becomes a record, by its device's time or by that of its arrival, allocates nothing until
// the outbox has it. A page of fingerprints is made with every 128th, which is less than one in fifty.
func TestAValueMakesNoGarbage(t *testing.T) {
	b := newBench(t, everyReading)
	b.Ledger.clock.Confirm()
	b.Ledger.mu.Lock()
	defer b.Ledger.mu.Unlock()
	for name, own := range map[string]bool{"its device's time": true, "its arrival's": false} {
		tx, n := b.Ledger.begin(time.Now()), 0
		apply := func() {
			r := numbered(n, n+1)[0:1:1][0]
			if n++; !own {
				r.At = time.Now()
			}
			tx.apply(&r)
		}
		making := testing.AllocsPerRun(50, func() { _ = numbered(7, 8) })
		for range 200 {
			apply()
		}
		tx.records, tx.bodies = tx.records[:0], tx.bodies[:0]
		if got := testing.AllocsPerRun(50, apply); got != making || len(tx.records) != 51 {
			t.Errorf("by %s: %v allocations a reading and %d records of 51", name, got-making, len(tx.records))
		}
	}
}

// TestAQuietPollMakesNoGarbage: a batch of which nothing is stored allocates nothing.
func TestAQuietPollMakesNoGarbage(t *testing.T) {
	b := newBench(t, func(*Site) {})
	batch := []collectors.Reading{{Point: "plc/a", Value: 1, Quality: collectors.Good}, {Point: "plc/b", Value: 2, Quality: collectors.Good}}
	host := b.Host("plc")
	emit := func() {
		batch[0].At = time.Now()
		if err := host.Emit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	emit()
	if got := testing.AllocsPerRun(50, emit); got != 0 {
		t.Errorf("%v allocations a batch", got)
	}
}

// TestTheNewestReadingsMakeNoGarbage: a poll of many points takes the place of the one before, and so does a message.
func TestTheNewestReadingsMakeNoGarbage(t *testing.T) {
	n, at := latestReadings{}, time.Now()
	for points := range 4 {
		var batch []collectors.Reading
		for i := range 1 + 33*points {
			batch = append(batch, collectors.Reading{Point: collectors.PointOf("d", fmt.Sprint(i)), Quality: collectors.Good})
		}
		store := func() {
			at = at.Add(time.Second)
			for i := range batch {
				batch[i].At, batch[i].Value = at, float64(at.Second())
			}
			n.store(batch)
		}
		store()
		store()
		if got := testing.AllocsPerRun(20, store); got != 0 {
			t.Errorf("a batch of %d points: %v allocations", len(batch), got)
		}
		for _, r := range n.all()[:len(batch)] {
			if points == 3 && (r.Value != float64(at.Second()) || !r.At.Equal(at)) {
				t.Errorf("%+v after a batch of %s", r, at)
			}
		}
	}
}
