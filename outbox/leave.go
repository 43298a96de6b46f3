package outbox

import (
	"bytes"
	"errors"
	"time"

	"go.etcd.io/bbolt"

	"gauger/outbox/receipts"
)

// stageDelivered takes a record out of the queue that the service has. The lock is held.
func (s *stream) stageDelivered(g *group, r Record) {
	s.unqueue(g, r.Seq)
	s.highestDelivered.Store(max(s.highestDelivered.Load(), r.Seq))
	s.counts.Waiting--
	s.counts.Delivered++
	s.counts.bytes -= pageCost(recordLen(r) - keyLen)
}

// receiptFor makes the receipt of a record.
func (b *Box) receiptFor(s *stream, r Record, status int, correlation string) receipts.Receipt {
	kept := receipts.Receipt{Outcome: receipts.Delivered, Status: status, Seq: r.Seq, At: time.Now(), Enqueued: r.At, Correlation: correlation, RecordSum: r.sum, Unclear: r.Attempt}
	kept.Label = b.labelOf(s, r)
	return kept
}

// labelOf gives the few words that the receipt of a record at the service keeps.
func (b *Box) labelOf(s *stream, r Record) string {
	if b.opt.Label == nil {
		return ""
	}
	return b.opt.Label(s.Name, r)
}

// writeReceipts keeps receipts. Not being able to costs the receipts only: the counts are in the box.
func (b *Box) writeReceipts(s *stream, kept []receipts.Receipt) {
	if err := b.receipts.Add(s.Name, s.Journal, kept); err != nil {
		b.note(Note{Kind: NoteTrouble, Stream: s.Name}, "the receipts of %s could not be kept, the records are delivered all the same: %v", s.Name, err)
	}
	if stream, ok := b.receipts.GaveUpEarly(); ok {
		b.note(Note{Kind: NoteReceipts, Stream: stream},
			"the oldest receipts of %s go before their %.0f days are over: the room for receipts is used up", stream, b.receipts.KeepsFor().Hours()/24)
	}
}

// streamReceipt is a receipt that follows its commit: if it alone came to the disk, what was made of the record would be lost, or
// its number belong to another.
type streamReceipt struct {
	s *stream
	receipts.Receipt
}

// writeGroupReceipts writes the receipts that follow a commit.
func (b *Box) writeGroupReceipts(g *group) {
	if len(g.receipts) == 0 {
		return
	}
	by := map[*stream][]receipts.Receipt{}
	for _, x := range g.receipts {
		by[x.s] = append(by[x.s], x.Receipt)
	}
	for s, kept := range by {
		s.highestDelivered.Store(max(s.highestDelivered.Load(), kept[len(kept)-1].Seq))
		b.writeReceipts(s, kept)
	}
}

// stageRemoval takes one record out of a bucket and hides it from everybody until that is on disk. The lock is held.
func (b *Box) stageRemoval(g *group, s *stream, bucket string, seq uint64) {
	if bucket == s.queueBucket {
		s.unqueue(g, seq)
	} else {
		g.remove(bucket, g.allocSeqKey(seq))
	}
	r := recordRef{bucket: bucket, seq: seq}
	b.leaving[r] = true
	g.leaving = append(g.leaving, r)
	g.touch(s)
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

// unqueue takes a record and its attempts out of the queue.
func (s *stream) unqueue(g *group, seq uint64) {
	key := g.allocSeqKey(seq)
	g.remove(s.queueBucket, key)
	if s.attempts[seq] != nil {
		delete(s.attempts, seq)
		g.remove(s.attemptsBucket, key)
	}
	g.touch(s)
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

func (b *Box) reconcileRecord(g *group, s *stream, seq uint64, r receipts.Receipt) error {
	v, err := b.fetchStored(s.queueBucket, seq)
	if v == nil || err != nil {
		return err
	}
	record, err := decodeRecord(s.Name, seqKey(seq), v)
	if err != nil || storedSum(v) != r.RecordSum || !record.At.Equal(r.Enqueued) {
		return nil // another record, or one that the drain makes a dead letter of
	}
	s.stageDelivered(g, record)
	return nil
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

// holdBack keeps what cannot be deleted now from being sent a second time; the next start deletes it.
func (b *Box) holdBack(s *stream, known map[uint64]receipts.Receipt) {
	for seq := range known {
		s.inFlight[seq] = true
	}
	b.note(Note{Kind: NoteTrouble, Stream: s.Name},
		"the disk is full: records of %s that are delivered cannot be taken out of the queue before the next start; they are not sent again", s.Name)
}
