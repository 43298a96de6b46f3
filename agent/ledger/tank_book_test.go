package ledger

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tankbook"
	"gauger/collectors"
	"gauger/outbox"
)

// leaking plays a recording of a tank that loses a barrel a day, a truck's run across the second gauge-off, and a
// production meter; at each hour that is named the program is killed.
func (b *bench) leaking(hours int, kill ...int) {
	b.t.Helper()
	begin := time.Date(2026, 3, 2, 5, 0, 0, 0, time.UTC)
	level, made, perInch := 150.0, 990.0, 1.6786
	boot, booted := int64(1), 0
	for minute := range hours * 60 {
		for _, h := range kill {
			if minute == h*60 {
				b.again()
				boot, booted = boot+1, minute
			}
		}
		level += (60 - 1) / perInch / 1440
		made += 60. / 1440
		if minute >= 25*60+45 && minute < 25*60+45+30 { // 06:45 to 07:15 on March 3
			level -= 5 / perInch
		}
		at := begin.Add(time.Duration(minute) * time.Minute)
		mono := time.Duration(minute-booted) * time.Minute
		r := collectors.Reading{Point: "plc/level", Unit: "in", Value: level + 0.03*float64(minute%5-2), Quality: collectors.Good, At: at, Boot: boot, Mono: mono}
		m := collectors.Reading{Point: "plc/made", Unit: "gal", Value: math.Mod(made, 1000) * 42, Quality: collectors.Good, At: at, Boot: boot, Mono: mono}
		if err := b.Host("plc").Emit(b.t.Context(), []collectors.Reading{m, r}); err != nil {
			b.t.Fatal(err)
		}
	}
}

func metered(s *Site) { s.Tanks[0].Production, s.LossLimit = "plc/made", 0.8 }

