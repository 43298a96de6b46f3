package ledger

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// unknownAge makes a reading one that may have waited at a broker.
func unknownAge(r *collectors.Reading) {
	r.Quality, r.AgeUnknown = collectors.Uncertain, true
}

// TestWhatIsNotUsedIsCountedAndTold: every number of a value that is sent each time is either a record or in the count,
// which a kill does not change; and the site is told once an hour.
func TestWhatIsNotUsedIsCountedAndTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Values = []Value{{Well: guid, Code: "Production Target Oil", Point: "plc/rate"}} })
		send := func(n int, change ...func(*collectors.Reading)) {
			for range n {
				b.emit("rate", 40, change...)
				b.emit("nothing-uses-this", 40, change...)
				pass(time.Second)
			}
		}
		ticked := func(d time.Duration) {
			pass(d)
			if err := b.Tick(time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		send(5)
		begin := time.Now()
		send(7, unknownAge)
		b.again()
		send(2, unknownAge)
		send(4)
		if got := len(b.bodies(TagValues)); got != 9 {
			t.Errorf("%d records, want 9", got)
		}
		u := b.Unused()
		if len(u) != 1 || u[0].Point != "plc/rate" || u[0].Count != 9 || !u[0].First.Equal(begin) || !u[0].Last.Equal(begin.Add(8*time.Second)) {
			t.Fatalf("counted %+v", u)
		}
		ticked(time.Minute)
		ticked(time.Minute)
		notes := b.notes("readings-unused")
		if len(notes) != 1 || !strings.Contains(notes[0], "9 readings") || !strings.Contains(notes[0], "9 of plc/rate") || !strings.Contains(notes[0], "time:") {
			t.Fatalf("told %v", notes)
		}
		send(3, unknownAge)
		ticked(30 * time.Minute)
		send(1, unknownAge)
		if got := b.notes("readings-unused"); len(got) != 1 {
			t.Errorf("told %v within the hour", got)
		}
		ticked(30 * time.Minute)
		if got := b.notes("readings-unused"); len(got) != 2 || !strings.Contains(got[1], "4 readings") {
			t.Errorf("told %v", got)
		}
		b.again()
		ticked(2 * time.Hour)
		if got := b.notes("readings-unused"); len(got) != 2 {
			t.Errorf("told again: %v", got)
		}
		if all := b.Unused(); len(all) != 1 || all[0].Count != 13 {
			t.Errorf("not used: %+v", all)
		}
	})
}

// TestManyUnusedReadingsSpareTheFlash: beyond a thousand of a point the count is stored each minute, and a kill costs at most those.
func TestManyUnusedReadingsSpareTheFlash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Values = []Value{{Well: guid, Code: "Production Target Oil", Point: "plc/rate"}} })
		count := func() uint64 { return b.Unused()[0].Count }
		send := func(n int) {
			for range n {
				b.emit("rate", 40, unknownAge)
			}
		}
		send(unusedExact)
		b.again()
		if got := count(); got != unusedExact {
			t.Errorf("%d after a kill, want each", got)
		}
		send(500)
		if got := count(); got != unusedExact+500 {
			t.Errorf("%d counted", got)
		}
		b.again()
		if got := count(); got != unusedExact {
			t.Errorf("%d after a kill: each was stored by itself", got)
		}
		send(500)
		pass(unusedAfter)
		b.must(b.Tick(time.Now()))
		b.again()
		if got := count(); got != unusedExact+500 {
			t.Errorf("%d after a minute and a kill", got)
		}
	})
}
