package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/control"
	"gauger/agent/ledger"
)

type ticketsListOptions struct {
	id, since, changed, month string
	unmatched, review         bool
	period                    period
}

func ticketsListCommand(c *call) *cobra.Command {
	o := &ticketsListOptions{}
	cmd := newCommand(c, "list", "every run ticket, where it stands, and the days' totals", o.run)
	takes(cmd, 0, "tickets list takes flags only; `gauger tickets show NUMBER` shows one")
	f := cmd.Flags()
	withCSV(cmd)
	f.StringVar(&o.id, "tank", "", "only those of the tank with this `ID`")
	f.StringVar(&o.period.from, "from", "", "from this production `DAY` on, or those that ended after a time: 2026-03-01, 24h, 7d")
	f.StringVar(&o.period.to, "to", "", "up to and with this production `DAY`, or those that ended before a time")
	f.StringVar(&o.since, "since", "", "the same as --from with a `TIME`; a date is its midnight")
	f.StringVar(&o.changed, "changed-since", "", "only those that were written, matched, corrected or voided after this `TIME`, whatever their day; a date is its midnight")
	f.StringVar(&o.month, "month", "", "those of the production days of this `MONTH`: 2026-03")
	f.BoolVar(&o.unmatched, "unmatched", false, "only those with which no truck's ticket is recorded")
	f.BoolVar(&o.review, "review", false, "only those that need review: nobody has released them, and no truck's ticket bears them out")
	return cmd
}

func (o *ticketsListOptions) run(ctx context.Context, c *call, _ []string) error {
	h := findSite(c)
	if err := readMonth(o.month, &o.period.from, &o.period.to); err != nil {
		return err
	}
	times := siteTimes(h.zone())
	after, changed := times.parse("since", o.since), times.parse("changed-since", o.changed)
	if err := errors.Join(times.err, o.period.read(h.zone())); err != nil {
		return err
	}
	rows, err := listTickets(ctx, c)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r ticketRow) bool {
		return o.id != "" && r.Tank != o.id || r.End.Before(after) || r.touched().Before(changed) || !o.period.contains(&r) || o.unmatched && (r.Hauled != nil || r.Off()) || o.review && r.ForReview() == nil
	})
	switch {
	case c.json():
		return printJSON(c.out, rows)
	case c.format == "csv":
		return writeTicketsCSV(c, h, rows)
	case len(rows) == 0:
		if err := h.checkTank(o.id); err != nil { // else it may be one of before
			return usageError{"--tank: " + err.Error()}
		}
		fmt.Fprintln(c.out, "no tickets"+h.notBegun(o.period.fromDay, time.Now()))
		return sayLostTickets(ctx, c)
	}
	return printTickets(c, h, rows, bookRuns(ctx, c, rows))
}

// notBegun says that the production day of a date has not begun, where that is why there is nothing of it.
func (h site) notBegun(date string, now time.Time) string {
	day, err := time.Parse(time.DateOnly, date)
	begins := h.productionDayStart(day)
	if err != nil || h.cfg == nil || !now.Before(begins) {
		return ""
	}
	local := now.In(h.zone())
	if now.Before(h.productionDayStart(local)) {
		local = local.AddDate(0, 0, -1)
	}
	return fmt.Sprintf("; production day %s begins at %s, and now it is that of %s", date, timeText(begins, h.zone()), local.Format(time.DateOnly))
}

// touched is when it was written or anything was said of it last; of one that is held, its end at the least.
func (r *ticketRow) touched() time.Time {
	return slices.MaxFunc([]time.Time{r.Changed(), r.End, r.Written()}, time.Time.Compare)
}

// sayLostTickets says below an empty list that there were tickets, which a damaged or deleted outbox file took.
func sayLostTickets(ctx context.Context, c *call) error {
	var s control.Status
	if err := ask(ctx, c, "status", control.None{}, &s); err != nil {
		return err
	}
	if n := s.Streams[ledger.Tickets]; n.Lost > 0 || n.LostUnknown {
		fmt.Fprintf(c.out, "lost with a damaged or deleted outbox file: %s; `gauger proof` and `gauger status` say what to do\n", control.Tally(n).Losses())
	}
	return nil
}

// bookRuns are the runs of the tank book by the tickets' numbers, on the days of the rows; nil where they cannot be had.
func bookRuns(ctx context.Context, c *call, rows []ticketRow) map[string]float64 {
	days := make([]string, len(rows))
	for i := range rows {
		days[i] = rows[i].Day
	}
	var book []ledger.BookRow
	p := ledger.BookPeriod{From: slices.Min(days), To: slices.Max(days)}
	if ask(ctx, c, "book", p, &book) != nil {
		return nil
	}
	runs := map[string]float64{}
	for i := range book {
		for _, t := range book[i].Tickets {
			runs[t.Number] = t.RunsBbl
		}
	}
	return runs
}

