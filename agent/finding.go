package agent

import (
	"fmt"
	"slices"
	"time"

	"gauger/agent/tank"
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
		d.held[i].correct(c)
		d.keep(heldState, d.held)
		return
	}
	b := d.bookedOf(c)
	if b == nil || b.Ticket == nil {
		return // a rejected one concerns nobody
	}
	note := fmt.Sprintf("%s: ticket %s, %.2f to %.2f in as sent: %s", c.Tank, b.Number, b.Load.Open, b.Load.Close, c.Note)
	b.Found = append(b.Found, Finding{d.now.Round(0), c.Note})
	d.keep(bookState+b.Number, b)
	d.diagnosis(tank.Event{Rule: "ticket-correction", Tank: c.Tank, Note: note, Start: b.Start, End: d.now.Round(0)})
}

// correct changes a held load: a clock that was set moves its times, all else is for a person to judge. One without a
// number is dated when it gets one.
func (h *Held) correct(c tank.Correction) {
	if c.Shift == 0 {
		h.Load.Review = append(slices.Clone(h.Load.Review), c.Note)
		return
	}
	if h.Number == "" {
		return
	}
	h.Load.Start, h.Load.End = h.Load.Start.Add(c.Shift), h.Load.End.Add(c.Shift)
	h.Load.Remarks = append(slices.Clone(h.Load.Remarks), c.Note)
	h.Zero = h.Zero.Add(c.Shift)
}

// bookedOf finds the ticket of a load, by the number that its first start gives, else among all; nil when it never
// became one.
func (d *draft) bookedOf(c tank.Correction) *Booked {
	is := func(b *Booked) bool { return b.Tank == c.Tank && b.Load != nil && b.Load.Began.Equal(c.Began) }
	var b Booked
	if err := d.l.recall(bookState+Number("A", d.l.site.ID, c.Tank, c.Began), &b); err == nil && is(&b) {
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
