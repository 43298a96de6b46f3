package tankbook

import (
	"fmt"
	"math"

	"gauger/agent/tank"
	"gauger/agent/tank/stats"
)

const (
	shareDoubt = 0.25     // standard error of what a run took of a transfer that came in meanwhile, as a share of it
	shareMin   = 0.1      // of a transfer that a tank has to have received to have a part in it
	liftLong   = 8 * 3600 // s that foam may last
	liftTimes  = 3.0      // the usual rise, likewise
	runsOver   = 1200.0   // s of a slow transfer that are booked at a time
	riseBefore = 30.0     // s before a transfer from which the rise of another tank counts
	riseAfter  = 150.0
	allRose    = 0.6  // share of a transfer that the others have to have risen by together, so that it is divided by their rises
	sameShare  = 0.1  // of a small draw by which what others rose by may differ from it
	leapShare  = 0.8  // of a rise that a single step of the level has to have
	moveShare  = 0.05 // of a transfer or a water draw that may have flowed in or not: its standard error
)

// addTransfer books oil that went from tank i to others of the site between two times, unix s.
func (w *bookkeeper) addTransfer(i int, p *tankPage, m movement, name string) {
	p.splitByDay(m, func(s *openDay, part movement) { s.transferredOut += part.bbl })
	parts := []movement{m}
	if at := p.yesterday.to; p.hasYesterday && m.from < at && m.to > at {
		parts = []movement{{m.from, at, 0}, {at, m.to, 0}}
	}
	shares := w.transferShares(i, p, m, parts, name)
	for j := range w.site.Len() {
		for k, part := range parts {
			if bbl := shares[k][j] * m.bbl; bbl > 0 {
				w.addReceived(j, movement{part.from, part.to, bbl})
			}
		}
	}
}

func (w *bookkeeper) addReceived(j int, m movement) {
	p := w.writable(j)
	p.splitByDay(m, func(s *openDay, part movement) {
		s.transferredIn = append(s.transferredIn[max(0, len(s.transferredIn)-movesMost+1):len(s.transferredIn):len(s.transferredIn)], part)
	})
	p.explained(m.from, m.to)
	p.dropUnseenBelow(m)
}

// splitByDay gives each day its part of a movement that is known by its volume.
func (p *tankPage) splitByDay(m movement, to func(*openDay, movement)) {
	p.splitExact(m, func(s *openDay, part movement) {
		s.variance += stats.Square(moveShare * part.bbl)
		to(s, part)
	})
}

// splitExact does so where the volume is known as well as the stock is.
func (p *tankPage) splitExact(m movement, to func(*openDay, movement)) {
	if at := p.yesterday.to; p.hasYesterday && m.from < at && m.to > at {
		before := m.bbl * (at - m.from) / (m.to - m.from)
		p.splitExact(movement{m.from, at, before}, to)
		m.from, m.bbl = at, m.bbl-before
	}
	to(p.dayOf(m.to), m)
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
	if v.Returned { // out and back: neither left nor produced
		from, to := tank.UnixSeconds(v.Start), tank.UnixSeconds(v.End)
		p.dayOf(to).remark(fmt.Sprintf("oil was rolled: %.1f bbl went out of it from %s, and came back", v.Bbl, w.clockSpan(from, to)))
		p.explained(from, to)
		p.dropUnseen(from, to)
		return
	}
	open, _ := t.Table.Extrapolated(v.Open)
	closed, _ := t.Table.Extrapolated(v.Close)
	m := movement{tank.UnixSeconds(v.Start), tank.UnixSeconds(v.End), v.Bbl}
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
		p.splitExact(m, func(s *openDay, part movement) { s.other += part.bbl })
		p.dayOf(m.to).variance += stats.Square(shareDoubt * inflow)
	}
	p.explained(m.from, m.to)
	p.dropUnseen(m.from, m.to)
}

// addReturn books oil that a load gave back: it was in the tank before, and the well made none of it. What came in meanwhile from other
// tanks is booked already.
func (w *bookkeeper) addReturn(c *tank.Correction) {
	i, ok := w.tankIndex(c.Tank)
	if !ok || w.metered(i, w.page(i)) {
		return // beside a meter the rests have it
	}
	p, m := w.writable(i), movement{tank.UnixSeconds(c.BackFrom), tank.UnixSeconds(c.BackTo), c.BackBbl}
	if m.bbl -= p.receivedIn(m); m.bbl <= fallLeast {
		return
	}
	text := fmt.Sprintf("%.1f bbl of the load of %s came back %s: no production, and in OTHER", m.bbl, w.clockTime(tank.UnixSeconds(c.Start)), w.clockSpan(m.from, m.to))
	p.splitByDay(m, func(s *openDay, part movement) {
		s.other -= part.bbl
		s.remark(text)
	})
	p.explained(m.from, m.to)
}

