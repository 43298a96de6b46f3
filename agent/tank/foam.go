package tank

import (
	"fmt"
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	foamShare  = 0.7    // of what makes a ticket wrong, that the foam makes at least
	foamSeen   = 0.3    // in that the level falls at least
	foamNoise  = 2.0    // times the noise of a reading, the same, of middles of many
	foamQuick  = 30.0   // s in which foam collapses by e
	foamSlow   = 1500.0 // the same
	foamGrows  = 90.0   // s in which it comes up by e
	foamTimes  = 1.5    // from one time that is tried to the next
	foamOnsets = 32     // instants from which it may have collapsed that are tried
	foamBeyond = 2.0    // times what the level was seen to fall, that it may have been high
	foamStands = 900.0  // s that foam stands at most before it goes as fast as half a pump draws
	foamGone   = 2.0    // times in which it collapses by e, that are seen of it
	foamStill  = 0.4    // of what makes a ticket wrong, that it still sinks in ten minutes
	foamRough  = 0.1    // of its height, that it does not collapse evenly
	foamGrown  = 0.25   // the same where it came up after the end
	sankFar    = 0.6    // in that no oil falls which only cools or comes to rest
	foamRested = 0.6    // of a rest behind the end, which is read: its fit may begin the draw behind it late
	foamMissed = 1.5    // times as many squares of the noise as readings, above which foam that stood first may be none
	foamDrawn  = 0.6    // of its height, that it may be oil that was drawn off then
	foamSoon   = 180.0  // s from the end on, within which what sinks may be oil that cools
	foamCools  = 0.7    // of its height, that such oil may have sunk instead, where it is no more than that sinks
	lateNone   = 10.0   // s by which any sensor may follow, and a pump comes up to its rate
	lateLeast  = 30.0   // s by which one follows late
	lateMost   = 600.0  // s, the same; what follows still later is not seen to come to rest
	lateSure   = 0.45   // share of the squares that either edge leaves without it, which it leaves at most
	lateAlike  = 2.0    // times what the edge leaves with its own best time, the same
	lateClear  = 0.2    // share as the first that is sure whatever other time would leave less, as where a pump's rate wanders
	lateFew    = 12     // readings about either edge that show it
	lateWithin = 600.0  // s of rest before a draw, and of a fall, in which it is looked for
	lateBehind = 2400.0 // s behind a draw, the same
	lateSeen   = 2.5    // times its time, the same of a fall
	lateEdge   = 60.0   // s about an edge in which it may lie anywhere
	lateRough  = 0.07   // share by which its time is not known
)

// foam stood on the oil until some seconds after a load's end, and went, e times less after every time; or it drained evenly, as oil that
// leaves does. grows says that it came up after the end.
type foam struct {
	stood, time float64
	grows, even bool
}

// left is the share of it that stands so many seconds after the end.
func (f foam) left(after float64) float64 {
	up := 1.0
	if f.grows {
		up -= math.Exp(-after / foamGrows)
	}
	since := math.Max(0, after-f.stood)
	if f.even {
		return up * math.Max(0, 1-since/(2*f.time))
	}
	return up * math.Exp(-since/f.time)
}

// foamFit is a level behind a load, and the foam on it.
type foamFit struct {
	foam
	shapeFit
	usual float64 // in/s that the well makes meanwhile
}

