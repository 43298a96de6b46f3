package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	auxEvery     = 60.0    // s between two kept values
	auxMost      = 128     // values kept
	auxStale     = 7200.0  // s after which a value says nothing about an instant
	auxUnchanged = 1800.0  // s after which an unchanged value is kept again
	trendFar     = 15 * 60 // s after which a water level says nothing about an instant
)

// auxiliary are the measurements of a tank beside its level.
type auxiliary struct {
	water  []sample          // oil/water interface
	values [auxKinds][]point // by the places below
}

// The places of the kept values in auxiliary.values.
const (
	topAt = iota
	bottomAt
	gravityAt
	bswAt
	valveAt
	auxKinds
)

var auxPlaces = [kindCount]int{TopTemperature: topAt, BottomTemperature: bottomAt, Gravity: gravityAt, BSW: bswAt, Valve: valveAt}

// keep keeps a value of a temperature, gravity, BS&W or valve.
func (x *auxiliary) keep(at int, now, v float64) {
	if at == valveAt && v != 0 {
		v = 1
	}
	b := x.values[at]
	if n := len(b); n > 0 {
		l := b[n-1]
		if now <= l.t || v == l.v && (at == valveAt || now-l.t < auxUnchanged) || at != valveAt && now-l.t < auxEvery {
			return
		}
	}
	if len(b) >= auxMost {
		b = thinPoints(b, at == valveAt)
	}
	x.values[at] = append(b, point{now, v})
}

// thinPoints halves what is kept: of contacts the old half goes, of values every second
// of the old half.
func thinPoints(b []point, contact bool) []point {
	out := make([]point, 0, auxMost)
	half := len(b) / 2
	for i, p := range b {
		if i >= half || !contact && i%2 == 0 {
			out = append(out, p)
		}
	}
	return out
}

// asOf is the value that was known at a time, or nil.
func (x *auxiliary) asOf(at int, t float64) *float64 {
	b := x.values[at]
	for i := len(b) - 1; i >= 0; i-- {
		if b[i].t <= t {
			if t-b[i].t > auxStale {
				return nil
			}
			return new(b[i].v)
		}
	}
	return nil
}

// keepWater keeps the oil/water interface, once a minute.
func (x *auxiliary) keepWater(now, v float64) {
	n := len(x.water)
	if n > 0 && now-x.water[n-1].t < coarseEvery {
		return
	}
	if n >= waterMost {
		x.water = append(make([]sample, 0, waterMost), x.water[waterMost/4:]...)
	}
	x.water = append(x.water, grained(now, v, 1))
}

// waterFell is the fall of the interface over a draw, inches; false when it is not known.
func (x *auxiliary) waterFell(start, end float64) (float64, bool) {
	a, b := x.waterBefore(start), between(x.water, end+30, end+1200)
	if len(a) == 0 || len(b) == 0 {
		return 0, false
	}
	b = b[:min(5, len(b))]
	return stats.Median(values(a)) - stats.Median(values(b)), true
}

const (
	waterLate   = 0.2  // share of its fall by which the interface may differ from the level's, on average
	partlyWater = 0.25 // share of the level's fall that the interface fell too, from which on water may have been drawn
	waterDrift  = 1.5  // times the level's fall that the interface may fall
	waterSure   = 1.5  // in that it falls by no error of its transmitter, or emulsion that breaks
	waterTimes  = 2.0  // times what it strayed before a draw that its fall is more than that
	waterLook   = 2400 // s before a draw in which it shows how it strays; as much is stored
)

// waterFollowed says that the interface went down with the level and not at once, as a float
// that fell off does. Where it was not seen meanwhile it must not have fallen by much more.
func (x *auxiliary) waterFollowed(d draw, fell float64, levelAt func(at float64) (float64, bool)) bool {
	drop := d.fall()
	b := between(x.water, d.start, d.end)
	if len(b) < 3 {
		return fell <= waterDrift*drop
	}
	top := stats.Median(values(x.waterBefore(d.start)))
	off := 0.0
	for _, s := range b {
		level, ok := levelAt(s.t)
		if !ok {
			level = d.opening.level - drop*(s.t-d.start)/(d.end-d.start)
		}
		off += math.Abs((top-float64(s.v))/fell - (d.opening.level-level)/drop)
	}
	return off <= waterLate*float64(len(b))
}

// waterBefore are the newest values of the interface before a draw.
func (x *auxiliary) waterBefore(start float64) []sample {
	a := between(x.water, start-trendFar, start)
	return a[max(0, len(a)-5):]
}

// waterDrawn says that the interface fell as a level did, a tank's own or that of all tanks of a group: water was drawn from below.
func (x *auxiliary) waterDrawn(t *Tank, d draw, levelAt func(at float64) (float64, bool)) bool {
	if !t.Interface {
		return false
	}
	fell, ok := x.waterFell(d.start, d.end)
	return ok && fell >= explainedShare*d.fall() && x.waterFollowed(d, fell, levelAt)
}

// doubtWater says of a draw of oil that some of it may be water: the interface fell too, by a share of what the level fell, or by more than it strays.
// One that stopped at the least that its float shows fell by so much at least.
func (x *auxiliary) doubtWater(t *Tank, d *draw) {
	fell, ok := x.waterFell(d.start, d.end)
	if !ok || !t.Interface || t.Group != "" || fell*t.Table.PerInch(d.closing.level) < wrongBbl(t.volume(*d)) {
		return
	}
	if fell >= min(partlyWater*d.fall(), math.Max(waterSure, waterTimes*x.waterStrayed(d.start))) {
		d.doubtGauge(&d.closing, fell/2, "the oil/water interface fell by %.1f in meanwhile: water was drawn, or some of it is", fell)
	}
}

// waterStrayed is between how many inches the middles of five values of the interface lay before a draw.
func (x *auxiliary) waterStrayed(start float64) float64 {
	b := between(x.water, start-waterLook, start)
	low, high := math.Inf(1), math.Inf(-1)
	for n := 5; n <= len(b); n++ {
		v := stats.Median(values(b[n-5 : n]))
		low, high = math.Min(low, v), math.Max(high, v)
	}
	return math.Max(0, high-low)
}

// waterAt is the level of the oil/water interface about an instant, inches; nil when it is not known.
func (x *auxiliary) waterAt(at float64) *float64 {
	b := x.waterBefore(at)
	if len(b) == 0 {
		return nil
	}
	return new(stats.Median(values(b)))
}
