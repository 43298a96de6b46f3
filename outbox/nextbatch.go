package outbox

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"
)

// scanLimit bounds how far one choice looks for records of the same address.
const scanLimit = 4096

// selection is the outcome of one look at the queue.
type selection struct {
	batch   []Record
	corrupt []corruptRecord
}

// corruptRecord is a record whose bytes cannot be trusted.
type corruptRecord struct {
	seq   uint64
	value []byte
	why   error
}

// nextBatch returns the next request's records, marked as in flight; none: wait, or go on after the delay that was set.
func (d *drain) nextBatch() ([]Record, error) {
	d.lookAgain = false
	if err := d.quarantineConfirmed(); err != nil {
		return nil, err
	}
	d.s.clearSignal() // before the queue is looked at, so that what comes later wakes the drain again
	d.b.mu.Lock()
	p, err := d.selectRecords(time.Now())
	d.b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if len(p.corrupt) > 0 {
		d.lookAgain = true
		if err := d.b.deadLetterCorrupt(d.s, p.corrupt); err != nil {
			return nil, err
		}
	}
	return p.batch, nil
}

// selectRecords goes by urgency: the same batch again, pieces of a refused one, a probe while everything is refused, records
// that were refused before others were accepted and are tried a second time, what was not taken before others were, and
// then the queue; what was not taken and has nothing behind it comes last.
func (d *drain) selectRecords(now time.Time) (p selection, err error) {
	if err := d.b.usable(); err != nil {
		return p, err
	}
	for len(p.batch) == 0 && len(d.frozen) > 0 {
		seqs := d.frozen
		d.frozen = nil
		if err := d.b.collectExactly(&p, d.s, seqs, now); err != nil {
			return p, err
		}
	}
	for len(p.batch) == 0 && len(d.pieces) > 0 {
		seqs := d.pieces[0]
		d.pieces = d.pieces[1:]
		if err := d.b.collectExactly(&p, d.s, seqs, now); err != nil {
			return p, err
		}
	}
	if len(p.batch) > 0 {
		return p, nil
	}
	if d.poison.open {
		return p, d.selectProbe(&p, now)
	}
	if seq, ok := d.poison.secondTry(); ok {
		err = d.b.collectExactly(&p, d.s, []uint64{seq}, now)
		if len(p.batch) == 0 {
			d.poison.forget(seq)
			d.lookAgain = true
		}
		return p, err
	}
	d.poison.siblingAccepted = false
	if a := d.s.dueDestination(now); a != nil {
		return p, d.collectFrom(&p, a, now)
	}
	rule, err := d.queueRule(now)
	if err != nil {
		return p, err
	}
	if err := d.b.collect(&p, d.s, rule, now); err != nil {
		return p, err
	}
	if len(p.batch) > 0 || len(p.corrupt) > 0 {
		return p, nil
	}
	if len(d.poison.candidates) > 0 {
		d.openBreaker()
	} else if a := d.s.longestUntried(); a != nil {
		return p, d.collectFrom(&p, a, now)
	}
	return p, nil
}

// batchLimit counts the records that a request may have.
func (s *stream) batchLimit() int {
	if s.counts.limit > 0 {
		return int(min(s.counts.limit, uint64(s.Batch)))
	}
	return s.Batch
}

// queueFilter says which records of the queue a request may have.
type queueFilter struct {
	after   uint64              // only records behind this one
	newest  bool                // the newest first
	within  *failingDestination // what this destination has; nil: all that is not isolated
	address []byte              // only what has this address; nil: any
	limit   int
	skip    func(seq uint64) bool
}

