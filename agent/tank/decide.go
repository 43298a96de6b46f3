package tank

import (
	"fmt"
	"math"

	"gauger/agent/eventrules"
	"gauger/agent/tank/stats"
)

const (
	backAgain = 1.0  // in about where the level would be without a fall, to which it comes back at once
	backShare = 0.03 // share of the fall that may be missing there
	someBack  = 0.3  // share of a fall that comes back from where nobody knows, above which a person should look
)

// decide says what a finished draw was.
func (u *update) decide(i int, ts *tankState, d draw, now float64) {
	t := &u.site.tanks[i]
	u.carriedLess(i, ts, &d)
	removed := t.removedBbl(d)
	minutes := math.Max(d.end-d.start, 1) / 60
	into, settles := u.evenedOut(i, d)
	switch {
	case settles:
		u.addVerdict(i, d, Transferred, fmt.Sprintf("through the equaliser it filled tank %s again, behind a draw", into))
	case t.Lact:
		u.addVerdict(i, d, Metered, "a meter makes the tickets of this tank, never its level")
	case removed < t.Loads.MinLoad && !u.sharesLoad(i, d, removed):
		u.smallDraw(i, ts, d, removed, now)
	case removed/minutes < 0.8*t.leastRate() && u.togetherRate(i, d, removed/minutes) < 0.8*t.leastRate() && d.samples > 0:
		u.addMovement(i, eventrules.UnexplainedLoss, d.start, d.end, removed, "", fmt.Sprintf("lost %.1f bbl at %.2f bbl/min, %.2f to %.2f in", removed, removed/minutes, d.opening.level, d.closing.level))
		u.addVerdict(i, d, TooSlow, fmt.Sprintf("%.2f bbl a minute, where min_rate is %g", removed/minutes, t.Loads.MinRate))
	case d.gap > t.Loads.MaxGapTicket.Seconds():
		u.lossUnseen(i, ts, &d, removed)
		u.addVerdict(i, d, TooLongUnseen, fmt.Sprintf("no reading came for %s, and max_gap_ticket is %s", spanText(d.gap), spanText(t.Loads.MaxGapTicket.Seconds())))
	case u.waterDrawn(i, d):
		u.addMovement(i, eventrules.WaterDraw, d.start, d.end, removed, "", fmt.Sprintf("%.1f bbl of water drawn, %.2f to %.2f in; the interface fell with the level", removed, d.opening.level, d.closing.level))
		u.addVerdict(i, d, WaterDrawn, "the oil/water interface fell with the level")
	default:
		if rate := u.togetherRate(i, d, removed/minutes); rate < 0.8*t.Loads.MinRate && d.samples > 0 {
			d.doubt("it left at %.1f bbl a minute, where min_rate is %g: by gravity, or a leak", rate, t.Loads.MinRate)
		}
		u.oilDraw(i, ts, d, removed, now)
	}
}

// lossUnseen tells of a fall over a gap that is too long for a ticket. What the well made in so long a time is a guess: sure are the readings
// before and after.
func (u *update) lossUnseen(i int, ts *tankState, d *draw, removed float64) {
	t, guess := &u.site.tanks[i], ", and what flowed in meanwhile"
	if d.samples == 0 {
		if d.opening.level <= float64(t.Height) && d.closing.level >= 0 {
			guess = fmt.Sprintf(", or %.0f if the well went on as before", removed)
		}
		from, to := ts.hiddenFall(*d)
		d.start, d.opening, d.end, d.closing = from.t, gauge{level: float64(from.v), samples: 1}, to.t, gauge{level: float64(to.v), samples: 1}
		d.inflowAfter, d.settled = 0, 0
	}
	u.addMovement(i, eventrules.UnexplainedLoss, d.start, d.end, t.removedBbl(*d), "", fmt.Sprintf("fell %.2f to %.2f in (%.1f bbl%s) over a gap of %s: too long for a ticket", d.opening.level, d.closing.level, t.volume(*d), guess, spanText(d.gap)))
}

