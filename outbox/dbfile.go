package outbox

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"

	"gauger/outbox/disk"
)

// ErrGone says that the box's file is not at its place any more: it was removed or replaced, its folder was, or the disk
// was taken away. The box is out of service then, and errors that wrap this one wrap ErrDead too.
var ErrGone = errors.New("the outbox file is not at its place any more")

const (
	// lockWait: Open waits so long for another process to let go.
	lockWait = 5 * time.Second
	// allocSize is the step in which the file grows.
	allocSize = 1 << 20
)

// preallocateAhead: the file is made longer when its pages come so near to its end, in bytes.
const preallocateAhead = allocSize / 4

// dbFile is the bbolt file of an open box, and what is known of it.
type dbFile struct {
	notes
	path  string
	quota atomic.Int64 // bytes of disk that it may have

	dbMu sync.RWMutex // read: db is in use; write: db is exchanged or closed
	db   *bbolt.DB

	preallocated int64       // length of the file as far as preallocate knows; under the box's commitMu
	unreserved   bool        // it is told that the disk cannot be reserved; under commitMu
	fileInfo     os.FileInfo // of the file that db has open; under commitMu

	dead           atomic.Pointer[error]
	inUse          atomic.Int64 // bytes of pages that are not free
	length         atomic.Int64 // bytes of all pages
	retryReplaceAt atomic.Int64 // no replacement of the file before this length, after one that did not work
}

// notes queues what people are told until no lock is held any more.
type notes struct {
	noteMu sync.Mutex
	queue  []Note
	notify func(Note) // Options.Notify
}

// note queues a note with its sentence.
func (n *notes) note(x Note, format string, args ...any) {
	x.At, x.Message = time.Now(), fmt.Sprintf(format, args...)
	n.noteMu.Lock()
	defer n.noteMu.Unlock()
	n.queue = append(n.queue, x)
}

// tell hands the queue to Options.Notify. No lock is held.
func (n *notes) tell() {
	n.noteMu.Lock()
	queue := n.queue
	n.queue = nil
	n.noteMu.Unlock()
	if n.notify == nil {
		return
	}
	for _, x := range queue {
		n.notify(x)
	}
}

// die makes every later call return ErrDead with the first cause, and returns that.
func (b *dbFile) die(cause error) error {
	err := fmt.Errorf("%w: %w", ErrDead, cause)
	if b.dead.CompareAndSwap(nil, &err) {
		b.note(Note{Kind: NoteDead}, "%v", cause)
	}
	return *b.dead.Load()
}

// view runs f in a short read transaction. A panic out of the file is the end of the box.
func (b *dbFile) view(doing string, f func(*bbolt.Tx) error) error {
	if dead := b.dead.Load(); dead != nil {
		return *dead
	}
	b.dbMu.RLock()
	defer b.dbMu.RUnlock()
	if b.db == nil {
		return ErrClosed
	}
	err := catchFaults(doing, func() error { return b.db.View(f) })
	if errors.Is(err, ErrDamaged) {
		return b.die(err)
	}
	return err
}

// measure reads how long the file is and how much of it is in use.
func (b *dbFile) measure(db *bbolt.DB) error {
	return db.View(func(tx *bbolt.Tx) error {
		stats := db.Stats()
		free := int64(stats.FreePageN+stats.PendingPageN) * int64(db.Info().PageSize)
		b.length.Store(tx.Size())
		b.inUse.Store(max(tx.Size()-free, 0))
		return nil
	})
}

