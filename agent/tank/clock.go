package tank

import (
	"math"
	"time"

	"gauger/agent/tank/stats"
)

// Site time. A reading's place in time is counted in real seconds since the state was
// new, on the clock that never steps; a restart adds what the wall clock says has passed.
// Logic uses site seconds, which are real seconds times the speed.

const (
	clockSlack   = 5.0       // site s; a stamp this near to the clock's is on time
	clockStrikes = 6         // readings in a row that agree on another clock make it the clock
	sparseNeeds  = 3         // the same, of readings a minute apart or more
	longestAway  = 25 * 3600 // site s; a longer restart is not told from a wrong clock
	delayedLeast = 60.0      // site s; what is older by its stamp when it comes was kept,
	delayedMost  = 24 * 3600 // or its clock is wrong
	neverSetStep = 6e8       // s, some twenty years; a clock that steps so far had begun in 1970
	stepWorth    = 30.0      // s of a clock's step that is worth an event
)

// clock follows the wall clock of one source of readings: the box's own or a device's.
type clock struct {
	known         bool
	resync        bool    // the next stamp is taken as it is: a restart left nothing to compare
	offset        float64 // unix seconds when real time was 0
	newest        float64 // newest stamp taken, unix s
	candidate     float64 // an offset that may be the new one
	candidateFrom float64 // real time of the first reading that agreed on it
	agreed        int     // readings that agree on it
}

// place places one stamp; every is the usual time between readings, in site seconds. It gives the real time of the reading, whether to use it at all, and the
// seconds of a step of the clock that it proved.
func (c *clock) place(at, real, every, speed float64) (when float64, use bool, step float64) {
	dev, slack := at-c.offset-real, clockSlack/speed
	if !c.known || c.resync {
		if c.known && math.Abs(dev) > slack {
			step = dev
		}
		*c = clock{known: true, offset: at - real, newest: at}
		return real, true, step
	}
	if math.Abs(dev) <= slack {
		c.offset += dev
		c.newest, c.agreed = math.Max(c.newest, at), 0
		return real, true, 0
	}
	needs := clockStrikes
	if every >= 60 {
		needs = sparseNeeds
	}
	if c.agreed > 0 && math.Abs(at-real-c.candidate) <= math.Min(slack, (at-c.candidate-c.candidateFrom)/2) {
		c.agreed++
	} else { // the first, or stamps that come faster than they were made: a backlog, not another clock
		c.candidate, c.candidateFrom, c.agreed = at-real, real, 1
	}
	if c.agreed >= needs {
		*c = clock{known: true, offset: at - real, newest: at}
		return real, true, dev
	}
	if dev > 0 { // nothing comes before it was made: the clock moved, or two readings changed places
		c.newest = math.Max(c.newest, at)
		return real, true, 0
	}
	if at > c.newest { // late, but in order: it belongs where its stamp puts it
		c.newest = at
		return at - c.offset, true, 0
	}
	return 0, false, 0
}

// adjust follows the wall clock of the box at once where an input is one look at both its clocks: real is that look's own
// real time. It gives the seconds of a step.
func (c *clock) adjust(at, real, speed float64) (step float64) {
	if !c.known {
		*c = clock{known: true, offset: at - real, newest: at - 1}
	}
	if c.resync {
		return 0
	}
	step = at - c.offset - real
	if math.Abs(step) <= clockSlack/speed {
		return 0
	}
	c.setBy(step)
	return step
}

// firstStamp takes the first stamp of a device's own clock, beside the box's: one that is minutes old was kept somewhere, since
// few clocks are as wrong.
func (c *clock) firstStamp(at, box, real, speed float64) {
	if age := (box + real - at) * speed; age > delayedLeast && age < delayedMost {
		*c = clock{known: true, offset: box, newest: at - 1}
	}
}

// setBy sets the clock by a step.
func (c *clock) setBy(step float64) { c.offset, c.newest, c.agreed = c.offset+step, c.newest+step, 0 }

// likely is the offset by which a restart reckons how long the program was away: that of the newest stamp, also where too few agree
// on it yet for a step of the clock. A step that only the stamps of before the restart showed would pass for time away.
func (c *clock) likely() float64 {
	if c.agreed > 0 {
		return c.candidate
	}
	return c.offset
}