// othersGot says that other tanks rose by what left tank i, in the same time, and by more than any well makes of itself.
func (w *bookkeeper) othersGot(i int, own *tankPage, m movement) bool {
	rose, alone := 0.0, 0.0
	out := [][]float64{make([]float64, w.site.Len())}
	for j := range w.site.Len() {
		if bbl := w.riseIn(i, j, own.clockOffset, m, []movement{m}, out); bbl > 0 {
			usual, most := w.site.Inflow(w.st, j, m.from-own.clockOffset-riseBefore, m.to-own.clockOffset+riseAfter)
			rose, alone = rose+bbl, alone+most-usual
		}
	}
	return rose > alone && math.Abs(rose-m.bbl) <= math.Max(fallLeast, sameShare*m.bbl)
}

// transferShares divides a transfer between the tanks that rose meanwhile, for each part of it; where none did, as one that was
// drawn from as well, the named one got it all.
func (w *bookkeeper) transferShares(i int, own *tankPage, m movement, parts []movement, name string) [][]float64 {
	out := make([][]float64, len(parts))
	for k := range parts {
		out[k] = make([]float64, w.site.Len())
	}
	sum := 0.0
	for j := range w.site.Len() {
		sum += w.riseIn(i, j, own.clockOffset, m, parts, out)
	}
	to, ok := w.tankIndex(name)
	for k, part := range parts {
		for j := range out[k] {
			switch {
			case sum >= allRose*m.bbl:
				out[k][j] /= sum
			case ok && to != i && to == j:
				out[k][j] = (part.to - part.from) / (m.to - m.from)
			default:
				out[k][j] = 0
			}
		}
	}
	return out
}

// riseIn are the barrels that tank j rose in each part of a transfer out of tank i, and together; 0 where it had no part in it.
func (w *bookkeeper) riseIn(i, j int, off float64, m movement, parts []movement, out [][]float64) (sum float64) {
	t, p := w.site.Tank(j), w.page(j)
	if j == i || p == nil || !p.begun || t.Group != "" && t.Group == w.site.Tank(i).Group {
		return 0
	}
	for k, part := range parts {
		from, to := part.from-off, part.to-off
		if k == 0 {
			from -= riseBefore
		}
		if k == len(parts)-1 {
			to += riseAfter
		}
		out[k][j] = math.Max(0, w.site.Rise(w.st, j, from, to))
		sum += out[k][j]
	}
	if sum >= shareMin*m.bbl {
		return sum
	}
	for k := range parts {
		out[k][j] = 0
	}
	return 0
}

// addSlowTransfer books what has run slowly over to another tank since the event that reported it.
func (w *bookkeeper) addSlowTransfer(i int, p *tankPage, wall float64) {
	loss := w.site.SlowLoss(w.st, i)
	if !loss.Moved {
		p.slowTransferBbl = 0
		return
	}
	total := loss.Bbl
	more := total - p.slowTransferBbl
	if p.slowTransferBbl == 0 || more <= 0 {
		return
	}
	p.slowTransferBbl, p.today.slowTransfer = total, true
	m := movement{math.Max(wall-runsOver, p.today.from), wall, more}
	p.splitByDay(m, func(s *openDay, part movement) { s.transferredOut += part.bbl })
	if j := p.slowTransferTo; j >= 0 && j < w.site.Len() && j != i && w.page(j) != nil {
		w.addReceived(j, m)
	}
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

// sumReceived are the barrels that came in from other tanks. What came while a run was under way left with it.
func (s *openDay) sumReceived() float64 {
	sum := 0.0
	for _, g := range s.transferredIn {
		sum += g.bbl
		for k := range s.runs {
			r := &s.runs[k]
			both := math.Min(g.to, tank.UnixSeconds(r.End)) - math.Max(g.from, tank.UnixSeconds(r.Start))
			if both <= 0 || g.to <= g.from {
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
