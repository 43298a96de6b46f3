package agent

import (
	"fmt"
	"slices"
	"time"

	"gauger/agent/clock"
	"gauger/agent/tank"
	"gauger/eventrules"
)

// Finding is what was learned of a load after its ticket had left. The ticket stays as it was sent.
type Finding struct {
	At   time.Time `json:"at"`
	Note string    `json:"note"`
}

// corrected takes what the detector has learned of a load that it reported before: a held ticket is changed before it
// leaves, of one that has left an event tells.
func (d *draft) corrected(c tank.Correction) {
	i := slices.IndexFunc(d.held, func(h Held) bool { return h.Load.Tank == c.Tank && h.Load.Began.Equal(c.Began) })
	if i >= 0 {
		d.held = slices.Clone(d.held)
		d.held[i].correct(c, d.clocks(c.Tank))
		d.keep(heldState, d.held)
		return
	}
	if c.Note == "" && !c.Settled {
		return // a clock that goes wrong for half an hour comes back
	}
	b := d.bookedOf(c)
	if b == nil || b.Ticket == nil {
		return // a rejected one concerns nobody
	}
	found := c.Note
	if found == "" {
		if c.Start.Sub(b.Load.Start).Abs() <= timesOff && c.End.Sub(b.Load.End).Abs() <= timesOff {
			return
		}
		found = fmt.Sprintf("by the clock that was set since it went from %s to %s, not from %s to %s", d.clock(c.Start), d.clock(c.End),
			d.clock(b.Load.Start), d.clock(b.Load.End))
	}
	b.Found = append(b.Found, Finding{d.now.Round(0), found})
	d.keep(bookState+b.Number, b)
	d.diagnosis(tank.Event{Rule: eventrules.TicketCorrection, Tank: c.Tank, Start: b.Start, End: d.now.Round(0),
		Note: fmt.Sprintf("%s: ticket %s, %.2f to %.2f in as sent: %s", c.Tank, b.Number, b.Load.Open, b.Load.Close, found)})
}

// timesOff is how far the times of a ticket that has left may be off before that is told.
const timesOff = time.Minute

// clock is an instant as the site's people write it.
func (d *draft) clock(t time.Time) string { return t.In(d.l.site.Zone).Format("2006-01-02 15:04:05") }

// correct changes a held load: a clock that was set moves its times, all else is for a person to judge.
func (h *Held) correct(c tank.Correction, by *Clocks) {
	load := &h.Load
	if c.Note != "" {
		load.Review = append(slices.Clone(load.Review), c.Note)
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
	h.remark()
}

// remark says on the ticket that its times were moved.
func (h *Held) remark() {
	if !slices.Contains(h.Load.Remarks, newClock) {
		h.Load.Remarks = append(slices.Clone(h.Load.Remarks), newClock)
	}
}

const newClock = "the clock was set after the load, times are by the new one"

// bookedOf finds the ticket of a load, by the number that its first start gives, else among all; nil when it never
// became one.
func (d *draft) bookedOf(c tank.Correction) *Booked {
	is := func(b *Booked) bool { return b.Tank == c.Tank && b.Load != nil && b.Load.Began.Equal(c.Began) }
	var b Booked
	if err := d.l.recall(bookState+d.l.site.number("A", c.Tank, c.Began), &b); err == nil && is(&b) {
		return &b
	}
	all, err := d.l.tickets()
	if err != nil {
		d.problems = append(d.problems, fmt.Errorf("look for the ticket of %s from %s: %w", c.Tank, c.Began, err))
	}
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	return nil
}
