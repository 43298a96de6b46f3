package tank

import "math"

const (
	settleShort = 15.0  // s after the end before a sample counts at all
	vapourFade  = 150.0 // s in which the dip of a hydrostatic sensor fades by e
	vapourLong  = 900.0 // s of rest in which the dip is fitted
	vapourMost  = 4.0   // in
)

// settled is the closing level: the rest after the end carried back to it. Tanks of a
// group are gauged when the equaliser has done its work.
func (v *vessel) settled(t *Tank, d *draw, in room) gauge {
	if t.Group != "" {
		return v.levelled(t, d, in)
	}
	from := d.end + math.Max(settleShort, t.Loads.Settle.Seconds())
	b := between(v.buf, from, math.Min(in.hi, from+restLong))
	if len(b) == 0 { // nothing but what came right after
		b = between(v.buf, d.end+1, math.Min(in.hi, from+restLong))
	}
	if t.Sensor == "hydrostatic" && t.Loads.Settle == 0 {
		if g, ok := v.undipped(b, d.end, d.after); ok {
			return g
		}
	}
	return resting{at: d.end, b: b, sigma: v.grain(), slosh: d.slosh}.level(d.after)
}

// levelled is the level of a group's tank after the equaliser.
func (v *vessel) levelled(t *Tank, d *draw, in room) gauge {
	settle := t.Loads.GroupSettle.Seconds()
	b := between(v.buf, d.end+settle-120, math.Min(in.hi, d.end+settle+180))
	if len(b) == 0 {
		b = between(v.buf, d.end+1, math.Min(in.hi, d.end+settle))
		b = b[max(0, len(b)-3):]
	}
	if len(b) == 0 {
		return resting{at: d.end}.level(0)
	}
	n := float64(len(b))
	return gauge{v: median(values(b)), err: v.grain() / math.Sqrt(n), n: len(b), away: 0}
}

// undipped fits the rest after a truck as a level less a vacuum's dip that fades: a
// pressure sensor at the bottom feels the vapour space too.
func (v *vessel) undipped(b []sample, end, inflow float64) (gauge, bool) {
	b = b[:lower(b, end+vapourLong)]
	if len(b) < 8 || b[len(b)-1].t-b[0].t < 2*vapourFade {
		return gauge{}, false
	}
	var n, sx, sxx, sy, sxy float64
	for _, s := range b {
		x := -math.Exp(-(s.t - end) / vapourFade)
		y := float64(s.v) - inflow*(s.t-end)
		n, sx, sxx, sy, sxy = n+1, sx+x, sxx+x*x, sy+y, sxy+x*y
	}
	det := n*sxx - sx*sx
	if det < 1e-9 {
		return gauge{}, false
	}
	dip := clamp((n*sxy-sx*sy)/det, 0, vapourMost)
	g := gauge{v: (sy - dip*sx) / n, err: v.grain() * math.Sqrt(sxx/det), n: len(b), away: b[0].t - end}
	return g, true
}
