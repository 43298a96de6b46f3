package ledger

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/outbox"
)

// txn is one batch's unit of work: everything that it changes, before that is on disk.
type txn struct {
	state
	l             *Ledger
	now           time.Time
	boot          int64         // of the recording that this batch is from; 0: it is live
	mono          time.Duration // of the recording, at this batch
	records       []stagedRecord
	puts          []statePut
	decoded       []DecodedMessage // kept messages that leave the stream of refused ones
	errs          []error
	afterCommit   []func()                  // log lines for after the commit
	ownsEpisodes  bool                      // the map of episodes is this transaction's own
	batch         []collectors.Reading      // the newest readings from now on, once it is on disk
	recorded      bool                      // it goes to the recorder
	flush         bool                      // what lingers goes with it
	unusedChanged map[collectors.Point]bool // whose count of what is not used this transaction has changed; nil: the counts are the ledger's
	sentValues    []bool                    // the values that this transaction has sent; nil: none
	clockOnce     *clockJudgement           // once it was asked
	bodies        []byte                    // of the values' records
}

// stagedRecord is a record on its way to a stream, and the ticket record that wants to know its position.
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

// followClockStep moves what is kept by the wall clock when that was set. A transaction that is not stored leaves it to the next one. What
// could not be by the clock as it was is left alone: a box that begins in 1970 has stored the right times of before.
func (tx *txn) followClockStep() {
	if tx.replayBoot != 0 {
		return
	}
	step := tx.l.clock.Offset(tx.now) - tx.clockOffset
	if step.Abs() < clock.MinStep {
		return
	}
	tx.clockOffset += step
	before := tx.now.Round(0).Add(-step)
	tx.shiftEpisodes(before, step)
	tx.shiftInhibitions(before, step)
	tx.held.shift(before, step, &tx.l.site)
	tx.afterCommit = append(tx.afterCommit, func() { tx.l.log.Warn().Stringer("step", step).Msg("the wall clock was set") })
}

// dirty says whether there is anything to put on disk.
func (tx *txn) dirty() bool { return len(tx.records)+len(tx.puts)+len(tx.decoded) > 0 }

// replayPosition is that of the last row that was played.
type replayPosition struct {
	boot int64
	mono time.Duration
}

// putPositions stages how far the recordings are whose rows the tanks' state holds: they go on from there.
func (tx *txn) putPositions() {
	if tx.boot == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(tx.replayPositions)) {
		at := tx.replayPositions[name]
		tx.putState(memoryKey+name+"/"+collectors.ReplayPosition, fmt.Appendf(nil, "%d %d", at.boot, at.mono))
	}
}

// putState stages a piece of state.
func (tx *txn) putState(name string, v []byte) {
	tx.puts = append(tx.puts, statePut{stateName(name), v})
}

// putJSON stages a piece of state as JSON.
func (tx *txn) putJSON(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		tx.leaveOut(name, err)
		return
	}
	tx.putState(name, b)
}

// queue stages a record for a stream.
func (tx *txn) queue(stream, address string, body []byte) {
	if len(address) > outbox.MaxAddress {
		tx.leaveOut(stream+" to "+address, fmt.Errorf("the id has %d characters; the longest that can be sent to has %d", len(address), outbox.MaxAddress))
		return
	}
	if tx.records == nil {
		tx.records, tx.l.room.records = tx.l.room.records, nil
	}
	tx.records = append(tx.records, stagedRecord{stream: stream, record: outbox.Record{
		Address: address, Body: body, At: tx.now.Round(0), Clock: byte(tx.grade()), Config: tx.l.site.Config,
	}})
}

// apply lets one reading have its effects.
func (tx *txn) apply(of *collectors.Reading) { // by its place: a reading is large, and most are for nobody
	if of.Past {
		tx.applyHistorical(*of)
		return
	}
	if of.Quality == collectors.Good && len(tx.episodes) > 0 {
		tx.closeRecovered(of.Point)
	}
	f := tx.l.routes[of.Point]
	if f == nil {
		return
	}
	r := tx.withTime(*of)
	if r.AgeUnknown {
		tx.countUnused(r)
	}
	for _, i := range f.meters {
		tx.meterRead(i, r)
	}
	for _, in := range f.inputs {
		tx.measure(in, r)
	}
	for _, i := range f.rules {
		tx.applyRule(i, r)
	}
	for _, i := range f.values {
		tx.sendValue(i, r)
	}
}

