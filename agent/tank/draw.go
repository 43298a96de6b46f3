package tank

import (
	"fmt"
	"math"
)

const (
	explainedShare = 0.6        // share of a draw that has to show elsewhere to explain it
	leapMost       = 0.8        // share of a fall in leaps, above which it was no pump's
	backExact      = 0.3        // in by which a level may lie off that has to be exactly where it was
	backNoise      = 3.0        // times the noise by which a level that is back where it was may lie off
	partBbl        = 3.0        // a smaller part some minutes apart is no part of a load
	bleedBbl       = 8.0        // before a load, some minutes apart: a thief or a drain takes as much
	bleedRate      = 0.3        // share of the pump's rate, below which it needs no long pause to be told
	slowestRun     = 1.0        // bbl/min, below which nothing is run
	evenLongest    = 3 * 3600.0 // s after a draw in which an equaliser does its work
	slugMore       = 5.0        // times a deadband that a slug is which the fall shows for all that
	lumpsApart     = 300.0      // s without a rest, over which nobody knows how the well came
	timerFine      = 4.0        // s to which a timer's times are sought
	timerTurns     = 60.0       // s for which it is on, and off, at least
	showsFrom      = 30         // s before a draw
	witnessFirst   = 120.0      // s from a gauge at which the rest has no part in the gauge any more
	showsTo        = 150        // s behind it, between which all that it moved to another tank shows there
)

// draw is one fall of the level, or several that are one, with its edges.
type draw struct {
	start, end       float64
	opening, closing gauge
	evened           float64  // when an equaliser has done its work, and the group's gauge is that of then; 0 without a group
	settled          float64  // in that the well made until then, as seen
	share            bool     // a group's tank gave it, too slowly to be found, to the draw from another
	away             bool     // its well was turned away, or shut in: nothing strays about it
	bySum            bool     // its opening is its part of what its group held when that began to fall
	uneven           bool     // the tanks of its group were not even at its start: its opening is its share of what they held
	apart            float64  // in that it lies above that share when they are even
	behind           []sample // in a group the samples behind it, without what the equaliser moves; nil: as they were read
	foam             float64  // in that collapsed behind it and are taken off the closing
	foamTo           float64  // when what it had foamed up was down again; 0: it had not
	late             float64  // s by which the sensor shows the level late, and the times are earlier than it showed; 0: it does not
	oilTo            float64  // the end of its last part of some barrels, before what the noise or a driver's last drops added
	parts            int
	falls            int          // looked at for it and the draws before it since a jump; 0 where another behind it has them
	pause, pausedBbl float64      // s of a pause in which another truck may have come, and bbl before it; 0: none
	stood            float64      // s of its pauses, in which the pump drew nothing
	early            float64      // bbl of a first part that is small and came minutes before the rest
	earlyBy          float64      // s by which it came
	checks           bool         // a driver drew it to see whether the seal holds
	hatch            float64      // in by which an opened hatch let the pressure fall minutes before it
	gap              float64      // longest silence inside, s
	samples          int          // samples inside
	slosh            float64      // in
	endLine          line         // how it fell at last
	inflowBefore     float64      // inflow until the start, in/s
	inflowAfter      float64      // inflow from the start on, in/s
	cameIn           float64      // bbl that came from another tank meanwhile
	usualInflow      float64      // inflow on other days, in/s
	inflow           production   // how well the inflow is known
	stuck            span         // when the value stood still meanwhile
	setByValve       bool         // the contact on the load valve speaks of it
	next             float64      // when the next load from the tank begins, as far as it is known
	leaptAt, leaptTo float64      // when the level jumped after it without flow, and to which; +Inf where it did not
	moved            []sensorStep // of the sensor, next to it
	doubts           []string     // why a person should look at it, as far as other tanks or what came after show it
	says             []string     // what a reader should know of it and is no reason to look
	within           bounds       // from the end of the draw before to the start of the one after
	resolution                    // of the sensor
}

// gauge is a level at an instant, taken from the rest before or after it.
type gauge struct {
	level, err float64 // inches; standard error but for that of the inflow
	samples    int     // samples used
	away       float64 // s from the nearest sample
	carried    float64 // s that the inflow carried the level
	slope      float64 // in/s by which the piece that it is read off rises
	since      float64 // s; and since when, 0 where it is read off none
	includes   float64 // s; until when what flowed in is part of it, where that is not the instant that it stands for
	fell       float64 // s; until when it was at rest before that piece; not before since where that is the first
	dipped     bool    // a vacuum's dip was taken off it
	hatches    float64 // in that the level fell at least where hatches were opened behind it, and are left out; 0: none was
	risen      bool    // it is one reading, to which oil lifted the level right before the draw
}

