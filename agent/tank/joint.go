package tank

import "math"

const jointLead = 1200.0 // s by which a group's tank may follow the one that is drawn from

// startJointly gives a group's tank the start of the draw that pulled it down through the
// equaliser.
func (r *update) startJointly(i int, v *tankState, d *draw) {
	t := &r.site.tanks[i]
	start := d.start
	for j, w := range r.st.tanks {
		o := &r.site.tanks[j]
		if j == i || o.Group != t.Group {
			continue
		}
		if w.lastDrawEnd > d.start {
			start = math.Min(start, w.lastDrawStart)
		}
		if !w.drawing {
			continue
		}
		ds, _ := w.draws(o, r.site.speed, r.st.now*r.site.speed)
		for _, x := range ds {
			if x.end > d.start {
				start = math.Min(start, x.start)
			}
		}
	}
	if start < d.start && start > d.start-jointLead {
		v.moveStart(t, d, start)
	}
	if r.fellAlone(i, *d) {
		s := line{d.end, v.restedGauge(t, d, bounds{d.start, math.Inf(1)}).orLine(line{d.end, d.closing.level, 0}, d.end, v.sampleNoise()).level, d.inflowAfter}
		d.end = crossing(d.endLine, s, d.end-watchBack, d.end+watchBack)
		d.closing = v.restedGauge(t, d, bounds{d.start, math.Inf(1)}).orLine(s, d.end, v.sampleNoise())
	}
}

// moveStart moves the start of a draw to an instant that is known better.
func (v *tankState) moveStart(t *Tank, d *draw, at float64) {
	b := between(v.recent, math.Max(v.decidedTo, at-restLong), at)
	r := v.resting(t, *d)
	r.at, r.before, r.samples = at, true, b
	d.opening = r.estimate(d.inflowBefore).orLine(line{d.start, d.opening.level, d.inflowBefore}, at, v.sampleNoise())
	d.start = at
}

// moveEnd moves the end of a draw to an instant that is known better.
func (v *tankState) moveEnd(t *Tank, d *draw, at float64) {
	b := between(v.recent, math.Max(at, d.end+settleShort), at+pauseSure) // what comes later may be the next truck
	r := v.resting(t, *d)
	r.at, r.samples = at, b
	d.closing = r.estimate(d.inflowAfter).orLine(line{d.end, d.closing.level, d.inflowAfter}, at, v.sampleNoise())
	d.end = at
}
