package outbox

import "gauger/outbox/disk"

// preallocateAhead: the file is made longer when its pages come so near to its end, in bytes.
const preallocateAhead = allocSize / 4

// preallocate makes the file longer, within the quota, before bbolt has to, and of written blocks: those that are only
// reserved are entered into the file system's tables when they are first used, and a commit would wait for that too. What
// is written lies behind the last page, so the next commit's sync is early enough. commitMu is held.
func (b *Box) preallocate() {
	length := b.length.Load()
	if length < allocSize || length+preallocateAhead < b.preallocated {
		return
	}
	b.preallocated = length + allocSize // when it does not work, bbolt makes this step, and the next one is tried again
	if end, err := disk.Extend(b.path, length+preallocateAhead, allocSize, b.opt.MaxBytes); err == nil {
		b.preallocated = max(end, b.preallocated)
	}
}
