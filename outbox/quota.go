package outbox

import (
	"fmt"

	"gauger/outbox/disk"
)

// reserveQuota takes the quota from the disk. On a full disk the damaged files that were kept for a look make room; when the
// disk still has less, the quota becomes what it has.
func (b *Box) reserveQuota() {
	for quota := b.opt.MaxBytes; ; quota /= 2 {
		certain, err := disk.Reserve(b.path, quota)
		if disk.IsFull(err) && b.clearDamaged() {
			certain, err = disk.Reserve(b.path, quota)
		}
		switch {
		case err == nil && certain && quota == b.opt.MaxBytes:
			return
		case err == nil && certain:
			b.note(Note{Kind: NoteUnreserved, Message: fmt.Sprintf(
				"the disk has no room for the outbox's %d bytes; it works with %d until the next start", b.opt.MaxBytes, quota)})
			b.shrinkQuota(quota)
			return
		case disk.IsFull(err) && quota > 2<<20:
			continue
		}
		why := "this file system cannot reserve space"
		if err != nil {
			why = err.Error()
		}
		if free, err := disk.Free(b.path); err == nil {
			b.shrinkQuota(max(min(b.opt.MaxBytes, b.length.Load()+free/2), 1<<20))
		}
		if b.unreserved {
			return
		}
		b.unreserved = true
		b.note(Note{Kind: NoteUnreserved, Message: fmt.Sprintf(
			"%s; the outbox keeps itself to %d bytes, but another program can use them up", why, b.opt.MaxBytes)})
		return
	}
}

// shrinkQuota makes the quota less. It is read under mu and under commitMu, which is held or not needed yet.
func (b *Box) shrinkQuota(quota int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opt.MaxBytes = quota
}

// keepOf says how a stream gives way; one that this program does not know goes first.
func (b *Box) keepOf(stream string) Keep {
	if s := b.streams[stream]; s != nil {
		return s.Keep
	}
	return ThinFirst
}

// clearDamaged removes the damaged files that were kept, and tells it; false: there were none, or it did not work.
func (b *Box) clearDamaged() bool {
	kept, err := damagedFiles(b.path)
	if err != nil || len(kept) == 0 || removeDamaged(b.path) != nil {
		return false
	}
	b.note(Note{Kind: NoteUnreserved, Count: len(kept), Message: fmt.Sprintf(
		"the disk is full: %d damaged outbox files that were kept for a look were removed to make room for records", len(kept))})
	return true
}

// recordLimit counts the bytes that records may use: four fifths; the rest lets deletes always work, since bbolt writes before it frees.
func (b *Box) recordLimit() int64 { return b.opt.MaxBytes / 5 * 4 }

// used counts the bytes of the records and dead letters of all streams. The lock is held.
func (b *Box) used() (n int64) {
	for _, s := range b.streams {
		n += s.used()
	}
	return n
}

// used counts the bytes of the records and dead letters of one stream.
func (s *stream) used() int64 { return int64(s.counts.bytes + s.counts.deadBytes) }

// shareLimit counts the bytes that a stream may use.
func (b *Box) shareLimit(s *stream) int64 {
	if s.Share <= 0 {
		return b.recordLimit()
	}
	return b.recordLimit() * int64(s.Share) / 100
}

// stageRemoval takes one record out of a bucket and hides it from everybody until that is on disk. The lock is held.
func (b *Box) stageRemoval(g *group, s *stream, bucket string, seq uint64) {
	if bucket == s.queueBucket {
		s.unqueue(g, seq)
	} else {
		g.remove(bucket, g.seqKey(seq))
	}
	r := recordRef{bucket: bucket, seq: seq}
	b.leaving[r] = true
	g.leaving = append(g.leaving, r)
	g.touch(s)
}

// unqueue takes a record and its attempts out of the queue.
func (s *stream) unqueue(g *group, seq uint64) {
	key := g.seqKey(seq)
	g.remove(s.queueBucket, key)
	if s.attempts[seq] != nil {
		delete(s.attempts, seq)
		g.remove(s.attemptsBucket, key)
	}
	g.touch(s)
}
