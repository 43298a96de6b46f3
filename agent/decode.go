package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"gauger/agent/clock"
	"gauger/collectors"
	"gauger/outbox"
)

// Decoded is what became of a kept message that was decoded again.
type Decoded struct {
	Seq    uint64 `json:"seq"`
	Values int    `json:"values"`        // records that were made of it
	Why    string `json:"why,omitempty"` // it still cannot be decoded, and stays
}

// decode decodes messages again that could not be before: those named, or the next page of all behind After. What can
// be decoded now leaves the stream in the transaction that stores its readings.
func (d *Desk) decode(_ context.Context, w Which) ([]Decoded, error) {
	found, err := d.keptMessages(w)
	if err != nil {
		return nil, err
	}
	if d.Clock.Grade(time.Now()) == clock.Unset {
		return nil, errors.New("the clock is not set, so that values of the past have no place: set it, then try again")
	}
	decoders := map[string]func(collectors.Refusal) ([]collectors.Reading, error){}
	for _, c := range d.Gather {
		if x, ok := c.Collector.(collectors.Decoder); ok {
			decoders[c.Name] = x.Decoder()
		}
	}
	all := make([]Decoded, len(found))
	var good []decodedMessage
	for i, e := range found {
		all[i].Seq = e.Record.Seq
		if readings, err := readingsOf(e, decoders); err != nil {
			all[i].Why = err.Error()
		} else {
			good = append(good, decodedMessage{&all[i], readings})
		}
	}
	return all, d.Ledger.takeDecoded(good)
}

// keptMessages are those that are asked for.
func (d *Desk) keptMessages(w Which) (found []outbox.Entry, err error) {
	if len(w.Seqs) == 0 {
		return d.Box.Entries(Refused, outbox.Waiting, w.After, w.Limit)
	}
	slices.Sort(w.Seqs)
	for _, seq := range slices.Compact(w.Seqs) {
		e, err := d.Box.Entry(Refused, seq)
		if err == nil && e.State != outbox.Waiting {
			err = fmt.Errorf("message %s/%d is %s already", Refused, seq, e.State)
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
	var r Refusal
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

// decodedMessage is a kept message that can be decoded now.
type decodedMessage struct {
	*Decoded
	readings []collectors.Reading
}

// takeDecoded makes records of what kept messages hold, and takes the messages out of their stream.
func (l *Ledger) takeDecoded(all []decodedMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.draft(time.Now())
	last := map[int]lastValue{}
	for _, m := range all {
		before := len(d.records)
		for _, r := range m.readings {
			d.late(r, last)
		}
		m.Values = len(d.records) - before
		d.decoded = append(d.decoded, m.Seq)
	}
	if err := l.commit(d, ""); err != nil {
		return fmt.Errorf("store what %d kept messages hold: %w", len(all), err)
	}
	return nil
}

// late takes a reading that could not be decoded when it came. It is one of the past, but nothing was sent of it then: a
// value that is sent now and then has it as well, as often as it would have had it; last are the reading before and its
// interval.
func (d *draft) late(r collectors.Reading, last map[int]lastValue) {
	d.bygone(r)
	f := d.l.feeds[r.Point]
	if f == nil {
		return
	}
	for _, i := range f.values {
		v, before := d.l.site.Values[i], last[i]
		if v.Every == 0 {
			continue
		}
		begin, due := v.interval(before.Begin, r.At, max(0, r.At.Sub(before.At)))
		last[i] = lastValue{At: r.At, Begin: begin}
		if due {
			d.queueValue(v, r.Value, r.At)
		}
	}
}
