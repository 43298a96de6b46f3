package tank

import (
	"fmt"
	"math"

	"gauger/eventrules"
)

const (
	most     = 0.6   // the share of a draw that has to show elsewhere to explain it
	aboutFar = 900.0 // s from the nearest sample at which a level is still known
)

// decide says what a finished draw was.
func (r *run) decide(i int, v *vessel, d draw, now float64) {
	t := &r.site.tanks[i]
	bbl := t.volume(d)
	removed := t.removed(d)
	minutes := math.Max(d.end-d.start, 1) / 60
	switch {
	case t.Lact:
		r.drop(i, v, d, Metered, "a meter makes the tickets of this tank, never its level")
	case removed < t.Loads.MinLoad:
		r.small(i, v, d, removed, now)
	case removed/minutes < 0.8*t.Loads.MinRate && d.inner > 0:
		r.event(v, i, eventrules.UnexplainedLoss, d.start, d.end, fmt.Sprintf("lost %.1f bbl at %.2f bbl/min, %.2f to %.2f in", removed, removed/minutes, d.open.v, d.close.v))
		r.moved(removed, "")
		r.drop(i, v, d, TooSlow, fmt.Sprintf("%.2f bbl a minute, where min_rate is %g", removed/minutes, t.Loads.MinRate))
	case d.gap > t.Loads.MaxGapTicket.Seconds():
		r.event(v, i, eventrules.UnexplainedLoss, d.start, d.end, fmt.Sprintf("fell %.2f to %.2f in (%.1f bbl) over a gap of %s: too long for a ticket", d.open.v, d.close.v, bbl, span(d.gap)))
		r.moved(removed, "")
		r.drop(i, v, d, TooLongUnseen, fmt.Sprintf("no reading came for %s, and max_gap_ticket is %s", span(d.gap), span(t.Loads.MaxGapTicket.Seconds())))
	case v.waterLeft(t, d):
		r.event(v, i, eventrules.WaterDraw, d.start, d.end, fmt.Sprintf("%.1f bbl of water drawn, %.2f to %.2f in; the interface fell with the level", removed, d.open.v, d.close.v))
		r.moved(removed, "")
		r.drop(i, v, d, WaterDrawn, "the oil/water interface fell with the level")
	default:
		r.oil(i, v, d, removed, now)
	}
}

// small counts a draw below the least load, and whether its oil came back.
func (r *run) small(i int, v *vessel, d draw, removed, now float64) {
	t := &r.site.tanks[i]
	if !v.small.open {
		v.rolled = 0
	}
	back := ""
	if fall := d.open.v - d.close.v; v.regained(t, d, now) >= most*fall && !r.gave(i, d, now) {
		removed = t.volume(d) // what came back is no inflow
		v.rolled += removed
		back = fmt.Sprintf(", and the %.1f in came back", fall)
	}
	r.drop(i, v, d, TooSmall, fmt.Sprintf("%.1f bbl of the %g that min_load wants", removed, t.Loads.MinLoad)+back)
	v.small.add(d.end, removed)
	v.small.start = math.Min(v.small.start, d.start)
}

// oil decides about a draw that took oil out of the tank.
func (r *run) oil(i int, v *vessel, d draw, removed, now float64) {
	if r.stepped && d.end > v.last.t-echoLong && r.steppedTo-d.close.v >= most*(d.open.v-d.close.v) {
		r.drop(i, v, d, Echo, "the level was back at once")
		return // a false echo that was believed, and told of as a step
	}
	name, rose := r.received(i, d)
	if rose >= most*removed && !r.explained(i, d, removed) {
		d.beside = fmt.Sprintf("tank %s rose by %.1f bbl meanwhile, and more than one tank fell", name, rose)
		rose = 0
	}
	if rose < most*removed {
		if into, ok := r.filledWhileDrawn(i, d); ok {
			name, rose = into, removed
		}
	}
	if into, ok := r.evenedOut(i, d); ok {
		name, rose = into, removed
	}
	if rose >= most*removed {
		note := fmt.Sprintf("%.1f bbl moved to tank %s, %.2f to %.2f in", removed, name, d.open.v, d.close.v)
		if d.inner == 0 {
			note = fmt.Sprintf("%.1f bbl went, %.2f to %.2f in, and may have moved to tank %s: no reading came meanwhile, so that nobody saw it", removed, d.open.v, d.close.v, name)
		}
		r.event(v, i, eventrules.Transfer, d.start, d.end, note)
		r.moved(removed, name)
		r.drop(i, v, d, Transferred, fmt.Sprintf("meanwhile other tanks rose by %.1f bbl, most of all %s", rose, name))
		return
	}
	if back := v.regained(&r.site.tanks[i], d, now); back >= most*(d.open.v-d.close.v) && !r.gave(i, d, now) {
		r.event(v, i, eventrules.Recirculation, d.start, d.end, fmt.Sprintf("%.1f bbl out, %.2f to %.2f in, and %.2f in came back", r.site.tanks[i].volume(d), d.open.v, d.close.v, back))
		r.drop(i, v, d, Recirculated, fmt.Sprintf("%.1f in of the %.1f in came back", back, d.open.v-d.close.v))
		return
	}
	switch t := &r.site.tanks[i]; {
	case t.Group != "":
		r.jointly(i, v, &d)
	case t.Valve:
		v.byValve(t, &d)
	}
	if d.stuck.to > 0 {
		r.event(v, i, eventrules.Stuck, d.stuck.from, d.stuck.to, fmt.Sprintf("value stood still for %s during a load, then came down to %.2f in at once", span(d.stuck.to-d.stuck.from), d.close.v))
	}
	l := r.load(i, v, d)
	r.witness(i, v, d, now, &l)
	v.remember(l, d)
	r.out = append(r.out, Outcome{Load: &l})
}

