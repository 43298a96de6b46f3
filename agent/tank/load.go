package tank

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"gauger/agent/tank/stats"
)

const (
	timeRounding   = time.Second / 10                 // of site time, to which times are rounded: what prints them cuts off, and 09:39:59.99 would be 09:39
	truckStays     = 2 * 3600.0                       // s that no truck stays at such a rate
	confidenceLow  = 0.75                             // below which a person looks at a load
	reviewChance   = 1 - confidenceLow/confidenceMost // that a volume is off by more than a barrel and a hundredth: that much alone makes its confidence low
	usualError     = 0.45                             // share of the error that 19 of 20 are within which is the standard error of most: few are off by far more
	twoTrucks      = 0.8                              // by which the confidence is the less where two trucks may be one load
	slowTimes      = 2.0                              // times min_rate, below which a draw may be none even where a site's trucks are slow
	moreThanOne    = 1.2                              // times truck_max, above which a load at a pump's rate may be two
	confidenceMost = 0.99                             // no observation is surer
	fedSure        = 3.0                              // standard errors of what other tanks took in, below which it may be their own
	fedBefore      = 1800.                            // s before it that show whether another tank is filled
	stoppedBetween = "stopped for %s after %.0f bbl: one truck or two"
	inflowAsks     = 16.  // bbl that are not known of what flowed in, above which what was removed is anybody's guess
	groupAsks      = 8.   // the same in a group, where oil that runs between its tanks is not told from the well's
	slugAsks       = 7.   // the same of a well that comes in slugs, where the fall does not show one, and more than is taken to have come
	restShort      = 300. // s of readings after an end, of which less may have been slosh
)

// makeLoad makes the record of a draw that is a run.
func (s siteTanks) makeLoad(i int, ts *tankState, d draw) Load {
	t := &s.site.tanks[i]
	tenth := time.Duration(float64(timeRounding) / s.site.speed)
	l := Load{
		Tank: t.ID, Start: s.wall(i, d.start).Round(tenth), End: s.wall(i, d.end).Round(tenth), Began: s.wall(i, ts.drawBegan(d)),
		Open: d.opening.level, Close: d.closing.level, Sigma: ts.noise.sigma, Parts: d.parts,
		Gap:   time.Duration(silenceIn(ts.levels.recent, d) / s.site.speed * float64(time.Second)),
		Table: t.Table.Name(), Group: t.Group,
	}
	for _, x := range between(ts.levels.recent, d.start, d.end) {
		l.Samples += int(x.n)
	}
	per := t.Table.PerInch((l.Open + l.Close) / 2)
	l.GaugeBbl = t.volume(d)
	rise, off := ts.flowedIn(t, d, d.end-d.start)
	l.InflowBbl, l.InflowErrorBbl = s.sharedInflow(i, d, (rise+d.settled)*per, 2*off*per)
	l.InflowBbl, l.InflowErrorBbl = shortOfSlug(ts, t, d, l.InflowBbl, l.InflowErrorBbl)
	longer := 1 + tailShare(ts, t, d)
	l.InflowBbl, l.InflowErrorBbl = l.InflowBbl*longer, l.InflowErrorBbl*longer
	if came, said := cameAmid(ts, t, d); came > 0 {
		l.InflowErrorBbl, d.doubts = math.Max(l.InflowErrorBbl, came), append(d.doubts, said)
	}
	l.InflowBbl += d.cameIn
	l.InflowUnknown = !d.inflow.known && d.inflowAfter == 0
	l.RemovedBbl = l.GaugeBbl + l.InflowBbl
	l.Rate = l.RemovedBbl / (math.Max(d.end-d.start, 1) / 60)
	l.ErrorBasis = ts.levels.errorBasis(t, d)
	l.ErrorBbl = l.ErrorBasis.calibrated()
	if t.Group != "" {
		l.GroupBbl = s.groupBbl(i, d)
		_, end := s.jointly(i, d)                 // one load of a group is of one production day
		l.End = s.wall(i, end).Round(100 * tenth) // as near as two looks at it agree
	}
	l.TopTemperature, l.BottomTemperature = ts.aux.asOf(topAt, d.start), ts.aux.asOf(bottomAt, d.start)
	l.Gravity, l.BSW = ts.aux.asOf(gravityAt, d.start), ts.aux.asOf(bswAt, d.start)
	l.Confidence, l.Review = s.confidence(i, d, l)
	l.Unseen = ts.hiddenSpan(d, s.site.speed)
	says, factor := s.remarks(i, d, l)
	l.Remarks = append(d.says, says...)
	if factor *= l.Confidence; len(l.Review) == 0 { // a remark alone is no reason to ask
		factor = math.Max(factor, confidenceLow)
	}
	l.Confidence = stats.Round(factor, 2)
	return l
}

