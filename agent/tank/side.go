package tank

import "math"

const (
	otherEvery = 60.0   // s between two kept values
	otherMost  = 128    // values kept
	otherStale = 7200.0 // s after which a value says nothing about an instant
	otherStill = 1800.0 // s after which an unchanged value is kept again
)

// The places of the kept values in vessel.other.
const (
	topAt = iota
	bottomAt
	gravityAt
	bswAt
	valveAt
	others
)

func place(k Kind) int {
	switch k {
	case TopTemperature:
		return topAt
	case BottomTemperature:
		return bottomAt
	case Gravity:
		return gravityAt
	case BSW:
		return bswAt
	default:
		return valveAt
	}
}

// keepOther keeps a value of a temperature, gravity, BS&W or valve.
func (v *vessel) keepOther(at int, now, x float64) {
	if at == valveAt && x != 0 {
		x = 1
	}
	b := v.other[at]
	if n := len(b); n > 0 {
		l := b[n-1]
		if now <= l.t || at == valveAt && x == l.v || x == l.v && now-l.t < otherStill {
			return
		}
		if at != valveAt && now-l.t < otherEvery {
			return
		}
	}
	if len(b) >= otherMost {
		b = thinPoints(b, at == valveAt)
	}
	v.other[at] = append(b, point{now, x})
}

// thinPoints halves what is kept: of contacts the old half goes, of values every second
// of the old half.
func thinPoints(b []point, contact bool) []point {
	out := make([]point, 0, otherMost)
	half := len(b) / 2
	for i, p := range b {
		if i >= half || !contact && i%2 == 0 {
			out = append(out, p)
		}
	}
	return out
}

// asOf is the value that was known at a time, or nil.
func (v *vessel) asOf(at int, t float64) *float64 {
	b := v.other[at]
	for i := len(b) - 1; i >= 0; i-- {
		if b[i].t <= t {
			if t-b[i].t > otherStale {
				return nil
			}
			return new(b[i].v)
		}
	}
	return nil
}

// keepWater keeps the oil/water interface, once a minute.
func (v *vessel) keepWater(now, x float64) {
	n := len(v.water)
	if n > 0 && now-v.water[n-1].t < coarse {
		return
	}
	if n >= waterMost {
		v.water = append(make([]sample, 0, waterMost), v.water[waterMost/4:]...)
	}
	v.water = append(v.water, grained(now, x, 1))
}

// waterFell is the fall of the interface over a draw, inches; false when it is not known.
func (v *vessel) waterFell(start, end float64) (float64, bool) {
	a, b := between(v.water, start-900, start), between(v.water, end+30, end+1200)
	if len(a) == 0 || len(b) == 0 {
		return 0, false
	}
	a = a[max(0, len(a)-5):]
	b = b[:min(5, len(b))]
	return median(values(a)) - median(values(b)), true
}

func values(b []sample) []float64 {
	out := make([]float64, len(b))
	for i, s := range b {
		out[i] = float64(s.v)
	}
	return out
}

// opened are the times at which the load valve was opened and closed about a draw; false
// when no contact speaks of it.
func (v *vessel) opened(start, end float64) (from, to float64, ok bool) {
	b := v.other[valveAt]
	from, to = math.NaN(), math.NaN()
	for _, p := range b {
		switch {
		case p.v != 0 && p.t <= start+120:
			from, to = p.t, math.NaN()
		case p.v == 0 && math.IsNaN(to) && !math.IsNaN(from) && p.t >= start:
			to = p.t
		case p.v == 0 && p.t < start:
			from = math.NaN()
		}
	}
	return from, to, !math.IsNaN(from) && !math.IsNaN(to) && to >= end-120
}
