package ledger

import (
	"fmt"
	"math"
	"time"

	"gauger/agent/clock"
	"gauger/collectors"
	"gauger/eventrules"
	"gauger/outbox"
)

// changeEvery: a changed value is sent at once, but not more often than this; with a shorter interval each has its own anyway.
const changeEvery = time.Minute

// lastValue is what was last sent of one of a well's values.
type lastValue struct {
	At     time.Time
	Begin  time.Time     `json:",omitzero"` // of the interval whose record it is; zero: the version before knew none
	Beat   time.Duration `json:",omitzero"` // of the readings before it, which a restart does not know; zero: nor was it known then
	Value  float64
	Recent []byte `json:",omitempty"` // of the version before: the last readings with a device time, eight bytes each
	Page   int    `json:",omitempty"` // of recent, the one that is being filled
	Sent   bool

	recent *recentReadings // nil: nothing was remembered
}

// key names a value's state.
func (v Value) key() string { return v.stream() + "/" + v.Well + "/" + v.Code + "/" + string(v.Point) }

// sendValue sends a reading of value i when it is due: every one where Every is 0, else the first one of each interval, and a
// changed whole number between.
func (d *txn) sendValue(i int, r collectors.Reading) {
	if r.Quality != collectors.Good || !finite(r.Value) {
		return
	}
	v, last := d.l.site.Values[i], d.lastValues[i]
	begin, due := d.valueDue(v, last, &r)
	if !due {
		return
	}
	if last.Sent && last.At.Equal(r.At) && last.Value == r.Value {
		return // the same sample, read once more from a gateway that keeps it
	}
	repeatable := v.Every == 0 && r.At == r.At.Round(0) // it has a device time: a broker may deliver it again
	sum := fingerprint(r)
	if repeatable && last.recent.knows(sum) {
		return
	}
	next := d.copyValue(i)
	if beat, known := d.sincePrevious(last, &r); known {
		next.Beat = beat
	}
	next.At, next.Begin, next.Value, next.Sent = r.At.Round(0), begin, r.Value, true
	if repeatable {
		next.recent.add(sum)
	}
	if d.clockDoubted() {
		own := d.replayBoot == 0 && r.At == r.At.Round(0)
		d.deferRecord(deferredRecord{Value: &deferredValue{Index: v.key(), Number: r.Value, At: r.At.Round(0), Own: own}})
		return
	}
	d.queueValue(v, r.Value, r.At)
}

// valueDue says whether a reading has to be sent, and which interval it stands for.
func (d *txn) valueDue(v Value, last lastValue, r *collectors.Reading) (begin time.Time, valueDue bool) {
	if v.Every == 0 {
		return last.Begin, true
	}
	at := r.At.Round(0)
	if last.At.After(at) && last.At.After(d.now.Round(0).Add(clock.Tolerance)) { // sent while the clock was ahead
		return at, true
	}
	gap := max(0, at.Sub(last.At))
	if beat, known := d.sincePrevious(last, r); known {
		gap = min(gap, beat)
	}
	if begin, valueDue = v.interval(last.begin(), at, gap); valueDue || v.Every <= changeEvery {
		return begin, valueDue
	}
	changed := changeEvery - min(gap/2, changeEvery/12)
	return begin, math.Round(r.Value) != math.Round(last.Value) && at.Sub(last.At) >= changed
}

// sincePrevious is the time since the reading before; after a restart, what it was at the last record.
func (d *txn) sincePrevious(last lastValue, r *collectors.Reading) (time.Duration, bool) {
	if latest, ok := d.l.latest.get(r.Point); ok {
		return max(0, r.At.Round(0).Sub(latest.At.Round(0))), true
	}
	return last.Beat, last.Beat > 0
}

// begin is where the interval of the last record began; the version before sent each Every after the last.
func (l lastValue) begin() time.Time {
	if l.Begin.IsZero() && l.Sent {
		return l.At
	}
	return l.Begin
}

// interval says whether a reading is the first of an interval, and where that begins, given the beginning of the last one
// that has a record; none yet: the grid begins here. Devices are not exact: where an interval has its reading already, one
// that comes before the next and nearer to its beginning than the reading after will be (by the gap since the one before)
// is the next one's. So a device that is read as often as its value is sent has each of its readings sent, wherever its
// beat lies on the grid.
func (v Value) interval(begin, at time.Time, gap time.Duration) (time.Time, bool) {
	since := at.Sub(begin)
	switch {
	case begin.IsZero(), since < -v.Every: // or the clock was set back
		return at, true
	case since >= v.Every:
		return begin.Add(since.Truncate(v.Every)), true
	case v.Every-since <= min(gap, v.Every)/2:
		return begin.Add(v.Every), true
	}
	return begin, false
}

// queueValue makes the record. A value that the integer rule refuses is an episode, not a wrong number.
func (d *txn) queueValue(v Value, number float64, at time.Time) {
	source := string(v.Point) + " as " + v.Code
	k := episodeKey(eventrules.ValueRefused, source)
	body, err := d.l.site.encodeValue(v, number, at)
	if n := len(v.Well); n > outbox.MaxAddress {
		err = fmt.Errorf("the well's id has %d bytes, and no request takes more than %d; correct wells.id", n, outbox.MaxAddress)
	}
	_, known := d.episodes[k]
	switch {
	case err != nil:
		d.applyNotice(collectors.Notice{Rule: eventrules.ValueRefused, Source: source, Note: err.Error(), Since: at})
		return
	case known:
		d.applyNotice(collectors.Notice{Rule: eventrules.ValueRefused, Source: source, Since: at, Until: at})
	}
	d.queue(v.stream(), v.Well, body)
}
