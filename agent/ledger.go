package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	tanksState  = "tanks"        // the detector's state
	heldState   = "tickets/held" // finished loads whose ticket has not left yet
	openState   = "episodes"     // what is going on: rules and notices that have begun
	bookState   = "ticket/"      // one per ticket number, for ever
	valueState  = "value/"       // what was last sent of each well's value
	recentState = "recent/"      // and the readings that a broker may deliver again
	unusedKey   = "unused/"      // one per point: what was not used of it
	memory      = "memory/"      // what a collector remembers
	laterState  = "later/"       // records that wait for the clock to be set
	runState    = "run"          // how the last run began and ended
	clockState  = "clock"        // how the clock stood in the last run
	gearState   = "gear"         // how each tank is measured, in the order of the tanks' state
	workState   = "inhibited"    // work on tanks that is going on, or whose event waits
)

// Ledger turns readings into records. It is the one place where a tank's state, a ticket's number and the ticket
// become one transaction: a new state is adopted only after the outbox has it on disk.
type Ledger struct {
	site   Site
	box    *outbox.Box
	clock  *clock.Clock
	log    zerolog.Logger
	feeds  map[collectors.Point]*feed
	rules  tankbook.Rules
	wanted []gear // of all tanks as it is configured
	born   time.Time
	boot   int64
	bootID int64         // of the box; 0: not known
	uptime time.Duration // of the box when this run was born

	// loading is whether each tank is being hauled. It is read without the lock, which a commit holds for as long as
	// the disk takes.
	loading []atomic.Bool

	mu     sync.Mutex
	ticked bool                // in this run
	played map[string]position // how far each recording is, by its device
	gave   map[string]gaveWay  // what gave way of late, by stream
	s      state
	latest newest
	watch  watchers
	keep   keeper
}

// state is what a batch may change. Whatever a draft changes of it is copied first, so that a commit that failed
// leaves the old one.
type state struct {
	tanks   tank.State
	daybook tankbook.Book
	stored  uint64 // the mark of the tanks' state that is on disk
	held    []Held
	open    map[string]Episode
	values  []lastValue
	replay  int64  // boot of the recording that is playing; 0: none
	later   uint64 // highest key of a record that waits for the clock
	unused  unusedState

	gears    []gear     // in force, by tank
	detect   tank.Site  // with them
	meetings []meeting  // by tank
	unfit    bool       // the configuration has something else, or the gear is not stored
	come     []arrival  // tanks that are new in the configuration, and those that it has no more,
	gone     []departed // until that is told
	work     []Inhibit

	replaced bool // the gear in force is other than what is stored

	offset time.Duration // of the wall clock, when what is kept by it was last moved
}

// NewLedger takes up where the box's state stands.
func NewLedger(site Site, box *outbox.Box, clock *clock.Clock, log zerolog.Logger) (*Ledger, error) {
	l := newLedger(site, box, clock, log)
	s, err := l.load()
	l.adopt(s)
	l.hearOld()
	return l, errors.Join(err, l.recall(gaveState, &l.gave))
}

func newLedger(site Site, box *outbox.Box, clock *clock.Clock, log zerolog.Logger) *Ledger {
	now := time.Now()
	return &Ledger{
		site: site, box: box, clock: clock, log: log, born: now, boot: now.UnixNano(),
		latest: newest{}, feeds: site.feeds(), wanted: site.wanted(), played: map[string]position{}, gave: map[string]gaveWay{}, rules: site.bookRules(), loading: make([]atomic.Bool, len(site.Tanks)),
	}
}

// adopt makes s the state from now on.
func (l *Ledger) adopt(s state) {
	l.s = s
	for i := range l.loading {
		l.loading[i].Store(s.tanks.Loading(i))
	}
}

// load reads the stored state. A piece that cannot be read is set aside and said: the rest must not suffer.
func (l *Ledger) load() (state, error) {
	s := state{open: map[string]Episode{}, values: make([]lastValue, len(l.site.Values))}
	b, err := l.box.Get(tanksState)
	if err != nil {
		return s, fmt.Errorf("read the tanks' state: %w", err)
	}
	if b != nil {
		if b, err = unpack(b); err == nil {
			err = s.tanks.UnmarshalBinary(b)
		}
		if err != nil {
			l.log.Error().Err(err).Msg("the stored state of the tanks cannot be read; starting from the next readings")
			s.tanks = tank.State{}
		}
	}
	s.stored = s.tanks.Mark()
	if s.daybook, err = l.loadBook(); err != nil {
		return s, err
	}
	if err := l.outfit(&s); err != nil {
		return s, err
	}
	for _, part := range []struct {
		name string
		into any
	}{{heldState, &s.held}, {openState, &s.open}, {workState, &s.work}} {
		if err := l.recall(part.name, part.into); err != nil {
			return s, err
		}
	}
	s.nameHeld(l.site.ID)
	for k, e := range s.open {
		e.Inherited = true
		s.open[k] = e
	}
	for i, v := range l.site.Values {
		if err := l.recall(valueState+v.key(), &s.values[i]); err != nil {
			return s, err
		}
		if v.Every == 0 {
			if err := l.recallRecent(v, &s.values[i]); err != nil {
				return s, err
			}
		}
	}
	if err := l.loadUnused(&s); err != nil {
		return s, err
	}
	s.later, err = l.lastLater()
	return s, err
}

