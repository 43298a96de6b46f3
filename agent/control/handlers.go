package control

import (
	"context"
	"time"

	"gauger/agent/ledger"
)

// Arguments and results of the verbs for held tickets and for work on tanks.
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

// tankHandlers are those for held tickets and for work on tanks.
func (d *Server) tankHandlers() map[string]Handler {
	return map[string]Handler{
		"tickets.release": HandlerOf(func(ctx context.Context, t TicketArgs) (None, error) {
			return None{}, d.Ledger.Release(t.Number, Person(ctx))
		}),
		"tickets.reject": HandlerOf(func(ctx context.Context, t TicketArgs) (None, error) {
			return None{}, d.Ledger.Reject(t.Number, Person(ctx), t.Why)
		}),
		"tickets.edit": HandlerOf(func(ctx context.Context, c ledger.EditArgs) ([]ledger.Edit, error) {
			return d.Ledger.Edit(c, Person(ctx))
		}),
		"tickets.hold": HandlerOf(func(ctx context.Context, a HoldArgs) (HoldResult, error) {
			if a.For > 0 {
				a.Until = time.Now().Round(0).Add(a.For)
			}
			leaves, err := d.Ledger.Hold(a.Number, Person(ctx), a.Why, a.Until)
			return HoldResult{leaves}, err
		}),
		"tanks.list": HandlerOf(func(context.Context, None) ([]ledger.TankRow, error) { return d.Ledger.Tanks() }),
		"tanks.inhibit": HandlerOf(func(ctx context.Context, a InhibitArgs) (ledger.Inhibition, error) {
			return d.Ledger.Inhibit(a.Tank, a.For, Person(ctx), a.Why)
		}),
		"tanks.allow": HandlerOf(func(_ context.Context, a InhibitArgs) (ledger.Inhibition, error) { return d.Ledger.Allow(a.Tank) }),
	}
}
