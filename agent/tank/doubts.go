package tank

import (
	"fmt"
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	atomLong    = 3600.0     // s of rest next to a load in which a saturated sensor shows
	atomMany    = 24.0       // of a sensor that is read seldom
	steadyWell  = 0.7        // share of what the well makes that comes at least
	fellMost    = 1.5        // times what makes a ticket wrong that it falls at least, of a wide tank, where an inch is more
	slowBbl     = 5.0        // bbl that leave before the pump draws as it does then
	slowLong    = 300.0      // s in which they do at least
	slowLook    = 180.0      // s in which its rate is seen
	slowRate    = 0.4        // share of its rate that they leave at, at most
	slowSure    = 0.7        // share of its rate that is the pump's
	deadFirst   = 600.0      // s of rest next to a load that show where it stands
	deadMost    = 3 * 3600.0 // s that a level is compared over
	deadLeast   = 1200.0     // s that it stands at least
	deadTop     = 12.0       // in below the top of the shell, to which a switch seldom lets oil rise, and a sensor's dead zone reaches
	deadOff     = 0.1        // in; so far does a level that stands stray at least
	deadFell    = 5.0        // in that a level was lower, or higher, between two visits to an end
	deadRises   = 0.3        // share of its usual inflow at which a tank is filled until the load begins
	deadUntil   = 900.0      // s before a load in which a tank rises that is filled until it begins
	nearLong    = 1200.0     // s of rest next to a load that show how its readings scatter
	nearCalm    = 300.0      // s behind it in which waves die
	nearTimes   = 3.0        // times the noise behind it, that they scatter before it where the sensor sees something else too
	nearLeast   = 0.15       // in that they do at least
	deadWindows = 3          // stretches elsewhere that show what the well makes
)

// doubtStanding says why a gauge may be an end of what the sensor shows, where noise does not tell: its blind zone, or a float at its stop. The reading stands
// at the very end of all that was seen in a day, and stood there before, or the well comes again at once behind the load; a float hangs anywhere, as the level
// rises. What the tank made meanwhile is within the gauge's error.
func (s siteTanks) doubtStanding(i int, ts *tankState, d *draw, now float64, opening, closing bool) {
	t := &s.site.tanks[i]
	if t.Group != "" || d.deadband > 0 {
		return
	}
	per := t.Table.PerInch(d.closing.level)
	wrong := wrongBbl(t.volume(*d)) / per
	missed := func(e *standing) bool {
		e.missed = e.leastRise(&ts.levels, per)
		return e.missed >= wrong && e.missed >= 2*e.off && !ts.levels.pausesSo(d.start-deadLeast, e.to-e.from, e.level, e.off, e.missed/(e.to-e.from))
	}
	say := func(e standing, where string, told bool, g *gauge, off float64) {
		if g.unsure(off); !told {
			d.doubt("reading stood at %.2f in for %s %s, where the well makes %.1f in at least: blind zone, a float at its stop or that hangs, or the well is shut in", e.level, spanText(e.to-e.from), where, e.missed)
		}
	}
	before := between(ts.levels.recent, math.Max(ts.decidedTo, d.start-deadMost), d.start-rampClear)
	if e, ok := ts.levels.standingAt(before, -1, d.start); ok && t.Sensor != "hydrostatic" && (e.level < float64(t.Height)-fullWithin || float64(t.Height)-e.level < deadTop && e.again && ts.levels.stopsAt(e.level, e.off, e.from, deadFell)) { // a high level shuts the well in
		hung := t.Sensor == "float" && e.to-e.from >= t.Loads.StuckJump.Seconds() && ts.levels.roseBefore(e.from, deadUntil) > deadRises*d.inflow.usual
		if missed(&e) && (e.again || hung || e.dead && !e.beyond && comesAgain(ts, *d, e, now)) && !s.turnedTo(i, e.from, e.from, e.to, e.missed*per) {
			say(e, "before it", opening, &d.opening, math.Min(e.missed, math.Max(wrong, (float64(t.Height)-e.level)/2)))
		}
	}
	after := between(ts.levels.recent, d.end+settleShort, min(now, d.next, d.end+deadMost))
	filled := func(long float64) bool { return ts.levels.roseBefore(d.start, long) > deadRises*d.inflow.usual }
	if f, ok := freedBehind(ts, t, *d); ok && !f.fell && f.above > wrong && filled(deadUntil) && missed(&f.standing) && s.othersFilled(i, f.from, f.to) < explainedShare*f.missed*per {
		say(f.standing, "behind it", closing, &d.closing, f.above/2)
		return
	}
	if e, ok := ts.levels.standingAt(after, 1, d.start); ok && !e.beyond && filled(deadMost/3) && missed(&e) && s.othersFilled(i, e.from, e.to) < explainedShare*e.missed*per {
		if _, longer := ts.stillSince(*d); e.again {
			say(e, "behind it", closing, &d.closing, e.missed)
		} else if filled(deadUntil) || e.dead && longer <= 1 {
			say(e, "behind it", closing, &d.closing, e.missed/2)
		}
	}
}

