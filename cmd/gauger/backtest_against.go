package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"gauger/agent/control"
	"gauger/config"
)

// comparedTicket is one ticket of either side of a comparison.
type comparedTicket struct {
	Number string    `json:"number,omitempty"`
	Tank   string    `json:"tank"`
	Start  time.Time `json:"start"`
	End    time.Time `json:"end"`
	Open   *float64  `json:"open_in,omitempty"`
	Close  *float64  `json:"close_in,omitempty"`
	Bbl    *float64  `json:"gauge_bbl,omitempty"`
	State  string    `json:"state,omitempty"`  // held, waiting, delivered, ...
	Remark string    `json:"remark,omitempty"` // why it needs review, who wrote or rejected it
}

// Verdicts of a comparison.
const (
	same        = "same"
	differs     = "differs"
	onlyThere   = "only there"
	onlyHere    = "only here"
	sentTickets = "sent" // the other side of --against that is no file
)

// pair is a ticket of the backtest beside the other side's; one of them may be missing.
type pair struct {
	Verdict string          `json:"verdict"` // same, differs, only here (the backtest), only there (what it is held against)
	Here    *comparedTicket `json:"here,omitempty"`
	There   *comparedTicket `json:"there,omitempty"`
	// Of here from there: what the backtest has more.
	Open  *float64 `json:"open_in_difference,omitempty"`
	Close *float64 `json:"close_in_difference,omitempty"`
	Bbl   *float64 `json:"gauge_bbl_difference,omitempty"`
	Start *float64 `json:"start_s_difference,omitempty"`
	End   *float64 `json:"end_s_difference,omitempty"`
}

// comparison is the whole of it.
type comparison struct {
	Against   string    `json:"against"`
	From      time.Time `json:"from,omitzero"` // of the readings, or as they were cut
	To        time.Time `json:"to,omitzero"`
	Same      int       `json:"same"`
	Differ    int       `json:"differ"`
	OnlyHere  int       `json:"only_here"`
	OnlyThere int       `json:"only_there"`
	Bbl       float64   `json:"gauge_bbl_difference"` // of those that both sides have, together
	Tickets   []*pair   `json:"tickets"`
	farthest  float64   // inches by which a gauge of one differs most
}

// otherTickets are the tickets of the other side: what the store's book has, or the file of another backtest.
func otherTickets(ctx context.Context, c *call, cfg *config.Config, against string) ([]*comparedTicket, error) {
	h := site{cfg}
	var all []*comparedTicket
	if against == sentTickets {
		rows, err := listTickets(ctx, c)
		for i := range rows {
			all = append(all, newComparedTicket(h, &rows[i]))
		}
		return all, err
	}
	written, err := readTicketFile(c, cfg, against)
	if err != nil {
		return nil, fmt.Errorf("%w; --against takes the word sent, or what `gauger backtest --format json` printed into a file", err)
	}
	for i := range written {
		w := &written[i]
		t := &comparedTicket{Number: w.Number, Tank: w.Tank, Start: w.Start, End: w.End, Open: &w.Open, Close: &w.Close}
		if bbl, ok := h.barrels(w.Tank, w.Open, w.Close); ok {
			t.Bbl = &bbl
		}
		if bbl, ok := gaugedIn(w.Comments); ok && (t.Bbl == nil || math.Abs(bbl-*t.Bbl) > saidTo) { // by another strapping table
			t.Bbl = &bbl
		}
		if _, review, doubtful := strings.Cut(w.Comments, "needs review: "); doubtful {
			t.Remark = "review: " + review
		}
		all = append(all, t)
	}
	return all, nil
}

// saidTo is by how many barrels a volume may differ from what comments give of it: half of a tenth, and what rounding adds.
const saidTo = 0.051

// gaugedIn are the barrels by gauge that a ticket's comments give.
func gaugedIn(comments string) (bbl float64, ok bool) {
	_, rest, found := strings.Cut(comments, "gauge_bbl=")
	figure, _, _ := strings.Cut(rest, ";")
	bbl, err := strconv.ParseFloat(figure, 64)
	return bbl, found && err == nil
}

