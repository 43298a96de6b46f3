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
func (u *update) conclude(i int, ts *tankState, now float64) {
	if ts.bin.n > 0 && now-ts.bin.first >= 60 {
		u.flush(i, ts)
	}
	u.reportEpisodes(i, ts, now)
	if ts.drawing && now >= ts.judgeAt {
		u.judgeDraws(i, ts, now, false)
	}
}

// judgeDraws looks at the buffer for draws and decides those that are ripe, all of them when
// nothing that comes can say more.
func (u *update) judgeDraws(i int, ts *tankState, now float64, all bool) {
	t := &u.site.tanks[i]
	confirm := t.Loads.Confirm.Seconds()
	draws, waits := ts.draws(t, u.site.speed, now)
	ts.judgeAt = now + 60
	for k, d := range draws {
		if !all && !ts.ripe(t, u.site.speed, d, now, k+1 < len(draws)) {
			if !waits {
				ts.judgeAt = math.Max(ts.judgeAt, d.end+confirm)
			}
			return
		}
		u.decide(i, ts, d, now)
		ts.decidedTo, ts.lastDrawStart, ts.lastDrawEnd = math.Max(ts.decidedTo, math.Max(d.end, d.stuck.to)), d.start, d.end
		ts.firstSeen = dropUntil(ts.firstSeen, d.end)
	}
	if all || now-ts.lastFallAt > confirm {
		ts.drawing, ts.firstSeen = false, nil
		ts.levels.linkHistory(ts.drawPhase, ts.faults.jumpedAt)
		return
	}
	ts.judgeAt = math.Max(ts.judgeAt, ts.lastFallAt+confirm)
}

func dropUntil(b []float64, t float64) []float64 {
	for len(b) > 0 && b[0] <= t {
		b = b[1:]
	}
	return b
}

// ripe says that a draw is over and its confirmation has passed. One that another followed
// is over, however little of its end was seen.
func (ts *tankState) ripe(t *Tank, speed float64, d draw, now float64, followed bool) bool {
	wait := t.Loads.Confirm.Seconds()
	if t.Group != "" {
		wait = math.Max(wait, t.Loads.GroupSettle.Seconds()+180)
	}
	if now < d.end+wait {
		return false
	}
	if now-ts.last.t >= t.Loads.MaxGapTicket.Seconds() {
		return true
	}
	usual := math.Max(ts.interval.usual, t.Every.Seconds()*speed)
	newest, rest := ts.levels.recent[len(ts.levels.recent)-1].t, len(ts.levels.recent)-searchTime(ts.levels.recent, d.end)
	if !followed && !ts.stopped(d) || rest < 3 && now-ts.last.t < 2*usual+300 {
		return false // the readings stopped while it fell: they will tell
	}
	if d.closing.away > t.Loads.GapMin.Seconds() && ts.interval.usual < 120 && newest-d.end-d.closing.away < afterGap {
		return false // what flowed in unseen is told by what flows in now
	}
	return !ts.frozenAtEnd(t, d, now) && !ts.stillReturning(t, d, now)
}

// stopped says that samples after a draw lie off its falling line: it was seen to end.
func (ts *tankState) stopped(d draw) bool {
	off := math.Max(0.6, 4*math.Max(ts.noise.sigma, d.slosh))
	for b := ts.levels.recent[max(0, searchTime(ts.levels.recent, d.end)-2):]; len(b) > 2; b = b[1:] {
		if b[1].t > d.end && median3(b[:3])-d.endLine.at(b[1].t) >= off {
			return true
		}
	}
	return false
}

// frozenAtEnd says that the value stands still since the end of a draw as this sensor never
// does, so that the end may be the sensor's and not the truck's.
func (ts *tankState) frozenAtEnd(t *Tank, d draw, now float64) bool {
	age := ts.last.t - ts.heldSince
	return ts.heldSince <= d.end+120 && ts.interval.changes >= 8 && age > 20*ts.interval.held && age > 900 && now-ts.heldSince < t.Loads.Stuck.Seconds()
}

// draws are the draws of the buffer that are not decided yet, in order. waits says that the
// last may still turn out to be one with the one before.
func (ts *tankState) draws(t *Tank, speed, now float64) (out []draw, waits bool) {
	b, seen := ts.undecidedSamples(t, speed, now)
	if len(b) < 2 {
		return nil, false
	}
	in := ts.inflow(t, seen)
	fs := ts.fallFinder(t, speed, float64(b[len(b)-1].v)).falls(b)
	lo := ts.decidedTo
	for k, f := range fs {
		hi := math.Inf(1)
		if k+1 < len(fs) {
			hi = fs[k+1].from.t
		}
		d := ts.measure(t, f.withoutSilence(), bounds{lo, hi}, in, now)
		lo = d.end + 30
		n := len(out)
		waits = n > 0 && ts.oneTruck(t, out[n-1], d)
		if waits {
			out[n-1] = joinedDraw(out[n-1], d)
			continue
		}
		if n > 0 && ts.levels.stuckBetween(t, out[n-1], d) {
			out[n-1] = joinedOverStuck(out[n-1], d)
			continue
		}
		out = append(out, d)
	}
	return out, waits
}

// undecidedSamples are the samples in which a draw that is not decided may be, with the last one before
// a gap that its beginning may lie in, and until when the tank was last seen at rest.
func (ts *tankState) undecidedSamples(t *Tank, speed, now float64) (b []sample, seen float64) {
	lo, hi := searchTime(ts.levels.recent, math.Max(ts.decidedTo, ts.searchFrom-restLong)), searchTime(ts.levels.recent, math.Nextafter(now, math.Inf(1)))
	if lo > 0 && ts.levels.recent[lo-1].t >= ts.decidedTo {
		lo--
	}
	b, seen = ts.levels.recent[lo:max(lo, hi)], ts.searchFrom
	for i := len(b) - 2; i >= 0; i-- {
		if b[i].t < ts.searchFrom && b[i+1].t-b[i].t >= ts.interval.gapMin(t, speed) {
			return b, b[i].t
		}
	}
	return b, seen
}

// oneTruck says whether two draws are one truck with a pause.
func (ts *tankState) oneTruck(t *Tank, a, b draw) bool {
	if one, sure := ts.aux.oneOpening(t, a, b); sure {
		return one
	}
	if t.Interface && ts.aux.waterDrawn(t, a, &ts.levels) != ts.aux.waterDrawn(t, b, &ts.levels) {
		return false
	}
	pause, longest := b.start-a.end, t.Loads.PauseMerge.Seconds()
	va, vb, most := t.volume(a), t.volume(b), t.Loads.TruckMax
	if pause > longest && (pause > pauseLate*longest || most == 0 || va+vb > most || math.Min(va, vb) < partBbl) {
		return false
	}
	if math.Min(va, vb) < partBbl || pause > 120 && math.Min(a.opening.level-a.closing.level, b.opening.level-b.closing.level) < 2*ts.noise.leastFall() {
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
