package outbox

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"gauger/outbox/receipts"
)

// reconciler compares a box with its receipts.
type reconciler struct{ b *Box }

// reconcile deletes what the receipts show as delivered: the process ended between the service's answer and its commit,
// or the file is an older state. A receipt counts only with the same checksum and enqueue time.
func (c reconciler) reconcile() error {
	for _, s := range c.b.streams {
		if s.Held {
			continue // no service has what is never drained
		}
		if err := c.reconcileStream(s); err != nil {
			return err
		}
	}
	return nil
}

func (c reconciler) reconcileStream(s *stream) error {
	if s.counts.Waiting == 0 {
		return nil
	}
	first, err := c.firstWaiting(s)
	if err != nil {
		return err
	}
	known := map[uint64]receipts.Receipt{}
	err = c.b.receipts.Each(s.Name, first, func(r receipts.Receipt) {
		if r.Outcome == receipts.Delivered {
			known[r.Seq] = r
		}
	})
	if err != nil {
		return err
	}
	err = c.b.submit(func(g *group) error {
		for seq, r := range known {
			if err := c.reconcileRecord(g, s, seq, r); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, ErrNoSpace) {
		c.holdBack(s, known)
		return nil
	}
	return err
}

func (c reconciler) reconcileRecord(g *group, s *stream, seq uint64, r receipts.Receipt) error {
	v, err := c.b.fetchStored(s.queueBucket, seq)
	if v == nil || err != nil {
		return err
	}
	record, err := decodeRecord(s.Name, seqKey(seq), v)
	if err != nil || storedSum(v) != r.RecordSum || !record.At.Equal(r.Enqueued) {
		return nil // another record, or one that the drain makes a dead letter of
	}
	c.b.stageDelivered(g, s, record)
	return nil
}

// firstWaiting is the lowest sequence number in a queue that is not empty.
func (c reconciler) firstWaiting(s *stream) (first uint64, err error) {
	err = c.b.view("read stream "+s.Name, func(tx *bbolt.Tx) error {
		key, _ := tx.Bucket([]byte(s.queueBucket)).Cursor().First()
		first, _ = keySeq(key)
		return nil
	})
	return first, err
}

// holdBack keeps what cannot be deleted now from being sent a second time; the next start deletes it.
func (c reconciler) holdBack(s *stream, known map[uint64]receipts.Receipt) {
	for seq := range known {
		s.inFlight[seq] = true
	}
	c.b.note(Note{Kind: NoteTrouble, Stream: s.Name, Message: fmt.Sprintf(
		"the disk is full: records of %s that are delivered cannot be taken out of the queue before the next start; they are not sent again", s.Name)})
}
