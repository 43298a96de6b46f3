package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/config"
)

// unseen makes a row of a load inside of which no reading came, from 07:29:10 to 07:46:05.
func unseen(r *ticketRow) {
	at := func(h, m, s int) time.Time { return time.Date(2026, 3, 2, h, m, s, 0, time.UTC) }
	r.Start, r.End = at(7, 30, 0), at(7, 45, 0)
	r.Load.Start, r.Load.End = r.Start, r.End
	r.Load.Unseen = &tank.Span{From: at(7, 29, 10), To: at(7, 46, 5)}
	r.Load.Samples, r.Load.InflowBbl, r.Load.Gap = 0, 0, 17*time.Minute
	r.Load.Rivals = &tank.Rivals{MinLoad: 25, MinRate: 0.5, Others: 2, Watched: 45 * time.Minute}
}

// No sentence about a load that nobody saw asserts what no reading shows: how fast it was, its pauses, when it began, that
// no other tank rose, that it was no leak by a rate. What the readings before and after bound is said as bounds.
func TestALoadInsideAGapIsToldInBounds(t *testing.T) {
	old := func(r *ticketRow) { // made before the bounds were kept
		unseen(r)
		r.Load.Unseen, r.Load.Trend = nil, &tank.Trend{Seconds: []int32{-120, -50, 965, 1000}, Level: []int32{18000, 18000, 8000, 8000}}
	}
	for name, change := range map[string]func(*ticketRow){"kept": unseen, "of before": old} {
		r := paper(change)
		says := strings.Join(r.sentences(site{}), "\n")
		text := says
		for _, line := range r.evidence(site{}) {
			if line[0] != "as sent" && line[0] != "comments" && !strings.HasPrefix(line[0], "seal") {
				text += "\n" + line[0] + " " + line[1]
			}
		}
		for _, want := range []string{
			"between 07:29 and 07:47 the level of tank", "no reading came in between, so when in that time it fell is not known",
			"not known how fast it left", "at least 12.1 bbl a minute", "A transfer to another tank: not known", "A recirculation: not known",
			"start about 2026-03-02 07:30", "rate not known", "parts not known",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: not said: %q in\n%s", name, want, text)
			}
		}
		for _, never := range []string{"without a pause", "pauses between", "seen in 0 readings", "this fell at", "than its well makes", " 6.0 bbl", "07:30:00", "07:45:00", "and nothing came back", "also what left"} {
			if strings.Contains(text, never) {
				t.Errorf("%s: %q is asserted in\n%s", name, never, text)
			}
		}
	}
}

// A movement that nobody saw is not said to have gone from tank to tank, nor when it began.
func TestAMovementInsideAGapIsNotAsserted(t *testing.T) {
	at := time.Date(2026, 3, 2, 7, 40, 0, 0, time.UTC)
	v := tank.Verdict{Tank: "TK-1", What: tank.Transferred, Why: "meanwhile other tanks rose", Bbl: 60, Start: at, End: at.Add(time.Minute), Open: 171.25, Close: 131.25,
		Unseen: &tank.Span{From: at.Add(-11 * time.Minute), To: at.Add(6 * time.Minute)}}
	says := strings.Join((&timeAnswer{&ledger.Explanation{Tank: "TK-1", At: at, Now: at.Add(time.Hour)}, site{}, nil}).verdictSentences(&v), " ")
	for _, want := range []string{"between 07:29 and 07:46", "may have been moved", "no reading shows it", "meanwhile other tanks rose"} {
		if !strings.Contains(says, want) {
			t.Errorf("not said: %q in %s", want, says)
		}
	}
	if strings.Contains(says, "did not leave the site") || strings.Contains(says, "07:40") {
		t.Errorf("asserted: %s", says)
	}
}

