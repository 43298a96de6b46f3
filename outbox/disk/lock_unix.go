//go:build unix

package disk

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process has the lock.
var ErrLocked = errors.New("another process has the lock")

const lockRetry = 50 * time.Millisecond

// Lock takes a lock file for this process, and waits for another to let go. The file stays when the lock goes, so that two
// processes never hold locks on two files of the same name.
func Lock(path string, wait time.Duration) (*os.File, error) {
	f, err := OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(wait)
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(ErrLocked, f.Close())
		}
		time.Sleep(lockRetry)
	}
}

// LockShared takes the lock that bbolt knows, on the file itself, so that nothing writes it while it is examined.
func LockShared(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
