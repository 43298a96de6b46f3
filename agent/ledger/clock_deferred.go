package ledger

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/agent/tank"
)

// deferredRecord is a record that waits for the clock to be believed, with the instant on the clock that never steps.
type deferredRecord struct {
	Event *Event           `json:",omitempty"`
	Value *deferredValue   `json:",omitempty"`
	Moved *tank.Correction `json:",omitempty"` // of the times of a ticket that has left
	Boot  int64            // of the program's run
	Box   int64            `json:",omitempty"` // boot of the box; 0: not known
	Zero  time.Time        // what the wall clock said when the monotonic one was 0, by the clock of then

	Tank   string      `json:",omitempty"` // that the event is about, and
	Clocks *ClockZeros `json:",omitempty"` // how its clocks stood; nil: it is about none
}

// deferredValue is a well's value of a time when the clock was not believed.
type deferredValue struct {
	Index  string
	Number float64
	At     time.Time
	Own    bool `json:",omitempty"` // At is by the device's own clock
}

// clockJudgement is what is thought of the clock at a transaction's instant: asking costs a look at the disk.
type clockJudgement struct {
	grade     clock.Grade
	doubted   bool
	deviation time.Duration // of a clock in doubt
	against   time.Duration // by how much the service says that it is wrong
}

// judgeClock judges once. A recording's clock is what it is, also for what a person does while it plays, unless it was not set.
func (tx *txn) judgeClock() *clockJudgement {
	switch {
	case tx.replayBoot != 0 && clock.WasSet(tx.now):
		return &clockJudgement{grade: clock.Trusted}
	case tx.replayBoot != 0:
		return &clockJudgement{grade: clock.Unset, doubted: true}
	case tx.clockOnce == nil:
		tx.clockOnce = &clockJudgement{tx.l.clock.Grade(tx.now), tx.l.clock.Doubted(tx.now), tx.l.clock.Deviation(tx.now), tx.l.clock.Contradiction(tx.now)}
	}
	return tx.clockOnce
}

// Each record that waits for the clock is a commit of its own. A clock may be in doubt for weeks where nobody comes: when so many wait, a
// value waits so often at most, and the card lives.
const (
	deferredMost  = 1000
	deferredEvery = 10 * time.Minute
)

// deferRecord keeps a record under a key of its own until the clock is believed.
func (tx *txn) deferRecord(p deferredRecord) {
	tx.lastDeferred++
	p.Boot, p.Box, p.Zero = tx.l.runID, tx.l.boxBoot, tx.monotonicZero()
	tx.putJSON(deferredKey+fmt.Sprintf("%012d", tx.lastDeferred), p)
}

// monotonicZero is the wall clock's time of an instant that stays: the boot of the box, the beginning of this run where that is
// not known, or that of a recording.
func (tx *txn) monotonicZero() time.Time {
	if tx.replayBoot != 0 {
		box, _ := tx.tanks.Zeros(-1)
		return box
	}
	return tx.now.Round(0).Add(-tx.l.mono(tx.now))
}

// lastDeferred finds the highest key in use; 0 when nothing waits.
func (k *smallState) lastDeferred() (uint64, error) {
	names, err := k.box.Names(deferredKey)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	return strconv.ParseUint(names[len(names)-1][len(deferredKey):], 10, 64)
}

// queueDeferred dates what waited for the clock, once it is believed. A record of another boot of the box keeps the time that
// it has: how far that clock was off nobody knows, and its note says so.
func (tx *txn) queueDeferred() {
	if tx.lastDeferred == 0 || tx.clockDoubted() || !tx.tanks.Agrees(tx.now) {
		return
	}
	names, err := tx.l.box.Names(deferredKey)
	if err != nil {
		tx.errs = append(tx.errs, fmt.Errorf("look for records that wait for the clock: %w", err))
		return
	}
	lost := map[string]int{}
	for _, name := range names {
		var p deferredRecord
		b, err := tx.l.box.Get(name)
		if err == nil {
			err = json.Unmarshal(b, &p)
		}
		if err != nil {
			tx.l.log.Error().Err(err).Str("record", name).Msg("a record that waited for the clock cannot be read")
		}
		tx.putState(name, nil)
		tx.queueRedated(p, lost)
	}
	tx.lastDeferred = 0
	now := tx.now.Round(0)
	for _, index := range slices.Sorted(maps.Keys(lost)) { // a value without a time helps nobody, but that it was lost must be said
		tx.queueEvent(Event{Rule: eventrules.ValueRefused, Start: now, End: now, Note: fmt.Sprintf(
			"%s: %s read while the clock was not believed, and the box was booted since, so that nobody knows when; not sent", index, Plural(lost[index], "value"))})
	}
}

// queueRedated queues a postponed record, its times moved by as much as its clock was set since, where that is known.
func (tx *txn) queueRedated(p deferredRecord, lost map[string]int) {
	same := p.Boot == tx.l.runID || p.Box != 0 && p.Box == tx.l.boxBoot
	off := tx.monotonicZero().Sub(p.Zero)
	if e := p.Event; e != nil {
		switch {
		case !same:
			off = 0
			e.Note += " (by a clock that was not believed)"
		case p.Clocks != nil:
			off = p.Clocks.shift(tx.clockZeros(p.Tank))
		}
		e.Start, e.End = e.Start.Add(off), e.End.Add(off)
		tx.queueEvent(*e)
	}
	if c := p.Moved; c != nil && same {
		off = p.Clocks.shift(tx.clockZeros(c.Tank))
		c.Start, c.End = c.Start.Add(off), c.End.Add(off)
		tx.correct(*c)
	}
	if p.Value == nil {
		return
	}
	if p.Value.Own {
		same, off = true, 0
	}
	if !same {
		lost[p.Value.Index]++
		return
	}
	for i := range tx.l.site.Values {
		if tx.l.site.Values[i].key() == p.Value.Index {
			tx.queueValue(i, p.Value.Number, p.Value.At.Add(off))
		}
	}
}

// onBoxClock puts times of a tank on the box's clock where that was set for the first time and the tank's has not followed.
// It returns the clocks that the times are by.
func (tx *txn) onBoxClock(id string, start, end *time.Time) *ClockZeros {
	c := tx.clockZeros(id)
	if off := c.Box.Sub(c.Own); !clock.WasSet(*start) && !c.Own.IsZero() && clock.WasSet(start.Add(off)) {
		*start, *end, c.Own = start.Add(off), end.Add(off), c.Box
	}
	return c
}

// clockZeros are those of a tank as they stand.
func (tx *txn) clockZeros(id string) *ClockZeros {
	box, own := tx.tanks.Zeros(tx.l.site.index(id))
	return &ClockZeros{box, own}
}
