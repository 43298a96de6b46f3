package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/collectors"
)

// holdLoad books a load that the detector has confirmed.
func (tx ticketTxn) holdLoad(load tank.Load) {
	site := tx.l.site
	t := site.tank(load.Tank)
	if t == nil {
		tx.leaveOut("a load of "+load.Tank, errUnconfigured(load.Tank))
		return
	}
	wait := site.scaled(max(0, site.Hold-t.Loads.Confirm)) // what the detector has waited is part of the hold
	clocks := tx.onBoxClock(load.Tank, &load.Start, &load.End)
	h := HeldTicket{Load: load, Due: tx.now.Round(0).Add(wait), Clocks: clocks}
	if tx.grade() < clock.Assumed {
		h.Handle = firstFree(Number("H", site.ID, load.Tank, load.Began), numberMax, tx.handleTaken)
	}
	h.Load.Remarks = append(slices.Clone(load.Remarks), tx.takeChanges(load.Tank)...)
	tx.markDiscrepancies(&h.Load)
	tx.applyInhibition(&h)
	tx.dropNotFiniteOf(&h)
	tx.heldTickets = append(slices.Clone(tx.heldTickets), h)
	tx.putJSON(heldKey, tx.heldTickets)
	tx.afterCommit = append(tx.afterCommit, func() {
		tx.l.log.Info().Str("tank", load.Tank).Time("start", load.Start).Time("end", load.End).
			Float64("bbl", hundredths(load.GaugeBbl)).Strs("review", load.Review).Msg("a load was found")
	})
	tx.releaseDue()
}

// markHeldForReview marks the held tickets of a tank for a reason that came up after their loads.
func (tx ticketTxn) markHeldForReview(id, why string) {
	held := slices.Clone(tx.heldTickets)
	for i := range held {
		if l := &held[i].Load; l.Tank == id && !slices.Contains(l.Review, why) {
			l.Review, l.Confidence = append(slices.Clone(l.Review), why), min(l.Confidence, discrepancySure)
			tx.heldTickets = held
		}
	}
	if len(held) > 0 {
		tx.putJSON(heldKey, held)
	}
}

// dropNotFiniteOf leaves out the figures of a load that are none, which marks it. Without its levels it makes no ticket: a person
// writes one, if it was a load.
func (tx ticketTxn) dropNotFiniteOf(h *HeldTicket) {
	none := dropNotFinite(&h.Load)
	if len(none) == 0 {
		return
	}
	what := "not a number: " + strings.Join(none, ", ")
	h.Load.Review = append(slices.Clone(h.Load.Review), what)
	if slices.Contains(none, "Open") || slices.Contains(none, "Close") {
		h.Barred = "gauger, since its levels cannot be told (" + what + ")"
		tx.queueDiagnosis(tank.Event{Rule: eventrules.TicketUnwritable, Tank: h.Load.Tank, Start: h.Load.Start, End: h.Load.End,
			Note: h.Load.Tank + ": a load was seen and makes no ticket, since its levels cannot be told (" + what + "); if a truck was there, write one with `gauger tickets add`"})
	}
}

// onBoxClock puts times of a tank on the box's clock where that was set for the first time and the tank's has not followed.
// It returns the clocks that the times are by.
func (tx ticketTxn) onBoxClock(id string, start, end *time.Time) *ClockZeros {
	c := tx.clockZeros(id)
	if off := c.Box.Sub(c.Own); !clock.WasSet(*start) && !c.Own.IsZero() && clock.WasSet(start.Add(off)) {
		*start, *end, c.Own = start.Add(off), end.Add(off), c.Box
	}
	return c
}

// clockZeros are those of a tank as they stand.
func (tx ticketTxn) clockZeros(id string) *ClockZeros {
	box, own := tx.tanks.Zeros(tx.l.site.index(id))
	return &ClockZeros{box, own}
}

// releaseDue lets go of the held tickets whose time has come. The number is fixed as soon as the clock can be believed.
func (tx ticketTxn) releaseDue() {
	if len(tx.heldTickets) == 0 || tx.grade() < clock.Assumed {
		return
	}
	var keep []HeldTicket
	changed, agrees := false, tx.tanks.Agrees(tx.now)
	tx.heldTickets = slices.Clone(tx.heldTickets) // a number that is given here is in use for the next one
	for i := range tx.heldTickets {
		h := &tx.heldTickets[i]
		if h.Number == "" && !agrees {
			keep = append(keep, *h) // the clock was set a moment ago
			continue
		}
		if h.Number == "" {
			h.redate(tx.txn)
		}
		if most := tx.l.site.numberMax(); h.Number == "" || len(h.Number) > most { // the service has come to take shorter ones only
			h.Number = firstFree(tx.l.site.number("A", h.Load.Tank, h.numberStart()), most, tx.numberTaken)
			changed = true
		}
		if h.waitsForPerson(tx.l.site) || h.Person == "" && h.Barred == "" && tx.now.Before(h.Due) {
			changed = tx.remindPerson(h) || changed
			keep = append(keep, *h)
			continue
		}
		changed = true
		if h.Barred != "" {
			tx.recordTicket(TicketRecord{Number: h.Number, Tank: h.Load.Tank, Load: &h.Load, Rejected: h.Barred, Queued: tx.now.Round(0),
				Start: h.Load.Start, End: h.Load.End})
			continue
		}
		if err := tx.queueTicket(*h); err != nil {
			h.Due = tx.now.Round(0).Add(unwritableWait)
			keep = append(keep, *h)
			tx.applyNotice(collectors.Notice{Rule: eventrules.TicketUnwritable, Source: h.Load.Tank, Note: h.Number + ": " + err.Error(), Since: tx.now})
		}
	}
	if changed {
		tx.heldTickets = keep
		tx.putJSON(heldKey, tx.heldTickets)
	}
}