// catchFaults runs what touches the file. A panic out of bbolt, or a fault while its memory map is read (a file that was cut
// short), becomes an error.
func catchFaults(doing string, f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic: %v: %w", doing, p, ErrDamaged)
		}
	}()
	if err := f(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func (b *dbFile) closeDB() error {
	if b.db == nil {
		return nil
	}
	db := b.db
	b.db = nil
	return catchFaults("close the file", db.Close)
}

// openFile opens the box's file.
func (b *dbFile) openFile() (err error) {
	if b.db, err = openDB(b.path, b.quota.Load()); err == nil {
		b.fileInfo, err = os.Lstat(b.path)
	}
	return err
}

// openDB opens a bbolt file the way every file of the box is opened. Opening writes nothing: a disk may be full.
func openDB(path string, quota int64) (*bbolt.DB, error) {
	_, err := os.Lstat(path)
	fresh := errors.Is(err, os.ErrNotExist)
	options := &bbolt.Options{
		OpenFile:        disk.OpenFile,
		Timeout:         lockWait,
		FreelistType:    bbolt.FreelistArrayType,
		NoFreelistSync:  true, // or bbolt would write a list that is missing; each commit decides for itself
		InitialMmapSize: int(min(quota, 1<<30)),
	}
	db, err := bbolt.Open(path, 0o640, options)
	if fresh && err == nil {
		// Its first four pages were written as one. The system would keep them as one, and count 16 KiB for each that is written.
		if err = errors.Join(db.Close(), disk.DropCache(path)); err == nil {
			db, err = bbolt.Open(path, 0o640, options)
		}
	}
	if err != nil && fresh { // what is half made would count as damaged
		err = errors.Join(err, removed(path))
	}
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("lock %s: %w", path, ErrHeld)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
	case err != nil:
		return nil, err
	}
	db.AllocSize = allocSize
	if fresh {
		if err := disk.SyncDir(path); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// removed removes a file, if it is there.
func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// diskFull reports whether a commit ended because the disk is full. Of what makes a file longer bbolt hands on only the
// words.
func diskFull(err error) bool {
	return err != nil && !errors.Is(err, ErrDamaged) && (disk.IsFull(err) || strings.Contains(err.Error(), syscall.ENOSPC.Error()))
}

// checkInPlace says what has become of the file; nil: it is at its place, or nobody can tell. commitMu is held.
func (b *dbFile) checkInPlace() error {
	now, err := os.Lstat(b.path)
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

// preallocate makes the file longer, within the quota, before bbolt has to, and of written blocks: those that are only
// reserved are entered into the file system's tables when they are first used, and a commit would wait for that too. What
// is written lies behind the last page, so the next commit's sync is early enough. commitMu is held.
func (b *dbFile) preallocate() {
	length := b.length.Load()
	if length < allocSize || length+preallocateAhead < b.preallocated {
		return
	}
	b.preallocated = length + allocSize // when it does not work, bbolt makes this step, and the next one is tried again
	if end, err := disk.Extend(b.path, length+preallocateAhead, allocSize, b.quota.Load()); err == nil {
		b.preallocated = max(end, b.preallocated)
	}
}

// reserveQuota takes the quota from the disk. On a full disk the damaged files that were kept for a look make room; when the
// disk still has less, the quota becomes what it has.
func (b *dbFile) reserveQuota() {
	for quota := b.quota.Load(); ; quota /= 2 {
		certain, err := disk.Reserve(b.path, quota)
		if disk.IsFull(err) && b.clearDamaged() {
			certain, err = disk.Reserve(b.path, quota)
		}
		switch {
		case err == nil && certain && quota == b.quota.Load():
			return
		case err == nil && certain:
			b.note(Note{Kind: NoteUnreserved}, "the disk has no room for the outbox's %d bytes; it works with %d until the next start", b.quota.Load(), quota)
			b.quota.Store(quota)
			return
		case disk.IsFull(err) && quota > 2<<20:
			continue
		}
		why := "this file system cannot reserve space"
		if err != nil {
			why = err.Error()
		}
		if free, err := disk.Free(b.path); err == nil {
			b.quota.Store(max(min(b.quota.Load(), b.length.Load()+free/2), 1<<20))
		}
		if b.unreserved {
			return
		}
		b.unreserved = true
		b.note(Note{Kind: NoteUnreserved}, "%s; the outbox keeps itself to %d bytes, but another program can use them up", why, b.quota.Load())
		return
	}
}

// clearDamaged removes the damaged files that were kept, and tells it; false: there were none, or it did not work.
func (b *dbFile) clearDamaged() bool {
	kept, err := damagedFiles(b.path)
	if err != nil || len(kept) == 0 || removeDamaged(b.path) != nil {
		return false
	}
	b.note(Note{Kind: NoteUnreserved, Count: len(kept)}, "the disk is full: %d damaged outbox files that were kept for a look were removed to make room for records", len(kept))
	return true
}

// recordLimit counts the bytes that records may use: four fifths; the rest lets deletes always work, since bbolt writes
// before it frees.
func (b *dbFile) recordLimit() int64 { return b.quota.Load() / 5 * 4 }
