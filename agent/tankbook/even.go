package tankbook

import (
	"math"
	"slices"
)

const riseSteps = 32 // levels by which a rise is looked at: of many the noise alone makes one

// evenFalls books what of the falls of a group's tank went through the equaliser, once no draw waits that may explain them. What is left of
// one is of the instant at which it ended: it is not weighed again.
func (w *bookkeeper) evenFalls(i int) {
	waits := func(m movement) bool { return m.bbl < 0 && m.from < m.to }
	p := w.b.page(i)
	if p == nil || w.site.Tank(i).Group == "" || w.st.Loading(i) || !slices.ContainsFunc(slices.Concat(p.yesterday.unexplained, p.today.unexplained), waits) {
		return
	}
	p = w.writable(i)
	for _, s := range p.days() {
		s.unexplained = slices.Clone(s.unexplained)
		for k := range s.unexplained {
			if m := &s.unexplained[k]; waits(*m) {
				w.evenOut(i, p, m)
				m.from = m.to
			}
		}
		s.unexplained = slices.DeleteFunc(s.unexplained, func(m movement) bool { return m.bbl == 0 })
	}
}

// evenOut takes out of a fall, and books, what went through the equaliser to tanks of the same group: as much of what all of them that fell
// have lost as the others rose by in the same time. One that fell by more than all the others rose is being drawn from.
func (w *bookkeeper) evenOut(i int, p *tankPage, fall *movement) {
	went := movement{fall.from, fall.to, -fall.bbl}
	rose, most, name := 0.0, 0.0, ""
	falls := []float64{went.bbl}
	for j := range w.site.Len() {
		if j == i || !w.joined(i, j) || w.b.page(j) == nil {
			continue
		}
		up, down := w.wentUp(j, went.from-riseBefore, went.to+riseAfter)
		if falls = append(falls, down); up >= math.Max(fallLeast, shareMin*went.bbl) {
			rose += up
		}
		if up > most {
			name, most = w.site.Tank(j).ID, up
		}
	}
	fell := 0.0
	for k, bbl := range falls {
		if k == 0 || bbl > 0 && bbl <= rose {
			fell += bbl
		}
	}
	if rose < (1-sameShare)*fell {
		went.bbl *= rose / fell
	}
	if fall.bbl += went.bbl; went.bbl > 0 {
		w.addTransfer(i, p, went, name)
	}
}

// wentUp is what a tank rose by between two times, unix s, beyond its inflow and from where it was lowest until then, since a truck may have
// drawn from it before and may again, and what it has less at their end.
func (w *bookkeeper) wentUp(j int, from, to float64) (up, down float64) {
	off, first, low := w.b.page(j).clockOffset, 0.0, math.Inf(1)
	made, _ := w.site.Inflow(w.st, j, from-off, to-off)
	at := w.site.Levels(w.st, j, unix(from), unix(to))
	for k := 0; k < len(at); k += 1 + len(at)/riseSteps {
		bbl, _ := w.site.Tank(j).Table.Extrapolated(at[k].In)
		if k == 0 {
			first = bbl
		}
		low = math.Min(low, bbl)
		up, down = math.Max(up, bbl-low-made), first+made-bbl
	}
	return up, down
}
