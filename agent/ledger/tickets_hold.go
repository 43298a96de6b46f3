package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/outbox"
)

// Release lets a held ticket go now.
func (l *Ledger) Release(number, person string) error {
	return l.updateHeld(number, func(tx *txn, i int) error {
		tx.held.all[i].Person = person
		tx.releaseDue()
		return nil
	})
}

// Hold keeps a held ticket until a time, or until a person releases it when that is zero. It never leaves earlier than
// it would have.
func (l *Ledger) Hold(number, person, why string, until time.Time) (leaves time.Time, err error) {
	why, err = plainText("the reason", why, textMost)
	if err != nil {
		return leaves, err
	}
	err = l.updateHeld(number, func(tx *txn, i int) error {
		h := &tx.held.all[i]
		now := tx.now.Round(0)
		if !until.IsZero() && until.Before(now) {
			return fmt.Errorf("%s has passed; give a time to come", l.site.localMinute(until))
		}
		if until.After(h.Due) {
			h.Due = until
		}
		h.Person, h.Stop = "", &HoldOrder{Person: person, At: now, Until: until, Why: why}
		if !h.waitsForPerson(&l.site) {
			leaves = h.Due
		}
		return nil
	})
	return leaves, err
}

// Reject forgets a held ticket for the reason given; the event names both.
func (l *Ledger) Reject(number, person, why string) error {
	why, err := plainText("the reason", strings.TrimSpace(why), textMost)
	if err != nil {
		return err
	}
	return l.updateHeld(number, func(tx *txn, i int) error {
		h := tx.held.all[i]
		if h.Number == "" { // the book goes by numbers; this one will never be a ticket's
			h.Number = firstFree(h.Handle, numberMax, tx.numberTaken)
		}
		tx.held.replace(slices.Delete(tx.held.all, i, i+1))
		b := h.record(tx.now.Round(0))
		b.Rejected = person + ": " + why
		tx.recordTicket(b)
		tx.queueTankEvent(tank.Event{Rule: eventrules.TicketRejected, Tank: h.Load.Tank, Start: h.Load.Start, End: h.Load.End,
			Note: fmt.Sprintf("%s: ticket %s of %.1f bbl was rejected by %s: %s", h.Load.Tank, h.Number, h.Load.GaugeBbl, person, why)})
		return nil
	})
}

// Void takes a ticket that has left out of what is booked here, for the reason given. The service has no operation for that: an event
// there, and whoever keeps the accounts, must say it.
func (l *Ledger) Void(number, person, why string) error {
	why, err := plainText("the reason", strings.TrimSpace(why), textMost)
	if err != nil {
		return err
	}
	return l.update(func(tx *txn) error {
		b, err := l.hasLeft(number)
		if err == nil {
			tx.void(b.Number, person, why, "")
		}
		return err
	})
}

// LookedFor keeps what a person has found who has looked how often the service has a ticket.
func (l *Ledger) LookedFor(number, words string) error {
	words, err := plainText("the reason", words, textMost)
	if err != nil {
		return err
	}
	return l.update(func(tx *txn) error {
		tx.amendTicket(number, func(b *TicketRecord) { b.Looked = words })
		return nil
	})
}

// SendAgain queues the bytes of a delivered ticket once more, under its own number, for a person who has looked and has not found it at the
// service. The record of then stays delivered: the new one stands for the ticket, so that a second try of the old one sends nothing.
func (l *Ledger) SendAgain(number string, seq uint64, person, why string) error {
	why, err := plainText("the reason", why, textMost)
	if err != nil {
		return err
	}
	return l.update(func(tx *txn) error {
		b, err := l.hasLeft(number)
		switch {
		case err != nil:
			return err
		case b.Seq != seq:
			return fmt.Errorf("ticket %s was sent again already, as %s/%d", b.Number, Tickets, b.Seq)
		case b.Ticket == nil:
			return fmt.Errorf("ticket %s: what was sent is not kept any more; `gauger tickets add --replaces %[1]s --why TEXT` writes another", b.Number)
		}
		tx.queue(Tickets, "", b.Ticket)
		b.Found = append(b.Found, Finding{tx.now.Round(0), fmt.Sprintf("%s/%d was delivered and is not at the service, by %s: %s; sent again", Tickets, seq, person, why)})
		tx.recordTicket(b)
		return nil
	})
}

// updateHeld lets a person change one held ticket, all or nothing.
func (l *Ledger) updateHeld(number string, change func(*txn, int) error) error {
	return l.update(func(tx *txn) error {
		i := tx.held.find(number)
		if i < 0 {
			return l.whyNotHeld(number)
		}
		tx.held.replace(slices.Clone(tx.held.all))
		return change(tx, i)
	})
}

// EditArgs are a person's new values for a held ticket, by the names of editFields.
type EditArgs struct {
	Number string            `json:"number"`
	Set    map[string]string `json:"set"`
	Why    string            `json:"why,omitempty"`
	Anyway string            `json:"anyway,omitempty"` // why a value is right though something speaks against it
}

