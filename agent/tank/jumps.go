package tank

import (
	"fmt"
	"math"
	"slices"

	"gauger/agent/eventrules"
	"gauger/agent/tank/stats"
)

const (
	handledOff   = 0.1  // share of a fall by which a sensor that was lifted is let in again elsewhere, at most as far as handledNear
	handledJumps = 2    // of a sensor that somebody has in hands, about a draw
	spanMost     = 30.0 // in by which a sensor is spanned anew while a truck loads; further it moves in somebody's hands
	stepBeside   = 5    // samples on either side of a step that show it
	stepPump     = 1.5  // times the load's own rate that a pump may do or leave in the time between two readings
	stepRough    = 6.0  // times the scatter about the falling lines
	stepUp       = 3.0  // in that it jumps up at least, and twice as much where it falls on no more
	stepOn       = 4.0  // times slower than the draw that it falls on at least behind a jump up
)

// jumpedBack is when, before a draw, the level was where it came to rest, alive, some time after it, but for what the well made: where most of the way back, or
// up to the opening, was faster than oil comes, nothing left in between. No other tank gave the oil.
func (u *update) jumpedBack(i int, ts *tankState, d draw) (since float64, ok bool) {
	t, fall := &u.site.tanks[i], d.fall()
	near := math.Max(backAgain, backShare*fall)
	after := between(ts.levels.recent, d.end, d.next-restNear)
	if all := between(ts.levels.recent, d.end, math.Inf(1)); calm(all, near+restSigmas*ts.noise.perSample(), d.usualInflow) {
		most := explainedShare * t.Loads.MinLoad / t.Table.PerInch(d.closing.level)
		if since, ok = u.wasThere(i, ts, d, all, math.Max(near, math.Min(handledOff*fall, handledNear)), most); ok {
			return since, true
		}
	}
	if len(after) == 0 || isAtClosing(ts, d, after, near) {
		return 0, false
	}
	for k := len(after); k >= jumpedRest || k == len(after); k -= jumpedRest {
		if since, ok = u.wasThere(i, ts, d, after[:k], near, math.Inf(1)); ok {
			return since, true
		}
	}
	return 0, false
}

// calm says that a level has lain within some inches for long at the end of some samples, but for what flowed in.
func calm(b []sample, within, inflow float64) bool {
	if len(b) == 0 {
		return false
	}
	last := b[len(b)-1].t - backAlive
	v := values(between(b, last, math.Inf(1)))
	return b[0].t <= last && slices.Max(v)-slices.Min(v) <= 2*within+inflow*backAlive
}

// wasThere says that the level, where it rests at the end of some samples behind a draw, was before it, as jumpedBack tells, and since when.
func (u *update) wasThere(i int, ts *tankState, d draw, after []sample, near, most float64) (since float64, ok bool) {
	t, fall := &u.site.tanks[i], d.fall()
	rest := lastSamplesOf(after, jumpedRest)
	now, at := stats.Median(values(rest)), rest[len(rest)-1].t
	moved := now - stats.Median(values(rest[:(len(rest)+1)/2]))
	alive := changesIn(rest) >= stepFew || ts.interval.changes >= heldFew && !ts.interval.stood(stoodFor(rest), neverHeld)
	if now < d.closing.level+(1-explainedShare)*fall || math.Abs(moved) > near/2 {
		return 0, false
	}
	if u.othersLost(i, d.end, at) >= explainedShare*(now-d.closing.level)*t.Table.PerInch(now) {
		return 0, false
	}
	was := ts.levels.before(d.start)
	for n, r := range was {
		made, high := d.usualInflow*(at-r.t), d.opening.level-r.v
		if off := now - r.v - made; off > math.Min(near, most) || off < -math.Min(near+made, most) || !alive && !ts.levels.asStill(after, r.t) {
			continue
		}
		if n > 0 && !restedAt(ts, was, n, near, d.usualInflow) { // the opening it is, however short it was there
			continue
		}
		if jumpedUp(ts, t, r.t, at) >= explainedShare*fall || high >= handledShare*fall && jumpedUp(ts, t, r.t, d.start) >= explainedShare*high {
			return r.t, true
		}
	}
	return 0, false
}

// isAtClosing says that the level is where a draw left it, but for what the well made, whatever it showed meanwhile.
func isAtClosing(ts *tankState, d draw, after []sample, near float64) bool {
	last := lastSamplesOf(after, stepFew)
	now := point{last[0].t, stats.Median(values(last))}
	if d.leaptAt <= ts.last.t {
		now = point{d.leaptAt, d.leaptTo}
	}
	off, made := now.v-d.closing.level, d.usualInflow*(now.t-d.end)
	return off >= -near && off <= near+made
}