// printTickets prints the tickets, and what each production day comes to; inBook are the runs of the tank book.
func printTickets(c *call, h site, rows []ticketRow, inBook map[string]float64) error {
	t := newTable(c.out)
	t.printf("NUMBER\tTANK\tSTART\tEND\tOPEN\tCLOSE\tBBL\tTRUCK\tDIFF\tSTATE\tREMARK\n")
	for i := range rows {
		r := &rows[i]
		g := r.figures(h)
		start, end, ends := r.Start.In(h.zone()), r.End.In(h.zone()), "15:04" // the minute that a number and every screen has: no time is rounded up
		if start.YearDay() != end.YearDay() {
			ends = "01-02 15:04"
		}
		open, closing, truck, diff := "", "", "", ""
		if g.open != nil {
			open, closing = gaugeText(*g.open), gaugeText(*g.closing)
		}
		if r.Hauled != nil {
			truck = strings.Join(r.Hauled.Numbers, "+")
			if r.Hauled.Difference != nil {
				diff = signedText(*r.Hauled.Difference, 1)
			}
		}
		t.printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name(), r.Tank, timeText(start, h.zone()), clockText(end, ends),
			open, closing, figureText(g.bbl, 2), truck, diff, r.standing(), r.remark())
	}
	t.printf("times of %s\n\n", either(h.zone() == time.Local, "the box", h.zone().String()))
	printSums(t, h, rows)
	printBeside(t, h, rows, inBook)
	return t.Flush()
}

// ticketSum adds up tickets that somebody will book, each to the hundredth of a barrel, as a file prints it: so the sums of both are one.
type ticketSum struct {
	n, noBbl, noGross, noNet    int
	bbl, grossBbl, netBbl, away float64 // away: of those that nobody will book
	rejected, dropped, voided   int
	held                        int // of n: they have not left, and a person may yet reject them
	heldBbl                     float64
	review                      int // of n: a person should look at them
	reviewBbl                   float64
	lacking                     []string // the tanks of tickets without gross, and what they lack
}

func (s *ticketSum) add(r *ticketRow, h site) {
	bbl, v := 0.0, cmp.Or(r.Volumes, &ledger.Volumes{})
	if g := r.figures(h); g.bbl != nil {
		bbl = hundredths(*g.bbl)
	}
	if !r.Booked() {
		s.away += bbl
		switch {
		case r.Voided != "":
			s.voided++
		case r.State == "dropped":
			s.dropped++
		default:
			s.rejected++
		}
		return
	}
	s.n++
	s.bbl += bbl
	if r.State == "held" {
		s.held, s.heldBbl = s.held+1, s.heldBbl+bbl
	}
	if r.ForReview() != nil {
		s.review, s.reviewBbl = s.review+1, s.reviewBbl+bbl
	}
	if r.figures(h).bbl == nil {
		s.noBbl++
	}
	for _, f := range []struct {
		of   *float64
		sum  *float64
		none *int
	}{{v.GrossBbl, &s.grossBbl, &s.noGross}, {v.NetBbl, &s.netBbl, &s.noNet}} {
		if f.of == nil {
			*f.none++
		} else {
			*f.sum += hundredths(*f.of)
		}
	}
	if lacks := strings.TrimSuffix(r.Tank+" (no "+strings.Join(v.Missing, ", ")+")", " (no )"); v.GrossBbl == nil && !slices.Contains(s.lacking, lacks) {
		s.lacking = append(s.lacking, lacks)
	}
}

// String says of how many tickets gross and net are, where not of all, and what of it has not left.
func (s *ticketSum) String() string {
	text := fmt.Sprintf("%s, %.2f bbl by gauge", countText(s.n, "ticket"), s.bbl) +
		when(s.noBbl > 0, fmt.Sprintf(" WITHOUT %d of them, whose barrels are not known here", s.noBbl))
	for _, f := range []struct {
		bbl  float64
		none int
		name string
	}{{s.grossBbl, s.noGross, "gross"}, {s.netBbl, s.noNet, "net"}} {
		if f.none < s.n { // else of no ticket
			text += fmt.Sprintf(", %.2f %s", f.bbl, f.name) + when(f.none > 0, fmt.Sprintf(" of only %d of them", s.n-f.none))
		}
	}
	return text + when(s.held > 0, fmt.Sprintf("; of it held: %d, %.2f bbl", s.held, s.heldBbl)) +
		when(s.review > 0, fmt.Sprintf("; of it needs review: %d, %.2f bbl", s.review, s.reviewBbl))
}

