package tank

import (
	"math"
	"slices"
	"sort"

	"gauger/agent/tank/stats"
)

const (
	afterGap    = 2400.0     // s after a gap that hid the end of a draw
	frozenLeast = 900.0      // s before a draw in which nothing flowed in where the value stood
	stillMost   = 4 * 3600.0 // s that a value which stands still behind a draw is waited for
	waveLong    = 50.0       // s that the oil may take for one wave
	unrestMost  = 6.0        // confirmations that a sensor in somebody's hands is waited for
	overdueMost = 2 * 3600.0 // s behind a load's end, after which it waits for no small fall before it any more
	evenShare   = 0.1        // share of a draw by which the tanks of a group that stood even lay apart at most, and
	evenNear    = 3.0        // in
	comesFor    = 300.0      // s in which what a tank lies apart becomes less by a share, where it comes back
	comesShare  = 0.95
	comesFar    = 2.0 // times as far apart as they stood before that they lie at least
	searchFew   = 4   // falls of draws that are undecided, of which more are searched the more seldom
)

// conclude decides what has waited long enough by now.
func (u *update) conclude(i int, ts *tankState, now float64) {
	if ts.bin.n > 0 && now-ts.bin.first >= 60 {
		u.flush(i, ts)
	}
	u.reportEpisodes(i, ts, now)
	if ts.drawing && now >= ts.judgeAt {
		u.judgeDraws(i, ts, now, false)
	}
}

// judgeDraws looks for draws among the samples and decides those that are ripe, all of them when
// nothing that comes can say more.
func (u *update) judgeDraws(i int, ts *tankState, now float64, all bool) {
	t := &u.site.tanks[i]
	confirm := t.Loads.Confirm.Seconds()
	ts.levels.recent = ts.interval.learnBeat(ts.levels.recent, ts.searchFrom)
	draws, waits := ts.draws(t, u.site.speed, now)
	draws = u.cutByMates(i, draws)
	falls := 0 // more than draws where a swing joins them: each is measured anew
	for _, d := range draws {
		falls += d.falls
	}
	ts.judgeAt = now + 60*math.Max(1, float64(falls/searchFew))
	if len(draws) == 0 {
		restsUntilFall(ts)
	}
	for k, d := range draws {
		d.next = math.Min(d.leaptAt, t.nextLoad(d.end, draws[k+1:]))
		u.startJointly(i, ts, &d)
		u.opensTogether(i, ts, &d)
		d.evened = d.end
		if _, settles := u.evenedOut(i, d); !settles { // else its fall was only the equaliser's own, behind a draw
			u.readTogether(i, ts, &d)
		}
		if !all && !u.decidable(i, ts, d, now, draws[k+1:]) {
			if !waits {
				ts.judgeAt = math.Max(ts.judgeAt, d.end+confirm)
			}
			return
		}
		for _, x := range draws[k+1:] {
			if by, _ := leaps(ts, t, x, fasterThan); by*t.Table.PerInch(x.closing.level) >= wrongBbl(t.volume(d)) {
				d.tellLeapt(ts, t, x.start, x.end, by)
				d.next = math.Min(d.next, x.start)
				break
			}
		}
		u.tellMoved(i, ts, &d)
		if by, _ := leaps(ts, t, d, fasterThan); by >= leapSome*d.fall() {
			u.correctStepped(i, ts, d.opening.level, point{d.end, d.closing.level})
		}
		u.decide(i, ts, d, now)
		ts.decidedTo, ts.lastDrawStart, ts.lastDrawEnd = max(ts.decidedTo, d.end, d.stuck.to), d.start, d.end
		for _, m := range d.moved {
			ts.decidedTo = math.Max(ts.decidedTo, m.at)
		}
		ts.forgetSeen(d.end)
	}
	if all || now-ts.lastFallAt > confirm {
		ts.drawing, ts.firstSeen = false, nil
		if k := newestLeap(ts.levels.recent); k > 0 {
			ts.levels.keep(ts.levels.recent[k:])
		}
		ts.levels.linkHistory(ts.drawPhase, ts.faults.jumpedAt, math.Inf(1))
		return
	}
	ts.judgeAt = math.Max(ts.judgeAt, ts.lastFallAt+confirm)
}

