package ledger

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"gauger/agent/clock"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/outbox"
)

// txn is a batch's changes before they are on disk.
type txn struct {
	ticketTxn
	setupTxn
	state
	l             *Ledger
	now           time.Time
	boot          int64         // of the recording that this batch is from; 0: it is live
	mono          time.Duration // of the recording, at this batch
	records       []stagedRecord
	puts          []statePut
	decoded       []uint64 // kept messages that leave the stream of refused ones
	errs          []error
	afterCommit   []func()                  // log lines for after the commit
	ownsEpisodes  bool                      // the map of episodes is this transaction's own
	ticked        bool                      // the detector has heard the clock
	unusedChanged map[collectors.Point]bool // whose count of what is not used this transaction has changed; nil: the counts are the ledger's
	sentValues    []bool                    // the values that this transaction has sent; nil: none
	gradeOnce     *clock.Grade              // of the clock, once it was asked
}

// ticketTxn is the part of a transaction that holds, changes and queues tickets: tickets*.go.
type ticketTxn struct{ *txn }

// setupTxn is the part that lets a changed gauging setup take effect: setup_apply.go, setup_changeover.go.
type setupTxn struct{ *txn }

// stagedRecord is a record on its way to a stream, and the book entry that wants to know its position.
type stagedRecord struct {
	stream string
	record outbox.Record
	ticket *TicketRecord
}

// statePut is one piece of state beside the streams; nil deletes it.
type statePut struct {
	name  string
	value []byte
}

// begin opens a transaction at now, an instant of this run.
func (l *Ledger) begin(now time.Time) *txn {
	d := l.beginAt(now)
	d.followClockStep()
	return d
}

// openTxn is a transaction that has not looked at anything yet.
func (l *Ledger) openTxn(now time.Time) *txn {
	d := &txn{state: l.state, l: l, now: now}
	d.ticketTxn, d.setupTxn = ticketTxn{d}, setupTxn{d}
	return d
}

// beginAt opens a transaction at an instant of a recording.
func (l *Ledger) beginAt(now time.Time) *txn {
	d := l.openTxn(now)
	if d.setupsPending {
		d.applySetups()
	}
	return d
}

// followClockStep moves what is kept by the wall clock when that was set. A transaction that is not stored leaves it to the next one. What
// could not be by the clock as it was is left alone: a box that begins in 1970 has stored the right times of before.
func (d *txn) followClockStep() {
	if d.replayBoot != 0 {
		return
	}
	step := d.l.clock.Offset(d.now) - d.clockOffset
	if step.Abs() < clock.MinStep {
		return
	}
	d.clockOffset += step
	before := d.now.Round(0).Add(-step)
	d.shiftEpisodes(before, step)
	d.shiftInhibitions(before, step)
	d.shiftHeld(before, step)
	d.afterCommit = append(d.afterCommit, func() { d.l.log.Warn().Stringer("step", step).Msg("the wall clock was set") })
}

// commitTo hands everything to the outbox; it runs inside Update.
func (d *txn) commitTo(tx *outbox.Tx) error {
	for _, p := range d.puts {
		tx.Put(p.name, p.value)
	}
	for _, seq := range d.decoded {
		tx.Take(Refused, seq)
	}
	for _, r := range d.records {
		seq := tx.Append(r.stream, r.record)
		if r.ticket == nil {
			continue
		}
		r.ticket.Seq = seq
		b, err := json.Marshal(r.ticket)
		if err != nil {
			return fmt.Errorf("book ticket %s: %w", r.ticket.Number, err)
		}
		tx.Put(ticketKey+r.ticket.Number, b)
	}
	return nil
}

// dirty says whether there is anything to put on disk.
func (d *txn) dirty() bool { return len(d.records)+len(d.puts)+len(d.decoded) > 0 }

// replayPosition is that of the last row that was played.
type replayPosition struct {
	boot int64
	mono time.Duration
}

// putPositions stages how far the recordings are whose rows the tanks' state holds: they go on from there.
func (d *txn) putPositions(device string) {
	if d.boot == 0 {
		return
	}
	all := maps.Clone(d.l.replayPositions)
	all[device] = replayPosition{d.boot, d.mono}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d.putState(memoryKey+name+"/"+collectors.ReplayPosition, fmt.Appendf(nil, "%d %d", all[name].boot, all[name].mono))
	}
}

