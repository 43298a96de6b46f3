package plot

import (
	"cmp"
	"fmt"
	"math"

	"gauger/agent/tank"
)

const (
	loadLook   = `fill="#cfe4f2" stroke="#0072b2"`
	reviewLook = `fill="url(#review)" stroke="#b34700" stroke-dasharray="4 2"`
	lanesFull  = 3  // lanes of labels with everything in them
	lanesShort = 4  // and of those with barrels only
	reasonWide = 46 // characters of a line of reasons
	reasonMost = 3  // lines
)

// loadLabel is the words above a load.
type loadLabel struct {
	box    box
	lines  []string
	review bool
	stem   float64 // x of the line down to the load
}

// placeLabels puts a label above each load: with everything where there is room for all, else with the barrels alone. It
// returns the height that they need.
func (l *panelLayout) placeLabels(v *view, y float64) float64 {
	height, out := l.stackLabels(v, y, (*Load).details, lanesFull)
	if out > 0 {
		height, out = l.stackLabels(v, y, (*Load).barrels, lanesShort)
	}
	l.unplaced += out
	return height
}

// stackLabels places the labels in lanes, the lowest first, and counts those that find no room.
func (l *panelLayout) stackLabels(v *view, y float64, lines func(*Load) []string, lanes int) (height float64, out int) {
	l.labels = nil
	lane := 0.0
	for i := range l.loads {
		x := &l.loads[i]
		lane = math.Max(lane, float64(len(lines(x)))*lineSize+4)
	}
	var b occupied
	deepest := 0
	for i := range l.loads {
		x := &l.loads[i]
		a, at, ok := l.findLabelPlace(&b, v, i, lines(x), lane, lanes)
		if !ok {
			out++
			continue
		}
		deepest = max(deepest, at+1)
		l.labels = append(l.labels, a)
	}
	height = float64(deepest) * lane
	for i := range l.labels { // they were placed above a plot at 0
		l.labels[i].box.y += y + height
	}
	return height, out
}

// findLabelPlace finds the lowest lane with room for the label of a load. Its stem may pass behind the labels below; where
// another load is near it stands on the other side.
func (l *panelLayout) findLabelPlace(b *occupied, v *view, i int, lines []string, lane float64, lanes int) (a loadLabel, at int, ok bool) {
	x := &l.loads[i]
	w := 0.0
	for i, words := range lines {
		size := textWidth(words)
		if i == 0 {
			size *= 1.1 // bold
		}
		w = math.Max(w, size)
	}
	stem := l.stem(v, i)
	sides := [3]float64{stem - w/2, stem - 8, stem - w + 8}
	before, behind := i > 0 && stem-l.stem(v, i-1) < w, i+1 < len(l.loads) && l.stem(v, i+1)-stem < w
	switch {
	case before && !behind:
		sides[0], sides[1] = sides[1], sides[0]
	case behind && !before:
		sides[0], sides[2] = sides[2], sides[0]
	}
	for at = range lanes {
		for _, left := range sides {
			left = math.Max(plotLeft, math.Min(left, v.right()-w))
			a = loadLabel{lines: lines, review: x.Review != "", stem: stem, box: box{left, -float64(at+1) * lane, w, float64(len(lines)) * lineSize}}
			if b.occupy(box{left - 5, a.box.y, w + 10, lane}) {
				return a, at, true
			}
		}
	}
	return a, at, false
}

// stem is the middle of a load, as far as it lies in the picture.
func (l *panelLayout) stem(v *view, i int) float64 {
	x := &l.loads[i]
	return (v.x(math.Max(seconds(x.Start), v.from)) + v.x(math.Min(seconds(x.End), v.to))) / 2
}

func (x *Load) details() []string {
	number := cmp.Or(x.Number, "not final yet")
	lines := []string{number, fmt.Sprintf("%s to %s, %.1f bbl", tank.Length(x.Open).Gauge(), tank.Length(x.Close).Gauge(), x.Bbl)}
	if x.Error > 0 {
		lines[1] += fmt.Sprintf(" ± %.1f", x.Error)
	}
	if x.Review != "" {
		reasons := wrapped("review: "+x.Review, reasonWide)
		if len(reasons) > reasonMost {
			reasons[reasonMost-1] += "…"
		}
		lines = append(lines, reasons[:min(len(reasons), reasonMost)]...)
	}
	return lines
}

