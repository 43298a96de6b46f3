package tank

import (
	"fmt"
	"math"
	"slices"

	"gauger/agent/eventrules"
)

const (
	storeWhileDrawing = 60.0
	storeWhileMoving  = 300.0 // a tank's level moved
	storeAtRest       = 1800.0
	fallStopped       = 900.0 // without a fall: a draw that is drawn no further is at rest
	storeMoved        = 0.25  // in
	storeFar          = 1.5   // in; so much of a tank that is filled up is not lost again
	sparseInterval    = 240.0 // s between readings of which each is dear
	silentFor         = 120.0 // s without a reading, after which what came before is stored
)

// Next takes one input and gives the next state and what was decided. st must not be used
// again once Next was called on its successor; when the successor is dropped, as after a
// commit that failed, st may be used again.
func (s Site) Next(st State, in Input) (State, []Outcome) {
	if in.Kind >= kindCount || in.Kind != Tick && (in.Tank < 0 || in.Tank >= len(s.tanks)) {
		return st, nil
	}
	st = st.cloned(len(s.tanks))
	s.advance(&st, in)
	u := &update{siteTanks: siteTanks{s, &st}}
	switch in.Kind {
	case Tick:
		u.tick(in)
	case Level:
		u.levelReading(in)
	default:
		u.auxiliaryReading(in)
	}
	u.growMark()
	return st, u.out
}

func (u *update) tick(in Input) {
	step := 0.0
	if in.One {
		step = u.st.boxClock.adjust(UnixSeconds(in.At), u.st.base+in.Mono.Seconds(), u.site.speed)
	}
	_, _, more := u.st.boxClock.place(UnixSeconds(in.At), u.st.now, 60, u.site.speed)
	u.wasAway(u.st.boxClock, step+more)
	for i := range u.site.tanks {
		ts := u.writable(i)
		if step != 0 && ts.stampedByBox && ts.clock.known && !ts.clock.resync { // what was stamped by the box's clock goes with it, also when nothing came since
			u.followBoxClock(i, ts)
		}
		u.conclude(i, ts, u.st.now*u.site.speed)
	}
}

// followBoxClock sets the clock of a tank's readings as the box's was set.
func (u *update) followBoxClock(i int, ts *tankState) {
	step := u.st.boxClock.offset - ts.clock.offset
	if math.Abs(step) <= clockSlack/u.site.speed {
		return // a reading was there first
	}
	ts.clock.setBy(step)
	u.clockMoved(i, ts, u.st.now*u.site.speed, step, false)
}

// auxiliaryReading takes everything that is not a level.
func (u *update) auxiliaryReading(in Input) {
	if !in.Good || !u.site.tanks[in.Tank].plausible(in) {
		return
	}
	ts := u.writable(in.Tank)
	now := u.st.now * u.site.speed
	switch in.Kind {
	case Interface:
		ts.aux.keepWater(now, in.Value)
	default:
		ts.aux.keep(auxPlaces[in.Kind], now, in.Value)
	}
}

// levelReading takes one level reading the whole road.
func (u *update) levelReading(in Input) {
	i, t := in.Tank, &u.site.tanks[in.Tank]
	ts := u.writable(i)
	every := math.Max(ts.interval.usual, t.Every.Seconds()*u.site.speed)
	lost := ts.clock.resync // then a step may as well be a time that nobody knows
	set := 0.0
	switch ts.stampedByBox = in.One; {
	case in.One:
		set = ts.clock.adjust(UnixSeconds(in.At), u.st.base+in.Mono.Seconds(), u.site.speed)
	case !ts.clock.known && u.st.boxClock.known:
		ts.clock.firstStamp(UnixSeconds(in.At), u.st.boxClock.offset, u.st.now, u.site.speed)
	}
	real, use, step := ts.clock.place(UnixSeconds(in.At), u.st.now, every, u.site.speed)
	if away := u.wasAway(ts.clock, set+step); away > 0 {
		real, ts = real+away, u.st.tanks[i]
	}
	now := real * u.site.speed
	u.clockMoved(i, ts, now, set+step, lost)
	if real := u.st.now * u.site.speed; ts.clock.doubted(u.site.speed) && real-ts.stored.hintAt >= hintEvery {
		ts.stored.hintAt, u.storeNow = real, true // a restart has to know that the clock may have been set
	}
	if use && in.Good && (!ts.seen || now > ts.last.t) {
		u.cleanReading(i, ts, now, in.Value)
	}
	u.conclude(i, ts, math.Max(now, u.st.now*u.site.speed))
}

