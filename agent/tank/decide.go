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
func (u *update) decide(i int, ts *tankState, d draw, now float64) {
	t := &u.site.tanks[i]
	bbl := t.volume(d)
	removed := t.removedBbl(d)
	minutes := math.Max(d.end-d.start, 1) / 60
	switch {
	case t.Lact:
		u.addVerdict(i, ts, d, Metered, "a meter makes the tickets of this tank, never its level")
	case removed < t.Loads.MinLoad:
		u.smallDraw(i, ts, d, removed, now)
	case removed/minutes < 0.8*t.Loads.MinRate && d.samples > 0:
		u.addEvent(ts, i, eventrules.UnexplainedLoss, d.start, d.end, fmt.Sprintf("lost %.1f bbl at %.2f bbl/min, %.2f to %.2f in", removed, removed/minutes, d.opening.level, d.closing.level))
		u.eventVolume(removed, "")
		u.addVerdict(i, ts, d, TooSlow, fmt.Sprintf("%.2f bbl a minute, where min_rate is %g", removed/minutes, t.Loads.MinRate))
	case d.gap > t.Loads.MaxGapTicket.Seconds():
		u.addEvent(ts, i, eventrules.UnexplainedLoss, d.start, d.end, fmt.Sprintf("fell %.2f to %.2f in (%.1f bbl) over a gap of %s: too long for a ticket", d.opening.level, d.closing.level, bbl, spanText(d.gap)))
		u.eventVolume(removed, "")
		u.addVerdict(i, ts, d, TooLongUnseen, fmt.Sprintf("no reading came for %s, and max_gap_ticket is %s", spanText(d.gap), spanText(t.Loads.MaxGapTicket.Seconds())))
	case ts.aux.waterDrawn(t, d, &ts.levels):
		u.addEvent(ts, i, eventrules.WaterDraw, d.start, d.end, fmt.Sprintf("%.1f bbl of water drawn, %.2f to %.2f in; the interface fell with the level", removed, d.opening.level, d.closing.level))
		u.eventVolume(removed, "")
		u.addVerdict(i, ts, d, WaterDrawn, "the oil/water interface fell with the level")
	default:
		u.oilDraw(i, ts, d, removed, now)
	}
}

// smallDraw counts a draw below the least load, and whether its oil came back.
func (u *update) smallDraw(i int, ts *tankState, d draw, removed, now float64) {
	t := &u.site.tanks[i]
	back, returned := "", 0.0
	if fall := d.opening.level - d.closing.level; ts.regained(t, d, now) >= explainedShare*fall && !u.othersGaveBack(i, d, now) {
		removed = t.volume(d) // what came back is no inflow
		returned = removed
		back = fmt.Sprintf(", and the %.1f in came back", fall)
	}
	u.addVerdict(i, ts, d, TooSmall, fmt.Sprintf("%.1f bbl of the %g that min_load wants", removed, t.Loads.MinLoad)+back)
	ts.smallDraws.add(d, removed, returned)
}

// oilDraw decides about a draw that took oil out of the tank.
func (u *update) oilDraw(i int, ts *tankState, d draw, removed, now float64) {
	if u.jumped && d.end > ts.last.t-echoLong && u.jumpedTo-d.closing.level >= explainedShare*(d.opening.level-d.closing.level) {
		u.addVerdict(i, ts, d, Echo, "the level was back at once")
		return // a false echo that was believed, and told of as a step
	}
	name, rose := u.othersRoseOver(i, d)
	if rose >= explainedShare*removed && !u.explainsRise(i, d, removed) {
		d.rival = fmt.Sprintf("tank %s rose by %.1f bbl meanwhile, and more than one tank fell", name, rose)
		rose = 0
	}
	if rose < explainedShare*removed {
		if into, ok := u.filledWhileDrawn(i, d); ok {
			name, rose = into, removed
		}
	}
	if into, ok := u.evenedOut(i, d); ok {
		name, rose = into, removed
	}
	if rose >= explainedShare*removed {
		note := fmt.Sprintf("%.1f bbl moved to tank %s, %.2f to %.2f in", removed, name, d.opening.level, d.closing.level)
		if d.samples == 0 {
			note = fmt.Sprintf("%.1f bbl went, %.2f to %.2f in, and may have moved to tank %s: no reading came meanwhile, so that nobody saw it", removed, d.opening.level, d.closing.level, name)
		}
		u.addEvent(ts, i, eventrules.Transfer, d.start, d.end, note)
		u.eventVolume(removed, name)
		u.addVerdict(i, ts, d, Transferred, fmt.Sprintf("meanwhile other tanks rose by %.1f bbl, most of all %s", rose, name))
		return
	}
	if back := ts.regained(&u.site.tanks[i], d, now); back >= explainedShare*(d.opening.level-d.closing.level) && !u.othersGaveBack(i, d, now) {
		u.addEvent(ts, i, eventrules.Recirculation, d.start, d.end, fmt.Sprintf("%.1f bbl out, %.2f to %.2f in, and %.2f in came back", u.site.tanks[i].volume(d), d.opening.level, d.closing.level, back))
		u.addVerdict(i, ts, d, Recirculated, fmt.Sprintf("%.1f in of the %.1f in came back", back, d.opening.level-d.closing.level))
		return
	}
	switch t := &u.site.tanks[i]; {
	case t.Group != "":
		u.startJointly(i, ts, &d)
	case t.Valve:
		ts.startAndEndByValve(t, &d)
	}
	if d.stuck.to > 0 {
		u.addEvent(ts, i, eventrules.Stuck, d.stuck.from, d.stuck.to, fmt.Sprintf("value stood still for %s during a load, then came down to %.2f in at once", spanText(d.stuck.to-d.stuck.from), d.closing.level))
	}
	l := u.makeLoad(i, ts, d)
	u.addEvidence(i, ts, d, now, &l)
	ts.reports.keep(l, d)
	u.out = append(u.out, Outcome{Load: &l})
}

