package plot

import (
	"fmt"
	"math"
	"sort"
	"time"

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
	l := &panelLayout{panel: p, columnWidth: math.Ceil(float64(panels) * (v.right() - plotLeft) / columnsAll)}
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
	l.plot = box{plotLeft, y + nameHeight + room, v.right() - plotLeft, plotHeight(panels)}
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
		c.text((plotLeft+v.right())/2, l.plot.y+l.plot.h/2, "no level was read in this time", `text-anchor="middle" font-size="14" fill="`+middle+`"`)
	}
	if l.detailed {
		l.gaugeMarks(c, v)
	}
	l.drawLabels(c)
	l.drawEvents(c, used)
}

func (l *panelLayout) nameBaseline() float64 {
	y := l.plot.y
	for _, a := range l.labels {
		y = math.Min(y, a.box.y)
	}
	return y - 8
}

// legend explains the signs that occur in the picture.
type legend struct{ load, review, gap, bad, event bool }

// draw explains the signs that were used, in two lines where one is too long.
func (g legend) draw(c *canvas, v *view, y float64, out int) {
	x := plotLeft
	item := func(when bool, words string, sign func(b box)) {
		if !when {
			return
		}
		if x > plotLeft && x+28+textWidth(words) > v.wide {
			x, y = plotLeft, y+legendLine
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
		c.text(plotLeft, y+legendLine, fmt.Sprintf("%d labels found no room; cut the picture with --from, --to or --tank", out), `fill="`+red+`"`)
	}
}

// tickSteps are the distances between two labels of the time axis, in minutes; beyond a day they are days.
var tickSteps = []int{1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2 * 1440, 7 * 1440, 14 * 1440, 28 * 1440, 91 * 1440, 365 * 1440}

const (
	ticksMost   = 15           // on a page, and
	ticksLeast  = 7            // on a narrow one
	midnightsIn = 45 * 86400.0 // s; a longer picture has no line for each day
)

// ticks are the instants of the time axis, at whole local times, and whether they stand for days.
func (v *view) ticks() (all []time.Time, days bool) {
	step, most := tickSteps[len(tickSteps)-1], math.Max(ticksLeast, ticksMost*v.wide/pageWidth)
	for _, s := range tickSteps {
		if (v.to-v.from)/60/float64(s) <= most {
			step = s
			break
		}
	}
	t := v.local(v.from)
	y, m, d := t.Date()
	if step >= 1440 {
		for t = time.Date(y, m, d, 0, 0, 0, 0, v.zone); seconds(t) <= v.to; t = t.AddDate(0, 0, step/1440) {
			all = append(all, t)
		}
		return v.within(all), true
	}
	// one day after the other, so that whole hours stay whole over a change to summer time
	for day := 0; seconds(t) <= v.to; day++ {
		for minute := 0; minute < 1440; minute += step {
			t = time.Date(y, m, d+day, 0, minute, 0, 0, v.zone)
			if t.Hour()*60+t.Minute() == minute { // else summer time has left this hour out
				all = append(all, t)
			}
		}
	}
	return v.within(all), false
}

func (v *view) within(all []time.Time) (in []time.Time) {
	for _, t := range all {
		if s := seconds(t); s >= v.from && s <= v.to {
			in = append(in, t)
		}
	}
	return in
}

// daily are the instants of one time of day; nil where the picture is too long for that.
func (v *view) daily(at time.Duration) (all []time.Time) {
	if v.to-v.from > midnightsIn {
		return nil
	}
	y, m, d := v.local(v.from).Date()
	for day := -1; ; day++ {
		t := time.Date(y, m, d+day, 0, 0, 0, 0, v.zone)
		t = time.Date(t.Year(), t.Month(), t.Day(), int(at.Hours()), int(at.Minutes())%60, 0, 0, v.zone)
		if seconds(t) > v.to {
			return all
		}
		all = append(all, t)
	}
}

// grid draws the lines of the time axis through a panel.
func (v *view) grid(c *canvas, b box) {
	ticks, _ := v.ticks()
	for _, t := range ticks {
		x := v.x(seconds(t))
		c.line(x, b.y, x, b.y+b.h, `stroke="#ececec"`)
	}
	for _, t := range v.within(v.daily(0)) {
		x := v.x(seconds(t))
		c.line(x, b.y, x, b.y+b.h, `stroke="#9a9a9a"`)
	}
	for _, t := range v.within(v.daily(v.day)) {
		x := v.x(seconds(t))
		c.line(x, b.y, x, b.y+b.h, `stroke="#9a9a9a" stroke-dasharray="7 4"`)
	}
}

// timeAxis writes times, dates and production days below the last panel.
func (v *view) timeAxis(c *canvas, y float64) {
	c.line(plotLeft, y, v.right(), y, `stroke="`+middle+`"`)
	var times, dates occupied
	ticks, days := v.ticks()
	if !days {
		for _, t := range v.within(v.daily(0)) {
			v.axisLabel(c, &dates, seconds(t), y+29, t.Format("Mon 2 Jan"), `font-weight="bold"`)
		}
		v.axisLabel(c, &dates, v.from, y+29, v.local(v.from).Format("Mon 2 Jan"), `font-weight="bold"`)
	}
	for _, t := range ticks {
		x := v.x(seconds(t))
		c.line(x, y, x, y+4, `stroke="`+middle+`"`)
		layout := "15:04"
		if days {
			layout = "Mon 2 Jan"
		}
		v.axisLabel(c, &times, seconds(t), y+15, t.Format(layout), "")
	}
	v.productionDays(c, y+36)
}

// axisLabel writes words centred below a time, if nothing stands there.
func (v *view) axisLabel(c *canvas, b *occupied, t, y float64, words, more string) {
	w := textWidth(words)
	x := math.Min(math.Max(v.x(t), plotLeft+w/2), v.right()-w/2)
	if b.occupy(box{x - w/2 - 3, y - fontSize, w + 6, lineSize}) {
		c.text(x, y, words, `text-anchor="middle" `+more)
	}
}

// productionDays names each production day between its two ends.
func (v *view) productionDays(c *canvas, y float64) {
	begins := v.daily(v.day)
	for i, t := range begins {
		from, to := seconds(t), seconds(t.AddDate(0, 0, 1))
		if i+1 < len(begins) {
			to = seconds(begins[i+1])
		}
		x1, x2 := math.Max(v.x(from), plotLeft), math.Min(v.x(to), v.right())
		words := "production day " + t.Format("2 Jan")
		if x2-x1 < textWidth(words)+10 {
			words = t.Format("2 Jan")
		}
		if x2 <= x1 || x2-x1 < textWidth(words)+4 {
			continue
		}
		c.line(x1+2, y+1, x2-2, y+1, `stroke="`+middle+`" stroke-width="1.5"`)
		c.text((x1+x2)/2, y+12, words, `text-anchor="middle" font-size="10" fill="`+middle+`"`)
	}
}

// levelSteps are the distances between two labels of the level axis, in inches.
var levelSteps = []float64{1, 2, 3, 6, 12, 24, 36, 48, 60, 120, 240}

// levelAxis draws the level axis: feet and inches on the left, barrels by the tank's table on the right.
func (l *panelLayout) levelAxis(c *canvas) {
	step := levelSteps[len(levelSteps)-1]
	for _, s := range levelSteps {
		if (l.top-l.low)/s <= l.plot.h/34 {
			step = s
			break
		}
	}
	places := 0
	if step*l.panel.Table.PerInch((l.top+l.low)/2) < 5 {
		places = 1
	}
	for at := math.Ceil(l.low/step) * step; at <= l.top; at += step {
		y := l.y(at)
		c.line(plotLeft, y, l.plot.x+l.plot.w, y, `stroke="#ececec"`)
		c.text(plotLeft-6, y+4, footInch(at), `text-anchor="end"`)
		if bbl, err := l.panel.Table.Barrels(at); err == nil {
			c.text(l.plot.x+l.plot.w+6, y+4, fmt.Sprintf("%.*f bbl", places, bbl), `fill="`+middle+`"`)
		}
	}
}

// footInch is a whole number of inches as feet and inches.
func footInch(in float64) string {
	n := int(math.Round(in))
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf(`%s%d' %d"`, sign, n/12, n%12)
}
