package ledger

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"gauger/agent/clock"
	"gauger/outbox"
)

// evictionsToldFor ends the line of the status about evicted records: nothing brings them back, and a line that stays is not read.
const evictionsToldFor = 24 * time.Hour

// evictions are what gave way of late. The ledger's lock guards them.
type evictions struct {
	lock     *sync.Mutex
	state    *smallState
	site     *Site
	byStream map[string]eviction
}

// eviction counts the evicted records of one stream, from the first to the last, without a pause of evictionsToldFor.
type eviction struct {
	Since, Last time.Time
	Count       int
}

// evictionsKey keeps what gave way of late, for the next run.
const evictionsKey = "gave-way"

// CountEvicted counts what gave way, for status.
func (e *evictions) CountEvicted(n outbox.Note) {
	if n.Kind != outbox.NoteEvicted {
		return
	}
	e.lock.Lock()
	defer e.lock.Unlock()
	at := n.At.Round(0)
	g := e.byStream[n.Stream]
	if at.Sub(g.Last) > evictionsToldFor {
		g = eviction{Since: at}
	}
	g.Count, g.Last = g.Count+n.Count, at
	e.byStream[n.Stream] = g
}

// SaveEvictions stores it; that is done when an event tells of it, and not for every record.
func (e *evictions) SaveEvictions() error {
	e.lock.Lock()
	all := maps.Clone(e.byStream)
	e.lock.Unlock()
	return e.state.SaveState(evictionsKey, all)
}

// EvictionWarnings says in sentences what gave way of late, and what a person can do.
func (e *evictions) EvictionWarnings(now time.Time) (out []string) {
	e.lock.Lock()
	defer e.lock.Unlock()
	for _, name := range slices.Sorted(maps.Keys(e.byStream)) {
		g := e.byStream[name]
		if now.Sub(g.Last) > evictionsToldFor {
			continue
		}
		out = append(out, fmt.Sprintf("%s of %s gave way to newer ones, the first %s, the last %s, and will not be sent: the outbox has no room for more; "+
			"mend why nothing leaves, make store.max_bytes larger, or let fewer come; this line goes a day after the last",
			Plural(g.Count, "record"), name, e.site.minute(g.Since), e.site.minute(g.Last)))
	}
	return out
}

// minute is a time as sentences say it; before the clock was set nobody knows it.
func (s Site) minute(at time.Time) string {
	if !clock.WasSet(at) {
		return "at a time that is not known, since the clock was not set"
	}
	return "on " + at.In(s.Zone).Format("2006-01-02 15:04")
}
