package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/ledger"

	"github.com/spf13/cobra"
)

type ticketsListOptions struct {
	id        string
	since     string
	unmatched bool
	period    period
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
	f.BoolVar(&o.unmatched, "unmatched", false, "only those with which no truck's ticket is recorded")
	return cmd
}

// run lists the tickets, the newest last.
func (o *ticketsListOptions) run(ctx context.Context, c *call, _ []string) error {
	h := findSite(c)
	times := siteTimes(h.zone())
	after := times.parse("since", o.since, time.Time{})
	if err := errors.Join(times.err, o.period.read(h.zone())); err != nil {
		return err
	}
	rows, err := listTickets(ctx, c)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r ticketRow) bool {
		return o.id != "" && r.Tank != o.id || r.End.Before(after) || !o.period.contains(&r) || o.unmatched && (r.Hauled != nil || r.State == "rejected")
	})
	switch {
	case c.json():
		return printJSON(c.out, rows)
	case c.format == "csv":
		return writeTicketsCSV(c, h, rows)
	case len(rows) == 0:
		_, err := fmt.Fprintln(c.out, "no tickets")
		return err
	}
	return printTickets(c, h, rows)
}

// printTickets prints the tickets, and what each production day comes to.
func printTickets(c *call, h site, rows []ticketRow) error {
	t := newTable(c.out)
	t.printf("NUMBER\tTANK\tSTART\tEND\tOPEN\tCLOSE\tBBL\tTRUCK\tDIFF\tSTATE\tREMARK\n")
	days := []string{}
	for i := range rows {
		r := &rows[i]
		g := r.figures(h)
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
		t.printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.name(), r.Tank, timeText(r.Start, h.zone()), r.End.In(h.zone()).Format("15:04"),
			open, closing, figureText(g.bbl, 1), truck, diff, r.State, r.reviewText())
		if !slices.Contains(days, r.Day) {
			days = append(days, r.Day)
		}
	}
	slices.Sort(days)
	t.printf("\n")
	for _, day := range days {
		t.printf("production day %s: %s\n", day, totals(rows, day, h))
	}
	return t.Flush()
}

// totals sums the tickets of a production day that somebody will book.
func totals(rows []ticketRow, day string, h site) string {
	n, bbl := 0, 0.0
	gross, net := true, true
	var grossBbl, netBbl float64
	for i := range rows {
		r := &rows[i]
		if r.Day != day || !r.Booked() {
			continue
		}
		n++
		if g := r.figures(h); g.bbl != nil {
			bbl += *g.bbl
		}
		v := r.Volumes
		if gross = gross && v != nil && v.GrossBbl != nil; gross {
			grossBbl += *v.GrossBbl
		}
		if net = net && v != nil && v.NetBbl != nil; net {
			netBbl += *v.NetBbl
		}
	}
	text := fmt.Sprintf("%s, %.1f bbl by gauge", countText(n, "ticket"), bbl)
	if n > 0 && gross {
		text += fmt.Sprintf(", %.1f gross", grossBbl)
	}
	if n > 0 && net {
		text += fmt.Sprintf(", %.1f net", netBbl)
	}
	return text
}

// listTickets asks for all tickets over a connection of its own.
func listTickets(ctx context.Context, c *call) (listTickets []ticketRow, err error) {
	err = withConnection(c, func(d *connection) (err error) {
		listTickets, err = d.tickets(ctx)
		return err
	})
	return listTickets, err
}

// byNumber finds one ticket; in a number capitals do not matter.
func byNumber(rows []ticketRow, number string) (*ticketRow, error) {
	var numbers []string
	for i := range rows {
		r := &rows[i]
		if name := r.name(); name != "" && (strings.EqualFold(name, number) || strings.EqualFold(r.Handle, number)) {
			return r, nil
		}
		numbers = append(numbers, r.name())
	}
	return nil, fmt.Errorf("%w: %s%s; `gauger tickets list` shows them", ledger.ErrNoTicket, number, didYouMean(number, numbers))
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
		*x.at = times.parse(x.name, x.text, time.Time{})
		if times.err != nil {
			return times.err
		}
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
