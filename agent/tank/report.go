package tank

import (
	"fmt"
	"math"

	"gauger/agent/eventrules"
	"gauger/agent/tank/stats"
)

const (
	badQuiet    = 1800.0 // s without a bad value that end an episode
	badFew      = 2      // bad values that make an episode
	spikeQuiet  = 7200.0
	spikeFew    = 6
	blindLong   = 3600.0 // s of bad values alone, after which they are reported at once
	smallEvery  = 86400.0
	smallWorth  = 5.0         // bbl a day
	stepSmall   = 600.0       // s; smaller steps that come again and again, as of a clock that is set each hour, are reported once
	retimeLeast = 60.0        // s; a smaller step of the clock leaves the times as they are
	retimeHold  = 12 * 3600.0 // s after which a step of the clock will not be taken back any more: one that goes wrong comes back within hours
	alikeTimes  = 2.0         // times as far as an equaliser would have it, within which joined tanks fall
)

// reportEpisodes closes the episodes that are over.
func (u *update) reportEpisodes(i int, ts *tankState, now float64) {
	if s := ts.faults.badValues; ts.faults.badValues.due(now, badQuiet, badFew) || ts.faults.blinded(ts.last.t, now) {
		ts.faults.badValues = repeatedFault{reportedAt: now}
		u.addEvent(i, eventrules.BadValue, s.start, s.last, fmt.Sprintf("%d readings that are no level, the last %s", s.n, u.site.tanks[i].whyNoLevel(s.lastValue)))
	}
	noise, s := ts.noise.hidesLevel(), ts.faults.spikes
	if ts.faults.spikes.due(now, spikeQuiet, spikeFew) || noise && s.n >= spikeFew && (s.reportedAt == 0 || now-s.reportedAt >= episodeDay) {
		note := fmt.Sprintf("%d jumps that came back at once, the last to %.2f in", s.n, s.lastValue)
		if noise {
			note += fmt.Sprintf("; its readings scatter by %.0f in: that is noise and no level, no load shows in it, and it is no witness for other tanks", ts.noise.sigma)
		}
		ts.faults.spikes = repeatedFault{reportedAt: now}
		u.addEvent(i, eventrules.SpikeRate, s.start, s.last, note)
	}
	u.reportStuck(i, ts, now)
	u.findReturned(i, ts, now)
	if ts.reports.retimeAt > 0 && now >= ts.reports.retimeAt {
		ts.reports.retimeAt = 0
		u.retimeLoads(i, ts, now, true)
	}
	u.findSlowLoss(i, ts, now)
	if s := ts.smallDraws; s.active && now-s.start >= smallEvery {
		ts.smallDraws = smallDraws{returned: s.returned}
		if s.bbl >= smallWorth {
			draws := "draws"
			if s.n == 1 {
				draws = "draw"
			}
			note := fmt.Sprintf("%d %s below %.0f bbl, %.1f bbl together", s.n, draws, u.site.tanks[i].Loads.MinLoad, s.bbl)
			if s.returned > 0 {
				note += fmt.Sprintf("; %.1f bbl of them came back", s.returned)
			}
			u.addEvent(i, eventrules.SmallDraws, s.start, s.last, note)
		}
	}
}

// blinded says that for an hour there was no level but bad values, and nothing was reported since.
func (f *faults) blinded(lastLevel, now float64) bool {
	s := f.badValues
	return s.active && s.n >= badFew && s.last-lastLevel >= blindLong && now-s.last < badQuiet && (s.reportedAt <= lastLevel || s.reportedAt > s.last)
}

// reportGap tells of a silence and what the level did over it, and what was shown instead.
func (u *update) reportGap(i int, ts *tankState, now, x float64, shown heldValue) {
	u.flush(i, ts)
	if ts.interval.n < 8 && now-ts.last.t < 3600 {
		return
	}
	showed := ""
	if shown.seconds > 0 {
		showed = fmt.Sprintf(" (it showed %.2f in for %s)", shown.level, spanText(shown.seconds))
	}
	none := "no reading to believe for"
	if ts.last.t < u.st.bootedAt*u.site.speed { // what was read since the state was last stored went with the power
		none = "the box started again: no reading is kept for"
	}
	u.addEvent(i, eventrules.Gap, ts.last.t, now, fmt.Sprintf("%s %s%s, level %.2f in before, %.2f in after", none, spanText(now-ts.last.t), showed, ts.last.v, x))
	u.reportMissed(i, ts, ts.last, point{now, x})
	u.correctMoved(i, ts, ts.last, point{now, x})
}