// blindOver says that nobody knows what a group's tank gave over a draw from another: it was not read, or its value stood still, as it
// never does, and did not go on from there as the equaliser was opened, into the other.
func (s siteTanks) blindOver(i, j int, d draw) bool {
	ts := s.st.tanks[j]
	_, before := ts.levels.held(d.start)
	_, behind := ts.levels.held(d.end)
	if !before || !behind || ts.noise.hidesLevel() {
		return true
	}
	b := between(ts.levels.recent, math.Inf(-1), d.end)
	since, _ := sameAs(b, len(b)-1)
	if len(b) == 0 || b[since].t >= d.start || !ts.interval.stood(d.end-b[since].t, neverHeld) {
		return false
	}
	stood := d.end
	for _, x := range between(ts.levels.recent, d.end, d.end+evenLongest) {
		if gave := s.site.tanks[j].barrels(float64(b[since].v), float64(x.v)); gave > partBbl {
			was, _ := s.st.tanks[i].levels.held(stood)
			is, _ := s.st.tanks[i].levels.held(x.t)
			return s.site.tanks[i].barrels(is, was) < explainedShare*gave
		}
		if x.v == b[since].v {
			stood = x.t
		}
	}
	return true
}

// joined are the tanks beside one in its group whose levels are known over a draw, and the share of a barrel in all of them
// together that is its own where they stand even.
func (s siteTanks) joined(i int, d draw) (mates []int, share float64) {
	own, all := s.site.tanks[i].Table.PerInch(d.closing.level), 0.0
	for j, o := range s.mates(i) {
		if !s.blindOver(i, j, d) {
			v, _ := s.st.tanks[j].levels.held(d.end)
			mates, all = append(mates, j), all+o.Table.PerInch(v)
		}
	}
	return mates, own / (own + all)
}

// heldBy is what some tanks hold at a time, in inches of another tank.
func (s siteTanks) heldBy(mates []int, at, per float64) (inches float64, ok bool) {
	for _, j := range mates {
		v, known := s.st.tanks[j].levels.held(at)
		if !known {
			return 0, false
		}
		bbl, _ := s.site.tanks[j].Table.Extrapolated(v)
		inches += bbl / per
	}
	return inches, true
}

// sumOf is what some tanks hold together whenever one of them was read, in inches of another: the same, whichever of them is asked.
func (s siteTanks) sumOf(tanks []int, from, to, per float64) (sum []sample) {
	for _, j := range tanks {
		for _, x := range between(s.st.tanks[j].levels.recent, from, to) {
			if in, known := s.heldBy(tanks, x.t, per); known {
				sum = append(sum, sample{t: x.t, v: float32(in)})
			}
		}
	}
	sort.Slice(sum, func(i, j int) bool { return sum[i].t < sum[j].t }) // of two that were read at once the sums are the same
	return sum
}

// heldTogether is, at each of a tank's samples, what it and its mates hold, in inches of it, and how far it lies apart from them, until the
// level of one of them is not known.
func (s siteTanks) heldTogether(b []sample, mates []int, share, per float64) (sum, apart []sample) {
	sum, apart = make([]sample, 0, len(b)), make([]sample, 0, len(b))
	for _, x := range b {
		in, ok := s.heldBy(mates, x.t, per)
		if !ok {
			break
		}
		sum, apart = append(sum, sample{t: x.t, v: x.v + float32(in)}), append(apart, sample{t: x.t, v: x.v - float32(in*share/(1-share))})
	}
	return sum, apart
}