// behindFoam is the closing of a load behind which foam collapsed, and the foam in inches; 0 where none did. Oil at rest does not fall: a level that does,
// quickly at first and then less, and rises on as the well makes it, is read without what stood on it. What falls evenly may be
// oil that somebody drained: where it had rested for minutes before that, in which foam would have collapsed, the closing is the rest.
func behindFoam(ts *tankState, t *Tank, d draw, now float64) (gauge, float64) {
	per := t.Table.PerInch(d.closing.level)
	least := foamShare * wrongBbl(t.volume(d)) / per
	if t.Group != "" || t.Sensor == "float" || t.Sensor == "hydrostatic" || d.deadband > 0 || d.late > 0 {
		return gauge{}, 0
	}
	from, to := d.end+settleShort, d.watched(t, now)
	r := ts.resting(t, d)
	r.at, r.samples, r.slosh = d.end, between(ts.levels.recent, from, to), d.slosh
	b := r.thinned(r.withoutSpikes())
	if len(b) < 2*atomFew {
		return gauge{}, 0
	}
	r.sigma = max(r.sigma, neighbourScatter(b), r.step/math.Sqrt(12))
	lifted, apart := r.withoutLifts(b, ts.levels.mostRisen(math.Max(ts.decidedTo, d.start-fineFor), d.start, ranLong), d.usualInflow*(to-from))
	seen := math.Max(ts.levels.sink(from, to, math.Inf(-1)), (&levels{recent: apart}).sink(from, to, math.Inf(-1)))
	if seen < math.Max(foamSeen, foamNoise*ts.noise.perSample()) {
		return gauge{}, 0
	}
	made := math.Hypot(d.inflow.err, math.Sqrt(d.inflow.variance/(to-from)))
	best := r.eitherFoam(b, d.usualInflow, made)
	if n := len(lifted.lifts); n > 0 { // between its dumps a separator gives nothing
		if f := lifted.bestFoam(apart, 0, 0); f.missed+piecePrice*float64(n) < best.missed*float64(len(apart))/float64(len(b)) {
			r, b, best = lifted, apart, f
		}
	}
	d.usualInflow = best.usual
	if r.fitShape(b, func(after float64) float64 { return after }, 0, made).missed < best.missed+piecePrice || best.inches < math.Max(least, fitSure*best.err) {
		return gauge{}, 0 // it moves evenly, as where the well makes otherwise than usual, or by little
	}
	if best.stood > foamSoon && best.even {
		rest := ts.restedGauge(t, &d, ts.levels.recent, bounds{d.start, d.end + foamRested*best.stood})
		if rest.level-d.closing.level < least {
			rest = d.closing // it was read there already
		}
		return rest, 0
	}
	if best.even || best.inches > foamBeyond*(seen+foamGone*best.time*best.usual) {
		return gauge{}, 0
	}
	quick := best.stood > foamStands && best.inches/best.time > foamRate*d.slope()
	if sinks, _ := stillSinks(ts, d, to); quick && sinks > least {
		return gauge{}, 0 // the next truck begins
	}
	gone := between(ts.levels.recent, r.at+best.stood+foamGone*best.time, to)
	if neverStands(ts, stoodFor(gone), d.step, d.usualInflow) || !best.sank(b, r.at, d.usualInflow) {
		return gauge{}, 0
	}
	g, rough := gauge{level: best.level, samples: len(b), away: d.closing.away}, foamRough
	switch {
	case best.stood > foamSoon && best.missed > foamMissed*float64(len(b)):
		rough = foamDrawn // no foam fits well, and it stood first: somebody may have drawn it off
	case best.inches < sankFar && best.stood < foamSoon:
		rough = foamCools
	case best.grows || quick:
		rough = foamGrown // oil that came in looks as foam that comes up, and somebody may have drawn what went so quickly
	}
	g.err = math.Sqrt(stats.Square(best.err) + stats.Square(rough*best.inches) + d.inflow.variance*(best.time+best.stood/2))
	return g, best.inches
}

// stillFoam says that of foam behind a load more than makes its barrels wrong is reckoned and was not seen to sink when it was decided, or
// that it still sank by a share of as much.
func stillFoam(ts *tankState, t *Tank, d draw, now float64) []string {
	confirm, wrong := t.Loads.Confirm.Seconds(), wrongBbl(t.volume(d))/t.Table.PerInch(d.closing.level)
	to := d.watched(t, now)
	if unseen := d.foam - d.usualInflow*confirm - ts.levels.sink(d.end+settleShort, to, math.Inf(-1)); unseen > wrong {
		return []string{fmt.Sprintf("foam of %.1f in more than was seen to sink is taken off", unseen)}
	}
	if sinks, ok := stillSinks(ts, d, to); ok && sinks > foamStill*wrong {
		return []string{fmt.Sprintf("foam still sank by %.1f in within %.0f min when it was decided", sinks, 2*fellEvery/60)}
	}
	return nil
}

// stillSinks is by how many inches the level sank, beside its inflow, in the ten minutes to a time behind a draw.
func stillSinks(ts *tankState, d draw, to float64) (inches float64, ok bool) {
	was, is := between(ts.levels.recent, to-3*fellEvery, to-2*fellEvery), between(ts.levels.recent, to-fellEvery, to)
	if len(was) == 0 || len(is) == 0 || to-3*fellEvery <= d.end {
		return 0, false
	}
	return stats.Median(values(was)) + 2*fellEvery*d.usualInflow - stats.Median(values(is)), true
}

// sank says that the level lies lower by half of the foam where that has gone than where it stood: what stands before a hump and behind it
// is the oil.
func (f foamFit) sank(b []sample, end, inflow float64) bool {
	gone := end + f.stood + foamGone*f.time
	stood, left := between(b, end, end+f.stood), between(b, gone, math.Inf(1))
	if len(stood) < atomFew || len(left) < atomFew {
		return true // it collapsed from the end on, or is still there
	}
	made := inflow * (left[len(left)/2].t - stood[len(stood)/2].t)
	return stats.Median(values(stood))+made-stats.Median(values(left)) > f.inches/2
}

// eitherFoam is the better fit of a well that makes as much as usual and of one that is turned away from a tank that is hauled.
func (r resting) eitherFoam(b []sample, usual, err float64) foamFit {
	best := r.bestFoam(b, usual, err)
	best.usual = usual
	if off := r.bestFoam(b, 0, err); off.missed+restSigmas*restSigmas < best.missed {
		return off
	}
	return best
}

