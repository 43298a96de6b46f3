package outbox

import (
	"encoding/binary"
	"time"
)

const (
	// parkAfter: so many ambiguous attempts in a row park a record of a Journal stream.
	parkAfter = 5
	// parkFor: a parked record waits so long when nobody retries it.
	parkFor = 24 * time.Hour
)

// attempts counts the requests for one record that may have stored it. Journal streams keep it in the file too, so that
// after a crash exactly the records that may have been sent are known.
type attempts struct {
	started     bool      // an attempt was begun; its end may be unknown
	ambiguous   int       // attempts that ended without a clear answer
	inARow      int       // those of them since the last clear one
	parkedUntil time.Time // waits until then; zero: does not wait
	endUnknown  bool      // begun by a process that ended before it knew the end; not kept, but read so
}

func (m *attempts) encode() []byte {
	v := []byte{0, byte(min(m.ambiguous, 255)), byte(min(m.inARow, 255))}
	if m.started {
		v[0] = 1
	}
	var until int64
	if !m.parkedUntil.IsZero() {
		until = m.parkedUntil.UnixNano()
	}
	return binary.LittleEndian.AppendUint64(v, uint64(until))
}

// decodeAttempts reads an entry of the journal after a start: an attempt that was begun may have stored the record.
func decodeAttempts(v []byte) *attempts {
	if len(v) < 11 {
		return &attempts{started: true, endUnknown: true}
	}
	m := &attempts{started: v[0] != 0, ambiguous: int(v[1]), inARow: int(v[2])}
	m.endUnknown = m.started
	if until := int64(binary.LittleEndian.Uint64(v[3:])); until != 0 {
		m.parkedUntil = time.Unix(0, until)
	}
	return m
}

// maybeStored counts the attempts that may have stored the record, for Record.Attempt.
func (m *attempts) maybeStored() int {
	if m == nil {
		return 0
	}
	if m.endUnknown {
		return m.ambiguous + 1
	}
	return m.ambiguous
}

// isParked says that a parked record's day is not over. One that is more than a day away was parked by a clock that was ahead.
func (m *attempts) isParked(now time.Time) bool {
	return m != nil && m.parkedUntil.After(now) && m.parkedUntil.Sub(now) <= parkFor
}

// inARowAfter is the row that an attempt continues: none when a parked record's day is over.
func inARowAfter(m *attempts) int {
	if m.parkedUntil.IsZero() {
		return m.inARow
	}
	return 0
}
