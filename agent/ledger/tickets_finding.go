package ledger

import (
	"fmt"
	"time"

	"gauger/agent/eventrules"
	"gauger/agent/tank"
)

// applyCorrection takes what the detector has learned of a load that it reported before: a held ticket is changed before it
// leaves, of one that has left an event tells.
func (tx *txn) applyCorrection(c tank.Correction) {
	if i := tx.held.ofLoad(c.Tank, c.Began); i >= 0 {
		tx.held.edit(i).correctLoad(c, tx.clockZeros(c.Tank))
		return
	}
	if c.Note == "" && !c.Settled {
		return // a clock that goes wrong for half an hour comes back
	}
	b := tx.ticketOfLoad(c)
	if b == nil || b.Ticket == nil {
		return // a rejected one concerns nobody
	}
	found := c.Note
	if found == "" {
		if c.Start.Sub(b.Load.Start).Abs() <= timesOffMost && c.End.Sub(b.Load.End).Abs() <= timesOffMost {
			return
		}
		found = fmt.Sprintf("by the clock that was set since it went from %s to %s, not from %s to %s", tx.localTime(c.Start), tx.localTime(c.End),
			tx.localTime(b.Load.Start), tx.localTime(b.Load.End))
	}
	b.Found = append(b.Found, Finding{tx.now.Round(0), found})
	tx.putJSON(ticketKey+b.Number, b)
	tx.queueDiagnosis(tank.Event{Rule: eventrules.TicketCorrection, Tank: c.Tank, Start: b.Start, End: tx.now.Round(0),
		Note: fmt.Sprintf("%s: ticket %s, %.2f to %.2f in as sent: %s", c.Tank, b.Number, b.Load.Open, b.Load.Close, found)})
}

// timesOffMost: times of a sent ticket that are off by more are told.
const timesOffMost = time.Minute

// localTime is an instant as the site's people write it.
func (tx *txn) localTime(t time.Time) string {
	return t.In(tx.l.site.Zone).Format("2006-01-02 15:04:05")
}

// ticketOfLoad finds the ticket of a load, by the number that its first start gives, else among all; nil when it never
// became one.
func (tx *txn) ticketOfLoad(c tank.Correction) *TicketRecord {
	is := func(b *TicketRecord) bool { return b.Tank == c.Tank && b.Load != nil && b.Load.Began.Equal(c.Began) }
	var b TicketRecord
	if err := tx.l.LoadState(ticketKey+tx.l.site.number("A", c.Tank, c.Began), &b); err == nil && is(&b) {
		return &b
	}
	all, err := tx.l.listTickets()
	if err != nil {
		tx.errs = append(tx.errs, fmt.Errorf("look for the ticket of %s from %s: %w", c.Tank, c.Began, err))
	}
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	return nil
}
