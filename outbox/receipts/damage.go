package receipts

import "fmt"

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