// longestStateName is the longest name under which the outbox keeps a piece of state, in bytes.
const longestStateName = 512

// stateName is the name of a piece of state, no longer than the outbox takes it: a name that somebody configured must not
// keep a whole batch from being stored.
func stateName(name string) string {
	if len(name) <= longestStateName {
		return name
	}
	hash := hashOf(name)
	return name[:longestStateName-len(hash)] + hash
}

// putState stages a piece of state.
func (d *txn) putState(name string, v []byte) { d.puts = append(d.puts, statePut{stateName(name), v}) }

// putJSON stages a piece of state as JSON.
func (d *txn) putJSON(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		d.leaveOut(name, err)
		return
	}
	d.putState(name, b)
}

// queue stages a record for a stream.
func (d *txn) queue(stream, address string, body []byte) {
	if len(address) > outbox.MaxAddress {
		d.leaveOut(stream+" to "+address, fmt.Errorf("the id has %d characters; the longest that can be sent to has %d", len(address), outbox.MaxAddress))
		return
	}
	d.records = append(d.records, stagedRecord{stream: stream, record: outbox.Record{
		Address: address, Body: body, At: d.now.Round(0), Clock: byte(d.grade()), Config: d.l.site.Config,
	}})
}

// routes lead from one point to everything that its readings count for.
type routes struct {
	inputs []detectorInput
	rules  []int
	values []int
	meters []int // tanks whose production it counts
}

// detectorInput is a point's place in the detector.
type detectorInput struct {
	tank int
	kind tank.Kind
}

// routes turns the site's settings round: from each point to what it feeds.
func (s Site) routes() map[collectors.Point]*routes {
	m := map[collectors.Point]*routes{}
	at := func(p collectors.Point) *routes {
		if m[p] == nil {
			m[p] = &routes{}
		}
		return m[p]
	}
	for i, t := range s.Tanks {
		for _, in := range []struct {
			point collectors.Point
			kind  tank.Kind
		}{
			{t.Level, tank.Level}, {t.Valve, tank.Valve}, {t.Interface, tank.Interface}, {t.Top.Point, tank.TopTemperature},
			{t.Bottom.Point, tank.BottomTemperature}, {t.Gravity.Point, tank.Gravity}, {t.BSW.Point, tank.BSW},
		} {
			if in.point != "" {
				f := at(in.point)
				f.inputs = append(f.inputs, detectorInput{i, in.kind})
			}
		}
	}
	for i, t := range s.Tanks {
		if t.Production != "" {
			at(t.Production).meters = append(at(t.Production).meters, i)
		}
	}
	for i, r := range s.Rules {
		at(r.Point).rules = append(at(r.Point).rules, i)
	}
	for i, v := range s.Values {
		at(v.Point).values = append(at(v.Point).values, i)
	}
	return m
}

// apply lets one reading have its effects.
func (d *txn) apply(r collectors.Reading) {
	if r.Past {
		d.applyHistorical(r)
		return
	}
	r = d.withTime(r)
	if r.Quality == collectors.Good {
		d.closeRecovered(r)
	}
	f := d.l.routes[r.Point]
	if f == nil {
		return
	}
	if r.AgeUnknown {
		d.countUnused(r)
	}
	for _, i := range f.meters {
		d.meterRead(i, r)
	}
	for _, in := range f.inputs {
		d.measure(in, r)
	}
	for _, i := range f.rules {
		d.applyRule(i, r)
	}
	for _, i := range f.values {
		d.sendValue(i, r)
	}
}

// withTime gives a reading that has no time the batch's.
func (d *txn) withTime(r collectors.Reading) collectors.Reading {
	if r.At.IsZero() {
		r.At = d.now
	}
	return r
}

// measure gives the detector one reading, in its units.
func (d *txn) measure(in detectorInput, r collectors.Reading) {
	x := tank.Input{Kind: in.kind, Tank: in.tank, Value: r.Value, Good: r.Quality == collectors.Good && finite(r.Value)}
	d.stampInput(&x, r)
	switch in.kind {
	case tank.Level:
		if !d.convertLevel(in.tank, r, &x) {
			return
		}
	case tank.Interface:
		g := &d.setups[in.tank]
		if g.Interface != d.l.configured[in.tank].Interface {
			return // it is another's until the load is over
		}
		g.interfaceSetting().toInches(r, &x)
	case tank.TopTemperature, tank.BottomTemperature:
		x.Value = fahrenheit(r.Value, r.Unit)
	case tank.Gravity:
		x.Value = specificGravity(r.Value, r.Unit)
	}
	d.stepDetector(x)
}

