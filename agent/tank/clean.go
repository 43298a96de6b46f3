package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	lowestLevel   = -1.0  // in
	aboveShell    = 7.0   // in above the shell
	stepFew       = 3     // readings that agree before a jump is believed
	stepInDraw    = 5     // times as long in a draw, and where one value stands
	stuckWait     = 60.0  // s that a jump from a frozen value has to stay
	echoLong      = 100.0 // s; the longest false echo seen took 90
	singleReading = 60.0  // s of the fastest flow that one reading alone may show
	spikeWorth    = 8.0   // in; a smaller jump that comes back is slosh
	endMargin     = 0.5   // in from the bottom and the top of the tank, where no level comes to at once
	pumpStood     = 300.0 // s; the least that a value stands still while oil was leaving, to be stuck
)

// pending are readings that are too far from the last believed one, and agree.
type pending struct {
	count    int // readings
	distinct int // different values
	first    point
	last     point
	slight   bool      // the first was not far beyond what is possible, as in slosh
	before   heldValue // what stood before them and was not believed either; not stored
}

// heldValue is a value that stood for so many seconds.
type heldValue struct{ level, seconds float64 }

// shown is what was shown instead of a level, for a minute or more.
func (p pending) shown() heldValue {
	if long := p.last.t - p.first.t; p.count > 0 && long >= singleReading {
		return heldValue{p.last.v, long}
	}
	return p.before
}

// acceptance is what becomes of one reading.
type acceptance uint8

const (
	refused acceptance = iota
	accepted
	resumed   // what is pending is the level, since it first came
	respanned // the sensor was re-spanned: nothing before it compares
	unfrozen  // the value had been frozen: the time since then is a gap
)

// maxRate is the fastest believable change at a level, inches per second.
func (t *Tank) maxRate(at float64) float64 {
	per := math.Min(t.Table.PerInch(at), t.Table.PerInch(at+12))
	return t.Loads.MaxRate / math.Max(per, 1e-6) / 60
}

// Possible says that a value can be a level of this tank at all.
func (t *Tank) Possible(x float64) bool {
	return stats.Finite(x) && x >= lowestLevel && x <= float64(t.Height)+aboveShell
}

// figureMost is beyond every temperature, gravity and percentage; what is larger is a fault, and sums of it overflow.
const figureMost = 1e6

// plausible says that a value beside the level can be one at all.
func (t *Tank) plausible(in Input) bool {
	switch in.Kind {
	case Interface:
		return t.Possible(in.Value)
	case Valve:
		return stats.Finite(in.Value)
	}
	return math.Abs(in.Value) <= figureMost
}

// noiseFloor is the jump that noise alone may make, inches.
func (r *readings) noiseFloor(t *Tank) float64 {
	return math.Max(float64(t.Loads.Noise), math.Max(6*r.noise.sigma, 4*r.noise.fast))
}

// frozen says that the newest value has stood still for too long to be alive.
func (ts *tankState) frozen(t *Tank, now float64) bool {
	age := now - ts.heldSince
	return age >= ts.stuckAfter(t) && ts.interval.changes >= 8 && age > 10*ts.interval.held
}

// stuckAfter is how long a value must stand, in seconds, before a jump says that it was stuck:
// not as long where it stopped while oil was leaving.
func (ts *tankState) stuckAfter(t *Tank) float64 {
	least := t.Loads.StuckJump.Seconds()
	if ts.drawing && ts.heldSince < ts.lastFallAt+joinWithin && ts.heldSince > ts.searchFrom {
		return math.Max(pumpStood, least/9)
	}
	return least
}

// reach is how far the level may have moved since the last believed reading.
func (r *readings) reach(t *Tank, now float64) float64 {
	dt := math.Max(now-r.last.t, 0)
	if r.timeUnknown {
		dt = longestAway
	}
	held := math.Min(now-r.heldSince, math.Min(2*r.interval.held, heldMost)) // a cached value is as old as this
	return t.maxRate(r.last.v)*math.Max(dt, held) + r.noiseFloor(t)
}