// carriedLess takes back from the gauges of a draw whose edges nobody saw what the inflow carried them while other tanks took it in: a well that
// was turned to them in the silence filled this one no further.
func (u *update) carriedLess(i int, ts *tankState, d *draw) {
	t, b := &u.site.tanks[i], ts.levels.recent
	before, behind := searchTime(b, d.start)-1, searchTime(b, d.end)
	if t.Group != "" || before < 0 || behind == len(b) {
		return
	}
	less := func(g *gauge, from, to, made float64) {
		fed, unsure, _ := u.fedElsewhere(i, from, to)
		if per := t.Table.PerInch(g.level); (d.samples == 0 || g.carried > levelFar) && made != 0 && fed > math.Max(fedSure*unsure, wrongBbl(math.Abs(made)*per)) {
			by := stats.Clamp(made, -fed/per, fed/per)
			g.level, g.carried = g.level-by, g.carried*(1-by/made)
		}
	}
	less(&d.opening, b[before].t, d.start, math.Max(0, d.opening.level-float64(b[before].v)))
	less(&d.closing, d.end, b[behind].t, math.Min(0, d.closing.level-float64(b[behind].v)))
}

// smallDraw counts a draw below the least load, and whether its oil came back.
func (u *update) smallDraw(i int, ts *tankState, d draw, removed, now float64) {
	t := &u.site.tanks[i]
	back, returned := "", 0.0
	if fall, r := d.fall(), ts.regained(t, d, now); r.inches >= explainedShare*fall && !u.othersGaveBack(i, d, r) {
		removed = t.volume(d) // what came back is no inflow
		returned = removed
		back = fmt.Sprintf(", and the %.1f in came back", fall)
	}
	v := u.addVerdict(i, d, TooSmall, fmt.Sprintf("%.1f bbl of the %g that min_load wants", removed, t.Loads.MinLoad)+back)
	if v.Returned = returned > 0; v.Returned {
		v.Bbl = stats.Round(returned, 2)
	}
	ts.smallDraws.add(d, removed, returned)
	if t.Group == "" && back == "" {
		u.fellTogether(i, d, removed)
	}
}

// oilDraw decides about a draw that took oil out of the tank.
func (u *update) oilDraw(i int, ts *tankState, d draw, removed, now float64) {
	if why := u.undone(i, ts, &d); why != "" {
		if math.IsInf(d.leaptAt, 1) { // else it was told as a step
			u.addEvent(i, eventrules.Step, d.start, d.end, fmt.Sprintf("level fell from %.2f to %.2f in, and it was no load: %s. Foam, ice, a false echo or work on the sensor does that", d.opening.level, d.closing.level, why))
		}
		u.addVerdict(i, d, Echo, why)
		return
	}
	name, rose := u.othersRoseOver(i, d)
	into, moved := u.filledWhileDrawn(i, d)
	if rose < arrivesShare*removed && !moved && u.parted(i, ts, &d) {
		removed = u.site.tanks[i].removedBbl(d)
		name, rose = u.othersRoseOver(i, d)
		into, moved = u.filledWhileDrawn(i, d)
	}
	if rose >= explainedShare*removed && (!u.explainsRise(i, d, removed) || u.onlyReturned(i, d, removed)) {
		d.doubt("tank %s rose by %.1f bbl meanwhile, but not in step with this one, or more than one fell: a transfer is not excluded", name, rose)
		rose = 0
	}
	fell := u.site.tanks[i].volume(d)
	from, to := d.shows()
	if gained, ok := ts.riseKnown(&u.site.tanks[i], from, to, ts.readFar()); ok { // a transfer that fades has no end to carry its gauge to
		fell = math.Min(fell, -gained)
	}
	if rose >= explainedShare*removed && rose < arrivesShare*fell && u.nothingElse(i, d) {
		d.doubt("tank %s rose by %.1f of these %.1f bbl meanwhile: a transfer, unless a truck unloaded there", name, rose, removed)
		rose = 0
	}
	if rose < explainedShare*removed && moved {
		name, rose = into, removed
	}
	if into, _ = u.evenedOut(i, d); into != "" {
		name, rose = into, removed
	}
	if rose >= explainedShare*removed {
		note := fmt.Sprintf("%.1f bbl moved to tank %s, %.2f to %.2f in", removed, name, d.opening.level, d.closing.level)
		if d.samples == 0 {
			note = fmt.Sprintf("%.1f bbl went, %.2f to %.2f in, and may have moved to tank %s: no reading came meanwhile, so that nobody saw it", removed, d.opening.level, d.closing.level, name)
		}
		u.addMovement(i, eventrules.Transfer, d.start, d.end, removed, name, note)
		u.addVerdict(i, d, Transferred, fmt.Sprintf("meanwhile other tanks rose by %.1f bbl, most of all %s", rose, name))
		return
	}
	if r := ts.regained(&u.site.tanks[i], d, now); (r.inches >= someBack*d.fall() || r.atOnce(&u.site.tanks[i], d) || r.rolled(d, removed)) && !u.othersGaveBack(i, d, r) {
		said := fmt.Sprintf("%.1f in of the %.1f in came back, from %s after it", r.inches, d.fall(), spanText(r.first-d.end))
		if r.rolled(d, removed) {
			u.addEvent(i, eventrules.Recirculation, d.start, d.end, fmt.Sprintf("%.1f bbl out, %.2f to %.2f in, and %.2f in came back", u.site.tanks[i].volume(d), d.opening.level, d.closing.level, r.inches))
			u.addVerdict(i, d, Recirculated, said)
			return
		}
		d.doubts = append(d.doubts, said)
	} else {
		u.takeRisen(i, ts, &d, now)
	}
	u.oilLoad(i, ts, d, removed, now)
}