// production flows into a tank at rest: inches per second, with the standard error.
type production struct {
	last      float64 // now
	usual     float64 // while the tank has room: a full one is shut in
	err       float64 // standard error of either
	variance  float64 // variance in in²/s by which the level strays from an even rise, as dumps of a separator make it
	burst     float64 // in by which the level rose at most within burstLong s; 0: not known
	burstLong float64 // s
	known     bool    // an hour of rest was seen, or most of one
}

// mayRise are the inches by which a level may rise further than usual in some seconds: a well may make twice as much.
func (p production) mayRise(long float64) float64 {
	return math.Max(p.usual*long, 2*(p.err*long+math.Sqrt(p.variance*long)))
}

// over is the variance, in in², of what flows in over some seconds: as it strays from an even rise, and no more than what lies between
// nothing and the most that it ever was can have, its mean times what is left from that to the most (the inequality of Bhatia and Davis).
func (p production) over(seconds float64) float64 {
	v := p.variance * seconds
	if p.burst > 0 {
		mean, most := p.usual*seconds, p.burst*math.Max(1, seconds/p.burstLong)
		v = math.Min(v, mean*math.Max(0, most-mean))
	}
	return v
}

// timer is a well whose pump is on for some seconds of each period, since an instant.
type timer struct {
	at, period, on float64 // s
	rate, even     float64 // in/s while it is on, and all the time
	off            float64 // in by which the levels miss it
}

// ran is for how many seconds it was on from its instant to a time.
func (z timer) ran(t float64) float64 {
	x := (t - z.at) / z.period
	whole := math.Floor(x)
	return whole*z.on + math.Min((x-whole)*z.period, z.on)
}

// made are the inches that it made between two times.
func (z timer) made(from, to float64) float64 {
	return z.rate*(z.ran(to)-z.ran(from)) + z.even*(to-from)
}

// fitted is the timer with the rates that stretches of rest show, and by how much these miss it; where even is 0 nothing flows in while it is off.
func (z timer) fitted(rests [][]sample) timer {
	var all, tt, tv, rr, rv, rt, vv float64
	for _, b := range rests {
		var t, v, r float64
		n := float64(len(b))
		for _, s := range b {
			x, y, ran := s.t-b[0].t, float64(s.v-b[0].v), z.ran(s.t)-z.ran(b[0].t)
			t, v, r = t+x, v+y, r+ran
			tt, tv, rr, rv, rt, vv = tt+x*x, tv+x*y, rr+ran*ran, rv+ran*y, rt+ran*x, vv+y*y
		}
		all, tt, tv, rr, rv, rt, vv = all+n-1, tt-t*t/n, tv-t*v/n, rr-r*r/n, rv-r*v/n, rt-r*t/n, vv-v*v/n
	}
	z.rate, z.even = rv/math.Max(rr, 1), 0
	if det := rr*tt - rt*rt; det > 1e-6*rr*tt && tv*rr > rv*rt {
		z.rate, z.even = (rv*tt-tv*rt)/det, (tv*rr-rv*rt)/det
	}
	z.off = math.Sqrt(math.Max(0, vv-z.rate*rv-z.even*tv) / math.Max(1, all-4))
	return z
}

// nearest is the timer that misses some rests least, of those near it.
func (z timer) nearest(rests [][]sample) timer {
	z = z.fitted(rests)
	last := rests[len(rests)-1]
	long := last[len(last)-1].t - rests[0][0].t
	for step := z.period / 12; step > timerFine; {
		best := z
		for _, by := range []float64{-step, step} {
			for _, x := range []timer{
				{at: z.at + by, period: z.period, on: z.on},
				{at: z.at, period: z.period + by*z.period/long, on: z.on},
				{at: z.at, period: z.period, on: z.on + by},
				{at: z.at + by/2, period: z.period, on: z.on - by},
			} {
				if math.Min(x.on, x.period-x.on) >= timerTurns {
					if x = x.fitted(rests); x.off < best.off {
						best = x
					}
				}
			}
		}
		if best.off >= z.off {
			step /= 2
		}
		z = best
	}
	if z.rate < 0 { // it was taken to be on while it is off
		return timer{z.at + z.on, z.period, z.period - z.on, -z.rate, z.even + z.rate, z.off}
	}
	return z
}