// bestFoam is the fit of all ways in which foam may have collapsed, or oil drained evenly, that leaves least.
func (r resting) bestFoam(b []sample, usual, err float64) foamFit {
	none := foamFit{shapeFit: shapeFit{missed: math.Inf(1)}}
	decays, drains := none, none
	every := max(1, len(b)/foamOnsets)
	for i := 0; i < len(b)-atomFew/2; i += every {
		for time := foamQuick; time <= foamSlow; time *= foamTimes {
			if b[i].t+foamGone*time > b[len(b)-1].t {
				break
			}
			for way := range 4 {
				best := &decays
				if way&2 > 0 {
					best = &drains
				}
				if f := r.fitFoam(b, foam{math.Max(0, b[i].t-r.at), time, way&1 > 0, way&2 > 0}, usual, err); f.inches > 0 && f.missed < best.missed {
					*best = f
				}
			}
		}
	}
	within := float64(every) * (b[len(b)-1].t - b[0].t) / float64(len(b))
	if decays, drains = r.closerFoam(b, decays, within, usual, err), r.closerFoam(b, drains, within, usual, err); decays.missed < drains.missed {
		return decays
	}
	return drains
}

// closerFoam is a fit with the onset and the time, between those that were tried, that leave least: an onset that is half a minute off
// makes a quick collapse look as if it drained evenly.
func (r resting) closerFoam(b []sample, f foamFit, within, usual, err float64) foamFit {
	if math.IsInf(f.missed, 1) {
		return f
	}
	fit := func(stood, time float64) foamFit { return r.fitFoam(b, foam{stood, time, f.grows, f.even}, usual, err) }
	stood, time := f.stood, f.time
	for range 2 {
		stood = stats.LeastAt(func(at float64) float64 { return fit(math.Max(0, at), time).missed }, stood-within, stood+within)
		time = stats.LeastAt(func(long float64) float64 { return fit(math.Max(0, stood), long).missed }, time/foamTimes, time*foamTimes)
	}
	if best := fit(math.Max(0, stood), time); best.missed < f.missed {
		return best
	}
	return f
}

// fitFoam fits the level, the slope, which the well's usual one with its error bounds, and the foam's height by least squares.
func (r resting) fitFoam(b []sample, f foam, usual, err float64) foamFit {
	return foamFit{foam: f, shapeFit: r.fitShape(b, f.left, usual, err)}
}

// follower is a sensor, or a pressure in a long line, that shows the level late: what is left of a difference is e times less after
// every time, or it shows the mean of twice that time. A level that moves evenly it shows that time behind.
type follower struct {
	time float64
	mean bool
}

// ramp is how far it has moved so many seconds after a level at rest began to move, for an inch a second.
func (f follower) ramp(after float64) float64 {
	switch {
	case after <= 0:
		return 0
	case f.mean && after < 2*f.time:
		return after * after / (4 * f.time)
	case f.mean:
		return after - f.time
	}
	return after - f.time*(1-math.Exp(-after/f.time))
}

// lateFit is a draw as it is fitted to what a follower shows: when it began and ended, and how the level rested before and behind it.
type lateFit struct {
	follower
	start, end     float64
	before, behind shapeFit
}

// lateEdges are the readings about both edges of a draw, on which it is fitted.
type lateEdges struct {
	resting
	d              draw
	before, behind []sample
}

// takeLate gives a draw the times and gauges that it had where its sensor shows the level late, by seconds that it remembers. Both
// edges tell: the level leaves its line as slowly as it comes to rest. A pump that starts slowly, or fades, does so at one of them.
func takeLate(ts *tankState, t *Tank, d *draw, now float64) {
	if t.Group != "" || d.deadband > 0 || d.step >= coarseLeast || d.parts > 1 || d.hatch > 0 || d.stuck.to > 0 || d.samples < lateFew/2 {
		return
	}
	e, half := lateEdges{resting: ts.resting(t, *d), d: *d}, (d.start+d.end)/2
	e.read(ts, d.start, half, math.Max(half, d.end-2*lateWithin), now)
	l, ok := e.best()
	if !ok {
		return
	}
	long := math.Max(lateWithin, lateSeen*l.time) // now that its end is known about
	e.read(ts, l.start, math.Min(l.end, l.start+long), math.Max(l.start, l.end-long), now)
	if l, ok = e.best(); !ok {
		return
	}
	stop := e // of the last of the fall: a follower still bends, and what two trucks on a header drew slower at both ends stops at once
	stop.read(ts, l.start, l.start+long, l.end+l.time/2, now)
	if stop.fit(l.follower).behind.missed >= stop.fit(follower{time: lateNone}).behind.missed {
		return
	}
	if l.before.level > slices.Max(values(e.before))+d.inflow.mayRise(l.time)+e.sigma {
		return // at rest a sensor that is late shows the level, but for what flowed in since
	}
	off := e.fit(follower{(1 + lateRough) * l.time, l.mean})
	rough := func(f shapeFit, b []sample) float64 { return f.missed / float64(len(b)) * stats.Square(e.sigma) } // a dump about an edge, which is not told from it
	free := d.inflow.variance * (l.time + edgeUnsure)
	d.late, d.opening.level, d.opening.err = l.time, l.before.level, math.Sqrt(stats.Square(d.opening.err)+stats.Square(off.before.level-l.before.level)+rough(l.before, e.before))
	d.closing.level, d.closing.err = l.behind.level, math.Sqrt(free+stats.Square(d.inflow.err*l.time)+stats.Square(off.behind.level-l.behind.level)+rough(l.behind, e.behind))
	d.endLine = line{l.end + l.time, l.behind.level, l.behind.slope + l.behind.inches}
	if !d.setByValve {
		d.start, d.end = l.start, l.end
	}
}