// parted takes out of a draw what went to another tank before a truck loaded, or behind it: that one rose meanwhile by what this one
// fell, and rested while the truck loaded, and outside of the draw.
func (u *update) parted(i int, ts *tankState, d *draw) bool {
	t := &u.site.tanks[i]
	from, to := d.start-joinWithin, d.end+showsTo
	if t.Group != "" || d.samples == 0 || len(u.fallingTanks(i, from, to)) > 1 {
		return false
	}
	for j, o := range u.separate(i) {
		other := u.st.tanks[j]
		rose, seen := other.riseKnown(o, from, to, other.interval.gapMin(o, u.site.speed))
		if !seen || rose < math.Hypot(math.Max(partBbl, wrongBbl(t.volume(*d))), 2*restSigmas*other.noise.perSample()*o.Table.PerInch(other.last.v)) {
			continue
		}
		cut, said := other.levels.roseIn(from, to, other.inflow(o, from).usual), "before"
		if cut.hi >= d.end-movedLeast {
			cut.hi, said = cut.lo, "behind"
		}
		load, moved, ok := cutAt(ts, t, *d, cut.hi, said == "before", rose)
		went, beside := t.removedBbl(moved), other.rise(o, from-burstSeconds, from)+other.rise(o, to, to+burstSeconds)
		if !ok || onlyBack(other, from, to) || beside > partMoved*rose || rose < arrivesShare*went || went < arrivesShare*rose || t.removedBbl(load) < t.Loads.MinLoad {
			continue
		}
		u.addMovement(i, eventrules.Transfer, moved.start, moved.end, went, o.ID, fmt.Sprintf("%.1f bbl moved to tank %s, %.2f to %.2f in, %s a load", went, o.ID, moved.opening.level, moved.closing.level, said))
		load.parts, load.pause, load.stood, load.early = 1, 0, 0, 0
		load.doubt("tank %s rose by %.1f bbl %s it: they moved there and are not in it", o.ID, rose, said)
		*d = load
		return true
	}
	return false
}

