package ledger

import (
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"gauger/collectors"
)

// latestReadings holds the last reading of every point, by device: a site may have a hundred thousand points, on a box with
// little memory. A poll's readings come in the same order each time and mostly differ in point and value alone; so
// their places are guessed, and the rest of them is kept once for all.
type latestReadings struct {
	devices map[string]*deviceReadings
	spare   *sharedReading // one that nobody uses any more: so the next need not be made
}

// deviceReadings is one device's points and their readings. A string or a pointer for each point would double it.
type deviceReadings struct {
	names  []byte           // of all points, one behind the other, each from behind the device on
	points []compactReading // in the order of names
	rests  []*sharedReading // nil where it is free; the first always is
	free   []uint32         // the other free places in rests
	index  map[string]int   // of the names, made when readings have come in another order; nil: they never have
}

// compactReading is a reading taken apart.
type compactReading struct {
	value   float64
	nameEnd uint32 // in names; it begins where the one before ends
	rest    uint32 // where everything but point and value is in rests; 0: there was no reading yet
}

// sharedReading is what so many readings of a device have in common.
type sharedReading struct {
	collectors.Reading
	users int
}

// store keeps a batch, and nothing of the slice. What a device tells late does not take the place of what it told of a later time, unless
// that time is still to come: then the clock that it was told by went back.
func (n *latestReadings) store(batch []collectors.Reading) {
	now := time.Now()
	var device string
	var s *deviceReadings
	var rest uint32
	at := 0
	for i := range batch { // by its place: a reading is large, and a site has thousands a second
		r := &batch[i]
		if s == nil || !isOf(device, r.Point) {
			device = deviceOf(r.Point)
			s, at, rest = n.device(device, batch[i:]), 0, 0
		}
		name := string(r.Point[len(device):])
		if at >= len(s.points) || string(s.name(at)) != name {
			at = s.indexOf(name, at)
		}
		p := &s.points[at]
		before := p.rest
		if at++; before != 0 && r.At.Before(s.rests[before].At) && !s.rests[before].At.After(now) {
			continue
		}
		if rest == 0 || !alike(r, &s.rests[rest].Reading) {
			rest = n.share(s, r)
		}
		s.rests[rest].users++
		p.value, p.rest = r.Value, rest
		if before != 0 {
			n.release(s, before)
		}
	}
}

// isOf says whether the point is the device's, and has a name of its own behind that.
func isOf(device string, p collectors.Point) bool {
	d := len(device)
	return len(p) > d && p[d] == '/' && string(p[:d]) == device
}

// alike says whether two readings differ in point and value at most. Errors are not compared: some of their types cannot be.
func alike(a, b *collectors.Reading) bool {
	return a.Err == nil && b.Err == nil && a.At == b.At && a.Asked == b.Asked && a.Unit == b.Unit && a.Quality == b.Quality && a.Text == b.Text &&
		a.Past == b.Past && a.AgeUnknown == b.AgeUnknown && a.Boot == b.Boot && a.Mono == b.Mono
}

// share gives what the device's readings have in common a place in its rests.
func (n *latestReadings) share(s *deviceReadings, r *collectors.Reading) uint32 {
	shared := n.spare
	if n.spare = nil; shared == nil {
		shared = new(sharedReading)
	}
	shared.Reading, shared.Point, shared.Value = *r, "", 0
	last := len(s.free) - 1
	if last < 0 {
		s.rests = append(s.rests, shared)
		return uint32(len(s.rests) - 1)
	}
	at := s.free[last]
	s.free, s.rests[at] = s.free[:last], shared
	return at
}

// release says that one reading of the device less has this.
func (n *latestReadings) release(s *deviceReadings, at uint32) {
	shared := s.rests[at]
	if shared.users--; shared.users == 0 {
		*shared, n.spare = sharedReading{}, shared
		s.rests[at], s.free = nil, append(s.free, at)
	}
}

// device is the device's, a new one with room for those points of it that a batch begins with.
func (n *latestReadings) device(device string, batch []collectors.Reading) *deviceReadings {
	if s := n.devices[device]; s != nil {
		return s
	}
	if n.devices == nil {
		n.devices = map[string]*deviceReadings{}
	}
	points, names := 0, 0
	for points < len(batch) && isOf(device, batch[points].Point) {
		names += len(batch[points].Point) - len(device)
		points++
	}
	s := &deviceReadings{names: make([]byte, 0, names), points: make([]compactReading, 0, points), rests: make([]*sharedReading, 1, 3)}
	n.devices[device] = s
	return s
}

// name of a point, from behind the device on.
func (s *deviceReadings) name(at int) []byte {
	from := uint32(0)
	if at > 0 {
		from = s.points[at-1].nameEnd
	}
	return s.names[from:s.points[at].nameEnd]
}

// indexOf finds the point, probably at the guess; a new one is given a place.
func (s *deviceReadings) indexOf(name string, guess int) int {
	if guess < len(s.points) && s.index == nil {
		s.index = map[string]int{}
		for i := range s.points {
			s.index[string(s.name(i))] = i
		}
	}
	at := s.find(name)
	if at < 0 {
		at = s.add(name)
	}
	return at
}

// find gives the point's index; negative: it has none.
func (s *deviceReadings) find(name string) int {
	if s.index != nil {
		if at, ok := s.index[name]; ok {
			return at
		}
		return -1
	}
	for at := range s.points {
		if string(s.name(at)) == name {
			return at
		}
	}
	return -1
}

func (s *deviceReadings) add(name string) int {
	at := len(s.points)
	s.names = append(s.names, name...)
	s.points = append(s.points, compactReading{nameEnd: uint32(len(s.names))})
	if s.index != nil {
		s.index[name] = at
	}
	return at
}

// get is the last reading of a point, if there has been one.
func (n *latestReadings) get(p collectors.Point) (collectors.Reading, bool) {
	device := deviceOf(p)
	s := n.devices[device]
	if s == nil {
		return collectors.Reading{}, false
	}
	at := s.find(string(p[len(device):]))
	if at < 0 {
		return collectors.Reading{}, false
	}
	return s.reading(at, p), true
}

// all are the last readings of all points, by name.
func (n *latestReadings) all() []collectors.Reading {
	var all []collectors.Reading
	for device, s := range n.devices {
		for at := range s.points {
			all = append(all, s.reading(at, collectors.Point(device+string(s.name(at)))))
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Point < all[j].Point }) // slices.SortFunc costs the binary more
	return all
}

// reading is the last one of the point, which is p.
func (s *deviceReadings) reading(at int, p collectors.Point) collectors.Reading {
	kept := s.points[at]
	r := s.rests[kept.rest].Reading
	r.Point, r.Value = p, kept.value
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
