package tankbook

import (
	"fmt"
	"math"
	"sort"
	"time"

	"gauger/agent/tank"
	"gauger/agent/tank/stats"
	"gauger/eventrules"
)

// gaugeOff is the begin and the end of the production day that holds t.
func (r Rules) gaugeOff(t time.Time) (from, to time.Time) {
	y, m, d := t.In(r.Zone).Date()
	at := func(d int) time.Time {
		return time.Date(y, m, d, int(r.GaugeOff/time.Hour), int(r.GaugeOff%time.Hour/time.Minute), 0, 0, r.Zone)
	}
	if t.Before(at(d)) {
		d--
	}
	return at(d), at(d + 1)
}

// sheetAt opens the day that holds a time, unix s.
func (w *bookkeeper) sheetAt(wall float64) sheet {
	from, to := w.rules.gaugeOff(unix(wall))
	return sheet{from: tank.UnixSeconds(from), to: tank.UnixSeconds(to)}
}

// turn ends the day that is open; e is the first level that belongs to the next.
func (w *bookkeeper) turn(i int, p *page, e entry) {
	wall := e.t + p.off
	if wall < p.now.from { // the clock was set back: what is written belongs to no day
		p.now = w.sheetAt(wall)
		p.now.remark("the clock was set back")
		return
	}
	p.cut(&p.now.still)
	p.now.end, p.now.shut = p.stockAt(p.now.to, e)
	next := w.sheetAt(wall)
	if next.from == p.now.to {
		next.open, next.opened = p.now.end, p.now.shut
	}
	var mine []shift
	for _, m := range p.now.moves {
		if m.to > p.now.to {
			next.moves = append(next.moves, m)
			continue
		}
		mine = append(mine, m)
	}
	p.now.moves = mine
	if s := p.now.upset; s != 0 && p.now.to-s < liftLong {
		next.upset = s
	}
	if p.isDue {
		w.shut(i, p)
	}
	p.due, p.isDue, p.now, p.edge = p.now, true, next, nil
}

// stockAt is the stock at a gauge-off: the middle of the levels about it, or what lies between
// the nearest on either side; false when nobody knows.
func (p *page) stockAt(at float64, e entry) (entry, bool) {
	var near []entry
	for _, x := range p.edge {
		if math.Abs(x.t+p.off-at) <= bookEdge {
			near = append(near, x)
		}
	}
	if n := len(near); n >= 5 && near[0].t+p.off < at && near[n-1].t+p.off > at {
		mid := func(of func(entry) float64) float64 {
			v := make([]float64, n)
			for k, x := range near {
				v[k] = of(x)
			}
			return stats.Median(v)
		}
		return entry{t: at - p.off, stock: mid(func(x entry) float64 { return x.stock }),
			meter: mid(func(x entry) float64 { return x.meter }), level: mid(func(x entry) float64 { return x.level })}, true
	}
	all := append(append([]entry{p.last}, p.edge...), e)
	sort.SliceStable(all, func(a, b int) bool { return all[a].t < all[b].t })
	for k := 1; k < len(all); k++ {
		a, b := all[k-1], all[k]
		if a.t <= 0 || a.t+p.off > at || b.t+p.off < at || b.t == a.t || b.t-a.t > bookNear {
			continue
		}
		share := (at - p.off - a.t) / (b.t - a.t)
		between := func(x, y float64) float64 { return x + share*(y-x) }
		return entry{t: at - p.off, stock: between(a.stock, b.stock), meter: between(a.meter, b.meter), level: between(a.level, b.level)}, true
	}
	return entry{}, false
}

// outcome books what the detector decided.
func (w *bookkeeper) outcome(o tank.Outcome) {
	switch {
	case o.Load != nil:
		w.run(o.Load)
	case o.Event != nil:
		w.event(o.Event)
	}
}

// index is a tank's place by its id; false before its book was begun.
func (w *bookkeeper) index(id string) (int, bool) {
	for i := range w.site.Len() {
		if w.site.Tank(i).ID == id {
			return i, w.page(i) != nil && w.page(i).seen
		}
	}
	return 0, false
}

// sheet is the day of a page that holds an instant.
func (p *page) sheet(at float64) *sheet {
	if p.isDue && at <= p.due.to {
		return &p.due
	}
	return &p.now
}

// explain takes the movements of a time off both days, also one that is not over yet.
func (p *page) explain(from, to float64) {
	p.clear = shift{from: from - bookEdge, to: to + 3*bookEdge}
	p.now.explained(p.clear)
	p.due.explained(p.clear)
}