// cleanReading cleans one reading and keeps what is believed.
func (u *update) cleanReading(i int, ts *tankState, now, x float64) {
	t := &u.site.tanks[i]
	if !t.Possible(x) && !ts.sinksOn(t, now, x) {
		ts.faults.badValues.add(now, x)
		return
	}
	ts.forgetEcho(t, now, x)
	shown := ts.pending.shown()
	switch verdict := ts.assess(t, now, x); {
	case verdict == accepted:
		u.believe(i, ts, now, x, shown)
	case verdict == refused || verdict != firstAstray && u.woke(i, ts, now, x):
	case verdict == resumed:
		p := ts.pending
		ts.pending = pending{}
		for _, s := range append(slices.Clone(p.stairs), p.first) {
			u.flush(i, ts) // what leapt is no part of a mean with what came before
			u.believe(i, ts, s.t, s.v, p.before)
			p.before = heldValue{}
		}
		if now > p.first.t {
			u.believe(i, ts, now, x, heldValue{})
		}
	case verdict == firstAstray:
		ts.faults.spikes.add(ts.last.t, ts.last.v)
		ts.beginAt(ts.pending.first.t, ts.pending.first.v)
		u.believe(i, ts, now, x, heldValue{})
	case verdict == respanned:
		if !u.cameBack(i, ts, now, x) {
			u.respan(i, ts, now, x)
		}
	case verdict == unfrozen:
		if !u.cameBack(i, ts, now, x) {
			u.unfreeze(i, ts, ts.pending.first)
			ts.beginAt(now, x)
		}
	}
}

// forgetEcho forgets the newest level where it was one reading behind a silence that lay higher than the level before, and the next lies where that was, to
// which nothing comes back from there in that time: a sensor that reports only changes had none to report until then, and that reading was an echo.
func (ts *tankState) forgetEcho(t *Tank, now, x float64) {
	b, echo := ts.levels.recent, ts.last
	if n := len(b); ts.bin.n == 0 && n > 0 && b[n-1].n == 1 && b[n-1].flags != unlinked {
		b = b[:n-1] // it is among the samples by now
	} else if ts.bin.n != 1 {
		return
	}
	if len(b) == 0 || ts.pending.count > 0 || ts.drawing || echo.v-x <= ts.reach(t, now) {
		return
	}
	was := point{b[len(b)-1].t, float64(b[len(b)-1].v)}
	off, least := x-was.v, ts.noiseFloor(t)
	if echo.t-was.t <= echoLong || off < -least || off > least+ts.inflow(t, was.t).usual*(now-was.t) {
		return
	}
	ts.faults.spikes.add(echo.t, echo.v)
	h := searchTime(ts.levels.history, math.Nextafter(was.t, math.Inf(1)))
	ts.levels.recent, ts.levels.history = append(make([]sample, 0, recentMost), b...), ts.levels.history[:h:h]
	ts.last, ts.heldSince, ts.bin = was, was.t, bin{}
}

// woke takes the time from a silence to what is pending as part of it; false where the level behind the silence was one.
func (u *update) woke(i int, ts *tankState, now, x float64) bool {
	u.flush(i, ts)
	to := ts.pending.first
	k := ts.wokeAstray(&u.site.tanks[i], to, u.site.speed)
	if k > 0 {
		since, woke := ts.levels.recent[k-1], ts.levels.recent[k]
		u.addEvent(i, eventrules.Step, woke.t, to.t, fmt.Sprintf("level showed %.2f in for %s behind a silence, and came to %.2f in at once: that time counts as not read", woke.v, spanText(to.t-woke.t), to.v))
		ts.levels.keep(ts.levels.recent[:k])
		u.unread(i, ts, point{since.t, float64(since.v)}, to)
		ts.beginAt(now, x)
	}
	return k > 0
}