// withTime gives a reading that has no time the batch's.
func (tx *txn) withTime(r collectors.Reading) collectors.Reading {
	if r.At.IsZero() {
		r.At = tx.now
	}
	return r
}

// measure gives the detector one reading, in its units.
func (tx *txn) measure(in detectorInput, r collectors.Reading) {
	if saysNothing(r) {
		return
	}
	x := tank.Input{Kind: in.kind, Tank: in.tank, Value: r.Value, Good: r.Quality == collectors.Good && Finite(r.Value)}
	tx.stampInput(&x, r)
	switch in.kind {
	case tank.Level:
		if !tx.measureLevel(in.tank, r, &x) {
			return
		}
	case tank.Interface:
		g := &tx.setups.inForce[in.tank]
		if g.Interface != tx.setups.configured[in.tank].Interface {
			return // it is another's until the load is over
		}
		g.interfaceSetting().toInches(r, &x)
	case tank.TopTemperature, tank.BottomTemperature, tank.Gravity, tank.BSW: // one that cannot be is told of a load where it is left out
		x.Value, _ = Measured(figureKeys[in.kind], r.Value, r.Unit)
	}
	tx.stepDetector(x)
}

// measureLevel gives an input the inches of a reading, and lets a change of the setup take effect that the reading has decided on;
// false: it is not for the detector.
func (tx *txn) measureLevel(i int, r collectors.Reading, x *tank.Input) bool {
	level := tx.setups.convertLevel(tx.tanks, i, r, x)
	if level.verdict != nil {
		tx.putVerdict(*level.verdict)
	}
	if !level.apply {
		return level.use
	}
	if tx.tanks.Loading(i) {
		var out []tank.Outcome
		tx.tanks, out = tx.setups.detector.Concluded(tx.tanks, i)
		tx.applyOutcomes(tank.Input{Kind: tank.Level, Tank: i}, out)
	}
	tx.applySetups()
	return level.use
}

// applySetups lets a changed configuration take effect where it can, and tells of it.
func (tx *txn) applySetups() {
	w := setupWork{now: tx.now, tanks: tx.tanks, book: tx.tankBook}
	changed, err := tx.setups.apply(&w)
	if err != nil { // nothing of this transaction is stored
		tx.errs = append(tx.errs, err)
	}
	tx.tanks, tx.tankBook = w.tanks, w.book
	now := tx.now.Round(0)
	lost := mending{At: now}
	for _, n := range w.told {
		if n.event != "" {
			tx.queueDiagnosis(tank.Event{Rule: eventrules.ConfigChanged, Tank: n.tank, Note: n.event, Start: now, End: now})
			if n.lost {
				lost.Text = strings.TrimPrefix(lost.Text+"; "+n.event, "; ")
				tx.l.mended = lost
				tx.putJSON(mendedKey, lost)
			}
		} else {
			tx.held.markForReview(n.tank, n.review)
		}
	}
	if changed {
		tx.putBook()
	}
}

// keptBefore is how long before the first of all inputs a detector's time begins, in site time: a device or a broker may have kept the readings of
// a day, which would lie before its zero.
const keptBefore = 24 * time.Hour

// beginDetector gives a detector that knows nothing the box's clock as it was then, as an earlier run on this boot of the box would have. Where the
// boot is not known, the detector would take the time between for a restart of unknown length.
func (tx *txn) beginDetector() {
	if box, _ := tx.tanks.Zeros(-1); tx.boot != 0 || tx.replayBoot != 0 || tx.l.boxBoot == 0 || tx.tanks.Mark() != 0 || !box.IsZero() {
		return
	}
	before := tx.l.site.scaled(keptBefore)
	tx.tanks, _ = tx.setups.detector.Next(tx.tanks, tank.Input{Kind: tank.Tick, At: tx.now.Round(0).Add(-before), Mono: tx.l.mono(tx.now) - before,
		Boot: tx.l.runID - 1, Box: tx.l.boxBoot, One: true})
}

// stepDetector moves the detector on and books what came of it.
func (tx *txn) stepDetector(x tank.Input) {
	tx.beginDetector()
	var out []tank.Outcome
	tx.tanks, out = tx.setups.detector.Next(tx.tanks, x)
	tx.applyOutcomes(x, out)
}

