package tank

import (
	"fmt"

	"gauger/agent/eventrules"
)

// respanDuringDraw carries what was read before a jump to the sensor's new span, so that the load
// that is under way stays one.
func (u *update) respanDuringDraw(i int, ts *tankState, now, x float64) {
	p := ts.pending
	l, _ := fit(between(ts.levels.recent, p.first.t-fallWindow, p.first.t))
	by := p.first.v - l.at(p.first.t)
	u.addEvent(ts, i, eventrules.Step, p.first.t, now, fmt.Sprintf("level stepped from %.2f to %.2f in at once during a draw: re-span by %+.2f in, the draw goes on at the new span", ts.last.v, p.first.v, by))
	ts.levels.recent, ts.levels.history = raisedSamples(ts.levels.recent, by, recentMost), raisedSamples(ts.levels.history, by, historyMost)
	ts.faults.jumpedAt = p.first.t
	ts.levels.put(grained(p.first.t, p.first.v, p.count), ts.drawPhase, ts.faults.jumpedAt)
	ts.beginAt(now, x)
}

// respan takes a jump that stayed as a new calibration of the sensor: nothing is compared across it. What waits for its
// confirmation is decided when the sensor has calmed down.
func (u *update) respan(i int, ts *tankState, now, x float64) {
	u.flush(i, ts)
	p := ts.pending
	if lately := ts.faults.jumpedAt > 0 && p.first.t-ts.faults.jumpedAt < jumpLately; !lately && ts.fallsOn(&u.site.tanks[i], now, x) {
		u.respanDuringDraw(i, ts, now, x)
		return
	}
	u.addEvent(ts, i, eventrules.Step, p.first.t, now, fmt.Sprintf("level stepped from %.2f to %.2f in at once and stayed: re-span or false echo, no ticket across it", ts.last.v, p.first.v))
	u.correctStepped(i, ts, ts.last.v, p.first)
	if p.first.v > ts.last.v {
		ts.faults.jumpedUpAt = p.first.t
	}
	if !ts.drawing {
		ts.levels.recent, ts.decidedTo = nil, p.first.t-1
	}
	ts.faults.jumpedAt = p.first.t
	s := grained(p.first.t, p.first.v, p.count) // a load may have begun since
	s.flags = unlinked
	ts.levels.put(s, ts.drawPhase, ts.faults.jumpedAt)
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
