package tank

import (
	"fmt"
	"math"

	"gauger/eventrules"
)

const fallWindow = 240.0 // s of a fall that say where the level would be now

// fallsOn says that a level which jumped to x was falling as in a draw before the jump and
// falls on after it: a truck is loading while somebody spans the transmitter.
func (ts *tankState) fallsOn(t *Tank, now, x float64) bool {
	p := ts.pending
	l, ok := fit(between(ts.levels.recent, p.first.t-fallWindow, p.first.t))
	if !ok || !ts.drawing || p.first.t-ts.lastFallAt > fallWindow {
		return false
	}
	least := 0.8 * t.Loads.MinRate / t.Table.PerInch(ts.last.v) / 60
	after := (p.first.v - x) / math.Max(now-p.first.t, 1)
	return -l.slope >= least && after >= math.Max(least, -l.slope/3)
}

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
