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
func (r *update) conclude(i int, v *tankState, now float64) {
	if v.bin.n > 0 && now-v.bin.first >= 60 {
		r.flush(i, v)
	}
	r.reportEpisodes(i, v, now)
	if v.drawing && now >= v.judgeAt {
		r.judgeDraws(i, v, now, false)
	}
}

// judgeDraws looks at the buffer for draws and decides those that are ripe, all of them when
// nothing that comes can say more.
func (r *update) judgeDraws(i int, v *tankState, now float64, all bool) {
	t := &r.site.tanks[i]
	confirm := t.Loads.Confirm.Seconds()
	draws, waits := v.draws(t, r.site.speed, now)
	v.judgeAt = now + 60
	for k, d := range draws {
		if !all && !v.ripe(t, r.site.speed, d, now, k+1 < len(draws)) {
			if !waits {
				v.judgeAt = math.Max(v.judgeAt, d.end+confirm)
			}
			return
		}
		r.decide(i, v, d, now)
		v.decidedTo, v.lastDrawStart, v.lastDrawEnd = math.Max(v.decidedTo, math.Max(d.end, d.stuck.to)), d.start, d.end
		v.firstSeen = dropUntil(v.firstSeen, d.end)
	}
	if all || now-v.lastFallAt > confirm {
		v.drawing, v.firstSeen = false, nil
		v.linkHistory()
		return
	}
	v.judgeAt = math.Max(v.judgeAt, v.lastFallAt+confirm)
}

func dropUntil(b []float64, t float64) []float64 {
	for len(b) > 0 && b[0] <= t {
		b = b[1:]
	}
	return b
}

// ripe says that a draw is over and its confirmation has passed. One that another followed
// is over, however little of its end was seen.
func (v *tankState) ripe(t *Tank, speed float64, d draw, now float64, followed bool) bool {
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
	usual := math.Max(v.interval.usual, t.Every.Seconds()*speed)
	newest, rest := v.recent[len(v.recent)-1].t, len(v.recent)-searchTime(v.recent, d.end)
	if !followed && !v.stopped(d) || rest < 3 && now-v.last.t < 2*usual+300 {
		return false // the readings stopped while it fell: they will tell
	}
	if d.closing.away > t.Loads.GapMin.Seconds() && v.interval.usual < 120 && newest-d.end-d.closing.away < afterGap {
		return false // what flowed in unseen is told by what flows in now
	}
	return !v.frozenAtEnd(t, d, now) && !v.stillReturning(t, d, now)
}

// stopped says that samples after a draw lie off its falling line: it was seen to end.
func (v *tankState) stopped(d draw) bool {
	off := math.Max(0.6, 4*math.Max(v.noise.sigma, d.slosh))
	for b := v.recent[max(0, searchTime(v.recent, d.end)-2):]; len(b) > 2; b = b[1:] {
		if b[1].t > d.end && median3(b[:3])-d.endLine.at(b[1].t) >= off {
			return true
		}
	}
	return false
}

// frozenAtEnd says that the value stands still since the end of a draw as this sensor never
// does, so that the end may be the sensor's and not the truck's.
func (v *tankState) frozenAtEnd(t *Tank, d draw, now float64) bool {
	age := v.last.t - v.heldSince
	return v.heldSince <= d.end+120 && v.interval.changes >= 8 && age > 20*v.interval.held && age > 900 && now-v.heldSince < t.Loads.Stuck.Seconds()
}

// draws are the draws of the buffer that are not decided yet, in order. waits says that the
// last may still turn out to be one with the one before.
func (v *tankState) draws(t *Tank, speed, now float64) (out []draw, waits bool) {
	b, seen := v.undecidedSamples(t, speed, now)
	if len(b) < 2 {
		return nil, false
	}
	in := v.inflow(t, seen)
	fs := v.fallFinder(t, speed, float64(b[len(b)-1].v)).falls(b)
	lo := v.decidedTo
	for k, f := range fs {
		hi := math.Inf(1)
		if k+1 < len(fs) {
			hi = fs[k+1].from.t
		}
		d := v.measure(t, f.withoutSilence(), bounds{lo, hi}, in, now)
		lo = d.end + 30
		n := len(out)
		waits = n > 0 && v.oneTruck(t, out[n-1], d)
		if waits {
			out[n-1] = joinedDraw(out[n-1], d)
			continue
		}
		if n > 0 && v.stuckBetween(t, out[n-1], d) {
			out[n-1] = joinedOverStuck(out[n-1], d)
			continue
		}
		out = append(out, d)
	}
	return out, waits
}

// undecidedSamples are the samples in which a draw that is not decided may be, with the last one before
// a gap that its beginning may lie in, and until when the tank was last seen at rest.
func (v *tankState) undecidedSamples(t *Tank, speed, now float64) (b []sample, seen float64) {
	lo, hi := searchTime(v.recent, math.Max(v.decidedTo, v.searchFrom-restLong)), searchTime(v.recent, math.Nextafter(now, math.Inf(1)))
	if lo > 0 && v.recent[lo-1].t >= v.decidedTo {
		lo--
	}
	b, seen = v.recent[lo:max(lo, hi)], v.searchFrom
	for i := len(b) - 2; i >= 0; i-- {
		if b[i].t < v.searchFrom && b[i+1].t-b[i].t >= v.gapMin(t, speed) {
			return b, b[i].t
		}
	}
	return b, seen
}

// oneTruck says whether two draws are one truck with a pause.
func (v *tankState) oneTruck(t *Tank, a, b draw) bool {
	if one, sure := v.oneOpening(t, a, b); sure {
		return one
	}
	if t.Interface && v.waterDrawn(t, a) != v.waterDrawn(t, b) {
		return false
	}
	pause, longest := b.start-a.end, t.Loads.PauseMerge.Seconds()
	va, vb, most := t.volume(a), t.volume(b), t.Loads.TruckMax
	if pause > longest && (pause > pauseLate*longest || most == 0 || va+vb > most || math.Min(va, vb) < partBbl) {
		return false
	}
	if math.Min(va, vb) < partBbl || pause > 120 && math.Min(a.opening.level-a.closing.level, b.opening.level-b.closing.level) < 2*v.leastFall() {
		return pause < 120
	}
	if t.pumpRate(a) < pipeRate && t.pumpRate(b) < pipeRate {
		return true
	}
	return most == 0 || pause < pauseSure || va+vb <= most || va > most || vb > most
}

// volume is the barrels between the gauges of a draw.
func (t *Tank) volume(d draw) float64 {
	a, _ := t.Table.Extrapolated(d.opening.level)
	b, _ := t.Table.Extrapolated(d.closing.level)
	return a - b
}

// pumpRate is the rate of a draw in barrels per minute, inflow included.
func (t *Tank) pumpRate(d draw) float64 {
	s := math.Max(d.end-d.start, 1)
	return (t.volume(d) + d.inflowAfter*t.Table.PerInch(d.opening.level)*s) / s * 60
}

func joinedDraw(a, b draw) draw {
	a.end, a.closing = b.end, b.closing
	a.parts += b.parts
	a.gap, a.samples = math.Max(a.gap, b.gap), a.samples+b.samples
	a.slosh, a.endLine = b.slosh, b.endLine
	a.inflowAfter = b.inflowAfter
	return a
}
