package sites

import "math"

// slosh of a tank's surface: it swings with the tank's own period (2 to 3 s, so that a poll sees it as noise) while oil
// moves, grows within half a minute, and dies away afterwards; at once where the suction is a long way from the sensor.
func slosh(l lot, drawn []float64, diameter, inches, dying float64) layer {
	out := make(layer, len(drawn))
	const gravity, firstMode = 9.81, 1.841
	turn := math.Sqrt(gravity * firstMode / (diameter * 0.3048 / 2)) // rad/s
	size, phase := 0.0, l.between(0, 6)
	for s := range out {
		if math.Abs(drawn[s]) > 0.1 {
			size += (1 - size) / 20
		} else if size -= size / max(1, dying); size < 0.001 {
			size = 0
		}
		phase += turn * (1 + 0.15*l.NormFloat64())
		out[s] = inches * size * (0.8*math.Sin(phase) + 0.4*l.NormFloat64())
	}
	return out
}

// wind rocks the surface and sucks at the vents, in gusts of minutes, for a part of the day.
func wind(l lot, seconds, from, to int, inches float64) layer {
	out := make(layer, seconds)
	gustFor, keep := l.spread(40, 300), 0.0
	keep = math.Exp(-1 / gustFor)
	gust := 0.0
	for s := range out {
		gust = keep*gust + math.Sqrt(1-keep*keep)*l.NormFloat64()
		rise := min(1, max(0, float64(min(s-from, to-s))/1200))
		out[s] = inches * rise * (0.4*gust + (0.5+0.5*math.Abs(gust))*0.8*l.NormFloat64())
	}
	return out
}

// vacuum is the dip of a hydrostatic sensor while a truck pulls faster than the vent lets air in.
func vacuum(drawn []float64, inches, recovers float64) layer {
	out := make(layer, len(drawn))
	dip := 0.0
	for s := range out {
		want := inches * min(1, max(0, drawn[s]/5))
		out[s] = -dip
		if want > dip {
			dip += (want - dip) / 30
		} else {
			dip += (want - dip) / recovers
		}
	}
	return out
}

// breathing is vapour that gathers until the vent lifts, as a hydrostatic sensor sees it; often enough for an eye to see.
func breathing(l lot, seconds int, inches float64) layer {
	out := make(layer, seconds)
	x, up := inches*l.Float64(), l.spread(300, 1800)
	for s := range out {
		if x += inches / up * l.between(0, 2); x > inches {
			x -= inches * l.between(0.5, 0.9)
			up = l.spread(300, 1800)
		}
		out[s] = x
	}
	return out
}

// hatch lets the vapour's pressure go while it is open; it comes back within minutes when it is shut.
func hatch(seconds, open, shut int, inches, back float64) layer {
	out := make(layer, seconds)
	x := 0.0
	for s := range out {
		if s >= open && s < shut {
			x += (inches - x) / 4
		} else {
			x -= x / back
		}
		out[s] = -x
	}
	return out
}

// foam rises within a minute or so from one second on, stands, and collapses.
func foam(l lot, seconds, from, stands int, inches, collapse float64) layer {
	out := make(layer, seconds)
	for s := max(0, from); s < seconds; s++ {
		grown := 1 - math.Exp(-float64(s-from)/90)
		left := 1.0
		if s > from+stands {
			left = math.Exp(-float64(s-from-stands) / collapse)
		}
		out[s] = inches * grown * left * (1 + 0.06*l.NormFloat64())
	}
	return out
}

// daily is a drift with the day's temperature, in; its peak is some time after noon.
func daily(seconds, clock int, inches float64) []float64 {
	out := make([]float64, seconds)
	for s := range out {
		out[s] = inches * math.Sin(2*math.Pi*float64(clock+s-9*3600)/day)
	}
	return out
}

// creep is a drift that begins at one second and comes to rest: oil that cools after hot oil was drawn, a probe that warms.
func creep(seconds, from int, inches, time float64) []float64 {
	out := make([]float64, seconds)
	for s := max(0, from); s < seconds; s++ {
		out[s] = inches * (1 - math.Exp(-float64(s-from)/time))
	}
	return out
}

// spike is a false echo for so many seconds.
func spike(from, seconds int, to float64) fault {
	return fault{from: from, to: from + seconds, value: func(int, float64) float64 { return to }}
}

// stuck holds the first reading.
func stuck(from, to int) fault {
	held := math.NaN()
	return fault{from: from, to: to, value: func(_ int, x float64) float64 {
		if math.IsNaN(held) {
			held = x
		}
		return held
	}}
}

// pulled is a probe in the hands of a technician: it wanders, hangs, drops to its end.
func pulled(l lot, from, to int, height float64) fault {
	x, target, until := height*l.Float64(), 0.0, 0
	return fault{from: from, to: to, value: func(s int, _ float64) float64 {
		if s >= until {
			target, until = pick(l, 0, height, height*l.Float64(), height*l.Float64()), s+l.whole(20, 400)
		}
		x += (target - x) / l.spread(3, 60)
		return max(0, x+0.3*l.NormFloat64())
	}}
}
