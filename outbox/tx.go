package outbox

import (
	"fmt"
	"time"

	"gauger/outbox/receipts"
)

// maxName is the longest name of a piece of state, in bytes.
const maxName = 512

// Tx stages what one Update wants on disk. It is valid only inside the function that Update calls, and only in its
// goroutine.
type Tx struct {
	b        *Box
	g        *group
	firstOp  int       // operations that the group had before
	streams  []*stream // that got records
	bytes    uint64    // what the records add to the quota
	now      time.Time // of records without a time
	puts     []statePut
	taken    []heldRecord
	accepted bool  // what was staged stays in the group
	err      error // the first thing that cannot be stored; Update returns it
}

type statePut struct {
	name  string
	value []byte // nil: delete
}

// heldRecord is a record that leaves a held stream.
type heldRecord struct {
	s   *stream
	r   Record
	why string // it is good for nothing; empty: what it was kept for is done
}

// Append stages a record at the end of a stream and returns its sequence number. The record's Seq and Attempt are
// ignored. A record that cannot be stored (unknown stream, empty body, address over MaxAddress) makes Update fail.
func (t *Tx) Append(stream string, r Record) uint64 {
	s := t.b.streams[stream]
	switch {
	case s == nil:
		t.fail(fmt.Errorf("append to %q: %w", stream, ErrStream))
		return 0
	case len(r.Body) == 0 || len(r.Address) > MaxAddress:
		t.fail(fmt.Errorf("append to %s: body of %d bytes, address of %d: %w", stream, len(r.Body), len(r.Address), ErrRefused))
		return 0
	}
	if s.staged == 0 {
		t.streams = append(t.streams, s)
	}
	r.Seq = s.counts.nextSeq + s.staged
	if r.At.IsZero() {
		if t.now.IsZero() {
			t.now = time.Now()
		}
		r.At = t.now
	}
	key, value := writeRecord(t.g.alloc(recordLen(r)), s.nameSum, r)
	t.g.put(s.queueBucket, key, value)
	size := storedCost(value)
	s.staged++
	s.stagedBytes += size
	t.bytes += size
	return r.Seq
}

// Take takes a record out of a stream that is never drained. It counts as delivered, since what it was kept for is done; where nothing
// comes of it, for the reason why, as dropped. A record that is not there (any more), or whose bytes cannot be trusted, makes Update fail.
func (t *Tx) Take(stream string, seq uint64, why string) {
	s := t.b.streams[stream]
	if s == nil || !s.Held {
		t.fail(fmt.Errorf("take from %q: %w", stream, ErrStream))
		return
	}
	v, err := t.b.fetchStored(s.queueBucket, seq)
	if err == nil && v == nil {
		err = ErrRecord
	}
	if err != nil {
		t.fail(fmt.Errorf("take record %d of %s: %w", seq, stream, err))
		return
	}
	r, err := decodeRecord(stream, seqKey(seq), v)
	if err != nil {
		t.fail(err)
	}
	t.taken = append(t.taken, heldRecord{s, r, why})
}

// Put stages a piece of state under a name; nil deletes it, an empty value is one. The bytes are copied.
func (t *Tx) Put(name string, v []byte) {
	if name == "" || len(name) > maxName {
		t.fail(fmt.Errorf("put state %.40q: name of %d bytes: %w", name, len(name), ErrRefused))
		return
	}
	if v != nil {
		v = append([]byte{}, v...)
	}
	t.puts = append(t.puts, statePut{name: name, value: v})
}

func (t *Tx) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// accept counts what was staged as accepted: it will be committed. The box's lock is held.
func (t *Tx) accept() {
	for _, s := range t.streams {
		s.counts.nextSeq += s.staged
		s.counts.Accepted += s.staged
		s.counts.Waiting += s.staged
		s.counts.bytes += s.stagedBytes
		t.g.touch(s)
		t.g.wake(s)
	}
	for _, p := range t.puts {
		t.g.putState(p.name, p.value)
	}
	for _, x := range t.taken {
		if at := (recordRef{bucket: x.s.queueBucket, seq: x.r.Seq}); !t.b.leaving[at] { // it may just have given way to what was staged
			x.s.stageDelivered(t.g, x.r)
			t.b.leaving[at], t.g.leaving = true, append(t.g.leaving, at)
			kept := t.b.receiptFor(x.s, x.r, 0, "")
			if x.why != "" {
				x.s.counts.Delivered, x.s.counts.Dropped = x.s.counts.Delivered-1, x.s.counts.Dropped+1
				kept.Outcome, kept.Label = receipts.Dropped, x.why
			}
			t.g.receipts = append(t.g.receipts, streamReceipt{x.s, kept})
		}
	}
	t.accepted = true
}

// unstage takes what was staged out of the group again unless it was kept, after a panic too; from here on the Tx is of no
// use. The box's lock is held.
func (t *Tx) unstage() {
	for _, s := range t.streams {
		s.staged, s.stagedBytes = 0, 0
	}
	if !t.accepted {
		clear(t.g.ops[t.firstOp:])
		t.g.ops = t.g.ops[:t.firstOp]
	}
	t.g = nil
}

// Update runs fn, which stages records and state, and returns nil when all of it is on disk, or an error when none of
// it is (after ErrDead: it may be, and the next Open tells). Concurrent calls share one commit. fn runs at once, under
// the box's lock, exactly once; an Update that staged nothing costs nothing.
func (b *Box) Update(fn func(*Tx) error) error {
	c, err := b.Stage(fn)
	if err != nil {
		return err
	}
	return c.Wait()
}

// Stage is the first half of Update: it returns when fn has staged, and Commit.Wait is the other half. So a lock under which
// the order of what is staged is decided need not be held while the disk writes. An error says that nothing is staged.
func (b *Box) Stage(fn func(*Tx) error) (*Commit, error) {
	t := &Tx{b: b}
	c, err := b.join(func(g *group) error {
		t.g, t.firstOp = g, len(g.ops)
		defer t.unstage()
		if err := fn(t); err != nil {
			return err
		}
		if t.err != nil {
			return t.err
		}
		if b.opt.LookOnly && len(g.ops)+len(t.puts)+len(t.taken) > t.firstOp {
			return ErrLookOnly // before anything is counted
		}
		if err := (&evictionPlan{b: b}).makeRoom(g, t.bytes); err != nil {
			return err
		}
		t.accept()
		return nil
	})
	if err != nil {
		b.tell()
	}
	return c, err
}

// After makes the Stage fail if what it builds upon was taken back, with the error of that: what was staged on top of a
// commit goes with it, also what is staged between the failure and its end.
func (t *Tx) After(c *Commit) {
	if c != nil && c.g.err != nil {
		t.fail(fmt.Errorf("what this builds upon was not stored: %w", c.g.err))
	}
}

// Offer hands records of a stream that lingers to its drain before they are stored: what the service takes at once is counted, and
// never written; everything else is stored within seconds. A kill costs what is offered, so nobody may have been told that it is kept.
// false: nothing was taken, since the drain is not idle; they are to be stored.
func (b *Box) Offer(stream string, records []Record) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streams[stream]
	if s == nil || s.Linger <= 0 || s.Journal || b.usable() != nil || s.offer != nil || s.counts.Waiting > 0 || !s.isWell() {
		return false
	}
	s.offer = newOffer(b, s, records)
	signal(s.wake)
	return true
}

// isWell says that the drain waits for something to send, and that nothing was refused before. The lock is held.
func (s *stream) isWell() bool {
	return s.drainStatus.Activity == Idle && s.drainStatus.Troubled.IsZero() && s.counts.limit == 0 && len(s.failing) == 0
}
