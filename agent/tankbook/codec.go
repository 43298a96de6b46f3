package tankbook

import (
	"errors"
	"fmt"

	"gauger/agent/tank"
	"gauger/agent/tank/codec"
	"gauger/agent/tank/stats"
)

const bookFormat = 2 // 1 kept the oil that came from other tanks as one sum

// archive is the walk over the books.
type archive struct{ *codec.Archive }

// MarshalBinary is the books to store: one or two KiB a tank, and five beside a meter.
func (b Book) MarshalBinary() ([]byte, error) {
	a := archive{codec.Write(bookFormat)}
	a.book(&b)
	a.allParts(&b)
	return a.Bytes()
}

// UnmarshalBinary takes stored books back.
func (b *Book) UnmarshalBinary(raw []byte) error {
	if len(raw) == 0 || raw[0] == 0 || raw[0] > bookFormat {
		return errors.New("reading the tank book: its format is not known")
	}
	a := archive{codec.Read(raw)}
	var n Book
	a.book(&n)
	a.allParts(&n)
	if err := a.Err(); err != nil {
		return fmt.Errorf("reading the tank book: %w", err)
	}
	*b = n
	return nil
}

func (a archive) book(b *Book) {
	n := a.Count(len(b.pages), tank.MostTanks)
	if a.Reading {
		b.pages = make([]*tankPage, n)
	}
	for i := range b.pages {
		known := b.pages[i] != nil
		a.Flag(&known)
		if !known || a.Err() != nil {
			continue
		}
		if a.Reading {
			b.pages[i] = &tankPage{}
		}
		at := a.Len()
		if a.tank(b.pages[i]); !a.NotFinite() {
			continue
		}
		if a.Reading { // this tank's days begin anew; the others are as they were
			b.pages[i] = nil
			continue
		}
		none := false
		a.Cut(at - 1)
		a.Flag(&none)
	}
}

func (a archive) tank(p *tankPage) {
	a.restFinder(&p.restFinder)
	a.Flag(&p.begun)
	a.Floats(&p.clockOffset)
	a.stock(&p.last)
	codec.List(a.Archive, &p.nearGaugeOff, nearMost, a.stock)
	m := &p.meter
	a.Flag(&m.known)
	a.Floats(&m.sum, &m.last, &m.at, &m.candidate)
	a.Ints(&m.agreed)
	codec.List(a.Archive, &p.counts, trailMost, func(x *meterCount) { a.Floats(&x.t, &x.v) })
	a.day(&p.today)
	a.Flag(&p.hasYesterday)
	if p.hasYesterday {
		a.day(&p.yesterday)
	}
	for k := range p.daysBefore {
		x := &p.daysBefore[k]
		a.daySums(&x.rest)
		a.Flag(&x.left.known)
		a.Floats(&x.left.bbl, &x.left.variance)
	}
	a.Floats(&p.lastExplained.from, &p.lastExplained.to, &p.daysBefore[0].short, &p.daysBefore[1].short, &p.lossSince)
	codec.List(a.Archive, &p.usualInflow, usualMost, func(x *float64) { a.Floats(x) })
	a.Flag(&p.lossOpen)
	if a.Format >= 2 {
		a.Floats(&p.slowTransferBbl, &p.reportedLossRate)
		a.Ints(&p.slowTransferTo)
	}
}

// partsAppended is the layout of what allParts appends.
const partsAppended = 1

