package outbox

import (
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"gauger/outbox/receipts"
)

// DrainStatus says how far a stream's drain is; zero for a stream that does not exist.
func (b *Box) DrainStatus(stream string) DrainStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streams[stream]
	if s == nil {
		return DrainStatus{}
	}
	now, out := time.Now(), s.drainStatus
	for seq, m := range s.attempts {
		if m.isParked(now) {
			out.Parked++
		} else if m.Count > 0 {
			if out.Unclear++; out.FirstSeq == 0 || seq < out.FirstSeq {
				out.FirstSeq = seq
			}
		}
	}
	for _, a := range s.failing {
		if at := s.nextTry(a); a.unclear && (out.Again.IsZero() || at.Before(out.Again)) {
			out.Again = at
		}
	}
	out.Isolated = s.listIsolated()
	if most := s.batchLimit(); most < s.Batch {
		out.Limit = most
	}
	return out
}

// Oldest says when the oldest waiting record of a stream was enqueued that neither waits by itself nor is parked; zero: there is none.
func (b *Box) Oldest(stream string) (at time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streams[stream]
	if s == nil {
		return at, fmt.Errorf("oldest of %q: %w", stream, ErrStream)
	}
	now := time.Now()
	err = b.view("read stream "+s.Name, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(s.queueBucket)).Cursor()
		for k, v := c.First(); k != nil && at.IsZero(); k, v = c.Next() {
			seq, _ := keySeq(k)
			if a := s.failingOf(seq, addressOf(v)); a != nil && !a.isolatedUntil.IsZero() && (!a.unclear || a.othersTaken) || s.attempts[seq].isParked(now) {
				continue
			}
			if r, err := decodeRecord(s.Name, k, v); err == nil { // the time of a damaged one says nothing
				at = r.At
			}
		}
		return nil
	})
	return at, err
}

// Audited says what the file itself has of one stream: its counts, and its records counted one by one.
type Audited struct {
	Counts
	Queued  uint64 // records in the queue
	Letters uint64 // dead letters
}

// Holds reports whether every accepted record is accounted for, and those that should be here are here.
func (a Audited) Holds() bool { return a.Balanced() && a.Waiting == a.Queued && a.Dead == a.Letters }

// AuditNow is Audit behind a commit of what was counted and waits for one to go with, unless the disk does not take it, and behind the
// receipts that follow a commit.
func (b *Box) AuditNow() (map[string]Audited, error) {
	if b.Hung() == nil { // else the file says what it said before
		_ = b.Update(func(*Tx) error { return nil }) // a commit that fails tells by itself
		b.commitMu.Lock()
		defer b.commitMu.Unlock()
	}
	return b.Audit()
}

// Audit counts what the file has, of all streams at one instant: after the same commit.
func (b *Box) Audit() (map[string]Audited, error) {
	all := map[string]Audited{}
	err := b.view("audit the outbox", func(tx *bbolt.Tx) error {
		for name, s := range b.streams {
			a, err := s.audit(tx)
			if err != nil {
				return err
			}
			all[name] = a
		}
		return nil
	})
	return all, err
}

func (s *stream) audit(tx *bbolt.Tx) (a Audited, err error) {
	key := []byte(s.Name)
	if raw := tx.Bucket([]byte(bucketMeta)).Get(key); raw != nil {
		content, _, err := unseal(bucketMeta, key, raw)
		var l streamCounts
		if err = errors.Join(err, l.decode(content)); err != nil {
			return a, fmt.Errorf("counts of %s: %w", s.Name, err)
		}
		a.Counts = l.Counts
	}
	for _, x := range []struct {
		bucket string
		n      *uint64
	}{{s.queueBucket, &a.Queued}, {s.deadBucket, &a.Letters}} {
		c := tx.Bucket([]byte(x.bucket)).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			*x.n++
		}
	}
	return a, nil
}

// ReceiptsSince says from when on a stream's receipts are there; all: every one that it ever had by its counts.
func (b *Box) ReceiptsSince(stream string, c Counts) (since time.Time, all bool, err error) {
	lowest := uint64(0)
	err = b.receipts.Each(stream, 0, func(r receipts.Receipt) {
		if lowest == 0 || r.Number < lowest {
			lowest, since = r.Number, r.At
		}
	})
	return since, lowest <= 1 && b.receipts.Total(stream) >= c.Delivered+c.Dropped, err
}
