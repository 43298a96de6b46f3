package tank

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gauger/agent/tank/stats"
)

const (
	hiddenShare = 0.25                             // share by which the duration of a draw that nobody saw is not known
	witnessLast = 420.0                            // s to which it is asked what it says of the gauge
	truckBrief  = 360.0                            // s that the shortest load of a quick pump takes
	truckQuick  = 9.5                              // bbl/min that the quickest of them draws
	unitOff     = 0.1                              // in by which a level in another unit may be off
	mostOfIt    = 1.5                              // times the one gauge's error that the other's is, where most of the volume's is there
	witnessAway = (witnessFirst + witnessLast) / 2 // s
)

// errorBasis is the error of a draw's volume before calibration.
func (l *levels) errorBasis(t *Tank, d draw) ErrorBasis {
	b := ErrorBasis{Bbl: 2 * l.volumeError(t, d), Class: cmp.Or(t.Sensor, "radar")}
	switch {
	case t.Group != "":
		b.Class = "equaliser"
	case d.step >= coarseLeast:
		b.Class += " in steps"
	}
	return b
}

// volumeError is the standard error of the volume between the gauges of a draw, barrels. What is not known of the inflow pushes both gauges the same way. Where
// the rest some minutes from a gauge says otherwise than the gauge, one of the two is wrong.
func (l *levels) volumeError(t *Tank, d draw) float64 {
	per := t.Table.PerInch((d.opening.level + d.closing.level) / 2)
	lean := d.opening.carried + d.closing.carried
	hidden := 0.0 // of a draw that nobody saw: how long it took, and how much of the gap was before it, when a full tank's well was shut in
	if d.samples == 0 && d.opening.carried > 0 && d.closing.carried > 0 {
		hidden = math.Hypot(hiddenShare*(d.end-d.start)*d.inflowAfter, lean*(d.inflowAfter-d.inflowBefore)/math.Sqrt(12))
	}
	since, slope := math.Max(d.within.lo, d.start-witnessLast), d.inflowBefore
	if d.opening.since > 0 && d.opening.samples > restFew && d.opening.since <= d.start-witnessAway { // it rises as the well's pump makes it
		since, slope = math.Max(since, d.opening.since), d.opening.slope
	}
	end := math.Max(d.end, d.evened)
	most := 0.0
	if t.Sensor != "hydrostatic" && t.Group == "" { // which come up behind a truck without oil, or from another tank
		most = l.mostRisen(d.start-fineFor, d.start-witnessLast, witnessAway) - d.step
	}
	before := d.inflow.beyond(-witness(l.recent, per, line{d.start, d.opening.level, slope}, since, d.start-witnessFirst), most)
	after := d.inflow.beyond(witness(d.rest(l), per, line{end, d.closing.level, d.inflowAfter}, end+witnessFirst, math.Min(d.within.hi, end+witnessLast)), most)
	if d.opening.risen || d.hatch > 0 {
		before = 0 // the rest there was before oil lifted it, or a hatch was opened
	}
	switch {
	case d.late > 0:
		before, after = 0, 0 // what was shown there is the level's of earlier
	case d.foam > 0:
		after = 0 // the rest there was foam
	}
	return per * math.Sqrt(stats.Square(d.opening.err)+stats.Square(d.closing.err)+2*stats.Square(t.sensorError())+stats.Square(d.inflow.err*lean)+stats.Square(hidden)+(stats.Square(before)+stats.Square(after))/4)
}

// chanceWrong is the chance of a volume with a standard error to be off by more than the greater of a
// barrel and a hundredth of it.
func chanceWrong(bbl, sigma float64) float64 {
	return math.Erfc(wrongBbl(bbl) / (sigma * math.Sqrt2))
}

