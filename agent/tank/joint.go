package tank

import "math"

const jointLead = 1200.0 // s by which a group's tank may follow the one that is drawn from

// jointly gives a group's tank the start of the draw that pulled it down through the
// equaliser.
func (r *run) jointly(i int, v *vessel, d *draw) {
	t := &r.site.tanks[i]
	start := d.start
	for j, w := range r.st.tanks {
		o := &r.site.tanks[j]
		if j == i || o.Group != t.Group {
			continue
		}
		if w.lastEnd > d.start {
			start = math.Min(start, w.lastStart)
		}
		if !w.hot {
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
		v.startAt(t, d, start)
	}
	if r.alone(i, *d) {
		s := line{d.end, v.rested(t, d, room{d.start, math.Inf(1)}).or(line{d.end, d.close.v, 0}, d.end, v.grain()).v, d.after}
		d.end = cross(d.tail, s, d.end-watchBack, d.end+watchBack)
		d.close = v.rested(t, d, room{d.start, math.Inf(1)}).or(s, d.end, v.grain())
	}
}

// startAt moves the start of a draw to an instant that is known better.
func (v *vessel) startAt(t *Tank, d *draw, at float64) {
	b := between(v.buf, math.Max(v.done, at-restLong), at)
	r := v.rest(t, *d)
	r.at, r.back, r.b = at, true, b
	d.open = r.level(d.before).or(line{d.start, d.open.v, d.before}, at, v.grain())
	d.start = at
}

// endAt moves the end of a draw to an instant that is known better.
func (v *vessel) endAt(t *Tank, d *draw, at float64) {
	b := between(v.buf, math.Max(at, d.end+settleShort), at+pauseSure) // what comes later may be the next truck
	r := v.rest(t, *d)
	r.at, r.b = at, b
	d.close = r.level(d.after).or(line{d.end, d.close.v, d.after}, at, v.grain())
	d.end = at
}
