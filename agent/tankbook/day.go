package tankbook

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/agent/tank/stats"
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

// NextGaugeOff is the first one after a time.
func (r Rules) NextGaugeOff(t time.Time) time.Time {
	_, to := r.gaugeOff(t)
	return to
}

// dayAt opens the day that holds a time, unix s.
func (w *bookkeeper) dayAt(wall float64) openDay {
	from, to := w.rules.gaugeOff(unix(wall))
	return openDay{from: tank.UnixSeconds(from), to: tank.UnixSeconds(to)}
}

// endDay ends the day that is open; e is the first level that belongs to the next.
func (w *bookkeeper) endDay(i int, p *tankPage, e stockAt) {
	wall := e.t + p.clockOffset
	if wall < p.today.from { // the clock was set back: what is written belongs to no day
		p.today = w.dayAt(wall)
		p.today.remark("the clock was set back")
		return
	}
	p.endAtGaugeOff(&p.today.rest)
	if p.today.closing, p.today.hasClosing = p.gaugeOffStock(p.today.to, e); w.site.StandsSince(w.st, i) > 0 {
		p.today.hasClosing = false
	}
	next := w.dayAt(wall)
	if next.from == p.today.to {
		next.opening, next.hasOpening = p.today.closing, p.today.hasClosing
	}
	var mine []movement
	for _, m := range p.today.unexplained {
		if m.to > p.today.to {
			next.unexplained = append(next.unexplained, m)
			continue
		}
		mine = append(mine, m)
	}
	p.today.unexplained = mine
	if s := p.today.steppedAt; s != 0 && p.today.to-s < liftLong {
		next.steppedAt, next.stepBooked = s, p.today.stepBooked
	}
	if p.hasYesterday {
		w.closeDay(i, p)
	}
	p.yesterday, p.hasYesterday, p.today, p.nearGaugeOff = p.today, true, next, nil
}

// gaugeOffStock is the stock at a gauge-off: the middle of the levels about it, or what lies between
// the nearest on either side; false when nobody knows.
func (p *tankPage) gaugeOffStock(at float64, e stockAt) (stockAt, bool) {
	figures := func(by func(of func(stockAt) float64) float64) (stockAt, bool) {
		return stockAt{t: at - p.clockOffset, stock: by(func(x stockAt) float64 { return x.stock }),
			meter: by(func(x stockAt) float64 { return x.meter }), level: by(func(x stockAt) float64 { return x.level })}, true
	}
	near := slices.DeleteFunc(slices.Clone(p.nearGaugeOff), func(x stockAt) bool { return math.Abs(x.t+p.clockOffset-at) > gaugeOffNear })
	if n := len(near); n >= 5 && near[0].t+p.clockOffset < at && near[n-1].t+p.clockOffset > at {
		return figures(func(of func(stockAt) float64) float64 {
			v := make([]float64, n)
			for k, x := range near {
				v[k] = of(x)
			}
			return stats.Median(v)
		})
	}
	all := append(append([]stockAt{p.last}, p.nearGaugeOff...), e)
	sort.SliceStable(all, func(a, b int) bool { return all[a].t < all[b].t })
	for k := 1; k < len(all); k++ {
		a, b := all[k-1], all[k]
		if a.t <= 0 || a.t+p.clockOffset > at || b.t+p.clockOffset < at || b.t == a.t || b.t-a.t > stockApart {
			continue
		}
		share := (at - p.clockOffset - a.t) / (b.t - a.t)
		return figures(func(of func(stockAt) float64) float64 { return of(a) + share*(of(b)-of(a)) })
	}
	return stockAt{}, false
}

// addOutcome books what the detector decided.
func (w *bookkeeper) addOutcome(o tank.Outcome) {
	switch {
	case o.Load != nil:
		w.addRun(o.Load)
	case o.Event != nil:
		w.addEvent(o.Event)
	case o.Verdict != nil:
		w.addDraw(o.Verdict)
	case o.Correction != nil && o.Correction.BackBbl > 0:
		w.addReturn(o.Correction)
	}
}

