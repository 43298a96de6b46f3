package tank

import (
	"fmt"
	"math"
	"slices"

	"gauger/agent/eventrules"
	"gauger/agent/tank/stats"
)

const (
	lossWindow = 8 * 3600.0 // s over which a slow loss is looked for
	lossLeast  = 4 * 3600.0
	lossEvery  = 1200.0
	lossBbl    = 8.0 // bbl and inches that neither drift nor foam explain
	lossIn     = 4.5
	lossTop    = 0.3        // in below the highest level at which a loss has begun
	slowShare  = 0.5        // of what a tank lost over another's draw, that a load of its share holds at least
	swellTimes = 3.0        // times what a well made, which rises behind a load that it is not
	foamLong   = 4.5 * 3600 // s that a lift of the level may take to go down again
)

// findSlowLoss tells of a loss that is too slow for a draw.
func (u *update) findSlowLoss(i int, ts *tankState, now float64) {
	n := len(ts.levels.history)
	if n == 0 || now < ts.slow.checkAt || ts.drawing || ts.noise.hidesLevel() {
		return
	}
	ts.slow.checkAt = now + lossEvery
	t := &u.site.tanks[i]
	first := ts.levels.quietFrom(now-lossWindow, ts.faults.jumpedUpAt)
	a, z := ts.levels.history[first], ts.levels.history[n-1]
	per := t.Table.PerInch(float64(z.v))
	fell := float64(a.v - z.v)
	if z.t-a.t < lossLeast || fell < lossIn || fell*per < lossBbl || !ts.levels.evenFall(first, fell) {
		if !ts.slow.loss.active || fell < lossIn/2 && z.t-a.t >= lossLeast {
			u.endSlowLoss(i, ts, z)
			return
		}
	}
	l := &ts.slow.loss
	if l.active {
		if in := l.top - float64(z.v); in > l.inches {
			l.last, l.inches = z.t, in
		}
		return
	}
	a, z = ts.levels.topAndBottom(first)
	*l = slowLoss{active: true, start: a.t, last: z.t, kind: lossUnexplained, top: float64(a.v), inches: float64(a.v - z.v)}
	if name, rose := u.othersRose(i, a.t, z.t); rose >= explainedShare*l.inches*per && u.explainsRise(i, l.asDraw(), l.inches*per) {
		l.kind = lossMoved
		u.addMovement(i, eventrules.Transfer, a.t, z.t, l.bbl(t), name, fmt.Sprintf("%.1f bbl run slowly over to tank %s, %.2f to %.2f in", l.inches*per, name, a.v, z.v))
		u.addVerdict(i, l.asDraw(), Transferred, fmt.Sprintf("meanwhile other tanks rose slowly by %.1f bbl, most of all %s", rose, name))
		return
	}
	rate := l.inches * per / (z.t - a.t) * 60
	e := u.addMovement(i, eventrules.UnexplainedLoss, a.t, z.t, l.bbl(t), "", fmt.Sprintf("level went down slowly from %.2f to %.2f in, %.1f bbl at %.2f bbl/min, and %.1f that flowed in", a.v, z.v, l.inches*per, rate, u.site.SlowLoss(*u.st, i).In))
	e.Slow = true
	u.addVerdict(i, l.asDraw(), TooSlow, fmt.Sprintf("%.2f bbl a minute for hours, where min_rate is %g", rate, t.Loads.MinRate))
}

// endSlowLoss tells how much a slow loss took, when it has ended and was much more than first told.
func (u *update) endSlowLoss(i int, ts *tankState, z sample) {
	l := ts.slow.loss
	ts.slow.loss.active = false
	per := u.site.tanks[i].Table.PerInch(float64(z.v))
	if l.active && l.kind == lossMoved { // the verdict of when it was reported gives way to the whole
		u.addVerdict(i, l.asDraw(), Transferred, "meanwhile other tanks rose slowly")
	}
	if !l.active || l.kind == lossMoved || l.last-l.start < 1.3*lossWindow || l.inches*per < 2*lossBbl {
		return
	}
	e := u.addMovement(i, eventrules.UnexplainedLoss, l.start, l.last, l.bbl(&u.site.tanks[i]), "", fmt.Sprintf("level went down slowly from %.2f to %.2f in, %.1f bbl; it has ended", l.top, l.top-l.inches, l.inches*per))
	e.Slow = true
}

