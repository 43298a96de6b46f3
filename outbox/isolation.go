package outbox

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"
	"go.etcd.io/bbolt"
)

const (
	// isolatedCap is the longest wait of an isolated destination; the jitter of half comes on top.
	isolatedCap = 40 * time.Minute
	// isolatedEvery is the least time between two attempts at isolated destinations, however many there are.
	isolatedEvery = time.Minute
	// strikesForWait: "try again later" must hold so often for one address alone before that is isolated; a refusal that
	// says more needs it once.
	strikesForWait = 3
	// maxBisections: a batch is divided so often while nothing is taken that of fifty one is left.
	maxBisections = 6
	// forbidden is the status of a key that is known, and may not do this.
	forbidden = 403
)

// destination may be to blame when a request is not taken: the address of its records, or a record without one.
type destination struct {
	address string
	seq     uint64 // 0 where there is an address
}

func destinationOf(r Record) destination {
	if r.Address != "" {
		return destination{address: r.Address}
	}
	return destination{seq: r.Seq}
}

// failingDestination is one whose last request was not taken, though not refused as invalid: an unknown device, a well
// that this key may not write. The others go first. When one of them is taken, and this one is refused again, it is to blame
// and isolated: it waits by itself from then on, and holds up nobody. Like the evidence against single records all of it is forgotten at
// a restart, which costs two requests.
type failingDestination struct {
	destination
	firstSeq      uint64    // its oldest record that was refused
	frozen        []uint64  // may be stored already: they go together again
	lastTry       time.Time // last
	othersTaken   bool      // something else was taken since
	strikes       int       // how often it was refused and others taken in between
	isolatedUntil time.Time // it waits by itself till then; zero: it is not to blame yet
	waits         *backoff.ExponentialBackOff
	status        Isolated
}

// Isolated is an address, or a single record, that waits by itself: nothing of it is taken, while the others are.
type Isolated struct {
	Address string
	Seq     uint64    // the record, where it has no address
	Since   time.Time // of the first answer that did not take it
	Next    time.Time // attempt
	Answer  Answer    // the last
}

// failingOf returns the entry of a record's destination; nil: none. The lock is held.
func (s *stream) failingOf(seq uint64, address []byte) *failingDestination {
	if len(s.failing) == 0 {
		return nil
	}
	if len(address) > 0 {
		return s.failing[destination{address: string(address)}]
	}
	return s.failing[destination{seq: seq}]
}

