package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gauger/agent/control"
	"gauger/agent/ledger"
)

// isRefusedMessage says that a person means messages that could not be decoded.
func isRefusedMessage(record string) bool {
	stream, _, _ := strings.Cut(record, "/")
	return stream == ledger.Refused
}

// decodeResult of messages that were decoded again, as JSON.
type decodeResult struct {
	Decoded int                    `json:"decoded"`
	Values  int                    `json:"values"` // that were queued of them
	Left    []control.DecodeResult `json:"left"`   // still cannot be decoded
}

// decodeMessages decodes messages with the configuration of now: all that are kept, or those that are named.
func decodeMessages(ctx context.Context, c *call, rest []string) error {
	which := control.RecordQuery{Stream: ledger.Refused}
	for _, text := range rest {
		w, err := parseRecord(text, false)
		if err != nil {
			return err
		}
		if w.Stream != ledger.Refused || len(w.Seqs) == 0 && len(rest) > 1 {
			return usageError{"name messages by themselves, as refused/12, or say refused for all of them"}
		}
		which.Seqs = append(which.Seqs, w.Seqs...)
	}
	all := decodeResult{Left: []control.DecodeResult{}}
	err := withConnection(c, func(d *connection) error {
		for {
			var page []control.DecodeResult
			if err := d.request(ctx, "outbox.decode", which, &page); err != nil {
				return err
			}
			for _, x := range page {
				all.add(x)
				which.After = x.Seq
			}
			if len(page) == 0 || len(which.Seqs) > 0 {
				return nil
			}
		}
	})
	err = errors.Join(printDecoded(c, all), err) // an error may come after many were decoded
	if err == nil && len(all.Left) > 0 {
		return errQuiet
	}
	return err
}

// maxLeftShown of the messages that still cannot be decoded; the rest are counted.
const maxLeftShown = 20

func printDecoded(c *call, all decodeResult) error {
	if c.json() {
		return printJSON(c.out, all)
	}
	for _, x := range all.Left[:min(len(all.Left), maxLeftShown)] {
		if _, err := fmt.Fprintf(c.out, "%s/%d still cannot be decoded: %s\n", ledger.Refused, x.Seq, oneLine(x.Why)); err != nil {
			return err
		}
	}
	if more := len(all.Left) - maxLeftShown; more > 0 {
		fmt.Fprintf(c.out, "and %d more, as `gauger outbox dead %s` shows\n", more, ledger.Refused)
	}
	_, err := fmt.Fprintf(c.out, "%s decoded, %s queued\n", countText(all.Decoded, "message"), countText(all.Values, "value"))
	if all.Decoded > 0 && all.Values == 0 {
		fmt.Fprintln(c.err, "what is past goes to tag_values and targets only, and those points are in none: it makes no ticket and no event")
	}
	return err
}

func (a *decodeResult) add(x control.DecodeResult) {
	if x.Why != "" {
		a.Left = append(a.Left, x)
		return
	}
	a.Decoded++
	a.Values += x.Values
}