// wokeAstray is the index of the first sample behind a silence where the level soon came to what a truck or nothing at all would have made of the one before
// it: what a gateway had kept, or a sensor that woke up. A gateway that tells all that it had kept takes a tenth of the silence at most. 0: it did not.
func (ts *tankState) wokeAstray(t *Tank, to point, speed float64) int {
	b, least := ts.levels.recent, ts.interval.gapMin(t, speed)
	k := len(b) - 1
	for k > 0 && b[k].t-b[k-1].t < least {
		k--
	}
	if k <= 0 || math.Max(ts.decidedTo, ts.lastDrawEnd) >= b[k].t {
		return 0
	}
	was, awake := point{b[k-1].t, float64(b[k-1].v)}, to.t-b[k].t
	told := ts.pending.count >= stepFew && awake <= (b[k].t-was.t)/replayTimes && t.hidTruck(was, to)
	if awake > math.Min(stepFew*ts.interval.fresh(), levelFar) && !told || to.v-was.v > ts.noiseFloor(t)+ts.inflow(t, was.t).usual*(to.t-was.t) {
		return 0
	}
	return k
}

// believe takes a reading as the level of the tank; shown is what was not believed before it.
func (u *update) believe(i int, ts *tankState, now, x float64, shown heldValue) {
	t := &u.site.tanks[i]
	if !ts.seen {
		ts.seen, ts.last, ts.heldSince = true, point{now, x}, now
		ts.bin.add(now, x)
		return
	}
	if x != ts.last.v && (ts.stoodTooLong(t, now) || ts.missedSteps(t, point{now, x})) && !ts.movedOneStep(now, x) && !ts.drawnFrom(t, now, x) {
		u.unfreeze(i, ts, point{now, x})
	}
	dt, d := now-ts.last.t, x-ts.last.v
	justUnfrozen := ts.faults.unfrozeAt == now
	if dt >= ts.interval.gapMin(t, u.site.speed) && !justUnfrozen {
		u.reportGap(i, ts, now, x, shown)
	}
	booted := u.st.bootedAt * u.site.speed // the time that a restart took says nothing of the interval
	if !justUnfrozen && ts.last.t >= booted {
		ts.interval.add(dt)
	}
	if d != 0 && !justUnfrozen {
		if !ts.drawing && ts.heldSince >= booted {
			ts.interval.addHeld(now-ts.heldSince, math.Abs(math.Abs(d)-math.Abs(ts.noise.lastStep)) < levelGrain)
		}
		ts.noise.sigmaAtChange = ts.noise.atChange(ts.interval.mean)
		if ts.interval.cached() {
			dt = now - ts.heldSince
		}
		ts.noise.addStep(d, dt)
	}
	held := d == 0 && ts.interval.cached() && now-ts.heldSince <= heldRegion*ts.interval.held
	stood := d != 0 && ts.last.t-ts.heldSince >= stairRest
	if d != 0 {
		ts.heldSince = now
	}
	ts.last, ts.timeUnknown = point{now, x}, false
	if held {
		return
	}
	if ts.bin.n > 0 && (now-ts.bin.first >= binWidth || stood) { // what stood is no part of a mean with what came then
		u.flush(i, ts)
	}
	ts.bin.add(now, x)
}

// growMark lets the mark grow when it is time to.
func (u *update) growMark() {
	now := u.st.now * u.site.speed
	if u.storeNow || len(u.out) > 0 || now-u.st.storedAt >= u.storeEvery(now) || u.st.mark == 0 {
		u.st.mark++
		u.st.storedAt = now
		for i, ts := range u.st.tanks {
			if ts.stored.level != ts.last.v {
				u.writable(i).stored.level = ts.last.v
			}
		}
	}
}

// storeEvery is the time in seconds after which the state is stored again.
func (u *update) storeEvery(now float64) float64 {
	every := storeAtRest
	for _, ts := range u.st.tanks {
		every = min(every, ts.storeEvery(now, u.st.storedAt))
	}
	// A box that restarts once may do it again: it loses no more than two thirds of what it has heard since.
	return min(every, math.Max(2*storeWhileDrawing, (now-u.st.bootedAt*u.site.speed)*2/3))
}

// storeEvery is the time in seconds after which this tank wants the state stored again.
func (ts *tankState) storeEvery(now, stored float64) float64 {
	moved := math.Abs(ts.last.v-ts.stored.level) - 4*ts.noise.sigma
	fresh := ts.last.t > stored
	switch {
	case ts.drawing && now-ts.lastFallAt < fallStopped, moved > storeFar:
		return storeWhileDrawing
	case fresh && (ts.interval.usual >= sparseInterval || now-ts.last.t > math.Max(silentFor, 3*ts.interval.usual)):
		return storeWhileDrawing
	case moved > storeMoved:
		return storeWhileMoving
	}
	return storeAtRest
}
