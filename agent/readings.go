package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
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

// ReadingsHeader is the first line of a recording, as backtest reads it.
const ReadingsHeader = "ts,mono_s,boot,point,value,quality\n"

// pieceSize is how many bytes of a recording are handed over at once.
const pieceSize = 32 << 10

// readings gives what the recorder holds, in the order in which it came.
func (d *Server) readings(ctx context.Context, w ReadingsArgs, see func(any) error) error {
	d.Ledger.mu.Lock()
	ring, broken := d.Ledger.recording.ring, d.Ledger.recording.broken
	d.Ledger.mu.Unlock()
	switch {
	case broken != nil:
		return fmt.Errorf("no readings can be kept here: %w", broken)
	case ring == nil:
		return errors.New("no readings are kept here: the configuration has recorder.max_bytes: 0")
	}
	var lines csvLines
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
		lines.add(row)
		if len(lines.text) < pieceSize {
			continue
		}
		if err := see(RecordingPiece{CSV: string(lines.text)}); err != nil {
			return err
		}
		lines.text = lines.text[:0]
	}
	if len(lines.text) == 0 {
		return nil
	}
	return see(RecordingPiece{CSV: string(lines.text)})
}

// csvLines writes rows as a recording has them.
type csvLines struct {
	text []byte
	boot int64 // of the last row, as the recorder has it
	runs int64 // of the program that have been seen
}

// add writes a row. A recorded box's boot count is told as it was recorded; runs of this program, which the recorder
// knows by when they began, are counted from 1.
func (c *csvLines) add(r recorder.Row) {
	if r.Boot != c.boot {
		c.boot = r.Boot
		c.runs++
	}
	boot := c.runs
	if r.Boot > 0 && r.Boot <= math.MaxInt32 {
		boot = r.Boot - 1
	}
	b := r.At.AppendFormat(c.text, "2006-01-02T15:04:05.999999Z07:00")
	b = append(b, ',')
	b = strconv.AppendFloat(b, r.Mono.Seconds(), 'f', -1, 64)
	b = append(b, ',')
	b = strconv.AppendInt(b, boot, 10)
	b = append(b, ',')
	b = append(b, r.Point...)
	b = append(b, ',')
	b = strconv.AppendFloat(b, r.Value, 'g', -1, 64)
	b = append(b, ',')
	b = append(b, r.Quality.String()...)
	c.text = append(b, '\n')
}
