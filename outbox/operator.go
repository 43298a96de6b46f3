package outbox

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"gauger/outbox/receipts"
)

// changeStep counts the records that one commit of Retry or Drop moves.
const changeStep = 256

// maxComplaints bounds how many records an error of Retry or Drop names.
const maxComplaints = 10

// changeEach runs change for every number, in steps of one commit, and joins what did not work. The receipts that change returns
// are kept before the commit, those of a step together: each time costs a sync, and the lock is held.
func (b *Box) changeEach(s *stream, seqs []uint64, change func(*group, uint64) ([]receipts.Receipt, error)) (n int, err error) {
	b.noteBringingBack(s, 1)
	defer b.noteBringingBack(s, -1)
	var complaints []error
	for step := range slices.Chunk(seqs, changeStep) {
		done := 0
		err := b.submit(func(g *group) error {
			var receipts []receipts.Receipt
			for _, seq := range step {
				kept, err := change(g, seq)
				if err != nil {
					complaints = append(complaints, err)
					continue
				}
				receipts = append(receipts, kept...)
				done++
			}
			if len(receipts) > 0 {
				b.writeReceipts(s, receipts)
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		n += done
	}
	b.tell()
	if more := len(complaints) - maxComplaints; more > 0 {
		complaints = append(complaints[:maxComplaints], fmt.Errorf("and %d more", more))
	}
	return n, errors.Join(complaints...)
}

// noteBringingBack notes that old records of a stream are coming back, or are there.
func (b *Box) noteBringingBack(s *stream, more int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.bringingBack, s.isolatedBelow = s.bringingBack+more, 0
}

// fetchStored reads one value of a bucket, unless it is on its way out. The lock is held.
func (b *Box) fetchStored(bucket string, seq uint64) (v []byte, err error) {
	if b.leaving[recordRef{bucket: bucket, seq: seq}] {
		return nil, nil
	}
	err = b.view("read "+bucket, func(tx *bbolt.Tx) error {
		v = bytes.Clone(tx.Bucket([]byte(bucket)).Get(seqKey(seq)))
		return nil
	})
	return v, err
}

func (b *Box) retryOne(g *group, s *stream, seq uint64) error {
	if m := s.attempts[seq]; m != nil && !m.parkedUntil.IsZero() {
		m.parkedUntil, m.inARow = time.Time{}, 0
		g.putSealed(s.attemptsBucket, seqKey(seq), m.encode())
		g.wake(s)
		return nil
	}
	v, err := b.fetchStored(s.deadBucket, seq)
	if err != nil {
		return err
	}
	if v == nil && len(s.failing) > 0 {
		if v, err = b.fetchStored(s.queueBucket, seq); err != nil {
			return err
		}
		if v != nil && s.retryDestination(seq, addressOf(v)) {
			return nil
		}
		v = nil
	}
	if v == nil {
		return fmt.Errorf("retry record %d of %s: no dead letter and not parked: %w", seq, s.Name, ErrRecord)
	}
	_, value, err := unsealDeadLetter(s, seqKey(seq), v)
	if err == nil {
		_, err = decodeRecord(s.Name, seqKey(seq), value)
	}
	if err != nil {
		return fmt.Errorf("retry record %d of %s: its bytes cannot be trusted, it can only be dropped: %w", seq, s.Name, err)
	}
	b.stageRemoval(g, s, s.deadBucket, seq)
	g.put(s.queueBucket, seqKey(seq), value)
	for _, a := range s.failing {
		a.firstSeq = min(a.firstSeq, seq)
	}
	g.wake(s)
	s.counts.Dead--
	s.counts.Waiting++
	s.counts.deadBytes -= deadLetterCost(v[sealHeader:])
	s.counts.bytes += storedCost(value)
	return nil
}

func (b *Box) dropOne(g *group, s *stream, seq uint64, why string) ([]receipts.Receipt, error) {
	if s.inFlight[seq] {
		return nil, fmt.Errorf("drop record %d of %s: it is being sent, try again: %w", seq, s.Name, ErrRefused)
	}
	v, err := b.fetchStored(s.queueBucket, seq)
	if err != nil {
		return nil, err
	}
	record := v
	if v != nil {
		s.retryDestination(seq, addressOf(v)) // what waited by itself may be nothing now
		b.stageRemoval(g, s, s.queueBucket, seq)
		s.counts.Waiting--
		s.counts.bytes -= storedCost(v)
	} else {
		if v, err = b.fetchStored(s.deadBucket, seq); err != nil {
			return nil, err
		}
		if v == nil {
			return nil, fmt.Errorf("drop record %d of %s: %w", seq, s.Name, ErrRecord)
		}
		b.stageRemoval(g, s, s.deadBucket, seq)
		s.counts.Dead--
		s.counts.deadBytes -= deadLetterCost(v[sealHeader:])
		if _, record, err = unsealDeadLetter(s, seqKey(seq), v); err != nil {
			record = nil // damaged: it can be dropped all the same
		}
	}
	s.counts.Dropped++
	kept := receipts.Receipt{Outcome: receipts.Dropped, Seq: seq, At: time.Now(), Label: why}
	if kept.Enqueued = kept.At; record != nil {
		if r, err := decodeRecord(s.Name, seqKey(seq), record); err == nil {
			kept.Enqueued, kept.RecordSum = r.At, storedSum(record)
		}
	}
	return []receipts.Receipt{kept}, nil
}

// reconcile deletes what the receipts show as delivered: the process ended between the service's answer and its commit,
// or the file is an older state. A receipt counts only with the same checksum and enqueue time.
func (b *Box) reconcile() error {
	for _, s := range b.streams {
		if s.Held {
			continue // no service has what is never drained
		}
		if err := b.reconcileStream(s); err != nil {
			return err
		}
	}
	return nil
}

func (b *Box) reconcileStream(s *stream) error {
	if s.counts.Waiting == 0 {
		return nil
	}
	first, err := b.firstWaiting(s)
	if err != nil {
		return err
	}
	known := map[uint64]receipts.Receipt{}
	err = b.receipts.Each(s.Name, first, func(r receipts.Receipt) {
		if r.Outcome == receipts.Delivered {
			known[r.Seq] = r
		}
	})
	if err != nil {
		return err
	}
	err = b.submit(func(g *group) error {
		for seq, r := range known {
			if err := b.reconcileRecord(g, s, seq, r); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, ErrNoSpace) {
		b.holdBack(s, known)
		return nil
	}
	return err
}

// holdBack keeps what cannot be deleted now from being sent a second time; the next start deletes it.
func (b *Box) holdBack(s *stream, known map[uint64]receipts.Receipt) {
	for seq := range known {
		s.inFlight[seq] = true
	}
	b.note(Note{Kind: NoteTrouble, Stream: s.Name, Message: fmt.Sprintf(
		"the disk is full: records of %s that are delivered cannot be taken out of the queue before the next start; they are not sent again", s.Name)})
}

// firstWaiting is the lowest sequence number in a queue that is not empty.
func (b *Box) firstWaiting(s *stream) (first uint64, err error) {
	err = b.view("read stream "+s.Name, func(tx *bbolt.Tx) error {
		key, _ := tx.Bucket([]byte(s.queueBucket)).Cursor().First()
		first, _ = keySeq(key)
		return nil
	})
	return first, err
}

func (b *Box) reconcileRecord(g *group, s *stream, seq uint64, r receipts.Receipt) error {
	v, err := b.fetchStored(s.queueBucket, seq)
	if v == nil || err != nil {
		return err
	}
	record, err := decodeRecord(s.Name, seqKey(seq), v)
	if err != nil || storedSum(v) != r.RecordSum || !record.At.Equal(r.Enqueued) {
		return nil // another record, or one that the drain makes a dead letter of
	}
	b.stageDelivered(g, s, record)
	return nil
}