// Emit takes one batch. See collectors.Host.
func (l *Ledger) Emit(ctx context.Context, device string, batch []collectors.Reading) error {
	if err := ctx.Err(); err != nil || len(batch) == 0 {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.emit(time.Now(), device, batch)
}

// emit takes one batch at an instant. The lock is held.
func (l *Ledger) emit(now time.Time, device string, batch []collectors.Reading) error {
	d, err := l.begin(now, batch[0])
	if err != nil {
		return err
	}
	for i := range batch {
		d.take(batch[i])
	}
	if d.boot != 0 {
		d.tick()
	}
	if err := l.commit(d, device); err != nil {
		return fmt.Errorf("store what %d readings of %s changed: %w", len(batch), device, err)
	}
	batch = present(batch)
	l.latest.take(batch)
	l.watch.send(batch)
	l.record(d, batch)
	return nil
}

// begin opens a draft. A recording carries its own clock, and a boot count that rises where the recorded box was
// killed: what was only in memory is gone then.
func (l *Ledger) begin(now time.Time, first collectors.Reading) (*draft, error) {
	if first.Boot == 0 {
		d := l.draft(now)
		if !l.ticked { // how long the program was away is told by the clock, never by a reading that may be old
			d.tick()
		}
		return d, nil
	}
	if l.s.replay != 0 && first.Boot != l.s.replay {
		s, err := l.load()
		if err != nil {
			return nil, err
		}
		l.adopt(s)
	}
	d := l.replayed(first.At)
	d.boot, d.mono, d.replay = first.Boot, first.Mono, first.Boot
	return d, nil
}

// Tick lets the ledger hear the clock: a load whose readings have stopped is still ticketed, held tickets leave, and
// silence is noticed.
func (l *Ledger) Tick(now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.draft(now)
	d.tick()
	if err := l.commit(d, ""); err != nil {
		return fmt.Errorf("store what the clock changed: %w", err)
	}
	l.record(d, nil)
	return nil
}

// commit stores what the draft changed, all or nothing, and adopts it. A draft that changed nothing which must
// survive opens no transaction, so that a week of quiet levels does not wear the flash.
func (l *Ledger) commit(d *draft, device string) error {
	if mark := d.tanks.Mark(); mark != d.stored || d.boot != 0 && d.stages() {
		b, err := d.tanks.MarshalBinary()
		if err == nil {
			b, err = pack(b)
		}
		if err != nil {
			return fmt.Errorf("write down the tanks' state: %w", err)
		}
		d.put(tanksState, b)
		d.keepBook()
		d.putPositions(device)
		d.stored = mark
	}
	d.keepValues()
	d.keepUnused()
	if err := errors.Join(d.problems...); err != nil {
		return err
	}
	if d.stages() {
		if err := l.box.Update(d.stage); err != nil {
			return err
		}
	}
	l.adopt(d.state)
	l.ticked = l.ticked || d.ticked
	if d.boot != 0 {
		l.played[device] = position{d.boot, d.mono}
	}
	for _, say := range d.says {
		say()
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

// grade is the clock's; a recording's clock is what it is, also for what a person does while it plays, unless it was
// not set.
func (d *draft) grade() clock.Grade {
	switch {
	case d.replay != 0 && !clock.WasSet(d.now):
		return clock.Unset
	case d.replay != 0:
		return clock.Trusted
	case d.graded == nil:
		d.graded = new(d.l.clock.Grade(d.now))
	}
	return *d.graded
}

// clockDoubted says that nothing may leave that carries the wall clock.
func (d *draft) clockDoubted() bool {
	if d.replay != 0 {
		return !clock.WasSet(d.now)
	}
	return d.l.clock.Doubted(d.now)
}

// astray is how far a clock in doubt is from where it was last believed.
func (d *draft) astray() time.Duration {
	if d.replay != 0 {
		return 0
	}
	return d.l.clock.Deviation(d.now)
}

// deviceOf is the part of a point's name before the slash.
func deviceOf(p collectors.Point) string {
	device, _, _ := strings.Cut(string(p), "/")
	return device
}
