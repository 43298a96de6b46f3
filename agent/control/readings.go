package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gauger/agent/recorder"
	"gauger/collectors"
)

// ReadingsArgs says which recorded readings somebody wants: those with From <= time < To of the points. A zero time is no
// bound, and no points are all.
type ReadingsArgs struct {
	From   time.Time          `json:"from,omitzero"`
	To     time.Time          `json:"to,omitzero"`
	Points []collectors.Point `json:"points,omitempty"`
}

// RecordingPiece is a piece of a recording, or what of it cannot be read.
type RecordingPiece struct {
	CSV    string `json:"csv,omitempty"` // whole lines, without the header
	Damage string `json:"damage,omitempty"`
}

// pieceSize, in bytes: a recording is handed over in pieces.
const pieceSize = 32 << 10

// readings gives what the recorder holds, in the order in which it came.
func (d *Server) readings(ctx context.Context, w ReadingsArgs, see func(any) error) error {
	ring, broken := d.Ledger.Recorder()
	switch {
	case broken != nil:
		return fmt.Errorf("no readings can be kept here: %w", broken)
	case ring == nil:
		return errors.New("no readings are kept here: the configuration has recorder.max_bytes: 0")
	}
	var lines recorder.CSV
	for row, err := range ring.Rows(w.From, w.To, w.Points...) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			if err := see(RecordingPiece{Damage: err.Error()}); err != nil {
				return err
			}
			continue
		}
		lines.Add(row)
		if len(lines.Text) < pieceSize {
			continue
		}
		if err := see(RecordingPiece{CSV: string(lines.Text)}); err != nil {
			return err
		}
		lines.Text = lines.Text[:0]
	}
	if len(lines.Text) == 0 {
		return nil
	}
	return see(RecordingPiece{CSV: string(lines.Text)})
}
