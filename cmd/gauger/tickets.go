package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"gauger/agent"
	"gauger/agent/tank"
)

// ticketRow is a ticket as the list shows it.
type ticketRow struct {
	agent.Booked
	State  string `json:"state"` // held, waiting, delivered, refused or rejected
	Status int    `json:"status,omitempty"`
}

// tickets asks for all tickets and where each stands.
func (d *desk) tickets(ctx context.Context) ([]ticketRow, error) {
	var all []agent.Booked
	if err := d.call(ctx, "tickets.list", agent.None{}, &all); err != nil {
		return nil, err
	}
	rows := []ticketRow{}
	for _, b := range all {
		row := ticketRow{Booked: b}
		switch {
		case b.Rejected != "":
			row.State = "rejected"
		case b.Ticket == nil:
			row.State = "held"
		default:
			var e agent.Entry
			err := d.call(ctx, "outbox.show", agent.Which{Stream: agent.Tickets, Seqs: []uint64{b.Seq}}, &e)
			if err != nil {
				e.State = "delivered" // it has left, and its receipt has been overwritten since
			}
			row.State, row.Status = strings.Replace(e.State, "dead", "refused", 1), e.Status
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (m *Main) ticketsList(ctx context.Context, args []string) error {
	f, c := m.flags("tickets list")
	if f.Lookup("format") != nil {
		f.Lookup("format").Usage = "text, json or csv"
	}
	asCSV := false
	f.BoolFunc("csv", "comma separated values", func(string) error { asCSV = true; return nil })
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usage{"tickets list takes no arguments"}
	}
	d, err := m.desk(c)
	if err != nil {
		return err
	}
	defer d.close()
	rows, err := d.tickets(ctx)
	switch {
	case err != nil:
		return err
	case c.json():
		return printJSON(m.Out, rows)
	case asCSV:
		return m.ticketsCSV(rows)
	}
	t := tabwriter.NewWriter(m.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NUMBER\tTANK\tSTART\tEND\tOPEN\tCLOSE\tBBL\tSTATE\tREVIEW")
	for _, r := range rows {
		open, closing, bbl, review := r.gauges()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.name(), r.Tank, r.Start.Local().Format("2006-01-02 15:04"),
			r.End.Local().Format("15:04"), open, closing, bbl, r.State, review)
	}
	return t.Flush()
}

// name is the ticket's number; one that is not fixed yet has none.
func (r ticketRow) name() string {
	if r.Number == "" {
		return "(no number yet)"
	}
	return r.Number
}

// gauges are the figures of a ticket that gauger saw itself; a person's ticket has them only in its body.
func (r ticketRow) gauges() (open, closing, bbl, review string) {
	if r.Load == nil {
		return "", "", "", "by " + r.Person
	}
	return tank.Length(r.Load.Open).Gauge(), tank.Length(r.Load.Close).Gauge(), strconv.FormatFloat(r.Load.GaugeBbl, 'f', 1, 64),
		strings.Join(r.Load.Review, ", ")
}

func (m *Main) ticketsCSV(rows []ticketRow) error {
	w := csv.NewWriter(m.Out)
	lines := [][]string{{"number", "tank", "start", "end", "open_in", "close_in", "gauge_bbl", "removed_bbl", "state", "review"}}
	for _, r := range rows {
		line := []string{r.Number, r.Tank, r.Start.Format(time.RFC3339), r.End.Format(time.RFC3339), "", "", "", "", r.State, ""}
		if l := r.Load; l != nil {
			for i, v := range []float64{l.Open, l.Close, l.GaugeBbl, l.RemovedBbl} {
				line[4+i] = strconv.FormatFloat(v, 'f', 2, 64)
			}
			line[9] = strings.Join(l.Review, "; ")
		}
		lines = append(lines, line)
	}
	return w.WriteAll(lines)
}

// ticket finds one ticket by its number.
func (m *Main) ticket(ctx context.Context, name string, args []string) (*common, ticketRow, error) {
	f, c := m.flags(name)
	rest, err := parse(f, c, args)
	if err != nil {
		return nil, ticketRow{}, err
	}
	if len(rest) != 1 {
		return nil, ticketRow{}, usage{name + " wants one ticket number; `gauger tickets list` shows them"}
	}
	d, err := m.desk(c)
	if err != nil {
		return nil, ticketRow{}, err
	}
	defer d.close()
	rows, err := d.tickets(ctx)
	if err != nil {
		return nil, ticketRow{}, err
	}
	for _, r := range rows {
		if r.Number == rest[0] {
			return c, r, nil
		}
	}
	return nil, ticketRow{}, fmt.Errorf("%w: %s; `gauger tickets list` shows them", agent.ErrNoTicket, rest[0])
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
	for _, line := range r.evidence() {
		fmt.Fprintf(t, "%s\t%s\n", line[0], line[1])
	}
	return t.Flush()
}

// evidence is all that is known of a ticket, name and figure.
func (r ticketRow) evidence() [][2]string {
	lines := [][2]string{
		{"number", r.Number}, {"state", r.State}, {"tank", r.Tank},
		{"start", r.Start.Local().Format(time.RFC3339)}, {"end", r.End.Local().Format(time.RFC3339)},
	}
	if r.Person != "" {
		lines = append(lines, [2]string{"person", r.Person})
	}
	if r.Rejected != "" {
		lines = append(lines, [2]string{"rejected by", r.Rejected})
	}
	if l := r.Load; l != nil {
		f := func(v float64, places int, unit string) string {
			return strconv.FormatFloat(v, 'f', places, 64) + " " + unit
		}
		lines = append(lines,
			[2]string{"opening gauge", tank.Length(l.Open).Gauge() + " (" + f(l.Open, 2, "in)")},
			[2]string{"closing gauge", tank.Length(l.Close).Gauge() + " (" + f(l.Close, 2, "in)")},
			[2]string{"by gauge", f(l.GaugeBbl, 2, "bbl") + " ± " + f(l.ErrorBbl, 2, "") + "by the " + l.Table + " table"},
			[2]string{"flowed in meanwhile", f(l.InflowBbl, 2, "bbl")},
			[2]string{"removed", f(l.RemovedBbl, 2, "bbl")},
			[2]string{"rate", f(l.Rate, 1, "bbl/min")},
			[2]string{"parts", strconv.Itoa(l.Parts)},
			[2]string{"readings", strconv.Itoa(l.Samples)},
			[2]string{"confidence", f(l.Confidence, 2, "")},
		)
		if len(l.Review) > 0 {
			lines = append(lines, [2]string{"needs review", strings.Join(l.Review, ", ")})
		}
	}
	if r.Ticket != nil {
		lines = append(lines, [2]string{"as sent", string(r.Ticket)})
	}
	return lines
}
