package outbox

import (
	"errors"
	"fmt"
	"os"
)

// stretchAhead is how near the pages may come to the end of the file before it is made longer.
const stretchAhead = allocSize / 4

// blank is what a file is made longer with.
var blank [64 << 10]byte

// stretch makes the file longer, within the quota, before bbolt has to, and of written blocks: those that are only
// reserved are entered into the file system's tables when they are first used, and a commit would wait for that too. What
// is written lies behind the last page, so the next commit's sync is early enough. commitMu is held.
func (b *Box) stretch() {
	length := b.length.Load()
	if length < allocSize || length+stretchAhead < b.stretched {
		return
	}
	b.stretched = length + allocSize // when it does not work, bbolt makes this step, and the next one is tried again
	if end, err := stretchFile(b.path, length+stretchAhead, b.opt.MaxBytes); err == nil {
		b.stretched = max(end, b.stretched)
	}
}

// stretchFile writes blank blocks behind the end of a file that is shorter than wanted, a step of them and not beyond
// most, and returns how long it is then.
func stretchFile(path string, wanted, most int64) (end int64, err error) {
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
		for upTo := end + allocSize; end < upTo && err == nil; end += int64(len(blank)) {
			_, err = f.WriteAt(blank[:], end)
		}
	}
	return end, errors.Join(err, f.Close())
}