// readTogether reads a group's tank when the equaliser has done its work, or at the end of the draw where it has none to do: what all tanks hold together moves
// only with pump and well. Where no other fell with it the equaliser was shut, and its own closing stands; what leaves the others later is no part of it.
func (s siteTanks) readTogether(i int, ts *tankState, d *draw) {
	t := &s.site.tanks[i]
	mates, share := s.joined(i, *d)
	if t.Group == "" || len(mates) == 0 {
		return
	}
	per := t.Table.PerInch(d.closing.level)
	hi := min(d.within.hi, d.leaptAt, d.end+evenLongest)
	behind := slices.Clone(between(ts.levels.recent, d.start, hi))
	first := searchTime(behind, d.end)
	sum, apart := s.heldTogether(behind[first:], mates, share, per)
	if n := first + len(sum); n < len(behind) {
		hi = behind[n].t
	}
	alone, stopped, next := s.fellAlone(i, *d), d.end, d.within.hi
	noise := 2 * restSigmas * neighbourScatter(sum)
	least := partBbl/per + noise
	if n := fallsOn(sum, d.end+joinWithin, least, noise); n < len(sum) {
		was, _ := s.heldBy(mates, d.start, per)
		stood, _ := s.heldBy(mates, d.end, per)
		if fell := d.fall(); alone || sum[n].t >= d.end+pauseSure && !s.goesOn(i, d.end, sum[n].t) || fell+was-stood < (1-explainedShare)*fell { // or no pump had drawn
			hi, next, sum, apart = sum[n].t, sum[n].t, sum[:n], apart[:n]
		} else { // the pump took on what came through the equaliser
			n = restsFrom(sum, n, least)
			first, stopped, sum, apart = first+n, sum[n].t, sum[n:], apart[n:]
		}
	}
	if len(sum) < stepFew {
		return
	}
	behind = behind[:first+len(sum)]
	r := ts.resting(t, *d)
	r.at = stopped
	made, all, stood, moves := d.inflow, d.inflow.usual, 0.0, 0.0 // what the wells make, in inches of this tank, and what still had to move when it was read how far it lies apart
	for _, j := range mates {
		o := &s.site.tanks[j]
		all += s.st.tanks[j].inflow(o, d.start).usual * o.Table.PerInch(d.closing.level) / per
	}
	e := r.evening(apart, all+made.err)
	e.first *= 1 - share // its own part of what they come nearer
	switch {
	case alone:
		stood, _ = s.heldBy(mates, d.end, per)
		was, _ := s.heldBy(mates, d.start, per)
		rising := stats.Clamp((stood-was)/math.Max(d.end-d.start, 1), 0, all) // what the wells made and the others had
		for k := range sum {
			behind[first+k].v = sum[k].v - float32(stood+rising*(sum[k].t-d.end))
		}
		made.usual = math.Max(0, all-rising)
	case e.first != 0 || stopped > d.end || d.evened > d.end: // the last one: as another of its load is
		quiet := max(t.Loads.GroupSettle.Seconds(), d.evened-stopped, math.Min(e.until(evenBbl/per), evenLongest/2))
		if e.first == 0 && stopped == d.end && !d.bySum {
			next = 0 // another evens out: nobody knows when this one has
		}
		off, even := s.lastApart(ts, *d, mates, share, per, bounds{stopped + quiet, next}, float64(apart[len(apart)-1].v)*(1-share))
		comes := !d.uneven && s.comeBack(i, *d, math.Min(stopped+quiet, hi-nodeEvery))
		if comes {
			off, even = s.lastApart(ts, *d, mates, share, per, bounds{math.Inf(1), math.Inf(1)}, off)
		}
		for k := range sum {
			behind[first+k].v = float32(off + share*float64(sum[k].v))
		}
		if d.evened = math.Min(stopped+quiet, math.Max(stopped, hi-gaugeAfter)); comes {
			moves = 0
		} else if even {
			moves = e.off(quiet)
		} else {
			moves = e.off(d.evened - stopped)
		}
	}
	d.behind = behind
	d.inflowAfter, d.inflow = ts.inflowResumed(t, behind, point{d.end, d.closing.level}, hi, made)
	ts.closeEvened(t, d, stopped, hi, moves)
}

