package modbus

import (
	"math"
	"slices"
	"time"

	"gauger/collectors"
)

// job is a device and when it is to be asked.
type job struct {
	device *device
	points []collectors.Point
	start  time.Time     // of its beat
	every  time.Duration // of its beat now
	due    time.Time
	asked  time.Time // when it was last asked; zero: never
	busy   bool      // its round is under way
}

func newJob(d *device) *job {
	t := &job{device: d, every: d.every}
	if d.everyWhileLoading == 0 {
		return t // nobody is going to be asked about its points
	}
	for i := range d.points {
		t.points = append(t.points, d.points[i].id())
	}
	return t
}

// setNextDue sets the next beat, which is a faster one while a tank of this device is being hauled.
func (t *job) setNextDue(host collectors.Host) {
	t.every = t.device.every
	if t.device.everyWhileLoading > 0 && host.Hurry(t.points) {
		t.every = t.device.everyWhileLoading
	}
	t.due = collectors.Phase{Start: t.start, Every: t.every}.After(t.asked)
}

// noDeadline is a deadline that lets everyone else pass.
var noDeadline = time.Unix(1<<40, 0)

// deadline is by when the unit should be asked: one interval after it was due. It counts from the last time that it
// was asked, so that units which all come late share the line alike.
func (t *job) deadline() time.Time {
	if t.asked.IsZero() {
		return t.due.Add(t.every)
	}
	return t.asked.Add(2 * t.every)
}

// intervalsWaited since the unit was asked, in its own intervals.
func (t *job) intervalsWaited(now time.Time) float64 {
	if t.asked.IsZero() {
		return math.Inf(1)
	}
	return float64(now.Sub(t.asked)) / float64(t.every)
}

// ready says whether the unit is due and answers.
func (t *job) ready(now time.Time) bool {
	return !t.busy && !t.device.health.silent() && !t.due.After(now)
}

// overtakes says whether the unit goes before one with the given deadline. In the first round nobody passes.
func (t *job) overtakes(now, deadline time.Time) bool {
	return t.ready(now) && !t.asked.IsZero() && t.asked.Before(now) && t.deadline().Before(deadline)
}

// nextJob is the unit that comes first, or nil when none does yet. Of those that are due it is the one that has
// waited longest, measured by its own interval: when the round does not fit into the intervals it then takes longer
// for all alike. A unit that was silent comes after all of them.
func (c *collector) nextJob(now time.Time) *job {
	var first *job
	for _, t := range c.jobs {
		if t.ready(now) && (first == nil || t.intervalsWaited(now) > first.intervalsWaited(now)) {
			first = t
		}
	}
	if first != nil {
		return first
	}
	return c.nextSilentJob(now)
}

// starvedAfter times its own cost at most a silent unit waits until it is asked even though others
// lose a poll by that: one of thirty is less than the twentieth that they can spare.
const starvedAfter = 30

// nextSilentJob is the unit without an answer in its last round that may be asked now, the one first that was asked longest
// ago. A few times it may at once when nobody else is due, and then only while that costs no other unit its beat.
func (c *collector) nextSilentJob(now time.Time) *job {
	var first *job
	for _, t := range c.jobs {
		if t.device.health.silent() && !t.busy && !t.due.After(now) && (first == nil || t.asked.Before(first.asked)) {
			first = t
		}
	}
	if first == nil || !c.anyAnswering() {
		return first
	}
	h := &first.device.health
	if now.Before(c.silentUnitsFrom) || h.absent() && !c.canAfford(h.probeCost, now) && now.Before(c.starvedAt(first)) {
		return nil
	}
	return first
}

// anyAnswering says whether any unit of the line answers.
func (c *collector) anyAnswering() bool {
	return slices.ContainsFunc(c.jobs, func(t *job) bool { return !t.device.health.silent() })
}

// starvedAt is the time from which on a silent unit is asked whatever it costs.
func (c *collector) starvedAt(t *job) time.Time {
	return c.lastSilentProbe.Add(starvedAfter * t.device.health.probeCost)
}

// canAfford says whether every unit that answers would still be asked before its next beat if the line were taken for
// the given time now: the earliest deadline first, each for as long as its last round took.
func (c *collector) canAfford(cost time.Duration, now time.Time) bool {
	var living []*job
	for _, t := range c.jobs {
		if !t.device.health.silent() {
			living = append(living, t)
		}
	}
	slices.SortFunc(living, func(a, b *job) int { return a.followingBeat().Compare(b.followingBeat()) })
	at := now.Add(cost)
	for _, t := range living {
		if !at.Before(t.followingBeat()) {
			return false
		}
		at = at.Add(t.device.roundDuration())
	}
	return true
}

// followingBeat is the beat after the one that is due: whoever is asked later has lost a poll.
func (t *job) followingBeat() time.Time { return t.due.Add(t.every) }

// pauseAfterSilence leaves the line to those that answer after a silent unit took it. On a serial line that unit is
// left alone for a time-out anyway, lest a late answer be taken for another one, and asking earlier would only hold
// the line.
func (c *collector) pauseAfterSilence(d *device) time.Duration {
	if c.line.Endpoint().IsSerial() {
		return min(d.health.probeCost, d.timeout)
	}
	return d.health.probeCost / 2
}

// wakeAt is the earliest time at which nextJob may have one.
func (c *collector) wakeAt(now time.Time) time.Time {
	first := now.Add(time.Minute)
	sooner := func(t time.Time) {
		if t.After(now) && t.Before(first) {
			first = t
		}
	}
	for _, t := range c.jobs {
		sooner(t.due)
		if t.device.health.silent() {
			sooner(c.silentUnitsFrom)
			sooner(c.starvedAt(t))
		}
	}
	return first
}
