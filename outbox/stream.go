package outbox

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"
)

// stream is one queue in memory: its rules, its counts, and what its drain is at.
type stream struct {
	Stream
	queueBucket, deadBucket, attemptsBucket string

	counts      streamCounts
	nameSum     uint32               // where a record's checksum begins
	staged      uint64               // records of the running Tx
	stagedBytes uint64               // what they add to the quota
	inFlight    map[uint64]bool      // being sent, or its outcome being committed
	attempts    map[uint64]*attempts // attempts that may have stored a record
	draining    bool
	grown       int           // records a request may have, where that is more than Batch by now
	thinnedUpTo uint64        // thinning goes on after this record
	wake        chan struct{} // holds one: there may be something to send
	kick        chan struct{} // holds one: do not wait any longer
	drainStatus DrainStatus
	isolation
	unreachable atomic.Bool // its drain waits because the service could not be reached, not because it refused

	highestDelivered atomic.Uint64 // sequence number
	offer            *offer        // that its drain is to send before it is stored; nil: nothing
}

func newStream(o Stream) *stream {
	o.Batch = max(o.Batch, 1)
	return &stream{
		Stream: o, queueBucket: prefixQueue + o.Name, deadBucket: prefixDead + o.Name, attemptsBucket: prefixAttempts + o.Name,
		counts: streamCounts{nextSeq: 1}, nameSum: nameSum(o.Name), inFlight: map[uint64]bool{}, attempts: map[uint64]*attempts{},
		isolation: isolation{failing: map[destination]*failingDestination{}},
		wake:      make(chan struct{}, 1), kick: make(chan struct{}, 1),
	}
}

// signal leaves a signal in wake or kick, which hold one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// clearSignal forgets a signal.
func (s *stream) clearSignal() {
	select {
	case <-s.wake:
	default:
	}
}

// batchLimit counts the records that a request may have.
func (s *stream) batchLimit() int {
	if s.counts.limit > 0 {
		return int(min(s.counts.limit, uint64(s.Batch)))
	}
	return max(s.Batch, s.grown)
}

func (s *stream) attemptsOf(seq uint64) *attempts {
	m := s.attempts[seq]
	if m == nil {
		m = &attempts{}
		s.attempts[seq] = m
	}
	return m
}

// neverSent says that no request was ever made for a waiting record; of a stream without a journal nobody knows. The lock is held.
func (s *stream) neverSent(seq uint64) bool {
	m := s.attempts[seq]
	return s.Journal && (m == nil || !m.started)
}

// nextParked returns when the first parked record's wait is over. The lock is held.
func (s *stream) nextParked(now time.Time) (first time.Time) {
	for _, m := range s.attempts {
		if m.isParked(now) && (first.IsZero() || m.parkedUntil.Before(first)) {
			first = m.parkedUntil
		}
	}
	return first
}

// used counts the bytes of the records and dead letters of one stream.
func (s *stream) used() int64 { return int64(s.counts.bytes + s.counts.deadBytes) }

// retryDestination lets the destination of a record be looked at at once, if it has one. The lock is held.
func (s *stream) retryDestination(seq uint64, address []byte) {
	if a := s.failingOf(seq, address); a != nil {
		a.recheck()
		s.lastIsolatedTry = time.Time{}
		signal(s.wake) // nothing of it is in the file
	}
}

// noteTaken notes that the service has taken records: their destinations are well again, and whatever else was not taken
// is tried once more. The lock is held.
func (s *stream) noteTaken(n *notes, taken []Record) {
	if len(s.failing) == 0 {
		return
	}
	for _, r := range taken {
		p := destinationOf(r)
		if a := s.failing[p]; a != nil && !a.isolatedUntil.IsZero() {
			n.note(Note{Kind: NoteRejoined, Stream: s.Name, Address: p.address, Seq: p.seq}, "%s is taken, after %s", p, time.Since(a.report.Since).Round(time.Second))
		}
		s.rejoin(p)
	}
	for _, a := range s.failing {
		a.othersTaken = true
	}
}

// Counts says what became of every record of one stream. At any time, over restarts and salvage:
//
//	Accepted = Delivered + Waiting + Dead + Evicted + Dropped + Lost
type Counts struct {
	Accepted  uint64 // appended and committed
	Delivered uint64 // the service has them
	Waiting   uint64 // in the queue, parked ones among them
	Dead      uint64 // dead letters, kept for a person
	Evicted   uint64 // gave way to the quota
	Dropped   uint64 // given up by a person, or good for nothing
	Lost      uint64 // were in a damaged file and could not be read from it
	// LostUnknown says that more than Lost may be lost, and more than Accepted have been accepted: damage took the counts
	// as well, and nothing beside the file tells them. It stays.
	LostUnknown bool
}

// Balanced reports whether every accepted record is accounted for.
func (c Counts) Balanced() bool { return c.Accepted == c.placed() }

// placed counts the records of which it is known where they ended.
func (c Counts) placed() uint64 {
	return c.Delivered + c.Waiting + c.Dead + c.Evicted + c.Dropped + c.Lost
}

// streamCounts is a stream's row in the file.
type streamCounts struct {
	Counts
	nextSeq   uint64 // sequence number of the next record
	bytes     uint64 // size of the waiting records, as the quota counts
	deadBytes uint64 // size of the dead letters
	limit     uint64 // records a request at most, halved by answers "too large"; 0: the stream's own
}

// writeOff counts as lost what was accepted and is in none of the places. It returns how many that are.
func (l *streamCounts) writeOff() (lost uint64) {
	l.Accepted = max(l.Accepted, l.nextSeq-1, l.placed()) // every number was given to a record
	lost = l.Accepted - l.placed()
	l.Lost += lost
	return lost
}

func (l *streamCounts) fields() []*uint64 {
	return []*uint64{&l.Accepted, &l.Delivered, &l.Waiting, &l.Dead, &l.Evicted, &l.Dropped, &l.Lost,
		&l.nextSeq, &l.bytes, &l.deadBytes, &l.limit}
}

func (l *streamCounts) encode() []byte {
	var v []byte
	for _, f := range l.fields() {
		v = binary.AppendUvarint(v, *f)
	}
	if l.LostUnknown { // behind what an older program reads
		v = append(v, 1)
	}
	return v
}

func (l *streamCounts) decode(v []byte) error {
	for _, f := range l.fields() {
		n, size := binary.Uvarint(v)
		if size <= 0 {
			return fmt.Errorf("counts of only %d fields", len(l.fields()))
		}
		*f, v = n, v[size:]
	}
	l.LostUnknown = len(v) > 0 && v[0] != 0
	return nil
}
