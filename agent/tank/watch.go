package tank

import (
	"fmt"
	"math"

	"gauger/agent/tank/stats"
)

const (
	watchBack  = 240.0  // s over which a fall is looked for
	hintEvery  = 300.0  // s between two hints that are stored
	drawsLong  = 5400.0 // s after which what looks as a fall tells of the sensor's noise
	foamFresh  = 1200.0 // s before a draw in which what foamed up has not gone yet
	foamGoes   = 3000.0 // s in which it goes
	foamTold   = 2      // rises, and points behind each, that tell
	drainLong  = 3600.0 // s of rest before a load, in which its tank may drain evenly
	drainRests = 300.0  // s behind a draw in which a gauge settles, foam collapses and a hose runs on
	drainLeast = 480.0  // s of a half of a rest, at least, and readings in it
	drainFew   = 6
	drainNoise = 2.5        // times the noise of a reading that it falls in it at least
	drainEven  = 0.6        // share of the fastest of four halves that the slowest falls at least
	drainRate  = 0.8 / 3600 // in/s that no gauge drifts, nor oil shrinks, at evening
)

// watch looks, at each sample, whether the level falls as in a draw, and when it does,
// sees to it that the samples will be judged.
func (u *update) watch(i int, ts *tankState, s sample) {
	t := &u.site.tanks[i]
	per := t.Table.PerInch(float64(s.v))
	ref, now, dt := ts.levels.fallSoFar(s.t, math.Max(watchBack, 60*ts.noise.leastFall()*per/t.leastRate())) // of a wide tank, or where noise hides it, it is long until a draw shows
	if dt <= 0 {
		return
	}
	drop := ref - now
	gap := dt >= math.Min(ts.interval.gapMin(t, u.site.speed), hidesTruck)
	asFast := func(rate float64) bool { return drop > ts.noise.leastFall() && drop*per >= 0.8*rate*dt/60 }
	falls := asFast(t.leastRate()) || asFast(netLeast*t.leastRate()) && asFast(t.leastNet(ts.inflow(t, s.t-dt).usual, per))
	if gap && drop*per >= 0.3*t.Loads.MinLoad {
		falls = true
	}
	if !falls {
		u.storeHint(ts, s)
		return
	}
	if !ts.drawing {
		ts.drawing, ts.searchFrom, ts.judgeAt = true, s.t-dt-60, 0
		ts.searchFrom = math.Max(ts.searchFrom, ts.decidedTo)
	}
	if s.t-ts.lastFallAt > 180 || len(ts.firstSeen) == 0 {
		ts.noteFirstSeen(ts.levels.fallBegan(s.t, &ts.noise))
		u.storeNow = true
	}
	ts.lastFallAt = s.t
}

// restsUntilFall lets the search begin with the newest fall: in what was seen to fall before it no draw is found, and the level was at rest. Else
// a separator whose inlet an echo shows, as often as it dumps, would hide for ever how the well feeds its tank.
func restsUntilFall(ts *tankState) {
	if from := ts.lastFallAt - restLong; from > ts.searchFrom {
		ts.levels.linkHistory(ts.drawPhase, ts.faults.jumpedAt, from)
		ts.searchFrom = from
	}
}

// fallSoFar gives the level some minutes ago and now, and the seconds between.
func (l *levels) fallSoFar(now, back float64) (before, after, dt float64) {
	n := len(l.recent)
	if n < 2 {
		return 0, 0, 0
	}
	j := n - 2
	for j > 0 && l.recent[j-1].t >= now-back && l.recent[j].flags != unlinked {
		j--
	}
	if l.recent[n-1].flags == unlinked {
		j = n - 1
	}
	a, b := l.recent[j], l.recent[n-1]
	if j == n-2 && b.t-a.t > back && j > 1 && a.flags != unlinked && l.recent[j-1].flags != unlinked && a.t-l.recent[j-2].t <= back {
		return median3(l.recent[j-2 : j+1]), float64(b.v), b.t - l.recent[j-1].t // it fell with the last one before a silence, alone then
	}
	if n-j < 8 {
		return float64(a.v), float64(b.v), b.t - a.t
	}
	return median3(l.recent[j : j+3]), median3(l.recent[n-3:]), l.recent[n-2].t - l.recent[j+1].t
}

// storeHint stores the state at the first sign of a fall, so that a power cut right after the
// start of a load takes no more than seconds of it.
func (u *update) storeHint(ts *tankState, s sample) {
	n := len(ts.levels.recent)
	if ts.drawing || n < 4 || s.t-ts.stored.hintAt < hintEvery {
		return
	}
	if median3(ts.levels.recent[n-4:n-1])-float64(s.v) > 0.3+4*ts.noise.sigma {
		ts.stored.hintAt, u.storeNow = s.t, true
	}
}

// fallBegan is the instant at which the fall that is seen now began, by what is known now:
// the last sample that was not clearly below the level of the minutes before.
func (l *levels) fallBegan(now float64, z *noise) float64 {
	b := sinceLeap(between(l.recent, now-watchBack-360, now))
	if len(b) < 2 {
		return now
	}
	edge := math.Max(0.5, 4*z.rounded())
	k := len(b) - 1
	for k > 0 && float64(b[k].v) < stats.Median(values(b[max(0, k-12):k]))-edge {
		k--
	}
	for k > 0 && float64(b[k].v) < float64(b[0].v)-edge {
		k--
	}
	return b[k].t
}