// waterDrawn says that the interface fell as the level did: water was drawn from below.
func (x *auxiliary) waterDrawn(t *Tank, d draw, levels *levels) bool {
	if !t.Interface {
		return false
	}
	fell, ok := x.waterFell(d.start, d.end)
	return ok && fell >= explainedShare*(d.opening.level-d.closing.level) && x.waterFollowed(d, fell, levels)
}

// othersRoseOver is the tank that rose most over a draw, and the barrels that all others rose: from
// before it to after it, also where a gap hid its ends.
func (s siteTanks) othersRoseOver(i int, d draw) (name string, bbl float64) {
	return s.othersRose(i, d.start-30-d.opening.away, d.end+150+d.closing.away)
}

// othersRose is the tank that rose most in a time in which this one fell, and the barrels that
// all others rose beyond their own inflow.
func (s siteTanks) othersRose(i int, from, to float64) (name string, bbl float64) {
	best := 0.0
	for j := range s.site.tanks {
		o := &s.site.tanks[j]
		if j == i || o.Group != "" && o.Group == s.site.tanks[i].Group {
			continue
		}
		other := s.st.tanks[j]
		rose := other.rise(o, from, to)
		if rose > best {
			best, name = rose, o.ID
		}
		bbl += math.Max(0, rose)
	}
	return name, bbl
}

// rise is the volume in barrels that a tank gained between two times beyond its inflow;
// 0 where its level is not known.
func (ts *tankState) rise(t *Tank, from, to float64) float64 {
	bbl, _ := ts.riseKnown(t, from, to, 2*levelFar)
	return bbl
}

// riseKnown is rise, and whether the levels are known where a silence of some seconds hides them.
func (ts *tankState) riseKnown(t *Tank, from, to, silence float64) (bbl float64, ok bool) {
	a, ok1 := ts.levels.within(from, silence)
	b, ok2 := ts.levels.within(to, silence)
	if !ok1 || !ok2 {
		return 0, false
	}
	va, _ := t.Table.Extrapolated(a)
	vb, _ := t.Table.Extrapolated(b)
	return vb - va - ts.inflow(t, from).usual*(to-from)*t.Table.PerInch(a), true
}

// about is the level at a time, of the samples within 15 minutes.
func (l *levels) about(at float64) (float64, bool) { return l.within(at, 2*levelFar) }

// within is the level at a time, of samples that no longer silence parts; before the first one
// and after the last one that of the nearest, for half as long.
func (l *levels) within(at, silence float64) (float64, bool) {
	k := searchTime(l.recent, at)
	if k < len(l.recent) && k > 0 && l.recent[k].t-l.recent[k-1].t <= silence {
		a, b := l.recent[k-1], l.recent[k]
		w := (at - a.t) / (b.t - a.t)
		return float64(a.v) + w*float64(b.v-a.v), true
	}
	if k == len(l.recent) && k > 0 && at-l.recent[k-1].t <= silence/2 {
		return float64(l.recent[k-1].v), true
	}
	if k == 0 && len(l.recent) > 0 && l.recent[0].t-at <= silence/2 {
		return float64(l.recent[0].v), true
	}
	return 0, false
}

// regained is how much of its fall the level has won back since a draw, beyond the
// inflow, inches.
func (ts *tankState) regained(t *Tank, d draw, now float64) float64 {
	high := 0.0
	for _, n := range nodes(between(ts.levels.recent, d.end+60, now), nodeEvery) {
		if n.t > d.end+t.Loads.Confirm.Seconds() && n.v < d.closing.level+high {
			break
		}
		high = math.Max(high, n.v-d.closing.level-d.usualInflow*(n.t-d.end))
	}
	return high
}

// stillReturning says that oil is still coming back after the confirmation: it may yet prove
// a recirculation.
func (ts *tankState) stillReturning(t *Tank, d draw, now float64) bool {
	if now > d.end+4*t.Loads.Confirm.Seconds() {
		return false
	}
	a, ok1 := ts.levels.about(ts.last.t - 600)
	b, ok2 := ts.levels.about(ts.last.t - 20)
	per := t.Table.PerInch(b)
	flows := ok1 && ok2 && ts.last.t-600 > d.end && (b-a-d.usualInflow*580)*per >= t.Loads.MinRate*580/60
	back := b - d.closing.level - d.usualInflow*(ts.last.t-20-d.end) // as regained counts it
	return flows && back > 0.15*(d.opening.level-d.closing.level) && back < explainedShare*(d.opening.level-d.closing.level)
}

// othersGaveBack says that what came back came out of another tank of the site, so that it does not
// undo the draw.
func (s siteTanks) othersGaveBack(i int, d draw, now float64) bool {
	to := math.Min(now, d.end+s.site.tanks[i].Loads.Confirm.Seconds())
	for j := range s.site.tanks {
		o := &s.site.tanks[j]
		if j == i || o.Group != "" && o.Group == s.site.tanks[i].Group {
			continue
		}
		if -s.st.tanks[j].rise(o, d.end+60, to) >= explainedShare*explainedShare*s.site.tanks[i].volume(d) {
			return true
		}
	}
	return false
}
