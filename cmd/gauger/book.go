package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"

	"github.com/spf13/cobra"
)

type bookOptions struct {
	one, month string
	period     ledger.BookPeriod
}

func bookCommand(c *call) *cobra.Command {
	o := &bookOptions{}
	cmd := newCommand(c, "book [--day DATE] [--month MONTH] [--format csv]", "the tank book: stocks, production, runs, and what is unexplained", o.run)
	takes(cmd, 0, "book takes flags only: --day, --month, or --from and --to, and --tank")
	cmd.Long = "What was in a tank, what came and what left: closing = opening + produced - runs - water - out + in - other + residual. " +
		"RUNS are the loads of which a ticket is booked, by gauge and with what flowed in meanwhile, as removed_bbl of tickets list. " + control.OtherWords + ". RESIDUAL is what is left unexplained; less than 0: it is missing."
	f := cmd.Flags()
	withCSV(cmd)
	f.StringVar(&o.one, "day", "", "only this production day, by the local `DATE` on which it began: 2026-03-02")
	f.StringVar(&o.month, "month", "", "the production days of this `MONTH`: 2026-03")
	f.StringVar(&o.period.From, "from", "", "first production day, a `DATE`")
	f.StringVar(&o.period.To, "to", "", "last production day, a `DATE`")
	f.StringVar(&o.period.Tank, "tank", "", "only the tank with this `ID`")
	return cmd
}

func (o *bookOptions) run(ctx context.Context, c *call, _ []string) error {
	if o.one != "" {
		if o.period.From != "" || o.period.To != "" {
			return usageError{"--day is one day; leave --from and --to out"}
		}
		o.period.From, o.period.To = o.one, o.one
	}
	if err := readMonth(o.month, &o.period.From, &o.period.To); err != nil {
		return err
	}
	for _, date := range []string{o.period.From, o.period.To} {
		if _, err := time.Parse(time.DateOnly, date); date != "" && err != nil {
			return usageError{fmt.Sprintf("%q is no date; write one such as 2026-03-02", date)}
		}
	}
	if o.period.From > o.period.To && o.period.To != "" {
		return errBackwards
	}
	h := findSite(c)
	var rows []ledger.BookRow
	var begins []ledger.BookBegin
	err := withConnection(c, func(d *connection) error {
		if err := d.request(ctx, "book", o.period, &rows); err != nil || c.json() || o.period.From+o.period.To != "" {
			return err
		}
		_ = d.request(ctx, "book.begins", control.None{}, &begins) // the version before has no answer
		return nil
	})
	if err != nil {
		return err
	}
	if err := h.checkTank(o.period.Tank); err != nil && len(rows) == 0 { // else it may be one of before
		return usageError{"--tank: " + err.Error()}
	}
	unbooked := append(h.unbooked(o.period, rows, time.Now()), h.begun(o.period.Tank, rows, begins)...)
	switch {
	case c.json():
		return printJSON(c.out, rows)
	case c.format == "csv" && len(rows) == 0: // a heading alone looks like a month without oil
		return errors.Join(bookText(c.err, rows, unbooked), bookCSV(c.out, h.zone(), rows))
	case c.format == "csv":
		return bookCSV(c.out, h.zone(), rows)
	}
	return bookText(c.out, rows, unbooked)
}

// noProductionDays says why nothing is counted where time is played faster; empty: it is not.
func (h site) noProductionDays() string {
	if h.cfg == nil || h.cfg.Loads.Speed == 0 || h.cfg.Loads.Speed == 1 {
		return ""
	}
	return fmt.Sprintf("not counted; at loads.speed: %g the days are no production days", h.cfg.Loads.Speed)
}

// begun says of tanks without a row since when they are counted, and when their first row comes.
func (h site) begun(tank string, rows []ledger.BookRow, begins []ledger.BookBegin) (out []string) {
	for _, b := range begins {
		if tank != "" && b.Tank != tank || slices.ContainsFunc(rows, func(r ledger.BookRow) bool { return r.Tank == b.Tank }) {
			continue
		}
		if why := h.noProductionDays(); why != "" {
			out = append(out, b.Tank+": "+why)
			continue
		}
		if b.Next.IsZero() {
			out = append(out, b.Tank+": not counted yet; the book begins with its first levels")
			continue
		}
		out = append(out, b.Tank+": counted"+when(!b.Since.IsZero(), " since about "+timeText(b.Since, h.zone()))+"; its first row comes about "+timeText(b.Next, h.zone())+
			when(!b.Whole.Equal(b.Next), ", without what was in the tank when the day began, and the first whole one about "+timeText(b.Whole, h.zone())))
	}
	return out
}

