package receipts

import (
	"fmt"

	"gauger/outbox/disk"
)

// Unreadable counts the slots that were damaged when the file was opened.
func (r *File) Unreadable() int { return len(r.unreadable) }

// ClearUnreadable empties them, so that the next start does not count them again.
func (r *File) ClearUnreadable() error {
	for _, at := range r.unreadable {
		if _, err := r.f.WriteAt(make([]byte, slotSize), at); err != nil {
			return fmt.Errorf("clear damaged receipts: %w", err)
		}
	}
	return nil
}

// Reserve takes the room for another segment of each of so many streams from the disk: one that others fill up later still takes the first
// receipt of a stream, which has nothing of its own to write over.
func (r *File) Reserve(streams int) error {
	r.mu.Lock()
	is, most := len(r.segments), min(len(r.segments)+streams, r.maxSegments)
	r.mu.Unlock()
	if most <= is {
		return nil
	}
	if _, err := disk.Reserve(r.f.Name(), int64(most)*segmentSize); !disk.IsFull(err) {
		return err
	}
	return nil
}
