package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	lowest     = -1.0  // in
	overTop    = 7.0   // in above the shell
	stepFew    = 3     // readings that agree before a jump is believed
	stepInDraw = 5     // times as long in a draw, and where one value stands
	stuckWait  = 60.0  // s that a jump from a frozen value has to stay
	echoLong   = 100.0 // s; the longest false echo seen took 90
	surely     = 60.0  // s of the fastest flow that one reading alone may show
	spikeWorth = 8.0   // in; a smaller jump that comes back is slosh
	deadEnd    = 0.5   // in from the bottom and the top of the tank, where no level comes to at once
	pumpStood  = 300.0 // s; the least that a value stands still while oil was leaving, to be stuck
)

// pending are readings that are too far from the last believed one, and agree.
type pending struct {
	n        int // readings
	distinct int // different values
	first    point
	last     point
	faint    bool // the first was not far beyond what is possible, as in slosh
	before   stay // what stood before them and was not believed either; not stored
}

// stay is a value that stood for so many seconds.
type stay struct{ v, long float64 }

// stay is what was shown instead of a level, for a minute or more.
func (p pending) stay() stay {
	if long := p.last.t - p.first.t; p.n > 0 && long >= surely {
		return stay{p.last.v, long}
	}
	return p.before
}

// judge is what becomes of one reading.
type judge uint8

const (
	refuse judge = iota
	accept
	resume   // what is pending is the level, since it first came
	stepTo   // the sensor was re-spanned: nothing before it compares
	unfreeze // the value had been frozen: the time since then is a gap
)

// rate is the fastest believable change at a level, inches per second.
func (t *Tank) rate(at float64) float64 {
	per := math.Min(t.Table.PerInch(at), t.Table.PerInch(at+12))
	return t.Loads.MaxRate / math.Max(per, 1e-6) / 60
}

// Possible says that a value can be a level of this tank at all.
func (t *Tank) Possible(x float64) bool {
	return stats.Finite(x) && x >= lowest && x <= float64(t.Height)+overTop
}

// mostFigure is beyond every temperature, gravity and percentage; what is larger is a fault, and sums of it overflow.
const mostFigure = 1e6

// plausible says that a value beside the level can be one at all.
func (t *Tank) plausible(in Input) bool {
	switch in.Kind {
	case Interface:
		return t.Possible(in.Value)
	case Valve:
		return stats.Finite(in.Value)
	}
	return math.Abs(in.Value) <= mostFigure
}

// floor is the jump that noise alone may make, inches.
func (v *vessel) floor(t *Tank) float64 {
	return math.Max(float64(t.Loads.Noise), math.Max(6*v.noise.sigma, 4*v.noise.fast))
}

// frozen says that the newest value has stood still for too long to be alive.
func (v *vessel) frozen(t *Tank, now float64) bool {
	age := now - v.since
	return age >= v.stuckAfter(t) && v.pace.runs >= 8 && age > 10*v.pace.run
}

// stuckAfter is how long a value must stand, in seconds, before a jump says that it was stuck:
// not as long where it stopped while oil was leaving.
func (v *vessel) stuckAfter(t *Tank) float64 {
	least := t.Loads.StuckJump.Seconds()
	if v.hot && v.since < v.fell+joinRuns && v.since > v.onset {
		return math.Max(pumpStood, least/9)
	}
	return least
}

// reach is how far the level may have moved since the last believed reading.
func (v *vessel) reach(t *Tank, now float64) float64 {
	dt := math.Max(now-v.last.t, 0)
	if v.unsure {
		dt = longestAway
	}
	held := math.Min(now-v.since, math.Min(2*v.pace.run, heldMost)) // a cached value is as old as this
	return t.rate(v.last.v)*math.Max(dt, held) + v.floor(t)
}

// weigh decides about a possible value x at a time.
func (v *vessel) weigh(t *Tank, now, x float64) judge {
	if !v.seen {
		return accept
	}
	p := v.pend
	off := math.Abs(x - v.last.v)
	near := off <= v.reach(t, now)
	joins := p.n > 0 && math.Abs(x-p.last.v) <= t.rate(x)*(now-p.last.t)+v.floor(t)
	if near && !joins && off > t.rate(x)*surely+v.floor(t) && v.silent(now) {
		near = false // after a silence a far value has to stay for longer than an echo does
	}
	if near && p.n > 0 && joins && v.silent(p.first.t) {
		return v.lasting(now, x)
	}
	if near && (!joins || p.faint && !v.frozen(t, p.first.t) || off < math.Abs(x-p.last.v)) {
		if p.n > 0 && math.Abs(p.first.v-v.last.v) > spikeWorth {
			v.spike.again(p.first.t, p.first.v)
		}
		v.pend = pending{}
		return accept
	}
	at := point{now, x}
	if !joins {
		v.pend = pending{n: 1, distinct: 1, first: at, last: at, faint: off < 2*v.reach(t, now), before: p.stay()}
		return refuse
	}
	p.n++
	if x != p.last.v {
		p.distinct++
	}
	p.last = at
	v.pend = p
	return v.jumped(t)
}

// silent says that nothing was believed for a while before a time.
func (v *vessel) silent(until float64) bool {
	return v.unsure || until-v.last.t > math.Max(1.5*surely, 2.5*v.pace.usual)
}

// lasting believes a far value after a silence once it has outlived a false echo.
func (v *vessel) lasting(now, x float64) judge {
	p := &v.pend
	p.n, p.last = p.n+1, point{now, x}
	if now-p.first.t < echoLong {
		return refuse
	}
	return resume
}

// jumped decides whether the pending readings have stayed long enough to be the truth.
func (v *vessel) jumped(t *Tank) judge {
	p := v.pend
	stayed := p.last.t - p.first.t
	if p.n < stepFew || !v.alive(t, stayed) {
		return refuse
	}
	if v.frozen(t, p.first.t) && stayed >= stuckWait {
		return unfreeze
	}
	if stayed >= v.stepHold(t) {
		return stepTo
	}
	return refuse
}

// stepHold is how long a jump has to stay to be a re-span. In the middle of a draw foam and
// waves are likelier than a technician, unless the draw goes on at the new span.
func (v *vessel) stepHold(t *Tank) float64 {
	hold, p := t.Loads.StepHold.Seconds(), v.pend
	if v.hot && p.first.t-v.fell < shiftBack && !v.drawsOn(t, p.last.t, p.last.v) {
		return stepInDraw * hold
	}
	return hold
}

// alive says that what is pending can come from a sensor that works. A transmitter without
// power or a float that fell off shows one value, at an end of the tank mostly, to which nobody
// spans: there it is a gap, elsewhere believed if this sensor's values stand as long.
func (v *vessel) alive(t *Tank, stayed float64) bool {
	if x := v.pend.last.v; x < deadEnd || x > float64(t.Height)-deadEnd {
		return stayed >= t.Loads.MaxGapTicket.Seconds()
	}
	if v.pend.distinct >= stepFew {
		return true
	}
	least := stepInDraw * t.Loads.StepHold.Seconds()
	if v.pace.runs >= 8 {
		least = math.Max(least, math.Min(stoodLong*v.pace.run, t.Loads.Stuck.Seconds()))
	}
	return stayed >= least
}
