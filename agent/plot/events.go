package plot

import (
	"fmt"
	"math"

	"gauger/agent/tank"
)

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
				if s.x = x; within && left >= plotLeft && right <= plotRight && b.occupy(box{left - 3, s.bar.y, right - left + 6, eventLane}) {
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
