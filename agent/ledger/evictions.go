package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/outbox"
)

// evictionsToldFor ends the line of the status about evicted records: nothing brings them back, and a line that stays is not read.
const evictionsToldFor = 24 * time.Hour

// mendedShownFor ends the line about a mended outbox: so long after it was first shown to somebody.
const mendedShownFor = 7 * 24 * time.Hour

// newStoreFor ends the hint that a store is a new one.
const newStoreFor = 24 * time.Hour

// evictions are what gave way of late, and what the outbox has lost. The ledger's lock guards them.
type evictions struct {
	lock     *sync.Mutex
	state    *smallState
	site     *Site
	byStream map[string]eviction
	mended   mending
	began    time.Time // when the daemon first ran on this store; zero: by a version that did not keep it
	told     bool      // an event has told of it
	copyOf   string    // the folder of the site's own store, where this one is a copy of it
}

// mending is the last time that a damaged outbox was mended, or tanks taken out while they were hauled, or all of them, a change of the
// service's units while tickets waited, or a time without a store of which no level tells; zero: none was.
type mending struct {
	At, Shown time.Time // Shown: first to somebody; zero: nobody has looked yet
	Text      string
	Do        string `json:",omitempty"` // by a person
}

// eviction counts the evicted records of one stream, from the first to the last, without a pause of evictionsToldFor.
type eviction struct {
	Since, Last time.Time
	Count       int
	Total       uint64 // records of the stream that have ever given way, of which these are the last
}

// evictionsKey, mendedKey and beganKey keep them for the next run.
const (
	evictionsKey = "gave-way"
	mendedKey    = "mended"
	beganKey     = "store-began"
	toldKey      = "store-told"
)

// BeginStore keeps when the daemon first ran on this store. One in which something was accepted before, or lost, is no new one.
func (e *evictions) BeginStore(now time.Time) error {
	for _, c := range e.state.box.Counts() {
		if c.Accepted > 0 || c.LostUnknown {
			return nil
		}
	}
	e.lock.Lock()
	e.began = now
	e.lock.Unlock()
	return e.state.SaveState(beganKey, now.Round(0))
}

// NewStoreHint says for a day that the store is a new one. It is on each new site, and where the state's disk was not mounted: then
// everything else looks well, on an empty folder in its place.
func (e *evictions) NewStoreHint(now time.Time) string {
	e.lock.Lock()
	began := e.began
	e.lock.Unlock()
	age := now.Sub(began) // by the clock that never steps, within the run that began it
	if began.IsZero() || age >= newStoreFor || age < 0 {
		return ""
	}
	folder := cmp.Or(e.copyOf, filepath.Dir(e.state.box.Path()))
	if whole, err := filepath.Abs(folder); err == nil {
		folder = whole
	}
	return fmt.Sprintf("the store in %s began %s, with no ticket and no level of before. A new site begins so. If this box ran before, its disk is missing or was emptied: "+
		"stop gauger and mount it (`findmnt -T %[1]s`). Told for a day", folder, e.site.minute(now.Add(-age)))
}

// CopyOf says that the store is a copy of that in another folder, which people are told of.
func (e *evictions) CopyOf(folder string) { e.copyOf = folder }

// tellNewStoreAfter lets a site that is being set up begin anew; what is mounted late, or emptied, stays so. By then a
// steady clock is believed, so that the service could be asked for events of before.
const tellNewStoreAfter = clock.SteadyAfter + 5*time.Minute

// NewStoreEvent is what the office has to be told, once, of a store that is new, and since when it is: a site whose disk is missing looks
// well everywhere else. Empty: it is not due, or was told.
func (e *evictions) NewStoreEvent(now time.Time) (text string, since time.Time) {
	hint := e.NewStoreHint(now)
	since, told := e.UntoldStore(now)
	if hint == "" || told || now.Sub(since) < tellNewStoreAfter {
		return "", since
	}
	e.ToldStore()
	text, _, _ = strings.Cut(hint, ". Told for a day")
	return text, since
}

// UntoldStore is when a store that is new began, by the clock as it is set now; told: an event has said so, or it is no new one.
func (e *evictions) UntoldStore(now time.Time) (began time.Time, told bool) {
	told = e.NewStoreHint(now) == ""
	e.lock.Lock()
	defer e.lock.Unlock()
	return now.Add(-now.Sub(e.began)).Round(0), told || e.told
}

// ToldStore keeps that an event has told of a new store.
func (e *evictions) ToldStore() {
	e.lock.Lock()
	e.told = true
	e.lock.Unlock()
	if err := e.state.SaveState(toldKey, true); err != nil {
		e.state.log.Warn().Err(err).Msg("that a new store was told of could not be stored; it is told again at the next start")
	}
}

// NoteLoss counts what gave way and keeps what was mended, for status.
func (e *evictions) NoteLoss(n outbox.Note) {
	e.lock.Lock()
	defer e.lock.Unlock()
	switch at := n.At.Round(0); n.Kind {
	case outbox.NoteSalvaged:
		text, _, _ := strings.Cut(n.Message, "; what was found: ") // the event has it
		e.mended = mending{At: at, Text: text, Do: eventrules.Do(eventrules.OutboxSalvaged)}
	case outbox.NoteEvicted:
		e.add(n.Stream, n.Count, at)
	}
}

func (e *evictions) add(stream string, n int, at time.Time) {
	g := e.byStream[stream]
	if at.Sub(g.Last) > evictionsToldFor {
		g = eviction{Since: at, Total: g.Total}
	}
	g.Count, g.Last, g.Total = g.Count+n, at, g.Total+uint64(n)
	e.byStream[stream] = g
}

