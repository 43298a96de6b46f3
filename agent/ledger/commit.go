package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"gauger/agent/cloud"
	"gauger/outbox"
)

// staged is a transaction on its way to the disk.
type staged struct {
	tx     *txn
	commit *outbox.Commit // its own; of one that has nothing to store, that which it builds upon
	before *state         // what holds again if it is taken back
}

// commit stores what the transaction changed, all or nothing. The lock is held, and let go while the disk writes: what a caller
// does afterwards is done to a ledger that has gone on.
func (l *Ledger) commit(tx *txn, device string) error {
	c, err := l.stage(tx, device)
	if err != nil || c == nil {
		return err
	}
	l.mu.Unlock()
	err = c.Wait()
	l.mu.Lock()
	l.publishCommitted()
	return err
}

// stage hands what the transaction changed to the outbox. The next transaction judges by it from now on; everybody else hears of
// it when the commit is on disk. A transaction that changed nothing which must survive stores nothing, so that a week of quiet
// levels does not wear the flash: its commit is that of what it builds upon, nil where that is on disk. The lock is held.
func (l *Ledger) stage(tx *txn, device string) (*outbox.Commit, error) {
	if err := tx.prepare(device); err != nil {
		return nil, err
	}
	under := l.newest()
	c := under
	if tx.dirty() {
		var err error
		if c, err = l.box.Stage(func(box *outbox.Tx) error { box.After(under); return tx.commitTo(box) }); err != nil {
			return nil, err
		}
	}
	if n := len(tx.lingering.records); n > 0 {
		select {
		case l.lingers <- l.untilFlush(n):
		default:
		}
	}
	if c == nil {
		l.state = tx.state
		l.publish(tx)
		return nil, nil
	}
	before := new(state) // and not on the stack of every poll, as both at once would be
	*before = l.state
	l.state = tx.state
	l.staged = append(l.staged, staged{tx: tx, commit: c, before: before})
	return c, nil
}

// newest is the commit of what was staged last; nil: everything is on disk. The lock is held.
func (l *Ledger) newest() *outbox.Commit {
	if n := len(l.staged); n > 0 {
		return l.staged[n-1].commit
	}
	return nil
}

// update lets work change the state by the clock of now, and returns when that is on disk, and so is what an error of work says.
func (l *Ledger) update(work func(*txn) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	tx := l.begin(time.Now())
	if err := work(tx); err != nil {
		c := l.newest()
		l.mu.Unlock()
		_ = c.Wait() // were it taken back, the next try would tell
		l.mu.Lock()
		return err
	}
	return l.commit(tx, "")
}

// publishCommitted lets what has come to the disk be seen, in the order in which it was staged. What failed is taken back with all
// that was staged on top of it, whose commit is the same one or was refused with it (outbox.Tx.After). The lock is held.
func (l *Ledger) publishCommitted() {
	for len(l.staged) > 0 {
		first := l.staged[0]
		done, err := first.commit.Done()
		switch {
		case !done:
			return
		case err != nil:
			l.state, l.staged = *first.before, nil
			return
		}
		l.staged[0] = staged{}
		l.staged = l.staged[1:]
		l.publish(first.tx)
	}
	l.staged = nil
}

// publish lets a transaction that is on disk be seen. The lock is held.
func (l *Ledger) publish(tx *txn) {
	l.showLoading(&tx.state)
	for _, say := range tx.afterCommit {
		say()
	}
	if !tx.recorded {
		return
	}
	l.latest.store(tx.batch)
	if len(tx.batch) > 0 {
		l.watchers.send(tx.batch)
	}
	l.recording.add(tx, tx.batch)
}

// see lets somebody outside look at the state, under the lock, and returns when what was seen is on disk. What was taken back
// meanwhile is looked at again.
func (l *Ledger) see(look func()) {
	for {
		l.mu.Lock()
		l.publishCommitted()
		look()
		c := l.newest()
		l.mu.Unlock()
		if c.Wait() == nil {
			return
		}
	}
}

