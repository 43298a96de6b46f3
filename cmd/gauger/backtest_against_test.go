package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// at is a ticket of a comparison: its number, tank, minutes of start and end, and gauges in inches.
func at(number, tank string, from, to int, open, closing float64) *comparedTicket {
	begin := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	bbl := 2 * (open - closing)
	return &comparedTicket{Number: number, Tank: tank, Start: begin.Add(time.Duration(from) * time.Minute), End: begin.Add(time.Duration(to) * time.Minute),
		Open: &open, Close: &closing, Bbl: &bbl}
}

func TestTicketsFindTheirPartners(t *testing.T) {
	for name, c := range map[string]struct {
		here, there []*comparedTicket
		want        string
	}{
		"the same number": {
			[]*comparedTicket{at("A1", "T1", 0, 40, 200, 100)}, []*comparedTicket{at("A1", "T1", 0, 40, 200, 100)},
			"same A1 A1",
		},
		"the same number at another time": {
			[]*comparedTicket{at("A1", "T1", 0, 40, 200, 100), at("A2", "T1", 60, 90, 150, 90)},
			[]*comparedTicket{at("A1", "T1", 60, 90, 200, 100)},
			"differs A1 A1; only here A2 -",
		},
		"other numbers, common time": {
			[]*comparedTicket{at("A1", "T1", 0, 40, 200, 100)}, []*comparedTicket{at("M7", "T1", 5, 44, 200.1, 99.5)},
			"differs A1 M7",
		},
		"split here": {
			[]*comparedTicket{at("A1", "T1", 0, 15, 200, 150), at("A2", "T1", 20, 50, 150, 100)}, []*comparedTicket{at("A0", "T1", 0, 50, 200, 100)},
			"only here A1 -; differs A2 A0",
		},
		"the next load is not the same": {
			[]*comparedTicket{at("A1", "T1", 0, 40, 200, 100)}, []*comparedTicket{at("A2", "T1", 40, 60, 100, 50)},
			"only here A1 -; only there - A2",
		},
		"another tank": {
			[]*comparedTicket{at("A1", "T1", 0, 40, 200, 100)}, []*comparedTicket{at("A2", "T2", 0, 40, 200, 100)},
			"only here A1 -; only there - A2",
		},
		"not numbered yet": {
			[]*comparedTicket{at("", "T1", 0, 40, 200, 100)}, []*comparedTicket{at("A2", "T1", 0, 40, 200, 100)},
			"same  A2",
		},
		"a hundredth of an inch, as rounding makes": {
			[]*comparedTicket{at("A1", "T1", 0, 40, 200.004, 100)}, []*comparedTicket{at("A1", "T1", 0, 40, 200, 100.01)},
			"same A1 A1",
		},
		"two hundredths of an inch": {
			[]*comparedTicket{at("A1", "T1", 0, 40, 200, 100)}, []*comparedTicket{at("A1", "T1", 0, 40, 200, 100.02)},
			"differs A1 A1",
		},
	} {
		var got []string
		for _, p := range paired(c.here, c.there) {
			here, there := "-", "-"
			if p.Here != nil {
				here = p.Here.Number
			}
			if p.There != nil {
				there = p.There.Number
			}
			got = append(got, fmt.Sprint(p.Verdict, " ", here, " ", there))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTheDifferenceOfTwoTicketsIsSaid(t *testing.T) {
	here, there := at("A1", "T1", 0, 40, 200, 100), at("M7", "T1", 5, 40, 200.1, 104)
	there.State, there.Remark = "held", "review: data gap 42 min"
	got := comparePair(here, there).difference()
	want := "opening -0.10 in; closing -4.00 in; +7.8 bbl; start -300 s; there it is M7; there: held; there: review: data gap 42 min"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	all := comparison{Against: sentTickets, Tickets: []*pair{{}}, Differ: 1, farthest: 0.01}
	if got := all.summary(); !strings.HasPrefix(got, "1 ticket: 0 the same, 1 different (+0.0 bbl together, no gauge by more than 0.01 in), ") {
		t.Error(got)
	}
	there.Open = nil
	if p := comparePair(here, there); p.Verdict != differs || p.Open != nil {
		t.Errorf("a ticket without a gauge: %+v", p)
	}
}

// What rounding makes of one outcome and not of the other is said, and is no difference between the two.
func TestRoundingIsNoDifference(t *testing.T) {
	for off, want := range map[float64]string{0.01: same, 0.02: differs} {
		p := comparePair(at("A1", "T1", 0, 40, 200, 100), at("A1", "T1", 0, 40, 200, 100+off))
		if p.Verdict != want || !strings.Contains(p.difference(), fmt.Sprintf("closing -%.2f in", off)) {
			t.Errorf("%.2f in: %s, %s", off, p.Verdict, p.difference())
		}
	}
}
