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
func (tx *txn) holdLoad(load tank.Load) {
	site := tx.l.site
	t := site.tank(load.Tank)
	if t == nil {
		tx.leaveOut("a load of "+load.Tank, errUnconfigured(load.Tank))
		return
	}
	wait := site.scaled(max(0, site.Hold-t.Loads.Confirm)) // what the detector has waited is part of the hold
	clocks := tx.onBoxClock(load.Tank, &load.Start, &load.End)
	h := HeldTicket{Load: load, Due: tx.now.Round(0).Add(wait), Made: tx.now.Round(0), Clocks: clocks}
	if tx.grade() < clock.Assumed || tx.onAnotherDay(&h) {
		h.Handle = firstFree(Number("H", site.ID, load.Tank, load.Began), numberMax, tx.held.handleTaken)
	}
	h.Load.Remarks = append(slices.Clone(load.Remarks), tx.setups.takeChanges(load.Tank)...)
	tx.setups.markDiscrepancies(&h.Load)
	tx.markKnownElsewhere(&h)
	tx.applyInhibition(&h)
	tx.dropNotFiniteOf(&h)
	dropImpossible(&h.Load)
	site.asSent(t, &h.Load)
	tx.held.replace(append(slices.Clone(tx.held.all), h))
	tx.afterCommit = append(tx.afterCommit, func() {
		tx.l.log.Info().Str("tank", load.Tank).Time("start", load.Start).Time("end", load.End).
			Float64("bbl", hundredths(load.GaugeBbl)).Strs("review", load.Review).Msg("a load was found")
	})
	tx.releaseDue()
}

// markKnownElsewhere marks a load of which a person has written a ticket before gauger saw it to its end, so that somebody looks whether it
// is booked twice. One that may have been ticketed in a time of which the store knows nothing any more waits for that person, whatever
// tickets.review says: over the silence its figures are others, and so may be its number, so that the service cannot tell it from a new one.
func (tx *txn) markKnownElsewhere(h *HeldTicket) {
	load := &h.Load
	all, err := tx.l.listTickets()
	if err != nil { // the load is a ticket all the same
		tx.afterCommit = append(tx.afterCommit, func() {
			tx.l.log.Error().Err(err).Str("tank", load.Tank).Msg("nobody could look whether this load has a ticket already")
		})
	}
	from, to := load.Start, load.End
	if seen := load.Hidden(); seen != nil { // it can have been at any time between two readings
		from, to = seen.From, seen.To
	}
	var receipts []string
	for _, b := range all {
		switch {
		case b.Tank != load.Tank || b.Off() || tx.l.droppedTicket(b):
		case b.Rebuilt != "": // a receipt alone tells no more than the minute of the start
			if !b.Start.Before(from.Truncate(time.Minute)) && b.Start.Before(to) {
				receipts = append(receipts, b.Number)
			}
		case b.Load == nil && b.Start.Before(load.End) && load.Start.Before(b.End):
			askForReview(load, "ticket "+b.Number+" by hand is of the same time")
		}
	}
	back, off := tx.l.putBack, time.Duration(0)
	if z := h.Clocks; z != nil && !z.Own.IsZero() {
		off = z.Box.Sub(z.Own)
	}
	why := "the store has lost what it knew of this time"
	switch {
	case !back.From.IsZero() && !from.Add(off).After(back.To) && !to.Add(off).Before(back.From):
		why = "the store was put back to " + tx.l.site.localMinute(back.From)
	case receipts == nil:
		return
	}
	askForReview(load, why+", the service may have this load's ticket already"+behind(": ", strings.Join(receipts, ", ")))
	h.Stop = &HoldOrder{Person: "gauger", At: tx.now.Round(0), Why: "look there, then release or reject this one"}
}

// dropNotFiniteOf leaves out the figures of a load that are none, which marks it. Without its levels it makes no ticket: a person
// writes one, if it was a load.
func (tx *txn) dropNotFiniteOf(h *HeldTicket) {
	none := dropNotFinite(&h.Load)
	if len(none) == 0 {
		return
	}
	what := "not a number: " + strings.Join(none, ", ")
	askForReview(&h.Load, what)
	if slices.Contains(none, "Open") || slices.Contains(none, "Close") {
		h.Barred = "gauger, since its levels cannot be told (" + what + ")"
		tx.queueDiagnosis(tank.Event{Rule: eventrules.TicketUnwritable, Tank: h.Load.Tank, Start: h.Load.Start, End: h.Load.End,
			Note: h.Load.Tank + ": a load was seen and makes no ticket, since its levels cannot be told (" + what + "); if a truck was there, write one with `gauger tickets add`"})
	}
}

