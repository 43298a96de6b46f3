package outbox

import (
	"errors"
	"fmt"
	"os"
)

// preallocateAhead: the file is made longer when its pages come so near to its end, in bytes.
const preallocateAhead = allocSize / 4

// zeros makes a file longer.
var zeros [64 << 10]byte

// preallocate makes the file longer, within the quota, before bbolt has to, and of written blocks: those that are only
// reserved are entered into the file system's tables when they are first used, and a commit would wait for that too. What
// is written lies behind the last page, so the next commit's sync is early enough. commitMu is held.
func (b *Box) preallocate() {
	length := b.length.Load()
	if length < allocSize || length+preallocateAhead < b.preallocated {
		return
	}
	b.preallocated = length + allocSize // when it does not work, bbolt makes this step, and the next one is tried again
	if end, err := preallocateFile(b.path, length+preallocateAhead, b.opt.MaxBytes); err == nil {
		b.preallocated = max(end, b.preallocated)
	}
}

// preallocateFile writes blank blocks behind the end of a file that is shorter than wanted, a step of them and not beyond
// most, and returns how long it is then.
func preallocateFile(path string, wanted, most int64) (end int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, fmt.Errorf("make the outbox file longer: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	end = info.Size()
	if end <= wanted && end+allocSize <= most {
		for upTo := end + allocSize; end < upTo && err == nil; end += int64(len(zeros)) {
			_, err = f.WriteAt(zeros[:], end)
		}
	}
	return end, errors.Join(err, f.Close())
}
