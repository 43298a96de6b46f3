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
	blindLong  = 3600.0 // s of bad values alone, after which they are told of at once
	smallDay   = 86400.0
	smallWorth = 5.0 // bbl a day
)

// addEvent tells of something between two site times.
func (u *update) addEvent(ts *tankState, i int, rule string, start, end float64, note string) {
	id := u.site.tanks[i].ID
	wall := func(at float64) time.Time { return ts.clock.wall(at / u.site.speed) }
	e := &Event{Rule: rule, Tank: id, Note: "tank " + id + ": " + note, Start: wall(start), End: wall(math.Max(start, end))}
	u.out = append(u.out, Outcome{Event: e})
}

// eventVolume says of the newest event how much oil it is about, and where that went.
func (u *update) eventVolume(bbl float64, to string) {
	e := u.out[len(u.out)-1].Event
	e.Bbl, e.To = bbl, to
}

// reportEpisodes closes the episodes that are over.
func (u *update) reportEpisodes(i int, ts *tankState, now float64) {
	if s := ts.faults.badValues; ts.faults.badValues.due(now, badClose, badFew) || ts.faults.blinded(ts.last.t, now) {
		ts.faults.badValues = repeatedFault{toldAt: now}
		u.addEvent(ts, i, eventrules.BadValue, s.start, s.last, fmt.Sprintf("%d readings that are no level: not a number, or out of range as %g", s.n, s.lastValue))
	}
	if s := ts.faults.spikes; ts.faults.spikes.due(now, spikeClose, spikeFew) {
		ts.faults.spikes = repeatedFault{toldAt: now}
		u.addEvent(ts, i, eventrules.SpikeRate, s.start, s.last, fmt.Sprintf("%d jumps that came back at once, the last to %.2f in", s.n, s.lastValue))
	}
	u.reportStuck(i, ts, now)
	u.findReturned(i, ts, now)
	u.retimeWhenHeld(i, ts, now)
	u.findSlowLoss(i, ts, now)
	if s := ts.smallDraws; s.active && now-s.start >= smallDay {
		ts.smallDraws = smallDraws{returned: s.returned}
		if s.bbl >= smallWorth {
			note := fmt.Sprintf("%d draws below %.0f bbl, %.1f bbl together", s.n, u.site.tanks[i].Loads.MinLoad, s.bbl)
			if s.returned > 0 {
				note += fmt.Sprintf("; %.1f bbl of them came back", s.returned)
			}
			u.addEvent(ts, i, eventrules.SmallDraws, s.start, s.last, note)
		}
	}
}

// blinded says that for an hour there was no level but bad values, and nobody was told since.
func (f *faults) blinded(lastLevel, now float64) bool {
	s := f.badValues
	return s.active && s.n >= badFew && s.last-lastLevel >= blindLong && now-s.last < badClose && (s.toldAt < lastLevel || s.toldAt > s.last)
}

// clockMoved tells of a step of the clock of a tank's readings, and what it does to the loads that were reported.
func (u *update) clockMoved(i int, ts *tankState, now, step float64, lost bool) {
	if math.Abs(step) < stepWorth {
		return
	}
	u.reportClockStep(i, ts, now, step)
	if !lost {
		u.retimeAfterStep(i, ts, now, step)
	}
}

// reportClockStep tells of a step of the clock.
func (u *update) reportClockStep(i int, ts *tankState, now, step float64) {
	again := ts.faults.clockStep != 0 && now-ts.faults.clockSteppedAt < episodeDay && math.Abs(step) < stepSmall && math.Abs(step) < 2*math.Abs(ts.faults.clockStep)
	ts.faults.clockSteppedAt, ts.faults.clockStep = now, step
	if again {
		return
	}
	note := fmt.Sprintf("the clock of its readings stepped by %+.0f s", step)
	if step >= firstSet {
		note = "the clock of its readings, which had not been set, was set"
	}
	u.addEvent(ts, i, eventrules.ClockStep, now, now, note)
}

// reportGap tells of a silence and what the level did over it, and what was shown instead.
func (u *update) reportGap(i int, ts *tankState, now, x float64, shown heldValue) {
	u.flush(i, ts)
	if ts.interval.n < 8 && now-ts.last.t < 3600 {
		return
	}
	showed := ""
	if shown.seconds > 0 {
		showed = fmt.Sprintf(" (it showed %.2f in for %s)", shown.level, spanText(shown.seconds))
	}
	u.addEvent(ts, i, eventrules.Gap, ts.last.t, now, fmt.Sprintf("no reading to believe for %s%s, level %.2f in before, %.2f in after", spanText(now-ts.last.t), showed, ts.last.v, x))
}

// respan takes a jump that stayed as a new calibration of the sensor: what was before is
// decided as it stands, and nothing is compared across it.
func (u *update) respan(i int, ts *tankState, now, x float64) {
	u.flush(i, ts)
	p := ts.pending
	if ts.fallsOn(&u.site.tanks[i], now, x) {
		u.respanDuringDraw(i, ts, now, x)
		return
	}
	u.addEvent(ts, i, eventrules.Step, p.first.t, now, fmt.Sprintf("level stepped from %.2f to %.2f in at once and stayed: re-span or false echo, no ticket across it", ts.last.v, p.first.v))
	u.jumped, u.jumpedTo = true, p.first.v
	u.correctStepped(i, ts, ts.last.v, p.first)
	if ts.drawing {
		u.judgeDraws(i, ts, now, true)
	}
	if p.first.v > ts.last.v {
		ts.faults.jumpedUpAt = p.first.t
	}
	ts.levels.recent, ts.drawing, ts.firstSeen = nil, false, nil
	ts.decidedTo, ts.faults.jumpedAt = p.first.t-1, p.first.t
	ts.levels.put(grained(p.first.t, p.first.v, p.count), ts.drawPhase, ts.faults.jumpedAt) // a load may have begun since
	ts.beginAt(now, x)
}

// unfreeze takes the time of a frozen value as a gap that ends at a reading.
func (u *update) unfreeze(i int, ts *tankState, to point) {
	u.flush(i, ts)
	since := ts.heldSince
	u.addEvent(ts, i, eventrules.Stuck, since, to.t, fmt.Sprintf("value stood at %.2f in for %s, then came to %.2f in", ts.last.v, spanText(to.t-since), to.v))
	u.correctFrozen(i, ts, since, to)
	k := min(searchTime(ts.levels.recent, since)+1, len(ts.levels.recent))
	ts.levels.recent = append(make([]sample, 0, recentMost), ts.levels.recent[:k]...)
	h := searchTime(ts.levels.history, since)
	ts.levels.history = ts.levels.history[:h:h]
	ts.faults.unfrozeAt, ts.noise.sigma = to.t, ts.noise.sigmaAtChange
	ts.last, ts.heldSince, ts.pending, ts.faults.stuckReported = point{since, ts.last.v}, to.t, pending{}, false
	ts.levels.put(grained(to.t, to.v, 1), ts.drawPhase, ts.faults.jumpedAt)
	u.watch(i, ts, ts.levels.recent[len(ts.levels.recent)-1])
}

// beginAt takes x as the level from now on, after values that were not believed.
func (r *readings) beginAt(now, x float64) {
	r.last, r.heldSince, r.timeUnknown, r.pending = point{now, x}, now, false, pending{}
	r.bin = bin{}
	r.bin.add(now, x)
}
