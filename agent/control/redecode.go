package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"gauger/agent/clock"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/outbox"
)

// DecodeResult tells of one kept message that was decoded again.
type DecodeResult struct {
	Seq    uint64 `json:"seq"`
	Values int    `json:"values"`        // records that were made of it
	Why    string `json:"why,omitempty"` // it still cannot be decoded, and stays
}

// redecode decodes messages again that could not be before: those named, or the next page of all behind After. What can
// be decoded now leaves the stream in the transaction that stores its readings.
func (d *Server) redecode(_ context.Context, w RecordQuery) ([]DecodeResult, error) {
	found, err := d.keptMessages(w)
	if err != nil {
		return nil, err
	}
	if d.Clock.Grade(time.Now()) == clock.Unset {
		return nil, errors.New("the clock is not set, so that values of the past have no place: set it, then try again")
	}
	decoders := map[string]func(collectors.Refusal) ([]collectors.Reading, error){}
	for _, c := range d.Collectors {
		if x, ok := c.Collector.(collectors.Decoder); ok {
			decoders[c.Name] = x.Decoder()
		}
	}
	all := make([]DecodeResult, len(found))
	var good []ledger.DecodedMessage
	place := map[uint64]int{}
	for i, e := range found {
		all[i].Seq = e.Record.Seq
		if readings, err := readingsOf(e, decoders); err != nil {
			all[i].Why = err.Error()
		} else {
			good, place[e.Record.Seq] = append(good, ledger.DecodedMessage{Seq: e.Record.Seq, Readings: readings}), i
		}
	}
	err = d.Ledger.QueueDecoded(good)
	for _, m := range good {
		all[place[m.Seq]].Values = m.Values
	}
	return all, err
}

// keptMessages are those that are asked for.
func (d *Server) keptMessages(w RecordQuery) (found []outbox.Entry, err error) {
	if len(w.Seqs) == 0 {
		return d.Box.Entries(ledger.Refused, outbox.Waiting, w.After, w.Limit)
	}
	slices.Sort(w.Seqs)
	for _, seq := range slices.Compact(w.Seqs) {
		e, err := d.Box.Entry(ledger.Refused, seq)
		if err == nil && e.State != outbox.Waiting {
			err = fmt.Errorf("message %s/%d is %s already", ledger.Refused, seq, e.State)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}

// readingsOf decodes one kept message.
func readingsOf(e outbox.Entry, decoders map[string]func(collectors.Refusal) ([]collectors.Reading, error)) ([]collectors.Reading, error) {
	var r ledger.Refusal
	if err := json.Unmarshal(e.Record.Body, &r); err != nil {
		return nil, fmt.Errorf("read what was kept: %w", err)
	}
	decode := decoders[e.Record.Address]
	if decode == nil {
		return nil, fmt.Errorf("%s has nothing that could decode it again", e.Record.Address)
	}
	readings, err := decode(collectors.Refusal{Device: r.Device, Source: r.Source, Raw: r.Raw, At: e.Record.At, Old: r.Old, Given: r.Given})
	for _, x := range readings {
		if err == nil && !clock.WasSet(x.At) {
			err = errors.New("it came while the clock was not set, and nobody knows when that was")
		}
	}
	return readings, err
}
