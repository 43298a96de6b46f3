package plot

import (
	"fmt"
	"math"
	"sort"

	"gauger/agent/tank"
)

const (
	nameHeight  = 22.0
	badHeight   = 9.0  // below the levels, for readings that are none
	panelMargin = 14.0 // below a panel
	rangeLeast  = 18.0 // in; a quiet tank's noise is not blown up
	marksMost   = 1200 // loads and as many events that a picture draws, and
	marksRich   = 300  // of both together that it explains with all it has, so that the file stays small
	columnsAll  = 5000 // columns of pixels of a picture that show a level of their own
)

// panelLayout places the parts of a panel on the page.
type panelLayout struct {
	panel       *Panel
	plot        box
	bottom      float64
	top, low    float64 // level at the plot's edges, in
	pieces      []stretch
	bad         []stretch
	loads       []Load
	events      []tank.Event
	columns     []column
	labels      []loadLabel
	eventBars   []eventBar
	columnWidth float64 // pixels of a column
	detailed    bool    // there is room for every detail
	unplaced    int     // labels without room
}

// layout lays a panel out below y; it is one of so many.
func (p *Panel) layout(v *view, y float64, panels int) *panelLayout {
	l := &panelLayout{panel: p, columnWidth: math.Ceil(float64(panels) * (plotRight - plotLeft) / columnsAll)}
	if p.Level != nil {
		l.pieces, l.bad = p.Level.good.between(v.from, v.to), p.Level.bad.between(v.from, v.to)
	}
	for _, x := range p.Loads {
		if seconds(x.End) >= v.from && seconds(x.Start) <= v.to {
			l.loads = append(l.loads, x)
		}
	}
	for _, e := range p.Events {
		if seconds(e.End) >= v.from && seconds(e.Start) <= v.to {
			l.events = append(l.events, e)
		}
	}
	l.detailed = (len(l.loads)+len(l.events))*panels <= marksRich
	most := marksMost / panels
	l.unplaced = max(0, len(l.loads)-most) + max(0, len(l.events)-most)
	l.loads, l.events = l.loads[:min(len(l.loads), most)], l.events[:min(len(l.events), most)]
	sort.SliceStable(l.loads, func(i, j int) bool { return l.loads[i].Start.Before(l.loads[j].Start) })
	sort.SliceStable(l.events, func(i, j int) bool { return l.events[i].Start.Before(l.events[j].Start) })
	room := l.placeLabels(v, y+nameHeight)
	l.plot = box{plotLeft, y + nameHeight + room, plotRight - plotLeft, plotHeight(panels)}
	l.scale()
	l.columns = columnsOf(l.pieces, v, l.columnWidth)
	l.bottom = l.placeEvents(v, l.plot.y+l.plot.h+badHeight+3) + panelMargin
	return l
}

// scale lets the levels and the gauges fill the plot.
func (l *panelLayout) scale() {
	l.low, l.top = math.Inf(1), math.Inf(-1)
	for _, p := range l.pieces {
		l.low, l.top = math.Min(l.low, p.lo), math.Max(l.top, p.hi)
	}
	for i := range l.loads {
		x := &l.loads[i]
		l.low, l.top = math.Min(l.low, math.Min(x.Open, x.Close)), math.Max(l.top, math.Max(x.Open, x.Close))
	}
	if math.IsInf(l.low, 0) {
		l.low, l.top = l.panel.Table.Bottom(), l.panel.Table.Top()
	}
	spare := math.Max((rangeLeast-(l.top-l.low))/2, 0.08*(l.top-l.low))
	l.low, l.top = l.low-spare, l.top+spare
}

func (l *panelLayout) y(inches float64) float64 {
	return l.plot.y + (l.top-inches)/(l.top-l.low)*l.plot.h
}

// draw draws the panel, what lies below first.
func (l *panelLayout) draw(c *canvas, v *view, used *legend) {
	c.text(plotLeft, l.nameBaseline(), l.panel.Name, `font-size="14" font-weight="bold"`)
	c.text(plotLeft+textWidth(l.panel.Name)*14/fontSize+10, l.nameBaseline(), l.panel.About, `fill="`+middle+`"`)
	l.shadeGaps(c, v, used)
	v.grid(c, l.plot)
	l.levelAxis(c)
	l.shadeLoads(c, v, used)
	l.levelLine(c)
	l.badTicks(c, v, used)
	c.rect(l.plot, `fill="none" stroke="`+middle+`"`, "")
	if len(l.pieces) == 0 {
		c.text((plotLeft+plotRight)/2, l.plot.y+l.plot.h/2, "no level was read in this time", `text-anchor="middle" font-size="14" fill="`+middle+`"`)
	}
	if l.detailed {
		l.gaugeMarks(c, v)
	}
	l.drawLabels(c)
	l.drawEvents(c, used)
}

// nameBaseline is the baseline of the panel's name.
func (l *panelLayout) nameBaseline() float64 {
	y := l.plot.y
	for _, a := range l.labels {
		y = math.Min(y, a.box.y)
	}
	return y - 8
}

// legend explains the signs that occur in the picture.
type legend struct{ load, review, gap, bad, event bool }

// draw explains the signs that were used.
func (g legend) draw(c *canvas, y float64, out int) {
	x := plotLeft
	item := func(when bool, words string, sign func(b box)) {
		if !when {
			return
		}
		sign(box{x, y - 9, 22, 11})
		c.text(x+28, y, words, "")
		x += 28 + textWidth(words) + 12
	}
	fill := func(more string) func(box) { return func(b box) { c.rect(b, more, "") } }
	stroke := func(more string) func(box) {
		return func(b box) { c.line(b.x, b.y+b.h/2, b.x+b.w, b.y+b.h/2, more) }
	}
	item(true, "level", stroke(`stroke="`+ink+`" stroke-width="1.6"`))
	item(g.load, "load with a ticket", fill(loadLook))
	item(g.review, "load that a person should look at", fill(reviewLook))
	item(g.gap, "no readings", fill(`fill="url(#gap)"`))
	item(g.bad, "bad reading", func(b box) { c.line(b.x+11, b.y, b.x+11, b.y+b.h-2, badLook) })
	item(g.event, "event that is no load", func(b box) { c.rect(box{b.x, b.y + 1, b.w, b.h - 2}, eventLook, "") })
	item(true, "midnight", stroke(`stroke="#9a9a9a"`))
	item(true, "production day begins", stroke(`stroke="#9a9a9a" stroke-dasharray="7 4"`))
	if out > 0 {
		c.text(plotLeft, y+14, fmt.Sprintf("%d labels found no room; cut the picture with --from, --to or --tank", out), `fill="`+red+`"`)
	}
}
