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
	// Stopped says when a ticket on hold leaves by itself; zero: not before a person releases it.
	Stopped struct {
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
		Last *Booked `json:"last_load,omitempty"`
	}
)

// siteVerbs are those for held tickets and for work on tanks.
func (d *Desk) siteVerbs() map[string]Verb {
	return map[string]Verb{
		"tickets.release": On(func(ctx context.Context, t Ticket) (None, error) {
			return None{}, d.Ledger.Release(t.Number, Person(ctx))
		}),
		"tickets.reject": On(func(ctx context.Context, t Ticket) (None, error) {
			return None{}, d.Ledger.Reject(t.Number, Person(ctx), t.Why)
		}),
		"tickets.edit": On(func(ctx context.Context, c Change) ([]Edit, error) { return d.Ledger.Edit(c, Person(ctx)) }),
		"tickets.hold": On(func(ctx context.Context, a HoldArgs) (Stopped, error) {
			if a.For > 0 {
				a.Until = time.Now().Round(0).Add(a.For)
			}
			leaves, err := d.Ledger.Hold(a.Number, Person(ctx), a.Why, a.Until)
			return Stopped{leaves}, err
		}),
		"tanks.list": On(func(context.Context, None) ([]TankRow, error) { return d.Ledger.Tanks() }),
		"tanks.inhibit": On(func(ctx context.Context, a InhibitArgs) (Inhibit, error) {
			return d.Ledger.Inhibit(a.Tank, a.For, Person(ctx), a.Why)
		}),
		"tanks.allow": On(func(_ context.Context, a InhibitArgs) (Inhibit, error) { return d.Ledger.Allow(a.Tank) }),
	}
}

// Tanks says how each tank stands, in the order of the configuration.
func (l *Ledger) Tanks() ([]TankRow, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, err := l.tickets()
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
func (l *Ledger) inhibited(id string, now time.Time) *Inhibit {
	for _, w := range l.s.work {
		if w.covers(id, now) {
			return &w
		}
	}
	return nil
}