// allParts appends the parts with a name behind everything else, where there are some: a program that does not know them reads the rest
// as before, and has their barrels in the days' other ones. What is appended in a layout that is not known is left alone.
func (a archive) allParts(b *Book) {
	var some []int
	rose, none := make([]float64, len(b.pages)), true
	for i, p := range b.pages {
		if p == nil {
			continue
		}
		if p.today.hasParts() || p.yesterday.hasParts() {
			some = append(some, i)
		}
		rose[i] = p.rose
		none = none && some == nil && p.rose == 0 && p.lost == 0
	}
	if a.Err() != nil || a.Reading && a.Len() == 0 || !a.Reading && none {
		return
	}
	layout := uint64(partsAppended)
	if a.Uint(&layout); layout != partsAppended {
		return
	}
	codec.List(a.Archive, &some, tank.MostTanks, func(i *int) {
		a.Ints(i)
		p := &tankPage{}
		if *i >= 0 && *i < len(b.pages) && b.pages[*i] != nil {
			p = b.pages[*i]
		}
		a.parts(&p.today)
		a.parts(&p.yesterday)
	})
	if a.Reading && a.Len() == 0 {
		return // of a version that did not keep it
	}
	codec.List(a.Archive, &rose, tank.MostTanks, func(v *float64) { a.Floats(v) })
	for i, p := range b.pages {
		if a.Reading && p != nil && i < len(rose) && stats.Finite(rose[i]) {
			p.rose = rose[i]
		}
	}
	for _, p := range b.pages { // what was written before the losses were summed up ends here
		if p != nil && (!a.Reading || a.Len() > 0) {
			a.Floats(&p.lost, &p.lostTold)
		}
	}
	a.NotFinite()
}

func (s *openDay) hasParts() bool { return len(s.parts) > 0 || s.stepBooked }

func (a archive) parts(s *openDay) {
	a.Flag(&s.stepBooked)
	codec.List(a.Archive, &s.parts, partsMost, func(x *namedPart) {
		a.Ints(&x.kind, &x.times)
		a.Floats(&x.from, &x.to, &x.bbl, &x.before.in, &x.before.bbl, &x.after.in, &x.after.bbl, &x.made)
		a.Text(&x.why)
	})
	for _, x := range s.parts {
		if x.kind < 0 || x.kind >= len(partKinds) || !stats.Finite(x.bbl) {
			a.Fail(errors.New("a part of a day is of no kind that is known"))
		}
	}
}

func (a archive) restFinder(r *restFinder) {
	a.Ints(&r.n, &r.inRest)
	if r.n < 0 || r.n > tailMost || r.inRest < 0 || r.inRest > r.n {
		a.Fail(errors.New("a rest has more levels than there can be"))
		return
	}
	for k := range r.n {
		a.stock(&r.tail[k])
	}
	a.Flag(&r.moving)
	a.stock(&r.before)
	s := &r.rest
	a.Floats(&r.settleUntil, &s.n, &s.z, &s.zz, &s.from, &s.z0, &s.last, &s.head, &s.to)
	a.Each(s.x[:], s.xz[:], s.xx[:])
}

func (a archive) stock(e *stockAt) { a.Floats(&e.t, &e.net, &e.stock, &e.meter, &e.level) }

func (a archive) daySums(f *daySums) {
	a.Floats(&f.n, &f.rests, &f.seconds, &f.zz, &f.rough, &f.steps, &f.moved, &f.rises, &f.fell)
	a.Each(f.xz[:], f.xx[:])
}

func (a archive) day(s *openDay) {
	got := 0.0
	a.Floats(&s.from, &s.to, &s.openingInRun, &s.closingInRun, &s.water, &s.transferredOut, &got, &s.other, &s.variance, &s.lossBbl, &s.steppedAt, &s.inflowAtRest)
	for _, f := range []*bool{&s.hasOpening, &s.hasClosing, &s.lossReported} {
		a.Flag(f)
	}
	a.stock(&s.opening)
	a.stock(&s.closing)
	a.daySums(&s.rest)
	codec.List(a.Archive, &s.unexplained, movesMost, func(m *movement) { a.Floats(&m.from, &m.to, &m.bbl) })
	codec.List(a.Archive, &s.runs, runsMost, func(r *Run) {
		a.Time(&r.Start)
		a.Time(&r.End)
		a.Floats(&r.GaugeBbl, &r.Inflow, &r.Bbl)
	})
	codec.List(a.Archive, &s.remarks, remarksMost, a.Text)
	if a.Format >= 2 {
		codec.List(a.Archive, &s.transferredIn, movesMost, func(m *movement) { a.Floats(&m.from, &m.to, &m.bbl) })
		a.Flag(&s.slowTransfer)
	} else if got != 0 {
		s.transferredIn = []movement{{s.from, s.from, got}}
	}
}
