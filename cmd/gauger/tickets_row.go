package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"gauger/agent/control"
	"gauger/agent/ledger"
)

// ticketRow is a ticket as the list shows it.
type ticketRow struct{ control.TicketRow }

// tickets asks for all tickets and where each stands, the oldest first.
func (d *connection) tickets(ctx context.Context) ([]ticketRow, error) {
	var all []ledger.TicketRecord
	if err := d.request(ctx, "tickets.list", control.None{}, &all); err != nil {
		return nil, err
	}
	at := map[uint64]control.Entry{}
	states := []string{"dropped", "delivered", "dead", "waiting"}
	err := d.selectRecords(ctx, selection{stream: ledger.Tickets, states: states}, func(e control.Entry) error { at[e.Seq] = e; return nil })
	if err != nil {
		return nil, err
	}
	rows := []ticketRow{}
	for _, b := range all {
		var of *control.Entry
		if e, known := at[b.Seq]; known {
			of = &e
		}
		rows = append(rows, ticketRow{control.TicketRowOf(b, of)})
	}
	return rows, nil
}

// figures are a ticket's gauges in inches and its volume in barrels; nil where they are not known.
type figures struct{ open, closing, bbl *float64 }

// figures of a ticket that gauger saw come from the load, those of a person's from what was sent.
func (r *ticketRow) figures(h site) figures {
	if r.Load != nil {
		return figures{&r.Load.Open, &r.Load.Close, &r.Load.GaugeBbl}
	}
	if g := r.Gauged; len(g) == 2 && r.Volumes != nil {
		return figures{&g[0], &g[1], new(r.Volumes.OpenBbl - r.Volumes.CloseBbl)}
	}
	b := r.sentBody() // booked by a version that did not keep them: in the unit and by the table of today
	if b.Opening.Level == nil || b.Closing.Level == nil {
		return figures{}
	}
	open, closing := inches(h.cloudWire(), *b.Opening.Level), inches(h.cloudWire(), *b.Closing.Level)
	f := figures{open: &open, closing: &closing}
	if bbl, ok := h.barrels(r.Tank, open, closing); ok {
		f.bbl = &bbl
	}
	return f
}

// sentBody is the ticket's request; one that has not left has none yet.
func (r *ticketRow) sentBody() (b ticketBody) {
	if r.Ticket == nil || json.Unmarshal(r.Ticket, &b) != nil {
		return ticketBody{}
	}
	return b
}

// name is the ticket's number, or what it is called until that is fixed.
func (r *ticketRow) name() string {
	return ticketName(r.TicketRecord)
}

// reviewText tells the reasons for a review, who wrote or rejected the ticket, and what was out of the usual in sending it.
func (r *ticketRow) reviewText() string {
	var all []string
	switch {
	case r.Rejected != "":
		return "rejected by " + r.Rejected
	case r.Load == nil:
		all = []string{"written by " + r.Person}
		if r.Anyway != "" {
			all = append(all, "anyway: "+r.Anyway)
		}
	default:
		all = slices.Clone(r.Load.Review)
		if r.Stop != nil && r.State == "held" {
			all = append(all, "on hold by "+r.Stop.Person)
		}
		for _, f := range r.Found {
			all = append(all, "learned later: "+f.Note)
		}
	}
	if r.Voided != "" {
		all = append([]string{"void, by " + r.Voided}, all...)
	}
	return strings.Join(append(all, r.SendingRemarks()...), ", ")
}
