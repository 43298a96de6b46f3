package outbox

import (
	"bytes"
	"errors"
	"fmt"
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
	path     string
	opt      Options
	lock     *os.File
	receipts *receipts.File
	streams  map[string]*stream

	commitMu     sync.Mutex    // one commit or replacement at a time; taken before mu
	preallocated int64         // length of the file as far as preallocate knows; under commitMu
	unreserved   bool          // it is told that the disk cannot be reserved; under commitMu
	stateSum     stateChecksum // of the state on disk; under commitMu
	fileInfo     os.FileInfo   // of the file that db has open; under commitMu
	dbMu         sync.RWMutex  // read: db is in use; write: db is exchanged or closed
	db           *bbolt.DB

	mu              sync.Mutex // everything below, the streams' fields, and staging
	next            *group     // takes what is staged now; nil: nothing yet
	running         *group     // is being committed
	spareStaging    staging    // of the last group, for the next one
	gen             uint64
	leaving         map[recordRef]bool // what next and running move or remove outside a drain's batch
	closed          bool
	toldFull        bool // ErrFull was given and nothing was accepted since
	evictedForPages bool // room was made because of pages since the last commit
	probe           sharedProbe

	dead           atomic.Pointer[error]
	inUse          atomic.Int64 // bytes of pages that are not free
	length         atomic.Int64 // bytes of all pages
	commitSince    atomic.Int64 // since when a commit runs, and what follows it; nanoseconds; 0: none
	retryReplaceAt atomic.Int64 // no replacement of the file before this length, after one that did not work

	noteMu sync.Mutex
	notes  []Note

	highWater     *highWater // under commitMu; nil when it does not work
	refusedByDisk int        // commits that the full disk refused since the last one that worked; under mu
}

// stream is one queue in memory: its rules, its counts, and what its drain is at.
type stream struct {
	Stream
	queueBucket, deadBucket, attemptsBucket string

	counts          streamCounts
	nameSum         uint32               // of the name: where a record's checksum begins
	staged          uint64               // records of the running Tx
	stagedBytes     uint64               // what they add to the quota
	inFlight        map[uint64]bool      // being sent, or its outcome being committed
	attempts        map[uint64]*attempts // attempts that may have stored a record
	draining        bool
	thinnedUpTo     uint64        // thinning goes on after this record
	wake            chan struct{} // holds one: there may be something to send
	kick            chan struct{} // holds one: do not wait any longer
	status          DrainStatus   // of its drain
	failing         map[destination]*failingDestination
	lastIsolatedTry time.Time   // when something that waits by itself was tried
	isolatedBelow   uint64      // all records below it wait by themselves
	bringingBack    int         // commits under way that bring old records back
	unreachable     atomic.Bool // its drain waits because the service could not be reached, not because it refused

	highestDelivered atomic.Uint64 // the highest number that was delivered
}

func newStream(o Stream) *stream {
	o.Batch = max(o.Batch, 1)
	return &stream{
		Stream: o, queueBucket: prefixQueue + o.Name, deadBucket: prefixDead + o.Name, attemptsBucket: prefixAttempts + o.Name,
		counts: streamCounts{nextSeq: 1}, nameSum: nameSum(o.Name), inFlight: map[uint64]bool{}, attempts: map[uint64]*attempts{}, failing: map[destination]*failingDestination{},
		wake: make(chan struct{}, 1), kick: make(chan struct{}, 1),
	}
}

func (s *stream) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// clearSignal forgets a signal.
func (s *stream) clearSignal() {
	select {
	case <-s.wake:
	default:
	}
}

// Kick ends the wait of a stream's drain: try now, the keys or the link are back.
func (b *Box) Kick(stream string) {
	if s := b.streams[stream]; s != nil {
		select {
		case s.kick <- struct{}{}:
		default:
		}
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
			<-g.done
		}
	}
	var err error
	if b.dead.Load() == nil {
		b.commitMu.Lock()
		b.dbMu.Lock()
		err = catchFaults("close the outbox", b.db.Close)
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

// Stalled returns for how long the commit that is running has been at it, with the replacement of the file that follows
// some; zero when none is. Half a minute means that the disk hangs, and that the process should not claim to be well.
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

// die makes every later call return ErrDead with the first cause, and returns that.
func (b *Box) die(cause error) error {
	err := fmt.Errorf("%w: %w", ErrDead, cause)
	if b.dead.CompareAndSwap(nil, &err) {
		b.note(Note{Kind: NoteDead, Message: cause.Error()})
	}
	return *b.dead.Load()
}

// view runs f in a short read transaction. A panic out of the file is the end of the box.
func (b *Box) view(doing string, f func(*bbolt.Tx) error) error {
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

// note queues a note; tell hands the queue to Notify when no lock is held any more.
func (b *Box) note(n Note) {
	n.At = time.Now()
	b.noteMu.Lock()
	defer b.noteMu.Unlock()
	b.notes = append(b.notes, n)
}

func (b *Box) tell() {
	b.noteMu.Lock()
	notes := b.notes
	b.notes = nil
	b.noteMu.Unlock()
	if b.opt.Notify == nil {
		return
	}
	for _, n := range notes {
		b.opt.Notify(n)
	}
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
	if err := b.usable(); err != nil {
		return nil, err
	}
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
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
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
