package tank

import "math"

const jointLead = 1200.0 // s by which a group's tank may follow the one that is drawn from

// startJointly gives a group's tank the start of the draw that pulled it down through the
// equaliser.
func (s siteTanks) startJointly(i int, ts *tankState, d *draw) {
	t := &s.site.tanks[i]
	start := d.start
	for j, other := range s.st.tanks {
		o := &s.site.tanks[j]
		if j == i || o.Group != t.Group {
			continue
		}
		if other.lastDrawEnd > d.start {
			start = math.Min(start, other.lastDrawStart)
		}
		if !other.drawing {
			continue
		}
		ds, _ := other.draws(o, s.site.speed, s.st.now*s.site.speed)
		for _, x := range ds {
			if x.end > d.start {
				start = math.Min(start, x.start)
			}
		}
	}
	if start < d.start && start > d.start-jointLead {
		ts.moveStart(t, d, start)
	}
	if s.fellAlone(i, *d) {
		after := line{d.end, ts.restedGauge(t, d, bounds{d.start, math.Inf(1)}).orLine(line{d.end, d.closing.level, 0}, d.end, ts.noise.perSample()).level, d.inflowAfter}
		d.end = crossing(d.endLine, after, d.end-watchBack, d.end+watchBack)
		d.closing = ts.restedGauge(t, d, bounds{d.start, math.Inf(1)}).orLine(after, d.end, ts.noise.perSample())
	}
}

// moveStart moves the start of a draw to an instant that is known better.
func (ts *tankState) moveStart(t *Tank, d *draw, at float64) {
	b := between(ts.levels.recent, math.Max(ts.decidedTo, at-restLong), at)
	r := ts.resting(t, *d)
	r.at, r.before, r.samples = at, true, b
	d.opening = r.estimate(d.inflowBefore).orLine(line{d.start, d.opening.level, d.inflowBefore}, at, ts.noise.perSample())
	d.start = at
}

// moveEnd moves the end of a draw to an instant that is known better.
func (ts *tankState) moveEnd(t *Tank, d *draw, at float64) {
	b := between(ts.levels.recent, math.Max(at, d.end+settleShort), at+pauseSure) // what comes later may be the next truck
	r := ts.resting(t, *d)
	r.at, r.samples = at, b
	d.closing = r.estimate(d.inflowAfter).orLine(line{d.end, d.closing.level, d.inflowAfter}, at, ts.noise.perSample())
	d.end = at
}