// standing is a stretch next to a load in which a reading stood at an end of what was seen.
type standing struct {
	from, to   float64
	level, off float64 // in, and how far it strays
	beyond     bool    // the level was seen further out in the last day
	again      bool    // it was not, and the level stood there before
	dead       bool    // it moved by no more than a step of the sensor
	missed     float64 // in that the well makes in as long a time, at least
}

// standingAt is how long some rest next to a load stood where it is next to it; side is where the load lies in the levels: 1 above.
func (l *levels) standingAt(b []sample, side, load float64) (e standing, ok bool) {
	n := len(b)
	if n < aloneFew {
		return e, false
	}
	next := b[:max(searchTime(b, b[0].t+deadFirst), aloneFew)]
	if side < 0 {
		next = b[min(searchTime(b, b[n-1].t-deadFirst), n-aloneFew):]
		b = slices.Clone(b)
		slices.Reverse(b)
	}
	e.level = stats.Median(values(next))
	e.off = math.Max(deadOff, 3*neighbourScatter(next))
	k := stoodAt(b, e.level, e.off)
	if k < aloneFew {
		return e, false
	}
	stood := b[:k]
	e.dead = slices.Max(values(stood))-slices.Min(values(stood)) <= leastStep(b)+levelGrain
	e.from, e.to = math.Min(stood[0].t, stood[k-1].t), math.Max(stood[0].t, stood[k-1].t)
	if e.to-e.from < deadLeast {
		return e, false
	}
	away := false
	for j := len(l.history) - 1; j > 0; j-- {
		h, g := l.history[j], l.history[j-1]
		over := side * (float64(h.v) - e.level)
		if h.t > load {
			continue
		}
		e.beyond = e.beyond || over < -e.off
		away = away || over > deadFell
		e.again = e.again || away && over <= e.off && side*(float64(g.v)-e.level) <= e.off
	}
	e.again = e.again && !e.beyond
	return e, true
}

// stoodAt is how many of some samples stay at a level, but for one that strays alone.
func stoodAt(b []sample, level, off float64) (n int) {
	near := func(k int) bool { return k < len(b) && math.Abs(float64(b[k].v)-level) <= off }
	for n < len(b) && (near(n) || near(n+1)) {
		n++
	}
	return n
}

// leastRise is the least that a level rose at rest in as long a time as a standing, elsewhere in the last day, or where it was not seen at rest for
// so long, in a part of it as often; 0 where it is not known.
func (e standing) leastRise(l *levels, per float64) float64 {
	for part := e.to - e.from; part >= deadLeast; part /= 2 {
		var rises []float64
		for i := range l.history {
			rose, long := 0.0, 0.0
			for k := i + 1; k < len(l.history) && long < part; k++ {
				dv, dt, ok := l.restStep(k, per)
				if !ok || math.Abs(float64(l.history[k].v)-e.level) <= e.off || math.Abs(float64(l.history[k-1].v)-e.level) <= e.off {
					break
				}
				rose, long = rose+dv, long+dt
			}
			if long >= part {
				rises = append(rises, rose*(e.to-e.from)/long)
			}
		}
		if len(rises) >= deadWindows {
			return slices.Min(rises)
		}
	}
	return 0
}

// comesAgain says that behind a load the well brings oil at once as it did until the reading began to stand: it had been neither shut in nor
// turned away.
func comesAgain(ts *tankState, d draw, e standing, now float64) bool {
	until, least := math.Min(now, d.next), deadRises*e.missed/(e.to-e.from)
	return ts.levels.roseBefore(until, until-d.end-settleShort) > least && ts.levels.roseBefore(ts.levels.stoodSince(d.start, e.level, e.off), deadMost/3) > least
}

// stoodSince is since when a level lay no further than some inches from where it is at a time.
func (l *levels) stoodSince(at, level, off float64) float64 {
	for k := searchTime(l.recent, at) - 1; k >= 0 && math.Abs(float64(l.recent[k].v)-level) <= off; k-- {
		at = l.recent[k].t
	}
	return at
}

