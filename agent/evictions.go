package agent

import (
	"fmt"
	"time"

	"gauger/outbox"
)

// evictionsEvery is how far apart the events are that say how much of a stream gave way to the quota: an outage makes
// one at once and then one an hour, and not one for every record.
const evictionsEvery = time.Hour

// evictions sums up what gives way between two events, stream by stream.
type evictions map[string]*eviction

type eviction struct {
	told  time.Time // of the last event
	from  time.Time // of the first note since
	count int       // records since
	last  outbox.Note
}

// take adds a note. It returns the one that an event is to be made of at once, if any.
func (all evictions) take(n outbox.Note) (now outbox.Note, ok bool) {
	e := all[n.Stream]
	if e == nil {
		e = &eviction{}
		all[n.Stream] = e
	}
	if e.count == 0 && n.At.Sub(e.told) >= evictionsEvery {
		e.told = n.At
		return n, true
	}
	if e.count == 0 {
		e.from = n.At
	}
	e.count, e.last = e.count+n.Count, n
	return outbox.Note{}, false
}

// next returns when the next event is due; false: none is.
func (all evictions) next() (at time.Time, ok bool) {
	for _, e := range all {
		if due := e.told.Add(evictionsEvery); e.count > 0 && (!ok || due.Before(at)) {
			at, ok = due, true
		}
	}
	return at, ok
}

// due returns what has been summed up by a time, a note for each stream.
func (all evictions) due(now time.Time) (notes []outbox.Note) {
	for _, e := range all {
		if e.count == 0 || now.Before(e.told.Add(evictionsEvery)) {
			continue
		}
		n := e.last
		n.Message = fmt.Sprintf("%d records gave way since %s; the last time: %s", e.count, e.from.Format(time.RFC3339), n.Message)
		n.Count = e.count
		notes = append(notes, n)
		e.told, e.count = now, 0
	}
	return notes
}