// noteNotTaken notes that a whole request was not taken. It reports whether its destination is to blame, so that the others need
// not wait; handled is false where the request says nothing of a single destination.
func (d *drain) noteNotTaken(batch []Record, seqs []uint64, maybeStored bool, answer Answer) (blamed, handled bool) {
	if len(seqs) < len(batch) || batch[0].Address == "" && (len(batch) > 1 || answer.Class == Wait) {
		return false, false
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	p, now := destinationOf(batch[0]), time.Now()
	a := d.s.failing[p]
	if a == nil {
		a = &failingDestination{destination: p, firstSeq: batch[0].Seq, waits: newBackOff(firstProbe, isolatedCap), status: Isolated{Address: p.address, Seq: p.seq, Since: now}}
		d.s.failing[p] = a
		a.othersTaken = d.s.highestDelivered.Load() > a.firstSeq // something behind it was taken while it waited: also before a restart
	}
	a.othersTaken = a.othersTaken || p.address == "" && d.poison.siblingAccepted // so was the rest of its batch
	a.lastTry, a.frozen, a.status.Answer = now, nil, answer
	a.firstSeq = min(a.firstSeq, batch[0].Seq)
	if maybeStored {
		a.frozen = seqs
	}
	if a.address != "" {
		d.pieces = nil // of the same address: they are found again
	}
	if a.othersTaken {
		a.strikes, a.othersTaken = a.strikes+1, false
	}
	if need := map[bool]int{true: strikesForWait, false: 1}[answer.Class == Wait]; a.strikes < need {
		return false, true
	}
	if a.isolatedUntil.IsZero() {
		d.b.note(d.s.isolatedNote(a))
	}
	a.isolatedUntil = now.Add(max(a.waits.NextBackOff(), answer.RetryAfter))
	return true, true
}

// bisect looks by halves for the record without an address because of which its batch is not taken, an event of an unknown
// object. Where nothing is taken in between it may be all of them: then one record goes by itself.
// That no key is accepted is nobody's fault here.
func (d *drain) bisect(batch []Record, seqs []uint64, maybeStored bool, answer Answer) bool {
	if answer.Class == Wait || answer.Class == Key && answer.Status != forbidden || maybeStored || len(seqs) < 2 || len(seqs) < len(batch) || batch[0].Address != "" {
		return false
	}
	if d.bisections >= maxBisections {
		d.oneByOne, d.pieces = true, nil // they are found again
		return false
	}
	half := len(seqs) / 2
	d.bisections++
	d.pieces = append([][]uint64{seqs[:half], seqs[half:]}, d.pieces...)
	return true
}

func (s *stream) isolatedNote(a *failingDestination) Note {
	return Note{Kind: NoteIsolated, Stream: s.Name, Address: a.address, Seq: a.seq, Count: 1, Message: fmt.Sprintf(
		"%s is not taken (%s), while others are; it waits by itself and is tried again now and then: check that id", a.destination, a.status.Answer.describe())}
}

// String names it for people.
func (p destination) String() string {
	if p.address == "" {
		return fmt.Sprintf("record %d", p.seq)
	}
	return "what is for " + p.address
}

// noteTaken notes that the service has taken records: their destinations are well again, and whatever else was not taken is tried
// once more. The lock is held.
func (s *stream) noteTaken(b *Box, batch []Record, at []int) {
	if len(s.failing) == 0 {
		return
	}
	for _, i := range at {
		p := destinationOf(batch[i])
		if a := s.failing[p]; a != nil && !a.isolatedUntil.IsZero() {
			b.note(Note{Kind: NoteRejoined, Stream: s.Name, Address: p.address, Seq: p.seq, Message: fmt.Sprintf(
				"%s is taken, after %s", p, time.Since(a.status.Since).Round(time.Second))})
		}
		s.rejoin(p)
	}
	for _, a := range s.failing {
		a.othersTaken = true
	}
}

// rejoin lets a destination go with the others again. The lock is held.
func (s *stream) rejoin(p destination) {
	if _, ok := s.failing[p]; ok {
		delete(s.failing, p)
		s.isolatedBelow = 0
	}
}

// dueDestination is whose turn it is of what was not taken; nil: nobody's. A destination that is not to blame yet goes as soon as something
// else was taken, the others one a minute at most. The lock is held.
func (s *stream) dueDestination(now time.Time) (next *failingDestination) {
	for _, a := range s.failing {
		ready := a.othersTaken
		if !a.isolatedUntil.IsZero() {
			ready = !now.Before(s.nextTry(a))
		}
		if ready && (next == nil || a.triedBefore(next)) {
			next = a
		}
	}
	return next
}

// nextTry returns the time of the next attempt at an isolated destination.
func (s *stream) nextTry(a *failingDestination) time.Time {
	if at := s.lastIsolatedTry.Add(isolatedEvery); at.After(a.isolatedUntil) {
		return at
	}
	return a.isolatedUntil
}

// triedBefore says who goes first: whoever was not tried for longer, and of two the older record.
func (a *failingDestination) triedBefore(b *failingDestination) bool {
	if !a.lastTry.Equal(b.lastTry) {
		return a.lastTry.Before(b.lastTry)
	}
	return a.firstSeq < b.firstSeq
}

// longestUntried is the destination that was not tried for the longest, of those that are not to blame. The lock is held.
func (s *stream) longestUntried() (next *failingDestination) {
	for _, a := range s.failing {
		if a.isolatedUntil.IsZero() && (next == nil || a.triedBefore(next)) {
			next = a
		}
	}
	return next
}

// nextDestination is whose turn it is, or would be if something else were taken; nil: all wait by themselves. The lock is held.
func (s *stream) nextDestination(now time.Time) *failingDestination {
	if a := s.dueDestination(now); a != nil {
		return a
	}
	return s.longestUntried()
}

// nextIsolatedTry returns the time of the first attempt at an isolated destination; zero: there is none. The lock is held.
func (s *stream) nextIsolatedTry() (first time.Time) {
	for _, a := range s.failing {
		if a.isolatedUntil.IsZero() {
			continue
		}
		if at := s.nextTry(a); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// queueRule says what of the queue goes next. While destinations are refused and nothing was taken since, every second request is for
// the newest record's address, so that a known one does not wait behind hundreds of unknown ones. The lock is held.
func (d *drain) queueRule(now time.Time) (queueFilter, error) {
	rule := queueFilter{limit: d.s.batchLimit(), skip: d.poison.has}
	if d.oneByOne {
		rule.limit = 1
	}
	if d.s.longestUntried() == nil {
		return rule, nil
	}
	if d.newestTurn = !d.newestTurn; !d.newestTurn {
		return rule, nil
	}
	found := false
	err := d.b.scanQueue(d.s, queueFilter{newest: true, skip: rule.skip}, now, func(_ uint64, _, v []byte) bool {
		found, rule.address = true, bytes.Clone(addressOf(v))
		return false
	})
	rule.newest = found && len(rule.address) == 0 // a single record, then; what is stored between two looks goes by its address
	if rule.newest {
		rule.limit, rule.address = 1, nil
	}
	return rule, err
}

// collectFrom takes what a destination has, oldest first. One that has nothing any more is forgotten. The lock is held.
func (d *drain) collectFrom(p *selection, a *failingDestination, now time.Time) error {
	if !a.isolatedUntil.IsZero() {
		d.s.lastIsolatedTry = now
	}
	err := d.b.collectExactly(p, d.s, a.frozen, now)
	if err == nil && len(p.batch) == 0 {
		err = d.b.collect(p, d.s, queueFilter{limit: d.s.batchLimit(), skip: d.poison.has, within: a}, now)
	}
	if err == nil && len(p.batch) == 0 {
		d.s.rejoin(a.destination)
		d.lookAgain = true
	}
	return err
}

// recheck makes a destination go once more, since a person asks for it, or the link or the keys are back. It is no evidence: one
// that is not to blame yet goes when nothing else is there. The lock is held.
func (a *failingDestination) recheck() {
	a.lastTry = time.Time{}
	a.waits.Reset()
	if !a.isolatedUntil.IsZero() {
		a.isolatedUntil = time.Now()
	}
}

// retryDestination lets the destination of a record be looked at at once, if it has one. The lock is held.
func (s *stream) retryDestination(seq uint64, address []byte) bool {
	a := s.failingOf(seq, address)
	if a == nil {
		return false
	}
	a.recheck()
	s.lastIsolatedTry = time.Time{}
	s.signal() // nothing of it is in the file
	return true
}

// newcomerMayPass says that a new record may be another matter than the few destinations that were refused: it is tried at once.
func (d *drain) newcomerMayPass() bool {
	last := d.poison.lastAnswer
	if last.Class != Key && last.Class != Path || last.RetryAfter > 0 || d.poison.open || d.unfinished() {
		return false
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	n := 0
	for _, a := range d.s.failing {
		if a.isolatedUntil.IsZero() {
			n++
		}
	}
	return 0 < n && n < maxRefusedInARow
}

// hasUnblocked says that the queue has a record that neither waits by itself nor is suspected.
func (d *drain) hasUnblocked() bool {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	found := false
	err := d.b.scanQueue(d.s, queueFilter{skip: d.poison.has}, time.Now(), func(uint64, []byte, []byte) bool {
		found = true
		return false
	})
	return found || err != nil // whoever looks next is told the error
}

// hasWork says that there may be something to send: a queue that has only what waits by itself asks for no pace.
func (d *drain) hasWork() bool {
	d.b.mu.Lock()
	waiting := d.s.counts.Waiting > 0
	if !waiting { // what is not taken is gone in another way: dropped, or it gave way
		clear(d.s.failing)
		d.s.isolatedBelow = 0
	}
	few, due := len(d.s.failing) == 0, d.s.nextDestination(time.Now()) != nil
	d.b.mu.Unlock()
	return waiting && (few || due || d.unfinished() || len(d.poison.candidates) > 0 || d.hasUnblocked())
}

// scanQueue gives the records that a request may have to found, in their order, until it returns false. The lock is held.
func (b *Box) scanQueue(s *stream, rule queueFilter, now time.Time, found func(seq uint64, k, v []byte) bool) error {
	return b.view("read stream "+s.Name, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(s.queueBucket)).Cursor()
		from := max(rule.after+1, s.isolatedBelow)
		if rule.within != nil {
			from = rule.within.firstSeq
		}
		k, v := c.Seek(seqKey(from))
		next := c.Next
		if rule.newest {
			k, v = c.Last()
			next = c.Prev
		}
		alone := rule.within == nil && !rule.newest && rule.after < max(s.isolatedBelow, 1) && s.bringingBack == 0 // nothing but what waits by itself was seen
		for ; k != nil; k, v = next() {
			seq, ok := keySeq(k)
			if !ok {
				continue // a key that is none is for Check to find
			}
			if a := s.failingOf(seq, addressOf(v)); a != rule.within {
				if alone && a != nil {
					s.isolatedBelow = seq + 1
				}
				continue
			}
			alone = false
			if b.busy(s, seq, now) || rule.skip(seq) {
				continue
			}
			if !found(seq, k, v) {
				return nil
			}
		}
		return nil
	})
}

// listIsolated lists what waits by itself, for Standing. The lock is held.
func (s *stream) listIsolated() (all []Isolated) {
	for a := range maps.Values(s.failing) {
		if !a.isolatedUntil.IsZero() {
			x := a.status
			x.Next = s.nextTry(a)
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b Isolated) int { return strings.Compare(a.Address, b.Address) })
	return all
}
