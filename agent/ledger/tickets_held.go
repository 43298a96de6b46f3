package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/eventrules"
)

// holdLoad books a load that the detector has confirmed.
func (d ticketTxn) holdLoad(load tank.Load) {
	site := d.l.site
	t := site.tank(load.Tank)
	if t == nil {
		d.leaveOut("a load of "+load.Tank, errUnconfigured(load.Tank))
		return
	}
	wait := site.scaled(max(0, site.Hold-t.Loads.Confirm)) // what the detector has waited is part of the hold
	clocks := d.onBoxClock(load.Tank, &load.Start, &load.End)
	h := HeldTicket{Load: load, Due: d.now.Round(0).Add(wait), Clocks: clocks}
	if d.grade() < clock.Assumed {
		h.Handle = firstFree(Number("H", site.ID, load.Tank, load.Began), numberMax, d.handleTaken)
	}
	h.Load.Remarks = append(slices.Clone(load.Remarks), d.takeChanges(load.Tank)...)
	d.markDiscrepancies(&h.Load)
	d.applyInhibition(&h)
	d.dropNotFiniteOf(&h)
	d.heldTickets = append(slices.Clone(d.heldTickets), h)
	d.putJSON(heldKey, d.heldTickets)
	d.afterCommit = append(d.afterCommit, func() {
		d.l.log.Info().Str("tank", load.Tank).Time("start", load.Start).Time("end", load.End).
			Float64("bbl", hundredths(load.GaugeBbl)).Strs("review", load.Review).Msg("a load was found")
	})
	d.releaseDue()
}

// markHeldForReview marks the held tickets of a tank for a reason that came up after their loads.
func (d ticketTxn) markHeldForReview(id, why string) {
	held := slices.Clone(d.heldTickets)
	for i := range held {
		if l := &held[i].Load; l.Tank == id && !slices.Contains(l.Review, why) {
			l.Review, l.Confidence = append(slices.Clone(l.Review), why), min(l.Confidence, oddSure)
			d.heldTickets = held
		}
	}
	if len(held) > 0 {
		d.putJSON(heldKey, held)
	}
}

// dropNotFiniteOf leaves out the figures of a load that are none, which marks it. Without its levels it makes no ticket: a person
// writes one, if it was a load.
func (d ticketTxn) dropNotFiniteOf(h *HeldTicket) {
	none := dropNotFinite(&h.Load)
	if len(none) == 0 {
		return
	}
	what := "not a number: " + strings.Join(none, ", ")
	h.Load.Review = append(slices.Clone(h.Load.Review), what)
	if slices.Contains(none, "Open") || slices.Contains(none, "Close") {
		h.Barred = "gauger, since its levels cannot be told (" + what + ")"
		d.queueDiagnosis(tank.Event{Rule: eventrules.TicketUnwritable, Tank: h.Load.Tank, Start: h.Load.Start, End: h.Load.End,
			Note: h.Load.Tank + ": a load was seen and makes no ticket, since its levels cannot be told (" + what + "); if a truck was there, write one with `gauger tickets add`"})
	}
}

// onBoxClock puts times of a tank on the box's clock where that was set for the first time and the tank's has not followed.
// It returns the clocks that the times are by.
func (d ticketTxn) onBoxClock(id string, start, end *time.Time) *ClockZeros {
	c := d.clockZeros(id)
	if off := c.Box.Sub(c.Own); !clock.WasSet(*start) && !c.Own.IsZero() && clock.WasSet(start.Add(off)) {
		*start, *end, c.Own = start.Add(off), end.Add(off), c.Box
	}
	return c
}

// clockZeros are those of a tank as they stand.
func (d ticketTxn) clockZeros(id string) *ClockZeros {
	box, own := d.tanks.Zeros(d.l.site.index(id))
	return &ClockZeros{box, own}
}

