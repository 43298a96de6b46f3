package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Reserve gives the file n bytes of disk without changing its length, so that a disk that others fill up still
// takes records, and still lets delivered ones be deleted. certain is false where the file system cannot promise.
func Reserve(path string, n int64) (certain bool, err error) {
	f, err := OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, fmt.Errorf("reserve space: %w", err)
	}
	err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, n)
	for errors.Is(err, unix.EINTR) {
		err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, n)
	}
	err = errors.Join(err, f.Close())
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reserve %d bytes for %s: %w", n, path, err)
	}
	return true, nil
}

// Release gives back what a file that is set aside holds beyond its length. Not being able to costs space only.
func Release(path string) error {
	f, err := OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = f.Truncate(info.Size())
	}
	return errors.Join(err, f.Close())
}

// Free is the room that this user has on the file's disk.
func Free(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, fmt.Errorf("read the free space beside %s: %w", path, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// DropCache lets the system forget what it keeps of a file in memory, so that its pages are single ones when they are read again.
func DropCache(path string) error {
	f, err := OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) // it is an advice
	return f.Close()
}

// SyncData waits until what was written to the file is on disk.
func SyncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// IsFull reports whether the disk (or the user's share of it) is full.
func IsFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