// waterLeft says that the interface fell as the level did: water was drawn from below.
func (v *vessel) waterLeft(t *Tank, d draw) bool {
	if !t.Interface {
		return false
	}
	fell, ok := v.waterFell(d.start, d.end)
	return ok && fell >= most*(d.open.v-d.close.v) && v.waterFollowed(d, fell)
}

// received is the tank that rose most over a draw, and the barrels that all others rose: from
// before it to after it, also where a gap hid its ends.
func (r *run) received(i int, d draw) (name string, bbl float64) {
	return r.risen(i, d.start-30-d.open.away, d.end+150+d.close.away)
}

// risen is the tank that rose most in a time in which this one fell, and the barrels that
// all others rose beyond their own inflow.
func (r *run) risen(i int, from, to float64) (name string, bbl float64) {
	best := 0.0
	for j := range r.site.tanks {
		o := &r.site.tanks[j]
		if j == i || o.Group != "" && o.Group == r.site.tanks[i].Group {
			continue
		}
		w := r.st.tanks[j]
		rose := w.rise(o, from, to)
		if rose > best {
			best, name = rose, o.ID
		}
		bbl += math.Max(0, rose)
	}
	return name, bbl
}

// rise is the volume in barrels that a tank gained between two times beyond its inflow;
// 0 where its level is not known.
func (v *vessel) rise(t *Tank, from, to float64) float64 {
	bbl, _ := v.rose(t, from, to, 2*aboutFar)
	return bbl
}

// rose is rise, and whether the levels are known where a silence of some seconds hides them.
func (v *vessel) rose(t *Tank, from, to, silence float64) (bbl float64, ok bool) {
	a, ok1 := v.within(from, silence)
	b, ok2 := v.within(to, silence)
	if !ok1 || !ok2 {
		return 0, false
	}
	va, _ := t.Table.Extrapolated(a)
	vb, _ := t.Table.Extrapolated(b)
	return vb - va - v.inflow(t, from).usual*(to-from)*t.Table.PerInch(a), true
}

// about is the level at a time, of the samples within 15 minutes.
func (v *vessel) about(at float64) (float64, bool) { return v.within(at, 2*aboutFar) }

// within is the level at a time, of samples that no longer silence parts; before the first one
// and after the last one that of the nearest, for half as long.
func (v *vessel) within(at, silence float64) (float64, bool) {
	k := lower(v.buf, at)
	if k < len(v.buf) && k > 0 && v.buf[k].t-v.buf[k-1].t <= silence {
		a, b := v.buf[k-1], v.buf[k]
		w := (at - a.t) / (b.t - a.t)
		return float64(a.v) + w*float64(b.v-a.v), true
	}
	if k == len(v.buf) && k > 0 && at-v.buf[k-1].t <= silence/2 {
		return float64(v.buf[k-1].v), true
	}
	if k == 0 && len(v.buf) > 0 && v.buf[0].t-at <= silence/2 {
		return float64(v.buf[0].v), true
	}
	return 0, false
}

// regained is how much of its fall the level has won back since a draw, beyond the
// inflow, inches.
func (v *vessel) regained(t *Tank, d draw, now float64) float64 {
	high := 0.0
	for _, n := range nodes(between(v.buf, d.end+60, now), cell) {
		if n.t > d.end+t.Loads.Confirm.Seconds() && n.v < d.close.v+high {
			break
		}
		high = math.Max(high, n.v-d.close.v-d.usual*(n.t-d.end))
	}
	return high
}

// returning says that oil is still coming back after the confirmation: it may yet prove
// a recirculation.
func (v *vessel) returning(t *Tank, d draw, now float64) bool {
	if now > d.end+4*t.Loads.Confirm.Seconds() {
		return false
	}
	a, ok1 := v.about(v.last.t - 600)
	b, ok2 := v.about(v.last.t - 20)
	per := t.Table.PerInch(b)
	flows := ok1 && ok2 && v.last.t-600 > d.end && (b-a-d.usual*580)*per >= t.Loads.MinRate*580/60
	back := b - d.close.v - d.usual*(v.last.t-20-d.end) // as regained counts it
	return flows && back > 0.15*(d.open.v-d.close.v) && back < most*(d.open.v-d.close.v)
}

// gave says that what came back came out of another tank of the site, so that it does not
// undo the draw.
func (r *run) gave(i int, d draw, now float64) bool {
	to := math.Min(now, d.end+r.site.tanks[i].Loads.Confirm.Seconds())
	for j := range r.site.tanks {
		o := &r.site.tanks[j]
		if j == i || o.Group != "" && o.Group == r.site.tanks[i].Group {
			continue
		}
		if -r.st.tanks[j].rise(o, d.end+60, to) >= most*most*r.site.tanks[i].volume(d) {
			return true
		}
	}
	return false
}
