package modbus

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
	"gauger/collectors/modbus/line"
)

const (
	absentAfter = 3                // rounds without any answer, from which on a unit is absent, for the line and for people
	refusesFor  = 10 * time.Minute // for which a unit only refuses before people are told: one that is busy does so for a while
)

// health counts the rounds without any answer, and remembers who was told of it, or that the unit answers and gives no value.
type health struct {
	misses    int           // rounds in a row without any answer
	since     time.Time     // the first of them
	refuses   time.Time     // since when it has answered, and never with a value; zero: it gave one, or is silent
	probeCost time.Duration // that the last of them had the line
	lastError error         // what the last request met
	probes    int

	announced string    // the event that people know of; "": none
	told      string    // its reason, in the words that they know
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
		if s.read || h.announced == eventrules.CommLoss {
			h.noteOver(now)
		}
		h.misses, h.probes, h.lastError, d.lastDuration = 0, 0, nil, s.duration
		if s.read {
			h.refuses = time.Time{}
		} else if h.lastError = s.lastError; h.refuses.IsZero() {
			h.refuses = now
		}
		return
	}
	if h.misses == 0 {
		h.since = now
	}
	h.misses++
	if h.absent() && h.announced == eventrules.DeviceStatus {
		h.noteOver(now) // it is lost instead
	}
	h.lastError, h.probeCost, h.refuses = s.lastError, min(s.duration, d.maxUnanswered()), time.Time{}
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

// noteOver notes the end of what people know of, if they know of anything.
func (h *health) noteOver(now time.Time) {
	if h.announced != "" && h.returned.IsZero() {
		h.returned = now
	}
}

// healthNotice is what is to be told of a unit that is lost or gives no value, or of its return; nil: nothing. What could not be told is
// told after the next round.
func (d *device) healthNotice(now time.Time) *collectors.Notice {
	h := &d.health
	switch {
	case h.announced != "" && !h.returned.IsZero():
		note := fmt.Sprintf("unit %d at %s answers again after %s", d.unit, d.line.URL(), h.returned.Sub(h.lostSince).Round(time.Second))
		if h.announced == eventrules.DeviceStatus {
			note = fmt.Sprintf("unit %d at %s refused each request for %s", d.unit, d.line.URL(), h.returned.Sub(h.lostSince).Round(time.Second))
		}
		return &collectors.Notice{Rule: h.announced, Source: d.name, Since: h.lostSince, Until: h.returned, Note: note}
	case h.absent():
		note := fmt.Sprint(h.lastError) // which names the place
		if advice := line.Advice(h.lastError, d.line.URL()); advice != "" {
			note += "; " + advice
		}
		return h.reason(eventrules.CommLoss, d.name, h.since, note)
	case !h.refuses.IsZero() && now.Sub(h.refuses) >= refusesFor:
		return h.reason(eventrules.DeviceStatus, d.name, h.refuses, fmt.Sprintf("it answers, and gives no value: %v", h.lastError))
	}
	return nil
}

// reason tells why something is so, and tells it again where the reason has become another, whatever the place; its beginning stays.
func (h *health) reason(rule, source string, since time.Time, note string) *collectors.Notice {
	switch {
	case h.announced == "":
		h.lostSince = since
	case pastPlace(note) == pastPlace(h.told):
		return nil
	}
	return &collectors.Notice{Rule: rule, Source: source, Since: h.lostSince, Note: note}
}

// pastPlace is what is said of a request behind the place that it asked for, which is another in each probe.
func pastPlace(note string) string { return note[strings.LastIndex(note, " at ")+1:] }

// noteTold notes that people know of it, or that it is over.
func (h *health) noteTold(n *collectors.Notice) {
	h.announced, h.told = n.Rule, n.Note
	if !n.Until.IsZero() {
		h.announced, h.returned = "", time.Time{}
	}
}
