package tank

import "math"

// level takes one level reading the whole road.
func (r *update) level(in Input) {
	i, t := in.Tank, &r.site.tanks[in.Tank]
	v := r.writable(i)
	every := math.Max(v.interval.usual, t.Every.Seconds()*r.site.speed)
	lost := v.clock.resync // then a step may as well be a time that nobody knows
	set := 0.0
	switch v.stampedByBox = in.One; {
	case in.One:
		set = v.clock.adjust(UnixSeconds(in.At), r.st.base+in.Mono.Seconds(), r.site.speed)
	case !v.clock.known && r.st.boxClock.known:
		v.clock.firstStamp(UnixSeconds(in.At), r.st.boxClock.offset, r.st.now, r.site.speed)
	}
	real, use, step := v.clock.place(UnixSeconds(in.At), r.st.now, every, r.site.speed)
	now := real * r.site.speed
	r.clockMoved(i, v, now, set+step, lost)
	if use && in.Good && (!v.seen || now > v.last.t) {
		r.clean(i, v, now, in.Value)
	}
	r.conclude(i, v, math.Max(now, r.st.now*r.site.speed))
}

// clean cleans one reading and keeps what is believed.
func (r *update) clean(i int, v *tankState, now, x float64) {
	t := &r.site.tanks[i]
	if !t.Possible(x) {
		v.badValues.again(now, x)
		return
	}
	shown := v.pending.shown()
	switch v.assess(t, now, x) {
	case accepted:
		r.believe(i, v, now, x, shown)
	case resumed:
		first, shown := v.pending.first, v.pending.before
		v.pending = pending{}
		r.believe(i, v, first.t, first.v, shown)
		r.believe(i, v, now, x, heldValue{})
	case respanned:
		r.respan(i, v, now, x)
	case unfrozen:
		r.unfreeze(i, v, v.pending.first)
		v.beginAt(now, x)
	}
}

// believe takes a reading as the level of the tank; shown is what was not believed before it.
func (r *update) believe(i int, v *tankState, now, x float64, shown heldValue) {
	t := &r.site.tanks[i]
	if !v.seen {
		v.seen, v.last, v.heldSince = true, point{now, x}, now
		v.bin.add(now, x)
		return
	}
	if x != v.last.v && v.stoodTooLong(t, now) {
		r.unfreeze(i, v, point{now, x})
	}
	dt, d := now-v.last.t, x-v.last.v
	thawed := v.unfrozeAt == now
	if dt >= v.gapMin(t, r.site.speed) && !thawed {
		r.reportGap(i, v, now, x, shown)
	}
	booted := r.st.bootedAt * r.site.speed // the time that a restart took says nothing of the pace
	if !thawed && v.last.t >= booted {
		v.interval.add(dt)
	}
	if d != 0 && !thawed {
		if !v.drawing && v.heldSince >= booted {
			v.interval.addHeld(now - v.heldSince)
		}
		v.noise.sigmaAtChange = v.noise.sigma
		v.noise.addStep(d, dt)
	}
	held := d == 0 && v.interval.cached() && now-v.heldSince <= heldRegion*v.interval.held
	if d != 0 {
		v.heldSince = now
	}
	v.last, v.timeUnknown = point{now, x}, false
	if held {
		return
	}
	if v.bin.n > 0 && now-v.bin.first >= binWidth {
		r.flush(i, v)
	}
	v.bin.add(now, x)
}

// flush moves the bin into the buffer and looks whether the level falls.
func (r *update) flush(i int, v *tankState) {
	if v.bin.n == 0 {
		return
	}
	s := v.bin.sample()
	v.bin = bin{}
	n := len(v.recent)
	if n > 0 && s.t <= v.recent[n-1].t {
		return
	}
	if n > 1 && !v.drawing && s.t-v.recent[n-2].t < 2000 {
		v.noise.addTriple(v.recent[n-2], v.recent[n-1], s)
	}
	v.put(s)
	r.watch(i, v, s)
}

// gapMin is the silence in seconds that is a gap for this tank.
func (v *tankState) gapMin(t *Tank, speed float64) float64 {
	usual := math.Max(v.interval.usual, t.Every.Seconds()*speed)
	return math.Max(t.Loads.GapMin.Seconds(), math.Max(4*usual, 1.5*v.interval.longest))
}
