package outbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"gauger/outbox/receipts"
)

// deadHeader stands before the record's own value in a dead letter.
type deadHeader struct {
	at          time.Time
	class       Class
	status      int
	correlation string
	reason      string
}

// encodeDeadLetter puts the words before the record's value; the whole is sealed by the caller.
func encodeDeadLetter(t deadHeader, value []byte) []byte {
	t.correlation, t.reason = receipts.Shorten(t.correlation, receipts.MaxCorrelation), receipts.Shorten(t.reason, maxReason)
	var v []byte
	v = binary.LittleEndian.AppendUint64(v, uint64(t.at.UnixNano()))
	v = binary.LittleEndian.AppendUint16(v, uint16(t.status))
	v = append(v, byte(t.class), byte(len(t.correlation)))
	v = binary.LittleEndian.AppendUint16(v, uint16(len(t.reason)))
	v = append(v, t.correlation...)
	v = append(v, t.reason...)
	return append(v, value...)
}

func decodeDeadLetter(v []byte) (deadHeader, []byte, error) {
	const head = 14
	if len(v) < head {
		return deadHeader{}, nil, fmt.Errorf("dead letter of only %d bytes", len(v))
	}
	corr, reason := int(v[11]), int(binary.LittleEndian.Uint16(v[12:]))
	if len(v) < head+corr+reason {
		return deadHeader{}, nil, fmt.Errorf("dead letter of only %d bytes", len(v))
	}
	t := deadHeader{
		at:          time.Unix(0, int64(binary.LittleEndian.Uint64(v))),
		status:      int(binary.LittleEndian.Uint16(v[8:])),
		class:       Class(v[10]),
		correlation: string(v[head : head+corr]),
		reason:      string(v[head+corr : head+corr+reason]),
	}
	return t, v[head+corr+reason:], nil
}

func unsealDeadLetter(s *stream, k, v []byte) (deadHeader, []byte, error) {
	content, _, err := unseal(s.deadBucket, k, v)
	if err != nil {
		return deadHeader{}, nil, err
	}
	return decodeDeadLetter(content)
}

func deadLetterCost(content []byte) uint64 { return pageCost(sealHeader + len(content)) }

func (b *Box) stageDeadLetter(g *group, s *stream, seq uint64, value []byte, t deadHeader) {
	b.stageRemoval(g, s, s.queueBucket, seq)
	content := encodeDeadLetter(t, value)
	g.putSealed(s.deadBucket, seqKey(seq), content)
	s.counts.Waiting--
	s.counts.Dead++
	s.counts.bytes -= storedCost(value)
	s.counts.deadBytes += deadLetterCost(content)
}

func (b *Box) noteDeadLetter(s *stream, seq uint64, t deadHeader) {
	b.note(Note{Kind: NoteDeadLetter, Stream: s.Name, Seq: seq, Count: 1}, "record %d of %s became a dead letter: %s", seq, s.Name, t.reason)
}

// deadLetterCorrupt makes dead letters of records whose bytes cannot be trusted; they are never sent.
func (b *Box) deadLetterCorrupt(s *stream, all []corruptRecord) error {
	if len(all) == 0 {
		return nil
	}
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, r := range all {
			delete(s.inFlight, r.seq)
		}
	}()
	for _, r := range all {
		reason := "the record was damaged in the file and was not sent: " + r.why.Error()
		if !errors.Is(r.why, errChecksum) {
			reason = "the record cannot be read and was not sent: " + r.why.Error()
		}
		t := deadHeader{at: time.Now(), reason: reason}
		err := b.submit(func(g *group) error { b.stageDeadLetter(g, s, r.seq, r.value, t); return nil })
		if err != nil {
			return err
		}
		b.noteDeadLetter(s, r.seq, t)
	}
	return nil
}

// corruptRecord is a record whose bytes cannot be trusted.
type corruptRecord struct {
	seq   uint64
	value []byte
	why   error
}
