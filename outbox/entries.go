package outbox

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"gauger/outbox/receipts"
)

// State of a record: the place where it is.
type State uint8

// The states that a person can look into. The values are kept in the receipts file.
const (
	Waiting   State = 1                         // in the queue, or parked
	Dead      State = 2                         // a dead letter
	Delivered State = State(receipts.Delivered) // the service has it; known from its receipt
	Dropped   State = State(receipts.Dropped)   // given up by a person; known from the receipts too
)

// String is the lower-case word that people and programs see.
func (s State) String() string {
	words := [...]string{"unknown", "waiting", "dead", "delivered", "dropped"}
	if int(s) < len(words) {
		return words[s]
	}
	return words[0]
}

// Entry is all that is known of one record.
type Entry struct {
	Stream string
	State  State
	Record Record // only Seq and At for a delivered or dropped one
	// Reason says why a record is a dead letter or was dropped.
	Reason string
	// Class is the last answer's for a dead letter.
	Class         Class
	Status        int       // HTTP status of the last answer, of dead letters and delivered ones
	CorrelationID string    // of the last answer
	Since         time.Time // when it became a dead letter, was delivered or was dropped
	Parked        time.Time // a waiting record is not sent before; zero: it is not parked
	Again         time.Time // a waiting record without a clear answer goes again then, by itself; zero: it does not wait by itself
	Unclear       Unclear   // sends without a clear answer, of waiting, delivered and dropped ones
	NeverSent     bool      // a waiting record of a Journal stream for which no request was made yet
	Confirmed     string    // of a delivered one the words of a person who says that the service has it; "": the service said so
	// Label has the words of Options.Label for a delivered record, or why it was dropped.
	Label string
	// Raw has the bytes of a dead letter that cannot be read as a record; Record has only its Seq then.
	Raw []byte
}

// unclearBefore begins what a dead letter's reason says of its sends without a clear answer.
const unclearBefore = "; before that sent "

// MaybeStored says that the service may have a record that it has not acknowledged, by one of its sends without a clear answer.
func (e *Entry) MaybeStored() bool {
	return e.State != Delivered && (e.Unclear.Count > 0 || e.State == Dead && strings.Contains(e.Reason, unclearBefore))
}

const (
	pageEntries = 256
	pageBytes   = 256 << 10
)

// Entries returns the records of a stream in one state, by sequence number, those behind after. limit is cut to 256
// records and 256 KiB of bodies; a page shorter than limit is not the end, an empty one is. Delivered ones come without
// bodies.
func (b *Box) Entries(stream string, state State, after uint64, limit int) ([]Entry, error) {
	s := b.streams[stream]
	if s == nil {
		return nil, fmt.Errorf("list %q: %w", stream, ErrStream)
	}
	if limit <= 0 || limit > pageEntries {
		limit = pageEntries
	}
	switch state {
	case Waiting:
		return b.walk(s, s.queueBucket, after, limit, b.waitingEntry)
	case Dead:
		return b.walk(s, s.deadBucket, after, limit, b.deadEntry)
	case Delivered, Dropped:
		return b.receiptEntries(s, state, after, limit)
	}
	return nil, fmt.Errorf("list %s: state %d: %w", stream, state, ErrRefused)
}

