// Package disk does what os has no function for: blocks that are reserved or written ahead, a folder that is synced, a file
// of which some blocks cannot be read any more, one in whose place no link is followed.
package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// readBlock bytes are given up where the disk cannot read.
const readBlock = 4096

// zeros makes a file longer.
var zeros [64 << 10]byte

// ErrLink says that a link stands in a file's place.
var ErrLink = fmt.Errorf("a link stands in its place, which is not followed: move the file itself there (%w)", syscall.ELOOP)

// ErrNoFile says that something that is no file stands in its place. It advises nothing: what stands there may be a whole store.
var ErrNoFile = errors.New("what stands in its place is no file")

// OpenFile opens a file as os.OpenFile does, but follows no link in its place: who may write in the file's folder could have
// laid it, and lead whoever opens it to another file. Links on the way to that folder are followed. Nor does it wait at a pipe
// until somebody writes there.
func OpenFile(name string, flag int, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, mode)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("open %s: %w", name, ErrLink)
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("open %s: %w", name, cmp.Or(err, ErrNoFile)), f.Close())
	}
	return f, nil
}

// ReadFile reads a file of at most so many bytes, and follows no link in its place.
func ReadFile(name string, most int64) ([]byte, error) {
	f, err := OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, most))
	return b, errors.Join(err, f.Close())
}

// ReadThrough reads as much as there is from a place in the file on. Blocks that the disk cannot read any more are zeros.
func ReadThrough(f *os.File, buf []byte, start int64) (n int, err error) {
	if n, err = f.ReadAt(buf, start); errors.Is(err, syscall.EIO) {
		for n, err = 0, nil; n < len(buf) && err == nil; {
			block, got := buf[n:min(n+readBlock, len(buf))], 0
			if got, err = f.ReadAt(block, start+int64(n)); errors.Is(err, syscall.EIO) {
				clear(block)
				got, err = len(block), nil
			}
			n += got
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Rewrite writes down once more what the file shows, so that a sync means it.
func Rewrite(path string) error {
	f, err := OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("write %s down again: %w", path, err)
	}
	buf := make([]byte, 256<<10)
	for at, n := int64(0), 0; err == nil; at += int64(n) {
		if n, err = f.ReadAt(buf, at); err == nil || errors.Is(err, io.EOF) {
			_, writing := f.WriteAt(buf[:n], at)
			err = cmp.Or(writing, err)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s down again: %w", path, err)
	}
	return nil
}

// Extend writes blank blocks behind the end of a file that is shorter than wanted, a step of them and not beyond
// most, and returns how long it is then.
func Extend(path string, wanted, step, most int64) (end int64, err error) {
	f, err := OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, fmt.Errorf("make the outbox file longer: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	end = info.Size()
	if end <= wanted && end+step <= most {
		for upTo := end + step; end < upTo && err == nil; end += int64(len(zeros)) {
			_, err = f.WriteAt(zeros[:], end)
		}
	}
	return end, errors.Join(err, f.Close())
}

// SyncDir makes a new or renamed file's name survive a power cut.
func SyncDir(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil // a file system that cannot sync folders
	}
	return errors.Join(err, dir.Close())
}