// reportMissed tells of a load that a silence or a value that hung hid, and the well's oil after it: the level is lower behind it than the well made it
// meanwhile, and the other tanks had no more than usual.
func (u *update) reportMissed(i int, ts *tankState, from, to point) {
	t, made, long := &u.site.tanks[i], ts.inflow(&u.site.tanks[i], from.t), to.t-from.t
	unsure, per, rose := 2*math.Hypot(made.err*long, math.Sqrt(made.straysOver(long))), t.Table.PerInch(to.v), to.v-from.v
	least := math.Min(made.usual*long-unsure, float64(t.Height)-fullWithin-from.v) - rose
	if !made.known || t.Group != "" || least*per < t.Loads.MinLoad || t.barrels(from.v, to.v) >= 0.8*t.Loads.MinLoad {
		return
	}
	gone, gained := (made.usual*long-rose)*per, 0.0
	for j, o := range u.separate(i) {
		other := u.st.tanks[j]
		more, known := other.riseKnown(o, from.t, to.t, other.readFar())
		if _, seen := other.levels.within((from.t+to.t)/2, other.readFar()); !seen || !known {
			more, known = roseFar(other, o, from.t, to.t)
		}
		if !known || more < -o.Loads.MinLoad {
			return
		}
		gained += math.Max(0, more)
	}
	if gained < (1-explainedShare)*gone {
		u.addMovement(i, eventrules.UnexplainedLoss, from.t, to.t, gone, "", fmt.Sprintf("about %.0f bbl are missing behind %s without a level to believe: the well makes %.0f meanwhile, the level rose by %.2f in, and no other tank had it. A load that nobody saw, or the well stood", gone, spanText(long), made.usual*long*per, rose))
	}
}

// roseFar is what riseKnown is, by the history and as far back as it goes.
func roseFar(ts *tankState, t *Tank, from, to float64) (bbl float64, ok bool) {
	if len(ts.levels.history) == 0 || ts.noise.hidesLevel() {
		return 0, false
	}
	since := math.Max(from, ts.levels.history[0].t+1)
	a, ok1 := ts.levels.besideSilence(since)
	b, ok2 := ts.levels.besideSilence(to)
	made := ts.inflow(t, since)
	if !made.known {
		made = ts.inflow(t, to)
	}
	return t.barrels(b, a) - made.usual*(to-since)*t.Table.PerInch(a), ok1 && ok2 && made.known
}

// besideSilence is the level at a time, or the nearest that was read before or after it, where a silence begins or ends.
func (l *levels) besideSilence(at float64) (v float64, ok bool) {
	v, ok = l.known(at)
	near := levelFar
	for _, all := range [][]sample{between(l.recent, at-near, at+near), between(l.history, at-near, at+near)} {
		for _, x := range all {
			if far := math.Abs(x.t - at); !ok && far < near {
				v, near = float64(x.v), far
			}
		}
	}
	return v, ok || near < levelFar
}

// reportStuck tells of a value that stands as it never does, while it does.
func (u *update) reportStuck(i int, ts *tankState, now float64) {
	if ts.faults.stuckReported || !ts.stands(&u.site.tanks[i]) {
		return
	}
	ts.faults.stuckReported = true
	u.addEvent(i, eventrules.Stuck, ts.heldSince, now, fmt.Sprintf("value stands at %.2f in for %s and still does", ts.last.v, spanText(now-ts.heldSince)))
}

// clockMoved tells of a step of the clock of a tank's readings, and gives the reported loads of the last day the times of one that was set.
func (u *update) clockMoved(i int, ts *tankState, now, step float64, lost bool) {
	if math.Abs(step) < stepWorth {
		return
	}
	u.reportClockStep(i, ts, now, step)
	if !lost && math.Abs(step) > retimeLeast && len(ts.reports.loads) > 0 {
		ts.reports.retimeAt = now + retimeHold // and again once the clock has held
		u.retimeLoads(i, ts, now, false)
	}
}

