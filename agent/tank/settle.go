package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	settleShort = 15.0  // s after the end before a sample counts at all
	vapourFade  = 150.0 // s in which the dip of a hydrostatic sensor fades by e
	vapourLong  = 900.0 // s of rest in which the dip is fitted
	vapourMost  = 4.0   // in
	vapourUsual = 0.75  // in, give or take as much
)

// closingGauge is the closing level: the rest after the end carried back to it. Tanks of a
// group are gauged when the equaliser has done its work.
func (ts *tankState) closingGauge(t *Tank, d *draw, in bounds) gauge {
	if t.Group != "" {
		return ts.groupGauge(t, d, in)
	}
	return ts.restedGauge(t, d, in)
}

// restedGauge is the closing level of a tank that no equaliser moves.
func (ts *tankState) restedGauge(t *Tank, d *draw, in bounds) gauge {
	from := d.afterDraw(ts.levels.recent, d.end+math.Max(settleShort, t.Loads.Settle.Seconds()))
	b := between(ts.levels.recent, from, math.Min(in.hi, from+math.Max(restLong, 2.5*ts.interval.usual)))
	if len(b) == 0 { // nothing but what came right after, or long after
		b = between(ts.levels.recent, math.Min(d.end+1, from), in.hi)
		b = b[:searchTime(b, firstTime(b, 0)+restLong)]
	}
	r := ts.resting(t, *d)
	r.at, r.samples, r.slosh = d.end, b, d.slosh
	switch {
	case t.Sensor == "hydrostatic" && t.Loads.Settle == 0 && len(b) > 0 && b[0].t-d.end < vapourLong/2:
		return r.withoutDip(d.inflowAfter)
	case d.deadband > 0:
		return r.estimate(d.inflowAfter).withDeadband(between(ts.levels.recent, d.start, from), d.deadband, ts.noise.perSample())
	}
	return r.estimate(d.inflowAfter)
}

// groupGauge is the level of a group's tank after the equaliser.
func (ts *tankState) groupGauge(t *Tank, d *draw, in bounds) gauge {
	settle := t.Loads.GroupSettle.Seconds()
	b := between(ts.levels.recent, d.end+settle-120, math.Min(in.hi, d.end+settle+180))
	if len(b) == 0 {
		b = between(ts.levels.recent, d.end+1, math.Min(in.hi, d.end+settle))
		b = b[max(0, len(b)-3):]
	}
	if len(b) == 0 {
		return resting{at: d.end}.estimate(0)
	}
	n := float64(len(b))
	return gauge{level: stats.Median(values(b)), err: ts.noise.perSample() / math.Sqrt(n), samples: len(b), away: 0}
}

// withoutDip follows the rest after a truck back to its end, as a level that strays from an
// even rise less a vacuum's dip that fades: a pressure sensor at the bottom feels the vapour
// space too. It is Kalman's filter for the two; what few samples cannot tell is taken to be
// as usual.
func (r resting) withoutDip(inflow float64) gauge {
	b := r.samples[:searchTime(r.samples, r.at+vapourLong)]
	last := b[len(b)-1]
	level, at, dip := float64(last.v), last.t, vapourUsual
	ll, ld, dd := stats.Square(vapourMost), 0.0, stats.Square(vapourUsual) // variances, and what they share
	for i := len(b) - 1; i >= 0; i-- {
		s := b[i]
		level, ll, at = level-inflow*(at-s.t), ll+r.inflow.variance*(at-s.t), s.t
		fade := math.Exp(-(s.t - r.at) / vapourFade)
		off := float64(s.v) - (level - fade*dip)
		kl, kd := ll-fade*ld, ld-fade*dd
		all := kl - fade*kd + r.sampleVariance(s, 0, math.Inf(1))
		level, dip = level+off*kl/all, dip+off*kd/all
		ll, ld, dd = ll-kl*kl/all, ld-kl*kd/all, dd-kd*kd/all
	}
	g := gauge{level: level - inflow*(at-r.at), samples: len(b), away: at - r.at}
	if g.away > restFar {
		g.carried = g.away
	}
	g.err = math.Sqrt(ll + r.inflow.variance*math.Max(g.away, restBrink))
	return g
}

// withDeadband is a gauge of a sensor that reports by exception, for what it said while the level
// fell: at the end that was less than a deadband below the last report.
func (g gauge) withDeadband(falling []sample, dead, sigma float64) gauge {
	if dead == 0 || len(falling) == 0 {
		return g
	}
	mid, own := float64(falling[len(falling)-1].v)-dead/2, stats.Square(dead)/12+stats.Square(sigma)
	share := own / (own + stats.Square(g.err))
	g.level, g.err, g.carried = mid+share*(g.level-mid), math.Sqrt(share)*g.err, share*g.carried
	return g
}
