// Package apply judges whether a changed configuration did good: what a site looked like before it and looks like with it, how long that
// is watched, and what is remembered of changes that went back.
//
// watch.go: two looks at a site are compared, purely. health.go makes a look of a site's status. effects.go: what a change does to
// loads under way, and which changes are refused. book.go: the trials of a store.
//
// # Decisions
//
// A reading that was good and is bad, a tank that stepped, a line that cannot keep up, a service that does not answer, a setting of it
// that cannot be used: each must last for a fifth of the watch, since a radio misses a beat without any change. What ends a
// watch in trouble is young trouble too.
//
// Of a device whose collector went on nothing new need come: its newest reading still holds. One that was started again is asked at
// once when it is polled. Of one that speaks when it likes silence counts only where it had spoken within the last fifth of a
// watch.
//
// A step is judged by the middle one of the first three levels, so that one false echo is none: more than an inch, and what a truck
// or a well can do meanwhile. Who means a tank to step names it.
//
// A failed file is known by the hash of all that it says, tables included; the next start does not load it either.
package apply

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Health is one look at a site.
type Health struct {
	At      time.Time
	Points  map[string]Point
	Tanks   map[string]Tank
	Lines   map[string]Line
	Lacking map[string]string // settings of the service that cannot be used, and why
	Service string            // why the service does not answer; empty: it does, or nobody asked
	Stuck   map[string]string // streams of which nothing is taken, and why
	Dead    uint64            // records that the service refused for good
}

// Point is its newest reading.
type Point struct {
	Good   bool
	Value  float64 // NaN: no number
	Unit   string
	At     time.Time
	Why    string // it is not good
	Polled bool
}

// Tank is its newest level.
type Tank struct {
	Level  *float64 // inches
	At     time.Time
	Why    string // there is none
	Moving bool   // a load is under way
}

// Line is one socket or port.
type Line struct {
	Load float64  // share of the time in which requests had it
	Late []string // devices whose round takes longer than its interval
}

// Watch compares looks at a site with the one before a change.
type Watch struct {
	Before  Health
	Began   time.Time // when the change was at work
	Length  time.Duration
	GoesOn  func(device string) bool // its collector was not started again
	Has     func(point string) bool  // the configuration still names it
	Changed func(point string) bool  // it is made of another number, or otherwise
	Moves   []string                 // tanks and points that are meant to step
	Service bool                     // something about the service was changed
	Speed   float64                  // of the site's time, where that is not the wall clock's
	Offsets map[string]float64       // inches by which the change itself moves the level of a tank

	levels map[string][]Tank    // the first ones of each tank since
	since  map[string]time.Time // each finding, as long as it lasts
}

// Patience of a finding before the change goes back.
func (w *Watch) Patience() time.Duration { return w.Length / 5 }

// Add joins a later look to the one before the change: what was good in either was good.
func (h *Health) Add(later Health) {
	for name, p := range later.Points {
		if p.Good || !h.Points[name].Good {
			h.Points[name] = p
		}
	}
	for id, t := range later.Tanks {
		if t.Level != nil || h.Tanks[id].Level == nil {
			h.Tanks[id] = t
		}
	}
	h.At, h.Dead = later.At, later.Dead
}

// AllGood says that nothing is bad in a look.
func (h *Health) AllGood() bool {
	for _, p := range h.Points {
		if !p.Good {
			return false
		}
	}
	return true
}

// Look judges the site as it is now: what is worse than before, and what of it has lasted long enough to go back.
func (w *Watch) Look(now Health) (worse, lasting []string) {
	found := w.findings(now)
	if w.since == nil {
		w.since = map[string]time.Time{}
	}
	maps.DeleteFunc(w.since, func(key string, _ time.Time) bool { _, still := found[key]; return !still })
	for _, key := range w.costliestFirst(found) {
		if w.since[key].IsZero() {
			w.since[key] = now.At
		}
		worse = append(worse, found[key])
		if now.At.Sub(w.since[key]) >= w.Patience() {
			lasting = append(lasting, found[key])
		}
	}
	return worse, lasting
}