func (x *Load) barrels() []string { return []string{fmt.Sprintf("%.0f bbl", x.Bbl)} }

// shadeLoads shade the loads from start to end.
func (l *panelLayout) shadeLoads(c *canvas, v *view, used *legend) {
	for i := range l.loads {
		x := &l.loads[i]
		look := loadLook
		if x.Review != "" {
			look, used.review = reviewLook, true
		} else {
			used.load = true
		}
		from, to := v.x(math.Max(seconds(x.Start), v.from)), v.x(math.Min(seconds(x.End), v.to))
		if !l.detailed {
			c.rect(box{from, l.plot.y, math.Max(to-from, 2), l.plot.h}, look, "")
			continue
		}
		title := fmt.Sprintf("%s: %s to %s. %s", x.details()[0], v.local(seconds(x.Start)).Format("2 Jan 15:04:05"), v.local(seconds(x.End)).Format("15:04:05"), x.details()[1])
		if x.Review != "" {
			title += ". Review: " + x.Review
		}
		c.rect(box{from, l.plot.y, math.Max(to-from, 2), l.plot.h}, look+` fill-opacity="0.75"`, title)
	}
}

func (a loadLabel) colour() string {
	if a.review {
		return red
	}
	return blue
}

func (l *panelLayout) drawLabels(c *canvas) {
	for _, a := range l.labels {
		c.line(a.stem, a.box.y+a.box.h, a.stem, l.plot.y, `stroke="`+a.colour()+`" stroke-width="0.8"`)
	}
	for _, a := range l.labels {
		c.rect(box{a.box.x - 3, a.box.y, a.box.w + 6, a.box.h + 1}, `fill="#fff"`, "")
		for i, words := range a.lines {
			more := ""
			switch {
			case i == 0:
				more = `font-weight="bold" fill="` + a.colour() + `"`
			case i >= 2:
				more = `fill="` + a.colour() + `"`
			}
			c.text(a.box.x, a.box.y+float64(i+1)*lineSize-3, words, more)
		}
	}
}

// gaugeMarks marks the opening and the closing of each load, with words where they hide nothing.
func (l *panelLayout) gaugeMarks(c *canvas, v *view) {
	var b occupied
	for i := range l.loads {
		x := &l.loads[i]
		l.gaugeMark(c, v, &b, seconds(x.Start), x.Open)
		l.gaugeMark(c, v, &b, seconds(x.End), x.Close)
	}
	for i := range l.loads {
		x := &l.loads[i]
		if x.Review != "" { // the level may not show the way from one to the other
			c.line(v.x(seconds(x.Start)), l.y(x.Open), v.x(seconds(x.End)), l.y(x.Close), `stroke="`+red+`" stroke-width="1.4" stroke-dasharray="3 3" clip-path="url(#plot)"`)
		}
		l.gaugeText(c, v, &b, seconds(x.Start), x.Open, [][2]float64{{-1, -1}, {-1, 0}, {1, -1}, {-1, 1}, {1, 0}})
		l.gaugeText(c, v, &b, seconds(x.End), x.Close, [][2]float64{{1, 1}, {1, 0}, {-1, 1}, {1, -1}, {-1, 0}})
	}
}

func (l *panelLayout) gaugeMark(c *canvas, v *view, b *occupied, at, inches float64) {
	if at < v.from || at > v.to {
		return
	}
	x, y := v.x(at), l.y(inches)
	c.circle(x, y, 4, `fill="#fff" stroke="`+ink+`" stroke-width="1.6"`)
	b.boxes = append(b.boxes, box{x - 5, y - 5, 10, 10})
}

// gaugeText writes what a gauge reads beside its mark, on the first of the sides that is free; without its barrels where those have no room.
func (l *panelLayout) gaugeText(c *canvas, v *view, b *occupied, at, inches float64, sides [][2]float64) {
	if at < v.from || at > v.to {
		return
	}
	words := tank.Length(inches).Gauge()
	if bbl, err := l.panel.Table.Barrels(inches); err == nil && l.writtenBeside(c, v, b, at, inches, words+fmt.Sprintf(" = %.1f bbl", bbl), sides) {
		return
	}
	l.writtenBeside(c, v, b, at, inches, words, sides)
}

