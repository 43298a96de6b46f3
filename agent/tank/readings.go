package tank

import "math"

const (
	singleReading = 60.0  // s of the fastest flow that one reading alone may show
	echoLong      = 100.0 // s; the longest false echo seen took 90
)

// readings are a tank's readings as they came: the level that is believed, how often they come, and how much they scatter.
type readings struct {
	seen        bool
	last        point   // newest believed reading
	heldSince   float64 // when its value first appeared
	timeUnknown bool    // a restart took a time that nobody knows
	pending     pending // readings that are not believed yet
	interval    interval
	noise       noise
	bin         bin
}

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

// shown is the value that the sensor held instead of a level, for a minute or more.
func (p pending) shown() heldValue {
	if long := p.last.t - p.first.t; p.count > 0 && long >= singleReading {
		return heldValue{p.last.v, long}
	}
	return p.before
}

// noiseFloor is the jump that noise alone may make, inches.
func (r *readings) noiseFloor(t *Tank) float64 {
	return math.Max(float64(t.Loads.Noise), math.Max(6*r.noise.sigma, 4*r.noise.fast))
}

// reach are the inches that the level may have moved since the last believed reading.
func (r *readings) reach(t *Tank, now float64) float64 {
	dt := math.Max(now-r.last.t, 0)
	if r.timeUnknown {
		dt = longestAway
	}
	held := math.Min(now-r.heldSince, math.Min(2*r.interval.held, heldMost)) // a cached value is as old as this
	return t.maxRate(r.last.v)*math.Max(dt, held) + r.noiseFloor(t)
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

// beginAt takes x as the level from now on, after values that were not believed.
func (r *readings) beginAt(now, x float64) {
	r.last, r.heldSince, r.timeUnknown, r.pending = point{now, x}, now, false, pending{}
	r.bin = bin{}
	r.bin.add(now, x)
}

// acceptance of one reading.
type acceptance uint8

const (
	refused acceptance = iota
	accepted
	resumed   // what is pending is the level, since it first came
	respanned // the sensor was re-spanned: nothing before it compares
	unfrozen  // the value had been frozen: the time since then is a gap
)
