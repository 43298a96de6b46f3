package tank

import (
	"fmt"
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	atomLong    = 3600.0     // s of rest next to a load in which a saturated sensor shows
	atomFew     = 10         // samples that tell
	atomMany    = 24.0       // of a sensor that is read seldom
	atomRough   = 0.5        // a step in standard deviations of the noise of a float that does not stick
	atomFine    = 2.2        // the same from which on noise seldom moves a reading by two steps
	atomReturns = 3          // times that they come back to it
	atomBeyond  = 10.5       // samples that would lie beyond the end of a sensor's range, by how they lie on this side of it
	atomMoves   = 5.0        // standard errors by which more of them lie on it in one half of the time than in the other where the level moves
	seldomRead  = 120.0      // s between readings, one of which may be on its way
	steadyWell  = 0.7        // share of what the well makes that comes at least
	dipFaded    = 600.0      // s behind a load, after which no vacuum's dip is left to speak of
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
	deadWindows = 3          // stretches elsewhere that show what the well makes
)

// saturated says that a level at rest lies on an end of what the sensor can show, as at a blanking distance: the noise is cut off
// on one side. By how many readings are on the very end of its range, and how wide a step is for its noise, as many should lie
// beyond it. The noise is that of the readings on this side of the end, or, where there are none, of the rest on the other side of
// the load, and tells nothing of readings that all are on one step and seldom would leave it. side is where the other readings lie; a level that was seen
// further out at any time is no end.
func saturated(sensor string, b, other, seen []sample, side float64) bool {
	if len(b) < atomFew {
		return false
	}
	v := values(b)
	end, step := slices.Min(v), leastStep(b, other)
	if side < 0 {
		end = slices.Max(v)
	}
	away := func(x float64) bool { return side*(x-end) >= step/2 }
	for away(v[0]) { // it still rose, or fell, and that is no noise
		v = v[1:]
	}
	for away(v[len(v)-1]) {
		v = v[:len(v)-1]
	}
	at, far, opposite, returns, halves, was := 0.0, 0.0, 0.0, 0, [2]float64{}, 0.0
	width := slices.Max(v) - slices.Min(v)
	for i, x := range v {
		off := side * (x - end) / step
		if width > 1.5*step && side*(x-end) > width-step/2 {
			opposite++
		}
		if off > 1.5 {
			far++
		} else if off < 0.5 {
			at++
			halves[2*i/len(v)]++
			if was > 0.5 {
				returns++
			}
		}
		was = off
	}
	n, wide := float64(len(v)), stepInNoise(other, step)
	if at == n && wide >= atomFine || 2*opposite > at || slices.ContainsFunc(seen, func(x sample) bool { return side*(float64(x.v)-end) < -step/2 }) { // noise that ends so on both sides is not cut off on one
		return false
	}
	rough := len(other) < atomFew || wide < atomFine       // else what lies far off was another level, and no noise
	if sensor == "float" && (at < n || wide > atomRough) { // which sticks
		wide = math.Inf(1)
	}
	near := quantile(at / n)
	if rough && far >= 2 && returns >= atomReturns {
		wide = math.Min(wide, quantile(1-far/n)-near)
	}
	beyond := n * share(math.Min(near, wide/2)-wide)
	moves := math.Abs(halves[0]-halves[1]) > atomMoves*math.Sqrt(at*(1-at/n)) // and on its end it would not
	return beyond >= atomBeyond && math.Min(halves[0], halves[1]) >= at/4 && !moves
}

// stepInNoise is a step in standard deviations of the noise of a level at rest, as the readings beside the commonest value show
// it, or, where it moves, those about their neighbours'; +Inf where they do not.
func stepInNoise(b []sample, step float64) float64 {
	v := values(b)
	if len(v) < atomFew {
		return math.Inf(1)
	}
	if early, late := b[:len(b)/2], b[len(b)/2:]; math.Abs(stats.Median(values(early))-stats.Median(values(late))) > step {
		if noise := math.Min(neighbourScatter(early), neighbourScatter(late)); noise >= step/2 {
			return step / noise
		}
		return math.Inf(1)
	}
	counts, common, n := map[int]float64{}, 0, float64(len(v))
	for _, x := range v {
		cell := int(math.Round((x - v[0]) / step))
		if counts[cell]++; counts[cell] > counts[common] {
			common = cell
		}
	}
	below, above := 0.5, 0.5
	for cell, n := range counts {
		if cell < common {
			below += n
		} else if cell > common {
			above += n
		}
	}
	if len(counts) < 2 {
		return math.Inf(1)
	}
	return quantile(1-above/(n+1)) - quantile(below/(n+1))
}

