package tank

import "math"

const (
	jointLead = 1200.0 // s by which a group's tank may follow the one that is drawn from
	valveFar  = 1800.0 // s between a contact and the flow that it is about
)

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
	b := between(v.buf, math.Max(at, d.end+settleShort), at+restLong)
	r := v.rest(t, *d)
	r.at, r.b = at, b
	d.close = r.level(d.after).or(line{d.end, d.close.v, d.after}, at, v.grain())
	d.end = at
}

// byValve gives a draw the instants at which the load valve was opened and closed.
func (v *vessel) byValve(t *Tank, d *draw) {
	from, to, ok := v.valve(t, *d)
	if !ok {
		return
	}
	if from <= d.start+120 && d.start-from < valveFar {
		v.startAt(t, d, math.Min(from, d.end))
	}
	if t.Group == "" && to >= d.end-120 && to-d.end < valveFar {
		v.endAt(t, d, math.Max(to, d.start))
	}
}
