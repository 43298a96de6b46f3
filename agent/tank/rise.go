package tank

import (
	"fmt"
	"math"
	"slices"
)

const (
	partMoved    = 0.1    // share of a draw that shows in another tank, from which on it moved there
	burstSeconds = 300.0  // s, of three readings at least, in which a rise shows how fast a tank is filled
	lagMost      = 1800.0 // s by which a gateway tells of a level late
	burstTimes   = 1.5    // times what it rose in as long before
)

// rise is the volume in barrels that a tank gained between two times beyond its inflow;
// 0 where its level is not known.
func (ts *tankState) rise(t *Tank, from, to float64) float64 {
	bbl, _ := ts.riseKnown(t, from, to, 2*levelFar)
	return bbl
}

// riseKnown is rise, and whether the levels are known where a silence of some seconds hides them.
func (ts *tankState) riseKnown(t *Tank, from, to, silence float64) (bbl float64, ok bool) {
	b := between(ts.levels.recent, from, to)
	if k := newestLeap(b); k >= 0 { // nothing is compared across a jump
		if b[k].t-from > silence/2 {
			return 0, false
		}
		from = b[k].t
	}
	low, ok1 := ts.levels.within(from, silence)
	high, ok2 := ts.levels.within(to, silence)
	if !ok1 || !ok2 || ts.noise.hidesLevel() {
		return 0, false
	}
	made := ts.inflow(t, from)
	if !made.known {
		made.usual = ts.levels.roseBefore(from, to-from)
	}
	return t.barrels(high, low) - made.usual*(to-from)*t.Table.PerInch(low), true
}

// readFar are the seconds between readings across which a level is compared, of those that were thinned with age too.
func (ts *tankState) readFar() float64 { return math.Max(4*ts.interval.fresh(), 2*coarseEvery) }

// othersRose is the tank that rose most in a time in which this one fell, and the barrels that all others rose beyond their own inflow.
func (s siteTanks) othersRose(i int, from, to float64) (name string, bbl float64) {
	return s.othersRoseBy(i, func(ts *tankState, t *Tank) float64 { return ts.rise(t, from, to) })
}

// othersRoseOver is the tank that rose most over a draw, and the barrels that all others rose: from before it to after it, and from
// before a gap that hid its ends to behind it where that hid the other tank too.
func (s siteTanks) othersRoseOver(i int, d draw) (name string, bbl float64) {
	from, to := d.shows()
	return s.othersRoseBy(i, func(ts *tankState, t *Tank) float64 {
		burst := d.samples == 0 && ts.filledFast(t, from-d.opening.away, to+d.closing.away) // when nobody saw it fall it may have gone there
		if rose, ok := ts.riseKnown(t, from, to, ts.readFar()); ok && !burst {
			return rose
		}
		return ts.rise(t, from-d.opening.away, to+d.closing.away)
	})
}

// partlyMoved is what speaks for a part of a draw having gone to another tank, or all of it: one that rose faster than a well fills it while no other fell, or
// that was not read and is fuller by as much behind that.
func (s siteTanks) partlyMoved(i int, d draw, removed float64) (why string, bbl float64) {
	from, to := d.shows()
	if len(s.fallingTanks(i, from, to)) > 1 {
		return "", 0
	}
	for j, o := range s.separate(i) {
		other := s.st.tanks[j]
		_, seen := other.riseKnown(o, from, to, other.readFar())
		rose, known := other.riseKnown(o, from, to, other.interval.gapMin(o, s.site.speed))
		if known && rose >= wrongBbl(removed) && !s.wellTurned(i, j, from, to) && !onlyBack(other, from, to) &&
			(rose >= partMoved*removed && other.filledFast(o, from, to) || other.pumpedInto(o, from, to, rose)) {
			at := other.levels.roseIn(from, to, other.inflow(o, from).usual)
			return fmt.Sprintf("tank %s rose by %.1f bbl in %s, %s after its start and faster than a well fills it: some of this may have moved there",
				o.ID, rose, spanText(at.hi-at.lo), spanText(math.Max(0, at.lo-d.start))), rose
		}
		if rose := other.roseUnseen(o, from, to); !seen && rose >= explainedShare*removed && rose <= removed/explainedShare {
			return fmt.Sprintf("tank %s was not read meanwhile and held %.1f bbl more behind it: a transfer, and maybe no load", o.ID, rose), 0
		}
	}
	return "", 0
}

