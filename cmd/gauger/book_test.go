package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/agent/ledger"
	"gauger/config"
)

// A tank without a row says since when it is counted, and when its row comes.
func TestATankWithoutARowInTheBookSaysWhenItComes(t *testing.T) {
	cfg, err := config.Parse("gauger.yaml", config.Example, "../../config")
	if err != nil {
		t.Fatal(err)
	}
	at := func(day, hour, minute int) time.Time {
		return time.Date(2026, 3, day, hour, minute, 0, 0, site{cfg}.zone())
	}
	var row ledger.BookRow
	row.Tank = "TK-1"
	begins := []ledger.BookBegin{
		{Tank: "TK-1", Next: at(3, 7, 45), Whole: at(3, 7, 45)}, {Tank: "TK-2", Since: at(2, 7, 0), Next: at(3, 7, 45), Whole: at(3, 7, 45)},
		{Tank: "TK-3", Since: at(2, 9, 12), Next: at(3, 7, 45), Whole: at(4, 7, 45)}, {Tank: "TK-4"},
	}
	got := site{cfg}.begun("", []ledger.BookRow{row}, begins)
	want := []string{
		"TK-2: counted since about 2026-03-02 07:00; its first row comes about 2026-03-03 07:45",
		"TK-3: counted since about 2026-03-02 09:12; its first row comes about 2026-03-03 07:45, without what was in the tank when the day began, and the first whole one about 2026-03-04 07:45",
		"TK-4: not counted yet; the book begins with its first levels",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	cfg.Loads.Speed = 60
	if got := (site{cfg}).begun("TK-4", nil, begins); !slices.Equal(got, []string{"TK-4: not counted; at loads.speed: 60 the days are no production days"}) {
		t.Errorf("a demonstration: %q", got)
	}
	cfg.Tanks = cfg.Tanks[:1]
	month := ledger.BookPeriod{From: "2026-03-01", To: "2026-03-31"}
	if got := (site{cfg}).unbooked(month, nil, at(20, 0, 0)); len(got) != 1 || !strings.HasSuffix(got[0], "not counted; at loads.speed: 60 the days are no production days") {
		t.Errorf("a month of a demonstration: %q", got)
	}
}

// The columns of amounts that came to have a name later stand behind those that were there, each with its own sum; what a spreadsheet takes for a
// formula has an apostrophe.
func TestTheBookAsCSVKeepsItsColumnsInTheirPlaces(t *testing.T) {
	var row ledger.BookRow
	row.OtherParts = []ledger.BookPart{{Kind: "remeasured", Bbl: -9.5, What: "b"}, {Kind: "tickets", Bbl: 1, What: "a"}, {Kind: "unseen", Bbl: 2, What: "c"}, {Kind: "unseen", Bbl: 3, What: "d"}}
	row.Other, row.ClosingInRun = -3.5, 50.04
	var out strings.Builder
	if err := bookCSV(&out, time.UTC, []ledger.BookRow{row}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if !strings.HasSuffix(lines[0], ",other_tickets_bbl,other_parts,other_remeasured_bbl,other_unseen_bbl,opening_in_run_bbl,closing_in_run_bbl,product") || !strings.HasSuffix(lines[1], ",1.00,'-9.50 bbl: b; 1.00 bbl: a; 2.00 bbl: c; 3.00 bbl: d,-9.50,5.00,,50.04,oil") {
		t.Errorf("%s", out.String())
	}
}

// An error that nobody knows is no figure: the residual is not exact to a hundredth of a barrel.
func TestAnErrorThatIsNotKnownIsEmptyInTheFile(t *testing.T) {
	known := ledger.BookRow{}
	known.Error = 0.4
	var out strings.Builder
	if err := bookCSV(&out, time.UTC, []ledger.BookRow{{}, known}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	at := slices.Index(strings.Split(lines[0], ","), "error_bbl")
	for i, want := range []string{"", "0.40"} {
		if got := strings.Split(lines[i+1], ",")[at]; got != want {
			t.Errorf("line %d: %q, want %q", i+1, got, want)
		}
	}
}

// Where a tank has no stock at a gauge-off the site's sums are empty, and what the others make together is said below.
func TestTheBookSaysWhatIsKnownOfASiteWithADeadTank(t *testing.T) {
	var a, b ledger.BookRow
	a.Date, a.Tank, a.Opening, a.Production, a.Closing = "2026-03-02", "TK-1", new(100.0), new(20.0), new(120.0)
	b.Date, b.Tank, b.Opening = "2026-03-02", "TK-2", new(50.0)
	var out strings.Builder
	if err := bookText(&out, []ledger.BookRow{a, b}, nil); err != nil {
		t.Fatal(err)
	}
	if want := "2026-03-02 site: not known of every tank: PRODUCED 20.00 without TK-2, CLOSING 120.00 without TK-2\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
	out.Reset()
	if err := bookText(&out, []ledger.BookRow{a, a}, nil); err != nil || strings.Contains(out.String(), "not known") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
