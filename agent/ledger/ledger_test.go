package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/outbox"
)

const guid = "6f9619ff-8b86-d011-b42d-00c04fc964ff"

// The words of these tests: a bench is a ledger on a real outbox in a temporary folder; emit hands over a reading of its device
// plc, haul plays a load, again is a kill and the next run, bodies and rules are what waits in the outbox, pass lets a bubble's
// time go by. A site on a wrong clock is "wrong" (txn_clock_step_test.go), whose time is data.

// bench is a ledger on a real box in a temporary folder.
type bench struct {
	t    *testing.T
	path string
	site Site
	box  *outbox.Box
	*Ledger
}

func newBench(t *testing.T, change func(*Site)) *bench {
	t.Helper()
	site := Site{
		Name: "test", ID: "TEST", Object: guid, ObjectType: "Device", Zone: time.UTC, ProductionDay: 7 * time.Hour,
		Hold: 45 * time.Minute, Wire: cloud.DefaultWire(),
		Tanks: []Tank{{
			Tank:  tank.Tank{ID: "TK-1", Height: 240, Table: tank.Cylinder(144, 240), Every: 10 * time.Second, Loads: tank.DefaultLoads()},
			Level: "plc/level", Purchaser: "Acme",
		}},
	}
	if change != nil {
		change(&site)
	}
	b := &bench{t: t, path: filepath.Join(t.TempDir(), "outbox.db"), site: site}
	b.open()
	return b
}

// open starts a run of the program on what is in the box.
func (b *bench) open() {
	b.t.Helper()
	var err error
	b.box, err = outbox.Open(b.path, outbox.Options{MaxBytes: 16 << 20, Label: RecordLabel, Streams: []outbox.Stream{
		{Name: Tickets, Journal: true}, {Name: Events}, {Name: TagValues, Linger: b.site.Linger}, {Name: Targets}, {Name: Memos}, {Name: Refused, Held: true},
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	clock := clock.New(time.Now(), time.Time{}, b.site.Steady(), nil)
	if b.Ledger, err = New(b.site, b.box, clock, zerolog.Nop()); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { b.box.Close() })
}

// commit is the ledger's, by a caller who does not hold the lock.
func (b *bench) commit(tx *txn, device string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Ledger.commit(tx, device)
}

// again ends the run as a kill does, as far as the ledger is concerned, and starts the next.
func (b *bench) again() {
	b.t.Helper()
	if err := b.box.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.open()
}

// emit hands over one reading of plc now.
func (b *bench) emit(point string, value float64, change ...func(*collectors.Reading)) {
	b.t.Helper()
	r := collectors.Reading{Point: collectors.PointOf("plc", point), Value: value, Unit: "in", Quality: collectors.Good, At: time.Now()}
	for _, c := range change {
		c(&r)
	}
	if err := b.Host("plc").Emit(b.t.Context(), []collectors.Reading{r}); err != nil {
		b.t.Fatal(err)
	}
}

// bodies are the waiting records of a stream, decoded.
func (b *bench) bodies(stream string) []map[string]any {
	b.t.Helper()
	page, err := b.box.Entries(stream, outbox.Waiting, 0, 256)
	if err != nil {
		b.t.Fatal(err)
	}
	var all []map[string]any
	for _, e := range page {
		var m map[string]any
		if err := json.Unmarshal(e.Record.Body, &m); err != nil {
			b.t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// rules are the names of the waiting events.
func (b *bench) rules() []string {
	var names []string
	for _, e := range b.bodies(Events) {
		names = append(names, e["ruleName"].(string))
	}
	return names
}

// haul plays a quiet hour, a load from 180 in at 4 in a minute for 25 minutes, and rest after it.
func (b *bench) haul(rest time.Duration) {
	begin := time.Now()
	for elapsed := time.Duration(0); elapsed < 85*time.Minute+rest; elapsed = time.Since(begin) {
		pumped := min(max(elapsed-time.Hour, 0), 25*time.Minute)
		b.emit("level", 180-4*pumped.Minutes())
		pass(10 * time.Second)
		if err := b.Tick(time.Now()); err != nil {
			b.t.Fatal(err)
		}
	}
}

func TestALoadBecomesOneTicketWithItsState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		began := time.Now().Add(time.Hour)
		b.haul(50 * time.Minute)
		tickets := b.bodies(Tickets)
		if len(tickets) != 1 {
			t.Fatalf("%d tickets, want 1", len(tickets))
		}
		ticket := tickets[0]
		open := ticket["openingLevel"].(map[string]any)["level"].(float64)
		closing := ticket["closingLevel"].(map[string]any)["level"].(float64)
		if open < 179.9 || open > 180.1 || closing < 79.9 || closing > 80.1 {
			t.Errorf("gauges %.2f and %.2f, want 180 and 80", open, closing)
		}
		start, err := time.Parse(time.RFC3339, ticket["start"].(string))
		if err != nil || start.Sub(began).Abs() > time.Minute {
			t.Errorf("start %v (%v), want about %v", start, err, began)
		}
		for _, field := range []string{"topTemperature", "bottomTemperature", "specificGravity", "bsw"} {
			if v, ok := ticket[field]; ok {
				t.Errorf("%s is %v, but nobody measured it", field, v)
			}
		}
		b.again()
		b.haul(50 * time.Minute)
		numbers := map[any]bool{}
		for _, ticket := range b.bodies(Tickets) {
			numbers[ticket["ticketNumber"]] = true
		}
		if len(numbers) != 2 {
			t.Errorf("two loads gave the numbers %v", numbers)
		}
	})
}

func TestAFailedCommitLeavesTheOldState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Values = []Value{{Well: guid, Code: "Production Target Oil", Point: "plc/target"}} })
		b.emit("target", 100)
		before := b.state.lastValues[0]
		if err := b.box.Close(); err != nil {
			t.Fatal(err)
		}
		err := b.Host("plc").Emit(t.Context(), []collectors.Reading{{Point: "plc/target", Value: 200, Quality: collectors.Good, At: time.Now()}})
		if !errors.Is(err, outbox.ErrClosed) {
			t.Fatalf("emit into a closed box: %v", err)
		}
		if b.state.lastValues[0].Value != before.Value {
			t.Errorf("the ledger believes %g was queued, but nothing is on disk", b.state.lastValues[0].Value)
		}
		if r, ok := b.latest.get("plc/target"); ok && r.Value == 200 {
			t.Error("a reading that was not stored is shown as the newest")
		}
	})
}

func TestQuietReadingsOpenNoTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		quiet := func(d time.Duration) {
			for range d / (10 * time.Second) {
				pass(10 * time.Second)
				b.emit("level", 100)
			}
		}
		quiet(time.Hour)
		before := b.state.storedMark
		quiet(2 * time.Hour)
		if got := b.state.storedMark - before; got > 4 {
			t.Errorf("two quiet hours stored the state %d times; every half an hour is enough", got)
		}
	})
}

func TestValuesAreSentWhenDueAndOnceEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) {
			s.Values = []Value{
				{Well: guid, Code: "Production Target Oil", Point: "plc/each"},
				{Well: guid, Code: "Production Target Gas", Point: "plc/hourly", Every: time.Hour},
				{Well: guid, Code: "Production Target Oil", Point: "plc/target", Every: 24 * time.Hour, Target: true},
			}
		})
		device := func(r *collectors.Reading) { r.At = r.At.Round(0) } // a device's own time
		for n := range 5 {
			b.emit("each", float64(n), device)
			b.emit("each", float64(n), device) // delivered twice
			pass(time.Second)
		}
		for range 120 {
			b.emit("hourly", 7)
			pass(time.Minute)
		}
		b.emit("target", 90)
		pass(time.Hour)
		b.emit("target", 90.2)
		b.emit("target", 95)
		b.emit("target", 12, func(r *collectors.Reading) { r.Quality = collectors.Bad })
		var each []float64
		hourly := 0
		for _, set := range b.bodies(TagValues) {
			v := set["values"].([]any)[0].(map[string]any)
			if set["dataClassificationCode"] == "Production Target Gas" {
				hourly++
				continue
			}
			each = append(each, v["value"].(float64))
		}
		if !slices.Equal(each, []float64{0, 1, 2, 3, 4}) {
			t.Errorf("every reading once: got %v", each)
		}
		if hourly != 2 {
			t.Errorf("two hours of a value every hour gave %d records", hourly)
		}
		if got := len(b.bodies(Targets)); got != 2 {
			t.Errorf("a target that changed once gave %d records, want 2", got)
		}
	})
}

func TestAnIntegerRuleRefusalIsAnEpisodeNotAWrongNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Values = []Value{{Well: guid, Code: "Average Cost per MCF", Point: "plc/cost"}} })
		b.emit("cost", 2.4)
		b.emit("cost", 2.45)
		b.emit("cost", 30)
		if got := b.bodies(TagValues); len(got) != 1 {
			t.Errorf("%d tag values, want the one that a whole number can stand for", len(got))
		}
		if got := b.rules(); !slices.Equal(got, []string{"value-refused"}) {
			t.Errorf("events %v, want one value-refused", got)
		}
	})
}

