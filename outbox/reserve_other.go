//go:build !linux

package outbox

import (
	"errors"
	"os"
	"syscall"
)

// reserveBlocks: only Linux promises blocks without changing the file's length.
func reserveBlocks(string, int64) (certain bool, err error) { return false, nil }

func releaseBlocks(string) error { return nil }

func freeBytes(string) (int64, error) { return 0, errors.ErrUnsupported }

func syncData(f *os.File) error { return f.Sync() }

func noSpace(err error) bool { return errors.Is(err, syscall.ENOSPC) }
