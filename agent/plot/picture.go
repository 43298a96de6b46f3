// Package plot draws the levels of tanks as an SVG, with loads, events, gaps and bad readings. It is given them, and knows
// neither ledger nor wire: a room of its own, so that a recording, a daemon's answer and a test are drawn alike.
package plot

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"time"

	"gauger/agent/tank"
)

// Picture has a panel for each tank over one time axis.
type Picture struct {
	Title         string
	Zone          *time.Location
	ProductionDay time.Duration // since local midnight
	From, To      time.Time     // zero: as long as there are readings
	Wide          float64       // pixels; 0: as wide as a page
	Panels        []Panel
}

// Panel is one tank.
type Panel struct {
	Name   string
	About  string // a few words behind the name
	Table  tank.Table
	Level  *Series // nil: no readings
	Loads  []Load
	Events []tank.Event
}

// Load is a run ticket, or what will become one.
type Load struct {
	Number      string // empty: it has none yet
	Start, End  time.Time
	Open, Close float64 // in
	Bbl, Error  float64 // gauged, and give or take
	Review      string  // why a person should look at it; empty: nothing to look at
}

// Pixels of the page.
const (
	pageWidth  = 1400.0
	plotLeft   = 72.0
	rightRoom  = 76.0 // beside the plot, for barrels
	headHeight = 58.0
	axisHeight = 50.0
	legendRoom = 34.0
	legendLine = 14.0
)

// view places a time on the page.
type view struct {
	from, to float64 // seconds since 1970
	zone     *time.Location
	day      time.Duration
	wide     float64 // pixels of the page
}

// right is where the plots end.
func (v *view) right() float64 { return v.wide - rightRoom }

func (v *view) x(t float64) float64 {
	return plotLeft + (t-v.from)/(v.to-v.from)*(v.right()-plotLeft)
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// WriteTo writes the picture as an SVG of its own: no script, no font and no file besides. Labels that find no room are left out,
// and the picture says how many.
func (p Picture) WriteTo(w io.Writer) (int64, error) {
	v := p.view()
	c := &canvas{}
	y, out := headHeight, 0
	plans := make([]*panelLayout, len(p.Panels))
	for i := range p.Panels {
		plans[i] = p.Panels[i].layout(v, y, len(p.Panels))
		y, out = plans[i].bottom, out+plans[i].unplaced
	}
	room := legendRoom
	if v.wide < pageWidth {
		room += legendLine
	}
	c.begin(v, y+axisHeight+room)
	p.heading(c, v)
	used := legend{}
	for _, l := range plans {
		l.draw(c, v, &used)
	}
	v.timeAxis(c, y)
	used.draw(c, v, y+axisHeight+18, out)
	c.WriteString("</svg>\n")
	n, err := c.Buffer.WriteTo(w)
	if err != nil {
		return n, fmt.Errorf("write the picture: %w", err)
	}
	return n, nil
}

// plotHeight gives fewer panels more room.
func plotHeight(panels int) float64 {
	return math.Max(150, 460/math.Sqrt(float64(panels)))
}

// view spans all readings, where the picture was not cut.
func (p Picture) view() *view {
	v := &view{from: math.Inf(1), to: math.Inf(-1), zone: p.Zone, day: p.ProductionDay, wide: cmp.Or(p.Wide, pageWidth)}
	if v.zone == nil {
		v.zone = time.UTC
	}
	for _, t := range p.Panels {
		if t.Level == nil {
			continue
		}
		for _, s := range append(t.Level.good.between(clocksFrom, math.MaxFloat64), t.Level.bad.between(clocksFrom, math.MaxFloat64)...) {
			v.from, v.to = math.Min(v.from, s.from), math.Max(v.to, s.to)
		}
	}
	if !p.From.IsZero() {
		v.from = seconds(p.From)
	}
	if !p.To.IsZero() {
		v.to = seconds(p.To)
	}
	switch {
	case math.IsInf(v.from, 0) && math.IsInf(v.to, 0):
		v.from, v.to = clocksFrom, clocksFrom+86400
	case math.IsInf(v.from, 0):
		v.from = v.to - 86400
	case math.IsInf(v.to, 0):
		v.to = v.from + 86400
	}
	v.to = math.Max(v.to, v.from+60)
	return v
}

// begin writes the page, the patterns that a grey printer shows, and the white behind everything.
func (c *canvas) begin(v *view, height float64) {
	fmt.Fprintf(c, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" font-family="Helvetica, Arial, sans-serif" font-size="%s" fill="%s">
`, px(v.wide), px(height), px(v.wide), px(height), px(fontSize), ink)
	c.WriteString(`<defs>
<pattern id="review" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" fill="#fdeadd"/><path d="M0 0V7" stroke="#d98c5f" stroke-width="2"/></pattern>
<pattern id="gap" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#f3f3f3"/><circle cx="3" cy="3" r="0.9" fill="#b5b5b5"/></pattern>
`)
	fmt.Fprintf(c, `<clipPath id="plot"><rect x="%s" width="%s" height="%s"/></clipPath>
</defs>
`, px(plotLeft), px(v.right()-plotLeft), px(height))
	c.rect(box{0, 0, v.wide, height}, `fill="#fff"`, "")
}

// heading says which site, which tanks and which time this is. An hour that comes twice is told by its zone.
func (p Picture) heading(c *canvas, v *view) {
	c.text(plotLeft, 26, shortened(p.Title, int(90*v.wide/pageWidth)), `font-size="18" font-weight="bold"`)
	from, to := v.local(v.from), v.local(v.to)
	begin, end := "2 January 2006 15:04", "2 January 2006 15:04 MST"
	if from.Format("MST") != to.Format("MST") {
		begin = end
	}
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		end = "15:04 MST"
	}
	span := fmt.Sprintf("%s to %s", from.Format(begin), to.Format(end))
	if whole := fmt.Sprintf("%s (%s)", span, v.zone); plotLeft+textWidth(whole)*12/fontSize <= v.wide { // a phone has no room for its name
		span = whole
	}
	c.text(plotLeft, 45, span, `font-size="12" fill="`+middle+`"`)
}

func (v *view) local(t float64) time.Time { return time.Unix(0, int64(t*1e9)).In(v.zone) }

// box is a rectangle in pixels; x and y are its upper left corner.
type box struct{ x, y, w, h float64 }

func (b box) meets(o box) bool {
	return b.x < o.x+o.w && o.x < b.x+b.w && b.y < o.y+o.h && o.y < b.y+b.h
}

// occupied remembers where something is drawn, so that labels do not lie on each other.
type occupied struct{ boxes []box }

// occupy marks the boxes if all of them are free.
func (b *occupied) occupy(boxes ...box) bool {
	for _, n := range boxes {
		for _, t := range b.boxes {
			if n.meets(t) {
				return false
			}
		}
	}
	b.boxes = append(b.boxes, boxes...)
	return true
}