// All are the records of a stream in one state behind a sequence number, as Entries has them; it ends with an error.
func (b *Box) All(stream string, state State, after uint64) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for {
			page, err := b.Entries(stream, state, after, 0)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if len(page) == 0 {
				return
			}
			for _, e := range page {
				if after = e.Record.Seq; !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Entry finds one record of a stream, in whatever state it is. ErrRecord: it never was, or it is too long ago.
func (b *Box) Entry(stream string, seq uint64) (Entry, error) {
	if seq > 0 && b.streams[stream] == nil {
		return Entry{}, fmt.Errorf("look for record %d of %q: %w", seq, stream, ErrStream)
	}
	if seq > 0 {
		if e, ok, err := b.inFile(b.streams[stream], seq); ok || err != nil {
			if r, known, wrong := b.receipts.Find(stream, seq); known && wrong == nil && provesDelivered(r, e) {
				return receiptEntry(r), nil
			}
			return e, err
		}
		if r, ok, err := b.receipts.Find(stream, seq); ok || err != nil {
			return receiptEntry(r), err
		}
	}
	return Entry{}, fmt.Errorf("record %d of %s: %w", seq, stream, ErrRecord)
}

// provesDelivered says that the service has a record that is still in the queue, since its deletion waits for another's
// (deleteWithNext): the receipt is kept before. Numbers may come again behind a salvage, so that it must be of the very record.
func provesDelivered(r receipts.Receipt, e Entry) bool {
	return e.State == Waiting && r.Outcome == receipts.Delivered && e.Record.sum == r.RecordSum && e.Record.At.Equal(r.Enqueued)
}

// inFile finds a record in the queue or among the dead letters. One that is being moved is waited for: until its commit it
// would be seen in neither.
func (b *Box) inFile(s *stream, seq uint64) (e Entry, ok bool, err error) {
	b.mu.Lock()
	for b.leaving[recordRef{bucket: s.queueBucket, seq: seq}] || b.leaving[recordRef{bucket: s.deadBucket, seq: seq}] {
		moving := []*group{b.running, b.next}
		b.mu.Unlock()
		for _, g := range moving {
			if g != nil {
				<-g.done
			}
		}
		b.mu.Lock()
	}
	defer b.mu.Unlock()
	err = b.view("look for a record of "+s.Name, func(tx *bbolt.Tx) error {
		k := seqKey(seq)
		if v := tx.Bucket([]byte(s.queueBucket)).Get(k); v != nil {
			e, ok = b.waitingEntry(s, k, v), true
		} else if v := tx.Bucket([]byte(s.deadBucket)).Get(k); v != nil {
			e, ok = b.deadEntry(s, k, v), true
		}
		return nil
	})
	return e, ok, err
}

func (b *Box) walk(s *stream, bucket string, after uint64, limit int, read func(*stream, []byte, []byte) Entry) (all []Entry, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	err = b.view("list "+s.Name, func(tx *bbolt.Tx) error {
		size := 0
		c := tx.Bucket([]byte(bucket)).Cursor()
		for k, v := c.Seek(seqKey(after + 1)); k != nil && len(all) < limit && size < pageBytes; k, v = c.Next() {
			seq, ok := keySeq(k)
			if !ok || b.leaving[recordRef{bucket: bucket, seq: seq}] {
				continue
			}
			all, size = append(all, read(s, k, v)), size+len(v)
		}
		return nil
	})
	return all, err
}

func (b *Box) waitingEntry(s *stream, k, v []byte) Entry {
	e := Entry{Stream: s.Name, State: Waiting}
	e.readRecord(k, v)
	e.NeverSent = s.neverSent(e.Record.Seq)
	if m := s.attempts[e.Record.Seq]; m != nil {
		e.Record.Attempt, e.Parked, e.Unclear = m.maybeStored(), m.parkedUntil, m.Unclear
	}
	if a := s.failing[destinationOf(e.Record)]; a != nil && a.unclear && slices.Contains(a.sameAgain, e.Record.Seq) {
		e.Again = s.nextTry(a)
	}
	return e
}

func (b *Box) deadEntry(s *stream, k, v []byte) Entry {
	e := Entry{Stream: s.Name, State: Dead}
	t, value, err := unsealDeadLetter(s, k, v)
	if err != nil {
		e.Record.Seq, _ = keySeq(k)
		e.Raw, e.Reason = bytes.Clone(v), err.Error()
		return e
	}
	e.readRecord(k, value)
	e.Reason, e.Class, e.Status, e.CorrelationID, e.Since = t.reason, t.class, t.status, t.correlation, t.at
	return e
}

func (e *Entry) readRecord(k, v []byte) {
	r, err := decodeRecord(e.Stream, k, v)
	e.Record = r
	if err != nil {
		e.Raw, e.Reason = bytes.Clone(v), err.Error()
	}
}

func (b *Box) receiptEntries(s *stream, state State, after uint64, limit int) ([]Entry, error) {
	if err := b.Err(); err != nil {
		return nil, err
	}
	found, err := b.receipts.Page(s.Name, receipts.Outcome(state), after, limit)
	all := make([]Entry, len(found))
	for i, r := range found {
		all[i] = receiptEntry(r)
	}
	return all, err
}

func receiptEntry(r receipts.Receipt) Entry {
	return Entry{Stream: r.Stream, State: State(r.Outcome), Record: Record{Seq: r.Seq, At: r.Enqueued},
		Status: r.Status, CorrelationID: r.Correlation, Since: r.At, Label: r.Label,
		Unclear: Unclear{Count: r.Unclear}, Confirmed: r.Confirmed}
}