// releaseDue lets go of the held tickets whose time has come. The number is fixed as soon as the clock can be believed.
func (d ticketTxn) releaseDue() {
	if len(d.heldTickets) == 0 || d.grade() < clock.Assumed {
		return
	}
	var keep []HeldTicket
	changed, agrees := false, d.tanks.Agrees(d.now)
	d.heldTickets = slices.Clone(d.heldTickets) // a number that is given here is in use for the next one
	for i := range d.heldTickets {
		h := &d.heldTickets[i]
		if h.Number == "" && !agrees {
			keep = append(keep, *h) // the clock was set a moment ago
			continue
		}
		if h.Number == "" {
			h.redate(d.txn)
		}
		if most := d.l.site.numberMax(); h.Number == "" || len(h.Number) > most { // the service has come to take shorter ones only
			h.Number = firstFree(d.l.site.number("A", h.Load.Tank, h.numberStart()), most, d.numberTaken)
			changed = true
		}
		if h.waitsForPerson(d.l.site) || h.Person == "" && h.Barred == "" && d.now.Before(h.Due) {
			changed = d.remindPerson(h) || changed
			keep = append(keep, *h)
			continue
		}
		changed = true
		if h.Barred != "" {
			d.recordTicket(TicketRecord{Number: h.Number, Tank: h.Load.Tank, Load: &h.Load, Rejected: h.Barred, Queued: d.now.Round(0),
				Start: h.Load.Start, End: h.Load.End})
			continue
		}
		if err := d.queueTicket(*h); err != nil {
			h.Due = d.now.Round(0).Add(unwritableWait)
			keep = append(keep, *h)
			d.applyNotice(collectors.Notice{Rule: eventrules.TicketUnwritable, Source: h.Load.Tank, Note: h.Number + ": " + err.Error(), Since: d.now})
		}
	}
	if changed {
		d.heldTickets = keep
		d.putJSON(heldKey, d.heldTickets)
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
func (d ticketTxn) handleTaken(handle string) bool {
	return slices.ContainsFunc(d.heldTickets, func(h HeldTicket) bool { return h.Handle == handle })
}

// shiftHeld moves the hour at which numbered tickets leave when the wall clock was set; one without a number is dated
// when it gets one.
func (d ticketTxn) shiftHeld(before time.Time, step time.Duration) {
	if len(d.heldTickets) == 0 {
		return
	}
	d.heldTickets = slices.Clone(d.heldTickets)
	for i := range d.heldTickets {
		if h := &d.heldTickets[i]; h.Number != "" && h.Due.Sub(before) <= h.maxWait(d.l.site) {
			h.setDue(h.Due.Add(step))
		}
	}
	d.putJSON(heldKey, d.heldTickets)
}

// capHeld lets no ticket wait longer than it can have been meant to.
func (d ticketTxn) capHeld(now time.Time) {
	for i := range d.heldTickets {
		most := d.heldTickets[i].maxWait(d.l.site)
		if d.heldTickets[i].Due.Sub(now) < most+clock.Tolerance {
			continue
		}
		d.heldTickets = slices.Clone(d.heldTickets)
		d.heldTickets[i].setDue(now.Add(most))
		d.putJSON(heldKey, d.heldTickets)
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
func (h *HeldTicket) redate(d *txn) {
	then, now := h.Clocks, d.clockZeros(h.Load.Tank)
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
func (d ticketTxn) numberTaken(number string) bool {
	for _, h := range d.heldTickets {
		if h.Number == number {
			return true
		}
	}
	for _, p := range d.puts {
		if p.name == ticketKey+number {
			return true
		}
	}
	for _, r := range d.records {
		if r.ticket != nil && r.ticket.Number == number {
			return true
		}
	}
	b, err := d.l.box.Get(ticketKey + number)
	if err != nil {
		d.errs = append(d.errs, fmt.Errorf("look whether ticket number %s is in use: %w", number, err))
	}
	return b != nil
}
