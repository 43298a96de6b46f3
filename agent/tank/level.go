package tank

import "math"

// level takes one level reading the whole road.
func (r *run) level(in Input) {
	i, t := in.Tank, &r.site.tanks[in.Tank]
	v := r.own(i)
	every := math.Max(v.pace.usual, t.Every.Seconds()*r.site.speed)
	lost := v.clk.resync // then a step may as well be a time that nobody knows
	set := 0.0
	switch v.boxed = in.One; {
	case in.One:
		set = v.clk.set(UnixSeconds(in.At), r.st.base+in.Mono.Seconds(), r.site.speed)
	case !v.clk.known && r.st.tick.known:
		v.clk.begin(UnixSeconds(in.At), r.st.tick.off, r.st.now, r.site.speed)
	}
	real, use, step := v.clk.take(UnixSeconds(in.At), r.st.now, every, r.site.speed)
	now := real * r.site.speed
	r.wound(i, v, now, set+step, lost)
	if use && in.Good && (!v.seen || now > v.last.t) {
		r.weigh(i, v, now, in.Value)
	}
	r.conclude(i, v, math.Max(now, r.st.now*r.site.speed))
}

// weigh cleans one reading and keeps what is believed.
func (r *run) weigh(i int, v *vessel, now, x float64) {
	t := &r.site.tanks[i]
	if !t.Possible(x) {
		v.bad.again(now, x)
		return
	}
	shown := v.pend.stay()
	switch v.weigh(t, now, x) {
	case accept:
		r.believe(i, v, now, x, shown)
	case resume:
		first, shown := v.pend.first, v.pend.before
		v.pend = pending{}
		r.believe(i, v, first.t, first.v, shown)
		r.believe(i, v, now, x, stay{})
	case stepTo:
		r.respan(i, v, now, x)
	case unfreeze:
		r.thaw(i, v, v.pend.first)
		v.begin(now, x)
	}
}

// believe takes a reading as the level of the tank; shown is what was not believed before it.
func (r *run) believe(i int, v *vessel, now, x float64, shown stay) {
	t := &r.site.tanks[i]
	if !v.seen {
		v.seen, v.last, v.since = true, point{now, x}, now
		v.bin.add(now, x)
		return
	}
	if x != v.last.v && v.stood(t, now) {
		r.thaw(i, v, point{now, x})
	}
	dt, d := now-v.last.t, x-v.last.v
	thawed := v.thawedAt == now
	if dt >= v.gapMin(t, r.site.speed) && !thawed {
		r.gapped(i, v, now, x, shown)
	}
	booted := r.st.booted * r.site.speed // the time that a restart took says nothing of the pace
	if !thawed && v.last.t >= booted {
		v.pace.came(dt)
	}
	if d != 0 && !thawed {
		if !v.hot && v.since >= booted {
			v.pace.changed(now - v.since)
		}
		v.noise.held = v.noise.sigma
		v.noise.stepped(d, dt)
	}
	held := d == 0 && v.pace.cached() && now-v.since <= heldRegion*v.pace.run
	if d != 0 {
		v.since = now
	}
	v.last, v.unsure = point{now, x}, false
	if held {
		return
	}
	if v.bin.n > 0 && now-v.bin.first >= binWidth {
		r.flush(i, v)
	}
	v.bin.add(now, x)
}

// flush moves the bin into the buffer and looks whether the level falls.
func (r *run) flush(i int, v *vessel) {
	if v.bin.n == 0 {
		return
	}
	s := v.bin.sample()
	v.bin = bin{}
	n := len(v.buf)
	if n > 0 && s.t <= v.buf[n-1].t {
		return
	}
	if n > 1 && !v.hot && s.t-v.buf[n-2].t < 2000 {
		v.noise.differs(v.buf[n-2], v.buf[n-1], s)
	}
	v.put(s)
	r.watch(i, v, s)
}

// gapMin is the silence in seconds that is a gap for this tank.
func (v *vessel) gapMin(t *Tank, speed float64) float64 {
	usual := math.Max(v.pace.usual, t.Every.Seconds()*speed)
	return math.Max(t.Loads.GapMin.Seconds(), math.Max(4*usual, 1.5*v.pace.long))
}