// quietFrom is the first point of the history from which on, after a time, nothing but slow
// change happened.
func (l *levels) quietFrom(from, jumpedUpAt float64) int {
	if jumpedUpAt > 0 {
		from = math.Max(from, jumpedUpAt+foamLong)
	}
	k := len(l.history) - 1
	for k > 0 && l.history[k-1].t >= from && l.history[k].flags != unlinked {
		k--
	}
	return k
}

// topAndBottom are the last point of the history, from one on, at which the level was about its highest, where a loss began, and the
// lowest behind it, from where on the well made up for it.
func (l *levels) topAndBottom(first int) (top, low sample) {
	high := l.history[first].v
	for _, h := range l.history[first:] {
		high = max(high, h.v)
	}
	k := len(l.history) - 1
	for low = l.history[k]; k > first && l.history[k].v < high-lossTop; k-- {
		if l.history[k].v < low.v {
			low = l.history[k]
		}
	}
	return l.history[k], low
}

// evenFall says that both halves of a fall share it.
func (l *levels) evenFall(first int, fell float64) bool {
	mid := l.history[(first+len(l.history)-1)/2]
	half := float64(l.history[first].v - mid.v)
	return half > 0.3*fell && half < 0.7*fell
}

// slowShares makes a load of what each tank of the same group gave to one in which no draw was found: it followed through the equaliser more
// slowly than a pump draws, and longer. It closes when that one does, however much of its share is still to come. Where that is none it says so.
func (u *update) slowShares(i int, d draw, removed, now float64) (why []string) {
	least, alone, until := math.Max(partBbl, wrongBbl(removed)), d.samples == 0 || u.fellAlone(i, d), d
	if !u.fellAlone(i, d) { // else what it gives later is no part of the draw
		until.evened = math.Max(d.evened, d.end+u.site.tanks[i].Loads.GroupSettle.Seconds())
	}
	for j, o := range u.mates(i) {
		ts := u.st.tanks[j]
		known := slices.ContainsFunc(ts.reports.loads, func(l reportedLoad) bool { return l.end > d.start && l.start < d.end })
		if known || slices.ContainsFunc(u.drawsOf(j), func(x draw) bool {
			from, _ := u.jointly(j, x)
			return x.end > d.start-jointLead && x.start < d.end+jointLead && (from < x.start || x.start < d.end)
		}) {
			continue
		}
		gave, x := u.gaveOver(j, until), shareOf(ts, o, d, now)
		if !alone {
			u.opensTogether(j, ts, &x)
			u.readTogether(j, ts, &x)
		}
		further := x.fall()-d.fall() > partBbl/o.Table.PerInch(x.closing.level) // than the one that it follows
		switch share := o.volume(x); {
		case !alone && !further && share > least && (gave > 0 && share >= slowShare*gave || x.uneven):
			ts = u.writable(j)
			ts.lastDrawStart, ts.lastDrawEnd, ts.decidedTo = x.start, x.end, math.Max(ts.decidedTo, x.end)
			u.oilLoad(j, ts, x, o.removedBbl(x), now)
		case gave > least:
			why = append(why, fmt.Sprintf("tank %s of its group gave %.1f bbl too slowly for a load of its own: they are in no ticket", o.ID, gave))
		}
	}
	return why
}

// togetherRate are the barrels a minute that left all tanks of a group over a draw of one, of which that one's own are given: min_rate is a truck's.
func (s siteTanks) togetherRate(i int, d draw, own float64) float64 {
	if s.site.tanks[i].Group == "" {
		return own
	}
	d.start, d.end = s.jointly(i, d)
	return own + (s.groupBbl(i, d)-s.site.tanks[i].volume(d))/math.Max(d.end-d.start, 1)*60
}

