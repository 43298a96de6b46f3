package agent

import (
	"context"
	"fmt"

	"gauger/outbox"
)

// noted says which of the box's notes become diagnostic events, and under which rule.
var noted = map[outbox.NoteKind]string{
	outbox.NoteEvicted: "outbox-dropped", outbox.NoteFull: "outbox-full", outbox.NoteDeadLetter: "send-rejected",
	outbox.NoteParked: "send-rejected", outbox.NotePaused: "send-rejected", outbox.NoteStalled: "comm-loss",
	outbox.NoteSalvaged: "outbox-salvaged", outbox.NoteUnreserved: "outbox-full",
}

// notes turns what the box says into log lines and events.
func (a *Agent) notes(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case n := <-a.Notes:
			if err := a.note(n); err != nil {
				a.Log.Error().Err(err).Msg("an event about the outbox could not be stored")
			}
		}
	}
}

// note books one note. A box that is dead ends the program: the next start examines the file.
func (a *Agent) note(n outbox.Note) error {
	a.Log.Warn().Str("what", string(n.Kind)).Str("stream", n.Stream).Uint64("seq", n.Seq).Int("count", n.Count).Msg(n.Message)
	rule, ok := noted[n.Kind]
	if !ok {
		return nil
	}
	at := n.At.Round(0)
	note := fmt.Sprintf("outbox %s: %s", n.Stream, n.Message)
	return a.Ledger.Book(Event{Rule: rule, Note: note, Start: at, End: at})
}
