package control

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gauger/agent/ledger"
)

// bookDay is a day of the book that closes, of a tank into which oil flows steadily.
func bookDay(date, id string, opening, made, runs, other float64, parts ...ledger.BookPart) ledger.BookRow {
	r := ledger.BookRow{Date: date}
	r.Tank, r.Runs, r.Other, r.OtherParts, r.Blind = id, runs, other, parts, "oil flows in steadily"
	r.Opening, r.Production, r.Residual, r.Closing = &opening, &made, new(0.0), new(opening+made-runs-other)
	return r
}

// What is the same on days that follow each other is said once, with their first and last date.
func TestTheBookSaysASentenceOncePerTankAndStretch(t *testing.T) {
	var rows []ledger.BookRow
	for _, date := range []string{"2026-10-01", "2026-10-02", "2026-10-03", "2026-10-05"} {
		rows = append(rows, bookDay(date, "A", 100, 10, 0, 0), bookDay(date, "B", 50, 10, 0, 0))
	}
	for i := range 4 {
		rows[2*i].Sees, rows[2*i].Error = new(0.6+float64(i)/10), 0.1
	}
	rows[3].Remarks, rows[5].Remarks = []string{"the clock was set"}, []string{"the clock was set"}
	got := BookNotes(rows)
	want := []string{
		"2026-10-01 to 2026-10-03 A: production is estimated from the level; residual give or take 0.1 bbl; a loss of 0.6 to 0.8 bbl a day would be told of within three days, if it began after the days that this one is compared with (oil flows in steadily)",
		"2026-10-01 to 2026-10-03 B: production is estimated from the level; a slow loss cannot be seen: oil flows in steadily (a production meter would show it)",
		"2026-10-02 to 2026-10-03 B: the clock was set",
		"2026-10-05 A: production is estimated from the level; residual give or take 0.1 bbl; a loss of 0.9 bbl a day would be told of within three days, if it began after the days that this one is compared with (oil flows in steadily)",
		"2026-10-05 B: production is estimated from the level; a slow loss cannot be seen: oil flows in steadily (a production meter would show it)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A void load is no run: the book says where its oil is, and its runs and the tickets' sum go together.
func TestTheBookSaysWhereVoidOilIs(t *testing.T) {
	row := bookDay("2026-10-12", "A", 330, 110, 180, 35, ledger.BookPart{Kind: "tickets", Bbl: 35, What: "the level fell"})
	row.Tickets = []ledger.BookTicket{
		{Number: "A-1", Bbl: 215, GaugeBbl: 212, State: "voided", Why: "ann: half of it; M-1 is booked in its place", BookedWith: "M-1"},
		{Number: "M-1", Bbl: 180, GaugeBbl: 177, RunsBbl: 180, State: "delivered", Written: "ann", Since: "2026-11-02", InPlaceOf: "A-1"},
		{Number: "A-2", Bbl: 5, GaugeBbl: 5, State: "voided", Why: "ann: no truck"}, {Number: "M-2", Bbl: 1, GaugeBbl: 1, RunsBbl: 1, State: "held", Written: "ann"},
	}
	text := strings.Join(BookNotes([]ledger.BookRow{row}), "\n")
	for _, want := range []string{
		"OTHER is what else changed the stock", "run A-1 of 215.00 bbl is void, by ann: half of it; M-1 is booked in its place\n",
		"ticket M-1 of 180.00 bbl was written by ann on 2026-11-02 and is booked in the place of A-1, with the 3.00 that flowed in meanwhile\n",
		"run A-2 of 5.00 bbl is void, by ann: no truck; it is in OTHER, not in RUNS", "ticket M-2 of 1.00 bbl was written by ann; it is in RUNS",
		"2026-10-12 A: OTHER 35.00 bbl: the level fell",
		"RUNS 181.00 bbl: 2 tickets of 178.00 bbl by gauge, as `gauger tickets list` adds them up, and 3.00 that flowed in meanwhile; of it held, and not sent: 1 ticket, 1.00 bbl",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A period comes to something for each tank and for the site, and the sum closes as a day does, also over a day that has no
// production of its own.
func TestTheBookOfAPeriodHasTotals(t *testing.T) {
	rows := []ledger.BookRow{bookDay("2026-10-01", "A", 100, 60, 0, 0), bookDay("2026-10-02", "A", 160, 60, 150, 5), bookDay("2026-10-03", "A", 65, 60, 0, 0), bookDay("2026-10-01", "B", 10, 1, 0, 0)}
	rows[1].Production, rows[1].Residual, rows[1].Closing, rows[2].Opening, rows[2].Production, rows[2].Residual = nil, nil, nil, nil, nil, nil
	all := BookTotals(rows)
	if len(all) != 3 || all[0].Tank != "A" || all[2].Tank != "site" || all[0].Remarks == nil {
		t.Fatalf("totals %+v", all)
	}
	for i, want := range [][2]float64{{180, 125}, {1, 11}, {181, 136}} {
		r := &all[i]
		if math.Abs(*r.Production-want[0]) > 1e-9 || math.Abs(*r.Closing-want[1]) > 1e-9 || math.Abs(*r.Opening+*r.Production-r.Runs-r.Other+*r.Residual-*r.Closing) > 1e-9 {
			t.Errorf("%s: %+v, want production and closing %v", r.Tank, r, want)
		}
	}
	if got := tankTotal(rows[1:2]); got.Production != nil || !strings.Contains(strings.Join(got.Remarks, ""), "is without 2026-10-02") {
		t.Errorf("without a stock at either end: %+v", got)
	}
	if got := tankTotal(append(rows[:1:1], rows[2])); *got.Production != 60 || !strings.Contains(strings.Join(got.Remarks, ""), "is without 2026-10-03") {
		t.Errorf("with a day missing: %+v", got)
	}
	began := bookDay("2026-09-30", "A", 0, 40, 0, 0)
	began.Opening = nil
	if got := tankTotal(append([]ledger.BookRow{began}, rows[:3]...)); *got.Production != 220 || got.Opening != nil {
		t.Errorf("with a day that has what came since before the period: %+v", got)
	}
	if BookTotals(rows[2:]) != nil {
		t.Error("one day of each tank has a total")
	}
}

// TestAPeriodOfWhichNobodyKnowsTheProductionHasNone: no sum of nothing is shown as 0.
func TestAPeriodOfWhichNobodyKnowsTheProductionHasNone(t *testing.T) {
	days := []ledger.BookRow{bookDay("2026-03-02", "TK-1", 100, 0, 0, 0), bookDay("2026-03-03", "TK-1", 100, 0, 0, 0)}
	for i := range days {
		days[i].Production, days[i].Lact = nil, true
	}
	if all := BookTotals(days); len(all) != 1 || all[0].Production != nil {
		t.Errorf("%+v", all)
	}
}

// What a meter sells is no drain.
func TestTheBookSaysThatAMeterTookIt(t *testing.T) {
	r := bookDay("2026-10-01", "A", 330, 900, 0, 900)
	r.Lact = true
	if got := strings.Join(OtherLines(&r), ""); !strings.HasPrefix(got, "900.00 bbl: left through the meter that sells this tank's oil") || strings.Contains(got, "drain") {
		t.Error(got)
	}
}

// One hundredth of a barrel is what roundings leave, and no drain.
func TestAHundredthIsNoDrain(t *testing.T) {
	for other, want := range map[float64]string{0.01: "", -0.01: "", 0.02: "0.02 bbl: left without being a run"} {
		r := bookDay("2026-10-12", "A", 330, 110, 180, other)
		if got := strings.Join(OtherLines(&r), "\n"); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%g: %q", other, got)
		}
	}
}

// Water is no oil of the site: a tank of it has its own total, and none in the site's.
func TestTheSiteHasNoWaterOfAWaterTank(t *testing.T) {
	var rows []ledger.BookRow
	for _, id := range []string{"A", "B", "W"} {
		for _, date := range []string{"2026-10-01", "2026-10-02"} {
			rows = append(rows, bookDay(date, id, 100, 30, 0, 0))
		}
	}
	for k := range rows[4:] {
		rows[4+k].Product, rows[4+k].Water = "water", 88
	}
	all := BookTotals(rows)
	if len(all) != 4 || all[2].Tank != "W" || all[2].Water != 176 || all[3].Tank != "site" || all[3].Water != 0 || *all[3].Production != *all[0].Production+*all[1].Production {
		t.Errorf("%+v", all)
	}
}