// flush moves the bin into the recent samples and looks whether the level falls.
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
	// Slosh is no noise of a sensor. But noise that is not known yet, or has grown, looks as a fall that never ends.
	if atRest := !ts.drawing || ts.noise.sigma == 0 || s.t-ts.movesSince() > drawsLong; n > 1 && atRest && s.t-ts.levels.recent[n-2].t < 2000 {
		ts.noise.addTriple(ts.levels.recent[n-2], ts.levels.recent[n-1], s)
	}
	if ts.noise.hidesLevel() {
		ts.faults.spikes.add(s.t, float64(s.v))
	}
	u.put(ts, s)
	if ts.faults.stuckReported {
		ts.levels.joinStood()
	}
	u.watch(i, ts, s)
}

// put appends a sample to the recent ones and, every so many, thins those that are old: what is kept is what is stored, so that a restart
// forgets nothing. The old array is left as it is: a state whose successor was dropped may still use it.
func (u *update) put(ts *tankState, s sample) {
	if n := len(ts.levels.recent); n%thinEvery == 0 || n >= recentMost {
		ts.levels.recent = ts.levels.thinned(u.st.fineFrom(ts), ts.heldSince)
	}
	ts.levels.recent = append(ts.levels.recent, s)
	ts.levels.keepHistory(s, ts.drawPhase, ts.faults.jumpedAt)
}

// roseAmid is by how many inches a level rose the most amid a fall between two readings that are minutes apart, their seconds, and how fast it fell at most.
func roseAmid(b []sample) (inches, long, rate float64) {
	for k := 1; k+1 < len(b); k++ {
		by, dt := float64(b[k].v-b[k-1].v), b[k].t-b[k-1].t
		if rate = math.Max(rate, -by/dt); dt > seldomRead && by > inches {
			inches, long = by, dt
		}
	}
	return inches, long, rate
}

// rests says that some samples stay at a level, but for what flows in.
func rests(b []sample, level, inflow float64) bool {
	for _, s := range b {
		if off := float64(s.v) - level; off < -jumpLeast || off > jumpLeast+inflow*(s.t-b[0].t) {
			return false
		}
	}
	return true
}

// sprang says that a level rose over a minute until a sample as no pump fills a tank, however evenly.
func sprang(b []sample, k int, t *Tank) bool {
	low := b[searchTime(b, b[k].t-jumpedRun)]
	return float64(b[k].v-low.v) > jumpLeast+fasterThan*t.maxRate(float64(b[k].v))*(b[k].t-low.t)
}

const jumpedRun = 60.0 // s for which a level may rise no higher and still be on its way up

// doubtDrain says that a level fell as evenly at rest right before a draw as right behind it, and so fast that more than makes its barrels wrong left
// beside the truck. Gas, cooling oil, foam and what settles fall slower, ever slower, or on one side only.
func doubtDrain(ts *tankState, t *Tank, d *draw, now float64) {
	if t.Group != "" || t.feelsGas() || d.samples == 0 || d.foam+d.late > 0 {
		return
	}
	least, most := math.Inf(1), 0.0
	from, behind := math.Max(ts.decidedTo+drainRests, d.start-drainLong), d.end+drainRests
	before, rest := (d.start-rampClear-from)/2, (d.watched(t, now)-behind)/2
	for k, at := range [...]float64{from, from + before, behind, behind + rest} {
		long := before
		if k > 1 {
			long = rest
		}
		b := between(ts.levels.recent, at, at+long)
		l, _ := fit(b)
		if len(b) < drainFew || long < drainLeast || -l.slope*long < drainNoise*ts.noise.perSample() {
			return
		}
		least, most = math.Min(least, -l.slope), math.Max(most, -l.slope)
	}
	rate := (least + most) / 2 * t.Table.PerInch(d.closing.level)
	if gone := rate * (d.end - d.start); least >= math.Max(drainEven*most, drainRate) && gone > wrongBbl(t.barrels(d.opening.level, d.closing.level)) {
		d.doubt("the level fell by %.1f bbl/h before and behind the load: %.1f bbl of it may be no load", rate*3600, gone)
	}
}

// foamAtOpening is by how many inches a level that rose within minutes before a draw is likely to sink again: behind such rises of the last
// day it sank by the middle share of them; or by which it rose but once in the day. 0 where it did not, or of a sensor that sees no foam.
func foamAtOpening(ts *tankState, t *Tank, d draw, once float64) (inches float64, said string) {
	if t.Group != "" || t.Sensor == "float" || t.Sensor == "hydrostatic" {
		return 0, ""
	}
	if once > 0 {
		return once, fmt.Sprintf("level rose by %.1f in within an hour before it, as it never did, and stood there: foam at the opening, or oil that was brought", once)
	}
	low := d.opening.level
	for _, v := range ts.levels.middles(d.start-foamFresh, d.start) {
		low = math.Min(low, v)
	}
	rose, noise := math.Max(0, d.opening.level-low-d.usualInflow*foamFresh), leapNoise*ts.noise.perSample()
	var shares []float64
	h := ts.levels.history
	for k := 2; k+1 < len(h) && h[k+1].t < d.start-foamFresh; k++ {
		up := float64(h[k].v - h[k-2].v)
		if up < math.Max(rose/3, noise) || h[k].v < h[k-1].v || h[k].v < h[k+1].v {
			continue
		}
		sank, seen := 0.0, 0
		for j := k + 1; j < len(h) && h[j].t < h[k].t+foamGoes && h[j].t < d.start-foamFresh; j++ {
			sank, seen = math.Max(sank, float64(h[k].v-h[j].v)), seen+1
		}
		if k += seen; seen >= foamTold && sank <= up+noise { // else it was a load
			shares = append(shares, math.Min(sank/up, 1))
		}
	}
	if len(shares) < foamTold || d.deadband > 0 {
		return 0, ""
	}
	inches = rose * stats.Median(shares)
	return inches, fmt.Sprintf("level had just risen before it, and behind such rises it sinks by some %.1f in: foam at the opening", inches)
}
