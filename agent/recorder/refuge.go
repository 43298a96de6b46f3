package recorder

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"gauger/outbox/disk"
)

// keepEvery is the interval at which the open block is kept in its refuge.
const keepEvery = 15 * time.Second

// refuge is a file in memory that holds the open block, so that a kill costs seconds of it and not all. A box that boots
// has lost it, as it has lost the block. Its one page is written whole; a page that is not sound counts as none.
type refuge struct {
	path string // "": there is none
	out  *os.File
	rows int // of the open block, that it holds
	at   time.Time
	err  error // why nothing is kept; it is given up then
}

// left reads what an earlier run has left; nil: nothing, or nothing that is sound.
func (f *refuge) left() ([]byte, error) {
	if f.path == "" {
		return nil, nil
	}
	page, err := disk.ReadFile(f.path, pageSize)
	if gone(err) || err == nil && len(page) < pageSize {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := unseal(page); err != nil {
		return nil, nil //nolint:nilerr // what is not sound counts as none
	}
	return page, nil
}

// keep writes down the open block when it is time to.
func (f *refuge) keep(block *writer, now time.Time) {
	if f.path == "" || f.err != nil || block.rows == f.rows || now.Sub(f.at).Abs() < keepEvery {
		return
	}
	if f.out == nil {
		f.out, f.err = disk.OpenFile(f.path, os.O_WRONLY|os.O_CREATE, 0o600)
	}
	if f.err == nil {
		_, f.err = f.out.WriteAt(block.sealed(), 0)
	}
	f.rows, f.at = block.rows, now
}

// leave empties it: the block is in the ring.
func (f *refuge) leave() {
	if f.out != nil && f.err == nil {
		f.err = f.out.Truncate(0)
	}
	f.rows = 0
}

// close removes the file. What could not be removed is found again, and known to be in the ring.
func (f *refuge) close() error {
	if f.out == nil {
		return nil
	}
	err := errors.Join(f.out.Close(), os.Remove(f.path))
	f.out = nil
	return err
}

// holds reports whether a block's rows are the first ones of a page.
func holds(page, block []byte) bool {
	h, err := unseal(block)
	if err != nil || len(page) < pageSize {
		return false
	}
	whole, err := unseal(page)
	return err == nil && whole.used >= h.used && bytes.Equal(page[headerSize:h.used], block[headerSize:h.used])
}

// lastPage reads the ring's newest page; nil: there is none, or it cannot be read.
func (f *files) lastPage() []byte {
	if len(f.all) == 0 || f.page == 0 {
		return nil
	}
	in, err := disk.OpenFile(f.last(), os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer in.Close()
	page := make([]byte, pageSize)
	if _, err := in.ReadAt(page, int64(f.page-1)*pageSize); err != nil {
		return nil
	}
	return page
}

// inherit takes up the block that a killed run has left, unless that run had come to write it into the ring.
func (r *Ring) inherit() error {
	left, err := r.refuge.left()
	if err != nil {
		return fmt.Errorf("read what was left of the open block: %w", err)
	}
	if left != nil && !holds(r.files.lastPage(), left) {
		r.left = left
	}
	return nil
}

// Inherited says that a killed run has left readings that are not in the ring.
func (r *Ring) Inherited() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left != nil
}

// writeInherited writes an inherited block into the ring, before the new one takes its refuge.
func (r *Ring) writeInherited(now time.Time) error {
	left := r.left
	if left == nil {
		return nil
	}
	r.left = nil
	if err := r.files.append(left, now); err != nil {
		return fmt.Errorf("record what was left of the last run: %w", err)
	}
	return nil
}
