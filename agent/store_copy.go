package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gauger/outbox"
)

// originFile, in the store, holds the instant at which the file system made it: a copy has another one. A snapshot of the whole disk has
// not, and what does not keep the instant tells nothing.
const originFile = "origin"

// originApart is more than a file system rounds a time by.
const originApart = 5 * time.Second

// copiedStore says that the store is a copy of the one on which gauger last ran; empty: it is that one, is new, or nobody can tell.
func copiedStore(folder string) (text string, err error) {
	path := filepath.Join(folder, originFile)
	written, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look whether the store is a copy: %w", err)
	}
	made, known := bornAt(path)
	was, bad := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(written)))
	switch {
	case err == nil && (!known || bad == nil && made.Sub(was).Abs() < originApart):
		return "", nil
	case err == nil && bad == nil:
		text = fmt.Sprintf("the store is a copy of the one on which gauger last ran (made here %s): a backup was put back, or the disk was changed. What was delivered since the copy was taken waits "+
			"in it and is sent again, tickets with the numbers that they had, and what was made since is not in it: compare `gauger outbox list` and `gauger tickets list` with what the service has",
			made.UTC().Format("2006-01-02 15:04 MST"))
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return text, fmt.Errorf("note where the store is: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return text, fmt.Errorf("note where the store is: %w", err)
	}
	if made, known = bornAt(path); known {
		_, err = f.WriteString(made.UTC().Format(time.RFC3339Nano) + "\n")
	}
	return text, errors.Join(err, f.Close())
}

// bornAt is when a file was made, where its file system keeps that.
func bornAt(path string) (at time.Time, known bool) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return at, false
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)), true
}

// tellCopiedStore tells of a store that is a copy, for a week in the status and as an event.
func (a *Agent) tellCopiedStore() error {
	text, err := copiedStore(filepath.Dir(a.Box.Path()))
	if err != nil {
		a.Log.Warn().Err(err).Msg("that a backup was put back could not be noticed")
	}
	if text == "" {
		return nil
	}
	n := outbox.Note{Kind: outbox.NoteSalvaged, At: time.Now(), Message: text}
	a.Ledger.NoteLoss(n)
	return a.unlessFull(a.queueNoteEvent(n))
}
