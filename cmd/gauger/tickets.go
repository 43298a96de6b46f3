package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gauger/agent"
)

// ticketsList lists the tickets, the newest last.
func (m *Main) ticketsList(ctx context.Context, args []string) error {
	f, c := m.flags("tickets list")
	c.formats = append(c.formats, "csv")
	f.Lookup("format").Usage = "output `FORMAT`: text, json or csv (default text)"
	id := f.String("tank", "", "only those of the tank with this `ID`")
	since := f.String("since", "", "only those that ended after this `TIME`: 2026-03-01, 24h, 7d")
	if rest, err := parse(f, c, args); err != nil || len(rest) > 0 {
		return orUsage(err, "tickets list takes flags only; `gauger tickets show NUMBER` shows one")
	}
	h := m.around(c)
	times := siteTimes(h.zone())
	from := times.at("since", *since, time.Time{})
	if times.err != nil {
		return times.err
	}
	rows, err := m.rows(ctx, c)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r ticketRow) bool { return *id != "" && r.Tank != *id || r.End.Before(from) })
	switch {
	case c.json():
		return printJSON(m.Out, rows)
	case c.format == "csv":
		return m.ticketsCSV(h, rows)
	case len(rows) == 0:
		_, err := fmt.Fprintln(m.Out, "no tickets")
		return err
	}
	t := tabwriter.NewWriter(m.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NUMBER\tTANK\tSTART\tEND\tOPEN\tCLOSE\tBBL\tSTATE\tREMARK")
	for _, r := range rows {
		g := r.figures(h)
		open, closing := "", ""
		if g.open != nil {
			open, closing = gauge(*g.open), gauge(*g.closing)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.name(), r.Tank, minute(r.Start, h.zone()), r.End.In(h.zone()).Format("15:04"),
			open, closing, shown(g.bbl, 1), r.State, r.review())
	}
	return t.Flush()
}

// rows asks for all tickets at a desk.
func (m *Main) rows(ctx context.Context, c *common) (rows []ticketRow, err error) {
	err = m.with(c, func(d *desk) (err error) {
		rows, err = d.tickets(ctx)
		return err
	})
	return rows, err
}

// ticketsCSV writes a row for each ticket: times in the site's zone, gauges in inches, volumes in barrels.
func (m *Main) ticketsCSV(h here, rows []ticketRow) error {
	w := csv.NewWriter(m.Out)
	lines := [][]string{{"number", "tank", "start", "end", "open_in", "close_in", "gauge_bbl", "removed_bbl", "state", "remark"}}
	for _, r := range rows {
		g := r.figures(h)
		removed := ""
		if r.Load != nil {
			removed = shown(&r.Load.RemovedBbl, 2)
		}
		lines = append(lines, []string{
			r.Number, r.Tank, r.Start.In(h.zone()).Format(time.RFC3339), r.End.In(h.zone()).Format(time.RFC3339),
			shown(g.open, 2), shown(g.closing, 2), shown(g.bbl, 2), removed, r.State, r.review(),
		})
	}
	return w.WriteAll(lines)
}

// ticket finds one ticket by its number.
func (m *Main) ticket(ctx context.Context, name string, args []string) (*common, ticketRow, error) {
	f, c := m.flags(name)
	rest, err := parse(f, c, args)
	if err != nil || len(rest) != 1 {
		return nil, ticketRow{}, orUsage(err, name+" wants one ticket number; `gauger tickets list` shows them")
	}
	rows, err := m.rows(ctx, c)
	if err != nil {
		return nil, ticketRow{}, err
	}
	var numbers []string
	for _, r := range rows {
		if strings.EqualFold(r.Number, rest[0]) {
			return c, r, nil
		}
		numbers = append(numbers, r.Number)
	}
	return nil, ticketRow{}, fmt.Errorf("%w: %s%s; `gauger tickets list` shows them", agent.ErrNoTicket, rest[0], didYouMean(rest[0], numbers))
}

func (m *Main) ticketsShow(ctx context.Context, args []string) error {
	c, r, err := m.ticket(ctx, "tickets show", args)
	if err != nil {
		return err
	}
	if c.json() {
		return printJSON(m.Out, r)
	}
	t := tabwriter.NewWriter(m.Out, 0, 0, 2, ' ', 0)
	for _, line := range r.evidence(m.around(c)) {
		fmt.Fprintf(t, "%s\t%s\n", line[0], line[1])
	}
	return t.Flush()
}
