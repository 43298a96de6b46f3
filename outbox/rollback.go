package outbox

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"gauger/outbox/receipts"
)

// rollback finds out whether an opened box is an older state of itself, and makes up for it.
type rollback struct{ b *Box }

// detect compares the box with the high-water marks and the receipts. Where the box is behind them, its disk has
// forgotten what it had confirmed, or an older copy was put in its place: the counts are taken over, so that no number is
// used twice and what is lost is counted; a record that waits again although it had left the queue becomes a dead
// letter, since sending it could double it. found is the generation that the file was at, before it was salvaged if it
// was: mended.
func (rb rollback) detect(found uint64, mended *salvager) error {
	h := rb.b.highWater
	rb.b.highWater = nil // it stays as it is until all is done
	older, salvaged := h != nil && h.Generation > found, mended != nil
	unmarked := !salvaged && !h.covers(found) && rb.behindReceipts() // how far it had been the receipts alone tell, and not of all
	var told []string
	var gone uint64
	for name, s := range rb.b.streams {
		mark, m, ok := h.markOf(name)
		if !ok {
			m = s.counts
		}
		s.highestDelivered.Store(mark.Top)
		if err := rb.countReceipts(name, &m); err != nil {
			return err
		}
		if !older && !salvaged && !unmarked && m.nextSeq <= s.counts.nextSeq {
			continue
		}
		m.LostUnknown = m.LostUnknown || unmarked
		lost, doubtful, err := rb.catchUpStream(s, m, mark, salvaged)
		if err != nil {
			return err
		}
		gone += lost
		if lost > 0 || doubtful > 0 || unmarked {
			least := ""
			if unmarked {
				least = "at least "
			}
			told = append(told, fmt.Sprintf("of %s %s%d records are lost, and %d wait again that had left the queue", name, least, lost, doubtful))
		}
	}
	rb.b.highWater = h
	if older {
		rb.b.generation = max(rb.b.generation, h.Generation)
	}
	switch {
	case salvaged && len(told) > 0:
		mended.noteMended(gone, " (by the marks and receipts beside it: "+strings.Join(told, "; ")+
			"; those that had left became dead letters: compare them with the service, then retry or drop them)")
	case salvaged:
		mended.noteMended(0, "")
	case len(told) > 0:
		rb.b.note(Note{Kind: NoteSalvaged, Message: "the outbox file is older than what was stored last: its disk forgot what it had " +
			"confirmed, or an older copy was put in its place; " + strings.Join(told, "; ") +
			"; those that had left became dead letters: compare them with the service, then retry or drop them"})
	}
	if !older {
		return nil
	}
	return rb.b.submit(func(g *group) error { // the marks and the box are level again
		for _, s := range rb.b.streams {
			g.touch(s)
		}
		return nil
	})
}

// behindReceipts reports whether a receipt shows a record that the box never had.
func (rb rollback) behindReceipts() bool {
	for name, s := range rb.b.streams {
		if rb.b.receipts.HighestSeq(name) >= s.counts.nextSeq {
			return true
		}
	}
	return false
}

// countReceipts counts what only the receipts know of.
func (rb rollback) countReceipts(stream string, m *streamCounts) error {
	last := rb.b.receipts.HighestSeq(stream)
	if last < m.nextSeq {
		return nil
	}
	err := rb.b.receipts.Each(stream, m.nextSeq, func(r receipts.Receipt) {
		switch r.Outcome {
		case receipts.Delivered:
			m.Delivered++
		case receipts.Dropped:
			m.Dropped++
		}
	})
	m.nextSeq = last + 1
	return err
}

// catchUpStream brings one stream up to its marks.
func (rb rollback) catchUpStream(s *stream, m streamCounts, mark highMark, salvaged bool) (lost uint64, doubtful int, err error) {
	back, err := rb.waitingSeqs(s, mark.hasLeft)
	if err == nil {
		lost, err = rb.adoptCounts(s, m, uint64(len(back)), salvaged)
	}
	if err == nil {
		doubtful, err = rb.deadLetterReturned(s, back)
	}
	return lost, doubtful, err
}

// adoptCounts makes the counts m those of the stream, but for what it has of them: back records wait again that are counted
// in m where they went, or in the counts that were salvaged. It returns how many are lost.
func (rb rollback) adoptCounts(s *stream, m streamCounts, back uint64, salvaged bool) (lost uint64, err error) {
	err = rb.b.submit(func(g *group) error {
		l := &s.counts
		l.nextSeq = max(l.nextSeq, m.nextSeq)
		l.Accepted = max(l.Accepted, m.Accepted, l.nextSeq-1) // every number was given to a record
		for _, f := range []struct{ have, then *uint64 }{
			{&l.Delivered, &m.Delivered}, {&l.Evicted, &m.Evicted}, {&l.Dropped, &m.Dropped}, {&l.Lost, &m.Lost},
		} {
			if *f.then > *f.have {
				took := min(back, *f.then-*f.have)
				*f.have, back = *f.then-took, back-took
			}
		}
		if salvaged {
			l.Delivered -= min(back, l.Delivered)
		}
		sum := l.Delivered + l.Waiting + l.Dead + l.Evicted + l.Dropped + l.Lost
		l.Accepted = max(l.Accepted, sum)
		l.LostUnknown = l.LostUnknown || m.LostUnknown
		lost = l.Accepted - sum
		l.Lost += lost
		g.touch(s)
		return nil
	})
	return lost, err
}

// deadLetterReturned makes dead letters of records that wait again, where no receipt shows them as delivered.
func (rb rollback) deadLetterReturned(s *stream, back []uint64) (n int, err error) {
	if err := reconciler(rb).reconcileStream(s); err != nil {
		return 0, err
	}
	why := deadHeader{at: time.Now(), reason: "had left the queue in a later state of the file, which the disk forgot: it was probably delivered"}
	for step := range slices.Chunk(back, changeStep) {
		err := rb.b.submit(func(g *group) error {
			for _, seq := range step {
				v, err := rb.b.fetchStored(s.queueBucket, seq)
				if err != nil {
					return err
				}
				if v != nil {
					rb.b.stageDeadLetter(g, s, seq, v, why)
					n++
				}
			}
			return nil
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// waitingSeqs lists what waits of a stream, as far as it is wanted.
func (rb rollback) waitingSeqs(s *stream, wanted func(seq uint64) bool) (found []uint64, err error) {
	err = rb.b.view("list "+s.Name, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(s.queueBucket)).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			if seq, ok := keySeq(k); ok && wanted(seq) {
				found = append(found, seq)
			}
		}
		return nil
	})
	return found, err
}
