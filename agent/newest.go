package agent

import (
	"slices"
	"sort"

	"gauger/collectors"
)

// newest holds the last reading of every point, by device: a site may have a hundred thousand points, on a box with
// little memory. A poll's readings come in the same order each time and mostly differ in point and value alone; so
// their places are guessed, and the rest of them is kept once for all.
type newest map[string]*shelf

// shelf is one device's points and their readings.
type shelf struct {
	points []collectors.Point
	held   []held
	index  map[collectors.Point]int // made when readings have come in another order; nil: they never have
}

// held is a reading taken apart: rest is everything but its point and its value.
type held struct {
	value float64
	rest  *collectors.Reading
}

// take keeps a batch, and nothing of the slice.
func (n newest) take(batch []collectors.Reading) {
	var last *collectors.Reading
	var device string
	var s *shelf
	at := 0
	for _, r := range batch {
		point, value := r.Point, r.Value
		r.Point, r.Value = "", 0
		// Errors are not compared: some of their types cannot be.
		if last == nil || last.Err != nil || r.Err != nil || r != *last {
			last = new(r)
		}
		if d := deviceOf(point); s == nil || d != device {
			device, s, at = d, n.shelf(d, len(batch)), 0
		}
		at = s.place(point, at)
		s.held[at] = held{value, last}
		at++
	}
}

// shelf is the device's, a new one with room for so many points.
func (n newest) shelf(device string, room int) *shelf {
	if n[device] == nil {
		n[device] = &shelf{points: make([]collectors.Point, 0, room), held: make([]held, 0, room)}
	}
	return n[device]
}

// place is where the point stands, which is probably the guess; a new one is given a place.
func (s *shelf) place(p collectors.Point, guess int) int {
	if guess < len(s.points) && s.points[guess] == p {
		return guess
	}
	if guess < len(s.points) && s.index == nil {
		s.index = map[collectors.Point]int{}
		for i, known := range s.points {
			s.index[known] = i
		}
	}
	at := s.find(p)
	if at < 0 {
		at = s.add(p)
	}
	return at
}

// find is where the point stands; negative: it does not.
func (s *shelf) find(p collectors.Point) int {
	if s.index == nil {
		return slices.Index(s.points, p)
	}
	if at, ok := s.index[p]; ok {
		return at
	}
	return -1
}

func (s *shelf) add(p collectors.Point) int {
	at := len(s.points)
	s.points, s.held = append(s.points, p), append(s.held, held{})
	if s.index != nil {
		s.index[p] = at
	}
	return at
}

// get is the last reading of a point, if there has been one.
func (n newest) get(p collectors.Point) (collectors.Reading, bool) {
	s := n[deviceOf(p)]
	if s == nil {
		return collectors.Reading{}, false
	}
	at := s.find(p)
	if at < 0 {
		return collectors.Reading{}, false
	}
	return s.reading(at), true
}

// all are the last readings of all points, by name.
func (n newest) all() []collectors.Reading {
	var all []collectors.Reading
	for _, s := range n {
		for at := range s.points {
			all = append(all, s.reading(at))
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Point < all[j].Point }) // slices.SortFunc costs the binary more
	return all
}

func (s *shelf) reading(at int) collectors.Reading {
	r := *s.held[at].rest
	r.Point, r.Value = s.points[at], s.held[at].value
	return r
}
