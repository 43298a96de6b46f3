package tank

import "math"

// The contact on the load valve says when a load began and ended, and what is one load. It may
// chatter, stick, be wired the wrong way round or die: what it says counts only where oil left
// while it was open. Whether anything left is the level's to say, always.

const (
	valveFar    = 1800.0 // s between a contact and the flow that it is about
	valveSlack  = 120.0  // s by which the level may see a start too early, or an end too late
	valveBounce = 60.0   // s; a contact that closes for less chatters
	valveShare  = 0.8    // of a draw that lies in one opening
)

// opening is a time over which the load valve was open; to is +Inf where it still is.
type opening struct{ from, to float64 }

// openings are the times over which the load valve was open, without its chatter.
func (x *auxiliary) openings() []opening {
	var out []opening
	for _, p := range x.values[valveAt] {
		n := len(out)
		switch {
		case p.v == 0:
			if n > 0 {
				out[n-1].to = p.t
			}
		case n > 0 && p.t-out[n-1].to < valveBounce:
			out[n-1].to = math.Inf(1)
		default:
			out = append(out, opening{p.t, math.Inf(1)})
		}
	}
	return out
}

// openingOf is the opening that the greater part of a draw lies in, and whether there is one.
func (x *auxiliary) openingOf(t *Tank, d draw) (opening, bool) {
	if !t.Valve || t.Group != "" {
		return opening{}, false
	}
	for _, o := range x.openings() {
		in := math.Min(o.to, d.end) - math.Max(o.from, d.start)
		if in >= valveShare*(d.end-d.start) {
			return o, true
		}
	}
	return opening{}, false
}

// oneOpening says whether the valve was open from one draw to the next, so that they are one
// load, or was shut between them for so long that they are two; sure is false where the
// contact tells neither.
func (x *auxiliary) oneOpening(t *Tank, a, b draw) (one, sure bool) {
	first, ok1 := x.openingOf(t, a)
	second, ok2 := x.openingOf(t, b)
	switch {
	case !ok1 || !ok2:
		return false, false
	case first != second:
		return false, second.from-first.to >= pauseSure
	}
	shut := first.to-b.end < valveFar || math.IsInf(first.to, 1) && b.start-a.end < valveFar
	most := t.Loads.TruckMax
	one = shut && a.start-first.from < valveFar && (most == 0 || t.volume(a)+t.volume(b) <= most)
	return one, one
}

// startAndEndByValve gives a draw the instants at which the load valve was opened and closed. Where the
// level saw the flow a little outside of them the gauges stay.
func (ts *tankState) startAndEndByValve(t *Tank, d *draw) {
	first, last := *d, *d
	if d.parts > 1 { // the valve may have been shut in a pause
		first.end, last.start = math.Min(d.end, d.start+valveSlack), math.Max(d.start, d.end-valveSlack)
	}
	if o, ok := ts.aux.openingOf(t, first); ok && d.start-o.from < valveFar && o.from-d.start < valveSlack {
		d.setByValve = true
		if o.from < d.start {
			ts.moveStart(t, d, math.Inf(-1), o.from)
		}
		d.start = math.Min(o.from, d.end)
	}
	if o, ok := ts.aux.openingOf(t, last); ok && d.end-o.to < valveSlack && o.to-d.end < valveFar {
		d.setByValve = true
		if o.to > d.end {
			ts.moveEnd(t, d, o.to)
		}
		d.end = math.Max(o.to, d.start)
	}
}
