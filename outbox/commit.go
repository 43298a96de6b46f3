package outbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"gauger/outbox/receipts"
)

// group collects for one commit everything that was staged while the commit before it ran. Whoever stages first
// leads: it waits for its turn and commits for all; the others wait for it. There is no timer.
type group struct {
	staging
	gen     uint64            // set when the group is sealed
	state   map[string][]byte // staged state, nil values are deletions
	touched []*stream         // streams whose counts changed
	woken   []*stream         // streams that got records to send
	leaving []recordRef       // records that this group moves or removes
	follows int               // how many wait for the leader
	done    chan struct{}
	err     error
}

// staging is the memory of a group that the next one can use again.
type staging struct {
	ops []op
	buf []byte // keys and values are cut from it
}

// What a staging may keep: a thousand records of a few hundred bytes. More is given back.
const (
	maxSpareOps = 2048
	maxSpareBuf = 512 << 10
)

// followerYields: a leader lets others run so often before it makes way for the next one.
const followerYields = 16

// alloc gives n bytes that stay as they are until the group is committed.
func (t *staging) alloc(n int) []byte {
	if cap(t.buf)-len(t.buf) < n {
		t.buf = make([]byte, 0, max(n, min(2*cap(t.buf), maxSpareBuf), 4096))
	}
	at := len(t.buf)
	t.buf = t.buf[:at+n]
	return t.buf[at : at+n : at+n]
}

// reuse empties it, and drops what is too large to be kept.
func (t staging) reuse() staging {
	if cap(t.ops) > maxSpareOps {
		t.ops = nil
	}
	if cap(t.buf) > maxSpareBuf {
		t.buf = nil
	}
	clear(t.ops)
	return staging{ops: t.ops[:0], buf: t.buf[:0]}
}

// op is one put, or with a nil value one delete.
type op struct {
	bucket     string
	key, value []byte
	sealed     bool // value is content that is sealed at the commit
}

// recordRef names a record in one of its buckets.
type recordRef struct {
	bucket string
	seq    uint64
}

// newGroup takes over the spare memory. The box's lock is held.
func (b *Box) newGroup() *group {
	g := &group{staging: b.spareStaging, done: make(chan struct{})}
	b.spareStaging = staging{}
	return g
}

// seqKey is the key of a record, cut from the group's memory.
func (g *group) seqKey(seq uint64) []byte {
	return binary.BigEndian.AppendUint64(g.alloc(keyLen)[:0], seq)
}

func (g *group) put(bucket string, key, value []byte) {
	g.ops = append(g.ops, op{bucket: bucket, key: key, value: value})
}

func (g *group) putSealed(bucket string, key, content []byte) {
	g.ops = append(g.ops, op{bucket: bucket, key: key, value: content, sealed: true})
}

func (g *group) remove(bucket string, key []byte) {
	g.ops = append(g.ops, op{bucket: bucket, key: key})
}

func (g *group) putState(name string, v []byte) {
	if g.state == nil {
		g.state = map[string][]byte{}
	}
	g.state[name] = v
}

func (g *group) touch(s *stream) { g.touched = appendNew(g.touched, s) }
func (g *group) wake(s *stream)  { g.woken = appendNew(g.woken, s) }

func appendNew(all []*stream, s *stream) []*stream {
	if slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}

// Update runs fn, which stages records and state, and returns nil when all of it is on disk, or an error when none of
// it is (after ErrDead: it may be, and the next Open tells). Concurrent calls share one commit. fn runs at once, under
// the box's lock, exactly once; an Update that staged nothing costs nothing.
func (b *Box) Update(fn func(*Tx) error) error {
	t := &Tx{b: b}
	err := b.submit(func(g *group) error {
		t.g, t.firstOp = g, len(g.ops)
		defer t.close()
		if err := fn(t); err != nil {
			return err
		}
		if t.err != nil {
			return t.err
		}
		if err := b.makeRoom(g, t.bytes); err != nil {
			return err
		}
		t.accept()
		return nil
	})
	if err == nil {
		// Not before the commit: what was made of them would be lost if the receipts alone came to the disk.
		for _, x := range t.taken {
			b.writeReceipts(x.s, []receipts.Receipt{b.receiptFor(x.s, x.r, 0, "")})
		}
	}
	b.tell()
	return err
}

// submit lets stage add to the next commit and waits until that is on disk. stage runs under the box's lock; when it
// returns an error it has added nothing.
func (b *Box) submit(stage func(*group) error) error {
	g, leads, err := b.join(stage)
	if err != nil || g == nil {
		return err
	}
	if leads {
		b.lead(g)
	} else {
		<-g.done
	}
	return g.err
}

func (b *Box) join(stage func(*group) error) (g *group, leads bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(); err != nil {
		return nil, false, err
	}
	g = b.next
	if g == nil {
		g, leads = b.newGroup(), true
	}
	if err := stage(g); err != nil {
		return nil, false, err
	}
	if leads && len(g.ops)+len(g.state)+len(g.touched) == 0 {
		return nil, false, nil
	}
	if !leads {
		g.follows++
	}
	b.next = g
	return g, leads, nil
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
	b.gen++
	g.gen = b.gen
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
	close(g.done)
	if dead == nil {
		b.replaceIfSparse()
		b.preallocate()
	}
	b.awaitFollowers(g.follows)
}

// awaitFollowers gives those who waited for a commit a moment to stage what they have next, so that it gets into the commit that
// follows and not into the one after that: with many producers that makes half as many commits.
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
		s.signal()
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

func (g *group) writeTo(tx *bbolt.Tx, state *stateChecksum) error {
	w := opWriter{tx: tx, gen: g.gen}
	for i := range g.ops {
		if err := w.write(&g.ops[i]); err != nil {
			return err
		}
	}
	for name, v := range maps.All(g.state) {
		o := op{bucket: bucketState, key: []byte(name), value: v}
		if v != nil {
			o.value = seal(bucketState, o.key, g.gen, v)
		}
		state.replace(tx.Bucket([]byte(bucketState)).Get(o.key), o.value)
		if err := w.write(&o); err != nil {
			return err
		}
	}
	return w.write(&op{bucket: bucketMeta, key: []byte(keyGeneration), value: state.encode(), sealed: true})
}

// opWriter puts operations into one transaction.
type opWriter struct {
	tx   *bbolt.Tx
	gen  uint64
	name string        // of the bucket that the last operation was for
	bk   *bbolt.Bucket // that bucket
}

func (w *opWriter) write(o *op) error {
	if w.bk == nil || w.name != o.bucket {
		bk := w.tx.Bucket([]byte(o.bucket))
		if bk == nil {
			return fmt.Errorf("bucket %s: %w", o.bucket, ErrDamaged)
		}
		bk.FillPercent = 1 // keys only ever grow: full pages, nothing inserted between
		w.name, w.bk = o.bucket, bk
	}
	switch {
	case o.value == nil:
		return w.bk.Delete(o.key)
	case o.sealed:
		return w.bk.Put(o.key, seal(o.bucket, o.key, w.gen, o.value))
	}
	return w.bk.Put(o.key, o.value)
}

// measure reads how long the file is and how much of it is in use.
func (b *Box) measure(db *bbolt.DB) error {
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