// goesOn says that one draw from another tank of a group lasted from a time until behind another: a truck that stood in between.
func (s siteTanks) goesOn(i int, from, to float64) bool {
	for j := range s.mates(i) {
		if slices.ContainsFunc(s.drawsOf(j), func(x draw) bool { return x.start < from && x.end > to+joinWithin }) {
			return true
		}
	}
	return false
}

// fallsOn is the index of the first of some samples behind a time from which on they fall by more than so much, and by more than the noise.
func fallsOn(b []sample, from, least, noise float64) int {
	top := searchTime(b, from)
	for k := top; k < len(b); k++ {
		if b[k].v >= b[top].v {
			top = k
		} else if float64(b[top].v-b[k].v) >= least {
			for high := top; k > top; k-- {
				if float64(b[high].v-b[k].v) <= noise {
					return k
				}
			}
			return top
		}
	}
	return len(b)
}

// restsFrom is the index of the first of some samples, from one on, behind which they fall by no more than so much.
func restsFrom(b []sample, from int, least float64) int {
	k, low := len(b)-1, b[len(b)-1].v
	for ; k > from && float64(b[k-1].v-min(low, b[k-1].v)) < least; k-- {
		low = min(low, b[k-1].v)
	}
	return k
}

// lastApart is how far a group's tank lies from its share of what all of them hold, when the equaliser has done its work, or before the draw where the next one
// comes sooner. Where nothing was read then it is as last seen: tanks that report only changes are silent as soon as they are even.
func (s siteTanks) lastApart(ts *tankState, d draw, mates []int, share, per float64, in bounds, seen float64) (inches float64, even bool) {
	off := func(from, to float64) (v []float64) {
		for _, x := range between(ts.levels.recent, from, to) {
			if in, ok := s.heldBy(mates, x.t, per); ok {
				v = append(v, float64(x.v)-share*(float64(x.v)+in))
			}
		}
		return v
	}
	if d.uneven {
		return d.apart, false
	}
	if v := off(in.lo, math.Min(in.lo+gaugeAfter, in.hi)); len(v) > 0 {
		return stats.Median(v), true
	}
	if v := off(d.start-pauseSure-levelFar, d.start-rampClear); len(v) > 0 && !d.bySum {
		return stats.Median(v), false
	}
	return seen, false
}

// apartAt is how far each tank of a group lies at a time from where they would all stand even, and by how much they fell together since another.
func (s siteTanks) apartAt(i int, d draw, at, since float64) (inches []float64, fell float64, ok bool) {
	bbl, per := 0.0, 0.0
	for j, o := range s.group(i) {
		v, known := s.st.tanks[j].levels.held(at)
		was, before := s.st.tanks[j].levels.held(since)
		if !known || !before {
			return nil, 0, false
		}
		inches = append(inches, v)
		holds, _ := o.Table.Extrapolated(v)
		bbl, per, fell = bbl+holds, per+o.Table.PerInch(d.closing.level), fell+o.barrels(was, v)
	}
	for k := range inches {
		inches[k] -= bbl / per
	}
	return inches, fell / per, true
}

// comeBack says that the tanks of a group stood about even before a draw, and at a time behind it still come back to that through the equaliser: not all
// that it will do is done. As all of them are read by what they had at one instant then, their closings add up to the oil that is there.
func (s siteTanks) comeBack(i int, d draw, at float64) bool {
	off := func(from float64) (sum, was float64) {
		for k := range coursePoints {
			t := from - comesFor*float64(k)/coursePoints
			stood, _, known := s.apartAt(i, d, d.start-rampClear-comesFor*float64(k)/coursePoints, d.start)
			lies, fell, seen := s.apartAt(i, d, t, d.start)
			if !known || !seen {
				return math.NaN(), 0
			}
			for n := range lies {
				if math.Abs(stood[n]) > math.Min(evenNear, math.Max(evenShare*fell, 1)) {
					return math.NaN(), 0
				}
				sum, was = sum+math.Abs(lies[n]-stood[n]), was+math.Abs(stood[n])
			}
		}
		return sum, was
	}
	now, stood := off(at)
	before, _ := off(at - 2*comesFor)
	return now < comesShare*before && now > comesFar*stood // else what a dump had left uneven before says less than what is left of it now
}

