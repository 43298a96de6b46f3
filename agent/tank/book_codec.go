package tank

import (
	"errors"
	"fmt"
	"time"
)

const (
	bookFormat = 2 // 1 kept the oil that came from other tanks as one sum
	runsMost   = 64
)

// MarshalBinary is the books to store: one or two KiB a tank, and five beside a meter.
func (b Book) MarshalBinary() ([]byte, error) {
	a := &archive{b: []byte{bookFormat}, format: bookFormat}
	a.book(&b)
	return a.b, a.err
}

// UnmarshalBinary takes stored books back.
func (b *Book) UnmarshalBinary(raw []byte) error {
	if len(raw) == 0 || raw[0] == 0 || raw[0] > bookFormat {
		return errors.New("reading the tank book: its format is not known")
	}
	a := &archive{b: raw[1:], reading: true, format: raw[0]}
	var n Book
	a.book(&n)
	if a.err != nil {
		return fmt.Errorf("reading the tank book: %w", a.err)
	}
	*b = n
	return nil
}

func (a *archive) book(b *Book) {
	n := a.count(len(b.pages), mostTanks)
	if a.reading {
		b.pages = make([]*page, n)
	}
	for i := range b.pages {
		known := b.pages[i] != nil
		a.flag(&known)
		if !known || a.err != nil {
			continue
		}
		if a.reading {
			b.pages[i] = &page{}
		}
		at := len(a.b)
		if a.page(b.pages[i]); !a.spoilt() {
			continue
		}
		if a.reading { // this tank's days begin anew; the others are as they were
			b.pages[i] = nil
			continue
		}
		none := false
		a.b = a.b[:at-1]
		a.flag(&none)
	}
}

func (a *archive) page(p *page) {
	a.rests(&p.rests)
	a.flag(&p.seen)
	a.floats(&p.off)
	a.entry(&p.last)
	list(a, &p.edge, bookEdgeMax, a.entry)
	m := &p.meter
	a.flag(&m.known)
	a.floats(&m.sum, &m.last, &m.at, &m.odd)
	a.ints(&m.strike)
	list(a, &p.trail, trailMost, func(x *point) { a.floats(&x.t, &x.v) })
	a.sheet(&p.now)
	a.flag(&p.isDue)
	if p.isDue {
		a.sheet(&p.due)
	}
	for k := range p.past {
		a.still(&p.past[k])
		a.flag(&p.left[k].known)
		a.floats(&p.left[k].bbl, &p.left[k].variance)
	}
	a.floats(&p.clear.from, &p.clear.to, &p.short[0], &p.short[1], &p.since)
	list(a, &p.usual, usualMost, func(x *float64) { a.floats(x) })
	a.flag(&p.losing)
	if a.format >= 2 {
		a.floats(&p.seeped, &p.told)
		a.ints(&p.seepsTo)
	}
}

func (a *archive) rests(r *rests) {
	a.ints(&r.n, &r.in)
	if r.n < 0 || r.n > tailMost || r.in < 0 || r.in > r.n {
		a.fail(errors.New("a rest has more levels than there can be"))
		return
	}
	for k := range r.n {
		a.entry(&r.tail[k])
	}
	a.flag(&r.moving)
	a.entry(&r.before)
	s := &r.rest
	a.floats(&r.wait, &s.n, &s.z, &s.zz, &s.from, &s.z0, &s.last, &s.head, &s.to)
	a.each(s.x[:], s.xz[:], s.xx[:])
}

func (a *archive) entry(e *entry) { a.floats(&e.t, &e.z, &e.stock, &e.meter, &e.level) }

func (a *archive) still(f *stills) {
	a.floats(&f.n, &f.rests, &f.seconds, &f.zz, &f.rough, &f.steps, &f.moved, &f.rises, &f.fell)
	a.each(f.xz[:], f.xx[:])
}

func (a *archive) sheet(s *sheet) {
	got := 0.0
	a.floats(&s.from, &s.to, &s.openRun, &s.endRun, &s.water, &s.given, &got, &s.other, &s.doubt, &s.told, &s.upset, &s.made)
	for _, f := range []*bool{&s.opened, &s.shut, &s.knows} {
		a.flag(f)
	}
	a.entry(&s.open)
	a.entry(&s.end)
	a.still(&s.still)
	list(a, &s.moves, movesMost, func(m *shift) { a.floats(&m.from, &m.to, &m.bbl) })
	list(a, &s.runs, runsMost, func(r *BookRun) {
		a.time(&r.Start)
		a.time(&r.End)
		a.floats(&r.GaugeBbl, &r.Inflow, &r.Bbl)
	})
	list(a, &s.remarks, remarksMost, a.text)
	if a.format >= 2 {
		list(a, &s.got, movesMost, func(m *shift) { a.floats(&m.from, &m.to, &m.bbl) })
		a.flag(&s.seeps)
	} else if got != 0 {
		s.got = []shift{{s.from, s.from, got}}
	}
}

// list writes or reads the things of a slice.
func list[T any](a *archive, all *[]T, most int, one func(*T)) {
	n := a.count(len(*all), most)
	if a.reading {
		*all = nil
		if n > 0 {
			*all = make([]T, n)
		}
	}
	for i := range *all {
		one(&(*all)[i])
	}
}

func (a *archive) each(all ...[]float64) {
	for _, v := range all {
		for i := range v {
			a.floats(&v[i])
		}
	}
}

func (a *archive) time(t *time.Time) {
	ms := t.UnixMilli()
	a.int(&ms)
	*t = time.UnixMilli(ms).UTC()
}

func (a *archive) text(s *string) {
	n := a.count(len(*s), 1<<12)
	if !a.reading {
		a.b = append(a.b, *s...)
		return
	}
	if n > len(a.b) {
		a.fail(errStateShort)
		return
	}
	*s, a.b = string(a.b[:n]), a.b[n:]
}