// cutAt cuts a draw in two, of which one moved and the other tank shows how much: more exactly than the level between two readings.
func cutAt(ts *tankState, t *Tank, d draw, at float64, first bool, rose float64) (load, moved draw, ok bool) {
	level, ok := ts.levels.about(at)
	if !ok || at < d.start+movedLeast || at > d.end-movedLeast {
		return d, d, false
	}
	load, moved = d, d
	cut := func(level, err float64) {
		g := gauge{level: level, err: err, samples: 1}
		if first {
			moved.end, moved.closing, load.start, load.opening, load.within.lo = at, g, at, g, at
			return
		}
		moved.start, moved.opening, load.end, load.oilTo, load.closing, load.within.hi, load.next = at, g, at, at, g, at, at
		load.endLine = line{at, level, -load.slope()}
	}
	each, b := ts.interval.fresh(), ts.levels.recent
	if k := searchTime(b, at); k > 0 && k < len(b) && !ts.interval.cached() {
		each = b[k].t - b[k-1].t // one that reports only changes is silent at rest, and not in a fall
	}
	per, err := t.Table.PerInch(level), math.Hypot(ts.noise.perSample(), d.slope()*each/2)
	cut(level, err)
	if off := (rose - t.removedBbl(moved)) / per; math.Abs(off) < 2*err+wrongBbl(rose)/per {
		if first {
			off = -off
		}
		cut(level+off, wrongBbl(rose)/2/per)
	}
	return withoutStop(ts, load, at), moved, true
}

// withoutStop is a draw without the rest between it and a time at its beginning or end.
func withoutStop(ts *tankState, d draw, at float64) draw {
	b, edge := between(ts.levels.recent, d.start, d.end), math.Max(stopBit, backNoise*ts.noise.perSample())
	for k := range b {
		switch x := b[len(b)-1-k]; {
		case at == d.start && float64(b[k].v) < d.opening.level-edge:
			d.start = math.Max(at, b[k].t-(d.opening.level-float64(b[k].v))/d.slope())
			return d
		case at == d.end && float64(x.v) > d.closing.level+edge:
			d.end = math.Min(at, x.t+(float64(x.v)-d.closing.level)/d.slope())
			d.oilTo = d.end
			return d
		}
	}
	return d
}