// applyOutcomes books what the detector made of an input.
func (tx *txn) applyOutcomes(x tank.Input, out []tank.Outcome) {
	out = tx.setups.waterHauled(out)
	for _, o := range out {
		if o.Load != nil {
			tx.holdLoad(*o.Load)
		}
		if o.Event != nil && !tx.foldedIntoInhibition(*o.Event) && !tx.tankBook.HasReported(tx.l.site.index(o.Event.Tank), *o.Event) {
			tx.queueTankEvent(*o.Event)
		}
		if o.Correction != nil {
			tx.correct(*o.Correction)
		}
	}
	tx.updateBook(x, out)
	tx.journalOutcomes(out)
}

// correct takes a correction. Of the times of a ticket that has left it waits for a clock that is in doubt: one that is right is not to be
// called wrong by a clock that is.
func (tx *txn) correct(c tank.Correction) {
	if c.Note == "" && c.Settled && tx.clockDoubted() && tx.held.ofLoad(c.Tank, c.Began) < 0 {
		tx.deferRecord(deferredRecord{Moved: &c, Tank: c.Tank, Clocks: tx.clockZeros(c.Tank)})
		return
	}
	tx.applyCorrection(c)
}

// clockTick is the clock's own turn.
func (tx *txn) clockTick() {
	x := tank.Input{Kind: tank.Tick, At: tx.now.Round(0), Mono: tx.mono, Boot: tx.boot}
	if tx.boot == 0 {
		x.Mono, x.Boot, x.Box, x.One = tx.l.mono(tx.now), tx.l.runID, tx.l.boxBoot, true
	}
	tx.stepDetector(x)
	tx.ticked = true
	if !tx.clockDoubted() {
		tx.capDeadlines()
	}
	tx.tellLongEpisodes()
	tx.closeQuietRefusals()
	tx.closeCalmed()
	tx.applyRulesByClock()
	tx.closeInhibitions()
	tx.releaseDue()
	tx.queueUnusedEvent()
	tx.queueDeferred()
}

// tickThroughSilence gives the clock the turns that it had between two batches of a recording, as in the run that was recorded.
func (tx *txn) tickThroughSilence() {
	now, mono, every := tx.now, tx.mono, tx.l.site.scaled(time.Minute)
	for at := tx.replayed + every; at < mono; at += every {
		tx.now, tx.mono = now.Add(at-mono), at
		tx.clockTick()
	}
	tx.now, tx.mono = now, mono
}

// capDeadlines brings what was to come near again: it was stored by a clock that was ahead, and set right while the program was
// down. Nothing is further away than its own length.
func (tx *txn) capDeadlines() {
	now := tx.now.Round(0)
	tx.held.cap(now, &tx.l.site)
	tx.capInhibitions(now)
	for k, e := range tx.episodes {
		if e.Since.After(now.Add(clock.Tolerance)) {
			e.Since, e.Over = now, time.Time{}
			tx.setEpisode(k, e)
			tx.putEpisodes()
		}
	}
}

// stampInput puts a reading on the wall clock and on the clock that never steps. A device's own time has no monotonic clock:
// the reading has that of its arrival, and the detector places it by its stamp beside the device's others. Were its age
// told by the two wall clocks, a step of the box's would move what was read. A stamp that cannot be is that of its arrival.
func (tx *txn) stampInput(x *tank.Input, r collectors.Reading) {
	if r.Boot != 0 {
		x.At, x.Mono, x.Boot = r.At, r.Mono, r.Boot
		return
	}
	x.Boot, x.Box = tx.l.runID, tx.l.boxBoot
	if r.At != r.At.Round(0) {
		x.At, x.Mono, x.One = r.At.Round(0), tx.l.mono(r.At), true
		return
	}
	x.At, x.Mono = r.At, tx.l.mono(tx.now)
	if age := tx.now.Round(0).Add(-tx.judgeClock().deviation).Sub(r.At); age < -time.Minute || age > 24*time.Hour {
		x.At, x.One = tx.now.Round(0), true
	}
}

// grade is the clock's.
func (tx *txn) grade() clock.Grade { return tx.judgeClock().grade }

// clockDoubted says that nothing may leave that carries the wall clock.
func (tx *txn) clockDoubted() bool { return tx.judgeClock().doubted }

// setEpisode keeps an episode as it stands now.
func (tx *txn) setEpisode(k string, e Episode) {
	tx.ownEpisodes()
	tx.episodes[k] = e
}

// ownEpisodes makes the episodes this transaction's own before the first change.
func (tx *txn) ownEpisodes() {
	if !tx.ownsEpisodes {
		tx.episodes, tx.ownsEpisodes = maps.Clone(tx.episodes), true
	}
}