// bounds is the span of time that a fall's edges may use: from the end of the draw before
// to the start of the one after.
type bounds struct{ lo, hi float64 }

// span is a stretch of time, s; the zero one is none.
type span struct{ from, to float64 }

// unsure widens the error of a gauge by so many inches.
func (g *gauge) unsure(by float64) { g.err = math.Hypot(g.err, by) }

// doubt says of a draw what asks a person to look. Inlined at each of its 40 calls it costs the binary 6 KB.
//
//go:noinline
func (d *draw) doubt(format string, args ...any) {
	d.doubts = append(d.doubts, fmt.Sprintf(format, args...))
}

// doubtGauge says of a draw what asks a person to look, as one of its gauges is off by some inches at most.
func (d *draw) doubtGauge(g *gauge, by float64, format string, args ...any) {
	g.unsure(by)
	d.doubt(format, args...)
}

// note says of a draw what asks a person to look, or else what a reader should know.
func (d *draw) note(asks bool, said string) {
	if asks {
		d.doubts = append(d.doubts, said)
	} else {
		d.says = append(d.says, said)
	}
}

// volume is the barrels between the gauges of a draw.
func (t *Tank) volume(d draw) float64 { return t.barrels(d.opening.level, d.closing.level) }

// barrels are those that a fall from one level to another takes.
func (t *Tank) barrels(from, to float64) float64 {
	a, _ := t.Table.Extrapolated(from)
	b, _ := t.Table.Extrapolated(to)
	return a - b
}

// lastOfBarrels is the index of the last of some draws that is more than the noise makes, or of the last one where none is.
func (t *Tank) lastOfBarrels(ds []draw) int {
	for k := len(ds) - 1; k >= 0; k-- {
		if t.volume(ds[k]) >= partBbl {
			return k
		}
	}
	return len(ds) - 1
}

// shows are the times between which what a draw moved to another tank shows there.
func (d draw) shows() (from, to float64) { return d.start - showsFrom, d.end + showsTo }

// clearAbout is the time about an instant, so long either way, in which the draw neither begins nor ends.
func (d draw) clearAbout(at, long float64) (lo, hi float64) {
	lo, hi = at-long, at+long
	for _, edge := range []float64{d.start, d.end} {
		if edge <= at {
			lo = math.Max(lo, edge+nodeEvery)
		} else {
			hi = math.Min(hi, edge-nodeEvery)
		}
	}
	return lo, hi
}

// timesOther is how many times as fast as the other the pump of the faster of two draws drew.
func (t *Tank) timesOther(a, b draw) float64 {
	return math.Exp(math.Abs(math.Log(t.pumpRate(a) / t.pumpRate(b))))
}

// watched is until when a level says what was drawn: to the next load, and no longer than its confirmation takes.
func (d draw) watched(t *Tank, now float64) float64 {
	return min(now, d.next, d.end+t.Loads.Confirm.Seconds())
}

// rest are the samples behind a draw, without what an equaliser moves, and without hatches that were opened meanwhile.
func (d draw) rest(l *levels) []sample {
	switch {
	case d.behind != nil:
		return d.behind
	case d.closing.hatches > 0:
		return withoutHatches(between(l.recent, d.end+settleShort, math.Inf(1)), d.closing.hatches)
	}
	return l.recent
}

// evenRest are the levels behind a draw, and where its closing is that of tanks which an equaliser makes even, those without what it moves, or
// without hatches that were opened.
func (d draw) evenRest(l *levels) levels {
	if d.evened > d.end || d.closing.hatches > 0 && d.behind == nil {
		return levels{recent: d.rest(l)}
	}
	return *l
}

// fall is how far the level fell over a draw, in.
func (d draw) fall() float64 { return d.opening.level - d.closing.level }

// fasterInflow is the faster of the inflows before a draw and from its start on, in/s.
func (d draw) fasterInflow() float64 { return math.Max(d.inflowBefore, d.inflowAfter) }

// slope is how fast the level fell over a draw, in/s.
func (d draw) slope() float64 {
	return d.fall() / math.Max(d.end-d.start, 1)
}

// wrongBbl is by how many barrels a ticket of so many is wrong: more than the greater of one and a hundredth.
func wrongBbl(bbl float64) float64 { return math.Max(1, 0.01*bbl) }