// cameBy says that the level was only on its way at one of some points, the newest first, and strayed far off it before the next.
func cameBy(was []point, n int, near float64) bool {
	return n > 0 && was[n-1].t-was[n].t < jumpedRest*nodeEvery && math.Abs(was[n-1].v-was[n].v) > near/2
}

// restedAt says that the level had rested at one of some points, the newest first, for half an hour or since the load before: what a sensor shows
// on its way, or in somebody's hands, is no level at which oil stood.
func restedAt(ts *tankState, was []point, n int, near, inflow float64) bool {
	since := was[n].t - bulgeRest
	if k := len(ts.reports.loads); k > 0 && ts.reports.loads[k-1].end < was[n].t {
		if l := ts.reports.loads[k-1]; math.Abs(was[n].v-l.closing) <= near+inflow*(was[n].t-l.end) {
			since = math.Max(since, l.end+settleShort)
		}
	}
	for k := n + 1; k < len(was) && was[k].t >= since; k++ {
		if math.Abs(was[k].v-was[n].v) > near+inflow*(was[n].t-was[k].t) {
			return false
		}
	}
	return !cameBy(was, n, near)
}

// jumpedUp are the inches by which the level rose between two times in runs in which it rose faster than oil comes: a sensor's filter
// makes the rest of a jump slow.
func jumpedUp(ts *tankState, t *Tank, from, to float64) (inches float64) {
	b := between(ts.levels.recent, from, to)
	noise := leapNoise * math.Max(ts.noise.perSample(), quietScatter(b))
	for low := 0; low < len(b); {
		top, leapt := low, false
		for k := low + 1; k < len(b) && float64(b[k].v) > float64(b[top].v)-noise/2 && (k == top+1 || b[k].t-b[top].t < jumpedRun); k++ {
			if b[k].v > b[top].v {
				top = k
			}
			by := float64(b[k].v - b[k-1].v)
			rate, dt := fasterThan*t.maxRate(float64(b[k].v)), b[k].t-b[k-1].t
			if dt > math.Max(hungLeast, 4*ts.interval.usual) { // nobody saw it rise: no oil does that within minutes either
				rate = math.Min(rate, cameFaster*fillRate/60/t.Table.PerInch(float64(b[k].v)))
			}
			leapt = leapt || b[k].flags == unlinked && by > 0 || by > noise && by > rate*dt || sprang(b, k, t)
		}
		if leapt {
			inches += float64(b[top].v - b[low].v)
		}
		low = max(low+1, top)
	}
	return inches
}

// handled is since when a sensor jumped again and again about a draw, no hour apart: before it, within it or behind it. It is alive since
// the last of them.
func handled(ts *tankState, t *Tank, d draw) (since float64, ok bool) {
	at, n := jumps(ts, t, d.start-undoneJunk), 0
	first, last := d.start, d.end
	for k := len(at) - 1; k >= 0 && at[k] >= first-jumpLately; k-- {
		first, last, n = math.Min(first, at[k]), math.Max(last, at[k]), n+1
	}
	if f := ts.faults; f.handledAt > 0 && f.handledAt < f.jumpedAt && f.jumpedAt >= first-jumpLately { // of jumps at rest only the newest is among the samples
		first, n = math.Min(first, f.handledAt), handledJumps
	}
	if far := ts.faults.spikes.last; n > 0 && far >= first-jumpLately { // nor what was never believed
		first, last, n = math.Min(first, far), math.Max(last, far), n+1
	}
	after := between(ts.levels.recent, last, math.Inf(1))
	distinct := values(after)
	slices.Sort(distinct)
	return first, n >= handledJumps && (len(slices.Compact(distinct)) >= stepFew || ts.levels.asStill(after, first-nodeEvery))
}

// jumps are the times since one at which the level moved faster than oil does, up or down, or rose for a minute as no pump fills a tank.
func jumps(ts *tankState, t *Tank, from float64) (at []float64) {
	b := ts.withoutEchoes(between(ts.levels.recent, from, math.Inf(1)))
	least := math.Max(jumpLeast, leapNoise*math.Max(ts.noise.perSample(), quietScatter(b)))
	for k, s := range b {
		jumped := s.flags == unlinked
		if k > 0 && !jumped {
			by := math.Abs(float64(s.v - b[k-1].v))
			jumped = by > least+fasterThan*t.maxRate(float64(s.v))*(s.t-b[k-1].t)
			jumped = jumped || sprang(b, k, t)
		}
		if jumped && (len(at) == 0 || s.t > at[len(at)-1]+singleReading) {
			at = append(at, s.t)
		}
	}
	return at
}

