package outbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"gauger/outbox/disk"
	"gauger/outbox/receipts"
)

const (
	// lockWait: Open waits so long for another process to let go.
	lockWait = 5 * time.Second
	// allocSize is the step in which the file grows.
	allocSize = 1 << 20
)

// Open opens the box at path, and makes it when there is none; the folder is made too. Beside the file it keeps
// path.lock, path.receipts and path.high, for a moment path.new, and after damage path.damaged-N, the last two.
//
// A file that is damaged (does not open, panics, or fails Options.Preflight) is set aside, what is sound in it is
// carried into a fresh file, and the box opens: Notify tells what was found. ErrHeld: another process has it open.
func Open(path string, o Options) (*Box, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultBytes
	}
	if err := validate(o); err != nil {
		return nil, fmt.Errorf("open outbox %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("open outbox %s: %w", path, err)
	}
	lock, err := holdLock(path+".lock", lockWait)
	if err != nil {
		return nil, fmt.Errorf("open outbox %s: %w", path, err)
	}
	b := &Box{path: path, opt: o, lock: lock, streams: map[string]*stream{}, leaving: map[recordRef]bool{}}
	for _, s := range o.Streams {
		b.streams[s.Name] = newStream(s)
	}
	if err := b.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open outbox %s: %w", path, err), lock.Close())
	}
	b.tell()
	return b, nil
}

func validate(o Options) error {
	if o.MaxBytes < 1<<20 {
		return fmt.Errorf("quota of %d bytes: at least 1 MiB is needed: %w", o.MaxBytes, ErrRefused)
	}
	seen := map[string]bool{}
	for _, s := range o.Streams {
		if s.Name == "" || len(s.Name) > receipts.MaxStream || strings.ContainsRune(s.Name, 0) {
			return fmt.Errorf("stream %q: a name has 1 to %d bytes: %w", s.Name, receipts.MaxStream, ErrRefused)
		}
		if s.Share < 0 || s.Share > 100 {
			return fmt.Errorf("stream %s: share of %d percent: %w", s.Name, s.Share, ErrRefused)
		}
		if seen[s.Name] {
			return fmt.Errorf("stream %q is there twice: %w", s.Name, ErrRefused)
		}
		seen[s.Name] = true
	}
	return nil
}

// open does what needs the lock.
func (b *Box) open() error {
	if err := settleRename(b.path); err != nil {
		return err
	}
	var err error
	if b.receipts, err = receipts.Open(b.path+".receipts", receipts.Options{
		KeepFor: cmp.Or(b.opt.ReceiptsFor, DefaultReceiptsFor), Bytes: cmp.Or(b.opt.ReceiptsBytes, DefaultReceiptsBytes),
		Yields: func(stream string) int { return int(b.keepOf(stream)) },
	}); err != nil {
		return err
	}
	if b.highWater, err = openHigh(b.path + ".high"); err != nil {
		b.note(Note{Kind: NoteTrouble, Message: fmt.Sprintf("a disk that forgets cannot be noticed: %v", err)})
	}
	err = b.examine()
	if err == nil {
		err = b.load()
	}
	found := b.gen
	var mended *salvager
	if errors.Is(err, ErrDamaged) {
		if mended, err = b.salvage(err); err == nil {
			err = b.load()
		}
		found = max(b.gen, 1) - 1 // the salvage was a generation of its own
	}
	if err == nil {
		err = b.detectRollback(found, mended)
	}
	if err == nil {
		err = b.reconcile()
	}
	if err != nil {
		return errors.Join(err, b.closeDB(), b.receipts.Close(), b.highWater.close())
	}
	b.reserveQuota()
	for _, s := range b.streams {
		s.signal()
	}
	return nil
}

// examine asks the preflight and makes the quick check, so that only a file that looks sound is opened. Where the
// preflight cannot be made the file is examined in this process.
func (b *Box) examine() error {
	if info, err := os.Stat(b.path); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		if err == nil && b.highWater != nil && b.highWater.absent { // one that was never filled has marks beside it
			return fmt.Errorf("%s is empty, and the marks beside it are gone: %w", b.path, ErrDamaged)
		}
		return nil
	} else if err != nil {
		return err
	}
	if b.opt.Preflight != nil {
		err := b.opt.Preflight(b.path)
		if errors.Is(err, ErrDamaged) {
			return err
		}
		if err != nil {
			b.note(Note{Kind: NoteTrouble, Message: fmt.Sprintf(
				"the outbox file could not be examined by a process of its own, it was examined by this one: %v", err)})
			if _, err = Check(b.path); errors.Is(err, ErrDamaged) {
				return err
			}
		}
	}
	return quickCheck(b.path)
}

