package tank

import (
	"fmt"
	"math"
	"time"

	"gauger/eventrules"
)

const (
	stepWorth  = 30.0   // s of a clock's step that is worth an event
	stepSmall  = 600.0  // s; smaller steps that come again and again, as of a clock that is set each hour, are told of once
	firstSet   = 6e8    // s, some twenty years; a clock that steps so far had begun in 1970
	badClose   = 1800.0 // s without a bad value that end an episode
	badFew     = 2      // bad values that make an episode
	spikeClose = 7200.0
	spikeFew   = 6
	episodeDay = 86400.0 // s within which the same fault is told of once
	blindLong  = 3600.0  // s of bad values alone, after which they are told of at once
	smallDay   = 86400.0
	smallWorth = 5.0 // bbl a day
)

// addEvent tells of something between two site times.
func (r *update) addEvent(v *tankState, i int, rule string, start, end float64, note string) {
	id := r.site.tanks[i].ID
	wall := func(at float64) time.Time { return v.clock.wall(at / r.site.speed) }
	e := &Event{Rule: rule, Tank: id, Note: "tank " + id + ": " + note, Start: wall(start), End: wall(math.Max(start, end))}
	r.out = append(r.out, Outcome{Event: e})
}

// eventVolume says of the newest event how much oil it is about, and where that went.
func (r *update) eventVolume(bbl float64, to string) {
	e := r.out[len(r.out)-1].Event
	e.Bbl, e.To = bbl, to
}

// reportEpisodes closes the episodes that are over.
func (r *update) reportEpisodes(i int, v *tankState, now float64) {
	if s := v.badValues; v.badValues.tell(now, badClose, badFew) || v.blinded(now) {
		v.badValues = episode{sum: now}
		r.addEvent(v, i, eventrules.BadValue, s.start, s.last, fmt.Sprintf("%d readings that are no level: not a number, or out of range as %g", s.n, s.at))
	}
	if s := v.spikes; v.spikes.tell(now, spikeClose, spikeFew) {
		v.spikes = episode{sum: now}
		r.addEvent(v, i, eventrules.SpikeRate, s.start, s.last, fmt.Sprintf("%d jumps that came back at once, the last to %.2f in", s.n, s.at))
	}
	r.reportStuck(i, v, now)
	r.findReturned(i, v, now)
	r.retimeWhenHeld(i, v, now)
	r.findSlowLoss(i, v, now)
	if s := v.smallDraws; s.active && now-s.start >= smallDay {
		v.smallDraws = episode{}
		if s.sum >= smallWorth {
			note := fmt.Sprintf("%d draws below %.0f bbl, %.1f bbl together", s.n, r.site.tanks[i].Loads.MinLoad, s.sum)
			if v.smallReturned > 0 {
				note += fmt.Sprintf("; %.1f bbl of them came back", v.smallReturned)
			}
			r.addEvent(v, i, eventrules.SmallDraws, s.start, s.last, note)
		}
	}
}

// blinded says that for an hour there was no level but bad values, and nobody was told since.
func (v *tankState) blinded(now float64) bool {
	s := v.badValues
	return s.active && s.n >= badFew && s.last-v.last.t >= blindLong && now-s.last < badClose && (s.sum < v.last.t || s.sum > s.last)
}

// clockMoved tells of a step of the clock of a tank's readings, and what it does to the loads that were reported.
func (r *update) clockMoved(i int, v *tankState, now, step float64, lost bool) {
	if math.Abs(step) < stepWorth {
		return
	}
	r.reportClockStep(i, v, now, step)
	if !lost {
		r.retimeAfterStep(i, v, now, step)
	}
}

// reportClockStep tells of a step of the clock.
func (r *update) reportClockStep(i int, v *tankState, now, step float64) {
	again := v.clockStep != 0 && now-v.clockSteppedAt < episodeDay && math.Abs(step) < stepSmall && math.Abs(step) < 2*math.Abs(v.clockStep)
	v.clockSteppedAt, v.clockStep = now, step
	if again {
		return
	}
	note := fmt.Sprintf("the clock of its readings stepped by %+.0f s", step)
	if step >= firstSet {
		note = "the clock of its readings, which had not been set, was set"
	}
	r.addEvent(v, i, eventrules.ClockStep, now, now, note)
}

// reportGap tells of a silence and what the level did over it, and what was shown instead.
func (r *update) reportGap(i int, v *tankState, now, x float64, shown heldValue) {
	r.flush(i, v)
	if v.interval.n < 8 && now-v.last.t < 3600 {
		return
	}
	showed := ""
	if shown.seconds > 0 {
		showed = fmt.Sprintf(" (it showed %.2f in for %s)", shown.level, spanText(shown.seconds))
	}
	r.addEvent(v, i, eventrules.Gap, v.last.t, now, fmt.Sprintf("no reading to believe for %s%s, level %.2f in before, %.2f in after", spanText(now-v.last.t), showed, v.last.v, x))
}

// respan takes a jump that stayed as a new calibration of the sensor: what was before is
// decided as it stands, and nothing is compared across it.
func (r *update) respan(i int, v *tankState, now, x float64) {
	r.flush(i, v)
	p := v.pending
	if v.fallsOn(&r.site.tanks[i], now, x) {
		r.respanDuringDraw(i, v, now, x)
		return
	}
	r.addEvent(v, i, eventrules.Step, p.first.t, now, fmt.Sprintf("level stepped from %.2f to %.2f in at once and stayed: re-span or false echo, no ticket across it", v.last.v, p.first.v))
	r.jumped, r.jumpedTo = true, p.first.v
	r.correctStepped(i, v, v.last.v, p.first)
	if v.drawing {
		r.judgeDraws(i, v, now, true)
	}
	if p.first.v > v.last.v {
		v.jumpedUpAt = p.first.t
	}
	v.recent, v.drawing, v.firstSeen = nil, false, nil
	v.decidedTo, v.jumpedAt = p.first.t-1, p.first.t
	v.put(grained(p.first.t, p.first.v, p.count)) // a load may have begun since
	v.beginAt(now, x)
}

// unfreeze takes the time of a frozen value as a gap that ends at a reading.
func (r *update) unfreeze(i int, v *tankState, to point) {
	r.flush(i, v)
	since := v.heldSince
	r.addEvent(v, i, eventrules.Stuck, since, to.t, fmt.Sprintf("value stood at %.2f in for %s, then came to %.2f in", v.last.v, spanText(to.t-since), to.v))
	r.correctFrozen(i, v, since, to)
	k := min(searchTime(v.recent, since)+1, len(v.recent))
	v.recent = append(make([]sample, 0, recentMost), v.recent[:k]...)
	h := searchTime(v.history, since)
	v.history = v.history[:h:h]
	v.unfrozeAt, v.noise.sigma = to.t, v.noise.sigmaAtChange
	v.last, v.heldSince, v.pending, v.stuckReported = point{since, v.last.v}, to.t, pending{}, false
	v.put(grained(to.t, to.v, 1))
	r.watch(i, v, v.recent[len(v.recent)-1])
}

// beginAt takes x as the level from now on, after values that were not believed.
func (v *tankState) beginAt(now, x float64) {
	v.last, v.heldSince, v.timeUnknown, v.pending = point{now, x}, now, false, pending{}
	v.bin = bin{}
	v.bin.add(now, x)
}