// run books a load whole on the day of its closing. What had left at a gauge-off in its middle
// is counted as if it still were in the tank.
func (w *bookkeeper) run(l *tank.Load) {
	i, ok := w.index(l.Tank)
	if !ok {
		return
	}
	p, t := w.own(i), w.site.Tank(i)
	start, end := tank.UnixSeconds(l.Start), tank.UnixSeconds(l.End)
	r := Run{Start: l.Start, End: l.End, GaugeBbl: l.GaugeBbl, Inflow: l.InflowBbl}
	if w.metered(i, p) {
		r.Inflow = p.counted(end-p.off) - p.counted(start-p.off)
	}
	r.Bbl = r.GaugeBbl + r.Inflow
	s := p.sheet(end)
	s.runs = append(s.runs[max(0, len(s.runs)-runsMost+1):len(s.runs):len(s.runs)], r)
	s.doubt += stats.Square(l.ErrorBbl / 2)
	p.explain(start, end)
	if gaugeOff := p.due.to; p.isDue && p.due.shut && start < gaugeOff && end > gaugeOff {
		opening, _ := t.Table.Extrapolated(l.Open)
		left := opening + r.Inflow*(gaugeOff-start)/(end-start) - p.due.end.stock
		p.due.endRun += left
		p.due.doubt += stats.Square(l.ErrorBbl/2) + stats.Square(tank.DumpBbl)/3
		p.now.openRun += left
		text := fmt.Sprintf("a run was under way at gauge-off: %.1f bbl of it had left, and count as in the tank; it is booked whole on the day of its closing", left)
		p.due.remark(text)
		p.now.remark(text)
	}
}

// event books a movement that is no run, and what a reader of the day should know.
func (w *bookkeeper) event(e *tank.Event) {
	i, ok := w.index(e.Tank)
	if !ok {
		return
	}
	p := w.own(i)
	start, end := tank.UnixSeconds(e.Start), tank.UnixSeconds(e.End)
	s, text, flow := p.sheet(end), "", true
	switch e.Rule {
	case eventrules.WaterDraw:
		p.book(shift{start, end, e.Bbl}, func(s *sheet, part shift) { s.water += part.bbl })
	case eventrules.Transfer:
		if w.site.SlowLoss(w.st, i).Moved {
			p.seeped, p.seepsTo, s.seeps, flow = e.Bbl, -1, true, false
			if j, ok := w.index(e.To); ok {
				p.seepsTo = j
			}
		}
		w.transfer(i, p, shift{start, end, e.Bbl}, e.To)
	case eventrules.Recirculation:
		text = "oil was rolled: " + e.Note
	case eventrules.UnexplainedLoss:
		s.knows = true
		if !e.Slow { // the rests show a slow one
			s.told += e.Bbl
		}
		if e.Slow && w.site.SlowLoss(w.st, i).Open && !p.losing { // it goes on
			p.losing, p.since = true, start
		}
		p.now.knows = p.now.knows || p.isDue && end > p.due.to-bookSettle
	case eventrules.Step:
		s.upset, flow = end, false
		text = "the level stepped without flow: the figures of this day are doubtful"
	case eventrules.Stuck:
		text, flow = "the level stood still "+w.clocks(start, end), false
	case eventrules.ClockStep:
		text, flow = "the clock was set", false
	default:
		flow = false
	}
	if text != "" {
		s.remark(text)
	}
	if flow {
		p.explain(start, end)
	}
}

// Arranged is the book with its tanks in other places: from has, for each place, the one that
// its tank had before, or -1.
func (b Book) Arranged(from []int) Book {
	pages := make([]*page, len(from))
	for i, k := range from {
		if k >= 0 && k < len(b.pages) {
			pages[i] = b.pages[k].arranged(from)
		}
	}
	return Book{pages}
}

// arranged is a page whose tank's oil seeps into one in another place.
func (p *page) arranged(from []int) *page {
	if p == nil || p.seeped == 0 {
		return p
	}
	n := *p
	n.seepsTo = -1
	for i, k := range from {
		if k == p.seepsTo {
			n.seepsTo = i
		}
	}
	return &n
}

// Refitted is the book after a tank began to be measured in another way: by another table, offset
// or sensor. What its level does from the last reading to the next says nothing.
func (b Book) Refitted(i int) Book {
	if i >= len(b.pages) || b.pages[i] == nil || !b.pages[i].seen {
		return b
	}
	pages := append([]*page(nil), b.pages...)
	p := *b.pages[i]
	p.cut(&p.now.still)
	p.n, p.in, p.moving = 0, 0, false
	p.now.upset = p.last.t + p.off
	p.now.remark("how the tank is measured was changed: the figures of this day are doubtful")
	pages[i] = &p
	return Book{pages}
}

// Remetered is the book after another meter, or the same one by other words, began to count a tank's production: what it
// shows first is where it begins.
func (b Book) Remetered(i int) Book {
	b = b.Refitted(i)
	if i < len(b.pages) && b.pages[i] != nil && b.pages[i].meter.known {
		p := *b.pages[i]
		p.meter.at = meterAnew
		pages := append([]*page(nil), b.pages...)
		pages[i] = &p
		b.pages = pages
	}
	return b
}

// settle closes the day before once nothing can change it any more.
func (w *bookkeeper) settle(i int) {
	p := w.page(i)
	if p == nil || !p.isDue {
		return
	}
	since := math.Max(w.site.Now(w.st), p.last.t) + p.off - p.due.to
	if since < bookSettle || w.st.Loading(i) && since < bookPatient {
		return
	}
	for k := range w.site.Len() { // what is drawn there may have come here
		if w.st.Loading(k) && since < bookOthers {
			return
		}
	}
	w.shut(i, w.own(i))
}

// shut closes the day that is due.
func (w *bookkeeper) shut(i int, p *page) {
	d := w.balance(i, p)
	out := Outcome{Day: &d, Loss: w.loss(i, p, &d)}
	d.tidy()
	w.said = append(w.said, out)
	p.due, p.isDue = sheet{}, false
}
