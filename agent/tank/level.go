package tank

import "math"

// level takes one level reading the whole road.
func (u *update) level(in Input) {
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
	now := real * u.site.speed
	u.clockMoved(i, ts, now, set+step, lost)
	if use && in.Good && (!ts.seen || now > ts.last.t) {
		u.clean(i, ts, now, in.Value)
	}
	u.conclude(i, ts, math.Max(now, u.st.now*u.site.speed))
}

// clean cleans one reading and keeps what is believed.
func (u *update) clean(i int, ts *tankState, now, x float64) {
	t := &u.site.tanks[i]
	if !t.Possible(x) {
		ts.faults.badValues.add(now, x)
		return
	}
	shown := ts.pending.shown()
	switch ts.assess(t, now, x) {
	case accepted:
		u.believe(i, ts, now, x, shown)
	case resumed:
		first, shown := ts.pending.first, ts.pending.before
		ts.pending = pending{}
		u.believe(i, ts, first.t, first.v, shown)
		u.believe(i, ts, now, x, heldValue{})
	case respanned:
		u.respan(i, ts, now, x)
	case unfrozen:
		u.unfreeze(i, ts, ts.pending.first)
		ts.beginAt(now, x)
	}
}

// believe takes a reading as the level of the tank; shown is what was not believed before it.
func (u *update) believe(i int, ts *tankState, now, x float64, shown heldValue) {
	t := &u.site.tanks[i]
	if !ts.seen {
		ts.seen, ts.last, ts.heldSince = true, point{now, x}, now
		ts.bin.add(now, x)
		return
	}
	if x != ts.last.v && ts.stoodTooLong(t, now) {
		u.unfreeze(i, ts, point{now, x})
	}
	dt, d := now-ts.last.t, x-ts.last.v
	thawed := ts.faults.unfrozeAt == now
	if dt >= ts.interval.gapMin(t, u.site.speed) && !thawed {
		u.reportGap(i, ts, now, x, shown)
	}
	booted := u.st.bootedAt * u.site.speed // the time that a restart took says nothing of the pace
	if !thawed && ts.last.t >= booted {
		ts.interval.add(dt)
	}
	if d != 0 && !thawed {
		if !ts.drawing && ts.heldSince >= booted {
			ts.interval.addHeld(now - ts.heldSince)
		}
		ts.noise.sigmaAtChange = ts.noise.sigma
		ts.noise.addStep(d, dt)
	}
	held := d == 0 && ts.interval.cached() && now-ts.heldSince <= heldRegion*ts.interval.held
	if d != 0 {
		ts.heldSince = now
	}
	ts.last, ts.timeUnknown = point{now, x}, false
	if held {
		return
	}
	if ts.bin.n > 0 && now-ts.bin.first >= binWidth {
		u.flush(i, ts)
	}
	ts.bin.add(now, x)
}

// flush moves the bin into the buffer and looks whether the level falls.
func (u *update) flush(i int, ts *tankState) {
	if ts.bin.n == 0 {
		return
	}
	s := ts.bin.sample()
	ts.bin = bin{}
	n := len(ts.levels.recent)
	if n > 0 && s.t <= ts.levels.recent[n-1].t {
		return
	}
	if n > 1 && !ts.drawing && s.t-ts.levels.recent[n-2].t < 2000 {
		ts.noise.addTriple(ts.levels.recent[n-2], ts.levels.recent[n-1], s)
	}
	ts.levels.put(s, ts.drawPhase, ts.faults.jumpedAt)
	u.watch(i, ts, s)
}

// gapMin is the silence in seconds that is a gap for this tank.
func (p *interval) gapMin(t *Tank, speed float64) float64 {
	usual := math.Max(p.usual, t.Every.Seconds()*speed)
	return math.Max(t.Loads.GapMin.Seconds(), math.Max(4*usual, 1.5*p.longest))
}