func TestTheBookClosesItsDaysAndTellsOfALossOnce(t *testing.T) {
	b := newBench(t, metered)
	if err := b.box.Update(func(tx *outbox.Tx) error {
		tx.Put(closedDaysKey+"2024-01-01/TK-1", []byte("{}"))
		tx.Put(closedDaysKey+"2026-01-01/TK-1", []byte("{}"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	b.leaking(100, 20, 26, 51)
	rows, err := b.BookDays(BookPeriod{From: "2026-03-01", To: "2026-03-31"})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 6 {
		t.Fatalf("%d days, want 5 that are closed and the one in which the readings end: %+v", len(rows), rows)
	}
	for _, r := range rows[1:5] {
		off := *r.Opening + *r.Production - r.Runs + *r.Residual - *r.Closing
		if math.Abs(off) > 0.01 || math.Abs(*r.Residual+1) > 0.5 || math.Abs(*r.Production-60) > 0.5 {
			t.Errorf("%s: off by %.3f bbl, residual %.2f, production %.2f; want 0, -1 and 60", r.Date, off, *r.Residual, *r.Production)
		}
	}
	if run := rows[2]; run.Date != "2026-03-03" || len(run.Tickets) != 1 || run.Tickets[0].Number != "A-TEST-TK-1-20260303T0644Z" && run.Tickets[0].Number != "A-TEST-TK-1-20260303T0645Z" || math.Abs(run.Runs-150) > 1 {
		t.Errorf("the run across the gauge-off is %+v of %.1f bbl on %s; want it whole on March 3", run.Tickets, run.Runs, run.Date)
	}
	told := 0
	for _, e := range b.bodies(Events) {
		if e["ruleName"] == "unexplained-loss" {
			told++
			if note := e["note"].(string); !strings.Contains(note, "TK-1") || !strings.Contains(note, "bbl a day") {
				t.Errorf("the note of the loss is %q", note)
			}
		}
	}
	if told != 1 {
		t.Errorf("the loss was told of %d times, want once", told)
	}
	if since := b.Snapshot().Tanks[0].LossSince; since.Format(time.DateOnly) != "2026-03-02" && since.Format(time.DateOnly) != "2026-03-01" {
		t.Errorf("while it goes on, its status says since %s", since)
	}
	all, err := b.BookDays(BookPeriod{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 7 || all[0].Date != "2026-01-01" {
		t.Errorf("%d days are kept, the first of %s; want the day of January, and not the one of two years ago", len(all), all[0].Date)
	}
}

func TestAKillChangesNoFigureOfTheBook(t *testing.T) {
	plain, killed := newBench(t, metered), newBench(t, metered)
	plain.leaking(75)
	killed.leaking(75, 19, 27, 50, 74)
	want, err1 := plain.BookDays(BookPeriod{})
	got, err2 := killed.BookDays(BookPeriod{})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if len(want) != 5 || len(got) != len(want) {
		t.Fatalf("%d days with kills, %d without, want 5", len(got), len(want))
	}
	for i := range want {
		if want[i].Residual == nil {
			continue
		}
		if math.Abs(*got[i].Residual-*want[i].Residual) > 0.2 || math.Abs(*got[i].Closing-*want[i].Closing) > 0.2 {
			t.Errorf("%s: residual %.2f, closing %.2f; without kills %.2f and %.2f", got[i].Date, *got[i].Residual, *got[i].Closing, *want[i].Residual, *want[i].Closing)
		}
	}
}

// Before the first row the book says since when it counts and when that comes: of a tank whose first levels came in the middle of a day the
// first one has no opening, of one that was seen at a gauge-off it is whole.
func TestABookWithoutARowSaysWhenItComes(t *testing.T) {
	at := func(t time.Time) string { return t.Format("01-02 15:04") }
	began := time.Date(2026, 3, 2, 4, 59, 0, 0, time.UTC)
	for hours, want := range map[int]string{1: "03-02 07:45, 03-03 07:45", 4: "03-03 07:45, 03-03 07:45"} {
		b := newBench(t, metered)
		if got := b.BookBegins(began); len(got) != 1 || got[0] != (BookBegin{Tank: "TK-1"}) {
			t.Fatalf("before the first level: %+v", got)
		}
		b.leaking(hours)
		if got := b.BookBegins(began)[0]; at(got.Next)+", "+at(got.Whole) != want {
			t.Errorf("after %d h: %+v, want %s", hours, got, want)
		}
	}
}

func TestAMeterCountsInItsUnit(t *testing.T) {
	for unit, want := range map[collectors.Unit]float64{"bbl": 42, "gal": 1, "m3": 264.172, "": 42, "mbbl": 42000, "ft3": 7.48052} {
		got, ok := unit.Barrels(1)
		if !ok || math.Abs(got*42-want) > 1e-3*want {
			t.Errorf("one %q is %.4f gallons (a volume: %t), want %.4f", unit, got*42, ok, want)
		}
	}
	if _, ok := collectors.Unit("in").Barrels(1); ok {
		t.Error("an inch was taken for a volume")
	}
}

// TestARecordingOfYearsAgoHasItsDays: a recording may be older than the program.
func TestARecordingOfYearsAgoHasItsDays(t *testing.T) {
	b := newBench(t, nil)
	b.clock.NotBefore = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for minute := 0; minute < 60*60; minute += 10 {
		mono := time.Duration(minute) * time.Minute
		r := collectors.Reading{Point: "plc/level", Unit: "in", Value: 150, Quality: collectors.Good, At: time.Date(2019, 3, 2, 5, 0, 0, 0, time.UTC).Add(mono), Boot: 1, Mono: mono}
		if err := b.Host("plc").Emit(t.Context(), []collectors.Reading{r}); err != nil {
			t.Fatal(err)
		}
	}
	if rows, err := b.BookDays(BookPeriod{}); err != nil || len(rows) < 2 {
		t.Errorf("%d closed days, %v; want those of 2019", len(rows), err)
	}
}

// sold is a tank with a load whose production day is closed and whose ticket is delivered.
func sold(t *testing.T) (*bench, TicketRecord) {
	b := newBench(t, nil)
	b.wholeDay()
	b.deliver()
	all, err := b.Tickets()
	b.must(err)
	if len(all) != 1 {
		t.Fatalf("%d tickets, want 1", len(all))
	}
	return b, all[0]
}

// wholeDay plays a production day with a load from gauge-off to gauge-off.
func (b *bench) wholeDay() {
	pass(6 * time.Hour)
	b.play(2*time.Hour, func(time.Duration) float64 { return 180 })
	b.haul(23 * time.Hour)
}

// theDay is the one closed day with runs, and sees to it that its balance closes.
func (b *bench) theDay() BookRow {
	b.t.Helper()
	rows, err := b.BookDays(BookPeriod{From: "2000-01-01", To: "2000-01-01"})
	b.must(err)
	if len(rows) != 1 {
		b.t.Fatalf("%d days, want 1", len(rows))
	}
	r := rows[0]
	named := 0.0
	for _, p := range r.OtherParts {
		named += p.Bbl
	}
	if math.Abs(named-r.Other) > 0.01 {
		b.t.Errorf("of other %.3f bbl, %.3f have a name: %+v", r.Other, named, r.OtherParts)
	}
	return r
}

// A load whose ticket is void is no run, since nobody books it; the level fell all the same, and the book names it. A ticket that is booked
// in its place is the run, and what the level fell by beyond it has a name.
func TestARunIsWhatATicketIsBookedOf(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) < 0.01 }
	synctest.Test(t, func(t *testing.T) {
		b, ticket := sold(t)
		was := b.theDay()
		if was.Tickets[0].State != "delivered" || !near(was.Runs, was.Tickets[0].Bbl) || was.Other != 0 {
			t.Fatalf("before: %+v", was)
		}
		b.must(b.Void(ticket.Number, "ann", "no oil was run"))
		r := b.theDay()
		if r.Runs != 0 || !near(r.Other, was.Runs) || r.Tickets[0].State != "voided" || *r.Residual != *was.Residual {
			t.Errorf("void: %+v", r)
		}
		if len(r.OtherParts) != 1 || r.OtherParts[0].Kind != tankbook.PartTickets {
			t.Errorf("the parts of void oil: %+v", r.OtherParts)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b, ticket := sold(t)
		was := b.theDay()
		by, _, err := b.Add(ManualTicket{Tank: "TK-1", Open: 180, Close: 90, Start: ticket.Start, End: ticket.End, Replaces: ticket.Number, Why: "the gauge hung"}, "ann")
		b.must(err)
		b.deliver()
		r := b.theDay()
		if !near(r.Runs, 0.9*was.Tickets[0].Bbl) || !near(r.Runs+r.Other, was.Runs) || len(r.Tickets) != 2 || r.Tickets[0].Replaced != by || r.Tickets[1].Written != "ann" || r.Tickets[1].State != "delivered" {
			t.Errorf("replaced: %+v", r)
		}
		if all, err := b.Tickets(); err != nil || all[0].ReplacedBy+all[1].ReplacedBy != by || all[0].Replaces+all[1].Replaces != ticket.Number {
			t.Errorf("listed %+v, %v", all, err)
		}
		b.must(b.box.Update(func(tx *outbox.Tx) error { // as the version before wrote it
			ticket.Voided = "ann: the gauge hung; " + by + bookedInstead
			raw, err := json.Marshal(ticket)
			tx.Put(ticketKey+ticket.Number, raw)
			return err
		}))
		if got := b.theDay(); got.Tickets[0].Replaced != by {
			t.Errorf("of the version before: %+v", got.Tickets)
		}
		b.must(b.Void(by, "ann", "no truck"))
		if got := b.theDay(); got.Runs != 0 || !near(got.Other, was.Runs) {
			t.Errorf("after both are void: %+v", got)
		}
	})
}

// What flowed in over a load is known whoever writes its ticket: with the same gauges the run stays what it was, and is what a meter on the
// truck has. A ticket that is rejected before it left leaves its load to the one that is written for the same time.
func TestARunIsTheSameWhoeverWritesItsTicket(t *testing.T) {
	filling := func(t *testing.T, hold time.Duration) (*bench, TicketRecord, BookRow) {
		b := newBench(t, func(s *Site) { s.Hold = hold })
		pass(6 * time.Hour)
		rise := func(d time.Duration) float64 { return 2 * d.Hours() }
		b.play(2*time.Hour, func(d time.Duration) float64 { return 150 + rise(d) })
		b.play(30*time.Minute, func(d time.Duration) float64 { return 154 + rise(d) - 100*d.Minutes()/30 })
		b.play(24*time.Hour, func(d time.Duration) float64 { return 55 + rise(d) })
		all, err := b.Tickets()
		b.must(err)
		return b, all[0], b.theDay()
	}
	written := func(a TicketRecord, replaces string) ManualTicket {
		return ManualTicket{Tank: "TK-1", Open: a.Load.Open, Close: a.Load.Close, Start: a.Start, End: a.End, Replaces: replaces, Why: "purchaser"}
	}
	check := func(b *bench, a TicketRecord, was BookRow, by string) {
		r := b.theDay()
		if a.Load.InflowBbl < 1 || r.Runs != was.Runs || r.Other != 0 || *r.Production != *was.Production || *r.Residual != *was.Residual {
			t.Errorf("runs %.2f, other %.2f, produced %.2f, residual %.2f; were %.2f, 0, %.2f and %.2f", r.Runs, r.Other, *r.Production, *r.Residual, was.Runs, *was.Production, *was.Residual)
		}
		m, _, err := b.Match(MatchArgs{Number: by, Hauler: "T-1", Bbl: a.Load.RemovedBbl, Basis: AsObserved, Meter: true}, "ann")
		if err != nil || *m.TruckTotals().Difference != 0 {
			t.Errorf("beside the truck's meter: %+v, %v", m, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		b, a, was := filling(t, time.Hour)
		b.deliver()
		by, _, err := b.Add(written(a, a.Number), "ann")
		b.must(err)
		b.deliver()
		by, _, err = b.Add(written(a, by), "ann")
		b.must(err)
		check(b, a, was, by)
	})
	synctest.Test(t, func(t *testing.T) {
		b, a, was := filling(t, 30*time.Hour)
		b.must(b.Reject(b.only().Number, "ann", "wrong purchaser"))
		by, _, err := b.Add(written(a, ""), "ann")
		b.must(err)
		check(b, a, was, by)
	})
}

// A ticket may say that its load ended behind the gauge-off that the level has it before: it is a run of that day, and at the gauge-off its
// oil counts as in the tank, as that of a run under way does.
func TestATicketMovedOverAGaugeOffMovesTheRunAndTheStock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, a := sold(t)
		was := b.theDay()
		b.play(24*time.Hour, func(time.Duration) float64 { return 80 })
		m := ManualTicket{Tank: "TK-1", Open: a.Load.Open, Close: a.Load.Close, Start: a.Start, End: was.To.Add(18 * time.Minute), Replaces: a.Number, Why: "it ended later", Anyway: "I was there"}
		_, _, err := b.Add(m, "ann")
		b.must(err)
		b.deliver()
		before := b.theDay()
		after, err := b.BookDays(BookPeriod{From: "2000-01-02", To: "2000-01-02"})
		b.must(err)
		if before.Runs != 0 || before.Other != 0 || *before.Closing != hundredths(*was.Closing+was.Runs) || before.ClosingInRun != was.Runs || *before.Residual != *was.Residual || !strings.Contains(strings.Join(before.Remarks, ""), "count as in the tank") {
			t.Errorf("the day of the level: %+v", before)
		}
		if len(after) != 1 || after[0].Runs != was.Runs || after[0].Other != 0 || *after[0].Opening != *before.Closing || math.Abs(*after[0].Residual+*after[0].Production) > 0.02 {
			t.Errorf("the day of the ticket: %+v", after)
		}
	})
}

// A day whose readings end before its gauge-off is in the book with what is known of it, and closes when others come.
func TestADayWhoseReadingsEndIsInTheBook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		pass(6 * time.Hour)
		b.play(2*time.Hour, func(time.Duration) float64 { return 180 })
		b.haul(15 * time.Hour)
		pass(9 * time.Hour)
		r := b.theDay()
		if len(r.Tickets) != 1 || r.Runs == 0 || r.Opening == nil || r.Closing != nil || !strings.Contains(r.Remarks[0], "the newest reading is of 01-02 00:2") {
			t.Errorf("before others come: %+v", r)
		}
		b.play(2*time.Hour, func(time.Duration) float64 { return 80 })
		if again := b.theDay(); again.Runs != r.Runs || strings.Contains(strings.Join(again.Remarks, ""), "the newest reading") {
			t.Errorf("closed: %+v", again)
		}
	})
}

