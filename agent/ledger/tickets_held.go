package ledger

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/tank"
)

// heldTickets are the finished loads whose tickets have not left yet. What a transaction changes is its own: the slice is copied first.
type heldTickets struct {
	all     []HeldTicket
	changed bool // by this transaction, which stores them
}

// replace makes others the held ones.
func (s *heldTickets) replace(all []HeldTicket) { s.all, s.changed = all, true }

// edit gives one to be changed.
func (s *heldTickets) edit(i int) *HeldTicket {
	s.replace(slices.Clone(s.all))
	return &s.all[i]
}

// find is the place of the one that people call so; -1: none that can be changed.
func (s *heldTickets) find(name string) int {
	return slices.IndexFunc(s.all, func(h HeldTicket) bool {
		return h.Barred == "" && name != "" && (strings.EqualFold(h.Number, name) || strings.EqualFold(h.Handle, name))
	})
}

// ofLoad is the place of the one of a load, by its tank and the start that was seen first; -1: none.
func (s *heldTickets) ofLoad(id string, began time.Time) int {
	return slices.IndexFunc(s.all, func(h HeldTicket) bool { return h.Load.Tank == id && h.Load.Began.Equal(began) })
}

// numberTaken says whether one has a number.
func (s *heldTickets) numberTaken(number string) bool {
	return slices.ContainsFunc(s.all, func(h HeldTicket) bool { return h.Number == number })
}

// handleTaken says whether one goes by a handle.
func (s *heldTickets) handleTaken(handle string) bool {
	return slices.ContainsFunc(s.all, func(h HeldTicket) bool { return h.Handle == handle })
}

// assignHandles gives those that an older version has left without a number something that people can call them by.
func (s *heldTickets) assignHandles(site string) {
	for i := range s.all {
		if h := &s.all[i]; h.name() == "" {
			h.Handle = Number("H", site, h.Load.Tank, h.Load.Began)
		}
	}
}

// markForReview marks those of a tank for a reason that came up after their loads.
func (s *heldTickets) markForReview(id, why string) {
	for i := range s.all {
		if l := s.all[i].Load; l.Tank == id && !slices.Contains(l.Review, why) {
			doubt(&s.edit(i).Load, why)
		}
	}
}

// shift moves the hour at which numbered tickets leave when the wall clock was set; one without a number is dated when it gets one.
func (s *heldTickets) shift(before time.Time, step time.Duration, site *Site) {
	for i := range s.all {
		if h := &s.all[i]; h.Number != "" && h.Due.Sub(before) <= h.maxWait(site) {
			e := s.edit(i)
			e.setDue(h.Due.Add(step))
			e.remade(step)
		}
	}
}

// cap lets no ticket wait longer than it can have been meant to.
func (s *heldTickets) cap(now time.Time, site *Site) {
	for i := range s.all {
		if most := s.all[i].maxWait(site); s.all[i].Due.Sub(now) >= most+clock.Tolerance {
			s.edit(i).setDue(now.Add(most))
		}
	}
}

// HeldTicket is a finished load whose ticket has not left yet: it waits for its time, for a clock that can be believed, or
// for a person.
type HeldTicket struct {
	Load   tank.Load
	Number string      // empty until the clock is good enough to fix it
	Due    time.Time   // when it leaves by itself
	Made   time.Time   `json:",omitzero"`  // when its load was found; zero: by a version that did not keep it
	Clocks *ClockZeros `json:",omitempty"` // at the end of the load; nil: held by a program that did not know them
	Person string      // who released it; a doubtful one waits for that when the site says so

	Handle string     `json:",omitempty"` // what it is called until it has a number
	Edits  []Edit     `json:",omitempty"` // by people, in order
	Stop   *HoldOrder `json:",omitempty"` // a person's hold
	Asked  time.Time  `json:",omitzero"`  // when it was first told that it waits for a person: the time of day of those that follow
	Told   time.Time  `json:",omitzero"`  // when it was last told
	Barred string     `json:",omitempty"` // the tank was inhibited, by whom and why: it is booked and no ticket is made

	Matches []TruckTicket `json:",omitempty"` // what the truck's own tickets say
}

// record is what is kept of it under its number, by what is known while it is held.
func (h *HeldTicket) record(queued time.Time) TicketRecord {
	load := h.Load
	return TicketRecord{Number: h.Number, Tank: load.Tank, Load: &load, Start: load.Start, End: load.End, Queued: queued, Edits: h.Edits, Stop: h.Stop, Matches: h.Matches}
}