// writtenBeside writes words on the first of the sides of a mark that is free; false where none is.
func (l *panelLayout) writtenBeside(c *canvas, v *view, b *occupied, at, inches float64, words string, sides [][2]float64) bool {
	w, x, y := textWidth(words), v.x(at), l.y(inches)
	for _, side := range sides {
		area := box{x + 8, y - lineSize/2 + side[1]*12, w, lineSize}
		if side[0] < 0 {
			area.x = x - 8 - w
		}
		inside := area.x > plotLeft && area.x+w < v.right() && area.y > l.plot.y && area.y+area.h < l.plot.y+l.plot.h
		if inside && !l.levelCrosses(area) && b.occupy(area) {
			c.text(area.x, area.y+lineSize-3, words, halo)
			return true
		}
	}
	return false
}

const (
	eventLook  = `fill="#ece4f5" stroke="#6a4c93"`
	eventLane  = 17.0
	eventLanes = 7
	notesMost  = 10 // events of a panel up to which their notes are written out
	noteMost   = 110
)

// eventBar is an event below the plot.
type eventBar struct {
	event *tank.Event
	bar   box
	words string
	x, y  float64 // of the words
}

// placeEvents puts the events into lanes below y and returns where they end.
func (l *panelLayout) placeEvents(v *view, y float64) float64 {
	var b occupied
	deepest := 0
	for i := range l.events {
		e := &l.events[i]
		s, lane, ok := findLane(e, &b, v, len(l.events) <= notesMost)
		if !ok {
			l.unplaced++
			continue
		}
		deepest = max(deepest, lane+1)
		s.bar.y, s.y = s.bar.y+y, s.y+y
		l.eventBars = append(l.eventBars, s)
	}
	return y + float64(deepest)*eventLane
}

// findLane finds a lane with room for an event's bar and as many of its words as possible.
func findLane(e *tank.Event, b *occupied, v *view, notes bool) (s eventBar, lane int, ok bool) {
	from, to := v.x(math.Max(seconds(e.Start), v.from)), v.x(math.Min(seconds(e.End), v.to))
	s = eventBar{event: e, bar: box{from, 0, math.Max(to-from, 3), eventLane - 5}}
	all := []string{e.Rule}
	if notes && e.Note != "" {
		all = []string{shortened(e.Rule+": "+e.Note, noteMost), shortened(e.Rule+": "+e.Note, noteMost/2), e.Rule}
	}
	for _, s.words = range all {
		w := textWidth(s.words)
		for lane = range eventLanes {
			s.bar.y = float64(lane) * eventLane
			s.y = s.bar.y + lineSize - 3.5
			for _, x := range []float64{s.bar.x + s.bar.w + 5, s.bar.x - 5 - w, s.bar.x + 4} {
				left, right := math.Min(x, s.bar.x), math.Max(x+w, s.bar.x+s.bar.w)
				within := x != s.bar.x+4 || w+8 < s.bar.w
				if s.x = x; within && left >= plotLeft && right <= v.right() && b.occupy(box{left - 3, s.bar.y, right - left + 6, eventLane}) {
					return s, lane, true
				}
			}
		}
	}
	s.words = ""
	return s, 0, false
}

// drawEvents draws the events, each with a thin line up to the level.
func (l *panelLayout) drawEvents(c *canvas, used *legend) {
	for _, s := range l.eventBars {
		used.event = true
		if !l.detailed {
			continue
		}
		top := l.plot.y
		c.line(s.bar.x, top, s.bar.x, s.bar.y, `stroke="#6a4c93" stroke-width="0.7" stroke-dasharray="1 3"`)
		if s.bar.w > 3 {
			c.line(s.bar.x+s.bar.w, top, s.bar.x+s.bar.w, s.bar.y, `stroke="#6a4c93" stroke-width="0.7" stroke-dasharray="1 3"`)
		}
	}
	for _, s := range l.eventBars {
		e := s.event
		title := ""
		if l.detailed {
			title = fmt.Sprintf("%s, %s long: %s", e.Rule, e.End.Sub(e.Start), e.Note)
		}
		c.rect(s.bar, eventLook, title)
		c.text(s.x, s.y, s.words, halo)
	}
}
