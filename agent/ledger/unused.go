package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
)

const (
	// Unused readings are gathered for unusedAfter before they are told; unusedEvery is the least interval of these events:
	// a link that breaks every minute makes one an hour.
	unusedAfter = time.Minute
	unusedEvery = time.Hour
	// unusedExact: up to so many of a point each is on disk before it is acknowledged. A broker that repeats without end would wear out
	// the flash, so that the count of more is stored with what else changes, or each minute: a kill takes those of a minute from it.
	unusedExact = 1000
	// unusedNamed limits the points that such an event names.
	unusedNamed = 5
)

// UnusedReadings counts a point's readings that were not used since nobody knows when they were true: they came without a time of
// the device, retained by the broker, sent once more, or among what it may have kept.
type UnusedReadings struct {
	Point collectors.Point `json:"point"`
	Count uint64           `json:"count"`
	First time.Time        `json:"first"` // arrivals
	Last  time.Time        `json:"last"`

	Told  uint64    `json:"told"`           // of count, those of which an event has told
	Since time.Time `json:"since,omitzero"` // the first of the others
}

// unusedCounts by point.
type unusedCounts struct {
	all    map[collectors.Point]UnusedReadings
	untold time.Time // since when there is something to tell; zero: there is nothing
	told   time.Time // the last time; zero: not in this run

	unsaved      map[collectors.Point]bool // whose count on disk is behind
	unsavedSince time.Time
}

// loadUnused reads what was counted.
func (l *Ledger) loadUnused(s *state) error {
	s.unused.all = map[collectors.Point]UnusedReadings{}
	names, err := l.box.Names(unusedKey)
	if err != nil {
		return fmt.Errorf("look for what was not used: %w", err)
	}
	for _, name := range names {
		var u UnusedReadings
		if err := l.LoadState(name, &u); err != nil {
			return err
		}
		if u.Point == "" {
			continue // it cannot be read, which LoadState has said
		}
		if s.unused.all[u.Point] = u; u.Told < u.Count {
			s.unused.untold = l.started
		}
	}
	return nil
}

// countUnused counts a reading that is not used because nobody knows its age.
func (tx *txn) countUnused(r collectors.Reading) {
	if tx.unusedChanged == nil {
		tx.unusedChanged, tx.unused.all = map[collectors.Point]bool{}, maps.Clone(tx.unused.all)
	}
	u, at := tx.unused.all[r.Point], r.At.Round(0)
	if u.Count == 0 {
		u.Point, u.First = r.Point, at
	}
	if u.Told == u.Count {
		u.Since = at
	}
	u.Count, u.Last = u.Count+1, at
	tx.unusedChanged[r.Point], tx.unused.all[r.Point] = true, u
	if tx.unused.untold.IsZero() {
		tx.unused.untold = tx.now
	}
}

// putUnused stages the counts that have changed, unless they can wait.
func (tx *txn) putUnused() {
	s := &tx.unused
	if len(s.unsaved)+len(tx.unusedChanged) == 0 {
		return
	}
	changed := map[collectors.Point]bool{}
	maps.Copy(changed, s.unsaved)
	maps.Copy(changed, tx.unusedChanged)
	due := tx.dirty() || len(s.unsaved) > 0 && tx.now.Sub(s.unsavedSince) >= unusedAfter
	for p := range tx.unusedChanged {
		due = due || s.all[p].Count <= unusedExact
	}
	if due {
		for p := range changed {
			tx.putJSON(unusedKey+string(p), s.all[p])
		}
		s.unsaved = nil
		return
	}
	if len(s.unsaved) == 0 {
		s.unsavedSince = tx.now
	}
	s.unsaved = changed
}

// queueUnusedEvent makes one event of what was not used since the last.
func (tx *txn) queueUnusedEvent() {
	s := &tx.unused
	if s.untold.IsZero() || tx.now.Sub(s.untold) < unusedAfter || !s.told.IsZero() && tx.now.Sub(s.told) < unusedEvery {
		return
	}
	s.untold, s.told = time.Time{}, tx.now
	tx.unusedChanged, s.all = map[collectors.Point]bool{}, maps.Clone(s.all)
	e := Event{Rule: eventrules.ReadingsUnused}
	total, named, more := uint64(0), []string{}, 0
	for _, p := range slices.Sorted(maps.Keys(s.all)) {
		u := s.all[p]
		n := u.Count - u.Told
		if n == 0 {
			continue
		}
		if total += n; e.Start.IsZero() || u.Since.Before(e.Start) {
			e.Start = u.Since
		}
		if u.Last.After(e.End) {
			e.End = u.Last
		}
		if len(named) < unusedNamed {
			named = append(named, fmt.Sprintf("%d of %s", n, p))
		} else {
			more++
		}
		u.Told, u.Since = u.Count, time.Time{}
		tx.unusedChanged[p], s.all[p] = true, u
	}
	if more > 0 {
		named = append(named, "and of "+Plural(more, "other point"))
	}
	e.Note = fmt.Sprintf("%s came without a time of the device, and may have waited at the broker: %s. Nobody knows when they were true, so they were not used. "+
		"Let the device send its time, and name it with `time:` at the point", Plural(int(total), "reading"), strings.Join(named, ", "))
	tx.queueEvent(e)
}

// Unused lists the unused readings by point.
func (l *Ledger) Unused() (all []UnusedReadings) {
	l.see(func() {
		all = []UnusedReadings{}
		for _, p := range slices.Sorted(maps.Keys(l.state.unused.all)) {
			all = append(all, l.state.unused.all[p])
		}
	})
	return all
}