// assess decides about a possible value x at a time.
func (ts *tankState) assess(t *Tank, now, x float64) acceptance {
	if !ts.seen {
		return accepted
	}
	p := ts.pending
	off := math.Abs(x - ts.last.v)
	near := off <= ts.reach(t, now)
	joins := p.count > 0 && math.Abs(x-p.last.v) <= t.maxRate(x)*(now-p.last.t)+ts.noiseFloor(t)
	if near && !joins && off > t.maxRate(x)*singleReading+ts.noiseFloor(t) && ts.silent(now) {
		near = false // after a silence a far value has to stay for longer than an echo does
	}
	if near && p.count > 0 && joins && ts.silent(p.first.t) {
		return ts.outlastsEcho(now, x)
	}
	if near && (!joins || p.slight && !ts.frozen(t, p.first.t) || off < math.Abs(x-p.last.v)) {
		if p.count > 0 && math.Abs(p.first.v-ts.last.v) > spikeWorth {
			ts.faults.spikes.add(p.first.t, p.first.v)
		}
		ts.pending = pending{}
		return accepted
	}
	at := point{now, x}
	if !joins {
		ts.pending = pending{count: 1, distinct: 1, first: at, last: at, slight: off < 2*ts.reach(t, now), before: p.shown()}
		return refused
	}
	p.count++
	if x != p.last.v {
		p.distinct++
	}
	p.last = at
	ts.pending = p
	return ts.jumped(t)
}

// silent says that nothing was believed for a while before a time.
func (r *readings) silent(until float64) bool {
	return r.timeUnknown || until-r.last.t > math.Max(1.5*singleReading, 2.5*r.interval.usual)
}

// outlastsEcho believes a far value after a silence once it has outlived a false echo.
func (r *readings) outlastsEcho(now, x float64) acceptance {
	p := &r.pending
	p.count, p.last = p.count+1, point{now, x}
	if now-p.first.t < echoLong {
		return refused
	}
	return resumed
}

// jumped decides whether the pending readings have stayed long enough to be the truth.
func (ts *tankState) jumped(t *Tank) acceptance {
	p := ts.pending
	stayed := p.last.t - p.first.t
	if p.count < stepFew || !ts.sensorWorks(t, stayed) {
		return refused
	}
	if ts.frozen(t, p.first.t) && stayed >= stuckWait {
		return unfrozen
	}
	if stayed >= ts.stepHold(t) {
		return respanned
	}
	return refused
}

// stepHold is how long a jump has to stay to be a re-span. In the middle of a draw foam and
// waves are likelier than a technician, unless the draw goes on at the new span.
func (ts *tankState) stepHold(t *Tank) float64 {
	hold, p := t.Loads.StepHold.Seconds(), ts.pending
	if ts.drawing && p.first.t-ts.lastFallAt < fallWindow && !ts.fallsOn(t, p.last.t, p.last.v) {
		return stepInDraw * hold
	}
	return hold
}

// sensorWorks says that what is pending can come from a sensor that works. A transmitter without
// power or a float that fell off shows one value, at an end of the tank mostly, to which nobody
// spans: there it is a gap, elsewhere believed if this sensor's values stand as long.
func (ts *tankState) sensorWorks(t *Tank, stayed float64) bool {
	if x := ts.pending.last.v; x < endMargin || x > float64(t.Height)-endMargin {
		return stayed >= t.Loads.MaxGapTicket.Seconds()
	}
	if ts.pending.distinct >= stepFew {
		return true
	}
	least := stepInDraw * t.Loads.StepHold.Seconds()
	if ts.interval.changes >= 8 {
		least = math.Max(least, math.Min(stoodLong*ts.interval.held, t.Loads.Stuck.Seconds()))
	}
	return stayed >= least
}