// quantile is how many standard deviations of noise a share of it lies below, and share the other way round.
func quantile(of float64) float64 { return math.Sqrt2 * math.Erfinv(2*of-1) }
func share(below float64) float64 { return (1 + math.Erf(below/math.Sqrt2)) / 2 }

// standsDead says why a gauge may be an end of what the sensor shows, where noise does not tell: its blind zone, or a float at its
// stop. The reading stands for as long as the level nowhere else stood in the last day, at the very end of all that was seen, and it
// stood there before, or the well comes again at once behind the load; a float hangs anywhere, as the level rises. What the tank made
// meanwhile at least is unseen, and within the gauge's error. What is told of a gauge already is not told again.
func (s siteTanks) standsDead(i int, ts *tankState, d *draw, now float64, opening, closing bool) []string {
	t := &s.site.tanks[i]
	if t.Group != "" || d.deadband > 0 {
		return nil
	}
	var why []string
	per := t.Table.PerInch(d.closing.level)
	wrong := wrongBbl(t.volume(*d)) / per
	missed := func(e *standing) bool {
		e.missed = e.leastRise(&ts.levels, per)
		return e.missed >= wrong && e.missed >= 2*e.off && !ts.levels.pausesSo(d.start-deadLeast, e.to-e.from, e.level, e.off, e.missed/(e.to-e.from))
	}
	say := func(e standing, where string, told bool) {
		if told {
			return
		}
		why = append(why, fmt.Sprintf("reading stood at %.2f in for %s %s, where the well makes %.1f in at least: blind zone, a float at its stop or that hangs, or the well is shut in", e.level, spanText(e.to-e.from), where, e.missed))
	}
	before := between(ts.levels.recent, math.Max(ts.decidedTo, d.start-deadMost), d.start-rampClear)
	if e, ok := ts.levels.standingAt(before, -1, d.start); ok && t.Sensor != "hydrostatic" && (e.level < float64(t.Height)-fullWithin || float64(t.Height)-e.level < deadTop && e.again && ts.levels.stopsAt(e.level, e.off, e.from, deadFell)) { // a high level shuts the well in
		hung := t.Sensor == "float" && e.to-e.from >= t.Loads.StuckJump.Seconds() && ts.levels.roseBefore(e.from, deadUntil) > deadRises*d.inflow.usual
		if missed(&e) && (e.again || hung || e.dead && !e.beyond && ts.comesAgain(*d, e, now)) && !s.turnedTo(i, e.from, e.from, e.to, e.missed*per) {
			d.opening.err = math.Hypot(d.opening.err, math.Min(e.missed, math.Max(wrong, (float64(t.Height)-e.level)/2)))
			say(e, "before it", opening)
		}
	}
	after := between(ts.levels.recent, d.end+settleShort, math.Min(math.Min(now, d.next), d.end+deadMost))
	filled := func(long float64) bool { return ts.levels.roseBefore(d.start, long) > deadRises*d.inflow.usual }
	if f, ok := freedBehind(ts, t, *d); ok && !f.fell && f.above > wrong && filled(deadUntil) && missed(&f.standing) && s.othersFilled(i, f.from, f.to) < explainedShare*f.missed*per {
		d.closing.err = math.Hypot(d.closing.err, f.above/2)
		say(f.standing, "behind it", closing)
		return why
	}
	if e, ok := ts.levels.standingAt(after, 1, d.start); ok && !e.beyond && filled(deadMost/3) && missed(&e) && s.othersFilled(i, e.from, e.to) < explainedShare*e.missed*per {
		if _, longer := ts.stillSince(*d); e.again {
			d.closing.err = math.Hypot(d.closing.err, e.missed)
			say(e, "behind it", closing)
		} else if filled(deadUntil) || e.dead && longer <= 1 {
			d.closing.err = math.Hypot(d.closing.err, e.missed/2)
			say(e, "behind it", closing)
		}
	}
	return why
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
		low = math.Max(low, rest.sink(from, to, math.Inf(-1)))
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
	d.closing.err = math.Hypot(d.closing.err, math.Max(0, rest.sink(d.end, d.watched(t, now), d.closing.level))/2)
	d.doubts = append(d.doubts, fmt.Sprintf("level fell on by %.2f in after the end: foam, or it had not come to rest", low))
}

