package ledger

import (
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/clock"
	"gauger/agent/tank"
	"gauger/agent/tankbook"
	"gauger/collectors"
	"gauger/outbox"
)

// Names of the small state beside the streams.
const (
	tanksKey       = "tanks"        // the detector's state
	heldKey        = "tickets/held" // finished loads whose ticket has not left yet
	episodesKey    = "episodes"     // what is going on: rules and notices that have begun
	ticketKey      = "ticket/"      // one per ticket number, for ever
	valueKey       = "value/"       // what was last sent of each well's value
	recentKey      = "recent/"      // and the readings that a broker may deliver again
	unusedKey      = "unused/"      // one per point: what was not used of it
	memoryKey      = "memory/"      // what a collector remembers
	putBackKey     = "put-back"     // the time of which an older store that was put back knows nothing
	deferredKey    = "later/"       // records that wait for the clock to be set
	setupsKey      = "gear"         // how each tank is measured, in the order of the tanks' state
	inhibitionsKey = "inhibited"    // work on tanks that is going on, or whose event waits
)

// Ledger turns readings into records. It is the one place where a tank's state, a ticket's number and the ticket
// become one transaction: a new state is adopted only after the outbox has it on disk.
type Ledger struct {
	smallState
	recording
	evictions
	refusals refusals
	openings openings // of this run; under mu

	site          Site
	clock         *clock.Clock
	routes        map[collectors.Point]*routes
	rules         tankbook.Rules
	started       time.Time
	runID         int64
	putBack       tank.Span     // the newest time that an older store knew, and when it was found in the store's place; zero: never. Under mu
	takenUp       time.Time     // the newest time that the store knew when this ledger began
	boxBoot       int64         // of the box; 0: not known
	uptimeAtStart time.Duration // of the box when this run was born

	// loading, by tank: it is being hauled. It is read without the lock.
	loading []atomic.Bool

	mu         sync.Mutex
	state      state    // that the next transaction judges by: what is on its way to the disk included
	staged     []staged // the transactions that are on their way, in their order
	latest     latestReadings
	room       txnRoom
	spare      *txn // empty, for the next batch; nil: one is made
	valueNames []valueName
	watchers   watchers
	lingers    chan time.Duration // holds one: values linger, and so long they may
	flushedAt  time.Time          // when Flush was last asked for
}

// state may be changed by a batch. Whatever a transaction changes of it is copied first, so that a commit that failed
// leaves the old one.
type state struct {
	tanks        tank.State
	tankBook     tankbook.Book
	storedMark   uint64 // the mark of the tanks' state that is on disk
	held         heldTickets
	episodes     map[string]Episode
	lastValues   []lastValue
	ticked       bool          // in this run
	replayBoot   int64         // boot of the recording that is playing; 0: none
	replayed     time.Duration // of its newest batch, since that boot
	lastDeferred uint64        // highest key of a record that waits for the clock
	unused       unusedCounts

	replayPositions map[string]replayPosition // how far each recording is, by its device
	lingering       lingering

	setups      setups
	inhibitions []Inhibition

	clockOffset time.Duration // of the wall clock, when what is kept by it was last moved
}

// New takes up where the box's state stands.
func New(site Site, box *outbox.Box, clock *clock.Clock, log zerolog.Logger) (*Ledger, error) {
	l := newLedger(site, box, clock, log)
	s, err := l.load()
	l.adopt(s)
	l.takenUp = s.tanks.Newest()
	l.state.setups.routeOldLevels(l.routes, log)
	return l, errors.Join(err, l.evictions.load(box.Counts()), l.LoadState(putBackKey, &l.putBack))
}

// PutBack keeps that the store was found to be of before: what was ticketed between its newest time and then it does not know. One that knew no
// level at all makes no load of that time either.
func (l *Ledger) PutBack(found time.Time) error {
	back := tank.Span{From: l.takenUp, To: found.Round(0)}
	l.mu.Lock()
	l.putBack = back
	l.mu.Unlock()
	return l.SaveState(putBackKey, back)
}