// prepare writes down what the transaction changed.
func (tx *txn) prepare(device string) error {
	if tx.setups.changed {
		tx.putJSON(setupsKey, tx.setups.inForce)
	}
	if tx.held.changed {
		tx.putJSON(heldKey, tx.held.all)
	}
	tx.setups.changed, tx.held.changed = false, false
	if tx.boot != 0 {
		all := map[string]replayPosition{}
		maps.Copy(all, tx.replayPositions)
		all[device] = replayPosition{tx.boot, tx.mono}
		tx.replayPositions = all
	}
	if mark := tx.tanks.Mark(); mark != tx.storedMark || tx.boot != 0 && tx.dirty() {
		b, err := packedState(tx.tanks)
		if err != nil {
			return fmt.Errorf("write down the tanks' state: %w", err)
		}
		tx.putState(tanksKey, b)
		tx.putBook()
		tx.putPositions()
		tx.storedMark = mark
	}
	tx.putUnused()
	if tx.takeLingering() {
		tx.putValues()
	}
	return errors.Join(tx.errs...)
}

// lingering are values of polls that wait for others to share a commit with (Site.Linger). Nobody waits for an acknowledgement
// of a poll: a kill costs what lingers as if it had not been polled.
type lingering struct {
	records []stagedRecord
	values  []int // the site's values whose last records these are

	unsaved  []int     // values whose records were offered, and of which it is not stored that they were sent
	storedAt time.Time // when something that lingered was stored
}

// Of records that linger few wait until flushApart after those before them, and most linger at once.
const (
	lingerFew  = 200
	lingerMost = 1000
	flushApart = 10 * time.Second
)

// untilFlush is how long records linger of which there are n by now. Values that come fast leave no more often than every few seconds: a
// request for each second of each well costs more of the processor and the line than all that it carries. A tenth less than
// Site.Linger: what goes with it (a deletion waits half a minute) is still there, and a poll on the same beat is the next one's.
func (l *Ledger) untilFlush(n int) time.Duration {
	wait := l.site.Linger - l.site.Linger/10
	if n >= lingerFew {
		return wait
	}
	return max(wait, flushApart-time.Since(l.flushedAt))
}

// linger lets the record that was queued last, of value i, wait for others. (It is appended behind what the state before sees of
// the slices, and a transaction that was given up is never continued.)
func (tx *txn) linger(i int) {
	last := len(tx.records) - 1
	r := tx.records[last]
	r.record.Body = bytes.Clone(r.record.Body)
	tx.records = tx.records[:last]
	tx.lingering.records, tx.lingering.values = append(tx.lingering.records, r), append(tx.lingering.values, i)
}

// takeLingering takes what lingers along when something is stored anyway, or when it has to; false: the values of this
// transaction are not to be stored yet.
func (tx *txn) takeLingering() bool {
	w := tx.lingering
	if len(w.records)+len(w.unsaved) == 0 {
		return true
	}
	if !tx.flush && !tx.dirty() && len(w.records) < lingerMost {
		return len(w.records) == 0
	}
	if !tx.flush && len(w.records) == 0 && tx.now.Sub(w.storedAt) < rememberEvery {
		return true
	}
	tx.records = slices.Concat(w.joined(), tx.records) // older first; the state before keeps its own
	if tx.sentValues == nil {
		tx.sentValues = make([]bool, len(tx.lastValues))
	}
	for _, i := range slices.Concat(w.values, w.unsaved) {
		tx.sentValues[i] = true
	}
	tx.lingering = lingering{storedAt: tx.now}
	return true
}

// rememberEvery: that offered values were sent is stored so often.
const rememberEvery = 10 * time.Minute