// shareOf is the draw of a group's tank that gave its part of another's too slowly to be found.
func shareOf(ts *tankState, t *Tank, of draw, now float64) draw {
	made := ts.inflow(t, of.start)
	d := draw{start: of.start, end: of.end, evened: of.evened, oilTo: of.end, share: true, parts: 1, samples: len(between(ts.levels.recent, of.start, of.end)), next: of.next, leaptAt: math.Inf(1),
		within: bounds{ts.decidedTo, math.Min(of.within.hi, now)}, inflowBefore: made.last, inflowAfter: made.usual, usualInflow: made.usual, inflow: made,
		resolution: reportsOf(ts, of.start, of.end)}
	open, _ := ts.levels.held(d.start)
	d.opening.level = open
	ts.moveStart(t, &d, math.Inf(-1), d.start)
	d.closing.level, _ = ts.levels.held(d.end)
	d.endLine = line{d.end, d.closing.level, of.endLine.slope} // it is the truck's end that is seen
	return d
}

// opensTogether gives a group's tank that the next truck finds uneven its share of what all of them hold for its opening, where the load before
// closed at that: what still evens out belongs to that one. What a tank gave while the others still gave to that load is the end of it, and opens nothing.
func (s siteTanks) opensTogether(i int, ts *tankState, d *draw) {
	t, n := &s.site.tanks[i], len(ts.reports.loads)
	if t.Group == "" || n == 0 || d.start-ts.reports.loads[n-1].end > evenLongest {
		return
	}
	if _, told := s.jointly(i, asDraws(ts.reports.loads[n-1:])[0]); d.start < told {
		return
	}
	known, share := s.joined(i, *d)
	per, before := t.Table.PerInch(d.closing.level), ts.reports.loads[n-1]
	in, ok := s.heldBy(known, d.start, per)
	off, _ := s.lastApart(ts, draw{start: before.start}, known, share, per, bounds{math.Inf(1), math.Inf(1)}, 0)
	even := off + share*(d.opening.level+in)
	if apart := math.Abs(d.opening.level - even); ok && len(known) > 0 && apart*per > partBbl && math.Abs(before.closing-even) < math.Abs(before.closing-d.opening.level) {
		d.opening.level, d.uneven, d.apart = even, true, off
	}
}

// withoutTold takes out of a group's draw what a ticket of the same tank has already: the levels between which both fell, as long as the tank was not
// read at the closing of the other, or that ended later. A closing of tanks that are yet to come even lies below their readings.
func withoutTold(ts *tankState, t *Tank, d *draw) {
	per := t.Table.PerInch(d.closing.level)
	for _, l := range ts.reports.loads {
		if d.bySum || l.start > d.end || l.end < d.start-evenLongest {
			continue
		}
		low := math.Min(d.opening.level, l.opening)
		for _, x := range between(ts.levels.recent, l.end, d.start) {
			low = math.Min(low, float64(x.v))
		}
		if both := low - math.Max(d.closing.level, l.closing); both*per > wrongBbl(t.volume(*d)) {
			d.opening.level -= both
			d.doubt("%.1f bbl of it are in the ticket before, and not in this one", both*per)
		}
	}
}

// fellTogether tells of draws from several tanks at one time that are a load together and none alone, when the last of them is decided: no group
// joins the tanks, and so no ticket has it, but an equaliser may.
func (u *update) fellTogether(i int, d draw, removed float64) {
	from, to, tanks := d.start, d.end, 1
	for j, o := range u.separate(i) {
		small := u.st.tanks[j].smallDraws
		for k, x := range u.drawsOf(j) {
			switch beside := x.start < d.end && x.end > d.start; {
			case beside && k > 0 && o.removedBbl(x) < o.Loads.MinLoad:
				return
			case beside && k == 0 && x.end == small.last:
				from, to, tanks, removed = math.Min(from, x.start), math.Max(to, x.end), tanks+1, removed+small.lastBbl
			}
		}
	}
	if _, rose := u.othersRose(i, from, to); tanks > 1 && removed >= u.site.tanks[i].Loads.MinLoad && rose < explainedShare*removed {
		u.addEvent(i, eventrules.UnexplainedLoss, from, to, fmt.Sprintf("it and %d other tanks fell together by %.1f bbl, each by less than min_load: a truck may have had them through an equaliser, and as no group joins them there is no ticket", tanks-1, removed))
	}
}