// stepped is by how many inches the level jumped while it fell, up, or down by more than the pump can do between two readings, and stayed: somebody spanned the
// transmitter, or a float slipped. 0 where it did not. A jump that was not believed until the level had come down to there leaves a hole in the fall.
func stepped(ts *tankState, d draw) float64 {
	b, usual := between(ts.levels.recent, d.start, math.Min(d.end+ranLong+stepBeside*ts.interval.fresh(), d.leaptAt)), ts.interval.fresh()
	n, bit := searchTime(b, math.Nextafter(d.end, math.Inf(1))), stepLeast+stepRough*math.Max(ts.noise.sigma, d.deadband)
	waves := math.Max(d.slosh, neighbourScatter(b[:n]))
	if d.deadband > 0 && n > 1 {
		usual = (b[n-1].t - b[0].t) / float64(n-1)
	}
	for k := stepBeside; k+stepBeside <= len(b) && n > 0; k++ {
		a, z := b[k-1], b[k]
		dt, hole := z.t-a.t, ts.faults.spikes.last > a.t && ts.faults.spikes.last < z.t
		if dt > math.Max(90, 2.5*usual) && !hole {
			continue
		}
		off, rough, calm := stepAt(b[k-stepBeside:k], b[k:k+stepBeside], dt)
		least := math.Max(stepLeast, stepRough*max(calm, ts.noise.sigma, waves)) + d.step
		since, up := k-1, off > 0 && float64(z.v-a.v) > math.Max(least, stepUp)
		if !up {
			least = math.Max(least, stepRough*rough+d.step)
		}
		for since > 0 && b[since-1].v == a.v {
			since-- // a value that stood still tells at once what left meanwhile
		}
		if !up && (!hole || since < k-stepFew) {
			before, _ := fit(b[k-stepBeside : k])
			behind, _ := fit(b[k : k+stepBeside]) // a pump that begins or ends beside a drain is faster than the two
			least += stepPump * math.Max(float64(b[0].v-b[n-1].v)/(d.end-d.start-d.stood), -math.Min(before.slope, behind.slope)) * (z.t - b[since].t)
		}
		if math.Abs(off) <= least || !up && (float64(z.v-a.v)/off < 0.5 || caughtUp(b, k, least)) {
			continue
		}
		if on, _ := fit(b[k : k+stepBeside]); k+stepBeside > n && (!up || (off < 2*stepUp || d.evened > d.end) && -on.slope < d.slope()/stepOn) { // as high no dip fades
			continue
		}
		left, right := b[max(0, k-2*stepBeside):k-stepFew], b[k+stepFew:min(len(b), k+2*stepBeside)]
		if far, _, _ := stepAt(left, right, right[0].t-left[len(left)-1].t); math.Abs(far-off) < math.Abs(off)/2 {
			return off
		}
	}
	if rose, long, rate := roseAmid(b[:n]); rose > math.Max(bit, ranDumps*ts.levels.mostRisen(d.start-keepFor, d.start, 2*long)) {
		return rose + rate*long
	}
	return -fellOnce(b[:n], bit)
}

// stepAt is by how many inches the line through some samples lies above that through earlier ones, some seconds apart, beyond
// what fell meanwhile, and their scatter: the greater, and that of the calmer side, where a pump neither comes up nor stops.
func stepAt(left, right []sample, dt float64) (off, rough, calm float64) {
	before, ok1 := fit(left)
	after, ok2 := fit(right)
	if !ok1 || !ok2 {
		return 0, 0, 0
	}
	off = after.at(right[0].t) - before.at(left[len(left)-1].t) - (before.slope+after.slope)/2*dt
	return off, math.Max(before.spread(left), after.spread(right)), math.Min(before.spread(left), after.spread(right))
}