// oilLoad tells of a draw that a truck or a pipeline took, and of what speaks against it.
func (u *update) oilLoad(i int, ts *tankState, d draw, removed, now float64) {
	t := &u.site.tanks[i]
	switch {
	case t.Group != "":
		if withoutTold(ts, t, &d); t.volume(d) < partBbl {
			u.addVerdict(i, d, TooSmall, "what it gave to a load of its group is in a ticket of before")
			return
		}
		if !d.share {
			d.doubts = append(d.doubts, u.slowShares(i, d, removed, now)...)
		}
		if mate, bbl := u.filledMates(i, d); bbl > 0 {
			d.cameIn = -bbl
			d.doubtGauge(&d.closing, bbl/2/t.Table.PerInch(d.closing.level), "tank %s of its group stood lower and took in %.1f bbl of what left this one: no truck had them", mate, bbl)
		}
		d.doubts = append(d.doubts, u.missingShares(i, d, removed)...)
	case t.Valve:
		ts.startAndEndByValve(t, &d)
	}
	if why, moved := u.partlyMoved(i, d, removed); why != "" {
		d.doubts = append(d.doubts, why)
		d.closing.unsure(moved / 2 / t.Table.PerInch(d.closing.level))
	}
	u.startsAtPeak(i, &d)
	if from, came, edge := u.cameFrom(i, d); came > wrongBbl(removed) {
		d.cameIn += came
		d.note(edge, fmt.Sprintf("tank %s was moved into it meanwhile: %.1f bbl came in and are not in its gauges", from, came))
	}
	if name, by := u.roseAnotherTime(i, d, removed); name != "" {
		d.doubt("tank %s rose by as much in as long a time, %s off: a transfer, if its readings are so late or early", name, spanText(by))
	}
	if from, short := u.fellShort(i, d); short > wrongBbl(removed) {
		d.doubt("tank %s was moved into it until it fell, and %.1f bbl of that did not arrive: the truck may have loaded meanwhile", from, short)
	}
	if into := u.wentTo(i, d); into != "" {
		d.doubt("tank %s rose as it fell, or fell the slower, before a truck loaded there, meanwhile or after: a transfer, and maybe no load", into)
	}
	if d.stuck.to > 0 {
		forgetHung(ts, d.stuck.from)
		u.addEvent(i, eventrules.Stuck, d.stuck.from, d.stuck.to, fmt.Sprintf("value stood still for %s during a load, then came down to %.2f in at once", spanText(d.stuck.to-d.stuck.from), d.closing.level))
	}
	shut := takeHatch(ts, t, &d, now)
	bbl, pause := begunBefore(ts, t, d)
	if fell := bbl / t.Table.PerInch(d.opening.level); d.hatch == 0 && bbl > wrongBbl(removed) && t.feelsGas() && fell <= hatchUsual && shutAgain(ts, t, d, fell, math.Min(ts.lastDrawStart, d.start-pause), now) {
		d.hatch = fell
	}
	if d.hatch == 0 && d.early > wrongBbl(removed) && (!d.checks || shut) {
		d.doubtGauge(&d.opening, d.early/2/t.Table.PerInch(d.opening.level), "%.1f bbl left %s before the rest: a bleed, an opened hatch, or its start", d.early, spanText(d.earlyBy))
	}
	if d.hatch == 0 && bbl > wrongBbl(removed) {
		d.doubtGauge(&d.opening, bbl/2/t.Table.PerInch(d.opening.level), "%.1f bbl left %s before it, perhaps as fast, and are not counted: its start, a bleed, or a hatch", bbl, spanText(pause))
	}
	if foam, said := foamAtOpening(ts, t, d, u.roseOnceBefore(i, d)); foam*t.Table.PerInch(d.opening.level) > wrongBbl(removed) {
		d.opening.err, d.doubts = math.Hypot(d.opening.err, foam/2), append(d.doubts, said)
	}
	takeLate(ts, t, &d, now)
	if g, foam := behindFoam(ts, t, d, now); g.samples > 0 && !u.sankInto(i, &d, now) {
		d.closing, d.foam = g, foam
		d.doubts = append(d.doubts, stillFoam(ts, t, d, now)...)
	}
	u.takeNext(i, ts, &d)
	takeFallenOn(ts, t, &d, now)
	takeStepped(ts, t, &d)
	u.doubtReadings(i, &d, now)
	u.doubtSignal(i, &d)
	if since, made, leapt := hungInto(ts, d); leapt || since > 0 && !u.shutOff(i, d, since, d.start) && !ts.levels.pausesSo(since, d.start-since, d.opening.level, 0, d.inflowBefore) {
		takeHung(&d, since, made, leapt, math.Max(made, d.usualInflow)*(d.start-since)*t.Table.PerInch(d.opening.level) > wrongBbl(t.volume(d)))
	}
	if where, long, asks := stoodStill(ts, t, d); long > 0 && !(where == itsClosing && u.staysShutOff(i, d, d.end+long)) {
		if where == itsClosing && asks { // it may only bound the oil, by what the well made meanwhile
			d.closing.unsure(math.Max(d.fasterInflow(), d.inflow.usual) * long / 2)
		}
		d.note(asks, fmt.Sprintf("value stood still at %s for %s: a sensor that hung, its blind zone, or a float at its stop", where, spanText(long)))
	}
	u.tellClock(i, ts, &d, now)
	l := u.makeLoad(i, ts, d)
	u.addEvidence(i, ts, d, now, &l)
	ts.reports.keep(l, d)
	u.out = append(u.out, Outcome{Load: &l})
}

// takeNext takes what was read next to a draw for its gauge where that lies beyond it by more than makes a ticket wrong, and asks.
func (u *update) takeNext(i int, ts *tankState, d *draw) {
	t := &u.site.tanks[i]
	if t.Group != "" || takeSunk(ts, t, d) {
		return
	}
	wrong := wrongBbl(t.volume(*d)) / t.Table.PerInch(d.closing.level)
	if off := aloneAt(ts, *d, d.opening, false); off > wrong && off < d.fall() {
		d.opening.level, d.opening.err = d.opening.level-off, math.Hypot(d.opening.err, off/4)
		d.doubt("one reading alone leads to an opening %.1f in above all the others before it: theirs is taken", off)
	}
	if off := aloneAt(ts, *d, d.closing, true); off > wrong && off < d.fall() {
		d.closing.level, d.closing.err = d.closing.level+off, math.Hypot(d.closing.err, off/4)
		d.doubt("one reading alone leads to a closing %.1f in below all the others behind it: theirs is taken", off)
	}
}

