package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/agent/tank"
)

// ErrNoTicket says that no ticket has the number that was asked for; ErrLeft that it is held no more.
var (
	ErrNoTicket = errors.New("no such ticket")
	ErrLeft     = errors.New("it is not held any more")
)

// Release lets a held ticket go now.
func (l ticketOperations) Release(number, person string) error {
	return l.updateHeld(number, func(tx *txn, i int) error {
		tx.heldTickets[i].Person = person
		tx.releaseDue()
		return nil
	})
}

// Hold keeps a held ticket until a time, or until a person releases it when that is zero. It never leaves earlier than
// it would have.
func (l ticketOperations) Hold(number, person, why string, until time.Time) (leaves time.Time, err error) {
	why, err = plainText("the reason", why, textMost)
	if err != nil {
		return leaves, err
	}
	err = l.updateHeld(number, func(tx *txn, i int) error {
		h := &tx.heldTickets[i]
		now := tx.now.Round(0)
		if !until.IsZero() && until.Before(now) {
			return fmt.Errorf("%s has passed; give a time to come", until.In(l.site.Zone).Format("2006-01-02 15:04"))
		}
		if until.After(h.Due) {
			h.Due = until
		}
		h.Person, h.Stop = "", &HoldOrder{Person: person, At: now, Until: until, Why: why}
		if !h.waitsForPerson(l.site) {
			leaves = h.Due
		}
		return nil
	})
	return leaves, err
}

// Reject forgets a held ticket for the reason given; the event names both.
func (l ticketOperations) Reject(number, person, why string) error {
	why, err := plainText("the reason", strings.TrimSpace(why), textMost)
	if err != nil {
		return err
	}
	return l.updateHeld(number, func(tx *txn, i int) error {
		h := tx.heldTickets[i]
		if h.Number == "" { // the book goes by numbers; this one will never be a ticket's
			h.Number = firstFree(h.Handle, numberMax, tx.numberTaken)
		}
		tx.heldTickets = slices.Delete(tx.heldTickets, i, i+1)
		tx.recordTicket(TicketRecord{Number: h.Number, Tank: h.Load.Tank, Load: &h.Load, Rejected: person + ": " + why, Queued: tx.now.Round(0),
			Start: h.Load.Start, End: h.Load.End, Edits: h.Edits, Stop: h.Stop, Matches: h.Matches})
		tx.queueTankEvent(tank.Event{Rule: eventrules.TicketRejected, Tank: h.Load.Tank, Start: h.Load.Start, End: h.Load.End,
			Note: fmt.Sprintf("%s: ticket %s of %.1f bbl was rejected by %s: %s", h.Load.Tank, h.Number, h.Load.GaugeBbl, person, why)})
		return nil
	})
}

// updateHeld lets a person change one held ticket, all or nothing.
func (l ticketOperations) updateHeld(number string, change func(*txn, int) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	tx := l.begin(time.Now())
	i := slices.IndexFunc(tx.heldTickets, func(h HeldTicket) bool {
		return h.Barred == "" && number != "" && (strings.EqualFold(h.Number, number) || strings.EqualFold(h.Handle, number))
	})
	if i < 0 {
		return l.whyNotHeld(number)
	}
	tx.heldTickets = slices.Clone(tx.heldTickets)
	if err := change(tx, i); err != nil {
		return err
	}
	tx.putJSON(heldKey, tx.heldTickets)
	return l.commit(tx, "")
}

// whyNotHeld says what became of a ticket that a person wants to change, and what can still be done.
func (l ticketOperations) whyNotHeld(number string) error {
	var b TicketRecord
	if err := l.LoadState(ticketKey+strings.ToUpper(number), &b); err != nil {
		return err
	}
	at := b.Queued.In(l.site.Zone).Format("2006-01-02 15:04")
	switch {
	case b.Number == "":
		return fmt.Errorf("%w among those held: %s; `gauger tickets list` shows them all", ErrNoTicket, number)
	case b.Rejected != "":
		return fmt.Errorf("ticket %s: %w: it was rejected on %s by %s; `gauger tickets add` writes another", b.Number, ErrLeft, at, b.Rejected)
	}
	return fmt.Errorf("ticket %s: %w: it left on %s and cannot be changed; if it is wrong, tell the purchaser, and write the right one with `gauger tickets add`",
		b.Number, ErrLeft, at)
}

// remindGap keeps two reminders apart where a late one is followed by the next day's.
const remindGap = 12 * time.Hour

// remindPerson tells, once a day at the same time of the day, of a ticket that waits for a person: the first time when it
// would have left. What counts is the time that was last told, so that neither a restart nor a step of the clock makes
// a second one of the same day.
func (tx ticketTxn) remindPerson(h *HeldTicket) bool {
	now := tx.now.Round(0)
	if !h.waitsForPerson(tx.l.site) || now.Before(h.Due) {
		return false
	}
	switch {
	case h.Told.IsZero():
		h.Asked = now
	case now.Before(h.Told.Add(-clock.Tolerance)): // the clock was set back
		h.Told = now
		return true
	case now.Before(tx.l.site.nextSameTime(h.Asked, h.Told.Add(remindGap))):
		return false
	}
	h.Told = now
	why := strings.Join(h.Load.Review, ", ")
	if s := h.Stop; s != nil {
		why = strings.TrimPrefix(why+", held by "+s.Person, ", ")
		if s.Why != "" {
			why += ": " + s.Why
		}
	}
	tx.queueDiagnosis(tank.Event{Rule: eventrules.LoadNeedsReview, Tank: h.Load.Tank, Start: h.Load.Start, End: now,
		Note: fmt.Sprintf("%s: ticket %s of %.1f bbl waits for a person: %s", h.Load.Tank, h.Number, h.Load.GaugeBbl, why)})
	return true
}

// nextSameTime is the first instant, not before another, with the time of day that at has by the site's clock.
func (s Site) nextSameTime(at, from time.Time) time.Time {
	y, m, day := from.In(s.Zone).Date()
	hour, minute, second := at.In(s.Zone).Clock()
	t := time.Date(y, m, day, hour, minute, second, 0, s.Zone)
	if t.Before(from) {
		t = time.Date(y, m, day+1, hour, minute, second, 0, s.Zone)
	}
	return t
}
