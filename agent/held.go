package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/eventrules"
)

// Held is a finished load whose ticket has not left yet: it waits for its time, for a clock that can be believed, or
// for a person.
type Held struct {
	Load   tank.Load
	Number string    // empty until the clock is good enough to fix it
	Due    time.Time // when it leaves by itself
	Clocks *Clocks   `json:",omitempty"` // at the end of the load; nil: held by a program that did not know them
	Person string    // who released it; a doubtful one waits for that when the site says so

	Handle string    `json:",omitempty"` // what it is called until it has a number
	Edits  []Edit    `json:",omitempty"` // by people, in order
	Stop   *Stop     `json:",omitempty"` // a person's hold
	Asked  time.Time `json:",omitzero"`  // when it was first told that it waits for a person: the time of day of those that follow
	Told   time.Time `json:",omitzero"`  // when it was last told
	Barred string    `json:",omitempty"` // the tank was inhibited, by whom and why: it is booked and no ticket is made

	Matches []Match `json:",omitempty"` // what the truck's own tickets say
}

// name is what people call it.
func (h Held) name() string { return cmp.Or(h.Number, h.Handle) }

// awaited says that it waits for a person, and no hour will let it go.
func (h Held) awaited(s Site) bool {
	stopped := h.Stop != nil && h.Stop.Until.IsZero()
	return h.Person == "" && h.Barred == "" && (stopped || s.HoldDoubtful && len(h.Load.Review) > 0)
}

// Clocks are what the wall clock said when the detector's own time was 0: the box's, and the one of a tank's readings.
type Clocks struct{ Box, Own time.Time }

// finished books a load that the detector has confirmed.
func (d *draft) finished(load tank.Load) {
	site := d.l.site
	t := site.tank(load.Tank)
	if t == nil {
		d.unwritable("a load of "+load.Tank, unconfigured(load.Tank))
		return
	}
	wait := site.scaled(max(0, site.Hold-t.Loads.Confirm)) // what the detector has waited is part of the hold
	clocks := d.overtaken(load.Tank, &load.Start, &load.End)
	h := Held{Load: load, Due: d.now.Round(0).Add(wait), Clocks: clocks}
	if d.grade() < clock.Assumed {
		h.Handle = unused(Number("H", site.ID, load.Tank, load.Began), numberMax, d.handled)
	}
	h.Load.Remarks = append(slices.Clone(load.Remarks), d.news(load.Tank)...)
	d.doubted(&h.Load)
	d.during(&h)
	d.onlyFinite(&h)
	d.held = append(slices.Clone(d.held), h)
	d.keep(heldState, d.held)
	d.says = append(d.says, func() {
		d.l.log.Info().Str("tank", load.Tank).Time("start", load.Start).Time("end", load.End).
			Float64("bbl", hundredths(load.GaugeBbl)).Strs("review", load.Review).Msg("a load was found")
	})
	d.release()
}

// recheck marks the held tickets of a tank for a reason that came up after their loads.
func (d *draft) recheck(id, why string) {
	held := slices.Clone(d.held)
	for i := range held {
		if l := &held[i].Load; l.Tank == id && !slices.Contains(l.Review, why) {
			l.Review, l.Confidence = append(slices.Clone(l.Review), why), min(l.Confidence, oddSure)
			d.held = held
		}
	}
	if len(held) > 0 {
		d.keep(heldState, held)
	}
}

// onlyFinite leaves out the figures of a load that are none, which marks it. Without its levels it makes no ticket: a person
// writes one, if it was a load.
func (d *draft) onlyFinite(h *Held) {
	none := dropNotFinite(&h.Load)
	if len(none) == 0 {
		return
	}
	what := "not a number: " + strings.Join(none, ", ")
	h.Load.Review = append(slices.Clone(h.Load.Review), what)
	if slices.Contains(none, "Open") || slices.Contains(none, "Close") {
		h.Barred = "gauger, since its levels cannot be told (" + what + ")"
		d.diagnosis(tank.Event{Rule: eventrules.TicketUnwritable, Tank: h.Load.Tank, Start: h.Load.Start, End: h.Load.End,
			Note: h.Load.Tank + ": a load was seen and makes no ticket, since its levels cannot be told (" + what + "); if a truck was there, write one with `gauger tickets add`"})
	}
}

// overtaken puts times of a tank on the box's clock where that was set for the first time and the tank's has not followed.
// It returns the clocks that the times are by.
func (d *draft) overtaken(id string, start, end *time.Time) *Clocks {
	c := d.clocks(id)
	if off := c.Box.Sub(c.Own); !clock.WasSet(*start) && !c.Own.IsZero() && clock.WasSet(start.Add(off)) {
		*start, *end, c.Own = start.Add(off), end.Add(off), c.Box
	}
	return c
}

// clocks are those of a tank as they stand.
func (d *draft) clocks(id string) *Clocks {
	box, own := d.tanks.Zeros(d.l.site.index(id))
	return &Clocks{box, own}
}

