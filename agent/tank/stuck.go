package tank

import "math"

// stuckSpan is a time over which a value stood still; the zero hang is none.
type stuckSpan struct{ from, to float64 }

// stuckBetween says that the value stood still from one draw until it came down at once, faster
// than any pump, in dense readings: a float that hung while the truck went on.
func (l *levels) stuckBetween(t *Tank, a, b draw) bool {
	rest := between(l.recent, a.end, b.start)
	most := t.Loads.TruckMax
	switch {
	case b.samples > 0 || len(rest) < stepFew || b.start-a.end > t.Loads.Stuck.Seconds():
		return false
	case t.volume(b) < 2*t.Loads.MaxRate*b.gap/60 || most > 0 && t.volume(a)+t.volume(b) > most:
		return false
	}
	for _, s := range rest[1:] {
		if s.v != rest[0].v {
			return false
		}
	}
	return true
}

// joinedOverStuck is one draw of two between which the value stood still: it went on as it had fallen,
// down to the level that was seen in the end.
func joinedOverStuck(a, b draw) draw {
	a.stuck = stuckSpan{a.end, b.end}
	end := crossing(a.endLine, line{b.end, b.closing.level, b.inflowAfter}, a.end, b.end)
	a.gap = math.Max(a.gap, b.end-a.end)
	a.closing, a.inflowAfter = b.closing, b.inflowAfter
	a.closing.level -= b.inflowAfter * (b.end - end)
	a.closing.away, a.closing.carried = b.end-end, b.end-end
	a.endLine.v += b.closing.level - a.endLine.at(b.end) + 1 // what comes now lies off the falling line
	a.end = end
	return a
}
