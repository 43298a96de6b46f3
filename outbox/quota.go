package outbox

import (
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
)

// keepEvery: of a stream that is thinned, one record in so many stays. Eight, since the file gives a page back only
// when less than a quarter of it is left.
const keepEvery = 8

// reserve takes the quota from the disk. When the disk has less, the quota becomes what it has.
func (b *Box) reserve() {
	for quota := b.opt.MaxBytes; ; quota /= 2 {
		certain, err := reserveBlocks(b.path, quota)
		switch {
		case err == nil && certain && quota == b.opt.MaxBytes:
			return
		case err == nil && certain:
			b.note(Note{Kind: NoteUnreserved, Message: fmt.Sprintf(
				"the disk has no room for the outbox's %d bytes; it works with %d until the next start", b.opt.MaxBytes, quota)})
			b.opt.MaxBytes = quota
			return
		case noSpace(err) && quota > 2<<20:
			continue
		}
		why := "this file system cannot reserve space"
		if err != nil {
			why = err.Error()
		}
		if free, err := freeBytes(b.path); err == nil {
			b.opt.MaxBytes = max(min(b.opt.MaxBytes, b.length.Load()+free/2), 1<<20)
		}
		b.note(Note{Kind: NoteUnreserved, Message: fmt.Sprintf(
			"%s; the outbox keeps itself to %d bytes, but another program can use them up", why, b.opt.MaxBytes)})
		return
	}
}

// giving says how a stream gives way; one that this program does not know goes first.
func (b *Box) giving(stream string) Keep {
	if s := b.streams[stream]; s != nil {
		return s.Keep
	}
	return ThinFirst
}

// limit is what records may use: four fifths; the rest lets deletes always work, since bbolt writes before it frees.
func (b *Box) limit() int64 { return b.opt.MaxBytes / 5 * 4 }

// used is what the records and dead letters of all streams use. The lock is held.
func (b *Box) used() (n int64) {
	for _, s := range b.streams {
		n += int64(s.led.bytes + s.led.deadBytes)
	}
	return n
}

// makeRoom stages evictions into g until add bytes fit, or returns ErrFull and stages nothing. The lock is held.
func (b *Box) makeRoom(g *group, add uint64) error {
	if add == 0 {
		return nil
	}
	over := b.used() + int64(add) - b.limit()
	need := over
	if over <= 0 {
		// Half-empty pages can fill the file while the records alone would fit.
		if over = b.inUse.Load() - b.opt.MaxBytes/20*19; over <= 0 || b.pressed {
			b.full = false
			return nil
		}
		b.pressed, need = true, 0
	}
	plan, freed, err := b.planEvictions(over + b.limit()/20)
	if err != nil {
		return err
	}
	if freed < need {
		if !b.full {
			b.full = true
			b.note(Note{Kind: NoteFull, Message: fmt.Sprintf(
				"the outbox is full: %d bytes are used and nothing that may give way is left; new records are refused", b.used())})
		}
		return fmt.Errorf("store %d bytes beside %d of %d: %w", add, b.used(), b.limit(), ErrFull)
	}
	b.full = false
	for _, e := range plan {
		b.stageEvictions(g, e)
	}
	return nil
}

// eviction is what one stream gives way.
type eviction struct {
	s     *stream
	seqs  []uint64
	bytes uint64
	at    uint64 // where thinning goes on
}

func (b *Box) stageEvictions(g *group, e eviction) {
	if len(e.seqs) == 0 {
		return
	}
	for _, seq := range e.seqs {
		b.stageRemoval(g, e.s, e.s.queue, seq)
	}
	e.s.led.Waiting -= uint64(len(e.seqs))
	e.s.led.Evicted += uint64(len(e.seqs))
	e.s.led.bytes -= e.bytes
	e.s.thinned = e.at
	b.note(Note{Kind: NoteEvicted, Stream: e.s.Name, Count: len(e.seqs), Message: fmt.Sprintf(
		"the outbox's quota is used up: %d of the oldest %s gave way, %d in all", len(e.seqs), e.s.Name, e.s.led.Evicted)})
}

// stageRemoval takes one record out of a bucket and hides it from everybody until that is on disk. The lock is held.
func (b *Box) stageRemoval(g *group, s *stream, bucket string, seq uint64) {
	if bucket == s.queue {
		s.unqueue(g, seq)
	} else {
		g.remove(bucket, g.seqKey(seq))
	}
	r := ref{bucket: bucket, seq: seq}
	b.gone[r] = true
	g.gone = append(g.gone, r)
	g.touch(s)
}

// unqueue takes a record and its mark out of the queue.
func (s *stream) unqueue(g *group, seq uint64) {
	key := g.seqKey(seq)
	g.remove(s.queue, key)
	if s.marks[seq] != nil {
		delete(s.marks, seq)
		g.remove(s.marksBucket, key)
	}
	g.touch(s)
}

// planEvictions chooses what gives way until want bytes are free, stream by stream in their order.
func (b *Box) planEvictions(want int64) (plan []eviction, freed int64, err error) {
	var giving []*stream
	for _, s := range b.streams {
		if s.Keep != Never && s.led.Waiting > 0 {
			giving = append(giving, s)
		}
	}
	slices.SortFunc(giving, func(a, b *stream) int {
		if a.Keep != b.Keep {
			return int(b.Keep) - int(a.Keep)
		}
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	err = b.view("make room in the outbox", func(tx *bbolt.Tx) error {
		for _, s := range giving {
			if freed >= want {
				break
			}
			e := b.planStream(tx, s, uint64(want-freed))
			plan, freed = append(plan, e), freed+int64(e.bytes)
		}
		return nil
	})
	return plan, freed, err
}

// planStream walks one stream from its oldest record; a stream that is thinned keeps one in eight, goes round when it
// comes to the end, and in the end keeps none.
func (b *Box) planStream(tx *bbolt.Tx, s *stream, want uint64) eviction {
	e := eviction{s: s, at: s.thinned}
	taken := map[uint64]bool{}
	keep := 0
	if s.Keep == ThinFirst {
		keep = keepEvery
	} else {
		e.at = 0
	}
	for e.bytes < want {
		before, from := e.bytes, e.at
		b.planPass(tx, &e, taken, keep, want)
		if e.bytes >= want || from == 0 && e.bytes == before {
			break
		}
		e.at = 0
	}
	return e
}

// planPass goes from e.at to the end of the stream or until enough is found.
func (b *Box) planPass(tx *bbolt.Tx, e *eviction, taken map[uint64]bool, keep int, want uint64) {
	c := tx.Bucket([]byte(e.s.queue)).Cursor()
	n := 0
	for k, v := c.Seek(seqKey(e.at + 1)); k != nil && e.bytes < want; k, v = c.Next() {
		seq, ok := keySeq(k)
		if !ok || taken[seq] || e.s.inFlight[seq] || b.gone[ref{bucket: e.s.queue, seq: seq}] {
			continue
		}
		e.at = seq
		if n++; keep > 0 && n%keep == 0 {
			continue
		}
		taken[seq] = true
		e.seqs, e.bytes = append(e.seqs, seq), e.bytes+recordSize(v)
	}
}