// unsureBy says at which gauge most of a draw's uncertainty lies, and what the sensor or its gateway keeps back.
func (d draw) unsureBy() (text string) {
	switch o, c := d.opening.err, d.closing.err; {
	case o > mostOfIt*c:
		text = ", most of it at its opening"
	case c > mostOfIt*o:
		text = ", most of it at its closing"
	}
	switch {
	case d.step >= coarseLeast:
		text += fmt.Sprintf(": its level comes in steps of %.2f in", d.step)
	case d.deadband > 0:
		text += fmt.Sprintf(": it is only told when it has moved by %.2f in", d.deadband)
	}
	return text
}

// beyond is what a witness strays further than what flows in does in so short a time, or, where it says that oil came in between the two and a
// well makes any, than what came at once at most before: a dump minutes from a sharp gauge is none of its error.
func (p production) beyond(came, most float64) float64 {
	may := math.Sqrt(p.straysOver(witnessAway))
	if came > 0 && p.usual > 0 {
		may = math.Max(may, most-p.usual*witnessAway)
	}
	return math.Max(0, math.Abs(came)-may)
}

// witness is by how much the rest among some samples in a time, the middle of it, strays from a gauge that the inflow
// carries there, in inches; 0 where nothing was read, or where the tank was filled.
func witness(b []sample, per float64, gauge line, from, to float64) float64 {
	if b = between(b, from, to); len(b) == 0 {
		return 0
	}
	first, last := b[:(len(b)+1)/2], b[len(b)/2:]
	rose := stats.Median(values(last)) - stats.Median(values(first))
	if rose*per > fillSlow/60*(last[0].t-first[0].t) && rose > 0 {
		return 0
	}
	return stats.Median(values(b)) - gauge.at((b[0].t+b[len(b)-1].t)/2)
}

const (
	slugShare  = 0.3    // of the third fastest step of a day's rest, as fast as which a step is one of a slug
	slugFew    = 3      // slugs in a day that are a well's and no person's
	slugAlike  = 1.5    // times the middle one, than which one is no larger, nor smaller
	slugRest   = 4      // of which one part of a day's rest at least lies between slugs, in which
	slugPause  = 0.4    // of that rate at most comes: a well that surges, and never pauses, brings what it does in the mean
	slugLong   = 2400.0 // s that one takes at most
	slugApart  = 3600.0 // s from one to the next at least, in the mean: what comes more often the hours before a draw show, or it is a separator's dumps
	pulsesTell = 2      // rises as far, each by itself, that show how a well comes
	onceTimes  = 2.0    // times the most that the level rose in as long a time before
	backSoon   = 900.   // s
	keptShut   = 300.0  // s before a load that its tank was shut for at least, and half of that behind it
	pauseShare = 0.6    // share of a well's longest pause that its tank stands behind a load, where it was shut in, and
	pausesMore = 3.0    // times as long before and behind it
	keptQuick  = 0.4    // share of what was kept meanwhile that comes within minutes
	keptWhole  = 0.8    // share of it that the well makes at least in the time in which its tank seems to stand
	slugKnown  = 0.45   // share of one up to which the fall shows whether it came
	lumpsSure  = 2.0    // standard errors by which a piece is of one rate or of the other
	lumpsCell  = 60.0   // s of which one level of a fall is fitted, and after which a well may turn, but no more than
	lumpsNext  = 1.2    // times that few lumps vary by that the next one does
	slugSize   = 0.15   // share by which one brings more or less than another
	slugVaries = 0.5    // share by which the time varies in which one comes
)

// flowPeriod is a time at rest in which a well came fast, or slowly.
type flowPeriod struct {
	from, to     float64
	rate, err    float64 // in/s
	fast         bool
	begun, ended bool // as seen
}

