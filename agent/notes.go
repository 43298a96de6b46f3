package agent

import (
	"context"
	"errors"
	"time"

	"gauger/outbox"
)

// noted says which of the box's notes become diagnostic events, and under which rule.
var noted = map[outbox.NoteKind]string{
	outbox.NoteEvicted: "outbox-dropped", outbox.NoteFull: "outbox-full", outbox.NoteDeadLetter: "send-rejected",
	outbox.NoteParked: "send-rejected", outbox.NotePaused: "send-rejected", outbox.NoteStalled: "comm-loss",
	outbox.NoteSalvaged: "outbox-salvaged", outbox.NoteUnreserved: "outbox-full",
}

// notes turns what the box says into log lines and events. What gives way to the quota is summed up.
func (a *Agent) notes(ctx context.Context) error {
	gone := evictions{}
	timer := time.NewTimer(evictionsEvery)
	defer timer.Stop()
	for {
		if at, ok := gone.next(); ok {
			timer.Reset(time.Until(at))
		}
		select {
		case <-ctx.Done():
			a.book(gone.due(time.Now().Add(evictionsEvery)))
			return nil
		case <-timer.C:
			a.book(gone.due(time.Now()))
		case n := <-a.Notes:
			a.Log.Warn().Str("what", string(n.Kind)).Str("stream", n.Stream).Uint64("seq", n.Seq).Int("count", n.Count).Msg(n.Message)
			ok := true
			if n.Kind == outbox.NoteEvicted {
				n, ok = gone.take(n)
			}
			if ok {
				a.book([]outbox.Note{n})
			}
		}
	}
}

// book makes events of notes.
func (a *Agent) book(notes []outbox.Note) {
	for _, n := range notes {
		if err := a.note(n); err != nil {
			a.Log.Error().Err(err).Msg("an event about the outbox could not be stored")
		}
	}
}

// Told books the notes that have come so far, and gives what they say: for a command that works without a daemon.
func (a *Agent) Told() (said []string, err error) {
	for {
		select {
		case n := <-a.Notes:
			said, err = append(said, n.Message), errors.Join(err, a.note(n))
		default:
			return said, err
		}
	}
}

// note books one note, where it is an event at all.
func (a *Agent) note(n outbox.Note) error {
	rule, ok := noted[n.Kind]
	if !ok {
		return nil
	}
	at := n.At.Round(0)
	note := n.Message
	if n.Stream != "" {
		note = "outbox " + n.Stream + ": " + note
	}
	return a.Ledger.Book(Event{Rule: rule, Note: note, Start: at, End: at})
}