// reportClockStep tells of a step of the clock.
func (u *update) reportClockStep(i int, ts *tankState, now, step float64) {
	again := ts.faults.clockStep != 0 && now-ts.faults.clockSteppedAt < episodeDay && math.Abs(step) < stepSmall && math.Abs(step) < 2*math.Abs(ts.faults.clockStep)
	ts.faults.clockSteppedAt, ts.faults.clockStep = now, step
	if again {
		return
	}
	note := fmt.Sprintf("the clock of its readings stepped by %+.0f s", step)
	if step >= neverSetStep {
		note = "the clock of its readings, which had not been set, was set"
	}
	u.addEvent(i, eventrules.ClockStep, now, now, note)
}

// retimeLoads gives the reported loads the times of a clock that was set. Of a load before this boot it tells nothing: how long the box was
// away is known by that same clock, and it may have been wrong from its start on only.
func (u *update) retimeLoads(i int, ts *tankState, now float64, settled bool) {
	for _, l := range ts.reports.loads {
		if now-l.end <= reviewFor+retimeHold && l.end > u.st.base*u.site.speed {
			u.addCorrection(i, l, Correction{Settled: settled})
		}
	}
}

// unread are the other tanks of which nobody knows whether they rose over a draw.
func (s siteTanks) unread(i int, d draw) (names []string) {
	from, to := d.shows()
	for j, o := range s.separate(i) {
		other := s.st.tanks[j]
		if _, seen := other.riseKnown(o, from, to, 2*math.Max(levelFar, other.interval.gapMin(o, s.site.speed))); !seen || other.faults.stuckReported {
			names = append(names, o.ID)
		}
	}
	return names
}

// filledMates is the tank of the same group that took in most over a draw, and this one's part of what all such took in beyond what the wells make:
// they stood lower when it began, and were made even with it.
func (s siteTanks) filledMates(i int, d draw) (name string, bbl float64) {
	fell := s.site.tanks[i].volume(d)
	own, most, unsure, long := fell, 0.0, 0.0, math.Max(d.end, d.evened)-d.start
	makes := func(j int) {
		o, ts := &s.site.tanks[j], s.st.tanks[j]
		made, per := ts.inflow(o, d.start), o.Table.PerInch(ts.last.v)
		bbl, unsure = bbl-made.usual*long*per, math.Hypot(unsure, per*math.Sqrt(stats.Square(made.err*long)+made.straysOver(long)+2*stats.Square(math.Max(ts.noise.perSample(), ts.levels.resolutionAt(d.start, d.end).deadband))))
	}
	makes(i)
	for j, o := range s.mates(i) {
		makes(j)
		gave := s.gaveOver(j, d)
		fell += math.Max(0, gave)
		if bbl -= math.Min(0, gave); -gave > most {
			name, most = o.ID, -gave
		}
	}
	if bbl = bbl * own / fell; most == 0 || d.uneven || bbl <= max(fedSure*unsure, partBbl, wrongBbl(own)) {
		return "", 0
	}
	return name, bbl
}

// levelTogether are the readings and the history of what a group's tanks hold together, in inches of so many barrels.
func (s siteTanks) levelTogether(i int, mates []int, from, per float64) (all levels) {
	own := &s.st.tanks[i].levels
	all.recent = s.sumOf(append(mates, i), from, math.Inf(1), per)
	for _, h := range own.history {
		bbl, _ := s.site.tanks[i].Table.Extrapolated(float64(h.v))
		for _, j := range mates {
			v, ok := s.st.tanks[j].levels.known(h.t)
			holds, _ := s.site.tanks[j].Table.Extrapolated(v)
			if bbl += holds; !ok {
				bbl = math.NaN()
			}
		}
		if h.v = float32(bbl / per); !math.IsNaN(bbl) {
			all.history = append(all.history, h)
		}
	}
	return all
}

// pumpedTogether cuts a draw to when a pump drew from what a group's tanks hold together, within some inches beyond noise: before it a driver throttled it, and behind it
// only the equaliser goes on. One that stopped meanwhile has parts, whichever of them shows it. False where that is not known.
func pumpedTogether(ts *tankState, d *draw, least float64) (ok bool) {
	fall := between(ts.levels.recent, d.start, d.end)
	if len(fall) == 0 {
		return false
	}
	least += 2 * restSigmas * ts.noise.sigma
	end := restsFrom(fall, 0, least)
	d.end = fall[end].t
	slow, rate := d.start, float64(fall[0].v-fall[end].v)/(d.end-d.start)
	for _, p := range cutEvenly(fall[:end], least/4) {
		if p.slope < -rate/2 || p.to > (d.start+d.end)/2 {
			break
		}
		slow = p.to
	}
	if slow > d.start+2*lumpsCell {
		d.start = slow
	}
	if d.opening.level, ok = ts.levels.about(d.start); ok {
		d.closing.level, ok = ts.levels.about(d.end)
	}
	_, parts, _, _ := fallParts(ts, *d, math.Inf(1))
	d.parts = max(d.parts, len(parts))
	return ok
}