// collect collects the oldest records that may go, all with the first one's address. The lock is held.
func (b *Box) collect(p *selection, s *stream, rule queueFilter, now time.Time) error {
	if s.counts.Waiting == 0 {
		return nil
	}
	var address []byte
	size, scanned := 0, 0
	err := b.scanQueue(s, rule, now, func(_ uint64, k, v []byte) bool {
		if scanned++; scanned > scanLimit {
			return false
		}
		if rule.address != nil && !bytes.Equal(addressOf(v), rule.address) {
			scanned--
			return true
		}
		if len(p.batch) > 0 && !bytes.Equal(addressOf(v), address) {
			return true
		}
		if len(p.batch) > 0 && (len(p.batch) >= rule.limit || size+len(v) > MaxRequest) {
			return false
		}
		if p.add(s, k, v) && len(p.batch) == 1 {
			address = bytes.Clone(addressOf(v))
		}
		size += len(v)
		return true
	})
	b.markInFlight(s, p)
	return err
}

// collectExactly collects exactly the given records, as far as they are still in the queue. The lock is held.
func (b *Box) collectExactly(p *selection, s *stream, seqs []uint64, now time.Time) error {
	err := b.view("read stream "+s.Name, func(tx *bbolt.Tx) error {
		queue := tx.Bucket([]byte(s.queueBucket))
		for _, seq := range seqs {
			k := seqKey(seq)
			if v := queue.Get(k); v != nil && !b.busy(s, seq, now) {
				p.add(s, k, v)
			}
		}
		return nil
	})
	b.markInFlight(s, p)
	return err
}

// busy reports whether a record is not to be touched now: in flight, on its way elsewhere, or parked.
func (b *Box) busy(s *stream, seq uint64, now time.Time) bool {
	return s.inFlight[seq] || b.leaving[recordRef{bucket: s.queueBucket, seq: seq}] || s.attempts[seq].isParked(now)
}

// add adds one record, or what is left of it.
func (p *selection) add(s *stream, k, v []byte) bool {
	r, err := decodeRecord(s.Name, k, v)
	if err != nil {
		p.corrupt = append(p.corrupt, corruptRecord{seq: r.Seq, value: bytes.Clone(v), why: err})
		return false
	}
	r.Attempt = s.attempts[r.Seq].maybeStored()
	p.batch = append(p.batch, r)
	return true
}

// markInFlight keeps what was selected, so that nobody else moves it.
func (b *Box) markInFlight(s *stream, p *selection) {
	for _, r := range p.batch {
		s.inFlight[r.Seq] = true
	}
	for _, r := range p.corrupt {
		s.inFlight[r.seq] = true
	}
}

func (d *drain) release(batch []Record) {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	for _, r := range batch {
		delete(d.s.inFlight, r.Seq)
	}
}

// selectProbe picks one record while everything is refused: in turn the next that was not tried yet, further and further down
// the queue, the newest, which may have been made by a version that does better, and one that was refused. Where the queue
// has no other any more, what was not taken for its destination has the turns of the first two.
func (d *drain) selectProbe(p *selection, now time.Time) error {
	r := &d.poison
	r.probeTurn = (r.probeTurn + 1) % 3
	if r.probeTurn < 2 || len(r.candidates) == 0 {
		rule := queueFilter{after: r.cursor, newest: r.probeTurn == 1, limit: 1, skip: r.has}
		if err := d.b.collect(p, d.s, rule, now); err != nil {
			return err
		}
		if len(p.batch) > 0 {
			if !rule.newest {
				r.cursor = p.batch[0].Seq
			}
			return nil
		}
		r.cursor = 0
		if a := d.s.nextDestination(now); a != nil && len(r.candidates) > 0 {
			return d.collectFrom(p, a, now)
		}
	}
	for len(p.batch) == 0 && len(r.candidates) > 0 {
		first := r.candidates[0]
		r.candidates = append(r.candidates[1:], first)
		if err := d.b.collectExactly(p, d.s, []uint64{first.seq}, now); err != nil {
			return err
		}
		if len(p.batch) == 0 {
			r.forget(first.seq)
		}
	}
	if len(p.batch) == 0 {
		d.lookAgain = true
		r.open = r.cursor != 0 // nothing is left that was refused
	}
	return nil
}