// read takes the readings about an edge at which the draw began, up to a time of the fall, and from another on those to its rest.
func (e *lateEdges) read(ts *tankState, start, to, from, now float64) {
	first, last := max(ts.decidedTo, e.d.within.lo, start-lateWithin), min(now, e.d.next, e.d.end+lateBehind)
	e.at, e.samples = e.d.start, between(ts.levels.recent, first, to)
	e.before = e.thinned(e.withoutSpikes())
	e.at, e.samples = e.d.end, between(ts.levels.recent, from, last)
	e.behind = e.thinned(e.withoutSpikes())
	e.sigma = max(ts.noise.perSample(), neighbourScatter(e.behind), e.step/math.Sqrt(12))
}

// best is the fit by the time that leaves least about both edges, where either wants it.
func (e lateEdges) best() (best lateFit, ok bool) {
	if len(e.before) < lateFew || len(e.behind) < 2*lateFew {
		return best, false
	}
	none := e.fit(follower{time: lateNone})
	best, own := none, none
	for time := lateLeast * 2 / 3; time < 2*lateMost; time *= 2 {
		for _, mean := range []bool{false, true} {
			l := e.fit(follower{time, mean})
			own.before.missed, own.behind.missed = math.Min(own.before.missed, l.before.missed), math.Min(own.behind.missed, l.behind.missed)
			if l.left() < best.left() {
				best = l
			}
		}
	}
	if best.time == lateNone {
		return best, false
	}
	closer := func(mean bool) lateFit {
		return e.fit(follower{stats.LeastAt(func(time float64) float64 { return e.fit(follower{time, mean}).left() }, best.time/2, 2*best.time), mean})
	}
	if damped, mean := closer(false), closer(true); mean.left() < damped.left() {
		best = mean
	} else {
		best = damped
	}
	sure := func(edge, none, own shapeFit) bool {
		return edge.missed < lateClear*none.missed || edge.missed < lateSure*none.missed && edge.missed < lateAlike*own.missed
	}
	return best, sure(best.before, none.before, own.before) && sure(best.behind, none.behind, own.behind) && best.time >= lateLeast && best.time <= lateMost
}

// left is what both edges leave of the squares, each of the same weight.
func (l lateFit) left() float64 { return math.Log(l.before.missed) + math.Log(l.behind.missed) }

// fit fits both edges for one way in which the sensor follows. The levels are the oil's at the two instants.
func (e lateEdges) fit(f follower) lateFit {
	out, time := lateFit{follower: f}, f.time
	made := math.Hypot(e.inflow.err, math.Sqrt(e.inflow.variance/lateBehind))
	e.at = e.d.start
	began := func(at float64) shapeFit {
		return e.fitShape(e.before, func(after float64) float64 { return out.ramp(e.at + after - at) }, e.d.inflowBefore, made)
	}
	out.start = stats.LeastAt(func(at float64) float64 { return began(at).missed }, e.at-2*time-lateEdge, e.at+lateEdge)
	out.before = began(out.start)
	out.before.level += out.before.slope * (out.start - e.at + time)
	e.at = e.d.end
	ended := func(at float64) shapeFit {
		return e.fitShape(e.behind, func(after float64) float64 {
			return out.ramp(e.at+after-out.start) - out.ramp(e.at+after-at) - (at - out.start)
		}, e.d.inflowAfter, made)
	}
	out.end = stats.LeastAt(func(at float64) float64 { return ended(at).missed }, math.Max(out.start+lateEdge, e.at-6*time-lateEdge), e.at+lateEdge)
	out.behind = ended(out.end)
	out.behind.level += out.behind.slope * (out.end - e.at + time)
	return out
}
