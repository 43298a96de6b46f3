package outbox

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"gauger/outbox/disk"
	"gauger/outbox/receipts"
)

// Box is one open outbox. Its methods may be called from any goroutine.
type Box struct {
	dbFile
	opt      Options
	lock     *os.File
	receipts *receipts.File
	streams  map[string]*stream

	commitMu sync.Mutex    // one commit or replacement at a time; taken before mu
	stateSum stateChecksum // of the state on disk; under commitMu

	mu              sync.Mutex // everything below, the streams' fields, and staging
	next            *group     // takes what is staged now; nil: nothing yet
	running         *group     // is being committed
	spareStaging    staging    // of the last group, for the next one
	generation      uint64
	leaving         map[recordRef]bool // what next and running move or remove outside a drain's batch
	closed          bool
	toldFull        bool // ErrFull was given and nothing was accepted since
	evictedForPages bool // room was made because of pages since the last commit
	probe           sharedProbe

	commitSince atomic.Int64 // since when a commit runs, and what follows it; nanoseconds; 0: none

	highWater     *highWater // under commitMu; nil when it does not work
	refusedByDisk int        // commits that the full disk refused since the last one that worked; under mu
}

// Kick ends the wait of a stream's drain: try now, the keys or the link are back.
func (b *Box) Kick(stream string) {
	if s := b.streams[stream]; s != nil {
		signal(s.kick)
	}
}

// Close waits for what is being committed, and closes the files. Drains must have ended. A box that is dead leaves its
// file as it is, for the next Open.
func (b *Box) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return ErrClosed
	}
	b.closed = true
	waitFor := []*group{b.running, b.next}
	b.mu.Unlock()
	for _, g := range waitFor {
		if g != nil {
			b.finishGroup(g) // perhaps nobody waits for it
		}
	}
	var err error
	if b.dead.Load() == nil {
		b.commitMu.Lock()
		b.catchUpHighWater()
		if !b.opt.LookOnly {
			err = b.highWater.markClosed()
		}
		b.dbMu.Lock()
		err = errors.Join(err, catchFaults("close the outbox", b.db.Close))
		b.db = nil
		b.dbMu.Unlock()
		b.commitMu.Unlock()
	}
	return errors.Join(err, b.receipts.Close(), b.highWater.close(), b.lock.Close())
}

// Err returns nil while the box works, and otherwise the error (ErrDead or ErrClosed) that every call gets.
func (b *Box) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.usable()
}

// Quota returns how many bytes of disk the box may use, which are fewer than Options.MaxBytes where the disk had less, and that.
func (b *Box) Quota() (has, wanted int64) { return b.quota.Load(), b.opt.MaxBytes }

// minFree, in bytes: a disk with less counts as full. The outbox has its own blocks, and works on for a while on a
// disk on which its receipts, and the files beside it, cannot be written any more.
const minFree = 64 << 10

// Room returns nil while the disk has room, and otherwise ErrNoSpace: it has refused the last commit, or nothing is left
// for the next file that grows.
func (b *Box) Room() error {
	b.mu.Lock()
	refuses := b.refusedByDisk > 0
	b.mu.Unlock()
	if refuses {
		return fmt.Errorf("%w: it refuses new records", ErrNoSpace)
	}
	if free, err := disk.Free(b.path); err == nil && free < minFree { // where nobody can tell, a commit will
		return fmt.Errorf("%w: %d bytes of it are free", ErrNoSpace, free)
	}
	return nil
}

// hung: a commit of this length means that the disk hangs, and that the process should not claim to be well.
const hung = 30 * time.Second

// Hung returns the reason for which only a new process can go on: the box is out of service, or a commit hangs; nil: none.
func (b *Box) Hung() error {
	if d := b.Stalled(); d >= hung {
		return fmt.Errorf("the disk hangs: a commit to %s has not come back for %s", b.path, d.Round(time.Second))
	}
	return b.Err()
}

// Stalled returns for how long the commit that is running has been at it, with the replacement of the file that follows
// some; zero when none is.
func (b *Box) Stalled() time.Duration {
	since := b.commitSince.Load()
	if since == 0 {
		return 0
	}
	return time.Since(time.Unix(0, since))
}

// usable returns why the box cannot be used. The lock is held.
func (b *Box) usable() error {
	if dead := b.dead.Load(); dead != nil {
		return *dead
	}
	if b.closed {
		return ErrClosed
	}
	return nil
}

// Get returns a copy of the state under a name; nil: none.
func (b *Box) Get(name string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(); err != nil {
		return nil, err
	}
	return b.getStaged(name)
}

// getStaged reads through what is staged and being committed. The lock is held.
func (b *Box) getStaged(name string) (v []byte, err error) {
	for _, g := range []*group{b.next, b.running} {
		if g == nil {
			continue
		}
		if v, ok := g.state[name]; ok {
			return bytes.Clone(v), nil
		}
	}
	err = b.view("read state "+name, func(tx *bbolt.Tx) error {
		raw := tx.Bucket([]byte(bucketState)).Get([]byte(name))
		if raw == nil {
			return nil
		}
		content, _, err := unseal(bucketState, []byte(name), raw)
		v = append([]byte{}, content...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Names returns the names of all state that begins with prefix, sorted.
func (b *Box) Names(prefix string) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := map[string]bool{}
	err := b.view("list state", func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(bucketState)).Cursor()
		for k, _ := c.Seek([]byte(prefix)); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, _ = c.Next() {
			found[string(k)] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, g := range []*group{b.running, b.next} {
		overlayStaged(found, g, prefix)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func overlayStaged(found map[string]bool, g *group, prefix string) {
	if g == nil {
		return
	}
	for name, v := range g.state {
		switch {
		case !strings.HasPrefix(name, prefix):
		case v == nil:
			delete(found, name)
		default:
			found[name] = true
		}
	}
}

// Path is the box's file.
func (b *Box) Path() string { return b.path }

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
	b.catchUpHighWater()
	return nil
}

// Used is what each stream's waiting and dead records take of the quota, in bytes.
func (b *Box) Used() map[string]int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make(map[string]int64, len(b.streams))
	for name, s := range maps.All(b.streams) {
		all[name] = s.used()
	}
	return all
}

// Counts returns the counts of every stream, what is being committed included.
func (b *Box) Counts() map[string]Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make(map[string]Counts, len(b.streams))
	for name, s := range maps.All(b.streams) {
		all[name] = s.counts.Counts
	}
	return all
}