// unbooked names the days that were asked for and have no row, with the reason as far as it is known.
func (h site) unbooked(p ledger.BookPeriod, rows []ledger.BookRow, now time.Time) []string {
	if h.cfg == nil || p.From == "" || p.To == "" {
		return nil
	}
	have := map[string]bool{}
	for _, r := range rows {
		have[r.Date+"/"+r.Tank] = true
	}
	var notes control.BookSentences
	day, _ := time.ParseInLocation(time.DateOnly, p.From, h.zone())
	for n := 0; day.Format(time.DateOnly) <= p.To && n < 400; n, day = n+1, day.AddDate(0, 0, 1) {
		ends := time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, h.zone()).Add(time.Duration(h.cfg.ProductionDay))
		why := cmp.Or(h.noProductionDays(), either(now.Before(ends.Add(time.Hour)), "the day is not closed yet", "no readings, or gauger did not run"))
		for _, t := range h.cfg.Tanks {
			if date := day.Format(time.DateOnly); (p.Tank == "" || p.Tank == t.ID) && !have[date+"/"+t.ID] {
				notes.Add(date, t.ID, why, why)
			}
		}
	}
	return notes.Lines()
}

// bookColumns are the columns of volumes, in the order of the balance.
var bookColumns = []struct {
	name, head string
	of         func(r *ledger.BookRow) *float64
}{
	{"opening_bbl", "OPENING", func(r *ledger.BookRow) *float64 { return r.Opening }},
	{"production_bbl", "PRODUCED", func(r *ledger.BookRow) *float64 { return r.Production }},
	{"runs_bbl", "RUNS", func(r *ledger.BookRow) *float64 { return &r.Runs }},
	{"water_bbl", "WATER", func(r *ledger.BookRow) *float64 { return &r.Water }},
	{"transfers_out_bbl", "OUT", func(r *ledger.BookRow) *float64 { return &r.TransfersOut }},
	{"transfers_in_bbl", "IN", func(r *ledger.BookRow) *float64 { return &r.TransfersIn }},
	{"other_bbl", "OTHER", func(r *ledger.BookRow) *float64 { return &r.Other }},
	{"closing_bbl", "CLOSING", func(r *ledger.BookRow) *float64 { return r.Closing }},
	{"residual_bbl", "RESIDUAL", func(r *ledger.BookRow) *float64 { return r.Residual }},
}