// sharedInflow are the barrels that flowed in over a draw, and twice their standard error, of those that a tank's own levels tell: a well
// that was turned to other tanks meanwhile shows in them, and so does one that filled them until it was turned to this one.
func (s siteTanks) sharedInflow(i int, d draw, own, err float64) (bbl, off float64) {
	t, ts, turns := &s.site.tanks[i], s.st.tanks[i], len(s.site.tanks) > 1
	fed, unsure, unseen := s.fedElsewhere(i, d.start, d.end)
	took, theirs := s.othersFilled(i, d.start, d.end), s.othersOwn(i, d, d.fasterInflow()*t.Table.PerInch(d.opening.level))
	if took >= fed { // none of them was drawn from
		fed = math.Min(fed, took-theirs)
	}
	least := math.Max(fedSure*unsure, wrongBbl(t.volume(d)))
	per := t.Table.PerInch(d.opening.level)
	made := func(rate float64) float64 { return rate * (d.end - d.start) * per }
	until := math.Min(d.inflowBefore, ts.levels.roseBefore(d.start-nodeEvery, fedBefore/2))
	usual, most, before := made(d.usualInflow), made(math.Max(until, d.inflowAfter)), made(until)
	rate, fair := d.fasterInflow(), 2*math.Hypot(unsure, made(d.inflow.err))
	since, longer := ts.stillSince(d)
	stood, paused := d.start-since, pauseShare
	if s.othersFilled(i, since, d.start) >= explainedShare*rate*stood*per { // it stood since its well filled others, and may be turned to it now
		paused = 1
	}
	again := math.Min(d.next-nodeEvery, d.end+stood)
	_, kept := keptFrom(ts, t, d)
	away := kept || s.shutOff(i, d, d.start, d.end) && before < leapMost*own || s.passedBy(i, d, since) || s.tookAll(d, took, theirs, own, unsure)
	if t.Group == "" && d.cameIn == 0 {
		if bbl, off, ok := s.cameByTimer(i, d); ok && (!away || bbl < own/2) && off < math.Max(err, 2*wrongBbl(t.volume(d))) {
			slugs := ts.levels.slugs(d)
			if slug := slugOf(slugs) * per; slug > off && slugs[0].to-slugs[0].from < (d.end-d.start)/2 { // it is whole, or none of it, and no clock tells when within minutes
				if shown, unsure := cameInLumps(ts, t, d, turns, bbl, slug); unsure < off {
					return shown, unsure
				}
			}
			return bbl, off
		}
	}
	switch {
	case t.Group != "" && d.inflow.known:
		return s.togetherInflow(i, d, own, err)
	case !d.inflow.known:
		return own, err
	case away: // what rose until then as it does behind had not stood
		return 0, fair
	case longer > 1 && shutBehind(ts, d, stood, longer, paused):
		return cameByTurns(ts, t, d, turns, 0, fair)
	case longer > stillMore && 3*ts.levels.roseBefore(again, again-d.end) < rate: // it is shut in, or comes in bursts
		return cameByTurns(ts, t, d, turns, 0, math.Max(fair, per*ts.levels.mostBeyond(d.start, d.end-d.start, d.inflow.usual, per)))
	case fed > least && fed <= most/explainedShare:
		return math.Max(0, most-fed), fair
	case fed > least && fed <= usual/explainedShare: // a full one, which the well may have filled until then
		return own, math.Max(err, usual-fed)
	case own-before > least:
		switch lost, _, _ := s.fedElsewhere(i, d.end+resumeFirst, 2*d.end+resumeFirst-d.start); {
		case unseen: // and so it may have been turned to this one at any time
			err = math.Max(err, own-before)
		case lost <= -explainedShare*(own-before):
			return stats.Clamp(before-fed, 0, own), fair
		}
	}
	if longer > stillMore {
		err = math.Max(err, own)
	}
	err = math.Max(err, slugOf(ts.levels.slugs(d))*per)
	return cameByTurns(ts, t, d, turns, own, err)
}

