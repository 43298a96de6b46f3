package outbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/bbolt"

	"gauger/outbox/disk"
)

const (
	// replaceAbove is the length of all pages from which a file that holds little is replaced by a fresh one, since bbolt
	// never shrinks. The file itself is longer by what is kept ready behind them: at most 4 MiB.
	replaceAbove = 4<<20 - allocSize - preallocateAhead
	// listAbove: when more bytes are in use the list of free pages is kept in the file. It is written in every
	// commit, so it must stay short.
	listAbove = 4 << 20
	// sparseShare: a file holds little when that is less than such a part of its length.
	sparseShare = 8
	// sparseFree: it holds little, too, when so many times as much is free in it. Three bytes were drained then for each
	// that is copied.
	sparseFree = 3
	// replaceMost bytes are copied at most, while commits wait.
	replaceMost = 16 << 20
	// buildStep counts the keys that one transaction of a copy writes.
	buildStep = 1000
	// keepDamaged files that were damaged are kept for a look.
	keepDamaged = 2
)

// fileBuilder fills a fresh file beside the box.
type fileBuilder struct {
	path    string
	db      *bbolt.DB
	tx      *bbolt.Tx
	name    string        // of the bucket that was used last
	bk      *bbolt.Bucket // that bucket, while tx lasts
	pending int
}

func newBuilder(path string, quota int64) (*fileBuilder, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	db, err := openDB(path, quota)
	if err != nil {
		return nil, err
	}
	return &fileBuilder{path: path, db: db}, nil
}

// bucket returns a bucket of the copy for writing, made when it is not there.
func (w *fileBuilder) bucket(name string) (bk *bbolt.Bucket, err error) {
	if w.tx == nil {
		if w.tx, err = w.db.Begin(true); err != nil {
			return nil, err
		}
	}
	if w.bk != nil && w.name == name {
		return w.bk, nil
	}
	if bk, err = w.tx.CreateBucketIfNotExists([]byte(name)); err != nil {
		return nil, fmt.Errorf("make bucket %s: %w", name, err)
	}
	bk.FillPercent = 1
	w.name, w.bk = name, bk
	return bk, nil
}

// putIfAbsent writes one key; when the bucket has it already, the first value stays.
func (w *fileBuilder) putIfAbsent(bucket string, key, value []byte) error {
	if held, err := w.hasKey(bucket, key); held || err != nil {
		return err
	}
	return w.putNew(bucket, key, slices.Clone(value))
}

// putNew writes one key that the bucket does not have. The value must stay as it is until the next flush.
func (w *fileBuilder) putNew(bucket string, key, value []byte) error {
	bk, err := w.bucket(bucket)
	if err != nil {
		return err
	}
	if err := bk.Put(key, value); err != nil {
		return fmt.Errorf("copy key %x of %s: %w", key, bucket, err)
	}
	if w.pending++; w.pending >= buildStep {
		return w.flush()
	}
	return nil
}

// hasKey reports whether a bucket of the copy has a key.
func (w *fileBuilder) hasKey(bucket string, key []byte) (bool, error) {
	bk, err := w.bucket(bucket)
	if err != nil {
		return false, err
	}
	return bk.Get(key) != nil, nil
}

// flush commits what was put so far.
func (w *fileBuilder) flush() error {
	tx := w.tx
	w.tx, w.bk, w.pending = nil, nil, 0
	if tx == nil {
		return nil
	}
	return tx.Commit()
}

// abort gives up and removes the file.
func (w *fileBuilder) abort() error {
	var err error
	if w.tx != nil {
		err = w.tx.Rollback()
	}
	return errors.Join(err, w.db.Close(), os.Remove(w.path))
}

