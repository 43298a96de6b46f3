package outbox

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"gauger/outbox/receipts"
)

// rollback is by how much an opened box is behind its high-water marks and its receipts: its disk has forgotten what it had
// confirmed, or an older copy was put in its place.
type rollback struct {
	b        *Box
	marks    *highWater // nil: there are none
	mended   *salvager  // nil: the file was sound
	older    bool       // the marks are of a later generation
	empty    bool       // the file has never had a record
	unmarked bool       // how far the box had been the receipts alone tell, and not of all
	doubtful int        // records that wait again
	lost     uint64     // records, besides those of which a salvage knows by itself
	told     []string   // of each stream that is behind, in words
	behind   []string   // streams that had records which the file has never had, or may have had
}

// newRollback compares. found is the generation that the file was at, before it was salvaged if it was: mended.
func newRollback(b *Box, found uint64, mended *salvager) *rollback {
	rb := &rollback{b: b, marks: b.highWater, mended: mended, empty: true}
	for _, s := range b.streams {
		rb.empty = rb.empty && s.counts.Accepted == 0
	}
	rb.older = rb.marks != nil && rb.marks.Generation > found
	rb.unmarked = mended == nil && !rb.marks.covers(found) && rb.behindReceipts()
	return rb
}

// makeUp takes the counts over, so that no number is used twice and what is lost is counted; a record that waits again
// although it had left the queue becomes a dead letter, since sending it could double it.
func (rb *rollback) makeUp() error {
	rb.b.highWater = nil // the marks stay as they are until all is done
	var err error
	for _, s := range rb.b.streams {
		if err = rb.makeUpStream(s); err != nil {
			break
		}
	}
	rb.b.highWater = rb.marks // if only to be closed
	if err != nil {
		return err
	}
	rb.note()
	if !rb.older {
		return nil
	}
	rb.b.generation = max(rb.b.generation, rb.marks.Generation)
	return rb.b.submit(func(g *group) error { // the marks and the box are level again
		for _, s := range rb.b.streams {
			g.touch(s)
		}
		return nil
	})
}

// makeUpStream brings one stream up to its marks and receipts.
func (rb *rollback) makeUpStream(s *stream) error {
	mark, m, ok := rb.marks.markOf(s.Name)
	if !ok {
		m = s.counts
	}
	s.highestDelivered.Store(mark.Top)
	if err := rb.countReceipts(s.Name, &m); err != nil {
		return err
	}
	if !rb.older && rb.mended == nil && !rb.unmarked && m.nextSeq <= s.counts.nextSeq {
		return nil
	}
	m.LostUnknown = m.LostUnknown || rb.unmarked
	if rb.unmarked || m.nextSeq > s.counts.nextSeq {
		rb.behind = append(rb.behind, s.Name)
	}
	back, err := rb.returned(s, mark)
	if err != nil {
		return err
	}
	lost, err := rb.adoptCounts(s, m, uint64(len(back)))
	if err != nil {
		return err
	}
	doubtful, err := rb.deadLetterReturned(s, back)
	if err != nil {
		return err
	}
	rb.lost, rb.doubtful = rb.lost+lost, rb.doubtful+doubtful
	var told []string
	if rb.unmarked {
		told = append(told, fmt.Sprintf("at least %d records are lost", lost))
	} else if lost > 0 {
		told = append(told, fmt.Sprintf("%d records are lost", lost))
	}
	if doubtful > 0 {
		told = append(told, fmt.Sprintf("%d wait again that had left the queue", doubtful))
	}
	if len(told) > 0 {
		rb.told = append(rb.told, "of "+s.Name+" "+strings.Join(told, ", and "))
	}
	return nil
}

// note tells what was found, with what a salvage has to tell.
func (rb *rollback) note() {
	advice := ""
	if rb.doubtful > 0 {
		advice = "; those that had left became dead letters: compare them with the service, then confirm what it has and retry what it has not"
	}
	told := strings.Join(rb.told, "; ")
	if told == "" && len(rb.behind) > 0 {
		told = "its records had all left, and are known by their receipts as far as those are kept"
	}
	switch {
	case rb.mended == nil && rb.empty && told != "":
		rb.b.note(Note{Kind: NoteSalvaged, Behind: rb.behind}, "the outbox file was EMPTIED or was not there, and what lies beside it knows better: the figures of its tickets, which of them were void, "+
			"trucks' tickets, tanks and their book are gone; %s%s. If there is a backup, put it back with gauger stopped", told, advice)
	case rb.mended != nil && told != "":
		rb.mended.noteMended(rb.lost, " (by the marks and receipts beside it: "+told+advice+")")
	case rb.mended != nil:
		rb.mended.noteMended(0, "")
	case told != "":
		rb.b.note(Note{Kind: NoteSalvaged, Behind: rb.behind}, "the outbox file is older than what was stored last: its disk forgot what it had confirmed, or an older copy was put in its place; %s%s", told, advice)
	}
}

// behindReceipts reports whether a receipt shows a record that the box never had.
func (rb *rollback) behindReceipts() bool {
	for name, s := range rb.b.streams {
		if rb.b.receipts.HighestSeq(name) >= s.counts.nextSeq {
			return true
		}
	}
	return false
}

// countReceipts counts what only the receipts know of.
func (rb *rollback) countReceipts(stream string, m *streamCounts) error {
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

// adoptCounts makes the counts m those of the stream, but for what it has of them: back records wait again that are counted
// in m where they went, or in the counts that were salvaged. It returns how many are lost.
func (rb *rollback) adoptCounts(s *stream, m streamCounts, back uint64) (lost uint64, err error) {
	err = rb.b.submit(func(g *group) error {
		l := &s.counts
		l.nextSeq = max(l.nextSeq, m.nextSeq)
		l.Accepted = max(l.Accepted, m.Accepted)
		for _, f := range []struct{ have, then *uint64 }{
			{&l.Delivered, &m.Delivered}, {&l.Evicted, &m.Evicted}, {&l.Dropped, &m.Dropped}, {&l.Lost, &m.Lost},
		} {
			if *f.then > *f.have {
				took := min(back, *f.then-*f.have)
				*f.have, back = *f.then-took, back-took
			}
		}
		if rb.mended != nil {
			l.Delivered -= min(back, l.Delivered)
		}
		l.LostUnknown = l.LostUnknown || m.LostUnknown
		lost = l.writeOff()
		g.touch(s)
		return nil
	})
	return lost, err
}

// deadLetterReturned makes dead letters of records that wait again, where no receipt shows them as delivered.
func (rb *rollback) deadLetterReturned(s *stream, back []uint64) (n int, err error) {
	if err := rb.b.reconcileStream(s); err != nil {
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

// returned lists what waits of a stream although it had left by the mark.
func (rb *rollback) returned(s *stream, mark highMark) (found []uint64, err error) {
	err = rb.b.view("list "+s.Name, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(s.queueBucket)).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			if seq, ok := keySeq(k); ok && mark.hasLeft(seq) {
				found = append(found, seq)
			}
		}
		return nil
	})
	return found, err
}
