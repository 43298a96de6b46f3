package agent

import (
	"context"
	"errors"
	"time"

	"gauger/eventrules"
	"gauger/outbox"
)

// noted says which of the box's notes become diagnostic events, and under which rule.
var noted = map[outbox.NoteKind]string{
	outbox.NoteEvicted: eventrules.OutboxDropped, outbox.NoteFull: eventrules.OutboxFull, outbox.NoteDeadLetter: eventrules.SendRejected,
	outbox.NoteParked: eventrules.SendRejected, outbox.NotePaused: eventrules.SendRejected, outbox.NoteStalled: eventrules.CommLoss,
	outbox.NoteIsolated: eventrules.SendRejected,
	outbox.NoteSalvaged: eventrules.OutboxSalvaged, outbox.NoteUnreserved: eventrules.OutboxFull,
}

// notes turns what the box says into log lines and events. What it says again and again is summed up.
func (a *Agent) notes(ctx context.Context) error {
	told := summed{sums: map[subject]*sum{}}
	timer := time.NewTimer(tellEvery)
	defer timer.Stop()
	for {
		if at, ok := told.next(); ok {
			timer.Reset(time.Until(at))
		}
		select {
		case <-ctx.Done():
			a.book(told.due(time.Now().Add(tellEvery)))
			return nil
		case <-timer.C:
			a.book(told.due(time.Now()))
		case n := <-a.Notes:
			a.Log.Warn().Str("what", string(n.Kind)).Str("stream", n.Stream).Uint64("seq", n.Seq).Int("count", n.Count).Msg(n.Message)
			a.Ledger.giveWay(n)
			if a.tellsOfEvents(n) {
				continue
			}
			if n, ok := told.take(n); ok {
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
			a.Ledger.giveWay(n)
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
	err := a.Ledger.Book(Event{Rule: rule, Note: note, Start: at, End: at})
	if n.Kind == outbox.NoteEvicted {
		err = errors.Join(err, a.Ledger.keepGiven())
	}
	return err
}