// newComparedTicket is a ticket of a book as one side of a comparison.
func newComparedTicket(h site, r *ticketRow) *comparedTicket {
	g := r.figures(h)
	t := &comparedTicket{Number: r.Number, Tank: r.Tank, Start: r.Start, End: r.End, Open: g.open, Close: g.closing, Bbl: g.bbl, State: r.State, Remark: strings.Replace(r.remark(), needsReview, "review: ", 1)}
	if t.Start.IsZero() && r.Load != nil { // an earlier version kept a rejected ticket without its times
		t.Start, t.End = r.Load.Start, r.Load.End
	}
	return t
}

// compare puts the trial's tickets beside the others of the same time.
func (t *trial) compare(against string, other []*comparedTicket, c backtestRange) *comparison {
	out := &comparison{Against: against, From: t.watch.first, To: t.watch.last, Tickets: []*pair{}}
	if !c.from.IsZero() {
		out.From = c.from
	}
	if !c.to.IsZero() {
		out.To = c.to
	}
	span := backtestRange{from: out.From, to: out.To, tank: c.tank}
	outside := func(x *comparedTicket) bool { return !span.contains(x.Tank, x.Start, x.End) }
	var mine []*comparedTicket
	for i := range t.booked {
		row := &ticketRow{control.TicketRow{TicketRecord: t.booked[i], State: "sent"}}
		if row.Ticket == nil {
			row.State, row.Person = "held at the end of the readings", ""
		}
		mine = append(mine, newComparedTicket(site{t.cfg}, row))
	}
	mine, other = slices.DeleteFunc(mine, outside), slices.DeleteFunc(other, outside)
	for _, p := range paired(mine, other) {
		out.Tickets = append(out.Tickets, p)
		switch p.Verdict {
		case same:
			out.Same++
		case differs:
			out.Differ++
		case onlyHere:
			out.OnlyHere++
		case onlyThere:
			out.OnlyThere++
		}
		if p.Bbl != nil {
			out.Bbl += *p.Bbl
		}
		for _, d := range []*float64{p.Open, p.Close} {
			if d != nil {
				out.farthest = max(out.farthest, math.Abs(*d))
			}
		}
	}
	out.Bbl = math.Round(100*out.Bbl) / 100
	return out
}