// wellTurned says that a tank fills no faster in some time than another did in the hours before it: the other's well may have been turned to it.
func (s siteTanks) wellTurned(from, to int, since, until float64) bool {
	a, b := s.st.tanks[from], s.st.tanks[to]
	t, o := &s.site.tanks[from], &s.site.tanks[to]
	for _, long := range fillTimes(b, since, until, a.interval.fresh()) {
		if b.levels.mostRisen(since, until, long)*o.Table.PerInch(b.last.v) > burstTimes*a.levels.mostRisen(since-learnFrom, since, long)*t.Table.PerInch(a.last.v) {
			return false
		}
	}
	return true
}

// fellShort is a tank that was moved into this one until it fell, and the barrels of that which did not arrive in any.
func (s siteTanks) fellShort(i int, d draw) (name string, bbl float64) {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	for k, o := range s.separate(i) {
		for _, x := range s.drawsOf(k) {
			if math.Abs(x.end-d.start) > joinWithin || !ts.filledFast(t, x.start, d.start) {
				continue
			}
			left, rose := -s.st.tanks[k].rise(o, x.start, x.end), ts.rise(t, x.start, d.start)
			if _, came := s.othersRose(k, x.start, math.Min(x.end, d.start)); rose >= partMoved*left && came < arrivesShare*left {
				return o.ID, left - came
			}
		}
	}
	return "", 0
}

// roseAnotherTime is a tank that rose by a draw's barrels in as long a time, minutes before it or after it, and none other fell then: its
// readings are late, or early.
func (s siteTanks) roseAnotherTime(i int, d draw, removed float64) (name string, by float64) {
	for j, o := range s.separate(i) {
		other := s.st.tanks[j]
		from, to := d.start-lagMost, math.Min(d.end+lagMost, other.last.t)
		for _, x := range s.drawsOf(j) {
			if x.start < d.start {
				from = math.Max(from, x.end+nodeEvery)
			} else {
				to = math.Min(to, x.start-nodeEvery)
			}
		}
		rose, seen := other.riseKnown(o, from, to, other.readFar())
		if !seen || rose < arrivesShare*removed || removed < arrivesShare*rose {
			continue
		}
		span, long := other.levels.roseIn(from, to, other.inflow(o, from).usual), d.end-d.start
		if removed >= fillSlow/60*long && math.Abs(span.hi-span.lo-long) < math.Max(singleReading+2*other.interval.fresh(), (1-arrivesShare)*long) && len(s.fallingTanks(i, span.lo, span.hi)) == 1 {
			return o.ID, span.lo - d.start
		}
	}
	return "", 0
}

// filledFast says that between two times a tank rose faster than wells fill it, as it did not do by itself in the hours before.
func (ts *tankState) filledFast(t *Tank, from, to float64) bool {
	return slices.ContainsFunc(fillTimes(ts, from, to, 0), func(long float64) bool {
		rose := ts.levels.mostRisen(from, to, long)
		return rose*t.Table.PerInch(ts.last.v) >= fillSlow/60*long && rose > burstTimes*ts.levels.mostRisen(from-learnFrom, from, long)
	})
}

// pumpedInto says that a tank rose by so many barrels between two times as fast as a pump fills it, and neither at once nor by its noise; nor did its well
// lift it so again and again in the day before.
func (ts *tankState) pumpedInto(t *Tank, from, to, bbl float64) bool {
	usual, per, each := ts.inflow(t, from).usual, t.Table.PerInch(ts.last.v), ts.interval.fresh()
	span := ts.levels.roseIn(from, to, usual)
	long, most := math.Max(span.hi-span.lo, 4*each), pumpUsual/60*(span.hi-span.lo+each)
	return bbl <= most && bbl >= math.Max(fillSlow/60*long, 2*restSigmas*ts.noise.perSample()*per) && bbl > burstTimes*per*ts.levels.mostRisen(from-learnFrom, from, long) && lifts(between(ts.levels.history, from-inflowDay, from), bbl/per/burstTimes, usual) < 2
}

