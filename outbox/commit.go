package outbox

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"time"

	"go.etcd.io/bbolt"

	"gauger/outbox/disk"
)

// followerYields: a leader lets others run so often before it makes way for the next one.
const followerYields = 16

// Commit is what was staged, on its way to the disk. A nil one stands for nothing: it is there already.
type Commit struct {
	b *Box
	g *group
}

// Wait returns nil when what was staged is on disk, or an error when none of it is, as Update does. Of all who wait for one
// commit the first makes it; what nobody waits for goes with the next that somebody waits for, or with Close.
func (c *Commit) Wait() error {
	if c == nil {
		return nil
	}
	c.b.finishGroup(c.g)
	c.b.tell()
	return c.g.err
}

// Done says whether the commit has come to its end, and how. It waits for nothing.
func (c *Commit) Done() (done bool, err error) {
	if c == nil {
		return true, nil
	}
	select {
	case <-c.g.done:
		return true, c.g.err
	default:
		return false, nil
	}
}

// submit lets stage add to the next commit and waits until that is on disk.
func (b *Box) submit(stage func(*group) error) error {
	c, err := b.join(stage)
	if err != nil || c == nil {
		return err
	}
	b.finishGroup(c.g)
	return c.g.err
}

// finishGroup returns when the group has come to its end: it leads unless somebody else does.
func (b *Box) finishGroup(g *group) {
	b.mu.Lock()
	leads := !g.led
	g.led = true
	b.mu.Unlock()
	if leads {
		b.lead(g)
	} else {
		<-g.done
	}
}

// join lets stage add to the next commit. It runs under the box's lock; when it returns an error it has added nothing.
func (b *Box) join(stage func(*group) error) (*Commit, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(); err != nil {
		return nil, err
	}
	g := b.next
	if g == nil {
		g = &group{staging: b.spareStaging, done: make(chan struct{})}
		b.spareStaging = staging{}
	}
	if err := stage(g); err != nil {
		return nil, err
	}
	if g != b.next && len(g.ops)+len(g.state)+len(g.touched) == 0 {
		return nil, nil
	}
	if b.opt.LookOnly {
		return nil, ErrLookOnly
	}
	if g == b.next {
		g.follows++
	}
	b.next = g
	return &Commit{b, g}, nil
}

// lead waits for its turn, commits the group, and leaves the file to the next leader.
func (b *Box) lead(g *group) {
	b.commitMu.Lock()
	defer b.commitMu.Unlock()
	b.mu.Lock()
	if g.err != nil { // what it was staged on top of is not on disk
		b.mu.Unlock()
		close(g.done)
		return
	}
	b.next, b.running = nil, g
	var dead error
	if cause := b.dead.Load(); cause != nil {
		dead = *cause
	}
	b.generation++
	g.generation = b.generation
	for _, s := range g.touched {
		g.putSealed(bucketMeta, []byte(s.Name), s.counts.encode())
	}
	b.mu.Unlock()

	if dead == nil {
		b.commitSince.Store(time.Now().UnixNano())
		defer b.commitSince.Store(0)
		if dead = b.commit(g); diskFull(dead) {
			dead = b.recoverFromFullDisk(g, dead)
		}
		if dead == nil {
			dead = b.checkInPlace()
		}
		if dead == nil {
			b.writeHighWater(g)
		}
	}
	b.finish(g, dead)
	if g.err == nil {
		b.writeGroupReceipts(g)
	}
	close(g.done)
	if dead == nil {
		b.replaceIfSparse()
		b.preallocate()
	}
	b.awaitFollowers(g.follows)
}

// awaitFollowers gives those who waited for a commit a moment to stage what they have next, so that it gets into the
// commit that follows and not into the one after that: with many producers that makes half as many commits.
func (b *Box) awaitFollowers(waited int) {
	for range followerYields {
		b.mu.Lock()
		back := b.next != nil && b.next.follows >= waited
		b.mu.Unlock()
		if back || waited == 0 {
			return
		}
		runtime.Gosched()
	}
}

// finish ends a group's time between memory and disk.
func (b *Box) finish(g *group, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running = nil
	for _, r := range g.leaving {
		delete(b.leaving, r)
	}
	switch {
	case errors.Is(err, ErrNoSpace):
		g.err = err
		return
	case err != nil:
		g.err = b.die(err)
		return
	}
	b.evictedForPages = false
	b.noteDiskRoom()
	b.spareStaging = g.reuse()
	g.staging = staging{}
	for _, s := range g.woken {
		signal(s.wake)
	}
}

// commit writes the group in one transaction. While few pages are in use, the list of the free ones is left out: that is
// a page less in every commit, and the next open finds the free pages by reading the others.
func (b *Box) commit(g *group) error {
	return catchFaults("commit to the outbox", func() error {
		b.db.NoFreelistSync = b.inUse.Load() <= listAbove
		tx, err := b.db.Begin(true)
		if err != nil {
			return err
		}
		state := b.stateSum
		if err := g.writeTo(tx, &state); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		b.stateSum = state
		return b.measure(b.db)
	})
}

// recoverFromFullDisk decides about a commit that ended because the disk is full, and keeps the box in service. Such a
// commit may be in the file or not: the file is closed, examined, opened again, and the generation in it tells. nil: it is
// there, on disk. ErrNoSpace: it is not, and what was staged on top of it goes too. Any other error is the end of the box.
// commitMu is held.
func (b *Box) recoverFromFullDisk(g *group, cause error) error {
	err := b.reopen(cause)
	if err != nil {
		return errors.Join(cause, err)
	}
	refused := fmt.Errorf("%w: nothing of this was stored: %w", ErrNoSpace, cause)
	b.mu.Lock()
	defer b.mu.Unlock()
	there := false
	err = b.view("read the outbox again", func(tx *bbolt.Tx) error {
		gen, state := generationOf(tx)
		if there = gen == g.generation; there {
			b.stateSum = state
			return nil
		}
		return b.rereadCounts(tx)
	})
	if err != nil || there {
		return err
	}
	g.err = refused    // at once, so that nobody stages on top of it (Tx.After)
	if b.next != nil { // whoever staged it saw what is not there
		b.next.err = refused
		b.next = nil
	}
	b.leaving = map[recordRef]bool{}
	b.noteDiskFull(cause)
	return refused
}

// noteDiskFull tells once that the disk is full; noteDiskRoom tells when it no longer is. The lock is held.
func (b *Box) noteDiskFull(cause error) {
	if b.refusedByDisk++; b.refusedByDisk == 1 {
		b.note(Note{Kind: NoteFull}, "the disk is full: new records are refused until it has room again, what is stored stays: %v", cause)
	}
}

func (b *Box) noteDiskRoom() {
	if b.refusedByDisk > 0 {
		b.note(Note{Kind: NoteFull, Count: b.refusedByDisk}, "the disk has room again; while it was full, %d changes were refused", b.refusedByDisk)
	}
	b.refusedByDisk = 0
}

// reopen exchanges the handle, so that nothing which the failed commit left in memory is believed.
func (b *dbFile) reopen(cause error) error {
	b.dbMu.Lock()
	defer b.dbMu.Unlock()
	if err := b.closeDB(); err != nil {
		return err
	}
	if err := quickCheck(b.path); err != nil {
		return err
	}
	if _, writing := errors.AsType[*fs.PathError](cause); !writing { // a sync: the system may have forgotten what it was given
		if err := disk.Rewrite(b.path); err != nil {
			return err
		}
	}
	return catchFaults("open the file again", func() error {
		if err := b.openFile(); err != nil {
			return err
		}
		return errors.Join(b.db.Sync(), b.measure(b.db))
	})
}