// slugs are what came at once in the day before a draw, again and again alike, as the history at rest shows it: each seen whole, however fast it came. None
// where a person may have done that, or where the fall was not read as it went.
func (l *levels) slugs(d draw) (out []flowPeriod) {
	if repeats(between(l.recent, d.start, d.end)) {
		return nil
	}
	h := l.history[searchTime(l.history, d.start-inflowDay):searchTime(l.history, d.start)]
	rate := func(i int) float64 { return float64(h[i].v-h[i-1].v) / (h[i].t - h[i-1].t) }
	var rates []float64
	for i := 1; i < len(h); i++ {
		if h[i].flags != unlinked {
			rates = append(rates, rate(i))
		}
	}
	if len(rates) < slugFew {
		return nil
	}
	slices.Sort(rates)
	quick := slugShare * rates[len(rates)-slugFew]
	var sizes []float64
	for i := 1; i < len(h); i++ {
		from, most := i, 0.0
		for ; i < len(h) && h[i].flags != unlinked && rate(i) > quick; i++ {
			most = math.Max(most, rate(i))
		}
		if i == from || from < 2 || i == len(h) || h[i].flags == unlinked || h[from-1].flags == unlinked {
			continue
		}
		if rose := float64(h[i].v - h[from-2].v); rose < most*slugLong {
			long := rose / most // in part of its first step, and of its last one
			middle := (h[from-1].t + h[i-1].t) / 2
			out, sizes = append(out, flowPeriod{from: middle - long/2, to: middle + long/2, rate: most, fast: true, begun: true, ended: true}), append(sizes, rose)
		}
	}
	if n := len(out); n < slugFew || out[n-1].to-out[0].to < slugApart*float64(n-1) || rates[len(rates)/slugRest] > slugPause*quick {
		return nil
	}
	usual := stats.Median(sizes)
	out = slices.DeleteFunc(out, func(s flowPeriod) bool {
		rose := s.rate * (s.to - s.from)
		return rose > slugAlike*usual || rose < usual/slugAlike
	})
	if len(out) < slugFew {
		return nil
	}
	return out
}

// keptFrom is when what a well made while its tank was shut for a load began to come in behind it: the level stood before it, and behind it until then, and
// came up at once, as the well never does, by what it makes in that time. Nothing flowed in meanwhile. False where the level does not tell so.
func keptFrom(ts *tankState, t *Tank, d draw) (from float64, ok bool) {
	slack, made := d.step+d.deadband+restSigmas*ts.noise.perSample(), d.usualInflow
	d.inflowBefore, d.inflowAfter = made, made
	since, _ := ts.stillSince(d)
	b, level, k := standsBehind(ts, d, slack, made)
	if t.Group != "" || !d.inflow.known || k == 0 || k == len(b) || d.start-since < keptShut || b[k-1].t-d.end < keptShut/2 {
		return 0, false
	}
	from = b[k-1].t
	came, rises := 0.0, math.Max(ts.levels.roseBefore(d.start-rampClear, keptShut), ts.levels.roseBefore(from, from-d.end-settleShort))
	for _, n := range b[k:] {
		if n.t <= from+levelFar {
			came = math.Max(came, n.v-level-made*(n.t-from))
		}
	}
	quick := ts.levels.mostRisen(from-nodeEvery, from+levelFar, ranLong) - made*ranLong
	return from, rises < made/2 && quick >= keptQuick*came && came >= made*(from-d.start) && came <= made*(from-since)/keptWhole+slack && neverRoseSo(ts, t, d, quick)
}

// standsBehind are the levels behind a draw, where it stands there, and from which of them on it no longer does, at the rate at which its well makes oil.
func standsBehind(ts *tankState, d draw, slack, made float64) (b []point, level float64, k int) {
	b = nodes(between(ts.levels.recent, d.end+settleShort, min(d.next, ts.last.t, d.leaptAt)), nodeEvery)
	level, _ = ts.levels.about(d.end + keptShut/4)
	for k < len(b) && b[k].v-level <= slack+made/3*(b[k].t-d.end) {
		k++
	}
	return b, level, k
}

