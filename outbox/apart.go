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
	// apartCap is how long what waits by itself waits at most; the jitter of half comes on top.
	apartCap = 40 * time.Minute
	// apartEvery is how far apart the attempts at what waits by itself are, however much does.
	apartEvery = time.Minute
	// strikesOfWait is how often "try again later" must hold for one address alone before that is set apart; a refusal that
	// says more needs it once.
	strikesOfWait = 3
	// mostHalved is how often a batch is divided while nothing is taken: so often that of fifty one is left.
	mostHalved = 6
	// forbidden is the status of a key that is known, and may not do this.
	forbidden = 403
)

// place is what may be to blame when a request is not taken: the address of its records, or a record without one.
type place struct {
	address string
	seq     uint64 // 0 where there is an address
}

func placeOf(r Record) place {
	if r.Address != "" {
		return place{address: r.Address}
	}
	return place{seq: r.Seq}
}

// apart is a place whose last request was not taken, though not refused as invalid: an unknown device, a well that this key
// may not write. The others go first. When one of them is taken, and this one is refused again, the place is to blame:
// it waits by itself from then on, and holds up nobody. Like the evidence against single records all of it is forgotten at
// a restart, which costs two requests.
type apart struct {
	place
	first   uint64    // its oldest record that was refused
	frozen  []uint64  // may be stored already: they go together again
	tried   time.Time // last
	others  bool      // something else was taken since
	strikes int       // how often it was refused and others taken in between
	until   time.Time // it waits by itself till then; zero: it is not to blame yet
	waits   *backoff.ExponentialBackOff
	shown   Apart
}

// Apart is an address, or a single record, that waits by itself: nothing of it is taken, while the others are.
type Apart struct {
	Address string
	Seq     uint64    // the record, where it has no address
	Since   time.Time // of the first answer that did not take it
	Next    time.Time // attempt
	Answer  Receipt   // the last
}

// apartOf returns the entry of a record's place; nil: none. The lock is held.
func (s *stream) apartOf(seq uint64, address []byte) *apart {
	if len(s.apart) == 0 {
		return nil
	}
	if len(address) > 0 {
		return s.apart[place{address: string(address)}]
	}
	return s.apart[place{seq: seq}]
}