// tookAll says that the site's other tanks took in over a draw what all its wells make, as the hours about it show. A well turned to them amid it made less there.
func (s siteTanks) tookAll(d draw, took, theirs, own, unsure float64) bool {
	all, mean := own+theirs, 0.0
	for j, ts := range s.st.tanks {
		per := s.site.tanks[j].Table.PerInch(ts.last.v)
		slope, seen := ts.levels.meanSlope(d.start, stillLook, per, math.Inf(1))
		if mean += slope * per * (d.end - d.start); seen < inflowShort {
			return false
		}
	}
	all = math.Max(all, mean)
	return took >= math.Max(all-own/3, all-own+2*unsure) && took >= explainedShare*own && took <= all/explainedShare
}

// shutOff says that a tank stood still when a draw began, since its well was turned to others, and went on there from one time, or since then, to another.
func (s siteTanks) shutOff(i int, d draw, from, to float64) bool {
	t, ts, rate := &s.site.tanks[i], s.st.tanks[i], d.fasterInflow()
	since, longer := ts.stillSince(d)
	from = math.Max(from, since)
	return longer > 1 && s.turnedTo(i, since, from, to, rate*(to-from)*t.Table.PerInch(d.opening.level))
}

// fedElsewhere are the barrels by which the site's other tanks rose between two times beyond what they usually do, and its standard error.
// One that was drawn from says as much as it took in before that, or behind it, where that is most of the time; unseen is that one of them says nothing.
func (s siteTanks) fedElsewhere(i int, from, to float64) (bbl, err float64, unseen bool) {
	for j, o := range s.separate(i) {
		other, lo, hi := s.st.tanks[j], from, to
		for _, x := range s.drawsOf(j) {
			switch {
			case x.end <= lo || x.start >= hi:
			case x.start-lo > hi-x.end:
				hi = x.start
			default:
				lo = x.end
			}
		}
		rose, seen := other.riseKnown(o, lo, hi, other.readFar())
		if !seen || hi <= lo || hi-lo < (to-from)/2 {
			unseen = true
			continue
		}
		made := other.inflow(o, lo)
		variance := stats.Square(made.err*(hi-lo)) + made.straysOver(hi-lo) + 2*stats.Square(other.noise.perSample())
		per := o.Table.PerInch(other.last.v)
		was := max(other.inflow(o, from).last, other.levels.roseBefore(from, fedBefore), other.levels.roseBefore(from, fedBefore/2)) // a full one that goes on rising is fed
		whole := (to - from) / (hi - lo)
		bbl, err = bbl+whole*(rose+(made.usual-was)*(hi-lo)*per), math.Hypot(err, whole*math.Sqrt(variance)*per)
	}
	return bbl, err, unseen
}

// groupBbl is the gauged volume of all tanks of a group over a draw.
func (s siteTanks) groupBbl(i int, d draw) float64 {
	sum := s.site.tanks[i].volume(d)
	if d.uneven {
		sum = s.gaveOver(i, d)
	}
	for j := range s.mates(i) {
		sum += s.gaveOver(j, d)
	}
	return sum
}

// gaveOver are the barrels that a tank lost over a draw from another of its group, until the equaliser has done its work or to the newest
// reading; 0 where its levels are not known.
func (s siteTanks) gaveOver(j int, d draw) float64 {
	ts := s.st.tanks[j]
	a, ok1 := ts.levels.held(d.start - 30)
	b, ok2 := ts.levels.held(math.Max(d.end, math.Min(d.evened, ts.last.t-nodeEvery)))
	if !ok1 || !ok2 {
		return 0
	}
	return s.site.tanks[j].barrels(a, b)
}

// sharesLoad says that a draw is a group's tank's part of a load: together its tanks gave one, and this more of it than makes a ticket wrong.
func (s siteTanks) sharesLoad(i int, d draw, removed float64) bool {
	own := &s.site.tanks[i]
	if own.Group == "" {
		return false
	}
	d.start, _ = s.jointly(i, d) // which the equaliser may have let it follow late
	all := s.groupBbl(i, d) + removed - own.volume(d)
	for j, o := range s.mates(i) { // whose wells make something meanwhile too
		all += s.st.tanks[j].inflow(o, d.start).usual * (d.end - d.start) * o.Table.PerInch(d.closing.level)
	}
	return all >= own.Loads.MinLoad && removed >= math.Max(partBbl, wrongBbl(all))
}