func newLedger(site Site, box *outbox.Box, clock *clock.Clock, log zerolog.Logger) *Ledger {
	now := time.Now()
	l := &Ledger{
		smallState: smallState{box, log}, site: site, clock: clock, started: now, runID: now.UnixNano(),
		latest: latestReadings{}, openings: openings{}, lingers: make(chan time.Duration, 1), routes: site.routes(), valueNames: valueNamesOf(site.Values), rules: site.bookRules(), loading: make([]atomic.Bool, len(site.Tanks)),
	}
	l.recording.lock = &l.mu
	l.refusals.limits, l.refusals.box = site.Refusals, box
	l.evictions = evictions{lock: &l.mu, state: &l.smallState, site: &l.site, byStream: map[string]eviction{}}
	return l
}

// adopt makes s the state from now on.
func (l *Ledger) adopt(s state) {
	l.state = s
	l.showLoading(&s)
}

// showLoading lets collectors know which tanks are being hauled.
func (l *Ledger) showLoading(s *state) {
	for i := range l.loading {
		l.loading[i].Store(s.tanks.Loading(i))
	}
}

// load reads the stored state. A piece that cannot be read is set aside and said: the rest must not suffer.
func (l *Ledger) load() (state, error) {
	s := state{episodes: map[string]Episode{}, lastValues: make([]lastValue, len(l.site.Values))}
	unread, err := loadPacked(l.box, tanksKey, &s.tanks)
	if unread {
		l.log.Error().Err(err).Msg("the stored state of the tanks cannot be read; starting from the next readings")
		s.tanks = tank.State{}
	} else if err != nil {
		return s, fmt.Errorf("read the tanks' state: %w", err)
	}
	s.storedMark = s.tanks.Mark()
	unread, err = loadPacked(l.box, openDaysKey, &s.tankBook)
	if unread { // the day is then incomplete, and says so
		l.log.Error().Err(err).Msg("the open days of the tank book cannot be read; they begin anew")
		s.tankBook = tankbook.Book{}
	} else if err != nil {
		return s, fmt.Errorf("read the tank book: %w", err)
	}
	if err := l.loadSetups(&s); err != nil {
		return s, err
	}
	for _, part := range []struct {
		name string
		into any
	}{{heldKey, &s.held.all}, {episodesKey, &s.episodes}, {inhibitionsKey, &s.inhibitions}} {
		if err := l.LoadState(part.name, part.into); err != nil {
			return s, err
		}
	}
	s.held.assignHandles(l.site.ID)
	for k, e := range s.episodes {
		e.Inherited = true
		s.episodes[k] = e
	}
	for i := range l.site.Values {
		v := &l.site.Values[i]
		if err := l.LoadState(valueKey+v.key(), &s.lastValues[i]); err != nil {
			return s, err
		}
		if v.Every == 0 {
			if err := l.loadRecent(v, &s.lastValues[i]); err != nil {
				return s, err
			}
		}
	}
	if err := l.loadUnused(&s); err != nil {
		return s, err
	}
	s.lastDeferred, err = l.lastDeferred()
	return s, err
}

// loadSetups takes up how the tanks were measured, with the state that goes by it.
func (l *Ledger) loadSetups(s *state) (err error) {
	var stored []setup
	if err := l.LoadState(setupsKey, &stored); err != nil {
		return err
	}
	w := setupWork{tanks: s.tanks, book: s.tankBook}
	s.setups, err = newSetups(&l.site, stored, &w)
	s.tanks, s.tankBook = w.tanks, w.book
	return err
}

// emit takes one batch at an instant. The lock is held.
func (l *Ledger) emit(now time.Time, device string, batch []collectors.Reading) error {
	tx, err := l.beginBatch(now, batch[0])
	if err != nil {
		return err
	}
	if tx.boot != 0 {
		tx.tickThroughSilence()
	}
	for i := range batch {
		tx.apply(&batch[i])
	}
	if tx.boot != 0 {
		tx.clockTick()
		tx.replayed = max(tx.replayed, tx.mono)
	}
	tx.recorded, tx.batch = true, withoutHistorical(batch)
	if err := l.commit(tx, device); err != nil {
		return fmt.Errorf("store what %d readings of %s changed: %w", len(batch), device, err)
	}
	*tx = txn{}
	l.spare = tx
	return nil
}

