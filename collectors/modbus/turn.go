package modbus

import (
	"math"
	"slices"
	"time"

	"gauger/collectors"
)

// turn is a device and when it is to be asked.
type turn struct {
	device *device
	points []collectors.Point
	start  time.Time     // of its beat
	every  time.Duration // of its beat now
	due    time.Time
	asked  time.Time // when it was last asked; zero: never
	busy   bool      // its round is under way
}

func newTurn(d *device) *turn {
	t := &turn{device: d, every: d.every}
	if d.hurried == 0 {
		return t // nobody is going to be asked about its points
	}
	for i := range d.points {
		t.points = append(t.points, d.points[i].id)
	}
	return t
}

// hurry sets the next beat, which is a faster one while a tank of this device is being hauled.
func (t *turn) hurry(host collectors.Host) {
	t.every = t.device.every
	if t.device.hurried > 0 && host.Hurry(t.points) {
		t.every = t.device.hurried
	}
	t.due = collectors.Phase{Start: t.start, Every: t.every}.After(t.asked)
}

// endOfTime is a deadline that lets everyone else pass.
var endOfTime = time.Unix(1<<40, 0)

// deadline is by when the unit should be asked: one interval after it was due. It counts from the last time that it
// was asked, so that units which all come late share the line alike.
func (t *turn) deadline() time.Time {
	if t.asked.IsZero() {
		return t.due.Add(t.every)
	}
	return t.asked.Add(2 * t.every)
}

// waited is how many of its own intervals ago the unit was asked.
func (t *turn) waited(now time.Time) float64 {
	if t.asked.IsZero() {
		return math.Inf(1)
	}
	return float64(now.Sub(t.asked)) / float64(t.every)
}

// ready says whether the unit is due and answers.
func (t *turn) ready(now time.Time) bool {
	return !t.busy && !t.device.health.silent() && !t.due.After(now)
}

// passes says whether the unit goes before one with the given deadline. In the first round nobody passes.
func (t *turn) passes(now, deadline time.Time) bool {
	return t.ready(now) && !t.asked.IsZero() && t.asked.Before(now) && t.deadline().Before(deadline)
}

// next is the unit that comes first, or nil when none does yet. Of those that are due it is the one that has
// waited longest, measured by its own interval: when the round does not fit into the intervals it then takes longer
// for all alike. A unit that was silent comes after all of them.
func (c *collector) next(now time.Time) *turn {
	var first *turn
	for _, t := range c.turns {
		if t.ready(now) && (first == nil || t.waited(now) > first.waited(now)) {
			first = t
		}
	}
	if first != nil {
		return first
	}
	return c.silent(now)
}

// starvedAfter is how many times its own cost a silent unit waits at most until it is asked even though others
// lose a poll by that: one of thirty is less than the twentieth that they can spare.
const starvedAfter = 30

// silent is the unit without an answer in its last round that may be asked now, the one first that was asked longest
// ago. A few times it may at once when nobody else is due, and then only while that costs no other unit its beat.
func (c *collector) silent(now time.Time) *turn {
	var first *turn
	for _, t := range c.turns {
		if t.device.health.silent() && !t.busy && !t.due.After(now) && (first == nil || t.asked.Before(first.asked)) {
			first = t
		}
	}
	if first == nil || !c.answered() {
		return first
	}
	h := &first.device.health
	if now.Before(c.free) || h.absent() && !c.affords(h.cost, now) && now.Before(c.starved(first)) {
		return nil
	}
	return first
}

// answered says whether any unit of the line answers.
func (c *collector) answered() bool {
	return slices.ContainsFunc(c.turns, func(t *turn) bool { return !t.device.health.silent() })
}

// starved is when a silent unit is asked whatever it costs.
func (c *collector) starved(t *turn) time.Time {
	return c.probed.Add(starvedAfter * t.device.health.cost)
}

// affords says whether every unit that answers would still be asked before its next beat if the line were taken for
// the given time now: the earliest deadline first, each for as long as its last round took.
func (c *collector) affords(cost time.Duration, now time.Time) bool {
	var living []*turn
	for _, t := range c.turns {
		if !t.device.health.silent() {
			living = append(living, t)
		}
	}
	slices.SortFunc(living, func(a, b *turn) int { return a.beatAfter().Compare(b.beatAfter()) })
	at := now.Add(cost)
	for _, t := range living {
		if !at.Before(t.beatAfter()) {
			return false
		}
		at = at.Add(t.device.lasts())
	}
	return true
}

// beatAfter is the beat after the one that is due: whoever is asked later has lost a poll.
func (t *turn) beatAfter() time.Time { return t.due.Add(t.every) }

// rest is how long the line belongs to those that answer after a silent unit took it. On a serial line that unit is
// left alone for a time-out anyway, lest a late answer be taken for another one, and asking earlier would only hold
// the line.
func (c *collector) rest(d *device) time.Duration {
	if c.line.at.serialLine() {
		return min(d.health.cost, d.timeout)
	}
	return d.health.cost / 2
}

// wake is when next may have an answer.
func (c *collector) wake(now time.Time) time.Time {
	first := now.Add(time.Minute)
	sooner := func(t time.Time) {
		if t.After(now) && t.Before(first) {
			first = t
		}
	}
	for _, t := range c.turns {
		sooner(t.due)
		if t.device.health.silent() {
			sooner(c.free)
			sooner(c.starved(t))
		}
	}
	return first
}
