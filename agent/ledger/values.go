package ledger

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"time"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/eventrules"
	"gauger/collectors"
	"gauger/outbox"
)

// changeEvery: a changed value is sent at once, but not more often than this; with a shorter interval each has its own anyway.
const changeEvery = time.Minute

// lastValue is the last record of one of a well's values.
type lastValue struct {
	At     time.Time
	Begin  time.Time     `json:",omitzero"` // of the interval whose record it is; zero: the version before knew none
	Beat   time.Duration `json:",omitzero"` // of the readings before it, which a restart does not know; zero: nor was it known then
	Value  float64
	Recent []byte `json:",omitempty"` // of the version before: the last readings with a device time, eight bytes each
	Page   int    `json:",omitempty"` // of recent, the one that is being filled
	Sent   bool
	Newest time.Time `json:",omitzero"` // of the readings in recent

	recent *recentReadings // nil: nothing was remembered
}

// key names a value's state.
func (v *Value) key() string { return v.stream() + "/" + v.Well + "/" + v.Code + "/" + string(v.Point) }

// valueName is what a value's source, its episode of refusals and its state are called.
type valueName struct{ source, episode, state string }

// valueNamesOf are those of a site's values.
func valueNamesOf(values []Value) []valueName {
	all := make([]valueName, len(values))
	for i := range values {
		v := &values[i]
		source := string(v.Point) + " as " + v.Code
		all[i] = valueName{source, episodeKey(eventrules.ValueRefused, source), valueKey + v.key()}
	}
	return all
}

// sendValue sends a reading of value i when it is due: every one where Every is 0, else the first one of each interval, and a
// changed whole number between.
func (tx *txn) sendValue(i int, r collectors.Reading) {
	if r.Quality != collectors.Good || !Finite(r.Value) {
		return
	}
	v, last := &tx.l.site.Values[i], &tx.lastValues[i]
	begin, due := tx.valueDue(v, last, &r)
	if !due {
		return
	}
	if last.Sent && last.At.Equal(r.At) && last.Value == r.Value {
		return // the same sample, read once more from a gateway that keeps it
	}
	repeatable := v.Every == 0 && r.At == r.At.Round(0) // it has a device time: a broker may deliver it again
	sum := fingerprint(&r)
	if repeatable && !r.At.After(last.Newest) && last.recent.knows(sum) {
		return
	}
	if tx.lastDeferred >= deferredMost && last.Sent && r.At.Sub(last.At).Abs() < deferredEvery && tx.clockDoubted() {
		return
	}
	beat, known := tx.sincePrevious(last, &r)
	next := tx.copyValue(i)
	if known {
		next.Beat = beat
	}
	next.At, next.Begin, next.Value, next.Sent = r.At.Round(0), begin, r.Value, true
	if repeatable {
		next.recent.remember(sum)
		if r.At.After(next.Newest) {
			next.Newest = r.At
		}
	}
	if tx.clockDoubted() {
		own := tx.replayBoot == 0 && r.At == r.At.Round(0)
		tx.deferRecord(deferredRecord{Value: &deferredValue{Index: v.key(), Number: r.Value, At: r.At.Round(0), Own: own}})
		return
	}
	queued := len(tx.records)
	tx.queueValue(i, r.Value, r.At)
	polled := !r.Asked.IsZero() && tx.boot == 0
	if polled && !repeatable && len(tx.records) > queued && tx.now.Sub(tx.l.started) >= tx.l.site.Linger && tx.l.site.Linger > 0 {
		tx.linger(i) // but not the first of a run: whoever has just started it wants to see them arrive
	}
}

// valueDue says whether a reading has to be sent, and which interval it stands for.
func (tx *txn) valueDue(v *Value, last *lastValue, r *collectors.Reading) (begin time.Time, due bool) {
	if v.Every == 0 {
		return last.Begin, true
	}
	at := r.At.Round(0)
	if last.At.After(at) && last.At.After(tx.now.Round(0).Add(clock.Tolerance)) { // sent while the clock was ahead
		return at, true
	}
	gap := max(0, at.Sub(last.At))
	if beat, known := tx.sincePrevious(last, r); known {
		gap = min(gap, beat)
	}
	if begin, due = v.interval(last.intervalBegin(), at, gap); due || v.Every <= changeEvery {
		return begin, due
	}
	changed := changeEvery - min(gap/2, changeEvery/12)
	return begin, math.Round(r.Value) != math.Round(last.Value) && at.Sub(last.At) >= changed
}

