//go:build !linux

package disk

import (
	"errors"
	"os"
	"syscall"
)

// Reserve does nothing: only Linux promises blocks without changing the file's length.
func Reserve(string, int64) (certain bool, err error) { return false, nil }

// Release does nothing, since nothing is reserved.
func Release(string) error { return nil }

// Free cannot tell.
func Free(string) (int64, error) { return 0, errors.ErrUnsupported }

// DropCache does nothing.
func DropCache(string) error { return nil }

// SyncData waits until what was written to the file is on disk.
func SyncData(f *os.File) error { return f.Sync() }

// IsFull reports whether an operation has failed since the disk is full.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }
