package tank

import "math"

const (
	pauseSure = 300.0  // s; no second truck connects faster
	pauseLate = 1.25   // times the longest pause, after which what a truck still holds is its own
	partBbl   = 3.0    // a smaller part some minutes apart is no part of a load
	pipeRate  = 1.75   // bbl/min; slower is a pipeline and not a truck, and has no truck's limit
	afterGap  = 2400.0 // s of readings after a gap that hid the end of a draw
)

// conclude decides what has waited long enough by now.
func (r *run) conclude(i int, v *vessel, now float64) {
	if v.bin.n > 0 && now-v.bin.first >= 60 {
		r.flush(i, v)
	}
	r.report(i, v, now)
	if v.hot && now >= v.due {
		r.pass(i, v, now, false)
	}
}

// pass looks at the buffer for draws and decides those that are ripe, all of them when
// nothing that comes can say more.
func (r *run) pass(i int, v *vessel, now float64, all bool) {
	t := &r.site.tanks[i]
	confirm := t.Loads.Confirm.Seconds()
	draws, waits := v.draws(t, r.site.speed, now)
	v.due = now + 60
	for k, d := range draws {
		if !all && !v.ripe(t, r.site.speed, d, now, k+1 < len(draws)) {
			if !waits {
				v.due = math.Max(v.due, d.end+confirm)
			}
			return
		}
		r.decide(i, v, d, now)
		v.done, v.lastStart, v.lastEnd = math.Max(v.done, math.Max(d.end, d.stuck.to)), d.start, d.end
		v.begun = after(v.begun, d.end)
	}
	if all || now-v.fell > confirm {
		v.hot, v.begun = false, nil
		v.calm()
		return
	}
	v.due = math.Max(v.due, v.fell+confirm)
}

func after(b []float64, t float64) []float64 {
	for len(b) > 0 && b[0] <= t {
		b = b[1:]
	}
	return b
}

// ripe says that a draw is over and its confirmation has passed. One that another followed
// is over, however little of its end was seen.
func (v *vessel) ripe(t *Tank, speed float64, d draw, now float64, followed bool) bool {
	wait := t.Loads.Confirm.Seconds()
	if t.Group != "" {
		wait = math.Max(wait, t.Loads.GroupSettle.Seconds()+180)
	}
	if now < d.end+wait {
		return false
	}
	if now-v.last.t >= t.Loads.MaxGapTicket.Seconds() {
		return true
	}
	usual := math.Max(v.pace.usual, t.Every.Seconds()*speed)
	newest, rest := v.buf[len(v.buf)-1].t, len(v.buf)-lower(v.buf, d.end)
	if !followed && !v.stopped(d) || rest < 3 && now-v.last.t < 2*usual+300 {
		return false // the readings stopped while it fell: they will tell
	}
	if d.close.away > t.Loads.GapMin.Seconds() && v.pace.usual < 120 && newest-d.end-d.close.away < afterGap {
		return false // what flowed in unseen is told by what flows in now
	}
	return !v.dead(t, d, now) && !v.returning(t, d, now)
}

// stopped says that samples after a draw lie off its falling line: it was seen to end.
func (v *vessel) stopped(d draw) bool {
	off := math.Max(0.6, 4*math.Max(v.noise.sigma, d.slosh))
	for b := v.buf[max(0, lower(v.buf, d.end)-2):]; len(b) > 2; b = b[1:] {
		if b[1].t > d.end && median3(b[:3])-d.tail.at(b[1].t) >= off {
			return true
		}
	}
	return false
}

// dead says that the value stands still since the end of a draw as this sensor never
// does, so that the end may be the sensor's and not the truck's.
func (v *vessel) dead(t *Tank, d draw, now float64) bool {
	age := v.last.t - v.since
	return v.since <= d.end+120 && v.pace.runs >= 8 && age > 20*v.pace.run && age > 900 && now-v.since < t.Loads.Stuck.Seconds()
}

// draws are the draws of the buffer that are not decided yet, in order. waits says that the
// last may still turn out to be one with the one before.
func (v *vessel) draws(t *Tank, speed, now float64) (out []draw, waits bool) {
	b, seen := v.recent(t, speed, now)
	if len(b) < 2 {
		return nil, false
	}
	in := v.inflow(t, seen)
	fs := v.finder(t, speed, float64(b[len(b)-1].v)).falls(b)
	lo := v.done
	for k, f := range fs {
		hi := math.Inf(1)
		if k+1 < len(fs) {
			hi = fs[k+1].from.t
		}
		d := v.measure(t, f.own(), room{lo, hi}, in, now)
		lo = d.end + 30
		n := len(out)
		waits = n > 0 && v.joined(t, out[n-1], d)
		if waits {
			out[n-1] = merge(out[n-1], d)
			continue
		}
		if n > 0 && v.stuckBetween(t, out[n-1], d) {
			out[n-1] = unstuck(out[n-1], d)
			continue
		}
		out = append(out, d)
	}
	return out, waits
}

// recent are the samples in which a draw that is not decided may be, with the last one before
// a gap that its beginning may lie in, and until when the tank was last seen at rest.
func (v *vessel) recent(t *Tank, speed, now float64) (b []sample, seen float64) {
	lo, hi := lower(v.buf, math.Max(v.done, v.onset-restLong)), lower(v.buf, math.Nextafter(now, math.Inf(1)))
	if lo > 0 && v.buf[lo-1].t >= v.done {
		lo--
	}
	b, seen = v.buf[lo:max(lo, hi)], v.onset
	for i := len(b) - 2; i >= 0; i-- {
		if b[i].t < v.onset && b[i+1].t-b[i].t >= v.gapMin(t, speed) {
			return b, b[i].t
		}
	}
	return b, seen
}

// joined says whether two draws are one truck with a pause.
func (v *vessel) joined(t *Tank, a, b draw) bool {
	if one, sure := v.oneOpening(t, a, b); sure {
		return one
	}
	if t.Interface && v.waterLeft(t, a) != v.waterLeft(t, b) {
		return false
	}
	pause, longest := b.start-a.end, t.Loads.PauseMerge.Seconds()
	va, vb, most := t.volume(a), t.volume(b), t.Loads.TruckMax
	if pause > longest && (pause > pauseLate*longest || most == 0 || va+vb > most || math.Min(va, vb) < partBbl) {
		return false
	}
	if math.Min(va, vb) < partBbl || pause > 120 && math.Min(a.open.v-a.close.v, b.open.v-b.close.v) < 2*v.least() {
		return pause < 120
	}
	if t.pumped(a) < pipeRate && t.pumped(b) < pipeRate {
		return true
	}
	return most == 0 || pause < pauseSure || va+vb <= most || va > most || vb > most
}

// volume is the barrels between the gauges of a draw.
func (t *Tank) volume(d draw) float64 {
	a, _ := t.Table.Extrapolated(d.open.v)
	b, _ := t.Table.Extrapolated(d.close.v)
	return a - b
}

// pumped is the rate of a draw in barrels per minute, inflow included.
func (t *Tank) pumped(d draw) float64 {
	s := math.Max(d.end-d.start, 1)
	return (t.volume(d) + d.after*t.Table.PerInch(d.open.v)*s) / s * 60
}

func merge(a, b draw) draw {
	a.end, a.close = b.end, b.close
	a.parts += b.parts
	a.gap, a.inner = math.Max(a.gap, b.gap), a.inner+b.inner
	a.slosh, a.tail = b.slosh, b.tail
	a.after = b.after
	return a
}
