package tank

import "time"

// Span is a stretch of time by the wall clock.
type Span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Hidden is the time between the readings before and after a load inside of which none came; nil: readings show the load.
// Start, End, Rate and Parts are estimates then, and nothing may be said from them.
func (l *Load) Hidden() *Span {
	if l.Unseen != nil || l.Samples > 0 {
		return l.Unseen
	}
	s := &Span{l.Start, l.End} // a load of before the span was kept
	if l.Trend == nil {
		return s
	}
	for _, sec := range l.Trend.Seconds {
		at := l.Start.Add(time.Duration(sec) * time.Second)
		if !at.After(l.Start) {
			s.From = at
		} else if !at.Before(l.End) {
			s.To = at
			break
		}
	}
	return s
}

// hiddenSpan is the time between the two readings over which a draw fell that has none inside; nil: it has some.
func (ts *tankState) hiddenSpan(d draw, speed float64) *Span {
	if d.samples > 0 {
		return nil
	}
	b := ts.levels.recent[max(0, searchTime(ts.levels.recent, d.start)-1):min(len(ts.levels.recent), searchTime(ts.levels.recent, d.end)+2)]
	from, to, fell := d.start, d.end, float32(0)
	for i := 1; i < len(b); i++ {
		if by := b[i-1].v - b[i].v; by > fell {
			from, to, fell = b[i-1].t, b[i].t, by
		}
	}
	return &Span{ts.clock.wall(from / speed), ts.clock.wall(to / speed)}
}
