package outbox

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"
)

// scanLimit bounds how far one choice looks for records of the same address.
const scanLimit = 4096

// picked is what one look at the queue found.
type picked struct {
	batch  []Record
	rotten []rotten
}

// rotten is a record whose bytes cannot be trusted.
type rotten struct {
	seq   uint64
	value []byte
	why   error
}

// choose returns the next request's records, marked as in flight; none: wait, or go on after the delay that was set.
func (d *drain) choose() ([]Record, error) {
	d.again = false
	if err := d.sentence(); err != nil {
		return nil, err
	}
	d.s.calm() // before the queue is looked at, so that what comes later wakes the drain again
	d.b.mu.Lock()
	p, err := d.pick(time.Now())
	d.b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if len(p.rotten) > 0 {
		d.again = true
		if err := d.b.buryRotten(d.s, p.rotten); err != nil {
			return nil, err
		}
	}
	return p.batch, nil
}

// pick goes by urgency: the same batch again, pieces of a refused one, a probe while everything is refused, records
// that were refused before others were accepted and are tried a second time, what was not taken before others were, and
// then the queue; what was not taken and has nothing behind it comes last.
func (d *drain) pick(now time.Time) (p picked, err error) {
	if err := d.b.usable(); err != nil {
		return p, err
	}
	for len(p.batch) == 0 && len(d.frozen) > 0 {
		seqs := d.frozen
		d.frozen = nil
		if err := d.b.claim(&p, d.s, seqs, now); err != nil {
			return p, err
		}
	}
	for len(p.batch) == 0 && len(d.pieces) > 0 {
		seqs := d.pieces[0]
		d.pieces = d.pieces[1:]
		if err := d.b.claim(&p, d.s, seqs, now); err != nil {
			return p, err
		}
	}
	if len(p.batch) > 0 {
		return p, nil
	}
	if d.refused.open {
		return p, d.probe(&p, now)
	}
	if seq, ok := d.refused.second(); ok {
		err = d.b.claim(&p, d.s, []uint64{seq}, now)
		if len(p.batch) == 0 {
			d.refused.forget(seq)
			d.again = true
		}
		return p, err
	}
	d.refused.batchOK = false
	if a := d.s.due(now); a != nil {
		return p, d.pickApart(&p, a, now)
	}
	rule, err := d.other(now)
	if err != nil {
		return p, err
	}
	if err := d.b.take(&p, d.s, rule, now); err != nil {
		return p, err
	}
	if len(p.batch) > 0 || len(p.rotten) > 0 {
		return p, nil
	}
	if len(d.refused.suspects) > 0 {
		d.open()
	} else if a := d.s.longestAway(); a != nil {
		return p, d.pickApart(&p, a, now)
	}
	return p, nil
}

// most is how many records a request may have.
func (s *stream) most() int {
	if s.led.limit > 0 {
		return int(min(s.led.limit, uint64(s.Batch)))
	}
	return s.Batch
}

// takeRule says which records of the queue a request may have.
type takeRule struct {
	after  uint64 // only records behind this one
	newest bool   // the newest first
	only   *apart // what this place has; nil: all that does not wait by itself
	of     []byte // only what has this address; nil: any
	most   int
	skip   func(seq uint64) bool
}

// take collects the oldest records that may go, all with the first one's address. The lock is held.
func (b *Box) take(p *picked, s *stream, rule takeRule, now time.Time) error {
	if s.led.Waiting == 0 {
		return nil
	}
	var address []byte
	size, scanned := 0, 0
	err := b.scan(s, rule, now, func(_ uint64, k, v []byte) bool {
		if scanned++; scanned > scanLimit {
			return false
		}
		if rule.of != nil && !bytes.Equal(addressOf(v), rule.of) {
			scanned--
			return true
		}
		if len(p.batch) > 0 && !bytes.Equal(addressOf(v), address) {
			return true
		}
		if len(p.batch) > 0 && (len(p.batch) >= rule.most || size+len(v) > MaxRequest) {
			return false
		}
		if p.read(s, k, v) && len(p.batch) == 1 {
			address = bytes.Clone(addressOf(v))
		}
		size += len(v)
		return true
	})
	b.fly(s, p)
	return err
}

// claim collects exactly the given records, as far as they are still in the queue. The lock is held.
func (b *Box) claim(p *picked, s *stream, seqs []uint64, now time.Time) error {
	err := b.view("read stream "+s.Name, func(tx *bbolt.Tx) error {
		queue := tx.Bucket([]byte(s.queue))
		for _, seq := range seqs {
			k := seqKey(seq)
			if v := queue.Get(k); v != nil && !b.busy(s, seq, now) {
				p.read(s, k, v)
			}
		}
		return nil
	})
	b.fly(s, p)
	return err
}

// busy reports whether a record is not to be touched now: in flight, on its way elsewhere, or parked.
func (b *Box) busy(s *stream, seq uint64, now time.Time) bool {
	return s.inFlight[seq] || b.gone[ref{bucket: s.queue, seq: seq}] || s.marks[seq].waits(now)
}

// read adds one record, or what is left of it.
func (p *picked) read(s *stream, k, v []byte) bool {
	r, err := decodeRecord(s.Name, k, v)
	if err != nil {
		p.rotten = append(p.rotten, rotten{seq: r.Seq, value: bytes.Clone(v), why: err})
		return false
	}
	r.Attempt = s.marks[r.Seq].attempt()
	p.batch = append(p.batch, r)
	return true
}

// fly marks what was picked, so that nobody else moves it.
func (b *Box) fly(s *stream, p *picked) {
	for _, r := range p.batch {
		s.inFlight[r.Seq] = true
	}
	for _, r := range p.rotten {
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

// probe picks one record while everything is refused: in turn the next that was not tried yet, further and further down
// the queue, the newest, which may have been made by a version that does better, and one that was refused. Where the queue
// has no other any more, what was not taken for its place has the turns of the first two.
func (d *drain) probe(p *picked, now time.Time) error {
	r := &d.refused
	r.turn = (r.turn + 1) % 3
	if r.turn < 2 || len(r.suspects) == 0 {
		rule := takeRule{after: r.cursor, newest: r.turn == 1, most: 1, skip: r.has}
		if err := d.b.take(p, d.s, rule, now); err != nil {
			return err
		}
		if len(p.batch) > 0 {
			if !rule.newest {
				r.cursor = p.batch[0].Seq
			}
			return nil
		}
		r.cursor = 0
		if a := d.s.nextOff(now); a != nil && len(r.suspects) > 0 {
			return d.pickApart(p, a, now)
		}
	}
	for len(p.batch) == 0 && len(r.suspects) > 0 {
		first := r.suspects[0]
		r.suspects = append(r.suspects[1:], first)
		if err := d.b.claim(p, d.s, []uint64{first.seq}, now); err != nil {
			return err
		}
		if len(p.batch) == 0 {
			r.forget(first.seq)
		}
	}
	if len(p.batch) == 0 {
		d.again = true
		r.open = r.cursor != 0 // nothing is left that was refused
	}
	return nil
}