// closeEvened reads a draw's closing off what is taken for its level behind it, as the equaliser leaves that; it came to rest at a time, and may still have to
// move so far.
func (ts *tankState) closeEvened(t *Tank, d *draw, stopped, hi, moves float64) {
	rest := *d
	if d.evened > d.end {
		rest.deadband = 0 // what it reported while it fell was its own level, and no share
	}
	d.closing = ts.restedGauge(t, &rest, d.behind, bounds{d.start, hi}).orLine(line{d.end, d.closing.level, d.inflowAfter}, d.end, ts.noise.perSample())
	if d.evened > d.end {
		even, knee, last := rest, d.closing.level, d.behind[len(d.behind)-1] // which a tank that reports only changes has long before
		even.end, even.oilTo = d.evened, stopped
		d.closing = ts.restedGauge(t, &even, d.behind, bounds{d.start, hi}).orLine(line{last.t, float64(last.v), d.inflowAfter}, d.evened, ts.noise.perSample())
		if d.settled = d.closing.level - knee; stopped > d.end {
			d.settled = d.inflowAfter * (d.evened - d.end)
		}
		d.closing.unsure(moves / 2)
	}
}

// decidable says that a draw is over and its confirmation has passed. One that another followed is over, however little of its end was seen; one too small for
// a load does not keep a load behind it waiting for hours.
func (u *update) decidable(i int, ts *tankState, d draw, now float64, behind []draw) bool {
	t, speed, followed := &u.site.tanks[i], u.site.speed, len(behind) > 0
	wait := t.Loads.Confirm.Seconds()
	if t.Group != "" {
		wait = math.Max(wait, math.Min(math.Max(d.evened-d.end, t.Loads.GroupSettle.Seconds())+gaugeAfter, evenLongest))
	}
	if now < d.end+wait {
		return false
	}
	if now-ts.last.t >= t.Loads.MaxGapTicket.Seconds() {
		return true
	}
	usual := math.Max(ts.interval.fresh(), t.Every.Seconds()*speed)
	silent := now - math.Max(ts.last.t, u.st.bootedAt*speed)
	rest, enough := len(ts.levels.recent)-searchTime(ts.levels.recent, d.end), restFew
	if usual > wait {
		enough-- // of readings that are so far apart two take hours
	}
	if !followed && (d.leaptAt > now && !ts.stopped(d) || ts.brokeOff(t, d)) || rest < enough && silent < 2*usual+300 {
		return false // the readings stopped while it fell: they will tell
	}
	if d.closing.away > t.Loads.GapMin.Seconds() && ts.interval.fresh() < 120 && now-d.end-d.closing.away < afterGap {
		return false // what flowed in unseen shows in what flows in now
	}
	overdue := func(x draw) bool { return t.removedBbl(x) >= t.Loads.MinLoad && now >= x.end+overdueMost }
	if t.removedBbl(d) < t.Loads.MinLoad && slices.ContainsFunc(behind, overdue) {
		return true
	}
	if ts.unrest(t, d, now) {
		return false
	}
	return (!ts.frozenAtEnd(t, d, now) || u.staysShutOff(i, d, ts.last.t)) && !ts.stillReturning(t, d, now)
}

// brokeOff says that the readings of a tank that is polled stopped so soon after what looks like the end of a draw that it may be a
// wave, and the pump went on.
func (ts *tankState) brokeOff(t *Tank, d draw) bool {
	return t.Every > 0 && ts.last.t < d.end+waveLong
}

