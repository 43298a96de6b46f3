// Package ledgertest is a ledger on a real outbox in a temporary folder, for the tests of the rooms above it.
//
// A Bench is a site with one tank whose ledger runs on such an outbox: Emit hands over a reading, Haul plays a load, Again is a
// kill and the next run, Bodies are the records that wait.
package ledgertest

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/rs/zerolog"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/flash"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/outbox"
)

// GUID is the id of everything that the service knows of the site.
const GUID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"

// Bench is a ledger on a real box in a temporary folder.
type Bench struct {
	*ledger.Ledger
	T     testing.TB
	Site  ledger.Site
	Box   *outbox.Box
	Clock *clock.Clock

	path string
}

// New opens a bench; change has a word about its site before.
func New(t testing.TB, change func(*ledger.Site)) *Bench {
	t.Helper()
	site := ledger.Site{
		Name: "test", ID: "TEST", Object: GUID, ObjectType: "Device", Zone: time.UTC, ProductionDay: 7 * time.Hour,
		Hold: 45 * time.Minute, Wire: cloud.DefaultWire(), Refusals: flash.Limits{Messages: 2000, Bytes: 4e6, Day: 5e6},
		Tanks: []ledger.Tank{{
			Tank:  tank.Tank{ID: "TK-1", Height: 240, Table: tank.Cylinder(144, 240), Every: 10 * time.Second, Loads: tank.DefaultLoads()},
			Level: "plc/level", Purchaser: "Acme",
		}},
	}
	if change != nil {
		change(&site)
	}
	b := &Bench{T: t, path: filepath.Join(t.TempDir(), "outbox.db"), Site: site}
	b.open()
	return b
}

// open starts a run of the program on what is in the box.
func (b *Bench) open() {
	b.T.Helper()
	var err error
	b.Box, err = outbox.Open(b.path, outbox.Options{MaxBytes: 16 << 20, Label: ledger.RecordLabel, Streams: []outbox.Stream{
		{Name: ledger.Tickets, Journal: true}, {Name: ledger.Events}, {Name: ledger.TagValues}, {Name: ledger.Targets}, {Name: ledger.Memos}, {Name: ledger.Refused, Held: true},
	}})
	if err != nil {
		b.T.Fatal(err)
	}
	b.Clock = clock.New(time.Now(), time.Time{}, b.Site.Steady(), nil)
	if b.Ledger, err = ledger.New(b.Site, b.Box, b.Clock, zerolog.Nop()); err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(func() { b.Box.Close() })
}

// Again ends the run as a kill does, as far as the ledger is concerned, and starts the next.
func (b *Bench) Again() {
	b.T.Helper()
	if err := b.Box.Close(); err != nil {
		b.T.Fatal(err)
	}
	b.open()
}

// Emit hands over one reading of plc now.
func (b *Bench) Emit(point string, value float64, change ...func(*collectors.Reading)) {
	b.T.Helper()
	r := collectors.Reading{Point: collectors.PointOf("plc", point), Value: value, Unit: "in", Quality: collectors.Good, At: time.Now()}
	for _, c := range change {
		c(&r)
	}
	if err := b.Host("plc").Emit(b.T.Context(), []collectors.Reading{r}); err != nil {
		b.T.Fatal(err)
	}
}

// Bodies are the waiting records of a stream, decoded.
func (b *Bench) Bodies(stream string) []map[string]any {
	b.T.Helper()
	page, err := b.Box.Entries(stream, outbox.Waiting, 0, 256)
	if err != nil {
		b.T.Fatal(err)
	}
	var all []map[string]any
	for _, e := range page {
		var m map[string]any
		if err := json.Unmarshal(e.Record.Body, &m); err != nil {
			b.T.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// Rules are the names of the waiting events.
func (b *Bench) Rules() []string {
	var names []string
	for _, e := range b.Bodies(ledger.Events) {
		names = append(names, e["ruleName"].(string))
	}
	return names
}

// Haul plays a quiet hour, a load from 180 in at 4 in a minute for 25 minutes, and rest after it.
func (b *Bench) Haul(rest time.Duration) {
	begin := time.Now()
	for elapsed := time.Duration(0); elapsed < 85*time.Minute+rest; elapsed = time.Since(begin) {
		pumped := min(max(elapsed-time.Hour, 0), 25*time.Minute)
		b.Emit("level", 180-4*pumped.Minutes())
		Pass(10 * time.Second)
		if err := b.Tick(time.Now()); err != nil {
			b.T.Fatal(err)
		}
	}
}

// Notes are the Notes of the waiting events of a rule.
func (b *Bench) Notes(rule string) (all []string) {
	for _, e := range b.Bodies(ledger.Events) {
		if e["ruleName"] == rule {
			all = append(all, e["note"].(string))
		}
	}
	return all
}

// Must fails the test on an error.
func (b *Bench) Must(err error) {
	b.T.Helper()
	if err != nil {
		b.T.Fatal(err)
	}
}

// Pass lets time go by, in a bubble of synctest.
func Pass(d time.Duration) { <-time.After(d) }

// Stepped is an instant as a box says it whose wall clock was set by so much: the monotonic clock stays.
func Stepped(t time.Time, by time.Duration) time.Time {
	inside := (*struct{ wall uint64 })(unsafe.Pointer(&t)) // the seconds of an instant that has both clocks begin at bit 30
	inside.wall += uint64(int64(by/time.Second)) << 30
	return t
}

// Deliver lets the service take the tickets that wait; it belongs into a bubble.
func (b *Bench) Deliver() {
	ctx, cancel := context.WithCancel(b.T.Context())
	ended := make(chan error)
	go func() { ended <- b.Box.Drain(ctx, ledger.Tickets, taker{}) }()
	Pass(time.Minute)
	cancel()
	b.Must(<-ended)
}

// taker is a service that takes everything.
type taker struct{}

// Send implements outbox.Sender.
func (taker) Send(_ context.Context, _ string, batch []outbox.Record) []outbox.Answer {
	return slices.Repeat([]outbox.Answer{{Class: outbox.Stored, Status: 200}}, len(batch))
}
