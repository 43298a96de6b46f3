package modbus

import (
	"context"
	"fmt"
	"time"

	"gauger/collectors"
	"gauger/eventrules"
)

// demoteAfter is how many rounds without any answer make a unit absent, for the line and for people.
const demoteAfter = 3

// health is whether a unit answers at all.
type health struct {
	misses int           // rounds in a row without any answer
	since  time.Time     // the first of them
	cost   time.Duration // that the last of them had the line
	why    error         // what the last request met
	probes int

	announced bool      // people know of the loss
	opened    time.Time // since when, as they were told
	back      time.Time // when it ended; zero while it lasts
}

// absent says whether the unit gets one probe instead of a whole round.
func (h *health) absent() bool { return h.misses >= demoteAfter }

// silent says whether the unit gave no answer in its last round: it is asked again when that costs the others nothing.
func (h *health) silent() bool { return h.misses > 0 }

// note takes over what a round showed.
func (d *device) note(s *sweep, now time.Time) {
	h := &d.health
	if !s.tried {
		return // every place is parked, so nothing was asked for
	}
	if s.answered {
		if h.announced && h.back.IsZero() {
			h.back = now
		}
		h.misses, h.probes, h.why, d.took = 0, 0, nil, s.took
		return
	}
	if h.misses == 0 {
		h.since = now
	}
	h.misses++
	h.why, h.cost = s.err, min(s.took, d.silence())
}

// silence is how long an unanswered request has the line at most: when it took longer this box was busy with something
// else. A serial line may have to be left alone for a time-out before.
func (d *device) silence() time.Duration {
	most := d.terms.cost.silent(d.timeout, d.blocks[0].span)
	if d.line.at.serialLine() {
		most += d.timeout
	}
	return most
}

// probe asks an absent unit for one thing, each time for another one. If it answers, the round goes on as usual.
func (d *device) probe(ctx context.Context) *sweep {
	s := d.newSweep()
	b := d.toProbe()
	single := b.spans == 1
	s.take(ctx, b)
	for _, other := range d.blocks {
		if s.answered && single && covers(other.span, b.span) && other.spans > 1 {
			d.mutes[other.span] = muteAfter // whole it was never answered, a part of it was
		}
	}
	if s.answered {
		again := d.newSweep()
		again.answered = true
		again.run(ctx)
		again.took += s.took
		return again
	}
	why := s.err
	if !s.tried {
		why = d.health.why // that of the last probe: all places are parked, each for a reason of its own
	}
	for _, other := range d.blocks {
		s.fail(other, why)
	}
	return s
}

// toProbe is what an absent unit is asked for now: whole requests and single places in turn, since there are units
// that say nothing to a request that covers an address they do not have. What is parked would not be asked for.
func (d *device) toProbe() block {
	n := d.health.probes / 2
	d.health.probes++
	count, at := len(d.blocks), func(i int) block { return d.blocks[i%len(d.blocks)] }
	if d.health.probes%2 == 0 {
		places := placesOf(d.points, func(*point) bool { return true })
		count, at = len(places), func(i int) block { return blockOf(places[i%len(places):][:1]) }
	}
	for i := range count {
		if b := at(n + i); d.parkedFor(b.span) == nil {
			return b
		}
	}
	return at(n)
}

func covers(whole, part span) bool {
	return whole.table == part.table && whole.from <= part.from && part.to() <= whole.to()
}

// report tells of a lost unit, and of its return. What could not be told is told after the next round.
func (d *device) report(ctx context.Context, host collectors.Host) {
	h := &d.health
	n := collectors.Notice{Rule: eventrules.CommLoss, Source: d.name, Since: h.since}
	switch {
	case !h.announced && h.absent():
		h.opened = h.since
		n.Note = fmt.Sprintf("unit %d at %s does not answer: %v", d.unit, d.line.URL(), h.why)
		h.announced = host.Notice(ctx, n) == nil
	case h.announced && !h.back.IsZero():
		n.Since, n.Until = h.opened, h.back
		n.Note = fmt.Sprintf("unit %d at %s answers again after %s", d.unit, d.line.URL(), h.back.Sub(h.opened).Round(time.Second))
		if host.Notice(ctx, n) == nil {
			h.announced, h.back = false, time.Time{}
		}
	}
}
