package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"gauger/deploy/bench/machine"
)

// diskBytes is the size of the private file system: two backlogs of a million records.
const diskBytes = 2 << 30

// lengthOf adds up the files of a folder, in bytes, but for the outbox's receipts.
func lengthOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasSuffix(path, ".receipts") {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// forget drops a folder's files from the page cache, as after a start of the machine.
func forget(dir string) error {
	if err := machine.SyncAll(dir); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
	})
}
