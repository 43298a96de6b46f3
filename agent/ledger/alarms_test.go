package ledger

import (
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// series feeds one value every ten seconds and lets the clock be heard.
func (b *bench) series(point string, values ...float64) {
	b.t.Helper()
	for _, v := range values {
		b.emit(point, v)
		pass(10 * time.Second)
		if err := b.Tick(time.Now()); err != nil {
			b.t.Fatal(err)
		}
	}
}

func ruled(r Rule) func(*Site) {
	return func(s *Site) {
		r.Name, r.Object, r.ObjectType, r.Note = "High level", guid, "Device", "at {value} {unit}"
		r.Point = "plc/level2"
		s.Rules = []Rule{r}
	}
}

func TestARuleOpensAfterItsTimeAndClosesBelowItsClear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, ruled(Rule{Above: new(228.0), Clear: new(222.0), For: 30 * time.Second}))
		b.series("level2", 200, 229, 200, 200, 200) // a spike is no event
		b.series("level2", 229, 230, 231, 232, 227, 225, 223)
		if got := b.rules(); len(got) != 0 {
			t.Fatalf("events %v while the level is above its clear", got)
		}
		over := time.Now()
		b.series("level2", 221, 221, 221)
		events := b.bodies(Events)
		if len(events) != 1 {
			t.Fatalf("%d events, want 1", len(events))
		}
		if got, want := events[0]["note"], "at 229 in"; got != want {
			t.Errorf("note %q, want %q", got, want)
		}
		if got, want := events[0]["endTimeString"], over.UTC().Format("2006-01-02T15:04:05"); got != want {
			t.Errorf("it ended at %v, want the first reading below the clear, %v", got, want)
		}
	})
}

func TestAnUrgentRuleIsToldTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, ruled(Rule{Bit: new(3), Urgent: true}))
		b.series("level2", 0, 8, 8+1, 8)
		if got := len(b.rules()); got != 1 {
			t.Fatalf("%d events while the bit is set, want 1", got)
		}
		b.again()
		b.series("level2", 8, 8, 0, 0, 0)
		events := b.bodies(Events)
		if len(events) != 2 {
			t.Fatalf("%d events after the bit fell, over a restart, want 2", len(events))
		}
		if events[0]["startTimeString"] != events[1]["startTimeString"] {
			t.Error("the two tellings of one episode have different starts")
		}
	})
}

func TestSilenceAndBadReadingsAreEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, ruled(Rule{Stale: 10 * time.Minute}))
		b.series("level2", 1, 1, 1)
		for range 20 {
			pass(time.Minute)
			if err := b.Tick(time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		b.series("level2", 1, 1, 1, 1)
		if got := b.rules(); !slices.Equal(got, []string{"High level"}) {
			t.Errorf("twenty silent minutes gave %v", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, ruled(Rule{Bad: true}))
		for _, q := range []collectors.Quality{collectors.Good, collectors.Bad, collectors.Bad, collectors.Bad, collectors.Good, collectors.Good, collectors.Good} {
			b.emit("level2", 5, func(r *collectors.Reading) { r.Quality = q })
			pass(10 * time.Second)
		}
		if got := b.rules(); !slices.Equal(got, []string{"High level"}) {
			t.Errorf("one bad spell gave %v", got)
		}
	})
	synctest.Test(t, func(t *testing.T) { // without a value the reason stands in its place
		b := newBench(t, func(s *Site) { ruled(Rule{Bad: true})(s); s.Rules[0].Note = "" })
		for _, good := range []bool{true, false, false, false, true, true, true} {
			b.emit("level2", 5, func(r *collectors.Reading) {
				if !good {
					r.Quality, r.Value, r.Err = collectors.Bad, math.NaN(), errors.New("no answer within 1s")
				}
			})
			pass(10 * time.Second)
		}
		if got := b.bodies(Events); len(got) != 1 || got[0]["note"] != "plc/level2: no answer within 1s" {
			t.Errorf("one bad spell was told as %v", got)
		}
	})
}

func TestAHeldTicketWaitsForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Hold = 2 * time.Hour })
		b.haul(time.Hour)
		if got := len(b.bodies(Tickets)); got != 0 {
			t.Fatal("the ticket left before its time")
		}
		b.again()
		for range 8 {
			pass(10 * time.Minute)
			if err := b.Tick(time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(b.bodies(Tickets)); got != 1 {
			t.Errorf("%d tickets after the hold, over a restart, want 1", got)
		}
	})
}

func TestAPersonReleasesOrRejects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Hold = 24 * time.Hour })
		b.haul(time.Hour)
		b.haul(time.Hour)
		all, err := b.Tickets()
		if err != nil || len(all) != 2 {
			t.Fatalf("%d tickets are known (%v), want 2 held", len(all), err)
		}
		if err := b.Release(all[0].Number, "pat"); err != nil {
			t.Fatal(err)
		}
		if err := b.Reject(all[1].Number, "pat", "two\nlines"); err == nil {
			t.Error("a reason of two lines was taken")
		}
		b.match(MatchArgs{Number: all[1].Number, Hauler: "7", Bbl: 160})
		if err := b.Reject(all[1].Number, "pat", "a hose test"); err != nil {
			t.Fatal(err)
		}
		tickets := b.bodies(Tickets)
		if len(tickets) != 1 || tickets[0]["ticketNumber"] != all[0].Number {
			t.Errorf("queued %v, want the released %s alone", tickets, all[0].Number)
		}
		if _, warning := b.match(MatchArgs{Number: all[0].Number, Hauler: "7", Bbl: 160}); warning != "" {
			t.Errorf("a truck's ticket that was with a rejected one: %s", warning)
		}
		if err := b.Release(all[1].Number, "pat"); err == nil {
			t.Error("a rejected ticket was released")
		}
		if !slices.Contains(b.rules(), "ticket-rejected") {
			t.Errorf("events %v do not tell of the rejection", b.rules())
		}
	})
}
