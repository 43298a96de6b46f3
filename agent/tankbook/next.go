package tankbook

import (
	"math"
	"time"

	"gauger/agent/tank"
	"gauger/agent/tank/stats"
)

// Next lets the book hear what the detector made of an input: st is the state after it, out what
// it decided. A site whose speed is not 1 has no book.
func (b Book) Next(s tank.Site, rules Rules, st tank.State, in tank.Input, out []tank.Outcome) (Book, []Outcome) {
	if s.Speed() != 1 {
		return b, nil // a demonstration's days are no production days
	}
	w := &bookkeeper{site: s, rules: rules, st: st, b: b}
	from, to := in.Tank, in.Tank+1
	if in.Kind == tank.Tick {
		from, to = 0, s.Len()
	}
	for i := max(0, from); i < min(to, s.Len()); i++ {
		if c, ok := s.Latest(st, i); ok && (i >= len(b.pages) || b.pages[i] == nil || c.Seconds > b.pages[i].last.t) {
			w.addLevel(i, c)
		}
	}
	for _, o := range out {
		w.addOutcome(o)
	}
	for i := max(0, from); i < min(to, s.Len()); i++ {
		w.closeWhenDue(i)
	}
	return w.b, w.outcomes
}

// Metered takes a reading of a tank's production meter: a total in barrels that may roll over or
// be reset.
func (b Book) Metered(s tank.Site, i int, at time.Time, total float64) Book {
	if i < 0 || i >= s.Len() || !stats.Finite(total) {
		return b
	}
	w := &bookkeeper{site: s, b: b}
	p := w.writable(i)
	p.meter.add(tank.UnixSeconds(at), total)
	return w.b
}

// Losing says since when oil is missing from a tank, as long as it goes on; zero: none is.
func (b Book) Losing(i int) time.Time {
	if i >= len(b.pages) || b.pages[i] == nil || !b.pages[i].lossOpen {
		return time.Time{}
	}
	return unix(b.pages[i].lossSince)
}

// HasReported says that the book has reported a loss that the detector reports: the same one, unless it has grown.
func (b Book) HasReported(i int, e tank.Event) bool {
	if !e.Slow || i < 0 || i >= len(b.pages) || b.pages[i] == nil {
		return false
	}
	days := math.Max(e.End.Sub(e.Start).Hours()/24, 0.01)
	return e.Bbl/days < lossGrown*b.pages[i].reportedLossRate
}

// Arranged is the book with its tanks in other places: from has, for each place, the one that
// its tank had before, or -1.
func (b Book) Arranged(from []int) Book {
	pages := make([]*tankPage, len(from))
	for i, k := range from {
		if k >= 0 && k < len(b.pages) {
			pages[i] = b.pages[k].rearranged(from)
		}
	}
	return Book{pages}
}

// SetupChanged is the book after a tank began to be measured in another way: by another table, offset
// or sensor. What its level does from the last reading to the next says nothing.
func (b Book) SetupChanged(i int) Book {
	if i >= len(b.pages) || b.pages[i] == nil || !b.pages[i].begun {
		return b
	}
	pages := append([]*tankPage(nil), b.pages...)
	p := *b.pages[i]
	p.endAtGaugeOff(&p.today.rest)
	p.n, p.inRest, p.moving = 0, 0, false
	p.today.steppedAt = p.last.t + p.clockOffset
	p.today.remark("how the tank is measured was changed: the figures of this day are doubtful")
	pages[i] = &p
	return Book{pages}
}

// MeterChanged is the book after another meter, or the same one by other words, began to count a tank's production: what it
// shows first is where it begins.
func (b Book) MeterChanged(i int) Book {
	b = b.SetupChanged(i)
	if i < len(b.pages) && b.pages[i] != nil && b.pages[i].meter.known {
		p := *b.pages[i]
		p.meter.at = nextCountBegins
		pages := append([]*tankPage(nil), b.pages...)
		pages[i] = &p
		b.pages = pages
	}
	return b
}

// rearranged is a page whose tank's oil seeps into one in another place.
func (p *tankPage) rearranged(from []int) *tankPage {
	if p == nil || p.slowTransferBbl == 0 {
		return p
	}
	n := *p
	n.slowTransferTo = -1
	for i, k := range from {
		if k == p.slowTransferTo {
			n.slowTransferTo = i
		}
	}
	return &n
}

// addLevel takes one level.
func (w *bookkeeper) addLevel(i int, c tank.CleanLevel) {
	p, t := w.writable(i), w.site.Tank(i)
	bbl, _ := t.Table.Extrapolated(c.In)
	e := stockAt{t: c.Seconds, stock: bbl, meter: p.meter.sum, level: c.In, net: bbl}
	wall := tank.UnixSeconds(c.At)
	metered := w.metered(i, p)
	if metered {
		e.net = bbl - e.meter
	}
	if !p.begun {
		p.begun, p.today = true, w.dayAt(wall)
	}
	p.clockOffset = wall - c.Seconds
	p.keepNearGaugeOff(e)
	if wall > p.today.to+gaugeOffNear || wall > p.today.to && e.t-p.last.t > gaugeOffNear || wall < p.today.from-gaugeOffNear {
		w.endDay(i, p, e)
	}
	if p.last.t > 0 && e.t-p.last.t > silentWorth {
		p.today.remark("no readings " + w.clockSpan(p.last.t+p.clockOffset, wall))
	}
	if m := p.add(&p.today.rest, e, c.Sigma*t.Table.PerInch(c.In), metered); m != nil {
		if m := (movement{m.from + p.clockOffset, m.to + p.clockOffset, m.bbl}); !m.overlaps(p.lastExplained) {
			p.today.addUnexplained(m)
		}
	}
	p.last = e
	w.addSlowTransfer(i, p, wall)
	p.keepCount(metered)
}

// keepNearGaugeOff keeps the levels about the gauge-off.
func (p *tankPage) keepNearGaugeOff(e stockAt) {
	wall := e.t + p.clockOffset
	switch {
	case math.Abs(wall-p.today.to) <= gaugeOffNear:
		if len(p.nearGaugeOff) == 0 && p.last.t > 0 {
			p.nearGaugeOff = []stockAt{p.last}
		}
		if len(p.nearGaugeOff) < nearMost {
			p.nearGaugeOff = append(p.nearGaugeOff[:len(p.nearGaugeOff):len(p.nearGaugeOff)], e)
		}
	case wall < p.today.to-gaugeOffNear:
		p.nearGaugeOff = nil
	}
}
