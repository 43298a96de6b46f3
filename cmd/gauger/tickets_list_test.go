package main

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/config"
)

// The sums of a month: by day, in all, by tank and by purchaser; what will not be booked stands apart, and what the tank book has
// more than the tickets is said. Gross of some says of how many, and what is held may yet be rejected.
func TestTheSumsOfAMonth(t *testing.T) {
	row := func(day, id, state string, bbl, flowedIn float64, gross *float64) ticketRow {
		r := ledger.TicketRecord{Tank: id, Day: day, Volumes: &ledger.Volumes{OpenBbl: bbl, GrossBbl: gross}, Load: &tank.Load{GaugeBbl: bbl, RemovedBbl: bbl + flowedIn, Samples: 200}}
		return ticketRow{control.TicketRow{TicketRecord: r, State: state}}
	}
	rows := []ticketRow{
		row("2026-03-02", "TK-2", "delivered", 170, 2.4, new(168.0)), row("2026-03-01", "TK-1", "waiting", 180.5, 0, new(178.5)),
		row("2026-03-02", "TK-1", "rejected", 90, 7, nil), row("2026-03-02", "TK-1", "dropped", 80, 0, nil), row("2026-03-02", "TK-1", "held", 160, 0, nil),
	}
	void := row("2026-03-01", "TK-1", "delivered", 175, 0, nil)
	void.Voided, void.VoidedAt, void.Hauled = "pat on 2026-04-09: wrong; M-1 is booked in its place", time.Date(2026, 4, 9, 12, 0, 0, 0, time.UTC), &ledger.TruckTotals{Bbl: 174}
	rows = append(rows, void)
	rows[0].Load.Review = []string{"data gap 42 min"}
	var out strings.Builder
	table := newTable(&out)
	printSums(table, site{}, rows)
	printBeside(table, site{}, rows, nil)
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	const want = `production day 2026-03-01: 1 ticket, 180.50 bbl by gauge, 178.50 gross
production day 2026-03-02: 2 tickets, 330.00 bbl by gauge, 168.00 gross of only 1 of them; of it held: 1, 160.00 bbl; of it needs review: 1, 170.00 bbl

2 days with tickets, from 2026-03-01 to 2026-03-02: 3 tickets, 510.50 bbl by gauge, 346.50 gross of only 2 of them; of it held: 1, 160.00 bbl; of it needs review: 1, 170.00 bbl
  TK-1: 2 tickets, 340.50 bbl by gauge, 178.50 gross of only 1 of them; of it held: 1, 160.00 bbl
  TK-2: 1 ticket, 170.00 bbl by gauge, 168.00 gross; of it needs review: 1, 170.00 bbl
no gross and net of 1 ticket: TK-1
the book's runs of these loads (removed_bbl) are 2.40 bbl more than by gauge: it flowed in meanwhile
not in the sums: 1 rejected, 1 dropped, 1 void, 345.00 bbl; nor in the book's runs
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}

	// Whichever column of a file somebody adds up, nothing of what nobody books is in it; who has voided it, and when, is.
	for _, i := range []int{2, 5} {
		got := map[string]string{}
		for k, field := range rows[i].csvLine(site{}) {
			got[strings.Split(csvColumns, ",")[k]] = field
		}
		for name, want := range map[string]string{"booked_bbl": "0.00", "booked_net_bbl": "0.00", "gauge_bbl": "", "removed_bbl": "", "inflow_bbl": "", "gross_bbl": "", "net_bbl": "", "hauler_bbl": "", "unbooked_gauge_bbl": figureText(rows[i].figures(site{}).bbl, 2), "void": strconv.FormatBool(i == 5)} {
			if got[name] != want {
				t.Errorf("%s has %q as its %s, want %q", rows[i].remark(), got[name], name, want)
			}
		}
		if i == 5 && (got["voided_at"] != "2026-04-09T12:00:00Z" || got["voided_by"] != "pat on 2026-04-09: wrong; M-1 is booked in its place" || got["review"] != "" || !strings.HasPrefix(got["remarks"], "void, by pat on 2026-04-09: wrong")) {
			t.Errorf("void: %q", got)
		}
	}
}

// A month's file says which seals a ticket has, when and by whom it was written, and when it was last changed; of one that has not left the seals
// are those that it will have, and it is not written yet.
func TestTheFileSaysWhatCameAfterTheMonth(t *testing.T) {
	cfg := &config.Config{}
	cfg.Zone, cfg.Service.Wire.SealMode, cfg.Service.Wire.SealOn, cfg.Service.Wire.SealOff = time.UTC, "static", "S1", "S2"
	at := time.Date(2026, 4, 3, 8, 0, 0, 0, time.UTC)
	for name, x := range map[string]struct {
		change func(*ticketRow)
		want   string // seal_off to unbooked_gauge_bbl
	}{
		"sent":   {func(r *ticketRow) { r.Ticket = []byte(`{"sealOff":"77","sealOn":"78"}`) }, "77,78,2026-04-03T08:00:00Z,gauger,,"},
		"held":   {func(r *ticketRow) { r.State = "held" }, "S2,S1,,gauger,,"},
		"edited": {func(r *ticketRow) { r.State, r.Edits = "held", []ledger.Edit{{Field: "seal_off", New: "79", At: at}} }, "79,S1,,gauger,2026-04-03T08:00:00Z,"},
		"matched": {func(r *ticketRow) {
			r.Seq, r.Matches = 7, []ledger.TruckTicket{{At: at, Removed: &ledger.Removal{At: at.Add(time.Hour)}}}
		}, ",,2026-04-03T08:00:00Z,gauger,2026-04-03T09:00:00Z,"},
		"learned": {func(r *ticketRow) { r.Seq, r.Found = 7, []ledger.Finding{{At: at}} }, ",,2026-04-03T08:00:00Z,gauger,2026-04-03T08:00:00Z,"},
		"void": {func(r *ticketRow) {
			r.Seq, r.Load, r.Person, r.Voided, r.VoidedAt = 7, nil, "ann", "pat", at
			r.Gauged = []float64{9, 1}
		}, ",,2026-04-03T08:00:00Z,ann,2026-04-03T08:00:00Z,203.32"},
	} {
		r := paper(x.change)
		r.Queued = at
		line := r.csvLine(site{cfg})
		if got := strings.Join(line[slices.Index(strings.Split(csvColumns, ","), "seal_off"):], ","); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
}

// A ticket that asks says so whatever its state, until somebody has released it or the truck's bears it out; what was learned later asks
// all the same. Remarks stand in the list as in a backtest, and a time is the minute that its number has.
func TestTheListSaysWhatNeedsReview(t *testing.T) {
	number := func(r *ticketRow) {
		r.Start, r.End = r.Start.Add(50*time.Second), r.End.Add(50*time.Second)
		r.Load.Review, r.Load.Remarks = []string{"data gap 42 min"}, []string{"stopped for 7 min after 99 bbl: one truck or two"}
	}
	for what, x := range map[string]struct {
		change func(*ticketRow)
		want   string
	}{
		"sent":     {nil, "needs review: data gap 42 min; stopped for 7 min after 99 bbl: one truck or two"},
		"sound":    {func(r *ticketRow) { r.Load.Review = nil }, "stopped for 7 min after 99 bbl: one truck or two"},
		"released": {func(r *ticketRow) { r.Person = "ann" }, "data gap 42 min; stopped for 7 min after 99 bbl: one truck or two"},
		"learned": {func(r *ticketRow) {
			r.Person, r.Load.Remarks, r.Found = "ann", nil, []ledger.Finding{{Note: "it came back"}}
		},
			"needs review: learned later: it came back; data gap 42 min"},
	} {
		r := paper(number)
		if x.change != nil {
			x.change(r)
		}
		if got := r.remark(); got != x.want {
			t.Errorf("%s: %q, want %q", what, got, x.want)
		}
		var out bytes.Buffer
		if err := printTickets(&call{out: &out}, site{}, []ticketRow{*r}, nil); err != nil || !strings.Contains(out.String(), "2026-03-02 15:00  15:34") {
			t.Errorf("%v\n%s", err, &out)
		}
	}
}

// A file's lines are rounded to hundredths, and what is said of their sum is the sum of those.
func TestTheSumsAreThoseOfTheLines(t *testing.T) {
	var sum ticketSum
	var book ledger.BookRow
	for range 20 {
		r := ledger.TicketRecord{Load: &tank.Load{GaugeBbl: 100.006}, Volumes: &ledger.Volumes{GrossBbl: new(99.006)}}
		sum.add(&ticketRow{control.TicketRow{TicketRecord: r, State: "delivered"}}, site{})
		book.Tickets = append(book.Tickets, ledger.BookTicket{GaugeBbl: 100.01, RunsBbl: 100.5, State: "left"})
	}
	if sum.String() != "20 tickets, 2000.20 bbl by gauge, 1980.20 gross" {
		t.Errorf("the list: %s", &sum)
	}
	sum.add(&ticketRow{control.TicketRow{TicketRecord: ledger.TicketRecord{Number: "A-1", Seq: 1, Rebuilt: "known by its receipt alone"}, State: "delivered"}}, site{})
	if sum.String() != "21 tickets, 2000.20 bbl by gauge WITHOUT 1 of them, whose barrels are not known here, 1980.20 gross of only 20 of them" {
		t.Errorf("the list with a ticket whose figures are lost: %s", &sum)
	}
	var out strings.Builder
	if err := bookText(&out, []ledger.BookRow{book}, nil); err != nil || !strings.Contains(out.String(), "20 tickets of 2000.20 bbl by gauge") {
		t.Errorf("the book: %v\n%s", err, out.String())
	}
}

// That nothing calls for a person is said only where no other sentence does.
func TestOnlyWhereNothingAsksItIsSaidSo(t *testing.T) {
	trucks := func(bbl float64) func(*ticketRow) {
		return func(r *ticketRow) {
			r.Matches = []ledger.TruckTicket{{Hauler: "88", Bbl: bbl, Basis: ledger.AsObserved}}
			r.Hauled = r.TicketRecord.TruckTotals()
		}
	}
	for name, x := range map[string]struct {
		change func(*ticketRow)
		said   bool
	}{
		"sound":              {nil, true},
		"the truck's agrees": {trucks(203.3), true},
		"the truck's is off": {trucks(213), false},
		"learned later":      {func(r *ticketRow) { r.Found = []ledger.Finding{{Note: "it came back"}} }, false},
		"sent twice":         {func(r *ticketRow) { r.Unclear = &control.UnclearSends{Count: 1} }, false},
		"seen there, of one": {func(r *ticketRow) { r.Unclear, r.Reason = &control.UnclearSends{Count: 1}, "confirmed by ann: seen" }, true},
		"seen there, of two": {func(r *ticketRow) { r.Unclear, r.Reason = &control.UnclearSends{Count: 2}, "confirmed by ann: seen" }, false},
		"one truck, two":     {func(r *ticketRow) { r.TwiceWith = []string{"M-1"} }, false},
		"void":               {func(r *ticketRow) { r.Voided = "ann: wrong" }, false},
	} {
		if text := strings.Join(paper(x.change).sentences(site{}), "\n"); strings.Contains(text, "Nothing was found that calls for a person.") != x.said {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}
