package control

import (
	"context"
	"time"

	"gauger/agent/ledger"
)

// Arguments and results of the requests for held tickets and for work on tanks.
type (
	// HoldArgs keeps a held ticket: until a time, for a while, or until a person releases it when both are zero.
	HoldArgs struct {
		Number string        `json:"number"`
		Until  time.Time     `json:"until,omitzero"`
		For    time.Duration `json:"for,omitempty"`
		Why    string        `json:"why,omitempty"`
	}
	// HoldResult says when a ticket on hold leaves by itself; zero: not before a person releases it.
	HoldResult struct {
		Leaves time.Time `json:"leaves,omitzero"`
	}
	// InhibitArgs is work on a tank, and for how long.
	InhibitArgs struct {
		Tank string        `json:"tank"`
		For  time.Duration `json:"for,omitempty"`
		Why  string        `json:"why,omitempty"`
	}
)

func (d *Server) addTicket(ctx context.Context, w ledger.ManualTicket) (QueuedRecord, error) {
	number, warning, err := d.Ledger.Add(w, Person(ctx))
	return QueuedRecord{Stream: ledger.Tickets, Number: number, Warning: warning}, err
}

func (d *Server) matchTicket(ctx context.Context, a ledger.MatchArgs) (ledger.MatchResult, error) {
	b, warning, err := d.Ledger.Match(a, Person(ctx))
	return ledger.MatchResult{Ticket: b, Warning: warning}, err
}

func (d *Server) releaseTicket(ctx context.Context, t TicketArgs) (None, error) {
	return None{}, d.Ledger.Release(t.Number, Person(ctx))
}

func (d *Server) rejectTicket(ctx context.Context, t TicketArgs) (None, error) {
	return None{}, d.Ledger.Reject(t.Number, Person(ctx), t.Why)
}

func (d *Server) editTicket(ctx context.Context, c ledger.EditArgs) ([]ledger.Edit, error) {
	return d.Ledger.Edit(c, Person(ctx))
}

func (d *Server) holdTicket(ctx context.Context, a HoldArgs) (HoldResult, error) {
	if a.For > 0 {
		a.Until = time.Now().Round(0).Add(a.For)
	}
	leaves, err := d.Ledger.Hold(a.Number, Person(ctx), a.Why, a.Until)
	return HoldResult{leaves}, err
}

func (d *Server) inhibitTank(ctx context.Context, a InhibitArgs) (ledger.Inhibition, error) {
	return d.Ledger.Inhibit(a.Tank, a.For, Person(ctx), a.Why)
}
