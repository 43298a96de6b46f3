package ledger

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"gauger/collectors"
)

// latestReadings holds the last reading of every point, by device: a site may have a hundred thousand points, on a box with
// little memory. A poll's readings come in the same order each time and mostly differ in point and value alone; so
// their places are guessed, and the rest of them is kept once for all.
type latestReadings struct {
	devices map[string]*deviceReadings
	spare   *sharedReading // one that nobody uses any more: so the next need not be made
}

// deviceReadings is one device's points and their readings.
type deviceReadings struct {
	points   []collectors.Point
	readings []compactReading
	index    map[collectors.Point]int // made when readings have come in another order; nil: they never have
}

// compactReading is a reading taken apart: rest is everything but its point and its value.
type compactReading struct {
	value float64
	rest  *sharedReading
}

// sharedReading is what so many readings have in common.
type sharedReading struct {
	collectors.Reading
	users int
}

// store keeps a batch, and nothing of the slice.
func (n *latestReadings) store(batch []collectors.Reading) {
	var last *sharedReading
	var device string
	var s *deviceReadings
	at := 0
	for i := range batch { // by its place: a reading is large, and a site has thousands a second
		r := &batch[i]
		if last == nil || !alike(r, &last.Reading) {
			last = n.share(*r)
		}
		if d := len(device); s == nil || len(r.Point) <= d || r.Point[d] != '/' || string(r.Point[:d]) != device {
			device = deviceOf(r.Point)
			s, at = n.device(device, len(batch)), 0
		}
		if at >= len(s.points) || s.points[at] != r.Point {
			at = s.indexOf(r.Point, at)
		}
		before := s.readings[at].rest
		last.users++
		s.readings[at] = compactReading{r.Value, last}
		if before != nil {
			n.release(before)
		}
		at++
	}
}

// alike says whether two readings differ in point and value at most. Errors are not compared: some of their types cannot be.
func alike(a, b *collectors.Reading) bool {
	return a.Err == nil && b.Err == nil && a.At == b.At && a.Asked == b.Asked && a.Unit == b.Unit && a.Quality == b.Quality && a.Text == b.Text &&
		a.Past == b.Past && a.AgeUnknown == b.AgeUnknown && a.Boot == b.Boot && a.Mono == b.Mono
}

// share takes a place for what readings have in common.
func (n *latestReadings) share(r collectors.Reading) *sharedReading {
	s := n.spare
	if n.spare = nil; s == nil {
		s = new(sharedReading)
	}
	s.Reading, s.Point, s.Value = r, "", 0
	return s
}

// release says that one reading less has this.
func (n *latestReadings) release(s *sharedReading) {
	if s.users--; s.users == 0 {
		*s, n.spare = sharedReading{}, s
	}
}

// device is the device's, a new one with room for so many points.
func (n *latestReadings) device(device string, room int) *deviceReadings {
	if n.devices == nil {
		n.devices = map[string]*deviceReadings{}
	}
	if n.devices[device] == nil {
		n.devices[device] = &deviceReadings{points: make([]collectors.Point, 0, room), readings: make([]compactReading, 0, room)}
	}
	return n.devices[device]
}

// indexOf finds the point, probably at the guess; a new one is given a place.
func (s *deviceReadings) indexOf(p collectors.Point, guess int) int {
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

// find gives the point's index; negative: it has none.
func (s *deviceReadings) find(p collectors.Point) int {
	if s.index == nil {
		return slices.Index(s.points, p)
	}
	if at, ok := s.index[p]; ok {
		return at
	}
	return -1
}

func (s *deviceReadings) add(p collectors.Point) int {
	at := len(s.points)
	s.points, s.readings = append(s.points, p), append(s.readings, compactReading{})
	if s.index != nil {
		s.index[p] = at
	}
	return at
}

// get is the last reading of a point, if there has been one.
func (n *latestReadings) get(p collectors.Point) (collectors.Reading, bool) {
	s := n.devices[deviceOf(p)]
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
func (n *latestReadings) all() []collectors.Reading {
	var all []collectors.Reading
	for _, s := range n.devices {
		for at := range s.points {
			all = append(all, s.reading(at))
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Point < all[j].Point }) // slices.SortFunc costs the binary more
	return all
}

func (s *deviceReadings) reading(at int) collectors.Reading {
	r := s.readings[at].rest.Reading
	r.Point, r.Value = s.points[at], s.readings[at].value
	return r
}

// deviceOf is the part of a point's name before the slash.
func deviceOf(p collectors.Point) string {
	device, _, _ := strings.Cut(string(p), "/")
	return device
}

// withoutHistorical is a batch without what devices kept and tell afterwards; the batch itself, mostly.
func withoutHistorical(batch []collectors.Reading) []collectors.Reading {
	for i := range batch {
		if batch[i].Past {
			return slices.DeleteFunc(slices.Clone(batch), func(r collectors.Reading) bool { return r.Past })
		}
	}
	return batch
}

// watchers are the people who look on while readings arrive.
type watchers struct {
	mu  sync.Mutex
	all []chan []collectors.Reading
}

// send gives everyone a copy of the batch; who is slow misses it. Looking on must never hold up the disk.
func (w *watchers) send(batch []collectors.Reading) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) > 0 {
		batch = slices.Clone(batch)
	}
	for _, c := range w.all {
		select {
		case c <- batch:
		default:
		}
	}
}
