package plot

import (
	"math"
)

const (
	badLook  = `stroke="#b34700" stroke-width="1.4"`
	dotsMost = 160 // columns with readings up to which each is a dot
)

// column of pixels shows the least and the greatest level of its readings.
type column struct {
	x, lo, hi float64
	from, to  float64 // seconds since 1970
}

// columnsOf thins the pieces to columns of so many pixels.
func columnsOf(pieces []stretch, v *view, grain float64) []column {
	var all []column
	for _, p := range pieces {
		x := grain * math.Floor(v.x(math.Max(p.from, v.from))/grain)
		n := len(all)
		if n == 0 || all[n-1].x != x {
			all = append(all, column{x, p.lo, p.hi, p.from, p.to})
			continue
		}
		last := &all[n-1]
		last.lo, last.hi, last.to = math.Min(last.lo, p.lo), math.Max(last.hi, p.hi), math.Max(last.to, p.to)
	}
	return all
}

// levelLine draws the level, broken where nothing was read.
func (l *panelLayout) levelLine(c *canvas) {
	if len(l.columns) == 0 {
		return
	}
	gap := l.panel.Level.shownGap()
	c.WriteString(`<path fill="none" stroke="` + ink + `" stroke-width="1.4" stroke-linejoin="round" d="`)
	var before column
	for i, n := range l.columns {
		move := "L"
		if i == 0 || n.from-before.to > gap {
			move = "M"
		}
		first, last := n.hi, n.lo
		if i > 0 && math.Abs(before.lo-n.lo) < math.Abs(before.hi-n.hi) {
			first, last = n.lo, n.hi
		}
		c.WriteString(move + px(n.x) + " " + px(l.y(first)))
		if y := px(l.y(last)); y != px(l.y(first)) {
			c.WriteString("V" + y)
		} else if move == "M" {
			c.WriteString("h0.5")
		}
		before = n
	}
	c.WriteString(`"/>` + "\n")
	if len(l.columns) <= dotsMost {
		for _, n := range l.columns {
			c.circle(n.x, l.y(n.lo), 1.8, "")
		}
	}
}

// shadeGaps shade the times without a reading.
func (l *panelLayout) shadeGaps(c *canvas, v *view, used *legend) {
	if l.panel.Level == nil {
		return
	}
	gap, last := l.panel.Level.shownGap(), v.from
	shade := func(from, to float64) {
		if to-from <= gap || l.panel.Level.clockSteppedIn(from-1, to+1) {
			return
		}
		used.gap = true
		x := v.x(from)
		c.rect(box{x, l.plot.y, math.Max(v.x(to)-x, 1), l.plot.h}, `fill="url(#gap)"`, "no readings")
	}
	for _, p := range l.pieces {
		shade(last, p.from)
		last = math.Max(last, p.to)
	}
	shade(last, v.to)
}

// badTicks are ticks below the plot.
func (l *panelLayout) badTicks(c *canvas, v *view, used *legend) {
	if len(l.bad) == 0 {
		return
	}
	used.bad = true
	c.WriteString(`<path fill="none" ` + badLook + ` d="`)
	before := math.Inf(-1)
	y := l.plot.y + l.plot.h
	for _, p := range l.bad {
		to := v.x(math.Min(p.to, v.to))
		for x := l.columnWidth * math.Floor(v.x(math.Max(p.from, v.from))/l.columnWidth); x <= to; x += l.columnWidth {
			if x > before {
				c.WriteString("M" + px(x+0.5) + " " + px(y+2) + "V" + px(y+badHeight))
				before = x
			}
		}
	}
	c.WriteString(`"/>` + "\n")
}

// levelCrosses says whether the level runs through a box.
func (l *panelLayout) levelCrosses(b box) bool {
	gap := math.Inf(1)
	if l.panel.Level != nil {
		gap = l.panel.Level.shownGap()
	}
	for i, n := range l.columns {
		hi, lo, x := n.hi, n.lo, n.x
		if i > 0 && n.from-l.columns[i-1].to <= gap { // the line that comes from the column before
			m := l.columns[i-1]
			hi, lo, x = math.Max(hi, m.lo), math.Min(lo, m.hi), m.x
		}
		if (box{x, l.y(hi), n.x - x + 1, l.y(lo) - l.y(hi) + 1}).meets(b) {
			return true
		}
	}
	return false
}