// turnsWith says that where a draw of one tank began and ended, the level of another turned by as much the other way, rising, at rest, or drawn
// from too: its oil went there. Next to where the other's draw begins or ends nobody can tell. One that did not turn there at all denies it.
func (s siteTanks) turnsWith(from, to int, d, theirs draw) (turns, denies bool) {
	for _, at := range []float64{d.start, d.end} {
		lo, hi := theirs.clearAbout(at, lineLong)
		if at-lo < movedLeast || hi-at < movedLeast {
			continue
		}
		out, in := -s.st.tanks[from].levels.turn(&s.site.tanks[from], lo, at, hi), s.st.tanks[to].levels.turn(&s.site.tanks[to], lo, at, hi)
		if turns = in/out >= alikeRise && out/in >= alikeRise; !turns {
			return false, math.Abs(in) < (1-alikeRise)*math.Abs(out) && 3*math.Max(s.st.tanks[from].interval.fresh(), s.st.tanks[to].interval.fresh()) < movedLeast
		}
	}
	return turns, false
}

// roseUnseen are the barrels that a tank gained beyond its inflow between the last reading before a time and the first behind another.
func (ts *tankState) roseUnseen(t *Tank, from, to float64) float64 {
	b := ts.levels.recent
	first, last := searchTime(b, from)-1, searchTime(b, to)
	if first < 0 || last >= len(b) || ts.noise.hidesLevel() {
		return 0
	}
	before, behind := b[first], b[last]
	return t.barrels(float64(behind.v), float64(before.v)) - ts.inflow(t, before.t).usual*(behind.t-before.t)*t.Table.PerInch(float64(before.v))
}

func (s siteTanks) othersRoseBy(i int, rise func(*tankState, *Tank) float64) (name string, bbl float64) {
	best := 0.0
	for j, o := range s.separate(i) {
		rose := rise(s.st.tanks[j], o)
		if rose > best {
			best, name = rose, o.ID
		}
		bbl += math.Max(0, rose)
	}
	return name, bbl
}

// othersGaveBack says that what came back came out of other tanks of the site, so that it does not undo the draw: they gave it, and in either half
// of the time some of it.
func (s siteTanks) othersGaveBack(i int, d draw, r returned) bool {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	half, late := (r.last-r.first)/2, ts.interval.fresh()
	for _, from := range []float64{r.first, r.first + half} {
		if r.seen >= rolledSeen && half > late && s.othersLost(i, from-late, from+half+late) < explainedShare*ts.rise(t, from, from+half) {
			return false
		}
	}
	return s.othersGave(i, r.first-half/4, r.last+half/4) >= explainedShare*r.inches*t.Table.PerInch(d.closing.level)
}

// othersGave is what of a rise between two times the site's other tanks may have given: what they lost meanwhile, beyond as much as they lose in as
// long right before it or behind it while nothing comes here, for that a truck draws. While this one is drawn from nobody sees whether anything comes.
func (s siteTanks) othersGave(i int, from, to float64) (bbl float64) {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	late := ts.interval.fresh()
	long, drawn := math.Max(burstSeconds, late), 0.0
	from, to = from-late, to+late
	for _, at := range []float64{from - long, to} {
		if rose := ts.rise(t, at, at+long); rose > -partBbl {
			drawn = math.Max(drawn, (s.othersLost(i, at, at+long)-math.Max(0, rose))/long)
		}
	}
	return s.othersLost(i, from, to) - drawn*(to-from)
}

// othersFilled are the barrels by which the site's other tanks rose between two times, whatever fills them, beside what was drawn from them meanwhile.
func (s siteTanks) othersFilled(i int, from, to float64) (bbl float64) {
	for j, o := range s.separate(i) {
		ts, at := s.st.tanks[j], from
		for _, x := range append(append(asDraws(ts.reports.loads), s.drawsOf(j)...), draw{start: to, end: to}) {
			a, ok1 := ts.levels.within(at, inflowDay) // what stood still for hours has no samples in them
			b, ok2 := ts.levels.within(math.Min(x.start, to), inflowDay)
			if ok1 && ok2 && x.start > at && !ts.noise.hidesLevel() {
				bbl += math.Max(0, o.barrels(b, a))
			}
			at = math.Max(at, x.end)
		}
	}
	return bbl
}

// awayBehind says that the others took in what a well made since a draw, where it was turned to them for it or at its end, if that is so much that it
// would have to show.
func (s siteTanks) awayBehind(i int, d draw, until float64) bool {
	t := &s.site.tanks[i]
	made := d.fasterInflow() * (until - d.end) * t.Table.PerInch(d.closing.level)
	return made > wrongBbl(t.volume(d)) && s.turnedTo(i, d.start, d.end, until, made)
}

