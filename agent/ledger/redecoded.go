package ledger

import (
	"fmt"
	"time"

	"gauger/collectors"
)

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
	d := l.begin(time.Now())
	last := map[int]lastValue{}
	for i := range all {
		m := &all[i]
		before := len(d.records)
		for _, r := range m.Readings {
			d.applyRedecoded(r, last)
		}
		m.Values = len(d.records) - before
		d.decoded = append(d.decoded, m.Seq)
	}
	if err := l.commit(d, ""); err != nil {
		return fmt.Errorf("store what %d kept messages hold: %w", len(all), err)
	}
	return nil
}

// applyRedecoded takes a reading that could not be decoded when it came. It is one of the past, but nothing was sent of it then: a
// value that is sent now and then has it as well, as often as it would have had it; last are the reading before and its
// interval.
func (d *txn) applyRedecoded(r collectors.Reading, last map[int]lastValue) {
	d.applyHistorical(r)
	f := d.l.routes[r.Point]
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
