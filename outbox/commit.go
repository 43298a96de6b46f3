package outbox

import (
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
)

// group is what one commit writes: everything that was staged while the commit before it ran. Whoever stages first
// leads: it waits for its turn and commits for all; the others wait for it. There is no timer.
type group struct {
	gen     uint64 // set when the group is sealed
	ops     []op
	state   map[string][]byte // staged state, nil values are deletions
	touched map[*stream]bool  // streams whose counts changed
	woken   map[*stream]bool  // streams that got records to send
	gone    []ref             // records that this group moves or removes
	done    chan struct{}
	err     error
}

// op is one put, or with a nil value one delete.
type op struct {
	bucket     string
	key, value []byte
	sealed     bool // value is content that is sealed at the commit
}

// ref names a record in one of its buckets.
type ref struct {
	bucket string
	seq    uint64
}

func newGroup() *group {
	return &group{touched: map[*stream]bool{}, woken: map[*stream]bool{}, done: make(chan struct{})}
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

func (g *group) touch(s *stream) { g.touched[s] = true }
func (g *group) wakes(s *stream) { g.woken[s] = true }

// Update runs fn, which stages records and state, and returns nil when all of it is on disk, or an error when none of
// it is (after ErrDead: it may be, and the next Open tells). Concurrent calls share one commit. fn runs at once, under
// the box's lock, exactly once; an Update that staged nothing costs nothing.
func (b *Box) Update(fn func(*Tx) error) error {
	err := b.submit(func(g *group) error {
		t := &Tx{b: b}
		defer t.end()
		if err := fn(t); err != nil {
			return err
		}
		if t.err != nil {
			return t.err
		}
		if err := b.makeRoom(g, t.bytes); err != nil {
			return err
		}
		t.merge(g)
		return nil
	})
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
		g, leads = newGroup(), true
	}
	if err := stage(g); err != nil {
		return nil, false, err
	}
	if leads && len(g.ops)+len(g.state)+len(g.touched) == 0 {
		return nil, false, nil
	}
	b.next = g
	return g, leads, nil
}

// lead waits for its turn, commits the group, and leaves the file to the next leader.
func (b *Box) lead(g *group) {
	b.commitMu.Lock()
	defer b.commitMu.Unlock()
	b.mu.Lock()
	b.next, b.running = nil, g
	var dead error
	if cause := b.dead.Load(); cause != nil {
		dead = *cause
	}
	b.gen++
	g.gen = b.gen
	for s := range g.touched {
		g.putSealed(bucketMeta, []byte(s.Name), s.led.encode())
	}
	b.mu.Unlock()

	if dead == nil {
		b.committing.Store(time.Now().UnixNano())
		dead = b.commit(g)
		b.committing.Store(0)
	}
	b.settle(g, dead)
	close(g.done)
	if dead == nil {
		b.renew()
	}
}

// settle ends a group's time between memory and disk.
func (b *Box) settle(g *group, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running = nil
	for _, r := range g.gone {
		delete(b.gone, r)
	}
	if err != nil {
		g.err = b.die(err)
		return
	}
	b.pressed = false
	for s := range g.woken {
		s.signal()
	}
}

// commit writes the group in one transaction.
func (b *Box) commit(g *group) error {
	return guard("commit to the outbox", func() error {
		tx, err := b.db.Begin(true)
		if err != nil {
			return err
		}
		if err := g.apply(tx); err != nil {
			return fmt.Errorf("%w; %w", err, tx.Rollback())
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		return b.measure(b.db)
	})
}

func (g *group) apply(tx *bbolt.Tx) error {
	buckets := map[string]*bbolt.Bucket{}
	for _, o := range g.ops {
		if err := o.apply(tx, buckets, g.gen); err != nil {
			return err
		}
	}
	for name, v := range maps.All(g.state) {
		o := op{bucket: bucketState, key: []byte(name), value: v, sealed: true}
		if err := o.apply(tx, buckets, g.gen); err != nil {
			return err
		}
	}
	generation := op{bucket: bucketMeta, key: []byte(keyGeneration), value: []byte{}, sealed: true}
	return generation.apply(tx, buckets, g.gen)
}

func (o op) apply(tx *bbolt.Tx, buckets map[string]*bbolt.Bucket, gen uint64) error {
	bk := buckets[o.bucket]
	if bk == nil {
		if bk = tx.Bucket([]byte(o.bucket)); bk == nil {
			return fmt.Errorf("bucket %s: %w", o.bucket, ErrDamaged)
		}
		bk.FillPercent = 1 // keys only ever grow: full pages, nothing inserted between
		buckets[o.bucket] = bk
	}
	switch {
	case o.value == nil:
		return bk.Delete(o.key)
	case o.sealed:
		return bk.Put(o.key, seal(o.bucket, o.key, gen, o.value))
	}
	return bk.Put(o.key, o.value)
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

// guard runs what touches the file. A panic out of bbolt, or a fault while its memory map is read (a file that was cut
// short), becomes an error.
func guard(doing string, f func() error) (err error) {
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
