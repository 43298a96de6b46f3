package tank

import (
	"fmt"
	"math"

	"gauger/eventrules"
)

const (
	explainedShare = 0.6   // the share of a draw that has to show elsewhere to explain it
	levelFar       = 900.0 // s from the nearest sample at which a level is still known
)

// decide says what a finished draw was.
func (r *update) decide(i int, v *tankState, d draw, now float64) {
	t := &r.site.tanks[i]
	bbl := t.volume(d)
	removed := t.removedBbl(d)
	minutes := math.Max(d.end-d.start, 1) / 60
	switch {
	case t.Lact:
		r.addVerdict(i, v, d, Metered, "a meter makes the tickets of this tank, never its level")
	case removed < t.Loads.MinLoad:
		r.smallDraw(i, v, d, removed, now)
	case removed/minutes < 0.8*t.Loads.MinRate && d.samples > 0:
		r.addEvent(v, i, eventrules.UnexplainedLoss, d.start, d.end, fmt.Sprintf("lost %.1f bbl at %.2f bbl/min, %.2f to %.2f in", removed, removed/minutes, d.opening.level, d.closing.level))
		r.eventVolume(removed, "")
		r.addVerdict(i, v, d, TooSlow, fmt.Sprintf("%.2f bbl a minute, where min_rate is %g", removed/minutes, t.Loads.MinRate))
	case d.gap > t.Loads.MaxGapTicket.Seconds():
		r.addEvent(v, i, eventrules.UnexplainedLoss, d.start, d.end, fmt.Sprintf("fell %.2f to %.2f in (%.1f bbl) over a gap of %s: too long for a ticket", d.opening.level, d.closing.level, bbl, spanText(d.gap)))
		r.eventVolume(removed, "")
		r.addVerdict(i, v, d, TooLongUnseen, fmt.Sprintf("no reading came for %s, and max_gap_ticket is %s", spanText(d.gap), spanText(t.Loads.MaxGapTicket.Seconds())))
	case v.waterDrawn(t, d):
		r.addEvent(v, i, eventrules.WaterDraw, d.start, d.end, fmt.Sprintf("%.1f bbl of water drawn, %.2f to %.2f in; the interface fell with the level", removed, d.opening.level, d.closing.level))
		r.eventVolume(removed, "")
		r.addVerdict(i, v, d, WaterDrawn, "the oil/water interface fell with the level")
	default:
		r.oilDraw(i, v, d, removed, now)
	}
}

// smallDraw counts a draw below the least load, and whether its oil came back.
func (r *update) smallDraw(i int, v *tankState, d draw, removed, now float64) {
	t := &r.site.tanks[i]
	if !v.smallDraws.active {
		v.smallReturned = 0
	}
	back := ""
	if fall := d.opening.level - d.closing.level; v.regained(t, d, now) >= explainedShare*fall && !r.othersGaveBack(i, d, now) {
		removed = t.volume(d) // what came back is no inflow
		v.smallReturned += removed
		back = fmt.Sprintf(", and the %.1f in came back", fall)
	}
	r.addVerdict(i, v, d, TooSmall, fmt.Sprintf("%.1f bbl of the %g that min_load wants", removed, t.Loads.MinLoad)+back)
	v.smallDraws.add(d.end, removed)
	v.smallDraws.start = math.Min(v.smallDraws.start, d.start)
}

// oilDraw decides about a draw that took oil out of the tank.
func (r *update) oilDraw(i int, v *tankState, d draw, removed, now float64) {
	if r.jumped && d.end > v.last.t-echoLong && r.jumpedTo-d.closing.level >= explainedShare*(d.opening.level-d.closing.level) {
		r.addVerdict(i, v, d, Echo, "the level was back at once")
		return // a false echo that was believed, and told of as a step
	}
	name, rose := r.othersRoseOver(i, d)
	if rose >= explainedShare*removed && !r.explainsRise(i, d, removed) {
		d.rival = fmt.Sprintf("tank %s rose by %.1f bbl meanwhile, and more than one tank fell", name, rose)
		rose = 0
	}
	if rose < explainedShare*removed {
		if into, ok := r.filledWhileDrawn(i, d); ok {
			name, rose = into, removed
		}
	}
	if into, ok := r.evenedOut(i, d); ok {
		name, rose = into, removed
	}
	if rose >= explainedShare*removed {
		note := fmt.Sprintf("%.1f bbl moved to tank %s, %.2f to %.2f in", removed, name, d.opening.level, d.closing.level)
		if d.samples == 0 {
			note = fmt.Sprintf("%.1f bbl went, %.2f to %.2f in, and may have moved to tank %s: no reading came meanwhile, so that nobody saw it", removed, d.opening.level, d.closing.level, name)
		}
		r.addEvent(v, i, eventrules.Transfer, d.start, d.end, note)
		r.eventVolume(removed, name)
		r.addVerdict(i, v, d, Transferred, fmt.Sprintf("meanwhile other tanks rose by %.1f bbl, most of all %s", rose, name))
		return
	}
	if back := v.regained(&r.site.tanks[i], d, now); back >= explainedShare*(d.opening.level-d.closing.level) && !r.othersGaveBack(i, d, now) {
		r.addEvent(v, i, eventrules.Recirculation, d.start, d.end, fmt.Sprintf("%.1f bbl out, %.2f to %.2f in, and %.2f in came back", r.site.tanks[i].volume(d), d.opening.level, d.closing.level, back))
		r.addVerdict(i, v, d, Recirculated, fmt.Sprintf("%.1f in of the %.1f in came back", back, d.opening.level-d.closing.level))
		return
	}
	switch t := &r.site.tanks[i]; {
	case t.Group != "":
		r.startJointly(i, v, &d)
	case t.Valve:
		v.startAndEndByValve(t, &d)
	}
	if d.stuck.to > 0 {
		r.addEvent(v, i, eventrules.Stuck, d.stuck.from, d.stuck.to, fmt.Sprintf("value stood still for %s during a load, then came down to %.2f in at once", spanText(d.stuck.to-d.stuck.from), d.closing.level))
	}
	l := r.makeLoad(i, v, d)
	r.addEvidence(i, v, d, now, &l)
	v.keepReported(l, d)
	r.out = append(r.out, Outcome{Load: &l})
}