// costliestFirst are the findings' keys with what a ticket is made of first: tanks, then points, then the rest; alike ones by their name.
func (w *Watch) costliestFirst(found map[string]string) (keys []string) {
	names := slices.Sorted(maps.Keys(found))
	for rank := range 3 {
		for _, key := range names {
			_, tank := w.Before.Tanks[key]
			_, point := w.Before.Points[key]
			if tank && rank == 0 || point && !tank && rank == 1 || !tank && !point && rank == 2 {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func (w *Watch) findings(now Health) map[string]string {
	found := map[string]string{}
	for name, before := range w.Before.Points {
		if text := w.pointWorse(name, before, now); text != "" {
			found[name] = text
		}
	}
	for id, before := range w.Before.Tanks {
		if text := w.tankWorse(id, before, now); text != "" {
			found[id] = text
		}
	}
	for name, line := range now.Lines {
		before := w.Before.Lines[name]
		switch {
		case len(line.Late) > len(before.Late):
			found[name] = fmt.Sprintf("the line %s is over its budget: a round of %s takes longer than its interval", name, strings.Join(line.Late, " and of "))
		case line.Load >= fullLine && before.Load < fullLine && now.At.Sub(w.Began) >= lineSpan:
			found[name] = fmt.Sprintf("the line %s is over its budget: requests have it %.0f %% of the time", name, 100*line.Load)
		}
	}
	for key, why := range now.Lacking {
		if _, before := w.Before.Lacking[key]; !before {
			found["lacking "+key] = why
		}
	}
	if w.Before.Service == "" && now.Service != "" {
		found["service"] = "the service is not reached any more: " + now.Service
	}
	for stream, why := range now.Stuck {
		if w.Service && len(w.Before.Stuck) == 0 && w.Before.Service == "" {
			found["stream "+stream] = "the service takes no " + stream + " any more: " + why
		}
	}
	if n := now.Dead - w.Before.Dead; w.Service && now.Dead > w.Before.Dead {
		found["refused"] = fmt.Sprintf("the service refused %d records since; `gauger outbox dead` shows them", n)
	}
	return found
}

// Of a line: fullLine is the share of time that leaves no room, lineSpan that over which a line tells its share.
const (
	fullLine = 0.97
	lineSpan = 90 * time.Second
)

func (w *Watch) pointWorse(name string, before Point, now Health) string {
	if !before.Good || !w.Has(name) {
		return ""
	}
	device, _, _ := strings.Cut(name, "/")
	p, known := now.Points[name]
	switch {
	case !known || p.At.Before(w.Began) && (p.At.IsZero() || !w.GoesOn(device)):
		if w.GoesOn(device) || !before.Polled && w.Before.At.Sub(before.At) > w.Patience() {
			return ""
		}
		return name + " was good and is not heard of any more" + because(p.Why)
	case !p.Good:
		return name + " was good and is not any more" + because(p.Why)
	case w.Changed(name) && p.Unit == before.Unit && jumped(before.Value, p.Value) && !slices.Contains(w.Moves, name):
		return fmt.Sprintf("%s stepped from %.6g to %.6g %s, as another number would; `--steps %s` says that it is meant to", name, before.Value, p.Value, p.Unit, name)
	}
	return ""
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// jumped says that a number became one of another size or sign, as a wrong word order or register makes it.
func jumped(before, now float64) bool {
	switch {
	case math.IsNaN(before) || math.IsNaN(now) || before == 0:
		return false
	case now == 0:
		return math.Abs(before) >= 1
	}
	ratio := now / before
	return ratio < 0.5 || ratio > 2
}

// Of a step, in inches and inches a minute: what is none, what a truck or a pump moves, and what a well does.
const (
	mostNoise  = 1
	mostDrawn  = 6
	mostFilled = 1
)

func (w *Watch) tankWorse(id string, before Tank, now Health) string {
	t, there := now.Tanks[id]
	if before.Level == nil || !there {
		return ""
	}
	if t.Level == nil {
		return "tank " + id + " had a level and has none" + because(t.Why)
	}
	if t.At.Before(w.Began) || slices.Contains(w.Moves, id) {
		return ""
	}
	if by := w.Offsets[id]; math.Abs(by) > mostNoise { // a draw or a rise beside it must not hide it
		return fmt.Sprintf("tank %s is moved by %+.2f in by its offset alone, to %.2f in; `--steps %s` says that it is meant to", id, by, *t.Level, id)
	}
	if w.levels == nil {
		w.levels = map[string][]Tank{}
	}
	first := w.levels[id]
	if len(first) < 3 && (len(first) == 0 || t.At.After(first[len(first)-1].At)) {
		first = append(first, t)
		w.levels[id] = first
	}
	var levels []float64
	for _, f := range first {
		levels = append(levels, *f.Level)
	}
	slices.Sort(levels)
	middle := first[slices.IndexFunc(first, func(f Tank) bool { return *f.Level == levels[len(levels)/2] })]
	rate := float64(mostFilled)
	if before.Moving || middle.Moving {
		rate = mostDrawn
	}
	moved := *middle.Level - *before.Level
	if math.Abs(moved) <= mostNoise+rate*max(1, w.Speed)*max(0, middle.At.Sub(before.At).Minutes()) {
		return ""
	}
	return fmt.Sprintf("tank %s stepped by %+.2f in, from %.2f to %.2f in; `--steps %s` says that it is meant to", id, moved, *before.Level, *middle.Level, id)
}