// replaceIfSparse replaces a long file that holds little by a fresh one. Commits wait; commitMu is held. When it does not work
// the old file goes on.
func (b *dbFile) replaceIfSparse() {
	length, held := b.length.Load(), b.inUse.Load()
	if length <= max(replaceAbove, b.retryReplaceAt.Load()) || !sparse(length, held) {
		return
	}
	if err := b.replaceFile(); err != nil {
		b.retryReplaceAt.Store(length * 2)
		b.note(Note{Kind: NoteTrouble}, "the outbox file could not be made shorter, it goes on as it is: %v", err)
	}
}

func sparse(length, held int64) bool {
	free := length - held
	return held <= replaceMost && (held*sparseShare <= length || free >= max(sparseFree*held, replaceAbove))
}

// replaceFile copies everything into a fresh file, puts that in the old one's place and goes on with it.
func (b *dbFile) replaceFile() error {
	var w *fileBuilder
	err := b.view("copy the outbox", func(tx *bbolt.Tx) (err error) {
		w, err = copyFile(tx, b.path+".new", b.quota.Load())
		return err
	})
	if err != nil {
		return err
	}
	place, err := os.Stat(w.path)
	if err == nil {
		err = os.Rename(w.path, b.path)
	}
	if err != nil {
		return errors.Join(err, w.abort())
	}
	b.dbMu.Lock()
	old := b.db
	b.db, b.fileInfo = w.db, place
	b.preallocated = 0
	b.dbMu.Unlock()
	err = disk.SyncDir(b.path)
	if disk.IsFull(err) {
		err = disk.SyncDir(b.path)
	}
	if err != nil { // a power cut could bring the old file back, without what comes now
		return b.die(fmt.Errorf("sync the folder of %s: %w", b.path, err))
	}
	err = errors.Join(b.measure(w.db), catchFaults("close the old file", old.Close))
	b.reserveQuota()
	return err
}

// copyFile writes what a transaction sees into a new file. It is synced once, at the end: until it is renamed nobody
// looks into it.
func copyFile(tx *bbolt.Tx, path string, quota int64) (*fileBuilder, error) {
	w, err := newBuilder(path, quota)
	if err != nil {
		return nil, err
	}
	w.db.NoSync = true
	err = tx.ForEach(func(name []byte, bk *bbolt.Bucket) error {
		if _, err := w.bucket(string(name)); err != nil {
			return err
		}
		return bk.ForEach(func(k, v []byte) error {
			return w.putNew(string(name), k, v)
		})
	})
	if err == nil {
		err = w.flush()
	}
	if err == nil {
		err = w.db.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, w.abort())
	}
	w.db.NoSync = false
	return w, nil
}

// setAside gives the damaged file another name and the fresh one its place, so that at no time the box has no file.
func setAside(path, fresh string) (aside string, err error) {
	old, err := damagedFiles(path)
	if err != nil {
		return "", err
	}
	n := 1
	if len(old) > 0 {
		n = old[len(old)-1] + 1
	}
	aside = damagedName(path, n)
	if err := os.Link(path, aside); err != nil { // a file system without links: two steps, settleRename mends a cut between
		if err := os.Rename(path, aside); err != nil {
			return "", err
		}
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", err
	}
	err = errors.Join(disk.SyncDir(path), disk.Release(aside))
	for i := 0; i+keepDamaged-1 < len(old); i++ {
		err = errors.Join(err, os.Remove(damagedName(path, old[i])))
	}
	return aside, err
}

// removeDamaged removes the damaged files that were kept.
func removeDamaged(path string) error {
	old, err := damagedFiles(path)
	for _, n := range old {
		err = errors.Join(err, os.Remove(damagedName(path, n)))
	}
	return err
}

func damagedName(path string, n int) string { return fmt.Sprintf("%s.damaged-%d", path, n) }

// damagedFiles lists the numbers of the files that were set aside, lowest first.
func damagedFiles(path string) (numbers []int, err error) {
	plain := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
	found, err := filepath.Glob(plain + ".damaged-*")
	for _, name := range found {
		if n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:]); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}