// unseenBeyond is half of what the well made while a reading stood at a gauge that is the most, or the least, that a sensor shows, inches: the gauge
// is a bound, and the oil lies anywhere beyond it, as far as there is room.
func unseenBeyond(ts *tankState, d draw, level, room float64, behind bool) float64 {
	b, off, long := ts.levels.recent, math.Max(deadOff, restSigmas*ts.noise.perSample()), 0.0
	made := math.Max(d.fasterInflow(), d.inflow.usual)
	for k := searchTime(b, d.end+settleShort); behind && k < len(b) && b[k].t < d.next && math.Abs(float64(b[k].v)-level) <= off; k++ {
		long = b[k].t - d.end
	}
	if !behind {
		long = d.start - ts.levels.stoodSince(d.start, level, off)
		made = math.Max(made, ts.levels.roseBefore(d.start-long, deadMost/3))
	}
	return math.Min(made*long, math.Max(0, room)) / 2
}

// fellOn is how far the level fell below its closing in the confirmation after a load, inches: levels at rest do not fall. Where
// it did before the load too, as under a vent that breathes, it says nothing.
func fellOn(ts *tankState, t *Tank, d draw, now float64) float64 {
	from, confirm := d.end+settleShort, t.Loads.Confirm.Seconds()
	if t.Group != "" {
		from = math.Max(d.end, d.evened)
	}
	to, rest := d.watched(t, now), d.evenRest(&ts.levels)
	low := rest.sink(from, to, d.closing.level)
	if faded := d.end + dipFaded; d.closing.dipped && faded+fellEvery <= to { // until then it is the dip that is below it
		low = math.Min(low, rest.sink(faded, to, d.closing.level+dipFaded*min(d.inflowBefore, d.inflowAfter, d.usualInflow)))
	}
	if low <= t.sensorError() { // its closing is what it fell to
		from = rest.downTo(from, to, d.closing.level+math.Hypot(d.closing.err, t.sensorError()))
	}
	if d.foam+d.late == 0 && t.Sensor != "hydrostatic" && t.Group == "" { // the closing may have been read off where it had fallen to
		low = math.Max(low, rest.sink(math.Max(from, d.end+ts.interval.fresh()), to, math.Inf(-1))) // what was read until then is the pump's, whose end lies between two readings
	}
	if low <= 2*ts.levels.sink(math.Max(d.start-confirm, ts.decidedTo+settleShort), d.start-restNear, math.Inf(-1)) {
		return 0
	}
	return low
}

// takeFallenOn gives a draw behind which the level fell on, by more than makes its barrels wrong, that doubt, and as much error as it lies
// below the closing.
func takeFallenOn(ts *tankState, t *Tank, d *draw, now float64) {
	wrong := wrongBbl(t.volume(*d)) / t.Table.PerInch(d.closing.level)
	if f, ok := freedBehind(ts, t, *d); ok && f.fell && f.above > d.closing.err {
		off, long := d.closing.level-f.level+f.above, f.to-f.from
		d.within.hi = d.end // what was shown until then is no witness
		d.closing.level, d.closing.err = d.closing.level-off, math.Sqrt(stats.Square(d.closing.err)+d.inflow.straysOver(long)+stats.Square(d.inflow.err*long))
		d.says = append(d.says, fmt.Sprintf("level stood at %.2f in for %s behind it, while the well went on, and then fell to the oil at once: the closing is what flowed in since below that", f.level, spanText(long)))
		return
	}
	low := fellOn(ts, t, *d, now)
	if low <= math.Min(fellMost*wrong, math.Max(foamShare*wrong, sankFar)) || low <= 2*math.Hypot(d.closing.err, t.sensorError()) {
		return
	}
	rest := d.evenRest(&ts.levels)
	d.closing.unsure(math.Max(0, rest.sink(d.end, d.watched(t, now), d.closing.level)) / 2)
	why, down := "foam, water or a leak, or it had not come to rest", rest.downTo(d.end+settleShort, d.watched(t, now), d.closing.level-low*leapMost)
	if x := (draw{start: d.end, end: down + fellEvery, opening: d.closing, closing: gauge{level: d.closing.level - low}}); low*t.Table.PerInch(d.closing.level) >= partBbl && decay(ts, x) >= pumpSure {
		why = "water that was drawn off, or a leak"
	}
	d.doubt("level fell on by %.2f in after the end: %s", low, why)
}