// unrest says that somebody works on the sensor: it jumped since a draw, or shows what is not believed, and is waited for until it
// has been calm for as long as a confirmation takes; or it jumped before, and is likely to jump again.
func (ts *tankState) unrest(t *Tank, d draw, now float64) bool {
	wait := t.Loads.Confirm.Seconds()
	at, doubted := jumps(ts, t, d.end), leaptBefore(ts, d) > 0 || d.samples == 0 || !pumped(ts, t, d, 1) || ts.regained(t, d, now).inches >= someBack*d.fall()
	if echo := ts.faults.spikes.last; doubted && echo > d.end {
		at = append(at, echo)
	}
	switch {
	case ts.pending.count >= stepFew && len(at) == 0 && leaptBefore(ts, d) == 0:
		return now < d.end+2*wait
	case ts.pending.count >= stepFew:
		return now < d.end+unrestMost*wait
	case len(at) > 0:
		return now < math.Min(d.end+unrestMost*wait, math.Max(ts.lastFallAt, slices.Max(at))+wait)
	case ts.cameAndWent(d) && doubted:
		return now < math.Min(d.end+unrestMost*wait, ts.lastFallAt+wait)
	}
	return ts.faults.jumpedAt > d.start-jumpLately && ts.faults.jumpedAt < d.end && now < d.end+2*wait && !pumped(ts, t, d, 1)
}

// cameAndWent says that since a draw the level rose again by a share of it, and fell again by as much.
func (ts *tankState) cameAndWent(d draw) bool {
	least := pumpedBack * d.fall()
	highest := d.closing.level
	for _, s := range between(ts.levels.recent, d.end, math.Inf(1)) {
		if highest = math.Max(highest, float64(s.v)); highest-d.closing.level > least && highest-float64(s.v) > least {
			return true
		}
	}
	return false
}

// frozenAtEnd says that the value stands still since the end of a draw as this sensor never does, or seldom does where readings are far apart, or
// through steps that its well made until then: the end may be the sensor's and not the truck's, and is waited for.
func (ts *tankState) frozenAtEnd(t *Tank, d draw, now float64) bool {
	long, left := stoodThrough(ts, d, now)
	through := long > 0 && left == 0 && now < d.end+math.Min(t.Loads.Stuck.Seconds(), stillMost)
	return through || (ts.standsSince(d, neverHeld) || ts.interval.fresh() > seldomRead && ts.standsSince(d, seldomHeld)) && now < ts.heldUntil(t)
}

// staysShutOff says that the well was turned to other tanks before a draw, or when it ended, and is there until a time, and that no noise moved the
// value before the draw either: one that it moved there, and none behind it, hangs.
func (s siteTanks) staysShutOff(i int, d draw, until float64) bool {
	b := between(s.st.tanks[i].levels.recent, d.start-frozenLeast, d.start-nodeEvery)
	return neighbourScatter(b) <= quietSteps*leastStep(b) && (s.shutOff(i, d, d.end, until) || s.awayBehind(i, d, until))
}

// heldUntil is until when a value that stands still is given time to move.
func (ts *tankState) heldUntil(t *Tank) float64 {
	return ts.heldSince + math.Min(t.Loads.Stuck.Seconds(), stillMost)
}

// standsSince says that the value stands since the end of a draw, some times as long as this sensor's do. Where it stood as still before the
// draw nothing flows in.
func (ts *tankState) standsSince(d draw, times float64) bool {
	if before := between(ts.levels.recent, d.start-frozenLeast, d.start-nodeEvery); len(before) > stepFew && changesIn(before) == 0 {
		return false
	}
	return d.step < coarseLeast && ts.heldSince <= d.end+120 && ts.interval.stood(ts.last.t-ts.heldSince, times) &&
		len(between(ts.levels.recent, ts.heldSince, math.Inf(1))) >= heldFew // of a silence nobody knows
}

// lastDrawBefore is the end of the newest draw that began before a time.
func (ts *tankState) lastDrawBefore(t *Tank, speed, before, now float64) float64 {
	last := ts.lastDrawEnd
	if !ts.drawing {
		return last
	}
	ds, _ := ts.draws(t, speed, now)
	for _, d := range ds {
		if d.start < before {
			last = math.Max(last, d.end)
		}
	}
	return last
}