// bookText prints the days with a total of the site, and below what has to be said of them.
func bookText(out io.Writer, rows []ledger.BookRow, unbooked []string) error {
	if len(rows) == 0 {
		return printf(out, "%s\n", strings.Join(append([]string{"no closed production days; a day is closed some time after its gauge-off"}, unbooked...), "\n"))
	}
	t := newTable(out)
	t.right = true
	head := columns{"DAY", "TANK"}
	for _, c := range bookColumns {
		head = append(head, c.head)
	}
	t.printf("%s\t\n", head)
	var sites control.BookSentences
	for i := 0; i < len(rows); {
		n := i
		for n < len(rows) && rows[n].Date == rows[i].Date {
			t.printf("%s\t%s\t%s\t\n", rows[n].Date, rows[n].Tank, volumeColumns(rows[n:n+1]))
			n++
		}
		if oil := control.OilRows(rows[i:n]); len(oil) > 1 {
			t.printf("%s\t%s\t%s\t\n", rows[i].Date, "site", volumeColumns(oil))
			if text := knownOfSite(oil); text != "" {
				sites.Add(rows[i].Date, "site", text, text)
			}
		}
		i = n
	}
	for _, r := range control.BookTotals(rows) {
		t.printf("%s\t%s\t%s\t\n", r.Date, r.Tank, volumeColumns([]ledger.BookRow{r}))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, line := range slices.Concat(control.BookNotes(rows), sites.Lines(), unbooked) {
		t.printf("%s\n", line)
	}
	return t.Flush()
}

// volumeColumns are the columns of one row, or of the sum of some; a sum with an unknown part is unknown.
func volumeColumns(rows []ledger.BookRow) (all columns) {
	for _, c := range bookColumns {
		all = append(all, figureText(sumOf(rows, c.of), 2))
	}
	return all
}

// knownOfSite says what a day's tanks make together where a sum lacks one of them; empty: none does, or nobody knows more.
func knownOfSite(rows []ledger.BookRow) string {
	var all []string
	for _, c := range bookColumns {
		var known []ledger.BookRow
		var without []string
		for _, r := range rows {
			if c.of(&r) == nil {
				without = append(without, r.Tank)
				continue
			}
			known = append(known, r)
		}
		if known != nil && without != nil {
			all = append(all, fmt.Sprintf("%s %s without %s", c.head, figureText(sumOf(known, c.of), 2), strings.Join(without, " and ")))
		}
	}
	return behind("not known of every tank: ", strings.Join(all, ", "))
}

func sumOf(rows []ledger.BookRow, of func(r *ledger.BookRow) *float64) *float64 {
	sum := 0.0
	for i := range rows {
		v := of(&rows[i])
		if v == nil {
			return nil
		}
		sum += *v
	}
	return new(hundredths(sum) + 0) // no minus before a zero
}

// bookCSV writes a row for each tank and day: times in the site's zone, volumes in barrels, empty where nobody knows.
func bookCSV(out io.Writer, zone *time.Location, rows []ledger.BookRow) error {
	at := func(t time.Time) string { return t.In(zone).Format(time.RFC3339) }
	head := []string{"day", "tank", "from", "to", "opening_in", "closing_in"}
	for _, c := range bookColumns {
		head = append(head, c.name)
	}
	lines := [][]string{append(head, "error_bbl", "sees_bbl_a_day", "measured", "run_numbers", "remarks")}
	for k, kind := range ledger.BookParts {
		lines[0] = append(lines[0], "other_"+kind+"_bbl")
		if k == 0 {
			lines[0] = append(lines[0], "other_parts") // the kinds that came later stand behind it: no column changes its place
		}
	}
	lines[0] = append(lines[0], "opening_in_run_bbl", "closing_in_run_bbl", "product") // so much of a stock is not in its gauge: it had left in a run that is under way there
	for i := range rows {
		r := &rows[i]
		line := []string{r.Date, spreadsheetText(r.Tank), at(r.From), at(r.To), figureText(r.OpeningIn, 2), figureText(r.ClosingIn, 2)}
		for _, c := range bookColumns {
			line = append(line, figureText(c.of(r), 2))
		}
		var numbers []string
		for _, t := range r.Tickets {
			numbers = append(numbers, strings.TrimSpace(t.Number+" "+control.StateInBook(&t)))
		}
		remarks := r.Remarks
		if r.Blind != "" {
			remarks = append([]string{"a slow loss is hard to see: " + r.Blind}, remarks...)
		}
		off := &r.Error
		if r.Error <= 0 {
			off = nil // nobody knows it
		}
		line = append(line, figureText(off, 2), figureText(r.Sees, 2), strconv.FormatBool(r.Measured),
			spreadsheetText(strings.Join(numbers, " ")), spreadsheetText(strings.Join(remarks, "; ")))
		for k, kind := range ledger.BookParts {
			line = append(line, figureText(new(r.PartBbl(kind)), 2))
			if k == 0 {
				line = append(line, spreadsheetText(strings.Join(control.OtherLines(r), "; ")))
			}
		}
		lines = append(lines, append(line, inRunText(r.Opening, r.OpeningInRun), inRunText(r.Closing, r.ClosingInRun), cmp.Or(r.Product, "oil")))
	}
	return csv.NewWriter(out).WriteAll(lines)
}

// inRunText is what of a stock was on its way; empty where nobody knows the stock.
func inRunText(stock *float64, bbl float64) string {
	return when(stock != nil || bbl != 0, figureText(&bbl, 2))
}