// sumsBy adds the tickets up by day, tank or purchaser; those of a name are in the order of the names.
func sumsBy(rows []ticketRow, h site, name func(*ticketRow) string) (names []string, sums map[string]*ticketSum) {
	sums = map[string]*ticketSum{}
	for i := range rows {
		of := name(&rows[i])
		if sums[of] == nil {
			sums[of] = &ticketSum{}
		}
		sums[of].add(&rows[i], h)
	}
	return slices.Sorted(maps.Keys(sums)), sums
}

// printSums says what the tickets come to: by production day and, of more than one, in all, by tank and by purchaser.
func printSums(t *table, h site, rows []ticketRow) {
	days, byDay := sumsBy(rows, h, func(r *ticketRow) string { return r.Day })
	for _, day := range days {
		t.printf("production day %s: %s\n", day, byDay[day])
	}
	_, all := sumsBy(rows, h, func(*ticketRow) string { return "" })
	sum := all[""]
	if len(days) > 1 {
		t.printf("\n%s with tickets, from %s to %s: %s\n", countText(len(days), "day"), days[0], days[len(days)-1], sum)
	}
	for _, by := range []func(*ticketRow) string{func(r *ticketRow) string { return r.Tank }, func(r *ticketRow) string { return cmp.Or(r.purchaser(h), "no purchaser") }} {
		names, sums := sumsBy(rows, h, by)
		for _, name := range names {
			if len(names) > 1 {
				t.printf("  %s: %s\n", name, sums[name])
			}
		}
	}
	if sum.noGross > 0 && sum.noGross < sum.n {
		t.printf("no gross and net of %s: %s\n", countText(sum.noGross, "ticket"), strings.Join(sum.lacking, "; "))
	}
}

// printBeside says what lies between the tickets and the tank book, and what is not in the sums.
func printBeside(t *table, h site, rows []ticketRow, inBook map[string]float64) {
	var sum ticketSum
	flowedIn, openBbl, closed, open := 0.0, 0.0, 0, 0
	for i := range rows {
		r := &rows[i]
		sum.add(r, h)
		run, known := inBook[r.Number]
		g := r.figures(h)
		switch {
		case !r.Booked() || g.bbl == nil:
		case known && r.Number != "":
			flowedIn, closed = flowedIn+run-hundredths(*g.bbl), closed+1
		case inBook != nil:
			open, openBbl = open+1, openBbl+hundredths(*g.bbl)
		case r.Inflow() != nil:
			flowedIn += *r.Inflow()
		}
	}
	if flowedIn >= 0.05 {
		t.printf("the book's runs of these loads (removed_bbl) are %.2f bbl more than by gauge: it flowed in meanwhile\n", flowedIn)
	}
	if open > 0 && closed > 0 {
		t.printf("not in the book: %s, %.2f bbl; their day is not closed, or has no row there\n", countText(open, "ticket"), openBbl)
	}
	if sum.rejected+sum.dropped+sum.voided > 0 {
		t.printf("not in the sums: %d rejected, %d dropped, %d void, %.2f bbl; nor in the book's runs\n", sum.rejected, sum.dropped, sum.voided, sum.away)
	}
}

// listTickets asks for all tickets over a connection of its own.
func listTickets(ctx context.Context, c *call) (rows []ticketRow, err error) {
	err = withConnection(c, func(d *connection) (err error) {
		rows, err = d.tickets(ctx)
		return err
	})
	return rows, err
}

// period is a stretch of production days, or of times.
type period struct {
	from, to       string
	fromAt, toAt   time.Time
	fromDay, toDay string
}

// read takes a date for a production day and anything else for a time.
func (p *period) read(zone *time.Location) error {
	for _, x := range []struct {
		name, text string
		day        *string
		at         *time.Time
	}{{"from", p.from, &p.fromDay, &p.fromAt}, {"to", p.to, &p.toDay, &p.toAt}} {
		if _, err := time.Parse(time.DateOnly, x.text); err == nil {
			*x.day = x.text
			continue
		}
		times := siteTimes(zone)
		*x.at = times.parse(x.name, x.text)
		if times.err != nil {
			return times.err
		}
	}
	if p.fromDay > p.toDay && p.toDay != "" || p.fromAt.After(p.toAt) && !p.toAt.IsZero() {
		return errBackwards
	}
	return nil
}

func (p *period) contains(r *ticketRow) bool {
	switch {
	case p.fromDay != "" && r.Day < p.fromDay, p.toDay != "" && r.Day > p.toDay:
		return false
	case !p.fromAt.IsZero() && r.End.Before(p.fromAt), !p.toAt.IsZero() && r.End.After(p.toAt):
		return false
	}
	return true
}
