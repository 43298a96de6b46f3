package tankbook

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/agent/tank/stats"
)

const (
	shareDoubt  = 0.25     // standard error of what a run took of a transfer that came in meanwhile, as a share of it
	shareMin    = 0.1      // of a transfer that a tank has to have received to have a part in it
	liftLong    = 8 * 3600 // s that foam may last
	liftTimes   = 3.0      // the usual rise, likewise
	runsOver    = 1200.0   // s of a slow transfer that are booked at a time
	riseBefore  = 30.0     // s before a transfer from which the rise of another tank counts
	riseAfter   = 150.0
	allRose     = 0.6  // share of a transfer that the others have to have risen by together, so that it is divided by their rises
	sameShare   = 0.1  // of a small draw by which what others rose by may differ from it
	leapShare   = 0.8  // of a rise that a single step of the level has to have
	unloadTimes = 2.0  // times the least load that came at once are somebody's
	roseFades   = 0.97 // what such a rise of the day before is worth
	unloadRate  = 2.5  // bbl/min; a faster rise is no production
	moveShare   = 0.05 // of a transfer or a water draw that may have flowed in or not: its standard error
)

// dayPart is what of a movement is of a day.
type dayPart struct {
	day *openDay
	movement
}

// byDay parts a movement that is known by its volume at the gauge-off, by time. share of the volume is its standard error; 0: it is known as
// well as the stock is.
func (p *tankPage) byDay(m movement, share float64) []dayPart {
	parts := []dayPart{{p.dayOf(m.to), m}}
	if at := p.yesterday.to; p.hasYesterday && m.from < at && m.to > at {
		before := m.bbl * (at - m.from) / (m.to - m.from)
		parts = []dayPart{{&p.yesterday, movement{m.from, at, before}}, {&p.today, movement{at, m.to, m.bbl - before}}}
	}
	for _, x := range parts {
		x.day.variance += stats.Square(share * x.bbl)
	}
	return parts
}

// addTransfer books oil that went from tank i to others of the site between two times, unix s. It is divided by what they rose; where that
// is too little, as of one that was drawn from as well, the named one got it all. What went to a tank of its group went to that group alone.
func (w *bookkeeper) addTransfer(i int, p *tankPage, m movement, name string) {
	parts := p.byDay(m, moveShare)
	for _, x := range parts {
		x.day.transferredOut += x.bbl
	}
	j, ok := w.tankIndex(name)
	rises, sum := w.rises(i, p.clockOffset, m, parts, ok && w.joined(i, j)), 0.0
	for _, r := range rises {
		sum += r.bbl
	}
	if sum < allRose*m.bbl {
		rises, sum = nil, 1
		if ok && j != i {
			named := rise{tank: j}
			for _, x := range parts {
				named.parts = append(named.parts, (x.to-x.from)/(m.to-m.from))
			}
			rises = []rise{named}
		}
	}
	for _, r := range rises {
		for k, x := range parts {
			if bbl := r.parts[k] / sum * m.bbl; bbl > 0 {
				w.addReceived(r.tank, movement{x.from, x.to, bbl})
			}
		}
	}
}

func (w *bookkeeper) addReceived(j int, m movement) {
	p := w.writable(j)
	for _, x := range p.byDay(m, moveShare) {
		x.day.transferredIn = withMove(x.day.transferredIn, x.movement)
	}
	p.explained(m, func(x namedPart) bool { return x.bbl < 0 && m.bbl >= unseenShare*-x.bbl })
}

// addDraw books what left in a draw that is no run and that nothing else is told of: a small one, or what the meter took that sells a
// tank's oil. What flowed in meanwhile left with it, as in a run. Where other tanks rose by the same barrels in the same time, it
// went there. Beside a production meter the rests have the inflow by count already; in a group a small draw is the equaliser's; and
// what nobody saw leave is named as a change over a gap.
func (w *bookkeeper) addDraw(v *tank.Verdict) {
	i, ok := w.tankIndex(v.Tank)
	t := w.site.Tank(i)
	if small := v.What == tank.TooSmall; !ok || v.Unseen != nil || !small && v.What != tank.Metered || small && t.Group != "" {
		return
	}
	p := w.writable(i)
	m := movement{tank.UnixSeconds(v.Start), tank.UnixSeconds(v.End), v.Bbl}
	if v.Returned { // out and back: neither left nor produced
		p.dayOf(m.to).remark(fmt.Sprintf("oil was rolled: %.1f bbl went out of it from %s, and came back", v.Bbl, w.clockSpan(m.from, m.to)))
		p.explained(movement{m.from, p.newestAt(), 0}, anyChange)
		return
	}
	open, _ := t.Table.Extrapolated(v.Open)
	closed, _ := t.Table.Extrapolated(v.Close)
	inflow := math.Max(0, m.bbl-(open-closed))
	if usual, ok := p.steadyInflow(w.rules.LossLimit); ok {
		inflow = usual * (m.to - m.from) / day
	}
	m.bbl = open - closed + inflow
	switch {
	case w.othersGot(i, p, m):
		w.addTransfer(i, p, m, "")
	case w.metered(i, p):
		return
	default:
		for _, x := range p.byDay(m, 0) {
			x.day.other += x.bbl
		}
		p.dayOf(m.to).variance += stats.Square(shareDoubt * inflow)
	}
	p.explained(m, anyChange)
}

