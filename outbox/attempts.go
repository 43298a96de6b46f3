package outbox

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"gauger/outbox/receipts"
)

const (
	// parkAfter: so many ambiguous attempts in a row park a record of a Journal stream.
	parkAfter = 5
	// parkFor: a parked record waits so long when nobody retries it.
	parkFor = 24 * time.Hour
	// unclearWait is the first wait of a record after an attempt without a clear answer, since each may have stored it, and unclearGrowth how
	// each further one in a row grows: five last some ten minutes, so that a proxy's restart does not use them up.
	unclearWait   = 15 * time.Second
	unclearGrowth = 3
	// asideAfter: after so many in a row the others go by; once others were taken meanwhile the next unclear one parks the record, since what
	// it meets is no outage, and each further attempt may only be one more copy.
	asideAfter = 2
	// maxSeen bounds what is kept of the last such attempt's words, in bytes.
	maxSeen = 160
	// cutOffSeen stands for the words of an answer that nobody waited for.
	cutOffSeen = "gauger stopped before the answer came; the service may have it"
)

// What an entry of the journal begins with. A version before wrote 1 before the first request and let it stand whatever the
// answers were; it takes any other than 0 for that.
const (
	notAsked = iota
	askedOnce
	answered
	inFlight
)

// Unclear is what is known of the attempts that ended without a clear answer: any of them may have stored the record.
type Unclear struct {
	Count       int
	First, Last time.Time // zero where a version before did not keep them, and for a receipt
	Seen        string    // at the last one
}

// add counts one more.
func (u *Unclear) add(at time.Time, seen string) {
	if u.Count++; u.First.IsZero() {
		u.First = at
	}
	u.Last, u.Seen = at, receipts.Shorten(seen, maxSeen)
}

// attempts counts the requests for one record that may have stored it. Journal streams keep it in the file too, so that
// after a crash exactly the records that may have been sent are known.
type attempts struct {
	Unclear
	started     bool      // a request was begun, whatever became of it
	begun       time.Time // of the request whose answer is awaited; zero: none is
	late        int       // of the last ones, those without an answer in time; not kept
	inARow      int       // of the unclear ones since the last clear one
	parkedUntil time.Time // waits until then; zero: does not wait
	cutOff      bool      // the file has a request whose answer is awaited, which is counted here; not kept, but read so
}

func (m *attempts) encode() []byte {
	v := []byte{notAsked, byte(min(m.Count, 255)), byte(min(m.inARow, 255))}
	last := m.Last
	switch {
	case !m.begun.IsZero():
		v[0], last = inFlight, m.begun
	case m.started:
		v[0] = answered
	}
	v = appendTime(v, m.parkedUntil)
	if m.Count > 0 || v[0] == inFlight { // behind what an older program reads
		v = append(appendTime(appendTime(v, m.First), last), m.Seen...)
	}
	return v
}

// appendTime writes nanoseconds since 1970; 0 is no time.
func appendTime(v []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(v, make([]byte, 8)...)
	}
	return binary.LittleEndian.AppendUint64(v, uint64(t.UnixNano()))
}

func readTime(v []byte) (t time.Time) {
	if nanos := int64(binary.LittleEndian.Uint64(v)); nanos != 0 {
		t = time.Unix(0, nanos)
	}
	return t
}

// decodeAttempts reads an entry of the journal after a start: a request whose answer was awaited may have stored the record, and
// counts as one without a clear answer, at the time when it was begun.
func decodeAttempts(v []byte) *attempts {
	const head, times = 11, 16
	if len(v) < head {
		return &attempts{started: true, cutOff: true, Unclear: Unclear{Count: 1}}
	}
	m := &attempts{Unclear: Unclear{Count: int(v[1])}, started: v[0] != notAsked, inARow: int(v[2]), parkedUntil: readTime(v[3:])}
	kind := v[0]
	if v = v[head:]; len(v) >= times {
		m.First, m.Last, m.Seen = readTime(v), readTime(v[8:]), string(v[times:])
	}
	switch {
	case kind == inFlight:
		m.begun = m.Last
		m.endCutOff()
	case kind == askedOnce && m.parkedUntil.IsZero(): // what was parked had its answer
		m.Count++
		m.cutOff = true
	}
	return m
}

// endCutOff counts a request whose answer nobody waited for.
func (m *attempts) endCutOff() {
	m.add(m.begun, cutOffSeen)
	m.inARow++
	m.begun, m.cutOff = time.Time{}, true
	if m.inARow >= parkAfter {
		m.parkedUntil = m.Last.Add(parkFor)
	}
}

// maybeStored counts the attempts that may have stored the record, for Record.Attempt.
func (m *attempts) maybeStored() int {
	if m == nil {
		return 0
	}
	return m.Count
}

// nextAfterUnclear says how long a record still waits after an attempt without a clear answer, also one before a restart: not longer
// than its wait, whatever the clock did meanwhile.
func (m *attempts) nextAfterUnclear(now time.Time) time.Duration {
	if m.inARow == 0 || m.Last.IsZero() || !m.parkedUntil.IsZero() {
		return 0
	}
	wait := waitAfterUnclear(m.inARow)
	return min(wait-now.Sub(m.Last), wait)
}

// isParked says that a parked record's day is not over. One that is more than a day away was parked by a clock that was ahead.
func (m *attempts) isParked(now time.Time) bool {
	return m != nil && m.parkedUntil.After(now) && m.parkedUntil.Sub(now) <= parkFor
}

// inARowAfter is the row that an attempt continues: a parked record whose day is over goes once, and not five times a day.
func inARowAfter(m *attempts) int {
	if m.parkedUntil.IsZero() {
		return m.inARow
	}
	return parkAfter - 1
}

// waitAfterUnclear is the wait after the attempt that was the given one in a row, half as much more or less.
//
//go:noinline
func waitAfterUnclear(inARow int) time.Duration {
	d := unclearWait
	for range inARow - 1 {
		d *= unclearGrowth
	}
	return d/2 + rand.N(d)
}