// addEvidence adds to a load what a reader of the ticket wants to see beside the figures.
func (s siteTanks) addEvidence(i int, ts *tankState, d draw, now float64, l *Load) {
	t := &s.site.tanks[i]
	l.OpenBbl, _ = t.Table.Extrapolated(d.opening.level)
	l.CloseBbl, _ = t.Table.Extrapolated(d.closing.level)
	l.ClosingTop, l.ClosingBottom = ts.aux.asOf(topAt, d.end), ts.aux.asOf(bottomAt, d.end)
	if t.Interface {
		l.OpenWater, l.CloseWater = ts.aux.waterAt(d.start), ts.aux.waterAt(d.end)
	}
	l.Trend = ts.levels.trend(t, d, now, s.site.speed)
	name, rose := s.othersRoseOver(i, d)
	l.Rivals = &Rivals{
		MinLoad: t.Loads.MinLoad, MinRate: t.leastRate(),
		Rose: name, RoseBbl: stats.Round(rose, 1), Unread: s.unread(i, d), BackIn: stats.Round(ts.regained(t, d, now).inches, 1),
		Watched: time.Duration(math.Max(0, math.Min(now, ts.last.t)-d.end-d.closing.carried)) * time.Second, // readings may have stopped
	}
	if hidden := l.Rivals.Unread; len(hidden) > 0 && len(l.Review) == 0 {
		who := hidden[0] + " not read meanwhile, or its value"
		if n := len(hidden); n > 1 {
			who = fmt.Sprintf("%d other tanks not read meanwhile, or their values", n)
		}
		l.Remarks = append(l.Remarks, who+" stood still: a transfer is not excluded")
	}
	for range s.separate(i) {
		l.Rivals.Others++
	}
	if fell, ok := ts.aux.waterFell(d.start, d.end); ok && t.Interface {
		l.Rivals.WaterIn = new(stats.Round(fell, 1))
	}
}

