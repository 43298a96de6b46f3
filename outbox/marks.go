package outbox

import (
	"encoding/binary"
	"fmt"
	"time"
)

const (
	// parkAfter is how many ambiguous attempts in a row park a record of a Journal stream.
	parkAfter = 5
	// parkFor is how long a parked record waits when nobody retries it.
	parkFor = 24 * time.Hour
)

// mark is what is known of attempts that may have stored a record. Journal streams keep it in the file too, so that
// after a crash exactly the records that may have been sent are known.
type mark struct {
	started   bool      // an attempt was begun; its end may be unknown
	ambiguous int       // attempts that ended without a clear answer
	row       int       // those of them since the last clear one
	parked    time.Time // waits until then; zero: does not wait
	doubt     bool      // begun by a process that ended before it knew the end; not kept, but read so
}

func (m *mark) encode() []byte {
	v := []byte{0, byte(min(m.ambiguous, 255)), byte(min(m.row, 255))}
	if m.started {
		v[0] = 1
	}
	var until int64
	if !m.parked.IsZero() {
		until = m.parked.UnixNano()
	}
	return binary.LittleEndian.AppendUint64(v, uint64(until))
}

// decodeMark reads a mark after a start: an attempt that was begun may have stored the record.
func decodeMark(v []byte) *mark {
	if len(v) < 11 {
		return &mark{started: true, doubt: true}
	}
	m := &mark{started: v[0] != 0, ambiguous: int(v[1]), row: int(v[2])}
	m.doubt = m.started
	if until := int64(binary.LittleEndian.Uint64(v[3:])); until != 0 {
		m.parked = time.Unix(0, until)
	}
	return m
}

// attempt is what a Sender is told.
func (m *mark) attempt() int {
	if m == nil {
		return 0
	}
	if m.doubt {
		return m.ambiguous + 1
	}
	return m.ambiguous
}

// waits says that a parked record's day is not over. One that is more than a day away was parked by a clock that was ahead.
func (m *mark) waits(now time.Time) bool {
	return m != nil && m.parked.After(now) && m.parked.Sub(now) <= parkFor
}

// begin writes "attempt started" for the records of a Journal stream that have no such mark yet.
func (b *Box) begin(s *stream, batch []Record) error {
	if !s.Journal {
		return nil
	}
	return b.submit(func(g *group) error {
		for _, r := range batch {
			m := s.markOf(r.Seq)
			if m.started && m.parked.IsZero() {
				continue
			}
			m.parked, m.row, m.started = time.Time{}, rowAfter(m), true
			g.putSealed(s.marksBucket, seqKey(r.Seq), m.encode())
		}
		return nil
	})
}

// rowAfter is the row that an attempt continues: none when a parked record's day is over.
func rowAfter(m *mark) int {
	if m.parked.IsZero() {
		return m.row
	}
	return 0
}

func (s *stream) markOf(seq uint64) *mark {
	m := s.marks[seq]
	if m == nil {
		m = &mark{}
		s.marks[seq] = m
	}
	return m
}

// stageAmbiguous counts an attempt without a clear answer, and parks a journaled record after the fifth in a row.
func (b *Box) stageAmbiguous(g *group, s *stream, r Record, why string) {
	m := s.markOf(r.Seq)
	m.ambiguous++
	m.row++
	if !s.Journal {
		return
	}
	if m.row >= parkAfter {
		m.parked = time.Now().Add(parkFor)
		b.note(Note{Kind: NoteParked, Stream: s.Name, Seq: r.Seq, Count: m.ambiguous, Message: fmt.Sprintf(
			"record %d of %s was sent %d times without a clear answer (%s): it may be at the service; it waits for a retry or a day",
			r.Seq, s.Name, m.ambiguous, why)})
	}
	g.putSealed(s.marksBucket, seqKey(r.Seq), m.encode())
}

// nextParked returns when the first parked record's wait is over. The lock is held.
func (s *stream) nextParked(now time.Time) (first time.Time) {
	for _, m := range s.marks {
		if m.waits(now) && (first.IsZero() || m.parked.Before(first)) {
			first = m.parked
		}
	}
	return first
}