// A gauge at which readings were wanting is shown as computed; one of which a reading is near is not, whatever was wanting elsewhere.
func TestAGaugeThatNoReadingShowsIsToldAsComputed(t *testing.T) {
	load := func(gap time.Duration, without func(s int32) bool) *tank.Load {
		start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		l := &tank.Load{Tank: "TK-1", Start: start, End: start.Add(20 * time.Minute), Open: 180, Close: 90, Samples: 100, Gap: gap, Trend: &tank.Trend{}}
		for s := int32(-1200); s <= 2400; s += 10 {
			if !without(s) {
				l.Trend.Seconds, l.Trend.Level = append(l.Trend.Seconds, s), append(l.Trend.Level, 18000)
			}
		}
		return l
	}
	for what, x := range map[string]struct {
		load *tank.Load
		want []string
	}{
		"all seen":             {load(10*time.Second, func(int32) bool { return false }), nil},
		"no opening":           {load(8*time.Minute, func(s int32) bool { return s > -480 && s < 5 }), []string{"opening"}},
		"nothing before it":    {load(25*time.Minute, func(s int32) bool { return s < 5 }), []string{"opening"}},
		"no closing":           {load(8*time.Minute, func(s int32) bool { return s > 1190 && s < 1680 }), []string{"closing"}},
		"neither":              {load(8*time.Minute, func(s int32) bool { return s > -480 && s < 5 || s > 1190 && s < 1680 }), []string{"opening", "closing"}},
		"a gap inside":         {load(8*time.Minute, func(s int32) bool { return s > 300 && s < 780 }), nil},
		"a gap well before it": {load(8*time.Minute, func(s int32) bool { return s > -700 && s < -220 }), nil},
	} {
		if got := computedEdges(x.load); !slices.Equal(got, x.want) {
			t.Errorf("%s: computed %q, want %q", what, got, x.want)
		}
		r := ticketRow{control.TicketRow{TicketRecord: ledger.TicketRecord{Number: "A-1", Tank: "TK-1", Start: x.load.Start, End: x.load.End, Load: x.load}, State: "delivered"}}
		h := site{&config.Config{Zone: time.UTC}}
		said := strings.Join(r.sentences(h), "\n")
		for _, edge := range []string{"opening", "closing"} {
			shown := ""
			for _, line := range r.evidence(h) {
				if line[0] == edge+" gauge" {
					shown = line[1]
				}
			}
			want := slices.Contains(x.want, edge)
			if strings.Contains(said, "No reading shows the level at the "+edge) != want || strings.Contains(shown, "computed: no reading shows it") != want {
				t.Errorf("%s: %s gauge %q; %s", what, edge, shown, said)
			}
		}
	}
}

// Who asks about a time at which no reading shows whether oil was hauled hears that, and the readings between which it was, whatever times
// the ticket guesses: of a load that nobody saw, and of one whose start or end nobody saw.
func TestATimeThatNoReadingShowsIsToldAsUnknown(t *testing.T) {
	at := func(h, m, s int) time.Time { return time.Date(2026, 3, 2, h, m, s, 0, time.UTC) }
	hidden := &tank.Load{Start: at(7, 38, 0), End: at(7, 39, 0), Gap: 6 * time.Minute, Unseen: &tank.Span{From: at(7, 36, 20), To: at(7, 42, 5)}}
	edges := &tank.Load{Start: at(9, 0, 0), End: at(9, 20, 0), Samples: 50, Gap: 8 * time.Minute, Trend: &tank.Trend{}}
	for s := int32(-1200); s <= 2400; s += 10 {
		if s > 0 && s < 1190 || s <= -480 || s >= 1680 {
			edges.Trend.Seconds, edges.Trend.Level = append(edges.Trend.Seconds, s), append(edges.Trend.Level, 18000)
		}
	}
	h := site{&config.Config{Zone: time.UTC}}
	for _, x := range []struct {
		load *tank.Load
		at   time.Time
		want string
	}{
		{hidden, at(7, 41, 0), "Whether tank TK-1 was being hauled at 07:41 on March 2, 2026 is not known: it was at some time between 07:36 and 07:43, when no reading came; there is a ticket."},
		{hidden, at(7, 38, 0), "Whether tank TK-1 was being hauled at 07:38 on March 2, 2026 is not known: it was at some time between 07:36 and 07:43, when no reading came; there is a ticket."},
		{hidden, at(7, 50, 0), "At 07:50 on March 2, 2026 tank TK-1 was not being hauled, but it was at some time between 07:36 and 07:43, when no reading came; there is a ticket."},
		{hidden, at(8, 10, 0), "Ticket A-1 is near, at some time between 07:36 and 07:43, when no reading came; `gauger tickets explain` tells of it."},
		{edges, at(8, 55, 0), "Whether tank TK-1 was being hauled at 08:55 on March 2, 2026 is not known: it was from some time between 08:52 and 09:01, when no reading came, to some time between 09:19 and 09:28, when no reading came; there is a ticket."},
		{edges, at(9, 10, 0), "At 09:10 on March 2, 2026 tank TK-1 was being hauled; there is a ticket."},
	} {
		a := timeAnswer{&ledger.Explanation{Tank: "TK-1", At: x.at, Now: at(12, 0, 0),
			Tickets: []ledger.TicketRecord{{Number: "A-1", Tank: "TK-1", Start: x.load.Start, End: x.load.End, Load: x.load}}}, h, nil}
		if says := a.sentences(); !slices.Contains(says, x.want) {
			t.Errorf("not said: %q in %q", x.want, says)
		}
	}
}