// takeRisen gives a draw behind which the level rose as its well never did that doubt, unless other tanks gave what came. What runs in from the
// draw's end on out of a tank that is drawn from then came over the header that a driver opened to both: it belongs to that tank's load.
func (u *update) takeRisen(i int, ts *tankState, d *draw, now float64) {
	t := &u.site.tanks[i]
	inches, until := ts.roseOnce(t, *d, now)
	if from, kept := keptFrom(ts, t, *d); kept {
		d.says = append(d.says, fmt.Sprintf("what the well made came in at once from %s after it: its tank was shut, and nothing flowed in", spanText(from-d.end)))
		return
	}
	u.takeSwollen(i, ts, d, now)
	if inches <= 0 {
		return
	}
	said := fmt.Sprintf("level rose by %.1f in in %s, within %s after it, as the well never did: the truck gave oil back, or something else came in", inches, spanText(ranLong), spanText(until-d.end))
	if u.othersLost(i, d.end, until) >= explainedShare*inches*t.Table.PerInch(d.closing.level) {
		from := ""
		for j, o := range u.separate(i) {
			if slices.ContainsFunc(u.drawsOf(j), func(x draw) bool { return math.Abs(x.start-d.end) <= ranLong }) {
				from = o.ID
			}
		}
		soon, ok := ts.levels.about(d.end + ranLong)
		if from == "" || !ok || soon-d.closing.level < inches/2 {
			return
		}
		said = fmt.Sprintf("level rose by %.1f in in %s from its end on, while tank %s was drawn from: oil ran across from there, and the gauge behind that is lower by so much", inches, spanText(ranLong), from)
	}
	d.closing.unsure(inches / 2)
	d.doubts = append(d.doubts, said)
}

// doubtReadings says of a draw what the readings themselves say against a load.
func (s siteTanks) doubtReadings(i int, d *draw, now float64) {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	doubtDrain(ts, t, d, now)
	long := math.Max(atomLong, atomMany*ts.interval.fresh())
	before := between(ts.levels.recent, math.Max(d.start-long, ts.decidedTo), d.start)
	after := between(ts.levels.recent, d.end, math.Min(d.end+long, d.next))
	rests := between(after, d.end+settleShort, math.Inf(1))
	// A pressure sensor feels the oil's weight however high it stands, and a live one whose well was turned away rises no further.
	opening := t.Sensor != "hydrostatic" && (!s.shutOff(i, *d, 0, d.start) && saturated(t.Sensor, before, after, ts.levels.history, -1) || standsAtTop(&ts.levels, t.Sensor, before, rests)) || quieted(t.Sensor, before, rests)
	if opening {
		d.doubtGauge(&d.opening, unseenBeyond(ts, *d, d.opening.level, float64(t.Height)-d.opening.level, false), "sensor saturated at the opening, %.2f in is the most that it shows", d.opening.level)
	}
	closing := t.Group == "" && (!s.awayBehind(i, *d, math.Min(now, d.next)) && saturated(t.Sensor, after, before, ts.levels.history, 1) || quieted(t.Sensor, rests, before))
	if closing {
		d.doubtGauge(&d.closing, unseenBeyond(ts, *d, d.closing.level, d.closing.level, true), "sensor saturated at the closing, %.2f in is the least that it shows", d.closing.level)
	}
	if wide, calm := scattersBefore(ts, *d); wide > 0 && !opening && t.Sensor != "hydrostatic" { // which sees no nozzle
		d.doubt("readings scattered by %.2f in before it, and by %.2f behind: at the top its sensor may see a nozzle, foam or a wave, and the opening is not sure", wide, calm)
	}
	if left, long := slowStart(ts, *d); t.Group == "" && d.late == 0 && left*t.Table.PerInch(d.opening.level) >= slowBbl {
		d.doubtGauge(&d.opening, left/2, "%.1f bbl left within %s before the pump drew as it did then: water, a bleed, or a slow start", left*t.Table.PerInch(d.opening.level), spanText(long))
	}
	if n := averagedStep(ts, *d); n > 0 && t.Group == "" {
		d.doubt("it fell from rest to rest in %d equal parts, each from one reading to the next, where a pump starts and stops between two: a step of the sensor that a gateway averages?", n)
	}
	wrong := wrongBbl(t.volume(*d)) / t.Table.PerInch(d.closing.level)
	if short := stillOnItsWay(ts, t, *d); short > wrong {
		d.doubt("behind the last reading of the fall the level came up %.1f in short of what the well makes: the pump went on after it", short)
	}
	ts.aux.doubtWater(t, d)
	d.doubts = append(d.doubts, unlikeTruck(ts, t, *d)...)
	s.doubtStanding(i, ts, d, now, opening, closing)
}