// stepDetector moves the detector on and books what came of it.
func (d *txn) stepDetector(x tank.Input) {
	var out []tank.Outcome
	d.tanks, out = d.detector.Next(d.tanks, x)
	d.applyOutcomes(x, out)
}

// applyOutcomes books what the detector made of an input.
func (d *txn) applyOutcomes(x tank.Input, out []tank.Outcome) {
	for _, o := range out {
		if o.Load != nil {
			d.holdLoad(*o.Load)
		}
		if o.Event != nil && !d.foldedIntoInhibition(*o.Event) && !d.tankBook.HasReported(d.l.site.index(o.Event.Tank), *o.Event) {
			d.queueTankEvent(*o.Event)
		}
		if o.Correction != nil {
			d.applyCorrection(*o.Correction)
		}
	}
	d.updateBook(x, out)
	d.journalOutcomes(out)
}

// clockTick is the clock's own turn.
func (d *txn) clockTick() {
	x := tank.Input{Kind: tank.Tick, At: d.now.Round(0), Mono: d.mono, Boot: d.boot}
	if d.boot == 0 {
		x.Mono, x.Boot, x.Box, x.One = d.l.mono(d.now), d.l.runID, d.l.boxBoot, true
	}
	d.stepDetector(x)
	d.ticked = true
	if !d.clockDoubted() {
		d.capDeadlines()
	}
	d.tellLongEpisodes()
	d.applyRulesByClock()
	d.closeInhibitions()
	d.releaseDue()
	d.queueUnusedEvent()
	d.queueDeferred()
}

// capDeadlines brings what was to come near again: it was stored by a clock that was ahead, and set right while the program was
// down. Nothing is further away than its own length.
func (d *txn) capDeadlines() {
	now := d.now.Round(0)
	d.capHeld(now)
	d.capInhibitions(now)
	for k, e := range d.episodes {
		if e.Since.After(now.Add(clock.Tolerance)) {
			d.ownEpisodes()
			e.Since, e.Over = now, time.Time{}
			d.episodes[k] = e
			d.putEpisodes()
		}
	}
}

// stampInput puts a reading on the wall clock and on the clock that never steps. A device's own time has no monotonic clock:
// the reading has that of its arrival, and the detector places it by its stamp beside the device's others. Were its age
// told by the two wall clocks, a step of the box's would move what was read. A stamp that cannot be is that of its arrival.
func (d *txn) stampInput(x *tank.Input, r collectors.Reading) {
	if r.Boot != 0 {
		x.At, x.Mono, x.Boot = r.At, r.Mono, r.Boot
		return
	}
	x.Boot, x.Box = d.l.runID, d.l.boxBoot
	if r.At != r.At.Round(0) {
		x.At, x.Mono, x.One = r.At.Round(0), d.l.mono(r.At), true
		return
	}
	x.At, x.Mono = r.At, d.l.mono(d.now)
	if age := d.now.Round(0).Add(-d.astray()).Sub(r.At); age < -time.Minute || age > 24*time.Hour {
		x.At, x.One = d.now.Round(0), true
	}
}

// ownEpisodes makes the episodes this transaction's own before the first change.
func (d *txn) ownEpisodes() {
	if !d.ownsEpisodes {
		d.episodes, d.ownsEpisodes = maps.Clone(d.episodes), true
	}
}

// copyValue makes the last record of value i this transaction's own, to be changed.
func (d *txn) copyValue(i int) *lastValue {
	if d.sentValues == nil {
		d.sentValues, d.lastValues = make([]bool, len(d.lastValues)), slices.Clone(d.lastValues)
	}
	v := &d.lastValues[i]
	if !d.sentValues[i] {
		d.sentValues[i] = true
		pages := recentReadings{}
		if v.recent != nil {
			pages = *v.recent
		}
		v.recent = &pages
	}
	return v
}
