package ledger

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"gauger/agent/clock"
	"gauger/outbox"
)

// evictionsToldFor ends the line of the status about evicted records: nothing brings them back, and a line that stays is not read.
const evictionsToldFor = 24 * time.Hour

// CountEvicted counts what gave way, for status.
func (l *Ledger) CountEvicted(n outbox.Note) {
	if n.Kind != outbox.NoteEvicted {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := n.At.Round(0)
	g := l.evictions[n.Stream]
	if at.Sub(g.Last) > evictionsToldFor {
		g = eviction{Since: at}
	}
	g.Count, g.Last = g.Count+n.Count, at
	l.evictions[n.Stream] = g
}

// SaveEvictions stores it; that is done when an event tells of it, and not for every record.
func (l *Ledger) SaveEvictions() error {
	l.mu.Lock()
	all := maps.Clone(l.evictions)
	l.mu.Unlock()
	return l.SaveState(evictionsKey, all)
}

// EvictionWarnings says in sentences what gave way of late, and what a person can do.
func (l *Ledger) EvictionWarnings(now time.Time) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(l.evictions)) {
		g := l.evictions[name]
		if now.Sub(g.Last) > evictionsToldFor {
			continue
		}
		out = append(out, fmt.Sprintf("%s of %s gave way to newer ones, the first %s, the last %s, and will not be sent: the outbox has no room for more; "+
			"mend why nothing leaves, make store.max_bytes larger, or let fewer come; this line goes a day after the last",
			Plural(g.Count, "record"), name, l.site.minute(g.Since), l.site.minute(g.Last)))
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
