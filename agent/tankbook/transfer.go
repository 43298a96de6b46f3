package tankbook

import (
	"math"

	"gauger/agent/tank"
	"gauger/agent/tank/stats"
)

const (
	shareDoubt = 0.25     // standard error of what a run took of a transfer that came in meanwhile, as a share of it
	shareMin   = 0.1      // of a transfer that a tank has to have received to have a part in it
	liftLong   = 8 * 3600 // s that foam may last
	liftRate   = 0.5      // bbl/min; a slower rise may be production
	liftTimes  = 3.0      // the usual rise, likewise
	runsOver   = 1200.0   // s of a slow transfer that are booked at a time
	riseBefore = 30.0     // s before a transfer from which the rise of another tank counts
	riseAfter  = 150.0
	allRose    = 0.6 // share of a transfer that the others have to have risen by together, so that it is divided by their rises
)

// transfer books oil that went from tank i to others of the site between two times, unix s.
func (w *bookkeeper) transfer(i int, p *page, m shift, name string) {
	p.book(m, func(s *sheet, part shift) { s.given += part.bbl })
	parts := []shift{m}
	if at := p.due.to; p.isDue && m.from < at && m.to > at {
		parts = []shift{{m.from, at, 0}, {at, m.to, 0}}
	}
	shares := w.shares(i, p, m, parts, name)
	for j := range w.site.Len() {
		for k, part := range parts {
			if bbl := shares[k][j] * m.bbl; bbl > 0 {
				w.receive(j, shift{part.from, part.to, bbl})
			}
		}
	}
}

func (w *bookkeeper) receive(j int, m shift) {
	p := w.own(j)
	p.book(m, func(s *sheet, part shift) {
		s.got = append(s.got[max(0, len(s.got)-movesMost+1):len(s.got):len(s.got)], part)
	})
	p.explain(m.from, m.to)
}

// book gives each day its part of a movement that is known by its volume.
func (p *page) book(m shift, to func(*sheet, shift)) {
	if at := p.due.to; p.isDue && m.from < at && m.to > at {
		before := m.bbl * (at - m.from) / (m.to - m.from)
		p.book(shift{m.from, at, before}, to)
		m.from, m.bbl = at, m.bbl-before
	}
	s := p.sheet(m.to)
	s.doubt += stats.Square(moveShare * m.bbl)
	to(s, m)
}

// shares divides a transfer between the tanks that rose meanwhile, for each part of it; where none did, as one that was
// drawn from as well, the named one got it all.
func (w *bookkeeper) shares(i int, own *page, m shift, parts []shift, name string) [][]float64 {
	out := make([][]float64, len(parts))
	for k := range parts {
		out[k] = make([]float64, w.site.Len())
	}
	sum := 0.0
	for j := range w.site.Len() {
		sum += w.rises(i, j, own.off, m, parts, out)
	}
	to, ok := w.index(name)
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

// rises is what tank j rose in each part of a transfer out of tank i, and together; 0 where that is no part of it.
func (w *bookkeeper) rises(i, j int, off float64, m shift, parts []shift, out [][]float64) (sum float64) {
	t, p := w.site.Tank(j), w.page(j)
	if j == i || p == nil || !p.seen || t.Group != "" && t.Group == w.site.Tank(i).Group {
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

// seeps books what has run slowly over to another tank since the event that told of it.
func (w *bookkeeper) seeps(i int, p *page, wall float64) {
	loss := w.site.SlowLoss(w.st, i)
	if !loss.Moved {
		p.seeped = 0
		return
	}
	total := loss.Bbl
	more := total - p.seeped
	if p.seeped == 0 || more <= 0 {
		return
	}
	p.seeped, p.now.seeps = total, true
	m := shift{math.Max(wall-runsOver, p.now.from), wall, more}
	p.book(m, func(s *sheet, part shift) { s.given += part.bbl })
	if j := p.seepsTo; j >= 0 && j < w.site.Len() && j != i && w.page(j) != nil {
		w.receive(j, m)
	}
}

// lifted finds a rise that is no production and that nothing explains, as of foam: as long as that may last, a fall says
// nothing. It may reach into the next day. A separator that dumps much at once is known by its other dumps.
func (p *page) lifted() {
	s := &p.due
	usual := s.end.stock - s.open.stock
	for _, r := range s.runs {
		usual += r.GaugeBbl
	}
	usual /= math.Max(1, s.still.rises)
	for _, m := range s.moves {
		if m.bbl <= math.Max(restBig, liftTimes*usual) {
			continue
		}
		s.upset = m.to
		if s.to-m.to < liftLong && p.now.upset == 0 {
			p.now.upset = m.to
		}
	}
}

// received is what came in from other tanks. What came while a run was under way left with it.
func (s *sheet) received() float64 {
	sum := 0.0
	for _, g := range s.got {
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
			s.doubt += stats.Square(shareDoubt * part)
			s.remark("oil came in from another tank while a run was under way: what of it left with the run is an estimate")
		}
	}
	return sum
}
