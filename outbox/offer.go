package outbox

import (
	"context"
	"errors"
	"slices"
	"sort"
	"sync"
	"time"

	"gauger/outbox/receipts"
)

const (
	// offeredFor: what was offered is stored after so long, unless the service has it by then.
	offeredFor = 5 * time.Second
	// countWithin: what was taken without being stored is on disk as counts and receipts after so long.
	countWithin = 5 * time.Minute
	// countMost: or when there are so many receipts.
	countMost = 1024
)

// offer is what a drain sends before it is stored (Decisions, in doc.go).
type offer struct {
	b       *Box
	s       *stream
	mu      sync.Mutex // taken before the box's; held while it is stored or counted
	records []Record   // by address; those of a request that is out are the first
	out     int        // so many of them
	stored  bool
	timer   *time.Timer
}

func newOffer(b *Box, s *stream, records []Record) *offer {
	o := &offer{b: b, s: s, records: slices.Clone(records)}
	sort.SliceStable(o.records, func(i, j int) bool { return o.records[i].Address < o.records[j].Address }) // slices.SortStableFunc costs the binary 8 kB for a struct of this size
	o.timer = time.AfterFunc(offeredFor, func() {
		if NoRoom(o.store()) {
			o.timer.Reset(offeredFor) // the drain may send it meanwhile
		}
	})
	return o
}

// end lets the drain forget an offer that is stored or counted. Its lock is held.
func (o *offer) end() {
	o.timer.Stop()
	o.b.mu.Lock()
	defer o.b.mu.Unlock()
	o.s.offer = nil
}

// store stores what is left of it; of nil, nothing.
func (o *offer) store() error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.storeLocked()
}

// storeLocked is store with its lock held. The records of a request that is out are in flight then.
func (o *offer) storeLocked() error {
	if o.stored || len(o.records) == 0 {
		return nil
	}
	err := o.b.Update(func(t *Tx) error {
		for i := range o.records {
			r := &o.records[i]
			r.Seq = t.Append(o.s.Name, *r)
			_, value := writeRecord(make([]byte, recordLen(*r)), o.s.nameSum, *r)
			r.sum = storedSum(value) // its receipt tells it from another of the same number
			if i < o.out {
				o.s.inFlight[r.Seq] = true
			}
		}
		return nil
	})
	if err == nil {
		o.stored = true
		o.end()
		return nil
	}
	o.b.mu.Lock()
	defer o.b.mu.Unlock()
	for _, r := range o.records[:o.out] {
		delete(o.s.inFlight, r.Seq)
	}
	return err
}

// currentOffer is what waits to be sent without being stored; nil: nothing.
func (d *drain) currentOffer() *offer {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return d.s.offer
}

// nextOffered is the next request's part of an offer, which is out from now on; none: it was stored meanwhile.
func (o *offer) nextOffered(limit int) []Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stored {
		return nil
	}
	n, size := 0, 0
	for n < min(len(o.records), limit) && o.records[n].Address == o.records[0].Address {
		if size += len(o.records[n].Body); n > 0 && size > MaxRequest {
			break
		}
		n++
	}
	o.out = n
	return slices.Clone(o.records[:n])
}

// settleOffered ends a request of what was offered: what was taken as a whole is counted, unless it was stored meanwhile; then, or if
// it was not taken, it returns the records as they are stored, for the answers to be acted on.
func (d *drain) settleOffered(o *offer, batch []Record, answers []Answer) ([]Record, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stored || !takenWhole(batch, answers) {
		err := o.storeLocked()
		batch, o.out = slices.Clone(o.records[:o.out]), 0
		if NoRoom(err) { // it stays in memory, and goes again
			d.lastAnswer = Answer{Message: "the sender gave no receipt"}
			if len(answers) > 0 {
				d.lastAnswer = answers[0]
			}
			d.backOff(d.lastAnswer.Class, d.lastAnswer.RetryAfter)
			return nil, nil
		}
		return batch, err
	}
	if err := d.countTaken(batch, answers); err != nil {
		return nil, err
	}
	if o.records, o.out = o.records[len(batch):], 0; len(o.records) == 0 {
		o.end()
	}
	d.noteSuccess()
	return nil, nil
}

// countTaken counts what the service has taken and nobody has stored. Counts, and receipts behind them, go with the next commit that
// anybody makes.
func (d *drain) countTaken(batch []Record, answers []Answer) error {
	kept := make([]receipts.Receipt, len(batch))
	for i, r := range batch {
		kept[i] = d.b.receiptFor(d.s, r, answers[i].Status, answers[i].CorrelationID)
	}
	many := false
	c, err := d.b.join(func(g *group) error {
		for _, r := range kept {
			r.Seq = d.s.counts.nextSeq
			d.s.counts.nextSeq++
			g.receipts = append(g.receipts, streamReceipt{d.s, r})
		}
		d.s.counts.Accepted += uint64(len(kept))
		d.s.counts.Delivered += uint64(len(kept))
		g.touch(d.s)
		many = len(g.receipts) >= countMost
		return nil
	})
	if err != nil {
		return err
	}
	if d.counting == nil || d.counting.g != c.g { // else it goes with what was counted before
		if d.countTimer != nil {
			d.countTimer.Stop()
		}
		d.counting, d.countTimer = c, time.AfterFunc(countWithin, func() { _ = c.Wait() }) // the next commit fails, too, and tells
	}
	if many {
		return d.endCounting()
	}
	return nil
}

// endCounting stores what was counted. On a disk that is full, of which the box tells, it is not.
func (d *drain) endCounting() error {
	if d.counting == nil {
		return nil
	}
	d.countTimer.Stop()
	err := d.counting.Wait()
	if d.counting = nil; errors.Is(err, ErrNoSpace) {
		return nil
	}
	return err
}

// sendOffered sends a part of what was offered.
func (d *drain) sendOffered(ctx context.Context, o *offer) error {
	batch := o.nextOffered(d.s.batchLimit())
	if len(batch) == 0 {
		return nil
	}
	answers := d.ask(ctx, batch)
	stored, err := d.settleOffered(o, batch, answers)
	if err != nil || len(stored) == 0 {
		return err
	}
	defer func() {
		if !d.keepsInFlight(stored) {
			d.release(stored)
		}
	}()
	return d.apply(ctx, stored, answers)
}