// assignHandles gives those that an older version has left without a number something that people can call them by.
func (s *state) assignHandles(site string) {
	for i := range s.heldTickets {
		if h := &s.heldTickets[i]; h.name() == "" {
			h.Handle = Number("H", site, h.Load.Tank, h.Load.Began)
		}
	}
}

// handleTaken says whether a held ticket goes by a handle.
func (tx ticketTxn) handleTaken(handle string) bool {
	return slices.ContainsFunc(tx.heldTickets, func(h HeldTicket) bool { return h.Handle == handle })
}

// shiftHeld moves the hour at which numbered tickets leave when the wall clock was set; one without a number is dated
// when it gets one.
func (tx ticketTxn) shiftHeld(before time.Time, step time.Duration) {
	if len(tx.heldTickets) == 0 {
		return
	}
	tx.heldTickets = slices.Clone(tx.heldTickets)
	for i := range tx.heldTickets {
		if h := &tx.heldTickets[i]; h.Number != "" && h.Due.Sub(before) <= h.maxWait(tx.l.site) {
			h.setDue(h.Due.Add(step))
		}
	}
	tx.putJSON(heldKey, tx.heldTickets)
}

// capHeld lets no ticket wait longer than it can have been meant to.
func (tx ticketTxn) capHeld(now time.Time) {
	for i := range tx.heldTickets {
		most := tx.heldTickets[i].maxWait(tx.l.site)
		if tx.heldTickets[i].Due.Sub(now) < most+clock.Tolerance {
			continue
		}
		tx.heldTickets = slices.Clone(tx.heldTickets)
		tx.heldTickets[i].setDue(now.Add(most))
		tx.putJSON(heldKey, tx.heldTickets)
	}
}

// unwritableWait is the pause between two tries of a ticket that cannot be written: each one is written down.
const unwritableWait = 10 * time.Minute

// maxWait bounds the time until a ticket leaves: the hold's end, or a person's.
func (h *HeldTicket) maxWait(s Site) time.Duration {
	most := max(s.scaled(s.Hold), unwritableWait)
	if h.Stop != nil && !h.Stop.Until.IsZero() {
		most = max(most, h.Stop.Until.Sub(h.Stop.At))
	}
	return most
}

// setDue sets the hour at which a ticket leaves, which a person may have named.
func (h *HeldTicket) setDue(at time.Time) {
	if h.Stop != nil && h.Stop.Until.Equal(h.Due) {
		stop := *h.Stop
		stop.At, stop.Until = stop.At.Add(at.Sub(h.Due)), at
		h.Stop = &stop
	}
	h.Due = at
}

// sameStart bounds the distance of the start that was seen first and the final one of one load.
const sameStart = 5 * time.Minute

// numberStart is the instant that the number is made of: the one under which the load was first seen and stored, so that a
// restart in the middle changes nothing, unless the clock was set since.
func (h HeldTicket) numberStart() time.Time {
	if h.Load.Start.Sub(h.Load.Began).Abs() < sameStart {
		return h.Load.Began
	}
	return h.Load.Start
}

// redate moves a load that ended before its clock was set to where it was. Readings that were stamped by the box's clock
// go with it, also when none came since; those of a device with a clock of its own go with that one.
func (h *HeldTicket) redate(tx *txn) {
	then, now := h.Clocks, tx.clockZeros(h.Load.Tank)
	if h.Clocks = nil; then == nil {
		return
	}
	off := then.shift(now)
	if off.Abs() < clock.MinStep {
		return
	}
	h.Load.Start, h.Load.End = h.Load.Start.Add(off), h.Load.End.Add(off)
	h.remarkClockSet()
	h.Due = h.Due.Add(now.Box.Sub(then.Box))
}

// numberTaken says whether a number is in use: on a ticket of any time, a held one, or one of this very batch.
func (tx ticketTxn) numberTaken(number string) bool {
	for _, h := range tx.heldTickets {
		if h.Number == number {
			return true
		}
	}
	for _, p := range tx.puts {
		if p.name == ticketKey+number {
			return true
		}
	}
	for _, r := range tx.records {
		if r.ticket != nil && r.ticket.Number == number {
			return true
		}
	}
	b, err := tx.l.box.Get(ticketKey + number)
	if err != nil {
		tx.errs = append(tx.errs, fmt.Errorf("look whether ticket number %s is in use: %w", number, err))
	}
	return b != nil
}