// waterDrawn says that the interface fell as the level did: water was drawn from below.
func (v *tankState) waterDrawn(t *Tank, d draw) bool {
	if !t.Interface {
		return false
	}
	fell, ok := v.waterFell(d.start, d.end)
	return ok && fell >= explainedShare*(d.opening.level-d.closing.level) && v.waterFollowed(d, fell)
}

// othersRoseOver is the tank that rose most over a draw, and the barrels that all others rose: from
// before it to after it, also where a gap hid its ends.
func (r *update) othersRoseOver(i int, d draw) (name string, bbl float64) {
	return r.othersRose(i, d.start-30-d.opening.away, d.end+150+d.closing.away)
}

// othersRose is the tank that rose most in a time in which this one fell, and the barrels that
// all others rose beyond their own inflow.
func (r *update) othersRose(i int, from, to float64) (name string, bbl float64) {
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
func (v *tankState) rise(t *Tank, from, to float64) float64 {
	bbl, _ := v.riseKnown(t, from, to, 2*levelFar)
	return bbl
}

// riseKnown is rise, and whether the levels are known where a silence of some seconds hides them.
func (v *tankState) riseKnown(t *Tank, from, to, silence float64) (bbl float64, ok bool) {
	a, ok1 := v.levelWithin(from, silence)
	b, ok2 := v.levelWithin(to, silence)
	if !ok1 || !ok2 {
		return 0, false
	}
	va, _ := t.Table.Extrapolated(a)
	vb, _ := t.Table.Extrapolated(b)
	return vb - va - v.inflow(t, from).usual*(to-from)*t.Table.PerInch(a), true
}

// levelAbout is the level at a time, of the samples within 15 minutes.
func (v *tankState) levelAbout(at float64) (float64, bool) { return v.levelWithin(at, 2*levelFar) }

// levelWithin is the level at a time, of samples that no longer silence parts; before the first one
// and after the last one that of the nearest, for half as long.
func (v *tankState) levelWithin(at, silence float64) (float64, bool) {
	k := searchTime(v.recent, at)
	if k < len(v.recent) && k > 0 && v.recent[k].t-v.recent[k-1].t <= silence {
		a, b := v.recent[k-1], v.recent[k]
		w := (at - a.t) / (b.t - a.t)
		return float64(a.v) + w*float64(b.v-a.v), true
	}
	if k == len(v.recent) && k > 0 && at-v.recent[k-1].t <= silence/2 {
		return float64(v.recent[k-1].v), true
	}
	if k == 0 && len(v.recent) > 0 && v.recent[0].t-at <= silence/2 {
		return float64(v.recent[0].v), true
	}
	return 0, false
}

// regained is how much of its fall the level has won back since a draw, beyond the
// inflow, inches.
func (v *tankState) regained(t *Tank, d draw, now float64) float64 {
	high := 0.0
	for _, n := range nodes(between(v.recent, d.end+60, now), nodeEvery) {
		if n.t > d.end+t.Loads.Confirm.Seconds() && n.v < d.closing.level+high {
			break
		}
		high = math.Max(high, n.v-d.closing.level-d.usualInflow*(n.t-d.end))
	}
	return high
}

// stillReturning says that oil is still coming back after the confirmation: it may yet prove
// a recirculation.
func (v *tankState) stillReturning(t *Tank, d draw, now float64) bool {
	if now > d.end+4*t.Loads.Confirm.Seconds() {
		return false
	}
	a, ok1 := v.levelAbout(v.last.t - 600)
	b, ok2 := v.levelAbout(v.last.t - 20)
	per := t.Table.PerInch(b)
	flows := ok1 && ok2 && v.last.t-600 > d.end && (b-a-d.usualInflow*580)*per >= t.Loads.MinRate*580/60
	back := b - d.closing.level - d.usualInflow*(v.last.t-20-d.end) // as regained counts it
	return flows && back > 0.15*(d.opening.level-d.closing.level) && back < explainedShare*(d.opening.level-d.closing.level)
}

// othersGaveBack says that what came back came out of another tank of the site, so that it does not
// undo the draw.
func (r *update) othersGaveBack(i int, d draw, now float64) bool {
	to := math.Min(now, d.end+r.site.tanks[i].Loads.Confirm.Seconds())
	for j := range r.site.tanks {
		o := &r.site.tanks[j]
		if j == i || o.Group != "" && o.Group == r.site.tanks[i].Group {
			continue
		}
		if -r.st.tanks[j].rise(o, d.end+60, to) >= explainedShare*explainedShare*r.site.tanks[i].volume(d) {
			return true
		}
	}
	return false
}