// load takes up what the run before kept. What gave way after that is in the outbox's own counts alone, which are stored with every
// record: nobody knows when that was, but not later than now.
func (e *evictions) load(counts map[string]outbox.Counts) error {
	if err := errors.Join(e.state.LoadState(evictionsKey, &e.byStream), e.state.LoadState(mendedKey, &e.mended), e.state.LoadState(beganKey, &e.began), e.state.LoadState(toldKey, &e.told)); err != nil {
		return err
	}
	changed := false
	for name, c := range counts {
		g := e.byStream[name]
		switch {
		case c.Evicted > g.Total && (g.Total > 0 || g.Count == 0):
			e.add(name, int(c.Evicted-g.Total), time.Now().Round(0))
			changed = true
		case c.Evicted != g.Total: // the version before did not keep the total; or what it counts was taken back
			g.Total, changed = c.Evicted, true
			e.byStream[name] = g
		}
	}
	if changed {
		if err := e.SaveLosses(); err != nil {
			e.state.log.Warn().Err(err).Msg("what gave way in the run before could not be stored; it is counted again at the next start")
		}
	}
	return nil
}

// SaveLosses stores them; that is done when an event tells of it, and not for every record.
func (e *evictions) SaveLosses() error {
	e.lock.Lock()
	all, mended := maps.Clone(e.byStream), e.mended
	e.lock.Unlock()
	return errors.Join(e.state.SaveState(evictionsKey, all), e.state.SaveState(mendedKey, mended))
}

// warn keeps for status what a person should see to.
func (e *evictions) warn(m mending) error {
	e.lock.Lock()
	e.mended = m
	e.lock.Unlock()
	return e.SaveLosses()
}

// MendedWarning says that the outbox was mended and what it lost, to whoever looks now; empty: it was not, or people have had
// their time to see it.
func (e *evictions) MendedWarning(now time.Time) (text, do string) {
	e.lock.Lock()
	m := e.mended
	first := !m.At.IsZero() && m.Shown.IsZero() && clock.WasSet(now)
	if first {
		e.mended.Shown = now.Round(0)
	}
	e.lock.Unlock()
	if m.At.IsZero() || !m.Shown.IsZero() && now.Sub(m.Shown) > mendedShownFor {
		return "", ""
	}
	if first {
		if err := e.SaveLosses(); err != nil {
			e.state.log.Warn().Err(err).Msg("that somebody has seen what the outbox lost could not be stored; it is shown for longer")
		}
	}
	return fmt.Sprintf("%s (%s; this line goes a week after it was first shown)", m.Text, e.site.minute(m.At)), m.Do
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
func (s *Site) minute(at time.Time) string {
	if !clock.WasSet(at) {
		return "at a time that is not known, since the clock was not set"
	}
	return "on " + s.localMinute(at)
}

// localMinute is an instant as the site's people write it.
func (s *Site) localMinute(at time.Time) string { return at.In(s.Zone).Format("2006-01-02 15:04") }

// unitsKey keeps in which units the service's tickets were written last.
const unitsKey = "wire-units"

// mostUnitsNamed of the tickets that wait; the others are counted.
const mostUnitsNamed = 10

// NoteUnits tells of tickets that wait in other units than the service takes by the configuration of now. What was given to the outbox
// leaves as it is, even where a try of it had no clear answer, so that a person has to look: the line stays
// after they have left. note is for an event; empty: none does.
func (e *evictions) NoteUnits(now time.Time) (note string, err error) {
	var was map[string]string
	is := e.site.Wire.Units()
	if err := e.state.LoadState(unitsKey, &was); err != nil || maps.Equal(was, is) {
		return "", err
	}
	numbers, err := e.ticketsInOutbox()
	if err != nil {
		return "", err
	}
	if len(was) > 0 && len(numbers) > 0 {
		var changed []string
		for _, key := range slices.Sorted(maps.Keys(is)) {
			if is[key] != was[key] {
				changed = append(changed, fmt.Sprintf("service.wire.%s is %s (was %s)", key, is[key], was[key]))
			}
		}
		n := len(numbers)
		if more := n - mostUnitsNamed; more > 0 {
			numbers = append(numbers[:mostUnitsNamed], fmt.Sprintf("%d more", more))
		}
		note = fmt.Sprintf("%s: %s that waited leave as they were written, by the old: %s", strings.Join(changed, ", "), Plural(n, "ticket"), strings.Join(numbers, ", "))
		err = e.warn(mending{At: now.Round(0), Text: note, Do: "look at the service what it has of each; of one that has not left, `gauger outbox list` has the record: " +
			"`gauger outbox drop` gives that up, and `gauger tickets add` writes the ticket anew"})
	}
	return note, errors.Join(err, e.state.SaveState(unitsKey, is))
}

// ticketsInOutbox are the numbers of those that have not left, dead letters among them, which a retry would send.
func (e *evictions) ticketsInOutbox() (numbers []string, err error) {
	for _, state := range []outbox.State{outbox.Waiting, outbox.Dead} {
		for one, err := range e.state.box.All(Tickets, state, 0) {
			if err != nil {
				return nil, fmt.Errorf("look which tickets wait: %w", err)
			}
			if number := RecordLabel(Tickets, one.Record); number != Tickets {
				numbers = append(numbers, number)
			}
		}
	}
	return numbers, nil
}
