package ledger

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"gauger/eventrules"
)

// deferredRecord is a record that waits for the clock to be believed, with the instant on the clock that never steps.
type deferredRecord struct {
	Event *Event         `json:",omitempty"`
	Value *deferredValue `json:",omitempty"`
	Boot  int64          // of the program's run
	Box   int64          `json:",omitempty"` // boot of the box; 0: not known
	Zero  time.Time      // what the wall clock said when the monotonic one was 0, by the clock of then

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

// deferRecord keeps a record under a key of its own until the clock is believed.
func (d *txn) deferRecord(p deferredRecord) {
	d.lastDeferred++
	p.Boot, p.Box, p.Zero = d.l.runID, d.l.boxBoot, d.monotonicZero()
	d.putJSON(deferredKey+fmt.Sprintf("%012d", d.lastDeferred), p)
}

// monotonicZero is the wall clock's time of an instant that stays: the boot of the box, the beginning of this run where that is
// not known, or that of a recording.
func (d *txn) monotonicZero() time.Time {
	if d.replayBoot != 0 {
		box, _ := d.tanks.Zeros(-1)
		return box
	}
	return d.now.Round(0).Add(-d.l.mono(d.now))
}

// lastDeferred finds the highest key in use; 0 when nothing waits.
func (l *Ledger) lastDeferred() (uint64, error) {
	names, err := l.box.Names(deferredKey)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	return strconv.ParseUint(names[len(names)-1][len(deferredKey):], 10, 64)
}

// queueDeferred dates what waited for the clock, once it is believed. A record of another boot of the box keeps the time that
// it has: how far that clock was off nobody knows, and its note says so.
func (d *txn) queueDeferred() {
	if d.lastDeferred == 0 || d.clockDoubted() || !d.tanks.Agrees(d.now) {
		return
	}
	names, err := d.l.box.Names(deferredKey)
	if err != nil {
		d.errs = append(d.errs, fmt.Errorf("look for records that wait for the clock: %w", err))
		return
	}
	lost := map[string]int{}
	for _, name := range names {
		var p deferredRecord
		b, err := d.l.box.Get(name)
		if err == nil {
			err = json.Unmarshal(b, &p)
		}
		if err != nil {
			d.l.log.Error().Err(err).Str("record", name).Msg("a record that waited for the clock cannot be read")
		}
		d.putState(name, nil)
		d.queueRedated(p, lost)
	}
	d.lastDeferred = 0
	now := d.now.Round(0)
	for _, index := range slices.Sorted(maps.Keys(lost)) { // a value without a time helps nobody, but that it was lost must be said
		d.queueEvent(Event{Rule: eventrules.ValueRefused, Start: now, End: now, Note: fmt.Sprintf(
			"%s: %s read while the clock was not believed, and the box was booted since, so that nobody knows when; not sent", index, Plural(lost[index], "value"))})
	}
}

// queueRedated queues a postponed record, its times moved by as much as its clock was set since, where that is known.
func (d *txn) queueRedated(p deferredRecord, lost map[string]int) {
	same := p.Boot == d.l.runID || p.Box != 0 && p.Box == d.l.boxBoot
	off := d.monotonicZero().Sub(p.Zero)
	if e := p.Event; e != nil {
		switch {
		case !same:
			off = 0
			e.Note += " (by a clock that was not believed)"
		case p.Clocks != nil:
			off = p.Clocks.shift(d.clockZeros(p.Tank))
		}
		e.Start, e.End = e.Start.Add(off), e.End.Add(off)
		d.queueEvent(*e)
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
	for _, v := range d.l.site.Values {
		if v.key() == p.Value.Index {
			d.queueValue(v, p.Value.Number, p.Value.At.Add(off))
		}
	}
}