// name for people: the number, or the handle until there is one.
func (h *HeldTicket) name() string { return cmp.Or(h.Number, h.Handle) }

// waitsForPerson says that it waits for a person, and no hour will let it go.
func (h *HeldTicket) waitsForPerson(s *Site) bool {
	stopped := h.Stop != nil && h.Stop.Until.IsZero()
	return h.Person == "" && h.Barred == "" && (stopped || s.HoldDoubtful && len(h.Load.Review) > 0)
}

// ClockZeros are the wall clock's times at which the detector's own time was 0: by the box's clock, and by that of a tank's readings.
type ClockZeros struct{ Box, Own time.Time }

// shift is by how much the clock of a tank's readings was set between two looks.
func (then *ClockZeros) shift(now *ClockZeros) time.Duration {
	switch {
	case then.Box.IsZero() || then.Own.IsZero():
		return 0
	case then.Own.Sub(then.Box).Abs() < stampedAlike:
		return now.Box.Sub(then.Box)
	}
	return now.Own.Sub(then.Own)
}

// maxWait bounds the time until a ticket leaves: the hold's end, or a person's.
func (h *HeldTicket) maxWait(s *Site) time.Duration {
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
func (h *HeldTicket) numberStart() time.Time {
	if h.Load.Start.Sub(h.Load.Began).Abs() < sameStart {
		return h.Load.Began
	}
	return h.Load.Start
}

// redate moves a load that ended before its clock was set to where it was. Readings that were stamped by the box's clock
// go with it, also when none came since; those of a device with a clock of its own go with that one.
func (h *HeldTicket) redate(now *ClockZeros) {
	then := h.Clocks
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
	h.remade(now.Box.Sub(then.Box))
}

// remade moves the time at which its load was found, as the box's clock was set.
func (h *HeldTicket) remade(step time.Duration) {
	if !h.Made.IsZero() {
		h.Made = h.Made.Add(step)
	}
}

// byThisClock is in the reason for a review that the service says another time than the clock of a ticket's times does; AnotherDay ends
// that of one that waits, since its day would be another one.
const (
	byThisClock = " than this box's clock, by which its times are"
	AnotherDay  = byThisClock + ", on another day"
)

// reviewClock asks for a review of a ticket whose times are by the box's clock while the service says that it is wrong by so much, and
// no longer once that is over: the clock was set, and the times with it, or somebody who knows has said that it is right.
func (h *HeldTicket) reviewClock(against time.Duration, now *ClockZeros, anotherDay bool) (changed bool) {
	asks := slices.IndexFunc(h.Load.Review, func(why string) bool { return strings.Contains(why, byThisClock) })
	ours := against != 0 && h.byBoxClock(now)
	if ours == (asks >= 0) && (!ours || strings.HasSuffix(h.Load.Review[asks], AnotherDay) == anotherDay) {
		return false
	}
	h.Load.Review = slices.Clone(h.Load.Review)
	if asks >= 0 {
		h.Load.Review = slices.Delete(h.Load.Review, asks, asks+1)
	}
	if ours || anotherDay {
		h.Load.Review = append(h.Load.Review, clock.Says(against)+either(anotherDay, AnotherDay, byThisClock))
	}
	return true
}

// byBoxClock says that the times of a ticket are by the box's clock, and not by a device's own.
func (h *HeldTicket) byBoxClock(now *ClockZeros) bool {
	return now.Own.IsZero() || now.Own.Sub(now.Box).Abs() < stampedAlike
}

// correctLoad changes a held load: a clock that was set moves its times, all else is for a person to judge.
func (h *HeldTicket) correctLoad(c tank.Correction, by *ClockZeros) {
	load := &h.Load
	if c.Note != "" {
		askForReview(load, c.Note)
		return
	}
	off := c.Start.Sub(load.Start)
	if off.Abs() < clock.MinStep {
		return
	}
	if h.Number == "" {
		h.Due = h.Due.Add(off)
	}
	load.Start, load.End, h.Clocks = c.Start, c.End, by
	h.remarkClockSet()
}

// remarkClockSet says on the ticket that its times were moved.
func (h *HeldTicket) remarkClockSet() {
	if !slices.Contains(h.Load.Remarks, newClock) {
		h.Load.Remarks = append(slices.Clone(h.Load.Remarks), newClock)
	}
}

const newClock = "the clock was set after the load, times are by the new one"

// stampedAlike: a clock of a tank's readings that is no further from the box's is the same one.
const stampedAlike = 10 * time.Second