// fellAlike says that a tank's mates fell as it did until they were even, within a factor: else each was drawn from by itself, and no equaliser joins them.
func (s siteTanks) fellAlike(i int, mates []int, share float64, d draw) bool {
	was, ok1 := s.heldBy(mates, d.start, 1)
	is, ok2 := s.heldBy(mates, math.Max(d.end, d.evened), 1)
	times := (was - is) * share / (1 - share) / math.Max(s.site.tanks[i].volume(d), levelGrain)
	return ok1 && ok2 && times >= 1/alikeTimes && times <= alikeTimes
}

// togetherInflow is what sharedInflow is, of a group's tank whose wells come by turns: what its tanks hold together falls with the pump and rises with the wells, whether the
// equaliser joins them or not. Where none fell with it, it has all of that but what rose in the others; else its part.
func (s siteTanks) togetherInflow(i int, d draw, own, err float64) (bbl, off float64) {
	t, ts, mean, unsure := s.site.tanks[i], *s.st.tanks[i], own, err
	mates, share := s.joined(i, d)
	alone := s.fellAlone(i, d)
	if len(mates) == 0 || d.uneven || !alone && !s.fellAlike(i, mates, share, d) {
		return own, err
	}
	per, later, rose := t.Table.PerInch(d.closing.level), d.settled*t.Table.PerInch((d.opening.level+d.closing.level)/2), 0.0
	drawn := d
	d.start, d.end = s.jointly(i, d)
	t.Group, ts.levels = "", s.levelTogether(i, mates, d.start-lumpsLook, per/share)
	ts.noise.sigma = neighbourScatter(between(ts.levels.recent, d.start-lumpsLook, d.start))
	began := d.start
	pumped := pumpedTogether(&ts, &d, evenBbl*share/per)
	went, seen := ts.levels.about(drawn.end)
	if !pumped || !seen {
		return own, err
	}
	each := (mean - later) / (drawn.end - drawn.start)
	mean = math.Min(mean-later, each*(d.end-d.start))
	if later += each * (d.start - began); drawn.end > d.end { // what the wells made then is seen
		later += math.Max(0, went-d.closing.level) * per
	}
	if alone {
		was, _ := s.heldBy(mates, d.start, per)
		is, _ := s.heldBy(mates, d.end, per)
		rose = math.Max(0, is-was) * per
		d.inflowBefore, d.inflowAfter, mean = d.inflowBefore*share, d.inflowAfter*share, (mean+rose)*share
		_, strays := ts.flowedIn(&t, d, d.end-d.start)
		unsure = stats.Clamp(2*strays*per, err*share, err)
	} else {
		share = 1
	}
	if len(s.site.tanks) > 1+len(mates) {
		bbl, off = cameByTurns(&ts, &t, d, true, mean, unsure)
	} else {
		sum := siteTanks{Site{tanks: []Tank{t}, speed: s.site.speed}, &State{now: s.st.now, tanks: []*tankState{&ts}}}
		bbl, off = sum.sharedInflow(0, d, mean, unsure)
	}
	return math.Max(0, bbl/share-rose) + later, off / share
}

// missingShares tells of the tanks of the same group whose share of a draw nobody saw, and about how much it is, as they stand as high as
// this one where the equaliser is open. It is no gauge, and in no ticket.
func (s siteTanks) missingShares(i int, d draw, removed float64) (why []string) {
	own := &s.site.tanks[i]
	if mates, _ := s.joined(i, d); len(mates) > 0 && s.fellAlone(i, d) {
		return nil // the equaliser was shut
	}
	for j, o := range s.mates(i) {
		if s.blindOver(i, j, d) {
			why = append(why, fmt.Sprintf("tank %s of its group was not read meanwhile: its share, about %.0f bbl, is not gauged", o.ID, removed*o.barrels(d.opening.level, d.closing.level)/own.volume(d)))
		}
	}
	return why
}
