package outbox

import (
	"fmt"

	"gauger/outbox/disk"
)

// reserveQuota takes the quota from the disk. On a full disk the damaged files that were kept for a look make room; when the
// disk still has less, the quota becomes what it has.
func (b *dbFile) reserveQuota() {
	for quota := b.quota.Load(); ; quota /= 2 {
		certain, err := disk.Reserve(b.path, quota)
		if disk.IsFull(err) && b.clearDamaged() {
			certain, err = disk.Reserve(b.path, quota)
		}
		switch {
		case err == nil && certain && quota == b.quota.Load():
			return
		case err == nil && certain:
			b.note(Note{Kind: NoteUnreserved, Message: fmt.Sprintf(
				"the disk has no room for the outbox's %d bytes; it works with %d until the next start", b.quota.Load(), quota)})
			b.quota.Store(quota)
			return
		case disk.IsFull(err) && quota > 2<<20:
			continue
		}
		why := "this file system cannot reserve space"
		if err != nil {
			why = err.Error()
		}
		if free, err := disk.Free(b.path); err == nil {
			b.quota.Store(max(min(b.quota.Load(), b.length.Load()+free/2), 1<<20))
		}
		if b.unreserved {
			return
		}
		b.unreserved = true
		b.note(Note{Kind: NoteUnreserved, Message: fmt.Sprintf(
			"%s; the outbox keeps itself to %d bytes, but another program can use them up", why, b.quota.Load())})
		return
	}
}

// clearDamaged removes the damaged files that were kept, and tells it; false: there were none, or it did not work.
func (b *dbFile) clearDamaged() bool {
	kept, err := damagedFiles(b.path)
	if err != nil || len(kept) == 0 || removeDamaged(b.path) != nil {
		return false
	}
	b.note(Note{Kind: NoteUnreserved, Count: len(kept), Message: fmt.Sprintf(
		"the disk is full: %d damaged outbox files that were kept for a look were removed to make room for records", len(kept))})
	return true
}

// recordLimit counts the bytes that records may use: four fifths; the rest lets deletes always work, since bbolt writes
// before it frees.
func (b *dbFile) recordLimit() int64 { return b.quota.Load() / 5 * 4 }