// addRun books a load whole on the day of its closing. What had left at a gauge-off in its middle
// is counted as if it still were in the tank.
func (w *bookkeeper) addRun(l *tank.Load) {
	i, ok := w.tankIndex(l.Tank)
	if !ok {
		return
	}
	p, t := w.writable(i), w.site.Tank(i)
	start, end := tank.UnixSeconds(l.Start), tank.UnixSeconds(l.End)
	r := Run{Start: l.Start, End: l.End, GaugeBbl: l.GaugeBbl, Inflow: l.InflowBbl}
	if w.metered(i, p) {
		r.Inflow = p.meterAt(end-p.clockOffset) - p.meterAt(start-p.clockOffset)
	}
	r.Bbl = r.GaugeBbl + r.Inflow
	s := p.dayOf(end)
	s.runs = newest(s.runs, r, runsMost)
	s.variance += stats.Square(l.ErrorBbl / 2)
	m := movement{from: start, to: end}
	if w.hung.overlaps(m) {
		m.to = math.Max(end, w.hung.to) // what it fell by was shown when the value moved again
	}
	p.explained(m, anyChange)
	if gaugeOff := p.yesterday.to; p.hasYesterday && p.yesterday.hasClosing && start < gaugeOff && end > gaugeOff {
		opening, _ := t.Table.Extrapolated(l.Open)
		left := opening + r.Inflow*(gaugeOff-start)/(end-start) - p.yesterday.closing.stock
		p.yesterday.closingInRun += left
		p.yesterday.variance += stats.Square(l.ErrorBbl/2) + stats.Square(tank.DumpBbl)/3
		p.today.openingInRun += left
		text := fmt.Sprintf("a run was under way at gauge-off: %.1f bbl of it had left, and count as in the tank; it is booked whole on the day of its closing", left)
		p.yesterday.remark(text)
		p.today.remark(text)
	}
}

// addEvent books a movement that is no run, and what a reader of the day should know.
func (w *bookkeeper) addEvent(e *tank.Event) {
	i, ok := w.tankIndex(e.Tank)
	if !ok {
		return
	}
	p := w.writable(i)
	start, end := tank.UnixSeconds(e.Start), tank.UnixSeconds(e.End)
	m, s, text, flow := movement{start, end, e.Bbl}, p.dayOf(end), "", true
	switch e.Rule {
	case eventrules.WaterDraw:
		for _, x := range p.byDay(m, moveShare) {
			x.day.water += x.bbl
		}
	case eventrules.Transfer:
		if w.site.SlowLoss(w.st, i).Moved {
			p.slowTransferBbl, p.slowTransferTo, s.slowTransfer, flow = e.Bbl, -1, true, false
			if j, ok := w.tankIndex(e.To); ok {
				p.slowTransferTo = j
			}
		}
		w.addTransfer(i, p, m, e.To)
	case eventrules.Recirculation:
		text = "oil was rolled: " + e.Note
		m.to = p.newestAt() // by when it came back
	case eventrules.UnexplainedLoss:
		s.lossReported = true
		if !e.Slow { // the rests show a slow one
			s.lossBbl += e.Bbl
			text = "RESIDUAL has an unexplained loss: " + e.Note
		}
		if e.Slow && w.site.SlowLoss(w.st, i).Open && !p.lossOpen { // it goes on
			p.lossOpen, p.lossSince = true, start
		}
		p.today.lossReported = p.today.lossReported || p.hasYesterday && end > p.yesterday.to-closeAfter
	case eventrules.Step:
		s.steppedAt, s.stepBooked, flow = end, s.unseenUntil(start), false
		text = "the level stepped without flow: the figures of this day are doubtful"
	case eventrules.Stuck:
		if flow = false; w.site.StandsSince(w.st, i) == 0 {
			w.hung, text = m, "the level stood still "+w.clockSpan(start, end)+": what came and left meanwhile is not seen"
		}
	case eventrules.ClockStep:
		text, flow = "the clock was set", false
	default:
		flow = false
	}
	if text != "" {
		s.remark(text)
	}
	switch {
	case flow && e.Slow:
		p.explained(m, noChange)
	case flow:
		p.explained(m, anyChange)
	}
}

// closeWhenDue closes the day before once nothing can change it any more.
func (w *bookkeeper) closeWhenDue(i int) {
	p := w.b.page(i)
	if p != nil && p.hasYesterday && w.settled(i, math.Max(w.site.Now(w.st), p.last.t)+p.clockOffset-p.yesterday.to) {
		w.closeDay(i, w.writable(i))
	}
}

// settled says that so many seconds after a gauge-off nothing can change the tank's day any more.
func (w *bookkeeper) settled(i int, since float64) bool {
	if since < closeAfter || w.st.Loading(i) && since < closeWithRun {
		return false
	}
	for k := range w.site.Len() { // what is drawn there may have come here
		if w.st.Loading(k) && since < closeWithOthers {
			return false
		}
	}
	return true
}