// load opens the file and reads the counts. An error that wraps ErrDamaged means the file, any other the surroundings.
func (b *Box) load() error {
	err := catchFaults("open the file", func() error {
		db, err := openDB(b.path, b.opt.MaxBytes)
		if err != nil {
			return err
		}
		b.db = db
		if b.fileInfo, err = os.Stat(b.path); err != nil {
			return err
		}
		if err := b.prepare(); err != nil {
			return err
		}
		return errors.Join(db.View(b.readCounts), b.measure(db))
	})
	if err != nil && b.db != nil {
		if errors.Is(err, ErrDamaged) {
			b.abandonDB()
			return err
		}
		return errors.Join(err, b.closeDB())
	}
	return err
}

// abandonDB lets go of a handle that may hang in its own Close: it stays open until the process ends, at most once per
// start.
func (b *Box) abandonDB() { b.db = nil }

func (b *Box) closeDB() error {
	if b.db == nil {
		return nil
	}
	db := b.db
	b.db = nil
	return catchFaults("close the file", db.Close)
}

// openDB opens a bbolt file the way every file of the box is opened. Opening writes nothing: a disk may be full.
func openDB(path string, quota int64) (*bbolt.DB, error) {
	_, err := os.Stat(path)
	fresh := errors.Is(err, os.ErrNotExist)
	db, err := bbolt.Open(path, 0o640, &bbolt.Options{
		Timeout:         lockWait,
		FreelistType:    bbolt.FreelistArrayType,
		NoFreelistSync:  true, // or bbolt would write a list that is missing; each commit decides for itself
		InitialMmapSize: int(min(quota, 1<<30)),
	})
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

// prepare makes the buckets that are missing. A file that has them all is not written.
func (b *Box) prepare() error {
	missing := false
	err := b.db.View(func(tx *bbolt.Tx) error {
		for _, name := range b.bucketNames() {
			missing = missing || tx.Bucket([]byte(name)) == nil
		}
		return nil
	})
	if err != nil || !missing {
		return err
	}
	return b.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range b.bucketNames() {
			if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
				return fmt.Errorf("make bucket %s: %w", name, err)
			}
		}
		return nil
	})
}

func (b *Box) bucketNames() []string {
	names := []string{bucketState, bucketMeta}
	for _, s := range b.streams {
		names = append(names, s.queueBucket, s.deadBucket, s.attemptsBucket)
	}
	return names
}

// readCounts reads counts and attempts, and compares what is cheap to compare.
func (b *Box) readCounts(tx *bbolt.Tx) error {
	var written []byte
	err := tx.Bucket([]byte(bucketMeta)).ForEach(func(k, v []byte) error {
		content, gen, err := unseal(bucketMeta, k, v)
		if err != nil {
			return fmt.Errorf("%w: %w", err, ErrDamaged)
		}
		b.gen = max(b.gen, gen)
		if string(k) == keyGeneration {
			written = content
			return nil
		}
		s := b.streams[string(k)]
		if s == nil {
			s = newStream(Stream{Name: string(k), Held: true})
			b.streams[s.Name] = s
		}
		if err := s.counts.decode(content); err != nil {
			return fmt.Errorf("counts of %s: %w: %w", k, err, ErrDamaged)
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.stateSum = stateChecksum{}
	err = tx.Bucket([]byte(bucketState)).ForEach(func(_, v []byte) error { b.stateSum.replace(nil, v); return nil })
	if err = cmp.Or(err, b.stateSum.compare(written)); err != nil {
		return err
	}
	for _, s := range b.streams {
		if err := s.readStream(tx); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) readStream(tx *bbolt.Tx) error {
	queue, marks := tx.Bucket([]byte(s.queueBucket)), tx.Bucket([]byte(s.attemptsBucket))
	if queue == nil || marks == nil || tx.Bucket([]byte(s.deadBucket)) == nil {
		return fmt.Errorf("stream %s has no buckets: %w", s.Name, ErrDamaged)
	}
	last, _ := queue.Cursor().Last()
	if seq, ok := keySeq(last); last != nil && (!ok || seq >= s.counts.nextSeq) {
		return fmt.Errorf("stream %s ends at record %d, its counts at %d: %w", s.Name, seq, s.counts.nextSeq-1, ErrDamaged)
	}
	if (last != nil) != (s.counts.Waiting > 0) || !s.counts.Balanced() {
		return fmt.Errorf("stream %s: the counts do not fit its records: %w", s.Name, ErrDamaged)
	}
	return marks.ForEach(func(k, v []byte) error {
		content, _, err := unseal(s.attemptsBucket, k, v)
		if err != nil {
			return fmt.Errorf("%w: %w", err, ErrDamaged)
		}
		seq, _ := keySeq(k)
		s.attempts[seq] = decodeAttempts(content)
		return nil
	})
}