// shutBehind says that behind a draw before which its tank stood for some times as long as its well had paused, in as long a time before that or more, it
// stands again, for some share of such a pause at least, and that both together are far longer than two of them: it was shut in until then.
func shutBehind(ts *tankState, d draw, stood, times, share float64) bool {
	if d.start-2*stood < math.Max(ts.decidedTo+resumeFirst, d.start-stillLook) {
		return false
	}
	made := d.fasterInflow()
	b, level, k := standsBehind(ts, d, d.step+d.deadband+restSigmas*ts.noise.perSample(), made)
	if k == 0 {
		return false
	}
	pause, behind := stood/times, b[k-1].t-d.end
	if b[k-1].v-level > made/2*behind { // the slack alone made it a stand
		return false
	}
	return behind > math.Max(share*pause, keptShut/2) && times+behind/pause > pausesMore
}

// neverRoseSo says that a level never rose by so many inches beyond its inflow within minutes before a draw, behind other draws than that.
func neverRoseSo(ts *tankState, t *Tank, d draw, rose float64) bool {
	before := ts.levels.mostRisen(math.Max(ts.decidedTo+2*backSoon, d.start-fineFor), d.start-backSoon, ranLong) - d.usualInflow*ranLong
	drew, pulse, pulses, per := math.Inf(-1), math.Inf(-1), 0, t.Table.PerInch(d.closing.level)
	for k, h := range ts.levels.history[:searchTime(ts.levels.history, d.start)] {
		if h.flags == unlinked {
			drew = h.t
		} else if dv, dt, ok := ts.levels.restStep(k, per); ok && h.t > drew+2*backSoon {
			before = math.Max(before, dv-d.usualInflow*dt)
		} else if k > 0 && h.t > drew+2*backSoon && float64(h.v-ts.levels.history[k-1].v) > rose/onceTimes {
			if h.t > pulse+2*backSoon {
				pulses++ // a plunger's well, that comes every few hours
			}
			pulse = h.t
		}
	}
	return rose >= onceTimes*before && pulses < pulsesTell
}

// slugOf are the inches that the middle one of some slugs brings; 0 of none.
func slugOf(all []flowPeriod) float64 {
	var sizes []float64
	for _, s := range all {
		sizes = append(sizes, s.rate*(s.to-s.from))
	}
	if len(sizes) == 0 {
		return 0
	}
	return stats.Median(sizes)
}

// varies is by how much the next of some values will differ from the usual one.
func varies(v []float64, usual float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += stats.Square(x - usual)
	}
	return lumpsNext * math.Sqrt(sum/float64(max(1, len(v)-2)))
}

const (
	standsStill = 0.15 // share of a pump's rate as fast as which the level falls no more where it stands
	repeatsMost = 3    // readings of a fall, of which one may be such
	standsReads = 5    // readings of it, of fewer a slug is not told from it
	throttled   = 0.25 // share of its rate by which a pump that a driver throttles draws less at least
	standsFlat  = 0.03 // the same, but for what its noise hides: a slug that brings nearly what the pump draws is no stop
)

// fallPart are the levels of a fall, from one to before another, in which its pump drew, or stood.
type fallPart struct {
	from, to int
	pumps    bool
}

