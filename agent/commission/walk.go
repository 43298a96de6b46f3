// Package commission is the walk of a technician through the points of a new site, or of one whose gauges were worked on: what is
// left to be looked at (walk.go), what a hand gauge says of a tank's level (judge.go), whether the order of words is the right
// one (order.go), and the memo of it (memo.go). It reads nothing and asks nobody: a command does.
//
// # Decisions
//
// What was found is kept after each point, with where the number was read. A point that is read from another place since then,
// or in another type or unit, has to be looked at again.
package commission

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
)

// Level is the role of the point that makes a tank's tickets.
const Level = "level"

// Place is a point that is walked to.
type Place struct {
	Point          collectors.Point
	Tank           string // whose; empty: no tank's
	Role           string // what it is to the tank, as in the configuration
	Source         string // where and how it is read
	Height, Offset tank.Length
}

// Outcomes of a visit.
const (
	Agrees = "agrees" // with the hand gauge, or with what the person sees
	Offset = "offset" // with the hand gauge, by an offset that is new
	Wrong  = "wrong"  // and to be mended
)

// Visit is what was found at a place.
type Visit struct {
	Point   collectors.Point `json:"point"`
	Tank    string           `json:"tank,omitempty"`
	Role    string           `json:"role,omitempty"`
	Source  string           `json:"source"`
	At      time.Time        `json:"at"`
	By      string           `json:"by"`
	Outcome string           `json:"outcome"`
	Read    string           `json:"read"`                    // the reading with its unit
	Level   tank.Length      `json:"level_inches,omitempty"`  // without an offset
	Gauge   tank.Length      `json:"gauge_inches,omitempty"`  // by hand
	Offset  tank.Length      `json:"offset_inches,omitempty"` // that is in force from now on
	Order   string           `json:"order,omitempty"`         // what is known of the order of words
	Note    string           `json:"note,omitempty"`          // why it is wrong
	Memo    string           `json:"memo,omitempty"`          // where the memo of it was queued; empty: it is owed
}

// Walk is what was found so far. Its JSON is kept between two runs.
type Walk struct {
	Visits []Visit `json:"visits"`
}

// Parse reads a walk.
func Parse(text []byte) (w Walk, err error) {
	if err := json.Unmarshal(text, &w); err != nil {
		return w, fmt.Errorf("read what was commissioned before: %w", err)
	}
	return w, nil
}

// Text is the walk as it is kept.
func (w Walk) Text() ([]byte, error) {
	b, err := json.MarshalIndent(w, "", "  ")
	return append(b, '\n'), err
}

// Add keeps what was found at a place, in the place of what was found there before.
func (w *Walk) Add(v Visit) {
	if i := w.index(v.Point); i >= 0 {
		w.Visits[i] = v
		return
	}
	w.Visits = append(w.Visits, v)
}

func (w Walk) index(p collectors.Point) int {
	return slices.IndexFunc(w.Visits, func(v Visit) bool { return v.Point == p })
}

// Forget lets places be looked at anew.
func (w *Walk) Forget(places []Place) {
	w.Visits = slices.DeleteFunc(w.Visits, func(v Visit) bool {
		return slices.ContainsFunc(places, func(p Place) bool { return p.Point == v.Point })
	})
}

// Of is what was found at a place, if that still holds.
func (w Walk) Of(p Place) (Visit, bool) {
	i := w.index(p.Point)
	if i < 0 || w.Visits[i].Source != p.Source || w.Visits[i].Tank != p.Tank || w.Visits[i].Role != p.Role {
		return Visit{}, false
	}
	return w.Visits[i], true
}

// Left are the places that were not looked at yet, or were found wrong.
func (w Walk) Left(places []Place) (left []Place) {
	for _, p := range places {
		if v, ok := w.Of(p); !ok || v.Outcome == Wrong {
			left = append(left, p)
		}
	}
	return left
}

// Owed are the visits whose memo is not queued yet, of the tanks, and of the points of no tank, of which every place is right.
func (w Walk) Owed(places []Place) map[string][]Visit {
	open := map[string]bool{}
	owed := map[string][]Visit{}
	for _, p := range places {
		v, ok := w.Of(p)
		if !ok || v.Outcome == Wrong {
			open[p.Tank] = true
		} else if v.Memo == "" {
			owed[p.Tank] = append(owed[p.Tank], v)
		}
	}
	for tank := range open {
		delete(owed, tank)
	}
	return owed
}

// Queued notes where the memo of visits stands.
func (w *Walk) Queued(visits []Visit, where string) {
	for _, v := range visits {
		if i := w.index(v.Point); i >= 0 {
			w.Visits[i].Memo = where
		}
	}
}
