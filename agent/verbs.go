package agent

import (
	"context"
	"slices"
	"time"
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
	// TankRow is how a tank stands, and its newest load that is not rejected.
	TankRow struct {
		TankStatus
		Last *TicketRecord `json:"last_load,omitempty"`
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
		"tickets.edit": HandlerOf(func(ctx context.Context, c EditArgs) ([]Edit, error) { return d.Ledger.Edit(c, Person(ctx)) }),
		"tickets.hold": HandlerOf(func(ctx context.Context, a HoldArgs) (HoldResult, error) {
			if a.For > 0 {
				a.Until = time.Now().Round(0).Add(a.For)
			}
			leaves, err := d.Ledger.Hold(a.Number, Person(ctx), a.Why, a.Until)
			return HoldResult{leaves}, err
		}),
		"tanks.list": HandlerOf(func(context.Context, None) ([]TankRow, error) { return d.Ledger.Tanks() }),
		"tanks.inhibit": HandlerOf(func(ctx context.Context, a InhibitArgs) (Inhibition, error) {
			return d.Ledger.Inhibit(a.Tank, a.For, Person(ctx), a.Why)
		}),
		"tanks.allow": HandlerOf(func(_ context.Context, a InhibitArgs) (Inhibition, error) { return d.Ledger.Allow(a.Tank) }),
	}
}

// Tanks says how each tank stands, in the order of the configuration.
func (l *Ledger) Tanks() ([]TankRow, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, err := l.listTickets()
	if err != nil {
		return nil, err
	}
	rows := []TankRow{}
	for i, t := range l.site.Tanks {
		row := TankRow{TankStatus: l.tankStatus(i, t)}
		for _, b := range slices.Backward(all) {
			if b.Tank == t.ID && b.Rejected == "" {
				if b.Ticket == nil {
					b.Person = "" // it is held: nobody has written or released it
				}
				row.Last = &b
				break
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// inhibited is the work on a tank that is going on; nil when there is none. The ledger's lock is held.
func (l *Ledger) inhibited(id string, now time.Time) *Inhibition {
	for _, w := range l.state.inhibitions {
		if w.covers(id, now) {
			return &w
		}
	}
	return nil
}