// beginBatch opens a transaction. A recording carries its own clock, and a boot count that rises where the recorded box was
// killed: what was only in memory is gone then.
func (l *Ledger) beginBatch(now time.Time, first collectors.Reading) (*txn, error) {
	if first.Boot == 0 {
		tx := l.begin(now)
		if !tx.ticked { // how long the program was away is told by the clock, never by a reading that may be old
			tx.clockTick()
		}
		return tx, nil
	}
	if l.state.replayBoot != 0 && first.Boot != l.state.replayBoot {
		if err := l.reload(); err != nil {
			return nil, err
		}
	}
	tx := l.beginAt(first.At)
	if tx.replayBoot != first.Boot {
		tx.replayed = first.Mono
	}
	tx.boot, tx.mono, tx.replayBoot = first.Boot, first.Mono, first.Boot
	return tx, nil
}

// reload takes up what is stored. The room for that stays off the stack of every poll.
//
//go:noinline
func (l *Ledger) reload() error {
	s, err := l.load()
	if err == nil {
		s.ticked, s.replayPositions, s.lingering = l.state.ticked, l.state.replayPositions, l.state.lingering
		l.adopt(s)
	}
	return err
}

// begin opens a transaction at now, an instant of this run.
func (l *Ledger) begin(now time.Time) *txn {
	tx := l.beginAt(now)
	tx.followClockStep()
	return tx
}

// beginAt opens a transaction at an instant of a recording.
func (l *Ledger) beginAt(now time.Time) *txn {
	l.publishCommitted()
	tx := l.spare
	if l.spare = nil; tx == nil {
		tx = new(txn)
	}
	tx.state, tx.l, tx.now = l.state, l, now
	if tx.setups.pending {
		tx.applySetups()
	}
	return tx
}

// Tick lets the ledger hear the clock: a load whose readings have stopped is still ticketed, held tickets leave, and
// silence is noticed.
func (l *Ledger) Tick(now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	tx := l.begin(now)
	tx.clockTick()
	tx.recorded = true
	if err := l.commit(tx, ""); err != nil {
		return fmt.Errorf("store what the clock changed: %w", err)
	}
	return nil
}

// Latest returns the newest reading of each of the points, or of every point when none is named.
func (l *Ledger) Latest(points ...collectors.Point) []collectors.Reading {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(points) == 0 {
		return l.latest.all()
	}
	var out []collectors.Reading
	for _, p := range points {
		if r, ok := l.latest.get(p); ok {
			out = append(out, r)
		}
	}
	return out
}

// Undecoded lists the devices of which a message was not stored, or came more than once, since it could not be decoded.
func (l *Ledger) Undecoded() []Undecoded { return l.refusals.undecoded() }

// SetBoot tells the ledger which boot of the box this run belongs to: its detector then counts time by the box's uptime,
// so that neither a restart of the program nor a step of the clock meanwhile moves a load.
func (l *Ledger) SetBoot(boot clock.Boot) error {
	if boot.ID == "" {
		return nil
	}
	up, err := boot.Uptime()
	if err != nil {
		return err
	}
	h := fnv.New64a()
	h.Write([]byte(boot.ID)) // never fails
	l.mu.Lock()
	defer l.mu.Unlock()
	l.boxBoot, l.uptimeAtStart = int64(h.Sum64()), up-time.Since(l.started)
	return nil
}

// Newest is the newest time that is stored of the tanks, by the box's clock as it was then; zero: none.
func (l *Ledger) Newest() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.tanks.Newest()
}

// mono is an instant of this run on the clock that never steps.
func (l *Ledger) mono(now time.Time) time.Duration { return l.uptimeAtStart + now.Sub(l.started) }
