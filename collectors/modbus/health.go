package modbus

import (
	"context"
	"fmt"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
	"gauger/collectors/modbus/line"
)

// absentAfter rounds without any answer a unit is absent, for the line and for people.
const absentAfter = 3

// health counts the rounds without any answer, and remembers who was told of it.
type health struct {
	misses    int           // rounds in a row without any answer
	since     time.Time     // the first of them
	probeCost time.Duration // that the last of them had the line
	lastError error         // what the last request met
	probes    int

	announced bool      // people know of the loss
	lostSince time.Time // since when, as they were told
	returned  time.Time // when it ended; zero while it lasts
}

// absent says whether the unit gets one probe instead of a whole round.
func (h *health) absent() bool { return h.misses >= absentAfter }

// silent says whether the unit gave no answer in its last round: it is asked again when that costs the others nothing.
func (h *health) silent() bool { return h.misses > 0 }

// noteRound takes over what a round showed.
func (d *device) noteRound(s *round, now time.Time) {
	h := &d.health
	if !s.tried {
		return // every place is parked, so nothing was asked for
	}
	if s.answered {
		if h.announced && h.returned.IsZero() {
			h.returned = now
		}
		h.misses, h.probes, h.lastError, d.lastDuration = 0, 0, nil, s.duration
		return
	}
	if h.misses == 0 {
		h.since = now
	}
	h.misses++
	h.lastError, h.probeCost = s.lastError, min(s.duration, d.maxUnanswered())
}

// maxUnanswered is the longest that an unanswered request has the line: when it took longer this box was busy with something
// else. A serial line may have to be left alone for a time-out before.
func (d *device) maxUnanswered() time.Duration {
	most := d.limits.cost.Unanswered(d.timeout, d.blocks[0].Span)
	if d.line.Endpoint().IsSerial() {
		most += d.timeout
	}
	return most
}

// probeRound asks an absent unit for one thing, each time for another one. If it answers, the round goes on as usual.
func (d *device) probeRound(ctx context.Context) *round {
	s := d.newRound()
	b := d.probeBlock()
	single := b.spans == 1
	s.request(ctx, b)
	for _, other := range d.blocks {
		if s.answered && single && other.Span.Covers(b.Span) && other.spans > 1 {
			put(&d.unanswered, other.Span, splitUnansweredAfter) // whole it was never answered, a part of it was
		}
	}
	if s.answered {
		s.giveBack()
		again := d.newRound()
		again.answered = true
		again.run(ctx).duration += s.duration
		returnRound(s)
		return again
	}
	why := s.lastError
	if !s.tried {
		why = d.health.lastError // that of the last probe: all places are parked, each for a reason of its own
	}
	for _, other := range d.blocks {
		s.markBad(other, notAskedFor(other, why))
	}
	if s.tried {
		s.markBad(b, why)
	}
	s.lastError = why
	return s
}

// probeBlock chooses the one request to an absent unit: whole requests and single places in turn, since there are units
// that say nothing to a request that covers an address they do not have. What is parked would not be asked for.
func (d *device) probeBlock() block {
	n := d.health.probes / 2
	d.health.probes++
	count, at := len(d.blocks), func(i int) block { return d.blocks[i%len(d.blocks)] }
	if d.health.probes%2 == 0 {
		places := placesOf(d.points, func(*point) bool { return true })
		count, at = len(places), func(i int) block { return blockOf(places[i%len(places):][:1]) }
	}
	for i := range count {
		if b := at(n + i); d.whyParked(b.Span) == nil {
			return b
		}
	}
	return at(n)
}

// commLoss is what is to be told of a lost unit, or of its return; nil: nothing. What could not be told is told after the next round.
func (d *device) commLoss() *collectors.Notice {
	h := &d.health
	switch {
	case !h.announced && h.absent():
		h.lostSince = h.since
		n := d.commNotice(h.since, time.Time{})
		n.Note = fmt.Sprint(h.lastError) // which names the place
		if advice := line.Advice(h.lastError, d.line.URL()); advice != "" {
			n.Note += "; " + advice
		}
		return n
	case h.announced && !h.returned.IsZero():
		n := d.commNotice(h.lostSince, h.returned)
		n.Note = fmt.Sprintf("unit %d at %s answers again after %s", d.unit, d.line.URL(), h.returned.Sub(h.lostSince).Round(time.Second))
		return n
	}
	return nil
}

func (d *device) commNotice(since, until time.Time) *collectors.Notice {
	return &collectors.Notice{Rule: eventrules.CommLoss, Source: d.name, Since: since, Until: until}
}

// noteTold notes that people know of the loss, or of the return.
func (h *health) noteTold() {
	if h.announced {
		h.returned = time.Time{}
	}
	h.announced = !h.announced
}