// takeRisen gives a draw behind which the level rose as its well never did that doubt, unless other tanks gave what came. What runs in from the
// draw's end on out of a tank that is drawn from then came over the header that a driver opened to both: it belongs to that tank's load.
func (u *update) takeRisen(i int, ts *tankState, d *draw, now float64) {
	t := &u.site.tanks[i]
	inches, until := ts.roseOnce(t, *d, now)
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
	d.closing.err = math.Hypot(d.closing.err, inches/2)
	d.doubts = append(d.doubts, said)
}

// readingsDoubt is what the readings themselves say against a load.
func (s siteTanks) readingsDoubt(i int, d *draw, now float64) (why []string) {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	long := math.Max(atomLong, atomMany*ts.interval.fresh())
	before := between(ts.levels.recent, math.Max(d.start-long, ts.decidedTo), d.start)
	after := between(ts.levels.recent, d.end, math.Min(d.end+long, d.next))
	rests := between(after, d.end+settleShort, math.Inf(1))
	// A pressure sensor feels the oil's weight however high it stands, and a live one whose well was turned away rises no further.
	opening := t.Sensor != "hydrostatic" && (!s.shutOff(i, *d, 0, d.start) && saturated(t.Sensor, before, after, ts.levels.history, -1) || standsAtTop(&ts.levels, t.Sensor, before, rests)) || quieted(t.Sensor, before, rests)
	if opening {
		d.opening.err = math.Hypot(d.opening.err, ts.unseenBeyond(*d, d.opening.level, float64(t.Height)-d.opening.level, false))
		why = append(why, fmt.Sprintf("sensor saturated at the opening, %.2f in is the most that it shows", d.opening.level))
	}
	closing := t.Group == "" && (!s.awayBehind(i, *d, math.Min(now, d.next)) && saturated(t.Sensor, after, before, ts.levels.history, 1) || quieted(t.Sensor, rests, before))
	if closing {
		d.closing.err = math.Hypot(d.closing.err, ts.unseenBeyond(*d, d.closing.level, d.closing.level, true))
		why = append(why, fmt.Sprintf("sensor saturated at the closing, %.2f in is the least that it shows", d.closing.level))
	}
	if left, long := slowStart(ts, *d); t.Group == "" && d.late == 0 && left*t.Table.PerInch(d.opening.level) >= slowBbl {
		why = append(why, fmt.Sprintf("%.1f bbl left within %s before the pump drew as it did then: water, a bleed, or a slow start", left*t.Table.PerInch(d.opening.level), spanText(long)))
	}
	if n := averagedStep(ts, *d); n > 0 && t.Group == "" {
		why = append(why, fmt.Sprintf("it fell from rest to rest in %d equal parts, each from one reading to the next, where a pump starts and stops between two: a step of the sensor that a gateway averages?", n))
	}
	wrong := wrongBbl(t.volume(*d)) / t.Table.PerInch(d.closing.level)
	if short := stillOnItsWay(ts, *d); short > wrong {
		why = append(why, fmt.Sprintf("level rose by %.1f in less than the well makes behind the last reading of the fall: the pump went on after it", short))
	}
	return append(why, s.standsDead(i, ts, d, now, opening, closing)...)
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
	fall := d.opening.level - d.closing.level
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
func stillOnItsWay(ts *tankState, d draw) float64 {
	after := between(ts.levels.recent, d.end, d.next)
	rate := math.Min(d.inflowBefore, d.inflowAfter)
	if ts.interval.fresh() < seldomRead || len(after) < stepFew || after[0].t > d.end+ts.interval.fresh() || after[2].t > d.end+3.5*ts.interval.fresh() {
		return 0
	}
	above, next := d.closing.level+rate*(after[1].t-d.end)-float64(after[1].v), float64(after[2].v-after[1].v)
	if next < steadyWell*rate*(after[2].t-after[1].t) {
		return 0
	}
	return above - math.Sqrt(d.inflow.straysOver(after[1].t-after[0].t)) - 2*math.Max(d.step, d.deadband) // either may lie a step off
}
