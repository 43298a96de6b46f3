package tank

import "math"

// hang is a time over which a value stood still; the zero hang is none.
type hang struct{ from, to float64 }

// stuckBetween says that the value stood still from one draw until it came down at once, faster
// than any pump, in dense readings: a float that hung while the truck went on.
func (v *vessel) stuckBetween(t *Tank, a, b draw) bool {
	rest := between(v.buf, a.end, b.start)
	most := t.Loads.TruckMax
	switch {
	case b.inner > 0 || len(rest) < stepFew || b.start-a.end > t.Loads.Stuck.Seconds():
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

// unstuck is one draw of two between which the value stood still: it went on as it had fallen,
// down to the level that was seen in the end.
func unstuck(a, b draw) draw {
	a.stuck = hang{a.end, b.end}
	end := cross(a.tail, line{b.end, b.close.v, b.after}, a.end, b.end)
	a.gap = math.Max(a.gap, b.end-a.end)
	a.close, a.after = b.close, b.after
	a.close.v -= b.after * (b.end - end)
	a.close.away, a.close.lean = b.end-end, b.end-end
	a.tail.v += b.close.v - a.tail.at(b.end) + 1 // what comes now lies off the falling line
	a.end = end
	return a
}
