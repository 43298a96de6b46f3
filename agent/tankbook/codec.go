package tankbook

import (
	"errors"
	"fmt"

	"gauger/agent/tank"
	"gauger/agent/tank/codec"
)

const (
	bookFormat = 2 // 1 kept the oil that came from other tanks as one sum
	runsMost   = 64
)

// archive is the walk over the books.
type archive struct{ *codec.Archive }

// MarshalBinary is the books to store: one or two KiB a tank, and five beside a meter.
func (b Book) MarshalBinary() ([]byte, error) {
	a := archive{codec.Write(bookFormat)}
	a.book(&b)
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
	if err := a.Err(); err != nil {
		return fmt.Errorf("reading the tank book: %w", err)
	}
	*b = n
	return nil
}

func (a archive) book(b *Book) {
	n := a.Count(len(b.pages), tank.MostTanks)
	if a.Reading {
		b.pages = make([]*page, n)
	}
	for i := range b.pages {
		known := b.pages[i] != nil
		a.Flag(&known)
		if !known || a.Err() != nil {
			continue
		}
		if a.Reading {
			b.pages[i] = &page{}
		}
		at := a.Len()
		if a.page(b.pages[i]); !a.NotFinite() {
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

func (a archive) page(p *page) {
	a.rests(&p.rests)
	a.Flag(&p.seen)
	a.Floats(&p.off)
	a.entry(&p.last)
	codec.List(a.Archive, &p.edge, bookEdgeMax, a.entry)
	m := &p.meter
	a.Flag(&m.known)
	a.Floats(&m.sum, &m.last, &m.at, &m.odd)
	a.Ints(&m.strike)
	codec.List(a.Archive, &p.trail, trailMost, func(x *count) { a.Floats(&x.t, &x.v) })
	a.sheet(&p.now)
	a.Flag(&p.isDue)
	if p.isDue {
		a.sheet(&p.due)
	}
	for k := range p.past {
		a.still(&p.past[k])
		a.Flag(&p.left[k].known)
		a.Floats(&p.left[k].bbl, &p.left[k].variance)
	}
	a.Floats(&p.clear.from, &p.clear.to, &p.short[0], &p.short[1], &p.since)
	codec.List(a.Archive, &p.usual, usualMost, func(x *float64) { a.Floats(x) })
	a.Flag(&p.losing)
	if a.Format >= 2 {
		a.Floats(&p.seeped, &p.told)
		a.Ints(&p.seepsTo)
	}
}

func (a archive) rests(r *rests) {
	a.Ints(&r.n, &r.in)
	if r.n < 0 || r.n > tailMost || r.in < 0 || r.in > r.n {
		a.Fail(errors.New("a rest has more levels than there can be"))
		return
	}
	for k := range r.n {
		a.entry(&r.tail[k])
	}
	a.Flag(&r.moving)
	a.entry(&r.before)
	s := &r.rest
	a.Floats(&r.wait, &s.n, &s.z, &s.zz, &s.from, &s.z0, &s.last, &s.head, &s.to)
	a.Each(s.x[:], s.xz[:], s.xx[:])
}

func (a archive) entry(e *entry) { a.Floats(&e.t, &e.z, &e.stock, &e.meter, &e.level) }

func (a archive) still(f *stills) {
	a.Floats(&f.n, &f.rests, &f.seconds, &f.zz, &f.rough, &f.steps, &f.moved, &f.rises, &f.fell)
	a.Each(f.xz[:], f.xx[:])
}

func (a archive) sheet(s *sheet) {
	got := 0.0
	a.Floats(&s.from, &s.to, &s.openRun, &s.endRun, &s.water, &s.given, &got, &s.other, &s.doubt, &s.told, &s.upset, &s.made)
	for _, f := range []*bool{&s.opened, &s.shut, &s.knows} {
		a.Flag(f)
	}
	a.entry(&s.open)
	a.entry(&s.end)
	a.still(&s.still)
	codec.List(a.Archive, &s.moves, movesMost, func(m *shift) { a.Floats(&m.from, &m.to, &m.bbl) })
	codec.List(a.Archive, &s.runs, runsMost, func(r *Run) {
		a.Time(&r.Start)
		a.Time(&r.End)
		a.Floats(&r.GaugeBbl, &r.Inflow, &r.Bbl)
	})
	codec.List(a.Archive, &s.remarks, remarksMost, a.Text)
	if a.Format >= 2 {
		codec.List(a.Archive, &s.got, movesMost, func(m *shift) { a.Floats(&m.from, &m.to, &m.bbl) })
		a.Flag(&s.seeps)
	} else if got != 0 {
		s.got = []shift{{s.from, s.from, got}}
	}
}