// forgetHung takes out of the samples those of a value that hung since a time: they are no rest.
func forgetHung(ts *tankState, since float64) {
	b := ts.levels.recent
	k := searchTime(b, since)
	if k == len(b) {
		return
	}
	_, last := sameAs(b, k)
	ts.levels.recent = append(append(make([]sample, 0, recentMost), b[:k]...), b[last+1:]...)
}

// begunBefore are the barrels of a small draw no longer before another than a truck may pause, about as fast, and still missing in part, and that
// pause in seconds; 0 where there was none. What is more than a bleed may have been the truck's own for longer.
func begunBefore(ts *tankState, t *Tank, d draw) (bbl, pause float64) {
	s, pause, longest := ts.smallDraws, d.start-ts.lastDrawEnd, t.Loads.PauseMerge.Seconds()
	times, missing := s.lastBbl/math.Max(ts.lastDrawEnd-ts.lastDrawStart, 1)*60/t.pumpRate(d), s.lastBbl/2
	if s.lastBbl >= bleedBbl {
		longest, missing = t.Loads.Confirm.Seconds(), wrongBbl(t.volume(d))
	}
	if pause > math.Max(longest, t.Loads.PauseMerge.Seconds()+fellEvery) {
		return hiddenBefore(ts, t, d)
	}
	high, ok := ts.levels.about(ts.lastDrawStart - nodeEvery)
	leapt, _ := leaps(ts, t, draw{start: ts.lastDrawStart, end: ts.lastDrawEnd}, fasterThan)
	stepped, gone := leapt*t.Table.PerInch(high) > s.lastBbl/2, t.barrels(high, d.opening.level) // the sensor did
	misread := gone > 2*s.lastBbl+wrongBbl(t.volume(d))                                          // it ended on a level that a gateway held
	if !ok || gone < missing || stepped || s.last != ts.lastDrawEnd || pause > longest || !misread && (times < foamRate || times > hatchFaster) {
		return 0, 0
	}
	return math.Max(s.lastBbl, gone), pause
}

// hiddenBefore is the same of a draw that the noise hides, or how fast it was: the middle readings lay higher before it. What stands
// further out of the noise was no draw, or it would have been found.
func hiddenBefore(ts *tankState, t *Tank, d draw) (bbl, pause float64) {
	since, at, high := d.start-t.Loads.PauseMerge.Seconds()-fellEvery, d.start, d.opening.level
	for from, v := range ts.levels.middles(since, d.start) {
		if v >= high {
			at, high = from+fellEvery, v
		}
	}
	times := (high - d.opening.level) / neighbourScatter(between(ts.levels.recent, since, d.start))
	if t.Group != "" || !(times >= restSigmas && times <= 2*restSigmas) {
		return 0, 0
	}
	return t.barrels(high, d.opening.level), d.start - at
}

// turnedTo says that between two times the site's other tanks took in most of the barrels that a well makes in a tank, which has stood still
// since a time, and since then as much more than before as went into it before: the well was turned to them.
func (s siteTanks) turnedTo(i int, since, from, to, bbl float64) bool {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	before := math.Max(ts.decidedTo+resumeFirst, since-stillLook)
	a, ok1 := ts.levels.about(before)
	b, ok2 := ts.levels.about(since)
	share := (to - since) / (since - before)
	always := ok1 && ok2 && since-before > levelFar && turnedSure*s.othersFilled(i, since, to) < share*(s.othersFilled(i, before, since)+explainedShare*t.barrels(b, a))
	return t.Group == "" && !always && s.othersFilled(i, from, to) >= explainedShare*bbl
}
