package ledger

import (
	"fmt"
	"slices"
	"time"

	"gauger/collectors"
)

// withoutHistorical is a batch without what devices kept and tell afterwards; the batch itself, mostly.
func withoutHistorical(batch []collectors.Reading) []collectors.Reading {
	for i := range batch { // by its place: a reading is large, and a site has thousands a second
		if batch[i].Past {
			return slices.DeleteFunc(slices.Clone(batch), func(r collectors.Reading) bool { return r.Past })
		}
	}
	return batch
}

// applyHistorical takes a reading of the past. It says nothing about now, so tanks, rules and meters do not see it; a value of
// which every reading is a record has it under its own time.
func (tx *txn) applyHistorical(r collectors.Reading) {
	f := tx.l.routes[r.Point]
	if f == nil || r.At.IsZero() {
		return
	}
	for _, i := range f.values {
		if tx.l.site.Values[i].Every == 0 {
			tx.sendValue(i, r)
		}
	}
}

// DecodedMessage is a kept message that can be decoded now.
type DecodedMessage struct {
	Seq      uint64
	Readings []collectors.Reading
	Values   int // records that were made of it
}

// QueueDecoded makes records of what kept messages hold, and takes the messages out of their stream.
func (l *Ledger) QueueDecoded(all []DecodedMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	tx := l.begin(time.Now())
	last := map[int]lastValue{}
	for i := range all {
		m := &all[i]
		before := len(tx.records)
		for _, r := range m.Readings {
			tx.applyRedecoded(r, last)
		}
		m.Values = len(tx.records) - before
		tx.decoded = append(tx.decoded, m.Seq)
	}
	if err := l.commit(tx, ""); err != nil {
		return fmt.Errorf("store what %d kept messages hold: %w", len(all), err)
	}
	return nil
}

// applyRedecoded takes a reading that could not be decoded when it came. It is one of the past, but nothing was sent of it then: a
// value that is sent now and then has it as well, as often as it would have had it; last are the reading before and its
// interval.
func (tx *txn) applyRedecoded(r collectors.Reading, last map[int]lastValue) {
	tx.applyHistorical(r)
	f := tx.l.routes[r.Point]
	if f == nil {
		return
	}
	for _, i := range f.values {
		v, before := tx.l.site.Values[i], last[i]
		if v.Every == 0 {
			continue
		}
		begin, due := v.interval(before.Begin, r.At, max(0, r.At.Sub(before.At)))
		last[i] = lastValue{At: r.At, Begin: begin}
		if due {
			tx.queueValue(v, r.Value, r.At)
		}
	}
}