// tellMoved tells of the steps of the sensor next to a draw, which asks where they are no further from it than a truck may pause.
func (u *update) tellMoved(i int, ts *tankState, d *draw) {
	for _, m := range d.moved {
		where, off := "before", d.start-m.at
		if off < 0 {
			where, off = "behind", m.at-d.end
		}
		when := spanText(off) + " " + where
		if off < 0 {
			when = spanText(-off) + " before the end of"
		}
		said := fmt.Sprintf("level fell by %.1f in at once, faster than the pump drew and with rest on either side, %s the load: the sensor moved, or had hung, and it is not counted", m.inches, when)
		u.addEvent(i, eventrules.Step, m.at, m.at, said)
		if off <= pauseLate*u.site.tanks[i].Loads.PauseMerge.Seconds() && !(where == "behind" && d.proven(ts, &u.site.tanks[i], m.at, m.inches)) {
			d.doubts = append(d.doubts, said)
			if where == "behind" { // or it had hung, alive
				d.closing.unsure(m.inches / 2)
			}
		}
	}
}

// takeStepped gives a draw in which the level jumped that doubt, and the jump as error: how far it fell nobody knows.
func takeStepped(ts *tankState, t *Tank, d *draw) {
	if takeSprung(ts, t, d) {
		return
	}
	if was, to, _ := ts.levels.leaptInto(*d); to.t > 0 {
		d.doubtGauge(&d.opening, math.Abs(float64(was.v-to.v))/2, "level stepped from %.2f to %.2f in at once meanwhile: the sensor moved, or had hung, and what left in that is not counted", was.v, to.v)
	}
	if off := stepped(ts, *d); off != 0 {
		d.doubtGauge(&d.closing, off/2, "sensor re-spanned during the load: it stepped by %+.1f in", off)
	}
}

// respanDuringDraw carries what was read before a jump to the sensor's new span, so that the load
// that is under way stays one; false where the jump is no new span.
func (u *update) respanDuringDraw(i int, ts *tankState, now, x float64) bool {
	p := ts.pending
	l, _ := fit(between(ts.levels.recent, p.first.t-fallWindow, p.first.t))
	by := p.first.v - l.at(p.first.t)
	if math.Abs(by) > spanMost {
		return false
	}
	u.addEvent(i, eventrules.Step, p.first.t, now, fmt.Sprintf("level stepped from %.2f to %.2f in at once during a draw: re-span by %+.2f in, the draw goes on at the new span", ts.last.v, p.first.v, by))
	raised := Conversion{1, by}
	ts.levels.recent, ts.levels.history = convertedSamples(ts.levels.recent, raised, recentMost), convertedSamples(ts.levels.history, raised, historyMost)
	ts.faults.jumped(p.first.t)
	u.put(ts, grained(p.first.t, p.first.v, p.count))
	ts.beginAt(now, x)
	return true
}

// respan takes a jump that stayed as a new calibration of the sensor: nothing is compared across it. What waits for its
// confirmation is decided when the sensor has calmed down.
func (u *update) respan(i int, ts *tankState, now, x float64) {
	u.flush(i, ts)
	p := ts.pending
	if k, hung := ts.hungInDraw(&u.site.tanks[i]); hung {
		last := ts.levels.recent[k]
		u.addEvent(i, eventrules.Stuck, last.t, p.first.t, fmt.Sprintf("level rested at %.2f in for %s in a draw, then came to %.2f in at once, where the pump had taken it by then, and falls on as fast: it had hung", last.v, spanText(p.first.t-last.t), p.first.v))
		ts.levels.keep(ts.levels.recent[:k+1])
		u.unread(i, ts, point{last.t, float64(last.v)}, p.first)
		ts.beginAt(now, x)
		return
	}
	if lately := ts.faults.jumpedAt > 0 && p.first.t-ts.faults.jumpedAt < jumpLately; !lately && ts.fallsOn(&u.site.tanks[i], now, x) && u.respanDuringDraw(i, ts, now, x) {
		return
	}
	k, back := fellBehindJunk(ts.levels.recent, &u.site.tanks[i], p.first, ts.noise.leastFall())
	if !back && p.first.v > ts.last.v { // its filter was on the way up
		p.first, p.count = point{now, x}, 1
		k, back = fellBehindJunk(ts.levels.recent, &u.site.tanks[i], p.first, ts.noise.leastFall())
	}
	if back && ts.drawing {
		u.addEvent(i, eventrules.Step, ts.levels.recent[k].t, now, fmt.Sprintf("level showed what no oil does while it fell, for %s, and is at %.2f in, where the pump may have taken it: the draw goes on", spanText(p.first.t-ts.levels.recent[k].t), p.first.v))
		ts.levels.keep(ts.levels.recent[:k+1])
		ts.faults.jumped(p.first.t)
		u.put(ts, grained(p.first.t, p.first.v, p.count))
		ts.beginAt(now, x)
		u.watch(i, ts, ts.levels.recent[len(ts.levels.recent)-1])
		return
	}
	p = ts.pending
	polls, unseen := math.Max(singleReading, 2*ts.interval.fresh()), ""
	mixed := u.jumpedTo(i, ts.last.v, p.first.t-polls, p.first.t+polls)
	if t := &u.site.tanks[i]; mixed != "" {
		unseen = fmt.Sprintf(": tank %s jumped to where it had been. A gateway or a line that mixes up their answers shows that", mixed)
	} else if less := ts.leftUnseen(t, p.first); less >= t.Loads.MinLoad && less <= 2*t.Loads.TruckMax {
		unseen = fmt.Sprintf("; if a truck or two came while the sensor hung, they took some %.0f bbl: `gauger tickets add`", less)
	}
	u.addEvent(i, eventrules.Step, p.first.t, now, fmt.Sprintf("level stepped from %.2f to %.2f in at once and stayed: re-span or false echo, no ticket across it%s", ts.last.v, p.first.v, unseen))
	u.correctStepped(i, ts, ts.last.v, p.first)
	if p.first.v > ts.last.v && mixed == "" { // else nothing was there before
		ts.faults.jumpedUpAt = p.first.t
	}
	if !ts.drawing {
		ts.levels.recent, ts.decidedTo = nil, p.first.t-1
	}
	ts.faults.jumped(p.first.t)
	if stood := p.first.t - ts.heldSince; p.distinct == 1 && !ts.drawing && stood >= singleReading && ts.heldSince >= u.st.bootedAt*u.site.speed { // a gateway's beat shows in this too
		ts.interval.addHeld(stood, false)
	}
	s := grained(p.first.t, p.first.v, p.count) // a load may have begun since
	s.flags = unlinked
	u.put(ts, s)
	ts.beginAt(now, x)
	if p.distinct == 1 {
		ts.heldSince = p.first.t
	}
}

