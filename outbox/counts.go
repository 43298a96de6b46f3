package outbox

import (
	"encoding/binary"
	"fmt"
)

// Counts says what became of every record of one stream. At any time, over restarts and salvage:
//
//	Accepted = Delivered + Waiting + Dead + Evicted + Dropped + Lost
type Counts struct {
	Accepted  uint64 // appended and committed
	Delivered uint64 // the service has them
	Waiting   uint64 // in the queue, parked ones among them
	Dead      uint64 // dead letters, kept for a person
	Evicted   uint64 // gave way to the quota
	Dropped   uint64 // given up by a person
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
