package agent

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// postponed is a record that waits for the clock to be set, with the instant on the clock that never steps.
type postponed struct {
	Event *Event      `json:",omitempty"`
	Value *laterValue `json:",omitempty"`
	Boot  int64       // of the program's run
	Zero  time.Time   // what the wall clock said when the run began, by the clock of then
}

// laterValue is a well's value of a time when the clock was not set.
type laterValue struct {
	Index  string
	Number float64
	At     time.Time
}

// postpone keeps a record under a key of its own until the clock is set.
func (d *draft) postpone(p postponed) {
	d.later++
	p.Boot, p.Zero = d.l.boot, d.zero()
	d.keep(laterState+fmt.Sprintf("%012d", d.later), p)
}

// zero is what the wall clock says of an instant that stays: the beginning of this run, or of a recording.
func (d *draft) zero() time.Time {
	if d.replay != 0 {
		box, _ := d.tanks.Zeros(-1)
		return box
	}
	return d.now.Round(0).Add(-d.now.Sub(d.l.born))
}

// lastLater finds the highest key in use; 0 when nothing waits.
func (l *Ledger) lastLater() (uint64, error) {
	names, err := l.box.Names(laterState)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	return strconv.ParseUint(names[len(names)-1][len(laterState):], 10, 64)
}

// flushLater dates what waited for the clock, once it is set. A record of another run keeps the time that it has: how
// far that clock was off nobody knows, and its note says so.
func (d *draft) flushLater() {
	if d.later == 0 || d.grade() == Unset || !d.tanks.Agrees(d.now) {
		return
	}
	names, err := d.l.box.Names(laterState)
	if err != nil {
		d.problems = append(d.problems, fmt.Errorf("look for records that wait for the clock: %w", err))
		return
	}
	zero := d.zero()
	for _, name := range names {
		var p postponed
		b, err := d.l.box.Get(name)
		if err == nil {
			err = json.Unmarshal(b, &p)
		}
		if err != nil {
			d.l.log.Error().Err(err).Str("record", name).Msg("a record that waited for the clock cannot be read")
		}
		d.put(name, nil)
		d.dated(p, zero.Sub(p.Zero))
	}
	d.later = 0
}

// dated queues a postponed record, its times moved by off where that is known.
func (d *draft) dated(p postponed, off time.Duration) {
	same := p.Boot == d.l.boot
	if !same {
		off = 0
	}
	if e := p.Event; e != nil {
		e.Start, e.End = e.Start.Add(off), e.End.Add(off)
		if !same {
			e.Note += " (the clock was not set at the time)"
		}
		d.event(*e)
	}
	switch {
	case p.Value == nil:
		return
	case !same: // a value without a time helps nobody, but that it was lost must be said
		now := d.now.Round(0)
		d.event(Event{Rule: "value-refused", Start: now, End: now, Note: fmt.Sprintf(
			"%s: %g was read while the clock was not set, and gauger was restarted since, so that nobody knows when; it was not sent", p.Value.Index, p.Value.Number)})
		return
	}
	for _, v := range d.l.site.Values {
		if v.key() == p.Value.Index {
			d.queueValue(v, p.Value.Number, p.Value.At.Add(off))
		}
	}
}
