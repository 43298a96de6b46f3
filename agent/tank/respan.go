package tank

import (
	"fmt"
	"math"

	"gauger/eventrules"
)

const shiftBack = 240.0 // s of a fall that say where the level would be now

// drawsOn says that a level which jumped to x was falling as in a draw before the jump and
// falls on after it: a truck is loading while somebody spans the transmitter.
func (v *vessel) drawsOn(t *Tank, now, x float64) bool {
	p := v.pend
	l, ok := fit(between(v.buf, p.first.t-shiftBack, p.first.t))
	if !ok || !v.hot || p.first.t-v.fell > shiftBack {
		return false
	}
	least := 0.8 * t.Loads.MinRate / t.Table.PerInch(v.last.v) / 60
	after := (p.first.v - x) / math.Max(now-p.first.t, 1)
	return -l.slope >= least && after >= math.Max(least, -l.slope/3)
}

// shift carries what was read before a jump to the sensor's new span, so that the load
// that is under way stays one.
func (r *run) shift(i int, v *vessel, now, x float64) {
	p := v.pend
	l, _ := fit(between(v.buf, p.first.t-shiftBack, p.first.t))
	by := p.first.v - l.at(p.first.t)
	r.event(v, i, eventrules.Step, p.first.t, now, fmt.Sprintf("level stepped from %.2f to %.2f in at once during a draw: re-span by %+.2f in, the draw goes on at the new span", v.last.v, p.first.v, by))
	v.buf, v.hist = raised(v.buf, by, bufferMost), raised(v.hist, by, histMost)
	v.jumpAt = p.first.t
	v.put(grained(p.first.t, p.first.v, p.n))
	v.begin(now, x)
}