// confidence are the confidence in a load, which is the chance of its volume to be right less
// what else speaks against it, and why a person should look at it.
func (s siteTanks) confidence(i int, d draw, l Load) (float64, []string) {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	wrong := chanceWrong(l.GaugeBbl, usualError*l.ErrorBbl)
	o := opinion{factor: confidenceMost * (1 - wrong)}
	say := o.add
	all, away := l.hauledBbl(), math.Max(d.opening.away, d.closing.away)
	more, trucks := t.Loads.TruckMax > 0 && all > t.Loads.TruckMax, int(math.Ceil(all/t.Loads.TruckMax))
	unseen := "data gap"
	if d.gap < ts.interval.gapMin(t, s.site.speed) {
		unseen = "none was due for"
	}
	if free := ts.faults.unfrozeAt; free > d.start && free-d.gap < d.end {
		unseen = "the value stood still for"
	}
	none := "inside the load"
	if d.parts > 1 { // there was, at rest
		none = fmt.Sprintf("while it fell, in %d steps", d.parts)
	}
	say(d.samples == 0, 0.7, "no reading %s: %s %s, and its times are guesses", none, unseen, spanText(d.gap))
	hidden := d.samples > 0 && away >= ts.interval.gapMin(t, s.site.speed)
	long := hidden && d.deadband == 0 && away >= t.Loads.Confirm.Seconds()
	say(long, 1, "data gap %s beside it would hide another truck or oil that came back", spanText(away))
	if silent := silentBehind(ts, d); d.deadband == 0 && silent >= ts.interval.gapMin(t, s.site.speed) {
		say(!long, 1, "data gap %s behind its last falling reading: the pump may have drawn on", spanText(silent))
	}
	say(wrong > reviewChance && hidden && !long, 1, "data gap %s at an edge", spanText(away))
	stopped := ts.stopped(d)
	say(!stopped, 0.5, StoppedInside)
	rest, few := math.Min(ts.last.t, d.leaptAt)-d.end, math.Min(math.Max(restShort, 2*ts.interval.fresh()), t.Loads.Confirm.Seconds()/2)
	if d.deadband > 0 { // a level that goes on falling is reported, one that stands is not
		few = math.Min(few, singleReading)
	}
	leapt := d.leaptAt <= ts.last.t // it was read on, elsewhere
	say(rest < few && stopped && !leapt, 0.7, "readings stopped %.0f s after the end", rest)
	say(rest < few && stopped && leapt, 0.7, "the level jumped from %.2f to %.2f in %s after the end: a hatch that was opened, or the sensor moved", l.Close, d.leaptTo, spanText(rest))
	_, _, first := ts.levels.leaptInto(d)
	say(first, 0.5, BeganBefore)
	say(d.gap >= ts.interval.gapMin(t, s.site.speed) && more, 0.5, "more than a truck holds over a data gap of %s, maybe %d loads", spanText(d.gap), trucks)
	say(ts.faults.jumpedAt > 0 && ts.faults.jumpedAt > d.start && ts.faults.jumpedAt < d.end, 0.5, "sensor re-spanned during the load")
	say(d.stuck.to > 0, 0.7, "sensor stuck for %s before it ended", spanText(d.stuck.to-d.stuck.from))
	for _, x := range d.doubts {
		say(true, 0.5, "%s", x)
	}
	twice := ts.reports.twice(d) * t.Table.PerInch(l.Close)
	say(twice > wrongBbl(l.GaugeBbl), 0.5, "%.1f bbl of it are in the ticket before it too, which ended after this one began", twice)
	_, low := t.Table.Extrapolated(l.Close)
	_, high := t.Table.Extrapolated(l.Open)
	say(low || high, 0.5, "a gauge outside the strapping table: wrong table, or the sensor's zero or span is off")
	read := between(ts.levels.recent, d.end, d.leaptAt)
	say(l.Close < loadLine && !low && !(len(read) > 0 && float64(read[0].v) >= loadLine), 0.5, "closing at %.2f in, where no pump draws unless the outlet lies that low: a tank that was cleaned out, or a sensor that was lifted out, or has no power", l.Close)
	in, unsure := l.InflowBbl, l.InflowErrorBbl
	say(t.Group == "" && l.GaugeBbl < t.Loads.MinLoad && l.GaugeBbl+in-unsure < t.Loads.MinLoad, 0.5, "%.1f bbl by its gauges, less than min_load: it is a load only with the %.1f bbl that are taken to have flowed in, give or take %.1f", l.GaugeBbl, in, unsure)
	slug := slugOf(ts.levels.slugs(d)) * t.Table.PerInch(d.opening.level)
	say(unsure > inflowAsks || t.Group != "" && unsure > groupAsks || slug > 0 && unsure > max(slugAsks, slugKnown*slug, in), 0.7, "%.1f bbl are taken to have flowed in meanwhile, give or take %.1f: the well comes in bursts or otherwise than before, and the fall does not show what came", in, unsure)
	say(wrong > reviewChance, 1, "volume uncertain by %.1f bbl%s", l.ErrorBbl, d.unsureBy())
	pump, quick, usual := t.pumpRate(d), fastest(ts, t, d), twinTruck*ts.reports.usualRate(t)
	pipe := math.Max(pump, quick)*all/l.GaugeBbl < pipeRate
	say(d.samples > 0 && d.gap >= t.Loads.Confirm.Seconds()/2 && l.Rate < usual, 1, "data gap %s in a fall slower than its loads: maybe a drain, and a truck that nobody saw", spanText(d.gap))
	slowest := min(slowestRun, slowTimes*t.Loads.MinRate, cmp.Or(usual, slowestRun)) // as its trucks are
	say(l.Rate < slowest && (d.end-d.start >= truckStays || pump < slowest && t.Group == "" && d.samples > 0), 1, "it took %s at %.1f bbl a minute, slower than trucks and pipelines do: if none was there, a leak or a drain", spanText(d.end-d.start), l.Rate)
	var stop, before float64
	if more && !pipe && !d.setByValve {
		at, bbl := longestStop(ts, t, d)
		stop, before = at.hi-at.lo, bbl*all/l.GaugeBbl
	}
	two := stop >= pauseSure || stop >= pauseBrief && l.GaugeBbl > usualMost*ts.reports.usual(t)
	say(two, twoTrucks, "stopped for %s after %.0f bbl, and %.0f in all, where a truck holds %g: maybe %d loads", spanText(stop), before, all, t.Loads.TruckMax, trucks)
	say(mayBeTwo(ts, t, d, l), twoTrucks, stoppedBetween, spanText(d.pause), d.pausedBbl)
	bbl, off, behind := besideIt(ts, t, d, l.GaugeBbl)
	moved, _, _ := s.fedElsewhere(i, d.next, ts.last.t) // which is no truck's
	say(bbl > 0 && (!behind || moved < explainedShare*bbl) && (!pipe || off <= pauseLate*t.Loads.PauseMerge.Seconds()) && t.Group == "" && !d.setByValve, twoTrucks, "another %.0f bbl left %s %s it: one truck or two", bbl, spanText(off), map[bool]string{true: "behind", false: "before"}[behind])
	say(more && !two && (all > moreThanOne*t.Loads.TruckMax || quick >= otherRate*t.rateBeside(d, quick)) && !pipe && d.samples > 0, 1, "%.0f bbl at once, where a truck holds %g: maybe %d loads", all, t.Loads.TruckMax, trucks)
	return stats.Round(o.factor, 2), o.why
}