// paired matches tickets by number, the rest by tank and the longest common time, and judges each pair.
func paired(mine, other []*comparedTicket) []*pair {
	partner := make([]int, len(mine)) // index in other plus one
	taken := make([]bool, len(other))
	type match struct {
		i, j   int
		number bool
		common time.Duration
	}
	var all []match
	for i, a := range mine {
		for j, b := range other {
			number := a.Number != "" && a.Number == b.Number
			common := min(a.End.Sub(b.Start), b.End.Sub(a.Start), a.End.Sub(a.Start), b.End.Sub(b.Start))
			if number || a.Tank == b.Tank && common > 0 {
				all = append(all, match{i, j, number, common})
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return a.number && !b.number || a.number == b.number && a.common > b.common
	})
	for _, m := range all {
		if partner[m.i] == 0 && !taken[m.j] {
			partner[m.i], taken[m.j] = m.j+1, true
		}
	}
	var pairs []*pair
	for i := range mine {
		if partner[i] == 0 {
			pairs = append(pairs, &pair{Verdict: onlyHere, Here: mine[i]})
			continue
		}
		pairs = append(pairs, comparePair(mine[i], other[partner[i]-1]))
	}
	for j := range other {
		if !taken[j] {
			pairs = append(pairs, &pair{Verdict: onlyThere, There: other[j]})
		}
	}
	sort.SliceStable(pairs, func(i, j int) bool { return pairs[i].ticket().Start.Before(pairs[j].ticket().Start) })
	return pairs
}

// ticket is the backtest's ticket, or the other where it has none.
func (p *pair) ticket() *comparedTicket { return cmp.Or(p.Here, p.There) }

// Of what two outcomes are told to, so much may round one of them otherwise than the other: in inches and seconds.
const (
	gaugeGrain = 0.01
	timeGrain  = 1.0
)

// comparePair compares two tickets of one load: what the accountant sees of them, beyond what rounding makes.
func comparePair(a, b *comparedTicket) *pair {
	p := &pair{Verdict: same, Here: a, There: b}
	differ := func(x, y *float64, grain float64) *float64 {
		switch {
		case x == nil && y == nil:
			return nil
		case x == nil || y == nil:
			p.Verdict = differs
			return nil
		}
		d := math.Round(100*(*x-*y)) / 100
		if math.Abs(d) > 1.5*grain {
			p.Verdict = differs
		}
		return &d
	}
	at := func(x, y time.Time) *float64 {
		return differ(new(float64(x.Truncate(time.Second).Unix())), new(float64(y.Truncate(time.Second).Unix())), timeGrain)
	}
	p.Open, p.Close = differ(a.Open, b.Open, gaugeGrain), differ(a.Close, b.Close, gaugeGrain)
	p.Start, p.End = at(a.Start, b.Start), at(a.End, b.End)
	if a.Bbl != nil && b.Bbl != nil {
		p.Bbl = new(math.Round(100*(*a.Bbl-*b.Bbl)) / 100)
		if math.Abs(*p.Bbl) > saidTo {
			p.Verdict = differs
		}
	}
	if a.Number != b.Number && a.Number != "" && b.Number != "" {
		p.Verdict = differs
	}
	return p
}

func printComparison(c *call, all *comparison) error {
	if c.json() {
		return printJSON(c.out, all)
	}
	h := findSite(c)
	w := newTable(c.out)
	if len(all.Tickets) > 0 {
		w.printf("VERDICT\tNUMBER\tTANK\tSTART\tEND\tBACKTEST\t%s\tDIFFERENCE\n", either(all.Against == sentTickets, "SENT", "IN "+all.Against))
	}
	for _, p := range all.Tickets {
		x := p.ticket()
		number := cmp.Or(x.Number, "(no number yet)")
		w.printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.verdictWords(all.Against), number, x.Tank, timeText(x.Start, h.zone()), x.End.In(h.zone()).Format("15:04"),
			p.Here.gaugesText(), p.There.gaugesText(), p.difference())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return printf(c.out, "%s%s\n", when(len(all.Tickets) > 0, "\n"), all.summary())
}

func (p *pair) verdictWords(against string) string {
	switch p.Verdict {
	case onlyHere:
		return "only in the backtest"
	case onlyThere:
		return onlyThereWords(against)
	}
	return p.Verdict
}

func onlyThereWords(against string) string {
	return either(against == sentTickets, "only sent", "only in the file")
}

func (t *comparedTicket) gaugesText() string {
	if t == nil || t.Open == nil || t.Close == nil {
		return "-"
	}
	return gaugeText(*t.Open) + " to " + gaugeText(*t.Close) + when(t.Bbl != nil, ", "+figureText(t.Bbl, 1)+" bbl")
}

// difference says what is not the same, and what a reader should know of either side.
func (p *pair) difference() string {
	var all []string
	add := func(v *float64, before string, places int, unit string) {
		if v == nil {
			return
		}
		if by := signedText(*v, places); by != signedText(0, places) {
			all = append(all, before+by+unit)
		}
	}
	add(p.Open, "opening ", 2, " in")
	add(p.Close, "closing ", 2, " in")
	add(p.Bbl, "", 1, " bbl")
	add(p.Start, "start ", 0, " s")
	add(p.End, "end ", 0, " s")
	if p.Here != nil && p.There != nil && p.Here.Number != p.There.Number {
		all = append(all, "there it is "+cmp.Or(p.There.Number, "without a number yet"))
	}
	for _, x := range []struct {
		side string
		t    *comparedTicket
	}{{"backtest", p.Here}, {"there", p.There}} {
		if x.t == nil {
			continue
		}
		if !slices.Contains([]string{"sent", "delivered", "rejected", ""}, x.t.State) {
			all = append(all, x.side+": "+x.t.State)
		}
		if x.t.Remark != "" {
			all = append(all, x.side+": "+x.t.Remark)
		}
	}
	return strings.Join(all, "; ")
}

func (all *comparison) summary() string {
	together := signedText(all.Bbl, 1) + " bbl together" + when(all.farthest > 0, fmt.Sprintf(", no gauge by more than %.2f in", all.farthest))
	return fmt.Sprintf("%s: %d the same, %d different (%s), %d only in the backtest, %d %s",
		countText(len(all.Tickets), "ticket"), all.Same, all.Differ, together, all.OnlyHere, all.OnlyThere, onlyThereWords(all.Against))
}