// passedBy says that a well was turned to other tanks over a draw: this one stood since a time, and on behind it, and they took in meanwhile what
// the well makes, and did not while it rose.
func (s siteTanks) passedBy(i int, d draw, since float64) bool {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	until := math.Min(d.next, ts.last.t)
	high, ok := ts.levels.about(until)
	stood := ok && d.start-since >= deadFirst && until-d.end >= deadFirst && 3*(high-d.closing.level) < d.usualInflow*(until-d.end)
	return stood && s.turnedTo(i, since, since, until, d.usualInflow*(until-since)*t.Table.PerInch(d.opening.level))
}

// othersLost is the barrels that the site's other tanks lost between two times: then a rise is theirs.
func (s siteTanks) othersLost(i int, from, to float64) (bbl float64) {
	for j, o := range s.others(i) {
		bbl += math.Max(0, -s.st.tanks[j].rise(o, from, to))
	}
	return bbl
}

// returned is what of a fall has come back since.
type returned struct {
	inches float64 // beyond the inflow
	first  float64 // when a tenth of it was back
	last   float64 // when nine tenths were
	seen   int     // nodes that show it on its way
	pump   bounds  // inches when it came no more as fast as a pump brings it: less what may have flowed in beside it, and with that
}

// regained is what of its fall the level has won back since a draw. One that falls again after the confirmation has come
// to its end.
func (ts *tankState) regained(t *Tank, d draw, now float64) returned {
	r := returned{first: d.end, last: d.end}
	if now = math.Min(now, d.leaptAt); d.next > d.end {
		now = math.Min(now, d.next)
	}
	won := func(n point) float64 { return n.v - d.closing.level - d.usualInflow*(n.t-d.end) }
	from := d.end + 60
	if d.samples == 0 {
		from = math.Max(from, d.end+d.closing.away) // what was read before its closing is no return
	}
	all := nodes(between(d.rest(&ts.levels), from, now), nodeEvery)
	for _, n := range all {
		if n.t > d.end+t.Loads.Confirm.Seconds() && n.v < d.closing.level+r.inches {
			break
		}
		r.inches = math.Max(r.inches, won(n))
	}
	r.pump = broughtBack(all, d)
	went := len(all) > 0 && won(all[len(all)-1]) < explainedShare*r.inches
	if went && r.pump.hi > 0 { // it rests where the pump left it, beside a well that stood still
		r.inches, went = math.Max(r.inches, r.pump.lo), false
	}
	if went || d.leaptAt <= ts.last.t && d.leaptTo-d.closing.level < explainedShare*r.inches {
		return returned{first: d.end, last: d.end} // a float that was lifted, or an echo: it went as it came
	}
	for k := len(all) - 1; k >= 0; k-- {
		w := won(all[k])
		if w >= 0.1*r.inches {
			r.first = all[k].t
		}
		if w >= 0.9*r.inches {
			r.last = all[k].t
		}
		if w > 0.1*r.inches && w < 0.9*r.inches {
			r.seen++
		}
	}
	return r
}

// rolled says that what came back is what was pumped out: all of it, as fast, beside a well that stood still meanwhile or began, and seen on its way where its
// fall was seen. What lay out for minutes and would fill a truck may have gone with one.
func (r returned) rolled(d draw, removed float64) bool {
	fall := d.fall()
	if removed >= truckLeast && r.first > d.end+rolledPause {
		return false
	}
	out := fall + math.Max(0, d.usualInflow)*(d.end-d.start) // the pump took what flowed in too
	pumped := removed < truckLeast && d.samples > 0 && r.pump.hi >= rolledShare*fall && r.pump.lo <= out/rolledShare
	return pumped || (r.seen >= rolledSeen || d.samples == 0) && r.inches >= rolledShare*fall && r.inches <= out/rolledShare && 0.8*r.inches*(d.end-d.start) >= rolledRate*fall*(r.last-r.first)
}

// partly says that a part of what left came back by and by, as a truck pumps it: the rest may have gone with that. No pump draws a tank empty.
func (r returned) partly(d draw) bool {
	return d.closing.level >= endMargin && r.seen >= pumpedFew && r.inches < rolledShare*d.fall()
}