// rateBeside is at how many barrels a minute the rest of a draw left beside half of what a truck holds, which left at the rate that is its quickest: where
// two trucks drew at once one of them came first, and one was the last.
func (t *Tank) rateBeside(d draw, quick float64) float64 {
	half := t.Loads.TruckMax / 2
	if t.Group != "" { // its tanks give a share each
		return t.pumpRate(d)
	}
	return (t.volume(d) - half) / math.Max((d.end-d.start-d.stood)/60-half/math.Max(quick, 1), 1)
}

// mayHoldTwo says that a pump that is no pipeline's stood long enough for another truck to come, in what one of them holds.
func (t *Tank) mayHoldTwo(d draw, l Load) bool {
	most := t.Loads.TruckMax
	return d.pause > 0 && (most == 0 || l.hauledBbl() <= most) && t.pumpRate(d) >= pipeRate && !d.setByValve
}

// mayBeTwo says that it stood between parts of which either may be a truck's: as large as each other, where one truck stops anywhere, or as the
// usual load of its tank. Within ten minutes no truck takes the place of one that had room for it all; where loads of before took less, within a few.
func mayBeTwo(ts *tankState, t *Tank, d draw, l Load) bool {
	part, usual, least := math.Min(d.pausedBbl, l.GaugeBbl-d.pausedBbl), cmp.Or(ts.reports.usual(t), math.Inf(1)), pauseRoom
	if l.GaugeBbl > usualMost*usual {
		least = pauseTwo
	}
	return t.mayHoldTwo(d, l) && (d.pause >= least || t.Loads.TruckMax == 0) && part >= twinTruck*math.Min(l.GaugeBbl-part, usual)
}

// remarks tell a reader of a load what is no reason for doubt, with the factor
// by which its confidence is the less.
func (s siteTanks) remarks(i int, d draw, l Load) (says []string, factor float64) {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	o := opinion{factor: 1}
	say := o.add
	step, recent := ts.faults.clockStep, ts.faults.clockSteppedAt >= d.start-3600
	say(recent && step >= neverSetStep, 0.8, "the clock was not set before, times are by the new one")
	say(recent && step < neverSetStep && step != 0, 0.8, "clock stepped %+.0f s, times are by the new one", step)
	say(t.Valve && t.Group == "" && !d.setByValve, 1, "the load valve's contact did not follow, times are the level's")
	say(d.hatch > 0, 0.9, "hatch opened before it: the pressure fell by %.1f in at once", d.hatch)
	say(d.foam > 0, 0.9, "foam of %.1f in collapsed behind it and is taken off the closing", d.foam)
	say(d.late > 0, 0.95, "sensor follows the level %.0f s late, which is taken off its times and gauges", d.late)
	say(l.InflowUnknown, 1, "inflow unknown")
	pipe, most, all, paused := t.pumpRate(d) < pipeRate, t.Loads.TruckMax, l.hauledBbl(), t.mayHoldTwo(d, l) && !mayBeTwo(ts, t, d, l)
	say(paused, twoTrucks, stoppedBetween, spanText(d.pause), d.pausedBbl)
	say(!paused && !pipe && len(l.Review) == 0 && all > most && all <= moreThanOne*most, twoTrucks, "%.0f bbl at once, where a truck holds %g: one truck or two", all, most)
	at := s.st.bootedAt * s.site.speed
	say(at > d.start && at < d.end, 0.9, "restarted inside the load")
	say(len(l.Review) == 0 && d.gap >= ts.gapTold(t, d, s.site.speed), 1, "data gap %s", spanText(d.gap))
	return o.why, o.factor
}

// opinion is a confidence, and what was said of why.
type opinion struct {
	factor float64
	why    []string
}

// add says what is so, by which the confidence is less.
func (o *opinion) add(when bool, factor float64, format string, args ...any) {
	if when {
		o.factor *= factor
		o.why = append(o.why, fmt.Sprintf(format, args...))
	}
}