// fallParts are the levels of a fall, of a minute each, and the variance of one. A beginning that falls slower from the first by more than some rate, or an end
// to the last, was throttled, and is a part of its own.
func fallParts(ts *tankState, d draw, slower float64) (b []sample, parts []fallPart, noise float64, maybe bool) {
	all := stairSamples(between(ts.levels.recent, d.start+rampLong/2, d.end-rampLong/2))
	sigma := max(ts.noise.perSample(), math.Max(d.step, d.deadband)/math.Sqrt(12), neighbourScatter(all))
	each := max(1, int(lumpsCell*float64(len(all))/(d.end-d.start)))
	add := func(run []sample, pumps bool) {
		from := len(b)
		for cell := range slices.Chunk(run, each) {
			b = append(b, meanSample(cell))
		}
		if len(b) < from+2 {
			b = b[:from]
			return
		}
		parts = append(parts, fallPart{from, len(b), pumps})
	}
	since, rate := d.start, d.slope()*(d.end-d.start)/math.Max(d.end-d.start-d.stood, lumpsCell)
	pieces, least := cutEvenly(all, sigma), rate-math.Max(slower, throttled*rate)
	begun := max(0, slices.IndexFunc(pieces, func(p piece) bool { return !p.slower(least) }))
	if begun > 0 {
		add(between(all, since, pieces[begun].from-1), true)
		since = pieces[begun].from + 1
	}
	for _, p := range pieces[begun:] {
		if p.n == 1 || p.slope < -rate/2 || p.to-p.from < rampLong {
			continue
		}
		steepest := p.slope - lumpsSure*p.slant
		stands := p.slope+lumpsSure*p.slant > -standsStill*rate && steepest > slower-rate || steepest > -rate/2 && p.standsStill(all, rate)
		if stands {
			add(between(all, since, p.from-rampLong/2), true)
			add(between(all, p.from, p.to), false)
			since = p.to + rampLong
		}
		maybe = maybe || !stands && p.n < standsReads
	}
	if k := throttledFrom(pieces, least); k > 0 && pieces[k].from > since {
		add(between(all, since, pieces[k-1].to-1), true) // but for the readings beside the bend
		since = pieces[k].from + 1
	}
	add(between(all, since, d.end), true)
	return b, parts, sigma * sigma / float64(each), maybe
}

// throttledFrom is the first of the last pieces of a fall that are surely slower than a rate, to the very end; 0 where none is.
func throttledFrom(ps []piece, rate float64) (first int) {
	for first = len(ps); first > 0 && ps[first-1].slower(rate); first-- {
	}
	return first % max(1, len(ps))
}

// slower says that a piece of a fall is surely slower than a rate.
func (p piece) slower(rate float64) bool { return p.slope-lumpsSure*p.slant > -rate }

// standsStill says that the level stood in a piece of a fall, but for the readings at its ends, between which the pump stopped and began: where a slug brings
// nearly what the pump draws it goes on falling.
func (p piece) standsStill(all []sample, rate float64) bool {
	if p.slope <= -standsStill*rate {
		return false
	}
	slope, slant := p.slope, p.slant
	if p.n >= standsReads {
		inner, _ := fit(between(all, p.from+1, p.to-1))
		slope, slant = inner.slope, slant*float64(p.n)/float64(p.n-2)
	}
	return slope > -math.Max(standsFlat*rate, lumpsSure*slant)
}

// repeats says that most of a fall's readings were given out before, by a gateway that had no other: what that hides is as large as a slug.
func repeats(fall []sample) bool {
	return len(fall)-1-changesIn(fall) > len(fall)/repeatsMost
}

// unlikeTruck is what no truck does, by the rate that is left when a late sensor's times are put right, and by where the level went.
func unlikeTruck(ts *tankState, t *Tank, d draw) (why []string) {
	rate, long := t.pumpRate(d), d.end-d.start
	switch quick := math.Max(truckQuick, mostOfIt*ts.reports.usualRate(t)); {
	case rate > fasterThan*t.Loads.MaxRate:
		why = append(why, fmt.Sprintf("it fell by %.1f bbl a minute, faster than max_rate", rate))
	case rate > quick && long < truckBrief && t.Group == "" && d.samples > 0:
		why = append(why, fmt.Sprintf("it took only %s at %.1f bbl a minute, as trucks seldom do: a step of the sensor that a gateway averages, a hatch, or a probe that was moved?", spanText(long), rate))
	}
	for _, unit := range []float64{12, 2.54, 1 / 0.0254} {
		if d.samples < pumpedFew && math.Abs(d.opening.level/unit-d.closing.level) <= unitOff {
			why = append(why, fmt.Sprintf("opening and closing are as %.4g to 1: a gateway that gives another unit?", unit))
		}
	}
	return why
}