// scattersBefore is by how many inches readings at rest scattered before a load, where that is some times what they
// do behind it: of a level that a sensor sees well there is as much noise in a full tank as in an empty one. 0 where it is not.
func scattersBefore(ts *tankState, d draw) (wide, calm float64) {
	long := math.Max(nearLong, atomMany/2*ts.interval.fresh())
	before := between(ts.levels.recent, math.Max(d.start-long, ts.decidedTo), d.start-rampClear)
	behind := between(ts.levels.recent, d.end+nearCalm, math.Min(d.end+nearCalm+long, d.next))
	filled := ts.levels.mostRisen(d.start-long-levelFar, d.start, ranLong) >= refillRate*ranLong // which makes waves
	if len(before) < atomFew || len(behind) < atomFew || d.deadband > 0 || filled {
		return 0, 0
	}
	wide, calm = neighbourScatter(before), math.Max(neighbourScatter(behind), leastStep(before, behind)/2)
	if wide < math.Max(nearLeast, nearTimes*calm) {
		return 0, 0
	}
	return wide, calm
}

// quieted says that a level stood on one side of a load with next to none of the noise that it has at rest on the other, a step of the
// sensor taken for noise: what shows none shows no level.
func quieted(sensor string, b, lively []sample) bool {
	if sensor == "float" || len(lively) < 2*atomFew || len(b) < atomMany && (len(b) < heldFew || changesIn(b) > 0) {
		return false
	}
	v, noise, step := values(b), neighbourScatter(lively), leastStep(b, lively)
	slices.Sort(v)
	few := len(v) / 20
	return noise > quietSteps*step && v[len(v)-1-few]-v[few]+step < quietNoise*noise
}

// silentBehind are the seconds without a reading behind a draw that was last seen falling, to no higher than where it is told to have
// ended: what it fell on and rose again nobody saw.
func silentBehind(ts *tankState, d draw) float64 {
	b := ts.levels.recent
	k := searchTime(b, d.end+settleShort)
	if k == 0 || k == len(b) || b[k-1].t > d.end+2*ts.interval.fresh() || d.samples == 0 ||
		float64(b[k-1].v)-d.closing.level > d.slope()*ts.interval.fresh()+restSigmas*ts.noise.perSample() {
		return 0
	}
	return b[k].t - b[k-1].t
}

// slowStart is how far and for how long the level fell at the beginning of a draw much slower than in the middle of it, inches and
// seconds: a pump that primes takes a minute or two, and little. 0 where it did not.
func slowStart(ts *tankState, d draw) (inches, long float64) {
	b := between(ts.levels.recent, d.start, d.end)
	fall := d.fall()
	k, z := 0, len(b)
	for k < len(b) && float64(b[k].v) > d.opening.level-fall/2 {
		k++
	}
	for z > k && float64(b[z-1].v) < d.closing.level+fall/5 {
		z--
	}
	if d.deadband > 0 || d.parts > 1 || z-k < jumpedRest {
		return 0, 0
	}
	pump, ok := fit(b[k:z])
	for n := 0; ok && n < k; n++ {
		if next, fits := fit(between(b, b[n].t, b[n].t+slowLook)); fits && next.slope <= slowSure*pump.slope {
			inches, long = d.opening.level-float64(b[n].v), b[n].t-d.start
			break
		}
	}
	if long < slowLong || inches > -slowRate*pump.slope*long {
		return 0, 0
	}
	return inches, long
}

// stillOnItsWay is how much less the level rose from the closing to the second reading after a draw than to the next, inches, where readings are
// minutes apart and the well makes as much as before: the first one was not at rest, and is in the closing.
func stillOnItsWay(ts *tankState, t *Tank, d draw) float64 {
	after := between(d.rest(&ts.levels), d.end, d.next) // in a group as all of them hold together: through the equaliser a level rises without the well
	rate := math.Min(d.inflowBefore, d.inflowAfter)
	if ts.interval.fresh() < seldomRead || len(after) < stepFew || after[0].t > d.end+ts.interval.fresh() || after[2].t > d.end+3.5*ts.interval.fresh() {
		return 0
	}
	above, next := d.closing.level-d.settled+rate*(after[1].t-d.end)-float64(after[1].v), float64(after[2].v-after[1].v)
	if next < steadyWell*rate*(after[2].t-after[1].t) {
		return 0
	}
	if t.feelsGas() { // what came back at once is the gas of a hatch, or a vacuum, and no pump took it
		above -= math.Max(0, next-rate*(after[2].t-after[1].t))
	}
	return above - math.Sqrt(d.inflow.straysOver(after[1].t-after[0].t)) - 2*math.Max(d.step, d.deadband) // either may lie a step off
}