// sincePrevious is the time since the reading before; after a restart, what it was at the last record.
func (tx *txn) sincePrevious(last *lastValue, r *collectors.Reading) (time.Duration, bool) {
	if latest, ok := tx.l.latest.get(r.Point); ok {
		return max(0, r.At.Round(0).Sub(latest.At.Round(0))), true
	}
	return last.Beat, last.Beat > 0
}

// intervalBegin of the last record's interval; the version before sent each Every after the last.
func (l *lastValue) intervalBegin() time.Time {
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
func (v *Value) interval(begin, at time.Time, gap time.Duration) (time.Time, bool) {
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

// queueValue makes the record of value i. A number that the integer rule refuses is an episode, not a wrong number.
func (tx *txn) queueValue(i int, number float64, at time.Time) {
	v, name := &tx.l.site.Values[i], &tx.l.valueNames[i]
	if tx.bodies == nil {
		tx.bodies, tx.l.room.bodies = tx.l.room.bodies, nil
	}
	begin := len(tx.bodies)
	bodies, err := v.appendTo(tx.bodies, &tx.l.site.Wire, number, at)
	if n := len(v.Well); n > outbox.MaxAddress {
		err = fmt.Errorf("the well's id has %d bytes, and no request takes more than %d; correct wells.id", n, outbox.MaxAddress)
	}
	_, known := tx.episodes[name.episode]
	switch {
	case err != nil:
		tx.applyNotice(collectors.Notice{Rule: eventrules.ValueRefused, Source: name.source, Note: err.Error(), Since: at})
		return
	case known:
		tx.applyNotice(collectors.Notice{Rule: eventrules.ValueRefused, Source: name.source, Since: at, Until: at})
	}
	tx.bodies = bodies
	tx.queue(v.stream(), v.Well, bodies[begin:len(bodies):len(bodies)])
}

// A broker delivers again what it has no acknowledgement of: as many messages as were on the way when the link broke or
// gauger was killed, which is at most what two commits take. So the readings of a value that is sent every time are
// remembered in pages of their own, of which a commit rewrites the last.
const (
	recentPages = 20
	recentPage  = 128 // readings
)

// recentReadings are the readings that were sent last, by their fingerprints.
type recentReadings struct {
	pages [recentPages][]uint64
	at    int // the page that is being filled
}

// remember remembers a reading, and forgets the oldest page when there is no room.
func (r *recentReadings) remember(sum uint64) {
	if len(r.pages[r.at]) >= recentPage {
		r.at = (r.at + 1) % recentPages
		r.pages[r.at] = nil
	}
	if r.pages[r.at] == nil {
		r.pages[r.at] = make([]uint64, 0, recentPage)
	}
	// What the state before sees of the page ends before this place, and a transaction that was given up is never continued.
	r.pages[r.at] = append(r.pages[r.at], sum)
}

// knows says whether a reading was sent before.
func (r *recentReadings) knows(sum uint64) bool {
	if r == nil {
		return false
	}
	return slices.ContainsFunc(r.pages[:], func(page []uint64) bool { return slices.Contains(page, sum) })
}

// fingerprint tells a reading from another by its device's time and its value.
func fingerprint(r *collectors.Reading) uint64 {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(r.At.UnixNano()))
	binary.BigEndian.PutUint64(b[8:], math.Float64bits(r.Value))
	h := fnv.New64a()
	h.Write(b[:])
	return h.Sum64()
}

func encodePage(page []uint64) []byte {
	b := make([]byte, 0, 8*len(page))
	for _, sum := range page {
		b = binary.BigEndian.AppendUint64(b, sum)
	}
	return b
}

func decodePage(b []byte) []uint64 {
	page := make([]uint64, 0, max(recentPage, len(b)/8))
	for ; len(b) >= 8; b = b[8:] {
		page = append(page, binary.BigEndian.Uint64(b))
	}
	return page
}

// pageName is the key of a page of a value's readings.
func pageName(v *Value, page int) string {
	return stateName(recentKey + v.key() + "/" + strconv.Itoa(page))
}

// loadRecent reads the pages of a value. The version before kept 256 readings with the value itself.
func (k *smallState) loadRecent(v *Value, last *lastValue) error {
	last.recent = &recentReadings{}
	for page := range last.recent.pages {
		b, err := k.box.Get(pageName(v, page))
		if err != nil {
			return fmt.Errorf("read what was sent of %s: %w", v.Point, err)
		}
		if b != nil {
			last.recent.pages[page] = decodePage(b)
		}
	}
	if last.recent.at = last.Page; last.Page < 0 || last.Page >= recentPages {
		last.recent.at = 0
	}
	for _, sum := range decodePage(last.Recent) {
		last.recent.remember(sum)
	}
	last.Recent = nil
	if last.Newest.IsZero() && last.Sent { // the version before did not say, and a device may have told the oldest last
		last.Newest = last.At.AddDate(0, 1, 0)
	}
	return nil
}

// putValues stages what was last sent of the values that this transaction has sent. (Each is put apart, lest every poll have the room
// for it on its stack: 4 KiB do, and a site of a thousand lines has a thousand.)
func (tx *txn) putValues() {
	for i, sent := range tx.sentValues {
		if sent {
			tx.putValue(i)
		}
	}
}

func (tx *txn) putValue(i int) {
	v, last := &tx.l.site.Values[i], &tx.lastValues[i]
	var old recentReadings
	if known := tx.l.state.lastValues[i].recent; known != nil {
		old = *known
	}
	last.Page = last.recent.at
	tx.putJSON(tx.l.valueNames[i].state, last)
	for n, page := range last.recent.pages {
		if !slices.Equal(page, old.pages[n]) {
			tx.putState(pageName(v, n), encodePage(page))
		}
	}
}

// copyValue makes the last record of value i this transaction's own, to be changed.
func (tx *txn) copyValue(i int) *lastValue {
	if tx.sentValues == nil {
		tx.sentValues, tx.lastValues = make([]bool, len(tx.lastValues)), slices.Clone(tx.lastValues)
	}
	v := &tx.lastValues[i]
	if !tx.sentValues[i] {
		tx.sentValues[i] = true
		pages := recentReadings{}
		if v.recent != nil {
			pages = *v.recent
		}
		v.recent = &pages
	}
	return v
}

// applyHistorical takes a reading of the past. It says nothing about now, so tanks, rules and meters do not see it; a value of
// which every reading is a record has it under its own time.
func (tx *txn) applyHistorical(r collectors.Reading) {
	f := tx.l.routes[r.Point]
	if f == nil || r.At.IsZero() {
		return
	}
	for _, i := range f.values {
		if tx.l.site.Values[i].Every == 0 {
			tx.sendValue(i, r)
		}
	}
}

// applyRedecoded takes a reading that could not be decoded when it came. It is one of the past, but nothing was sent of it then: a
// value that is sent now and then has it as well, as often as it would have had it; last are the reading before and its
// interval.
func (tx *txn) applyRedecoded(r collectors.Reading, last map[int]lastValue) {
	tx.applyHistorical(r)
	f := tx.l.routes[r.Point]
	if f == nil {
		return
	}
	for _, i := range f.values {
		v, before := &tx.l.site.Values[i], last[i]
		if v.Every == 0 {
			continue
		}
		begin, due := v.interval(before.Begin, r.At, max(0, r.At.Sub(before.At)))
		last[i] = lastValue{At: r.At, Begin: begin}
		if due {
			tx.queueValue(i, r.Value, r.At)
		}
	}
}

// appendTo makes the wire JSON of one of a well's values.
func (v *Value) appendTo(to []byte, w *cloud.Wire, number float64, at time.Time) ([]byte, error) {
	if !v.Target {
		return w.AppendTagValues(to, v.Code, cloud.Value{Value: number, At: at})
	}
	return w.AppendTargets(to, v.Code, cloud.Value{Value: number, At: at})
}
