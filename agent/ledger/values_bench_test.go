package ledger

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/collectors"
	"gauger/outbox"
)

// BenchmarkEveryReading measures one reading of a value that is recorded every time, in batches of 200 as a broker sends
// them, from the ledger's Emit to the disk.
func BenchmarkEveryReading(b *testing.B) {
	site := Site{
		Name: "test", ID: "TEST", Object: guid, ObjectType: "Device", Zone: time.UTC, ProductionDay: 7 * time.Hour,
		Wire: cloud.DefaultWire(), Values: []Value{{Well: guid, Code: "Production Target Oil", Point: "radio/n"}},
	}
	box, err := outbox.Open(filepath.Join(b.TempDir(), "outbox.db"), outbox.Options{MaxBytes: 1 << 30, Streams: []outbox.Stream{
		{Name: Tickets, Journal: true}, {Name: Events}, {Name: TagValues}, {Name: Targets}, {Name: Memos}, {Name: Refused, Held: true},
	}})
	if err != nil {
		b.Fatal(err)
	}
	defer box.Close()
	clock := clock.New(time.Now(), time.Time{}, time.Minute, nil)
	clock.Confirm()
	l, err := New(site, box, clock, zerolog.Nop())
	if err != nil {
		b.Fatal(err)
	}
	const size = 200
	batch := make([]collectors.Reading, size)
	begin := time.Now().Round(0)
	b.ResetTimer()
	for done := 0; done < b.N; done += size {
		for i := range batch {
			batch[i] = collectors.Reading{Point: "radio/n", Value: float64(done + i), Quality: collectors.Good, At: begin.Add(time.Duration(done+i) * time.Millisecond)}
		}
		if err := l.Host("mqtt").Emit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if n := box.Counts()[TagValues].Accepted; int(n) < b.N {
		b.Fatalf("%d records of %d readings", n, b.N)
	}
}