// unfreeze takes the time of a frozen value as a gap that ends at a reading.
func (u *update) unfreeze(i int, ts *tankState, to point) {
	u.flush(i, ts)
	since := ts.heldSince
	u.addEvent(i, eventrules.Stuck, since, to.t, fmt.Sprintf("value stood at %.2f in for %s, then came to %.2f in", ts.last.v, spanText(to.t-since), to.v))
	u.correctFrozen(i, ts, since, to)
	u.reportMissed(i, ts, point{since, ts.last.v}, to)
	u.correctMoved(i, ts, point{since, ts.last.v}, to)
	k := min(searchTime(ts.levels.recent, since)+1, len(ts.levels.recent))
	ts.levels.keep(ts.levels.recent[:k])
	ts.faults.unfrozeAt, ts.noise.sigma = to.t, ts.noise.sigmaAtChange
	u.unread(i, ts, point{since, ts.last.v}, to)
}

// cameBack takes the time for which a sensor was astray as a gap; false where it was not.
func (u *update) cameBack(i int, ts *tankState, now, x float64) bool {
	to := ts.pending.first
	since, astray := ts.astraySince(&u.site.tanks[i], to)
	if astray {
		u.flush(i, ts)
		u.addEvent(i, eventrules.Step, since.t, to.t, fmt.Sprintf("level was %.2f in, then something else was shown for %s, %.2f in at last, and it came back to %.2f in: a false echo, another value or a fault, that time counts as not read", since.v, spanText(to.t-since.t), ts.last.v, to.v))
		u.unread(i, ts, since, to)
		ts.beginAt(now, x)
	}
	return astray
}

// unread takes the time since a point as a gap that ends at a reading.
func (u *update) unread(i int, ts *tankState, since, to point) {
	h := searchTime(ts.levels.history, since.t)
	if len(ts.levels.recent) == 0 || ts.levels.recent[0].t > since.t {
		near := between(ts.levels.history, since.t-undoneFine, math.Nextafter(since.t, math.Inf(1)))
		ts.levels.keep(near)
		for k := range ts.levels.recent {
			ts.levels.recent[k].n = max(2, ts.levels.recent[k].n) // else they pass for reports by exception
		}
		ts.decidedTo = math.Min(ts.decidedTo, since.t-1)
		h++
	}
	h = min(h, len(ts.levels.history))
	ts.levels.history = ts.levels.history[:h:h]
	n := max(1, ts.pending.count)
	ts.last, ts.heldSince, ts.pending, ts.faults.stuckReported = since, to.t, pending{}, false
	u.put(ts, grained(to.t, to.v, n))
	u.watch(i, ts, ts.levels.recent[len(ts.levels.recent)-1])
}