// A held ticket that is rejected and one that is taken out of the outbox are no runs either.
func TestWhatNeverLeavesIsNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Hold = 30 * time.Hour })
		b.wholeDay()
		if r := b.theDay(); r.Runs == 0 || r.Tickets[0].State != "held" {
			t.Errorf("held: %+v", r)
		}
		b.must(b.Reject(b.only().Number, "ann", "it was a test"))
		if r := b.theDay(); r.Runs != 0 || r.Tickets[0].State != "rejected" {
			t.Errorf("rejected: %+v", r)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.wholeDay()
		all, err := b.Tickets()
		b.must(err)
		if _, err := b.box.Drop(Tickets, "ann: wrong", all[0].Seq); err != nil {
			t.Fatal(err)
		}
		if r := b.theDay(); r.Runs != 0 || r.Tickets[0].State != "dropped" {
			t.Errorf("dropped: %+v", r)
		}
	})
}

// A value that stands as this sensor's never does is in the status for as long as it stands. The value of a tank in which nothing happens,
// and which shows its noise, does not.
func TestAValueThatStandsIsInTheStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		noise := func(at time.Duration) float64 { return math.Round(8*math.Sin(2.39996*at.Seconds())) / 100 }
		stands := func() string { return b.Snapshot().Tanks[0].StandsStill(time.Now()) }
		b.play(9*time.Hour, func(at time.Duration) float64 { return 100 + at.Hours() + noise(at) })
		b.play(9*time.Hour, func(at time.Duration) float64 { return 109 + noise(at) })
		if text := stands(); text != "" {
			t.Errorf("shut in: %s", text)
		}
		b.play(9*time.Hour, func(time.Duration) float64 { return 109.25 })
		if text := stands(); !strings.Contains(text, "STANDS STILL at 09-01-1 for 9.0 h") {
			t.Errorf("%q", text)
		}
		b.play(time.Hour, func(at time.Duration) float64 { return 120 + noise(at) })
		if text := stands(); text != "" {
			t.Errorf("it moves: %s", text)
		}
	})
}
