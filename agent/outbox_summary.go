package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/ledger"
	"gauger/outbox"
)

// tellEvery is the interval of events that say one thing of one stream: an outage makes one at once and then one an
// hour, and not one for every record.
const tellEvery = time.Hour

// quietAfter: refusals of events, and evictions, are over when none came for so long.
const quietAfter = time.Minute

// namedMost limits the ids that a sum names.
const namedMost = 10

// noteSummaries keeps what the box says from becoming as many events. What it says of refused events never goes through the
// stream that refuses them, or each would be the next: it is counted, and told by one event when it is over.
type noteSummaries struct {
	sums          map[noteSubject]*noteSummary
	refusedEvents noteSummary // of refused events
}

// noteSubject is one kind of note about one stream.
type noteSubject struct {
	kind   outbox.NoteKind
	stream string
}

type noteSummary struct {
	told   time.Time // of the last event
	early  time.Time // of the last one that came before its hour, since it was over
	from   time.Time // of the first note since
	count  int       // records since
	last   outbox.Note
	ids    []string // that the notes name, the first few
	paused bool     // everything is refused still
}

func (s *noteSummary) addNote(n outbox.Note) {
	if s.from.IsZero() {
		s.from = n.At
	}
	s.count, s.last = s.count+n.Count, n
	if n.Address != "" && len(s.ids) < namedMost && !slices.Contains(s.ids, n.Address) {
		s.ids = append(s.ids, n.Address)
	}
}

// end gives the sum with these words, and begins anew.
func (s *noteSummary) end(now time.Time, words string) outbox.Note {
	n := s.last
	n.Message = fmt.Sprintf("%s since %s; the last time: %s", words, s.from.Format(time.RFC3339), n.Message)
	n.Count = s.count
	*s = noteSummary{told: now, early: s.early}
	return n
}

// add adds a note. It returns the one that an event is to be made of at once, if any.
func (all *noteSummaries) add(n outbox.Note) (now outbox.Note, ok bool) {
	refusal := n.Kind == outbox.NoteDeadLetter || n.Kind == outbox.NotePaused
	switch {
	case n.Stream == ledger.Events && refusal:
		all.refusedEvents.addNote(n)
		all.refusedEvents.paused = n.Kind == outbox.NotePaused
		return n, false
	case n.Stream == ledger.Events && n.Kind == outbox.NoteResumed && all.refusedEvents.paused:
		all.refusedEvents.paused, all.refusedEvents.last.At = false, n.At
		return n, false
	case noteRules[n.Kind] == "":
		return n, false
	case n.Stream == ledger.Tickets && (refusal || n.Kind == outbox.NoteParked):
		return n, true // each is somebody's money
	}
	about := noteSubject{n.Kind, n.Stream}
	s := all.sums[about]
	if s == nil {
		s = &noteSummary{}
		all.sums[about] = s
	}
	if s.from.IsZero() && n.At.Sub(s.told) >= tellEvery {
		s.told = n.At
		if n.Kind == outbox.NoteEvicted {
			n.Message += "; so far, it may go on: the number of all that gives way after this is told when it is over, or each hour"
		}
		return n, true
	}
	s.addNote(n)
	return n, false
}

// next returns when the next event is due; false: none is.
func (all *noteSummaries) next() (at time.Time, ok bool) {
	for about, s := range all.sums {
		if due := s.dueAt(about.kind); !s.from.IsZero() && (!ok || due.Before(at)) {
			at, ok = due, true
		}
	}
	if due, waits := all.refusedEventsDue(); waits && (!ok || due.Before(at)) {
		at, ok = due, true
	}
	return at, ok
}

// dueAt is the time of a sum's event: after an hour, and for evictions as soon as they are over. What is over again and again is told
// so once an hour, or each of those events would make others give way.
func (s *noteSummary) dueAt(kind outbox.NoteKind) time.Time {
	at := s.told.Add(tellEvery)
	if over := s.last.At.Add(quietAfter); kind == outbox.NoteEvicted && over.Before(at) && !over.Before(s.early.Add(tellEvery)) {
		return over
	}
	return at
}

// refusedEventsDue is the time of the event about refused events; false: there are none, or it goes on.
func (all *noteSummaries) refusedEventsDue() (at time.Time, ok bool) {
	at = all.refusedEvents.last.At.Add(quietAfter)
	if again := all.refusedEvents.told.Add(tellEvery); again.After(at) {
		at = again
	}
	return at, !all.refusedEvents.from.IsZero() && !all.refusedEvents.paused
}

// dueNotes returns what has been summed up by a time, a note for each subject.
func (all *noteSummaries) dueNotes(now time.Time) (notes []outbox.Note) {
	for about, s := range all.sums {
		if s.from.IsZero() || now.Before(s.dueAt(about.kind)) {
			continue
		}
		words := "the same again"
		switch about.kind {
		case outbox.NoteEvicted:
			words = fmt.Sprintf("%d records gave way", s.count)
			if now.Before(s.told.Add(tellEvery)) {
				words, s.early = "it is over for now, none for a minute: "+words, now
			}
		case outbox.NoteDeadLetter:
			words = fmt.Sprintf("%d records became dead letters", s.count)
		case outbox.NoteIsolated:
			words = fmt.Sprintf("%s not taken, while others are: %s", ledger.Plural(s.count, "id"), strings.Join(s.ids, ", "))
		}
		notes = append(notes, s.end(now, words))
	}
	if at, ok := all.refusedEventsDue(); ok && !now.Before(at) {
		notes = append(notes, all.refusedEventsNote(now))
	}
	return notes
}

// refusedEventsNote is the one note about events that were refused.
func (all *noteSummaries) refusedEventsNote(now time.Time) outbox.Note {
	words := fmt.Sprintf("%d events became dead letters, and others are taken,", all.refusedEvents.count)
	if all.refusedEvents.count == 0 {
		words = "every event was refused for a while, none is given up, and they are taken again,"
	}
	n := all.refusedEvents.end(now, words)
	n.Kind, n.Seq = outbox.NoteDeadLetter, 0
	return n
}

// aboutEvents begins the note of an event that tells of the events' own stream.
const aboutEvents = "outbox " + ledger.Events + ": "

// isAboutEvents says that a refused event is itself one about refused events: it is counted, and nothing is made of it.
func (a *Agent) isAboutEvents(n outbox.Note) bool {
	if n.Stream != ledger.Events || n.Seq == 0 || n.Kind != outbox.NoteDeadLetter && n.Kind != outbox.NotePaused {
		return false
	}
	e, err := a.Box.Entry(ledger.Events, n.Seq)
	if err != nil {
		return false // it went meanwhile: one event more at most
	}
	var body struct{ Note string }
	return json.Unmarshal(e.Record.Body, &body) == nil && strings.HasPrefix(body.Note, aboutEvents)
}
