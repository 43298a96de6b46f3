package outbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gauger/outbox/disk"
	"gauger/outbox/receipts"
)

// What zero values of Options mean.
const (
	defaultBytes         = 64 << 20
	defaultReceiptsFor   = 62 * 24 * time.Hour // last month, on its last day too
	defaultReceiptsBytes = 16 << 20            // 65,536 receipts
)

// Open opens the box at path, and makes it when there is none; the folder is made too. Beside the file it keeps
// path.lock, path.receipts and path.high, for a moment path.new, and after damage path.damaged-N, the last two.
//
// A file that is damaged (does not open, panics, or fails Options.Preflight) is set aside, what is sound in it is
// carried into a fresh file, and the box opens: Notify tells what was found. ErrHeld: another process has it open.
func Open(path string, o Options) (*Box, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultBytes
	}
	if err := validate(o); err != nil {
		return nil, fmt.Errorf("open outbox %s: %w", path, err)
	}
	if o.LookOnly {
		if err := complete(path); err != nil {
			return nil, fmt.Errorf("open outbox %s: %w", path, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("open outbox %s: %w", path, err)
	}
	lock, err := disk.Lock(path+".lock", lockWait)
	if errors.Is(err, disk.ErrLocked) {
		err = fmt.Errorf("%w: stop it, or speak to it through its socket", ErrHeld)
	}
	if err != nil {
		return nil, fmt.Errorf("open outbox %s: %w", path, err)
	}
	b := &Box{opt: o, lock: lock, streams: map[string]*stream{}, leaving: map[recordRef]bool{}}
	b.path, b.notify = path, o.Notify
	b.quota.Store(o.MaxBytes)
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

// complete says whether the files of a box are all there, and nothing else of it: opening it makes none.
func complete(path string) error {
	for _, end := range []string{"", ".lock", ".receipts", ".high"} {
		if _, err := os.Lstat(path + end); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s is not there: %w", filepath.Base(path)+end, ErrLookOnly)
		}
	}
	if _, err := os.Lstat(path + ".new"); err == nil {
		return fmt.Errorf("a change of the file was cut off: %w", ErrLookOnly)
	}
	return nil
}

// open does what needs the lock.
func (b *Box) open() error {
	if info, err := os.Lstat(b.path); err == nil && info.Mode().Type() == os.ModeSymlink {
		return disk.ErrLink // or it would pass for damaged
	}
	if err := settleRename(b.path); err != nil {
		return err
	}
	var err error
	if b.receipts, err = receipts.Open(b.path+".receipts", receipts.Options{
		KeepFor: cmp.Or(b.opt.ReceiptsFor, defaultReceiptsFor), Bytes: cmp.Or(b.opt.ReceiptsBytes, defaultReceiptsBytes),
		Yields: func(stream string) int {
			if s := b.streams[stream]; s != nil {
				return int(s.Keep)
			}
			return int(ThinFirst) // one that this program does not know goes first
		},
	}); err != nil {
		return err
	}
	if b.highWater, err = openHigh(b.path + ".high"); err != nil {
		b.note(Note{Kind: NoteTrouble}, "a disk that forgets cannot be noticed: %v", err)
	}
	err = b.examine()
	if err == nil {
		err = b.load()
	}
	found := b.generation
	var mended *salvager
	if errors.Is(err, ErrDamaged) && !b.opt.LookOnly {
		if mended, err = salvage(b, err); err == nil {
			err = b.load()
		}
		found = max(b.generation, 1) - 1 // the salvage was a generation of its own
	}
	if err == nil {
		back := newRollback(b, found, mended)
		if err = b.noteDamagedReceipts(mended == nil && !back.older); err == nil {
			err = back.makeUp()
		}
	}
	if err == nil {
		err = b.reconcile()
	}
	if err != nil {
		return errors.Join(err, b.closeDB(), b.receipts.Close(), b.highWater.close())
	}
	if !b.opt.LookOnly {
		if err := b.receipts.Reserve(len(b.streams)); err != nil {
			b.note(Note{Kind: NoteTrouble}, "a disk that is full later may not take every receipt: %v", err)
		}
		b.reserveQuota()
	}
	for _, s := range b.streams {
		signal(s.wake)
	}
	return nil
}

// noteDamagedReceipts tells of receipts that cannot be read, and beside a sound box of those that are gone: of a journaled stream they are
// on disk before the marks count their records as delivered, but where the disk was full.
func (b *Box) noteDamagedReceipts(sound bool) error {
	n := b.receipts.Unreadable()
	var wrong []string
	if n > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of them cannot be read", n))
	}
	for name, s := range b.streams {
		if mark, _, ok := b.highWater.markOf(name); ok && sound && s.Journal && mark.Top > b.receipts.HighestSeq(name) {
			wrong = append(wrong, "the newest of "+name+" are gone, or could not be kept while the disk was full")
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	if b.opt.LookOnly {
		return fmt.Errorf("its receipts are damaged: %w", ErrLookOnly)
	}
	was := "are not whole: "
	if n > 0 {
		was = "were damaged: "
	}
	b.note(Note{Kind: NoteSalvaged, Count: n}, "the receipts beside the outbox %s%s; no record is lost by that, but when those that had left were taken, and with which answer, is not known here any more",
		was, strings.Join(wrong, ", and "))
	if err := b.receipts.ClearUnreadable(); err != nil {
		b.note(Note{Kind: NoteTrouble}, "%v", err)
	}
	return nil
}

// examine asks the preflight and makes the quick check, so that only a file that looks sound is opened. Where the
// preflight cannot be made the file is examined in this process.
func (b *Box) examine() error {
	if info, err := os.Lstat(b.path); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
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
			b.note(Note{Kind: NoteTrouble}, "the outbox file could not be examined by a process of its own, it was examined by this one: %v", err)
			if _, err = Check(b.path); errors.Is(err, ErrDamaged) {
				return err
			}
		}
	}
	return quickCheck(b.path)
}

// settleRename ends what a cut in the middle of a replacement left: with no box file, a complete fresh one takes its
// place; beside a box file it is removed.
func settleRename(path string) error {
	fresh := path + ".new"
	if _, err := os.Lstat(fresh); err != nil {
		return nil //nolint:nilerr // there is none
	}
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		if _, err := Check(fresh); err == nil {
			return errors.Join(os.Rename(fresh, path), disk.SyncDir(path))
		}
	}
	return os.Remove(fresh)
}