// addReturn books oil that a load gave back: it was in the tank before, and the well made none of it. What came in meanwhile from other
// tanks is booked already.
func (w *bookkeeper) addReturn(c *tank.Correction) {
	i, ok := w.tankIndex(c.Tank)
	if !ok || w.metered(i, w.b.page(i)) {
		return // beside a meter the rests have it
	}
	p, m := w.writable(i), movement{tank.UnixSeconds(c.BackFrom), tank.UnixSeconds(c.BackTo), c.BackBbl}
	if m.bbl -= p.receivedIn(m); m.bbl <= fallLeast {
		return
	}
	text := fmt.Sprintf("%.1f bbl of the load of %s came back %s: no production, and in OTHER", m.bbl, w.clockTime(tank.UnixSeconds(c.Start)), w.clockSpan(m.from, m.to))
	for _, x := range p.byDay(m, moveShare) {
		x.day.other -= x.bbl
		x.day.remark(text)
	}
	p.explained(m, anyChange)
}

// othersGot says that other tanks rose by what left tank i, in the same time, and by more than any well makes of itself.
func (w *bookkeeper) othersGot(i int, own *tankPage, m movement) bool {
	rose, alone := 0.0, 0.0
	for _, r := range w.rises(i, own.clockOffset, m, []dayPart{{movement: m}}, false) {
		usual, most := w.site.Inflow(w.st, r.tank, m.from-own.clockOffset-riseBefore, m.to-own.clockOffset+riseAfter)
		rose, alone = rose+r.bbl, alone+most-usual
	}
	return rose > alone && math.Abs(rose-m.bbl) <= math.Max(fallLeast, sameShare*m.bbl)
}

// joined says that an equaliser joins two tanks.
func (w *bookkeeper) joined(i, j int) bool {
	group := w.site.Tank(i).Group
	return group != "" && group == w.site.Tank(j).Group
}

// rise is what a tank rose by in each part of a transfer, and in all of it.
type rise struct {
	tank  int
	parts []float64
	bbl   float64
}

// rises are those of the tanks that had a part in a transfer out of tank i, of those that an equaliser joins to it or of the others; off is
// what unix seconds are ahead of the site's.
func (w *bookkeeper) rises(i int, off float64, m movement, parts []dayPart, joined bool) (all []rise) {
	for j := range w.site.Len() {
		if j == i || w.b.page(j) == nil || w.joined(i, j) != joined {
			continue
		}
		r := rise{tank: j}
		for k, x := range parts {
			from, to := x.from-off, x.to-off
			if k == 0 {
				from -= riseBefore
			}
			if k == len(parts)-1 {
				to += riseAfter
			}
			bbl := math.Max(0, w.site.Rise(w.st, j, from, to))
			r.parts, r.bbl = append(r.parts, bbl), r.bbl+bbl
		}
		if r.bbl > 0 && r.bbl >= shareMin*m.bbl {
			all = append(all, r)
		}
	}
	return all
}

// addSlowTransfer books what has run slowly over to another tank since the event that reported it, and what was seen to leave as slowly
// and went nowhere: the rests of a day do not show it too.
func (w *bookkeeper) addSlowTransfer(i int, p *tankPage, wall float64) {
	loss := w.site.SlowLoss(w.st, i)
	if !loss.Open {
		p.slowTransferBbl = 0
		return
	}
	if !loss.Moved {
		if !w.metered(i, p) && !w.site.Tank(i).Lact {
			w.addSlowLoss(p, loss)
		}
		return
	}
	more := loss.Bbl - p.slowTransferBbl
	if p.slowTransferBbl == 0 || more <= 0 {
		return
	}
	p.slowTransferBbl, p.today.slowTransfer = loss.Bbl, true
	m := movement{math.Max(wall-runsOver, p.today.from), wall, more}
	for _, x := range p.byDay(m, moveShare) {
		x.day.transferredOut += x.bbl
	}
	if j := p.slowTransferTo; j != i && w.b.page(j) != nil {
		w.addReceived(j, m)
	}
}

// addSlowLoss books what of a slow loss is not booked yet, with what flowed in meanwhile, and keeps one sentence of it in a day.
func (w *bookkeeper) addSlowLoss(p *tankPage, loss tank.SlowLoss) {
	m := movement{loss.From + p.clockOffset, loss.To + p.clockOffset, loss.Bbl + loss.In - p.slowTransferBbl}
	if m.bbl <= 0 {
		return
	}
	if p.slowTransferBbl > 0 {
		m.from = math.Max(m.from, m.to-runsOver)
	}
	p.slowTransferBbl += m.bbl
	of := fmt.Sprintf("left slowly %s to ", w.clockTime(loss.From+p.clockOffset))
	for _, x := range p.byDay(m, 0) {
		x.day.other += x.bbl
		x.day.slowTransfer = true
		x.day.remarks = slices.DeleteFunc(slices.Clone(x.day.remarks), func(text string) bool { return strings.Contains(text, of) })
		x.day.remark(fmt.Sprintf("%.1f bbl %s%s: a slow loss, in OTHER and not in RESIDUAL", p.slowTransferBbl, of, w.clockTime(m.to)))
	}
	p.explained(m, noChange)
}