// releaseDue lets go of the held tickets whose time has come. The number is fixed as soon as the clock can be believed.
func (tx *txn) releaseDue() {
	if len(tx.held.all) == 0 || tx.grade() < clock.Assumed {
		return
	}
	var keep []HeldTicket
	changed, agrees := false, tx.tanks.Agrees(tx.now)
	tx.held.all = slices.Clone(tx.held.all) // a number that is given here is in use for the next one
	for i := range tx.held.all {
		h := &tx.held.all[i]
		if h.Number == "" && !agrees {
			keep = append(keep, *h) // the clock was set a moment ago
			continue
		}
		another := tx.onAnotherDay(h)
		changed = h.reviewClock(tx.judgeClock().against, tx.clockZeros(h.Load.Tank), another) || changed
		if another && h.Person == "" && h.Barred == "" {
			keep = append(keep, *h)
			continue
		}
		if h.Number == "" {
			h.redate(tx.clockZeros(h.Load.Tank))
		}
		if most := tx.l.site.numberMax(); h.Number == "" || len(h.Number) > most { // the service has come to take shorter ones only
			h.Number = firstFree(tx.l.site.number("A", h.Load.Tank, h.numberStart()), most, tx.numberTaken)
			changed = true
		}
		if h.waitsForPerson(&tx.l.site) || h.Person == "" && h.Barred == "" && tx.now.Before(h.Due) {
			changed = tx.remindPerson(h) || changed
			keep = append(keep, *h)
			continue
		}
		changed = true
		if h.Barred != "" {
			b := h.record(tx.now.Round(0))
			b.Rejected = h.Barred
			tx.recordTicket(b)
			continue
		}
		if err := tx.queueTicket(*h); err != nil {
			h.Due = tx.now.Round(0).Add(unwritableWait)
			keep = append(keep, *h)
			tx.applyNotice(collectors.Notice{Rule: eventrules.TicketUnwritable, Source: h.Load.Tank, Note: h.Number + ": " + err.Error(), Since: tx.now})
		}
	}
	if changed {
		tx.held.replace(keep)
	}
}

// onAnotherDay says that a ticket by the box's clock is of another date or production day than it would be by the service's, which
// contradicts that clock in answer after answer. It waits, without a number, until the clock is set, an answer agrees, or a person says
// that the clock is right or releases the ticket; by less than that it leaves with a mark.
func (tx *txn) onAnotherDay(h *HeldTicket) bool {
	against, z, site := tx.judgeClock().against, tx.clockZeros(h.Load.Tank), tx.l.site
	if against == 0 || !h.byBoxClock(z) {
		return false
	}
	return slices.ContainsFunc([]time.Time{h.Load.Start, h.Load.End}, func(at time.Time) bool {
		by := at.Add(against)
		return site.productionDay(at) != site.productionDay(by) || at.In(site.Zone).YearDay() != by.In(site.Zone).YearDay() ||
			against.Abs() > 24*time.Hour
	})
}

// unwritableWait is the pause between two tries of a ticket that cannot be written: each one is written down.
const unwritableWait = 10 * time.Minute

// numberTaken says whether a number is in use: on a ticket of any time, a held one, or one of this very batch.
func (tx *txn) numberTaken(number string) bool {
	if tx.held.numberTaken(number) ||
		slices.ContainsFunc(tx.puts, func(p statePut) bool { return p.name == ticketKey+number }) ||
		slices.ContainsFunc(tx.records, func(r stagedRecord) bool { return r.ticket != nil && r.ticket.Number == number }) {
		return true
	}
	b, err := tx.l.box.Get(ticketKey + number)
	if err != nil {
		tx.errs = append(tx.errs, fmt.Errorf("look whether ticket number %s is in use: %w", number, err))
	}
	return b != nil
}

// remindGap keeps two reminders apart where a late one is followed by the next day's.
const remindGap = 12 * time.Hour

// remindPerson tells, once a day at the same time of the day, of a ticket that waits for a person: the first time when it
// would have left. What counts is the time that was last told, so that neither a restart nor a step of the clock makes
// a second one of the same day.
func (tx *txn) remindPerson(h *HeldTicket) bool {
	now := tx.now.Round(0)
	if !h.waitsForPerson(&tx.l.site) || now.Before(h.Due) {
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
	why := tank.JoinReasons(h.Load.Review)
	if s := h.Stop; s != nil {
		why = strings.TrimPrefix(why+"; held by "+s.Person, "; ") + behind(": ", s.Why)
	}
	tx.queueDiagnosis(tank.Event{Rule: eventrules.LoadNeedsReview, Tank: h.Load.Tank, Start: h.Load.Start, End: now,
		Note: fmt.Sprintf("%s: ticket %s of %.1f bbl waits for a person: %s", h.Load.Tank, h.Number, h.Load.GaugeBbl, why)})
	return true
}

// nextSameTime is the first instant, not before another, with the time of day that at has by the site's clock.
func (s *Site) nextSameTime(at, from time.Time) time.Time {
	y, m, day := from.In(s.Zone).Date()
	hour, minute, second := at.In(s.Zone).Clock()
	t := time.Date(y, m, day, hour, minute, second, 0, s.Zone)
	if t.Before(from) {
		t = time.Date(y, m, day+1, hour, minute, second, 0, s.Zone)
	}
	return t
}