// doubted says that a stamp has just been the first to speak for another clock, by more than is worth an event.
func (c *clock) doubted(speed float64) bool {
	return c.agreed == 1 && math.Abs(c.candidate-c.offset) >= stepWorth/speed
}

// wall is the instant of a real time by the newest known clock, to the millisecond.
func (c *clock) wall(real float64) time.Time {
	ms := math.Round((c.offset + real) * 1000)
	if !(math.Abs(ms) < 8e15) {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

// UnixSeconds is a wall clock in unix seconds.
func UnixSeconds(at time.Time) float64 { return float64(at.Unix()) + float64(at.Nanosecond())/1e9 }

const (
	episodeDay  = 86400.0 // s within which the same fault is reported once
	jumpLately  = 3600.0  // s before it in which a jump says that somebody works on the sensor
	handledNear = 4.0     // in by which a sensor that somebody had in hands is hung up elsewhere
)

// faults of a tank's sensor and clock, and when they last were.
type faults struct {
	badValues repeatedFault // values that cannot be
	spikes    repeatedFault // jumps that came back

	clockSteppedAt float64 // when the clock of its readings last stepped
	clockStep      float64 // and by how much, s
	jumpedAt       float64 // when the level last jumped without flow
	jumpedUpAt     float64 // when it last jumped up
	handledAt      float64 // when the first of the jumps that end with the newest was, no hour apart
	unfrozeAt      float64 // when a frozen value last came to life
	stuckReported  bool    // that the value stands now
}

// jumped remembers a jump without flow.
func (f *faults) jumped(at float64) {
	if f.jumpedAt == 0 || at-f.jumpedAt >= jumpLately {
		f.handledAt = at
	}
	f.jumpedAt = at
}

// repeatedFault is an episode of a fault that comes again and again, and is reported once a day at most.
type repeatedFault struct {
	active      bool
	start, last float64
	n           int
	reportedAt  float64 // when the newest episode was reported
	lastValue   float64
}

// add counts one more.
func (f *repeatedFault) add(t, v float64) {
	if !f.active {
		*f = repeatedFault{active: true, start: t, reportedAt: f.reportedAt}
	}
	f.last, f.n = t, f.n+1
	if stats.Finite(v) {
		f.lastValue = v
	}
}

// due says that an episode is over, or has gone on for a day since it was last reported, and is
// worth an event. What comes within a day of that one is reported together.
func (f *repeatedFault) due(now, quiet float64, few int) bool {
	told := f.reportedAt
	if told > f.start || told < 0 {
		told = 0
	}
	over := now-f.last >= quiet
	switch {
	case !f.active || f.n < few && !over:
		return false
	case f.n < few:
		*f = repeatedFault{reportedAt: told}
		return false
	case told > 0 && now-told < episodeDay || !over && now-f.start < episodeDay:
		return false
	}
	return true
}

// smallDraws are the draws below the least load that are reported together.
type smallDraws struct {
	active       bool
	start, last  float64
	n            int
	bbl, lastBbl float64
	returned     float64 // bbl of them that came back
}

// add counts one more; what came back of it, or 0.
func (s *smallDraws) add(d draw, bbl, returned float64) {
	if !s.active {
		*s = smallDraws{active: true, start: d.start}
	}
	s.returned += returned
	s.start, s.last, s.n = min(s.start, d.start), d.end, s.n+1
	if stats.Finite(bbl) {
		s.lastBbl, s.bbl = bbl, s.bbl+bbl
	}
}

// slowLosses are falls at rest that are too slow for a draw.
type slowLosses struct {
	checkAt float64 // when to look for one again
	loss    slowLoss
}

// slowLoss is one that goes on.
type slowLoss struct {
	active      bool
	start, last float64
	kind        int
	inches, top float64 // fallen so far, from this level
}

// The kinds of slow loss.
const (
	lossUnexplained = 1
	lossMoved       = 2 // the oil went to another tank
)

func (l slowLoss) asDraw() draw {
	return draw{start: l.start, end: l.last, samples: 1, opening: gauge{level: l.top}, closing: gauge{level: l.top - l.inches}}
}

func (l slowLoss) bbl(t *Tank) float64 { return t.volume(l.asDraw()) }