// steppedUp books a rise of which most was shown from one reading to the next, as oil never comes: a sensor was zeroed anew, or raised. It
// is treated as what the level falls at once. The rests beside a meter have such a rise by themselves.
func (w *bookkeeper) steppedUp(i int, p *tankPage, m movement, metered bool) bool {
	if metered || m.bbl <= restBig || w.site.LeaptUp(w.st, i, m.from-p.clockOffset, m.to-p.clockOffset) < leapShare*m.bbl {
		return false
	}
	s := p.dayOf(m.to)
	s.other -= m.bbl
	s.steppedAt, s.stepBooked = m.to, true
	s.remark(fmt.Sprintf("the level rose by %.2f bbl at once about %s, faster than any well or truck fills a tank, as when a sensor is zeroed anew: no production, and in OTHER", m.bbl, w.clockTime(m.to)))
	return true
}

// findUnloaded books what came in faster than any well makes it, and was more than all else that came that day: nothing that the well does,
// which does it again, as a slug, a plunger or a separator, nor what came so on a day before, as from a pump, or may have where none is
// known. What other tanks gave, and what a load gave back, is booked already. A level that came down again by as much was lifted by foam
// or hands.
func (w *bookkeeper) findUnloaded(i int, p *tankPage) *tank.Event {
	s, t, usual := &p.yesterday, w.site.Tank(i), p.rose
	came, most, next := s.closing.stock-s.opening.stock+s.water+s.transferredOut-s.sumReceived(t.Group != "")+s.other, movement{}, 0.0
	for _, r := range s.runs {
		came += r.Bbl
	}
	for _, of := range p.days() {
		for _, m := range of.unexplained {
			if m.bbl > most.bbl {
				m, most = most, m
			}
			next = math.Max(next, math.Abs(m.bbl))
		}
	}
	long, rest := most.to-most.from, came-most.bbl
	if s.hasOpening && most.to <= s.to {
		p.rose = math.Max(math.Max(roseFades*usual, most.bbl), leastRemeasured)
	}
	switch next = math.Max(next, usual); {
	case !s.hasOpening || !s.hasClosing || s.steppedAt != 0 || t.Group != "" || most.to > s.to: // nobody knows
		return nil
	case most.bbl < math.Max(unloadTimes*t.Loads.MinLoad, unloadRate/60*long): // a well may make it
		return nil
	case most.bbl < rest || next > most.bbl/2 || usual == 0 && rest < unseenShare*most.bbl: // it does so again, or may
		return nil
	}
	s.unexplained = slices.DeleteFunc(slices.Clone(s.unexplained), func(m movement) bool { return m == most })
	bbl := most.bbl - math.Max(0, rest)*long/day
	s.other -= bbl
	text := fmt.Sprintf("%.0f bbl came in within %.0f min from %s, where all else that came that day are %.0f bbl: who unloaded?", bbl, long/60, w.clockTime(most.from), math.Max(0, rest))
	s.remark(text + " It is no production, and in OTHER")
	return &tank.Event{Rule: eventrules.OilUnloaded, Tank: t.ID, Start: unix(most.from), End: unix(most.to), Bbl: bbl, Note: "tank " + t.ID + ": " + text}
}

// findLift finds a rise that is no production and that nothing explains, as of foam: as long as that may last, a fall says
// nothing. It may reach into the next day. A separator that dumps much at once is known by its other dumps.
func (p *tankPage) findLift() {
	s := &p.yesterday
	usual := s.closing.stock - s.opening.stock
	for _, r := range s.runs {
		usual += r.GaugeBbl
	}
	usual /= math.Max(1, s.rest.rises)
	for _, m := range s.unexplained {
		if m.bbl <= math.Max(restBig, liftTimes*usual) {
			continue
		}
		s.steppedAt = m.to
		if s.to-m.to < liftLong && p.today.steppedAt == 0 {
			p.today.steppedAt = m.to
		}
	}
}

// sumReceived are the barrels that came in from other tanks. What came while a run was under way left with it; in a group the run's own
// inflow has what came through the equaliser.
func (s *openDay) sumReceived(joined bool) float64 {
	sum := 0.0
	for _, g := range s.transferredIn {
		sum += g.bbl
		for k := range s.runs {
			r := &s.runs[k]
			both := math.Min(g.to, tank.UnixSeconds(r.End)) - math.Max(g.from, tank.UnixSeconds(r.Start))
			if joined || both <= 0 || g.to <= g.from {
				continue
			}
			part := g.bbl * both / (g.to - g.from)
			r.Inflow = math.Max(r.Inflow, part)
			r.Bbl = r.GaugeBbl + r.Inflow
			s.variance += stats.Square(shareDoubt * part)
			s.remark("oil came in from another tank while a run was under way: what of it left with the run is an estimate")
		}
	}
	return sum
}
