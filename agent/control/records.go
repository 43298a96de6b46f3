package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/outbox"
)

// states are the places of a record, by the words that people use.
var states = map[string]outbox.State{
	"waiting": outbox.Waiting, "dead": outbox.Dead, "delivered": outbox.Delivered, "dropped": outbox.Dropped,
}

// listRecords gives at most Limit records of each stream and state asked for, those behind After.
func (d *Server) listRecords(_ context.Context, w RecordQuery) ([]Entry, error) {
	streams := []string{w.Stream}
	if w.Stream == "" {
		streams = slices.Sorted(maps.Keys(d.Box.Counts()))
	}
	asked := []outbox.State{outbox.Waiting, outbox.Dead}
	if w.State != "" {
		s, ok := states[w.State]
		if !ok {
			return nil, fmt.Errorf("a record is %s, not %q", strings.Join(slices.Sorted(maps.Keys(states)), ", "), w.State)
		}
		asked = []outbox.State{s}
	}
	if w.Limit <= 0 {
		w.Limit = 100
	}
	all := []Entry{}
	for _, stream := range streams {
		for _, state := range asked {
			found, err := d.Box.Entries(stream, state, w.After, w.Limit)
			if err != nil {
				return nil, err
			}
			for _, e := range found {
				one, err := d.view(e, w.Whole)
				if err != nil {
					return nil, err
				}
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// Record is one record, in whatever state it is.
func (d *Server) Record(w RecordQuery) (Entry, error) {
	if len(w.Seqs) != 1 {
		return Entry{}, errors.New("name one record, as STREAM/NUMBER")
	}
	e, err := d.Box.Entry(w.Stream, w.Seqs[0])
	if err != nil {
		return Entry{}, err
	}
	return d.view(e, true)
}

func (d *Server) retryRecords(_ context.Context, w RecordQuery) (int, error) {
	n, err := d.Box.Retry(w.Stream, w.Seqs...)
	d.Box.Kick(w.Stream)
	return n, err
}

func (d *Server) dropRecords(ctx context.Context, w RecordQuery) (int, error) {
	if strings.TrimSpace(w.Why) == "" {
		return 0, errors.New("say why with --why: a dropped record is gone, and the reason is kept")
	}
	n, err := d.Box.Drop(w.Stream, Person(ctx)+": "+w.Why, w.Seqs...)
	if n == 0 {
		return n, err
	}
	now := time.Now().Round(0)
	return n, errors.Join(err, d.Ledger.QueueEvent(ledger.Event{Rule: eventrules.OutboxDropped, Start: now, End: now,
		Note: fmt.Sprintf("%s of %s (%v) dropped by %s: %s", ledger.Plural(n, "record"), w.Stream, w.Seqs, Person(ctx), w.Why)}))
}

// confirmRecords counts records as delivered that a person has seen at the service.
func (d *Server) confirmRecords(ctx context.Context, w RecordQuery) (int, error) {
	if strings.TrimSpace(w.Why) == "" {
		return 0, errors.New("say why with --why, such as where you have seen it: a confirmed record is not sent any more, and the reason is kept")
	}
	for _, seq := range w.Seqs {
		if e, err := d.Box.Entry(w.Stream, seq); err == nil && (e.State == outbox.Delivered || e.State == outbox.Dropped) {
			return 0, fmt.Errorf("record %s/%d is %s since %s: `gauger outbox show %[1]s/%[2]d` says how", w.Stream, seq, e.State, d.localTime(e.Since))
		}
	}
	return d.Box.Confirm(w.Stream, "confirmed by "+Person(ctx)+": "+w.Why, w.Seqs...)
}

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