// takeSwollen takes the well at what it made before for a draw behind which the level rose for long as no well of the site did in all that is known, and no
// other tank gave it, and asks: foam came up, or oil in by another way, and none of that flowed in while the truck loaded.
func (u *update) takeSwollen(i int, ts *tankState, d *draw, now float64) {
	t, until := &u.site.tanks[i], d.watched(&u.site.tanks[i], now)
	per, made, h := t.Table.PerInch(d.closing.level), max(d.inflowBefore, d.usualInflow), ts.levels.history
	rose := (d.inflowAfter - made) * (until - d.end) * per
	if t.Group != "" || !d.inflow.known || len(h) == 0 || d.start-h[0].t < lossWindow || d.inflowAfter <= swellTimes*made ||
		(d.inflowAfter-made)*(d.end-d.start)*per <= wrongBbl(t.volume(*d)) || u.othersLost(i, d.end, until) >= (1-explainedShare)*rose {
		return
	}
	if came, err, ok := cameChanged(ts, t, *d); ok && came > fitSure*err { // the fall shows that it came meanwhile too: a well's pump was started
		return
	}
	for j := range u.site.tanks {
		o, other := &u.site.tanks[j], u.st.tanks[j]
		if other.levels.roseAlike(d.start, until, d.inflowAfter*per/o.Table.PerInch(other.last.v)) {
			return
		}
	}
	d.doubt("level rose behind it by %.1f bbl a minute, as no well of the site did in the hours before it: foam, or oil from elsewhere, which is not taken for its inflow", d.inflowAfter*per*60)
	d.inflowAfter = made
}

// sankInto ends a draw before the level sank behind it because its oil went to another tank, which rose by as much, as no well filled either, and says
// so: what stood until then is the closing, and no foam was on it.
func (s siteTanks) sankInto(i int, d *draw, now float64) bool {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	until := d.watched(t, now)
	sank := ts.levels.sink(d.end+settleShort, until, math.Inf(-1)) * t.Table.PerInch(d.closing.level)
	for j, o := range s.separate(i) {
		other := s.st.tanks[j]
		rose, seen := other.riseKnown(o, d.end, until, other.interval.gapMin(o, s.site.speed))
		long := (until - d.end) / 2
		if seen && rose >= math.Max(partBbl, explainedShare*sank) && other.levels.mostRisen(d.end, until, long) > burstTimes*other.levels.mostRisen(d.start-learnFrom, d.start, long) && !s.wellTurned(i, j, d.end, until) {
			d.next = math.Max(d.end+settleShort, other.levels.roseIn(d.end, until, other.inflow(o, d.end).usual).lo-nodeEvery)
			d.doubt("tank %s rose by %.1f bbl behind it while this one sank: they moved there and are not in it", o.ID, rose)
			return true
		}
	}
	return false
}

// fillTimes are the seconds over which a tank's rise between two times is compared with what wells do: of a few readings, and as long as it took,
// for what a separator dumps at once is as fast, and soon over.
func fillTimes(ts *tankState, from, to, each float64) []float64 {
	each = math.Max(each, math.Min(ts.interval.fresh(), (to-from)/float64(1+changesIn(between(ts.levels.recent, from, to))))) // one that reports only changes is read where it rises
	burst, span := math.Max(burstSeconds, 3*each), ts.levels.roseIn(from, to, 0)
	return []float64{burst, math.Max(burst, 0.8*(span.hi-span.lo))}
}