// release lets go of the held tickets whose time has come. The number is fixed as soon as the clock can be believed.
func (d *draft) release() {
	if len(d.held) == 0 || d.grade() < clock.Assumed {
		return
	}
	var keep []Held
	changed, agrees := false, d.tanks.Agrees(d.now)
	d.held = slices.Clone(d.held) // a number that is given here is in use for the next one
	for i := range d.held {
		h := &d.held[i]
		if h.Number == "" && !agrees {
			keep = append(keep, *h) // the clock was set a moment ago
			continue
		}
		if h.Number == "" {
			h.date(d)
		}
		if most := d.l.site.numberMax(); h.Number == "" || len(h.Number) > most { // the service has come to take shorter ones only
			h.Number = unused(d.l.site.number("A", h.Load.Tank, h.start()), most, d.taken)
			changed = true
		}
		if h.awaited(d.l.site) || h.Person == "" && h.Barred == "" && d.now.Before(h.Due) {
			changed = d.remind(h) || changed
			keep = append(keep, *h)
			continue
		}
		changed = true
		if h.Barred != "" {
			d.book(Booked{Number: h.Number, Tank: h.Load.Tank, Load: &h.Load, Rejected: h.Barred, Queued: d.now.Round(0),
				Start: h.Load.Start, End: h.Load.End})
			continue
		}
		if err := d.ticket(*h); err != nil {
			h.Due = d.now.Round(0).Add(unwritableWait)
			keep = append(keep, *h)
			d.notice(collectors.Notice{Rule: eventrules.TicketUnwritable, Source: h.Load.Tank, Note: h.Number + ": " + err.Error(), Since: d.now})
		}
	}
	if changed {
		d.held = keep
		d.keep(heldState, d.held)
	}
}

// nameHeld gives those that an older version has left without a number something that people can call them by.
func (s *state) nameHeld(site string) {
	for i := range s.held {
		if h := &s.held[i]; h.name() == "" {
			h.Handle = Number("H", site, h.Load.Tank, h.Load.Began)
		}
	}
}

// handled says whether a held ticket goes by a handle.
func (d *draft) handled(handle string) bool {
	return slices.ContainsFunc(d.held, func(h Held) bool { return h.Handle == handle })
}

// shiftHeld moves the hour at which numbered tickets leave when the wall clock was set; one without a number is dated
// when it gets one.
func (d *draft) shiftHeld(before time.Time, step time.Duration) {
	if len(d.held) == 0 {
		return
	}
	d.held = slices.Clone(d.held)
	for i := range d.held {
		if h := &d.held[i]; h.Number != "" && h.Due.Sub(before) <= h.longest(d.l.site) {
			h.due(h.Due.Add(step))
		}
	}
	d.keep(heldState, d.held)
}

// shortenHeld lets no ticket wait longer than it can have been meant to.
func (d *draft) shortenHeld(now time.Time) {
	for i := range d.held {
		most := d.held[i].longest(d.l.site)
		if d.held[i].Due.Sub(now) < most+clock.Tolerance {
			continue
		}
		d.held = slices.Clone(d.held)
		d.held[i].due(now.Add(most))
		d.keep(heldState, d.held)
	}
}

// unwritableWait is how long a ticket that cannot be written waits for the next try: each one is written down.
const unwritableWait = 10 * time.Minute

// longest is how far away the hour can be at which a ticket leaves: the hold's end, or a person's.
func (h *Held) longest(s Site) time.Duration {
	most := max(s.scaled(s.Hold), unwritableWait)
	if h.Stop != nil && !h.Stop.Until.IsZero() {
		most = max(most, h.Stop.Until.Sub(h.Stop.At))
	}
	return most
}

// due sets the hour at which a ticket leaves, which a person may have named.
func (h *Held) due(at time.Time) {
	if h.Stop != nil && h.Stop.Until.Equal(h.Due) {
		stop := *h.Stop
		stop.At, stop.Until = stop.At.Add(at.Sub(h.Due)), at
		h.Stop = &stop
	}
	h.Due = at
}

// stampedAlike is how far the clock of a tank's readings may be from the box's and still be that one.
const stampedAlike = 10 * time.Second

// sameStart is how far the start that was seen first and the final one may be apart and still be one.
const sameStart = 5 * time.Minute

// start is the instant that the number is made of: the one under which the load was first seen and stored, so that a
// restart in the middle changes nothing, unless the clock was set since.
func (h Held) start() time.Time {
	if h.Load.Start.Sub(h.Load.Began).Abs() < sameStart {
		return h.Load.Began
	}
	return h.Load.Start
}

// date moves a load that ended before its clock was set to where it was. Readings that were stamped by the box's clock
// go with it, also when none came since; those of a device with a clock of its own go with that one.
func (h *Held) date(d *draft) {
	then, now := h.Clocks, d.clocks(h.Load.Tank)
	if h.Clocks = nil; then == nil {
		return
	}
	off := then.moved(now)
	if off.Abs() < clock.MinStep {
		return
	}
	h.Load.Start, h.Load.End = h.Load.Start.Add(off), h.Load.End.Add(off)
	h.remark()
	h.Due = h.Due.Add(now.Box.Sub(then.Box))
}

// moved is by how much the clock of a tank's readings was set between two looks.
func (then *Clocks) moved(now *Clocks) time.Duration {
	switch {
	case then.Box.IsZero() || then.Own.IsZero():
		return 0
	case then.Own.Sub(then.Box).Abs() < stampedAlike:
		return now.Box.Sub(then.Box)
	}
	return now.Own.Sub(then.Own)
}

// taken says whether a number is in use: on a ticket of any time, a held one, or one of this very batch.
func (d *draft) taken(number string) bool {
	for _, h := range d.held {
		if h.Number == number {
			return true
		}
	}
	for _, p := range d.puts {
		if p.name == bookState+number {
			return true
		}
	}
	b, err := d.l.box.Get(bookState + number)
	if err != nil {
		d.problems = append(d.problems, fmt.Errorf("look whether ticket number %s is in use: %w", number, err))
	}
	return b != nil
}

// tank finds a tank by its id; nil when there is none.
func (s *Site) tank(id string) *Tank {
	i := s.index(id)
	if i < 0 {
		return nil
	}
	return &s.Tanks[i]
}

// index is a tank's place in the configuration; -1 when it has none.
func (s *Site) index(id string) int {
	for i := range s.Tanks {
		if s.Tanks[i].ID == id {
			return i
		}
	}
	return -1
}