// setApart notes that a whole request was not taken. It reports whether its place is to blame, so that the others need
// not wait; handled is false where the request says nothing of a single place.
func (d *drain) setApart(batch []Record, seqs []uint64, maybeStored bool, answer Receipt) (blamed, handled bool) {
	if len(seqs) < len(batch) || batch[0].Address == "" && (len(batch) > 1 || answer.Class == Wait) {
		return false, false
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	p, now := placeOf(batch[0]), time.Now()
	a := d.s.apart[p]
	if a == nil {
		a = &apart{place: p, first: batch[0].Seq, waits: newBackOff(firstProbe, apartCap), shown: Apart{Address: p.address, Seq: p.seq, Since: now}}
		d.s.apart[p] = a
		a.others = d.s.top.Load() > a.first // something behind it was taken while it waited: also before a restart
	}
	a.others = a.others || p.address == "" && d.refused.batchOK // so was the rest of its batch
	a.tried, a.frozen, a.shown.Answer = now, nil, answer
	a.first = min(a.first, batch[0].Seq)
	if maybeStored {
		a.frozen = seqs
	}
	if a.address != "" {
		d.pieces = nil // of the same address: they are found again
	}
	if a.others {
		a.strikes, a.others = a.strikes+1, false
	}
	if need := map[bool]int{true: strikesOfWait, false: 1}[answer.Class == Wait]; a.strikes < need {
		return false, true
	}
	if a.until.IsZero() {
		d.b.note(d.s.noteApart(a))
	}
	a.until = now.Add(max(a.waits.NextBackOff(), answer.RetryAfter))
	return true, true
}

// divided looks by halves for the record without an address because of which its batch is not taken, an event of an unknown
// object. Where nothing is taken in between it may be all of them: then one record goes by itself.
// That no key is accepted is nobody's fault here.
func (d *drain) divided(batch []Record, seqs []uint64, maybeStored bool, answer Receipt) bool {
	if answer.Class == Wait || answer.Class == Key && answer.Status != forbidden || maybeStored || len(seqs) < 2 || len(seqs) < len(batch) || batch[0].Address != "" {
		return false
	}
	if d.halved >= mostHalved {
		d.singly, d.pieces = true, nil // they are found again
		return false
	}
	half := len(seqs) / 2
	d.halved++
	d.pieces = append([][]uint64{seqs[:half], seqs[half:]}, d.pieces...)
	return true
}

func (s *stream) noteApart(a *apart) Note {
	return Note{Kind: NoteApart, Stream: s.Name, Address: a.address, Seq: a.seq, Count: 1, Message: fmt.Sprintf(
		"%s is not taken (%s), while others are; it waits by itself and is tried again now and then: check that id", a.place, a.shown.Answer.describe())}
}

// String is what people read.
func (p place) String() string {
	if p.address == "" {
		return fmt.Sprintf("record %d", p.seq)
	}
	return "what is for " + p.address
}

// taken notes that the service has taken records: their places are well again, and whatever else was not taken is tried
// once more. The lock is held.
func (s *stream) taken(b *Box, batch []Record, at []int) {
	if len(s.apart) == 0 {
		return
	}
	for _, i := range at {
		p := placeOf(batch[i])
		if a := s.apart[p]; a != nil && !a.until.IsZero() {
			b.note(Note{Kind: NoteTaken, Stream: s.Name, Address: p.address, Seq: p.seq, Message: fmt.Sprintf(
				"%s is taken, after %s", p, time.Since(a.shown.Since).Round(time.Second))})
		}
		s.rejoin(p)
	}
	for _, a := range s.apart {
		a.others = true
	}
}

// rejoin lets a place go with the others again. The lock is held.
func (s *stream) rejoin(p place) {
	if _, ok := s.apart[p]; ok {
		delete(s.apart, p)
		s.floor = 0
	}
}

// due is whose turn it is of what was not taken; nil: nobody's. A place that is not to blame yet goes as soon as something
// else was taken, the others one a minute at most. The lock is held.
func (s *stream) due(now time.Time) (next *apart) {
	for _, a := range s.apart {
		ready := a.others
		if !a.until.IsZero() {
			ready = !now.Before(s.again(a))
		}
		if ready && (next == nil || a.before(next)) {
			next = a
		}
	}
	return next
}

// again is when a place that waits by itself is tried.
func (s *stream) again(a *apart) time.Time {
	if at := s.lastApart.Add(apartEvery); at.After(a.until) {
		return at
	}
	return a.until
}

// before says who goes first: whoever was not tried for longer, and of two the older record.
func (a *apart) before(b *apart) bool {
	if !a.tried.Equal(b.tried) {
		return a.tried.Before(b.tried)
	}
	return a.first < b.first
}

// longestAway is the place that was not tried for the longest, of those that are not to blame. The lock is held.
func (s *stream) longestAway() (next *apart) {
	for _, a := range s.apart {
		if a.until.IsZero() && (next == nil || a.before(next)) {
			next = a
		}
	}
	return next
}

// nextOff is whose turn it is, or would be if something else were taken; nil: all wait by themselves. The lock is held.
func (s *stream) nextOff(now time.Time) *apart {
	if a := s.due(now); a != nil {
		return a
	}
	return s.longestAway()
}

// nextApart is when something that waits by itself is tried; zero: nothing does. The lock is held.
func (s *stream) nextApart() (first time.Time) {
	for _, a := range s.apart {
		if a.until.IsZero() {
			continue
		}
		if at := s.again(a); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// other says what of the queue goes next. While places are refused and nothing was taken since, every second request is for
// the newest record's address, so that a known one does not wait behind hundreds of unknown ones. The lock is held.
func (d *drain) other(now time.Time) (takeRule, error) {
	rule := takeRule{most: d.s.most(), skip: d.refused.has}
	if d.singly {
		rule.most = 1
	}
	if d.s.longestAway() == nil {
		return rule, nil
	}
	if d.newest = !d.newest; !d.newest {
		return rule, nil
	}
	found := false
	err := d.b.scan(d.s, takeRule{newest: true, skip: rule.skip}, now, func(_ uint64, _, v []byte) bool {
		found, rule.of = true, bytes.Clone(addressOf(v))
		return false
	})
	rule.newest = found && len(rule.of) == 0 // a single record, then; what is stored between two looks goes by its address
	if rule.newest {
		rule.most, rule.of = 1, nil
	}
	return rule, err
}

// pickApart takes what a place has, oldest first. A place that has nothing any more is forgotten. The lock is held.
func (d *drain) pickApart(p *picked, a *apart, now time.Time) error {
	if !a.until.IsZero() {
		d.s.lastApart = now
	}
	err := d.b.claim(p, d.s, a.frozen, now)
	if err == nil && len(p.batch) == 0 {
		err = d.b.take(p, d.s, takeRule{most: d.s.most(), skip: d.refused.has, only: a}, now)
	}
	if err == nil && len(p.batch) == 0 {
		d.s.rejoin(a.place)
		d.again = true
	}
	return err
}

// recheck makes a place go once more, since a person asks for it, or the link or the keys are back. It is no evidence: one
// that is not to blame yet goes when nothing else is there. The lock is held.
func (a *apart) recheck() {
	a.tried = time.Time{}
	a.waits.Reset()
	if !a.until.IsZero() {
		a.until = time.Now()
	}
}

// reconsider lets the place of a record be looked at at once, if it has one. The lock is held.
func (s *stream) reconsider(seq uint64, address []byte) bool {
	a := s.apartOf(seq, address)
	if a == nil {
		return false
	}
	a.recheck()
	s.lastApart = time.Time{}
	s.signal() // nothing of it is in the file
	return true
}

// newcomers says that a new record may be another matter than the few places that were refused: it is tried at once.
func (d *drain) newcomers() bool {
	last := d.refused.last
	if last.Class != Key && last.Class != Path || last.RetryAfter > 0 || d.refused.open || d.unfinished() {
		return false
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	n := 0
	for _, a := range d.s.apart {
		if a.until.IsZero() {
			n++
		}
	}
	return 0 < n && n < maxInRow
}

// free says that the queue has a record that neither waits by itself nor is suspected.
func (d *drain) free() bool {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	found := false
	err := d.b.scan(d.s, takeRule{skip: d.refused.has}, time.Now(), func(uint64, []byte, []byte) bool {
		found = true
		return false
	})
	return found || err != nil // whoever looks next is told the error
}

// ready says that there may be something to send: a queue that has only what waits by itself asks for no pace.
func (d *drain) ready() bool {
	d.b.mu.Lock()
	waiting := d.s.led.Waiting > 0
	if !waiting { // what is not taken is gone in another way: dropped, or it gave way
		clear(d.s.apart)
		d.s.floor = 0
	}
	few, due := len(d.s.apart) == 0, d.s.nextOff(time.Now()) != nil
	d.b.mu.Unlock()
	return waiting && (few || due || d.unfinished() || len(d.refused.suspects) > 0 || d.free())
}

// scan gives the records that a request may have to found, in their order, until it returns false. The lock is held.
func (b *Box) scan(s *stream, rule takeRule, now time.Time, found func(seq uint64, k, v []byte) bool) error {
	return b.view("read stream "+s.Name, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(s.queue)).Cursor()
		from := max(rule.after+1, s.floor)
		if rule.only != nil {
			from = rule.only.first
		}
		k, v := c.Seek(seqKey(from))
		next := c.Next
		if rule.newest {
			k, v = c.Last()
			next = c.Prev
		}
		alone := rule.only == nil && !rule.newest && rule.after < max(s.floor, 1) && s.moving == 0 // nothing but what waits by itself was seen
		for ; k != nil; k, v = next() {
			seq, ok := keySeq(k)
			if !ok {
				continue // a key that is none is for Check to find
			}
			if a := s.apartOf(seq, addressOf(v)); a != rule.only {
				if alone && a != nil {
					s.floor = seq + 1
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

// standApart lists what waits by itself, for Standing. The lock is held.
func (s *stream) standApart() (all []Apart) {
	for a := range maps.Values(s.apart) {
		if !a.until.IsZero() {
			x := a.shown
			x.Next = s.again(a)
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b Apart) int { return strings.Compare(a.Address, b.Address) })
	return all
}