// Unclosed are a tank's days that are over by the clock and not closed, since no level has come after their gauge-off: what is known of
// them so far. The book itself waits on, for levels of that time may come late.
func (b Book) Unclosed(s tank.Site, rules Rules, st tank.State, i int, now time.Time) (days []Day) {
	if b.page(i) == nil {
		return nil
	}
	w := &bookkeeper{site: s, rules: rules, st: st, b: b}
	p := w.writable(i)
	for range 2 {
		if y := &p.yesterday; p.hasYesterday && w.settled(i, tank.UnixSeconds(now)-y.to-gaugeOffNear) { // the book itself comes first
			y.runs = append([]Run(nil), y.runs...)
			y.remark("the newest reading is of " + w.clockTime(p.newestAt()) + ": the day is not closed before others come")
			d := w.closedDay(i, p)
			d.tidy()
			days = append(days, d)
		}
		p.endAtGaugeOff(&p.today.rest)
		p.yesterday, p.hasYesterday, p.today = p.today, true, openDay{}
	}
	return days
}

func (w *bookkeeper) closeDay(i int, p *tankPage) {
	d := w.closedDay(i, p)
	out := Outcome{Day: &d, Loss: cmp.Or(w.findLoss(i, p, &d), p.unloaded)}
	d.tidy()
	w.outcomes = append(w.outcomes, out)
	p.yesterday, p.hasYesterday = openDay{}, false
}

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
			w.addLevel(i, c, out)
		}
	}
	for _, o := range out {
		w.addOutcome(o)
	}
	for i := max(0, from); i < min(to, s.Len()); i++ {
		w.evenFalls(i)
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

// Open is the first day of a tank that is not closed; whole says that the stock at its beginning is known. Both are zero where no level of
// it has come.
func (b Book) Open(i int) (from, to time.Time, whole bool) {
	p := b.page(i)
	if p == nil {
		return from, to, false
	}
	day := p.today
	if p.hasYesterday {
		day = p.yesterday
	}
	return unix(day.from), unix(day.to), day.hasOpening
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

// rearranged is a page whose tank's oil seeps into one in another place.
func (p *tankPage) rearranged(from []int) *tankPage {
	if p == nil || p.slowTransferBbl == 0 {
		return p
	}
	n := *p
	n.slowTransferTo = slices.Index(from, p.slowTransferTo)
	return &n
}

func (w *bookkeeper) addLevel(i int, c tank.CleanLevel, out []tank.Outcome) {
	p, t := w.writable(i), w.site.Tank(i)
	if c.In == p.last.level && c.Seconds-p.last.t < c.Held { // a gateway's repeat: three that are one reading would break a rest
		return
	}
	bbl, _ := t.Table.Extrapolated(c.In)
	wall := tank.UnixSeconds(c.At)
	e := stockAt{t: c.Seconds, stock: bbl, meter: p.countAt(wall), level: c.In, net: bbl}
	metered := w.metered(i, p)
	if metered {
		e.net = bbl - e.meter
	}
	if !p.begun {
		p.begun, p.today = true, w.dayAt(wall)
	}
	p.clockOffset = wall - c.Seconds
	stands := w.site.StandsSince(w.st, i)
	if stands == 0 {
		w.takeBackHung(p, t.ID, wall, out)
		p.keepNearGaugeOff(e)
	}
	if wall > p.today.to+gaugeOffNear || wall > p.today.to && e.t-p.last.t > gaugeOffNear || wall < p.today.from-gaugeOffNear {
		w.endDay(i, p, e)
	}
	if stands > 0 { // no level, nor a stock
		p.stood = true
		p.today.remark("the sensor stands still since " + w.clockTime(stands+p.clockOffset) + ": what comes and leaves until it moves is not seen")
		return
	}
	if p.last.t > 0 && e.t-p.last.t > silentWorth && !p.stood {
		p.today.remark("no readings " + w.clockSpan(p.newestAt(), wall))
	}
	w.addUnseen(i, p, e, c.Sigma, metered)
	if m := p.add(&p.today.rest, e, c.Sigma*t.Table.PerInch(c.In), metered); m != nil {
		if m := (movement{m.from + p.clockOffset, m.to + p.clockOffset, m.bbl}); !m.overlaps(p.lastExplained) && !w.steppedUp(i, p, m, metered) {
			p.today.addUnexplained(m)
		}
	}
	p.last, p.stood = e, false
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
			p.nearGaugeOff = append(slices.Clip(p.nearGaugeOff), e)
		}
	case wall < p.today.to-gaugeOffNear:
		p.nearGaugeOff = nil
	}
}
