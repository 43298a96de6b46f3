package outbox

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ErrGone says that the box's file is not at its place any more: it was removed or replaced, its folder was, or the disk
// was taken away. The box is out of service then, and errors that wrap this one wrap ErrDead too.
var ErrGone = errors.New("the outbox file is not at its place any more")

// InPlace looks whether the open file is still the one at its path. What is written into a file that was removed is gone
// when the process ends, so that is the end of the box: ErrGone. Each commit looks by itself before it counts; this is
// for the time between.
func (b *Box) InPlace() error {
	b.commitMu.Lock()
	defer b.commitMu.Unlock()
	b.mu.Lock()
	err := b.usable()
	b.mu.Unlock()
	if err != nil {
		return err
	}
	if err := b.checkInPlace(); err != nil {
		return b.die(err)
	}
	return nil
}

// checkInPlace says what has become of the file; nil: it is at its place, or nobody can tell. commitMu is held.
func (b *Box) checkInPlace() error {
	now, err := os.Stat(b.path)
	switch {
	case err == nil && os.SameFile(now, b.fileInfo):
		return nil
	case err == nil:
		return fmt.Errorf("%w: another file stands at %s, or another disk is mounted there", ErrGone, b.path)
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ESTALE):
		return fmt.Errorf("%w: it or its folder was removed or renamed, or its disk was unmounted: %w", ErrGone, err)
	}
	return nil
}
