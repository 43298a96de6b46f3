package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"gauger/agent/eventrules"
	"gauger/agent/ledger"
	"gauger/outbox"
)

// noteRules says which of the box's notes become diagnostic events, and under which rule.
var noteRules = map[outbox.NoteKind]string{
	outbox.NoteEvicted: eventrules.OutboxDropped, outbox.NoteFull: eventrules.OutboxFull, outbox.NoteDeadLetter: eventrules.SendRejected,
	outbox.NoteParked: eventrules.SendRejected, outbox.NotePaused: eventrules.SendRejected, outbox.NoteStalled: eventrules.CommLoss,
	outbox.NoteIsolated: eventrules.SendRejected,
	outbox.NoteSalvaged: eventrules.OutboxSalvaged, outbox.NoteUnreserved: eventrules.OutboxFull,
}

// handleNotes turns what the box says into log lines and events. What it says again and again is summed up.
func (a *Agent) handleNotes(ctx context.Context) error {
	told := noteSummaries{sums: map[noteSubject]*noteSummary{}}
	timer := time.NewTimer(tellEvery)
	defer timer.Stop()
	for {
		if at, ok := told.next(); ok {
			timer.Reset(time.Until(at))
		}
		select {
		case <-ctx.Done():
			a.queueNoteEvents(told.dueNotes(time.Now().Add(tellEvery)))
			return nil
		case <-timer.C:
			a.queueNoteEvents(told.dueNotes(time.Now()))
		case n := <-a.Notes:
			a.Log.Warn().Str("what", string(n.Kind)).Str("stream", n.Stream).Uint64("seq", n.Seq).Int("count", n.Count).Msg(n.Message)
			a.Ledger.NoteLoss(n)
			if a.isAboutEvents(n) {
				continue
			}
			if n, ok := told.add(n); ok {
				a.queueNoteEvents([]outbox.Note{n})
			}
		}
	}
}

func (a *Agent) queueNoteEvents(notes []outbox.Note) {
	for _, n := range notes {
		if err := a.queueNoteEvent(n); err != nil {
			a.Log.Error().Err(err).Msg("an event about the outbox could not be stored")
		}
	}
}

// QueuePendingNotes books the notes that have come so far, and gives what they say: for a command that works without a daemon.
func (a *Agent) QueuePendingNotes() (said []string, err error) {
	for {
		select {
		case n := <-a.Notes:
			a.Ledger.NoteLoss(n)
			said, err = append(said, n.Message), errors.Join(err, a.queueNoteEvent(n))
		default:
			return said, err
		}
	}
}

// queueNoteEvent books one note, where it is an event at all.
func (a *Agent) queueNoteEvent(n outbox.Note) error {
	rule, ok := noteRules[n.Kind]
	if !ok {
		return nil
	}
	at := n.At.Round(0)
	note := n.Message
	if n.Stream != "" {
		note = "outbox " + n.Stream + ": " + note
	}
	err := a.Ledger.QueueEvent(ledger.Event{Rule: rule, Note: note, Start: at, End: at})
	if n.Kind == outbox.NoteEvicted || n.Kind == outbox.NoteSalvaged {
		err = errors.Join(err, a.Ledger.SaveLosses())
	}
	if n.Kind == outbox.NoteSalvaged {
		err = errors.Join(err, a.Ledger.RebuildTickets())
	}
	if slices.Contains(n.Behind, ledger.Tickets) {
		err = errors.Join(err, a.Ledger.PutBack(at))
	}
	return err
}