func TestNoticesAreOneEventPerEpisodeAlsoOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		since := time.Now()
		lost := collectors.Notice{Rule: "comm-loss", Source: "plc", Note: "no answer", Since: since}
		for range 3 {
			if err := b.Host("plc").Notice(t.Context(), lost); err != nil {
				t.Fatal(err)
			}
			pass(time.Minute)
		}
		b.again()
		b.emit("level", 100) // the device answers: the run that opened the episode is gone, so the reading closes it
		events := b.bodies(Events)
		if len(events) != 1 {
			t.Fatalf("%d events, want 1: %v", len(events), b.rules())
		}
		if got, want := events[0]["startTimeString"], since.UTC().Format("2006-01-02T15:04:05"); got != want {
			t.Errorf("the episode began at %v, want %v", got, want)
		}
		if got, want := events[0]["endTimeString"], since.Add(3*time.Minute).UTC().Format("2006-01-02T15:04:05"); got != want {
			t.Errorf("the episode ended at %v, want %v", got, want)
		}
	})
}

func TestRefusedBytesAreKept(t *testing.T) {
	b := newBench(t, nil)
	if err := b.Host("radio").Refuse(t.Context(), []collectors.Refusal{{Source: "field/tk2", Raw: []byte{0xff, 0x00}, Err: errors.New("not JSON")}}); err != nil {
		t.Fatal(err)
	}
	page, err := b.box.Entries(Refused, outbox.Waiting, 0, 10)
	if err != nil || len(page) != 1 {
		t.Fatalf("%d refused records (%v), want 1", len(page), err)
	}
	var kept Refusal
	if err := json.Unmarshal(page[0].Record.Body, &kept); err != nil || kept.Source != "field/tk2" || string(kept.Raw) != "\xff\x00" || kept.Why != "not JSON" {
		t.Errorf("kept %+v, %v", kept, err)
	}
}

func TestMemoryIsEachDevicesOwn(t *testing.T) {
	b := newBench(t, nil)
	if err := b.Host("a").Remember("topics", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for device, want := range map[string]string{"a": "x", "b": ""} {
		if got, err := b.Host(device).Recall("topics"); err != nil || string(got) != want {
			t.Errorf("%s recalls %q (%v), want %q", device, got, err, want)
		}
	}
}

func TestAnUnsetClockHoldsRecordsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Values = []Value{{Well: guid, Code: "Production Target Oil", Point: "plc/target"}} })
		b.clock.NotBefore = time.Now().Add(time.Hour)
		b.emit("target", 5)
		if err := b.QueueEvent(Event{Rule: "power-restart", Note: "x", Start: time.Now(), End: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if got := len(b.bodies(Events)) + len(b.bodies(TagValues)); got != 0 {
			t.Fatalf("%d records were queued with a clock that is not set", got)
		}
		pass(2 * time.Hour)
		if err := b.Tick(time.Now()); err != nil {
			t.Fatal(err)
		}
		if len(b.bodies(Events)) != 1 || len(b.bodies(TagValues)) != 1 {
			t.Errorf("after the clock was set: %d events, %d values, want 1 and 1", len(b.bodies(Events)), len(b.bodies(TagValues)))
		}
	})
}

func TestAValueThatNobodyCanDateIsSaidToBeLost(t *testing.T) {
	b := newBench(t, func(s *Site) { s.Values = []Value{{Well: guid, Code: "Production Target Oil", Point: "plc/target"}} })
	b.clock.NotBefore = time.Now().Add(time.Hour)
	b.emit("target", 5) // by the box's clock
	b.again()
	if err := b.Tick(time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := b.rules(); len(b.bodies(TagValues)) != 0 || !slices.Equal(got, []string{"value-refused"}) {
		t.Errorf("%d values and the events %v, want none and one value-refused", len(b.bodies(TagValues)), got)
	}
}

func TestEmitObeysItsContext(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := b.Host("plc").Emit(ctx, []collectors.Reading{{Point: "plc/level"}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("emit after the end: %v", err)
	}
	if strings.Contains(strings.Join(b.rules(), " "), "comm-loss") {
		t.Error("an emit that did not happen had effects")
	}
}

// pass lets the bubble's time go by.
func pass(d time.Duration) { <-time.After(d) }