// Edit changes figures of a held ticket and returns what was changed. Of two people the later one's value holds, and
// both are kept. What speaks against a new value forbids it, unless the person says why it is right all the same.
func (l *Ledger) Edit(c EditArgs, person string) (made []Edit, err error) {
	set := map[string]string{}
	for field, text := range c.Set {
		if set[field], err = EditValue(field, text); err != nil {
			return nil, err
		}
	}
	if _, err := plainText("the reason", c.Why, textMost); err != nil {
		return nil, err
	}
	err = l.updateHeld(c.Number, func(tx *txn, i int) error {
		h := &tx.held.all[i]
		ticket, comments, err := h.asItWouldLeave(&l.site, tx.grade())
		if err != nil {
			return err
		}
		for _, f := range editFields {
			value, given := set[f.name]
			if old := f.of(&ticket, comments); given && value != old {
				made = append(made, Edit{Field: f.name, Old: old, New: value, Person: person, At: tx.now.Round(0), Why: c.Why})
			}
		}
		if made == nil {
			return fmt.Errorf("nothing to change: ticket %s says so already", h.name())
		}
		after := ticket
		applyEdits(&after, made)
		before := figureDoubts(ticket)
		doubts := slices.DeleteFunc(figureDoubts(after), func(d string) bool { return slices.Contains(before, d) })
		known, err := tx.l.listTickets()
		if err != nil {
			return err
		}
		if after.Purchaser != ticket.Purchaser {
			doubts = append(doubts, unknownBuyer(tx.l.site.Tanks, after.Purchaser, known)...)
		}
		if after.BSW != ticket.BSW {
			doubts = append(doubts, unlikePast(h.Load.Tank, time.Time{}, after.BSW, known, tx.l.site.Zone)...)
		}
		if _, err := insisted(doubts, c.Anyway); err != nil {
			return err
		}
		for i := range made {
			if len(doubts) > 0 {
				made[i].Anyway = c.Anyway
			}
		}
		h.Edits = append(h.Edits[:len(h.Edits):len(h.Edits)], made...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// HeldFigures are the fields of a held ticket that can be edited, by their names, as it would leave now; empty: it has none.
func (l *Ledger) HeldFigures(number string) (figures map[string]string, err error) {
	l.see(func() { figures, err = l.heldFigures(number) })
	return figures, err
}

func (l *Ledger) heldFigures(number string) (map[string]string, error) {
	tx := l.begin(time.Now())
	i := tx.held.find(number)
	if i < 0 {
		return nil, l.whyNotHeld(number)
	}
	ticket, comments, err := tx.held.all[i].asItWouldLeave(&l.site, tx.grade())
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, f := range editFields {
		all[f.name] = f.of(&ticket, comments)
	}
	return all, nil
}

// asItWouldLeave is a held ticket as it would leave now, and the words before its evidence.
func (h *HeldTicket) asItWouldLeave(s *Site, grade clock.Grade) (r cloud.RunTicket, comments string, err error) {
	t := s.tank(h.Load.Tank)
	if t == nil {
		return r, "", errUnconfigured(h.Load.Tank)
	}
	comments, _ = ownComments(t.Comments, h.Edits)
	return s.runTicket(*h, *t, grade), comments, nil
}

// RebuildTickets makes records again of tickets that are in the queue or have a receipt, and of which a damaged outbox has lost what was kept.
// Else they are in no list, and their numbers can be given once more.
func (l *Ledger) RebuildTickets() error {
	for _, state := range []outbox.State{outbox.Waiting, outbox.Dead, outbox.Delivered} {
		for e, err := range l.box.All(Tickets, state, 0) {
			if err != nil {
				return fmt.Errorf("look for tickets whose records are lost: %w", err)
			}
			b := l.rebuilt(e)
			if b.Number == "" {
				continue
			}
			if known, err := l.box.Get(ticketKey + b.Number); err != nil || known != nil {
				continue // the next mending tries again what cannot be read now
			}
			if err := l.SaveState(ticketKey+b.Number, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// rebuilt is what a record of the outbox, or its receipt, still says of a ticket; without a number it says nothing.
func (l *Ledger) rebuilt(e outbox.Entry) TicketRecord {
	at := cmp.Or(e.Record.At, e.Since).Round(0)
	b := TicketRecord{Number: e.Label, Seq: e.Record.Seq, Queued: at, Start: at, End: at,
		Rebuilt: "known by its receipt alone, its record was lost with a damaged outbox: the service has its figures, and whether it was void, or another booked in its place, is not known here"}
	for i := range l.site.Tanks { // gauger's own numbers say tank and start
		t := &l.site.Tanks[i]
		from, err := time.Parse(numberStamp, b.Number[max(0, len(b.Number)-len(numberStamp)):])
		if err == nil && (b.Number == l.site.number("A", t.ID, from) || b.Number == l.site.number("M", t.ID, from)) {
			b.Tank, b.Start, b.End = t.ID, from, from
		}
	}
	if e.State == outbox.Delivered {
		return b
	}
	var body struct {
		Number string `json:"ticketNumber"`
		Tank   struct {
			ID string `json:"externalID"`
		} `json:"tank"`
		Start string `json:"start"`
		End   string `json:"end"`
	}
	if json.Unmarshal(e.Record.Body, &body) != nil {
		return TicketRecord{}
	}
	b.Number, b.Tank, b.Ticket, b.Rebuilt = body.Number, body.Tank.ID, e.Record.Body, "rebuilt from what is sent, its record was lost with a damaged outbox"
	for text, into := range map[string]*time.Time{body.Start: &b.Start, body.End: &b.End} {
		for _, layout := range []string{l.site.Wire.TimeLayout, time.RFC3339} {
			if t, err := time.ParseInLocation(layout, text, l.site.Zone); err == nil {
				*into = t
				break
			}
		}
	}
	return b
}
