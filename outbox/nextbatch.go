package outbox

import (
	"bytes"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

// scanLimit bounds how far one choice looks for records of the same address.
const scanLimit = 4096

// selection is the outcome of one look at the queue.
type selection struct {
	batch   []Record
	corrupt []corruptRecord
	bodies  staging // the batch's are cut from it
}

// nextBatch selects the next request's records and marks them as in flight; none: wait, or go on after the delay that was
// set. It changes nothing in the file.
func (d *drain) nextBatch() (selection, error) {
	d.s.clearSignal() // before the queue is looked at, so that what comes later wakes the drain again
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	d.lookAgain = false
	p, err := d.selectRecords(time.Now())
	d.lookAgain = d.lookAgain || len(p.corrupt) > 0
	return p, err
}

// selectRecords goes by urgency: the same batch again, pieces of a refused one, a probe while everything is refused, records
// that were refused before others were accepted and are tried a second time, what was not taken before others were, and
// then the queue; what was not taken and has nothing behind it comes last.
func (d *drain) selectRecords(now time.Time) (p selection, err error) {
	if err := d.b.usable(); err != nil {
		return p, err
	}
	for len(p.batch) == 0 && len(d.sameAgain) > 0 {
		seqs := d.sameAgain
		d.sameAgain = nil
		if err := d.collectExactly(&p, seqs, now); err != nil {
			return p, err
		}
	}
	for len(p.batch) == 0 && len(d.halves) > 0 {
		seqs := d.halves[0]
		d.halves = d.halves[1:]
		if err := d.collectExactly(&p, seqs, now); err != nil {
			return p, err
		}
	}
	if len(p.batch) > 0 {
		return p, nil
	}
	if d.breaker.open {
		return p, d.selectProbe(&p, now)
	}
	if seq, ok := d.poison.secondTry(); ok {
		err = d.collectExactly(&p, []uint64{seq}, now)
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
	if err := d.collect(&p, rule, now); err != nil {
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
func (d *drain) collect(p *selection, rule queueFilter, now time.Time) error {
	if d.s.counts.Waiting == 0 {
		return nil
	}
	var address []byte
	size, scanned := 0, 0
	err := d.scanQueue(rule, now, func(_ uint64, k, v []byte) bool {
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
		if p.addRecord(d.s, k, v) && len(p.batch) == 1 {
			address = bytes.Clone(addressOf(v))
		}
		size += len(v)
		return true
	})
	d.markInFlight(p)
	return err
}

// collectExactly collects exactly the given records, as far as they are still in the queue. The lock is held.
func (d *drain) collectExactly(p *selection, seqs []uint64, now time.Time) error {
	err := d.b.view("read stream "+d.s.Name, func(tx *bbolt.Tx) error {
		queue := tx.Bucket([]byte(d.s.queueBucket))
		for _, seq := range seqs {
			k := seqKey(seq)
			if v := queue.Get(k); v != nil && !d.isBusy(seq, now) {
				p.addRecord(d.s, k, v)
			}
		}
		return nil
	})
	d.markInFlight(p)
	return err
}

// isBusy reports whether a record is not to be touched now: in flight, on its way elsewhere, or parked.
func (d *drain) isBusy(seq uint64, now time.Time) bool {
	return d.s.inFlight[seq] || len(d.b.leaving) > 0 && d.b.leaving[recordRef{bucket: d.s.queueBucket, seq: seq}] ||
		len(d.s.attempts) > 0 && d.s.attempts[seq].isParked(now)
}

// addRecord adds one record, or what is left of it.
func (p *selection) addRecord(s *stream, k, v []byte) bool {
	r, err := readRecord(s.Name, k, v)
	if err != nil {
		p.corrupt = append(p.corrupt, corruptRecord{seq: r.Seq, value: bytes.Clone(v), why: err})
		return false
	}
	if p.batch == nil {
		n := int(min(s.counts.Waiting, uint64(s.batchLimit())))
		p.batch = make([]Record, 0, n)
		p.bodies.buf = make([]byte, 0, min(n*len(r.Body), MaxRequest))
	}
	body := p.bodies.alloc(len(r.Body))
	copy(body, r.Body)
	r.Body = body
	if m := s.attempts[r.Seq]; m != nil {
		r.Attempt, r.Late = m.Count, m.late
	}
	p.batch = append(p.batch, r)
	return true
}

// markInFlight keeps what was selected, so that nobody else moves it.
func (d *drain) markInFlight(p *selection) {
	for _, r := range p.batch {
		d.s.inFlight[r.Seq] = true
	}
	for _, r := range p.corrupt {
		d.s.inFlight[r.seq] = true
	}
}

func (d *drain) release(batch []Record) {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	for _, r := range batch {
		delete(d.s.inFlight, r.Seq)
	}
}

// queueRule says what of the queue goes next. While destinations are refused and nothing was taken since, every second
// request is for the newest record's address, so that a known one does not wait behind hundreds of unknown ones. The lock
// is held.
func (d *drain) queueRule(now time.Time) (queueFilter, error) {
	rule := queueFilter{limit: d.s.batchLimit(), skip: d.poison.isCandidate}
	if d.oneByOne {
		rule.limit = 1
	}
	if d.s.longestUntried() == nil {
		return rule, nil
	}
	if d.newestTurn = !d.newestTurn; !d.newestTurn {
		return rule, nil
	}
	found := false
	err := d.scanQueue(queueFilter{newest: true, skip: rule.skip}, now, func(_ uint64, _, v []byte) bool {
		found, rule.address = true, bytes.Clone(addressOf(v))
		return false
	})
	rule.newest = found && len(rule.address) == 0 // a single record, then; what is stored between two looks goes by its address
	if rule.newest {
		rule.limit, rule.address = 1, nil
	}
	return rule, err
}

// collectFrom takes what a destination has, oldest first. One that has nothing any more is forgotten. The lock is held.
func (d *drain) collectFrom(p *selection, a *failingDestination, now time.Time) error {
	if !a.isolatedUntil.IsZero() {
		d.s.lastIsolatedTry = now
	}
	err := d.collectExactly(p, a.sameAgain, now)
	if err == nil && len(p.batch) == 0 {
		err = d.collect(p, queueFilter{limit: d.s.batchLimit(), skip: d.poison.isCandidate, within: a}, now)
	}
	if err == nil && len(p.batch) == 0 {
		d.s.rejoin(a.destination)
		d.lookAgain = true
	}
	return err
}

// newcomerMayPass says that a new record may be another matter than the few destinations that were refused: it is tried at
// once.
func (d *drain) newcomerMayPass() bool {
	last := d.lastAnswer
	if last.Class != Key && last.Class != Path || last.laterForAll() || last.RetryAfter > 0 || d.breaker.open || d.unfinished() {
		return false
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	n := 0
	for _, a := range d.s.failing {
		if a.isolatedUntil.IsZero() {
			n++
		}
	}
	return 0 < n && n < maxRefusedInARow
}

// hasUnblocked says that the queue has a record that is neither of an isolated destination nor a candidate.
func (d *drain) hasUnblocked() bool {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	found := false
	err := d.scanQueue(queueFilter{skip: d.poison.isCandidate}, time.Now(), func(uint64, []byte, []byte) bool {
		found = true
		return false
	})
	return found || err != nil // whoever looks next is told the error
}

// hasWork says that there may be something to send: a queue that has only what is isolated asks for no pace.
func (d *drain) hasWork() bool {
	d.b.mu.Lock()
	waiting := d.s.counts.Waiting > 0
	if !waiting { // what is not taken is gone in another way: dropped, or it gave way
		d.gatherTill = time.Time{}
		clear(d.s.failing)
		d.s.allIsolatedBelow = 0
	}
	few, due := len(d.s.failing) == 0, d.s.nextDestination(time.Now()) != nil
	d.b.mu.Unlock()
	return waiting && (few || due || d.unfinished() || len(d.poison.candidates) > 0 || d.hasUnblocked())
}

// scanQueue gives the records that a request may have to found, in their order, until it returns false. The lock is held.
func (d *drain) scanQueue(rule queueFilter, now time.Time, found func(seq uint64, k, v []byte) bool) error {
	s := d.s
	return d.b.view("read stream "+s.Name, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(s.queueBucket)).Cursor()
		from := max(rule.after+1, s.allIsolatedBelow)
		if rule.within != nil {
			from = rule.within.firstSeq
		}
		k, v := c.Seek(seqKey(from))
		next := c.Next
		if rule.newest {
			k, v = c.Last()
			next = c.Prev
		}
		alone := rule.within == nil && !rule.newest && rule.after < max(s.allIsolatedBelow, 1) && s.bringingBack == 0 // nothing but what waits by itself was seen
		for ; k != nil; k, v = next() {
			seq, ok := keySeq(k)
			if !ok {
				continue // a key that is none is for Check to find
			}
			if a := s.failingOf(seq, addressOf(v)); a != rule.within {
				if alone && a != nil {
					s.allIsolatedBelow = seq + 1
				}
				continue
			}
			alone = false
			if d.isBusy(seq, now) || rule.skip(seq) {
				continue
			}
			if !found(seq, k, v) {
				return nil
			}
		}
		return nil
	})
}

// quickAnswer: a request that is answered later is not followed by a larger one.
const quickAnswer = time.Second

// takenWhole says that every record of a request was taken.
func takenWhole(batch []Record, answers []Answer) bool {
	return len(answers) == len(batch) && !slices.ContainsFunc(answers, func(a Answer) bool { return a.Class != Stored })
}

// sizeNext says how many records the next request may have (Decisions, in doc.go): twice as many behind a full one that was taken
// quickly, as many as before behind one that was not full, and the stream's own number behind anything else.
func (d *drain) sizeNext(batch []Record, answers []Answer, took time.Duration) {
	s := d.s
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	switch {
	case !takenWhole(batch, answers) || took > quickAnswer || s.counts.limit > 0:
		s.grown = 0
	case len(batch) == s.batchLimit():
		s.grown = min(2*len(batch), s.Most)
	}
}

// tooLargeGrown keeps requests of a stream that grows below half of one that was too large, until the next start, and sends its records
// as they stand in the queue; false: that one had not grown, and the stream's own number is too large.
func (d *drain) tooLargeGrown(batch []Record) bool {
	s := d.s
	if len(batch) <= s.Batch {
		return false
	}
	s.Most, d.sameAgain, d.halves = max(len(batch)/2, s.Batch), nil, nil
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	if a := s.failing[destinationOf(batch[0])]; a != nil {
		a.sameAgain = nil
	}
	return true
}

// neverComesThrough says that a request that had grown had no clear answer twice: as a whole it may be more than the link carries in
// the time that it has, or than a gateway lets pass.
func (d *drain) neverComesThrough(batch []Record) bool {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return len(batch) > d.s.Batch && d.s.attempts[batch[0].Seq].maybeStored() > 1
}