// offer lets the outbox send what lingers before it is stored, and reports whether nothing is left to be stored. Until it is stored
// that these values were sent, a kill can have a second reading of one interval sent: only of values of at least one a minute.
func (l *Ledger) offer() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.publishCommitted()
	l.flushedAt = time.Now()
	w := l.state.lingering
	seldom := func(i int) bool { return l.site.Values[i].Every > changeEvery }
	if len(w.records) == 0 || len(l.staged) > 0 || slices.ContainsFunc(w.values, seldom) {
		return false // what is staged may be taken back, and what lingered before it would linger again
	}
	by, taken := map[string][]outbox.Record{}, map[string]bool{}
	for _, r := range w.joined() {
		by[r.stream] = append(by[r.stream], r.record)
	}
	for stream, records := range by {
		taken[stream] = l.box.Offer(stream, records)
	}
	left := lingering{unsaved: slices.Clone(w.unsaved), storedAt: w.storedAt}
	for n, r := range w.records {
		if i := w.values[n]; !taken[r.stream] {
			left.records, left.values = append(left.records, r), append(left.values, i)
		} else if !slices.Contains(left.unsaved, i) {
			left.unsaved = append(left.unsaved, i)
		}
	}
	l.state.lingering = left
	return len(left.records) == 0 && time.Since(w.storedAt) < rememberEvery
}

// joined are the records that linger, one for each value: so it is put, deleted and receipted once.
func (w lingering) joined() []stagedRecord {
	var records []stagedRecord
	var bodies [][][]byte
	places := map[int]int{}
	for n, r := range w.records {
		at, known := places[w.values[n]]
		if !known {
			at = len(records)
			places[w.values[n]], records, bodies = at, append(records, r), append(bodies, nil)
		}
		bodies[at] = append(bodies[at], r.record.Body)
	}
	for at, sets := range bodies {
		if body, ok := cloud.JoinSets(sets); ok {
			records[at].record.Body = body
		} else { // no set that we have encoded
			return w.records
		}
	}
	return records
}

// Lingering tells that values linger, and after how long Flush is wanted.
func (l *Ledger) Lingering() <-chan time.Duration { return l.lingers }

// Flush ends the wait of the values that linger: they are offered or stored. That they were sent goes with the counts of what was
// offered before.
func (l *Ledger) Flush() error {
	if l.offer() {
		return nil
	}
	if err := l.update(func(tx *txn) error { tx.flush = true; return nil }); err != nil {
		return fmt.Errorf("store the values that have waited for others (store.linger): %w", err)
	}
	return nil
}

// commitTo hands everything to the outbox; it runs inside Update.
func (tx *txn) commitTo(box *outbox.Tx) error {
	for _, p := range tx.puts {
		box.Put(p.name, p.value)
	}
	for i := range tx.decoded {
		why := ""
		if tx.decoded[i].Values == 0 {
			why = "it was decoded, and gave no value"
		}
		box.Take(Refused, tx.decoded[i].Seq, why)
	}
	for _, r := range tx.records {
		seq := box.Append(r.stream, r.record)
		if r.ticket == nil {
			continue
		}
		r.ticket.Seq = seq
		b, err := json.Marshal(r.ticket)
		if err != nil {
			return fmt.Errorf("book ticket %s: %w", r.ticket.Number, err)
		}
		box.Put(ticketKey+r.ticket.Number, b)
	}
	tx.l.room = txnRoom{emptied(tx.records, recordsKept), emptied(tx.bodies, bodiesKept)} // the outbox has copied them
	return nil
}

// txnRoom is used again by each transaction, so that a value makes no garbage. The ledger's lock guards it.
type txnRoom struct {
	records []stagedRecord
	bodies  []byte
}

// Of it so much is kept: what MQTT commits at a time when messages come fast. A batch may have many thousands.
const (
	recordsKept = 2048
	bodiesKept  = 256 << 10
)

// emptied is a slice without what is in it, for the next transaction.
func emptied[T any](s []T, most int) []T {
	if cap(s) > most {
		return nil
	}
	clear(s)
	return s[:0]
}