// atOnce says that a load's worth came back minutes after a draw, and faster than any well makes it: a sensor that somebody lifts and
// lets in again shows that, or a truck that unloads.
func (r returned) atOnce(t *Tank, d draw) bool {
	bbl := r.inches * t.Table.PerInch(d.closing.level)
	return bbl >= t.Loads.MinLoad && r.first < d.end+backSoon && 0.8*bbl > cameFaster*fillRate/60*(r.last-r.first)
}

// roseOnce is by how many inches beyond its inflow the level rose within minutes after a draw, by more than makes a ticket wrong and than it ever rose beyond
// its inflow, and until when; 0 where it did not. What a pressure sensor feels when a hatch is shut says nothing, nor do a few barrels once no hose drains.
func (ts *tankState) roseOnce(t *Tank, d draw, now float64) (inches, until float64) {
	until = min(now, d.next, d.leaptAt, d.end+t.Loads.Confirm.Seconds()+ranLong)
	per, usual := t.Table.PerInch(d.closing.level), d.usualInflow
	if until >= d.end+2*backSoon { // the well may have been shut, or turned away
		usual = math.Min(usual, ts.levels.roseBefore(d.end+2*backSoon, backSoon))
	}
	rose := ts.levels.mostRisen(d.end+settleShort, until, ranLong) - usual*ranLong
	if rose*per < ranMost {
		until = math.Min(until, d.end+backSoon)
		rose = ts.levels.mostRisen(d.end+settleShort, until, ranLong) - usual*ranLong
	}
	soon, _ := ts.levels.about(math.Min(until, d.end+backSoon))
	high, ok := ts.levels.about(until)
	high = math.Max(high-usual*(until-d.end), soon-usual*math.Min(until-d.end, backSoon))
	little := rose*per < wrongBbl(t.volume(d)) || high-d.closing.level < rose/2 || t.Sensor == "hydrostatic" && rose < hatchUsual
	if t.Group != "" || !ok || little || !neverRoseSo(ts, t, d, rose) {
		return 0, until
	}
	return rose, until
}

// roseOnceBefore is by how many inches beyond its inflow a level rose within an hour of the three before a draw, by less than a load, as it never did in the
// day before, slower than a pump fills it, and rested on it since. 0 where it did not, or other tanks gave it.
func (s siteTanks) roseOnceBefore(i int, d draw) float64 {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	since, past := math.Max(d.start-undoneJunk, ts.decidedTo+2*backSoon), levels{recent: ts.levels.history}
	per, made := t.Table.PerInch(d.opening.level), d.usualInflow*onceWithin
	low, known := ts.levels.known(since)
	rose, before := past.mostRisen(since, d.start, onceWithin)-made, past.mostRisen(d.start-inflowDay, since, onceWithin)-made
	lately, _ := ts.levels.meanSlope(d.start, 2*backSoon, per, math.Inf(1))
	if !known || len(between(past.recent, 0, since)) < onceKnown || rose < onceTimes*before || rose*per < partBbl || rose*per > t.Loads.MinLoad || lately*onceWithin-made > rose/onceTimes || ts.levels.mostRisen(since, d.start, ranLong)*per > fillRate/60*ranLong ||
		d.opening.level-low-d.usualInflow*(d.start-since) < leapMost*rose || s.othersLost(i, since, d.start) >= explainedShare*rose*per {
		return 0
	}
	return rose
}

const (
	onceWithin = 3600.0 // s
	onceKnown  = 24     // points of the history that show how a level rises
	rolledSeen = 2      // nodes that show it on its way
	truckLeast = 80.    // bbl of a truckload
)

// stillReturning says that oil is still coming back after the confirmation: it may yet prove
// a recirculation.
func (ts *tankState) stillReturning(t *Tank, d draw, now float64) bool {
	if now > d.end+4*t.Loads.Confirm.Seconds() || d.leaptAt < now {
		return false
	}
	a, ok1 := ts.levels.about(ts.last.t - ranLong)
	b, ok2 := ts.levels.about(ts.last.t - 20)
	came := (b - a - d.usualInflow*(ranLong-20)) * t.Table.PerInch(b)
	return ok1 && ok2 && ts.last.t-ranLong > d.end && came >= t.Loads.MinRate*(ranLong-20)/60 && b < d.opening.level
}