// pumpRate is the rate of a draw in barrels per minute while the pump drew, inflow included.
func (t *Tank) pumpRate(d draw) float64 {
	s := math.Max(d.end-d.start, 1)
	return (t.volume(d) + d.inflowAfter*t.Table.PerInch(d.opening.level)*s) / math.Max(s-d.stood, 1) * 60
}

// removedBbl is the volume of a draw in barrels, with what flowed in meanwhile.
func (t *Tank) removedBbl(d draw) float64 {
	return t.volume(d) + (d.inflowAfter*(d.end-d.start)+d.settled)*t.Table.PerInch(d.opening.level)
}

// drawPhase says whether a tank is drawn from, as far as is known, and what of it is decided.
type drawPhase struct {
	drawing                    bool      // a draw may be under way or waits for its confirmation
	searchFrom                 float64   // where to begin to look for it
	lastFallAt                 float64   // when the level last fell like a draw
	firstSeen                  []float64 // when the draws that are not decided yet were first seen
	judgeAt                    float64   // when to look again
	decidedTo                  float64   // everything up to here is decided
	lastDrawStart, lastDrawEnd float64   // the newest draw that was decided
}

// firstSeenMost draws that are not decided are remembered: so many are stored, and a state with more could not be read again.
const firstSeenMost = 64

// noteFirstSeen remembers when a draw was first seen. When there are too many the newest gives way.
func (p *drawPhase) noteFirstSeen(at float64) {
	n := min(len(p.firstSeen), firstSeenMost-1)
	p.firstSeen = append(p.firstSeen[:n:n], at)
}

// forgetSeen forgets the draws that were first seen until a time.
func (p *drawPhase) forgetSeen(until float64) {
	for len(p.firstSeen) > 0 && p.firstSeen[0] <= until {
		p.firstSeen = p.firstSeen[1:]
	}
}

// movesSince is since when the level falls again and again.
func (p *drawPhase) movesSince() float64 {
	if len(p.firstSeen) == 0 {
		return p.searchFrom
	}
	return math.Min(p.searchFrom, p.firstSeen[0])
}

// drawBegan is the start as it was fixed when the draw was first seen.
func (p *drawPhase) drawBegan(d draw) float64 {
	for _, b := range p.firstSeen {
		if b >= d.start-900 && b <= d.end {
			return b
		}
	}
	return d.start
}

// sensorStep is a fall that a sensor made by itself beside a draw, and no oil.
type sensorStep struct{ at, inches float64 }

// nextLoad is when the first draw behind another's end begins that is a load by its volume and no foam, or what that ran on into; +Inf where none is.
func (t *Tank) nextLoad(end float64, draws []draw) float64 {
	for _, d := range draws {
		if t.removedBbl(d) >= t.Loads.MinLoad || d.start <= end {
			return d.start
		}
	}
	return math.Inf(1)
}

// leaptBefore is when the sensor jumped within the hour before a draw, and behind the load before it; 0 where it did not.
func leaptBefore(ts *tankState, d draw) float64 {
	from := math.Max(d.start-jumpLately, ts.reports.ended())
	at, b := ts.faults.jumpedAt, between(ts.levels.recent, from, d.start)
	if k := newestLeap(b); at > d.start && k >= 0 {
		at = b[k].t
	}
	if at <= from || at > d.start {
		return 0
	}
	return at
}

// fallRead says that the fall of a draw is long enough, and read as it goes, to show what came in meanwhile.
func fallRead(t *Tank, d draw) bool {
	return t.Group == "" && d.deadband <= 0 && d.stuck.to <= 0 && d.gap <= lumpsApart && d.end-d.start >= lumpsApart
}

// fallTells says that it may show what its well brought: nothing else moves the level, and it is told as exactly as slugs of some inches need.
func fallTells(t *Tank, d draw, slug float64) bool {
	if d.deadband < slug/slugMore {
		d.deadband, d.gap = 0, 0 // what is silent there stands
	}
	return fallRead(t, d) && t.Sensor != "hydrostatic" && d.late <= 0 && d.foam <= 0 && d.cameIn <= 0
}

// risenTo are the sample from which some inches came at once about a time, or as the value stood until then, and the highest behind it; -1 where none did.
func (t *Tank) risenTo(b []sample, at, inches float64) (from, to int) {
	since, n := searchTime(b, at-2*singleReading), searchTime(b, at+2*singleReading)
	if from = t.cameFast(b[:n], inches/leapMost); from < 0 && since < n {
		from = since + highest(b[since:n]) - 1
	}
	from = max(from, -1)
	return from, max(from, 0) + highest(b[max(from, 0):n])
}
