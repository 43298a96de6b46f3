package modbus

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// shelf keeps the raw answers of one unit, as they came, for a second master that asks us instead of the unit. A nil
// shelf keeps nothing.
type shelf struct {
	address string // where the unit is shared
	unit    byte
	keep    time.Duration // how long an answer is fresh

	mu      sync.Mutex
	answers []shelved // the newest last
}

// shelved is what the unit said to one request: its data, or that it refuses the place.
type shelved struct {
	span
	data    []byte
	refusal byte
	at      time.Time // zero: there is no answer
}

// shelfMost is how many answers a shelf holds. A plan has a few dozen requests, and the new ones replace the old.
const shelfMost = 1024

// newShelf is nil for a device that is not shared. An answer is fresh for two rounds and a time-out: one that is
// late in one round is there in the next.
func newShelf(address string, d *device) *shelf {
	if address == "" {
		return nil
	}
	s := &shelf{address: address, unit: d.unit, keep: 2*d.every + d.timeout}
	for _, p := range placesOf(d.points, func(*point) bool { return true }) {
		s.forget(p.span)
	}
	return s
}

// put keeps the data of an answer.
func (s *shelf) put(where span, data []byte) {
	if s != nil {
		s.add(shelved{span: where, data: slices.Clone(data), at: time.Now()})
	}
}

// refuse keeps the unit's word that it does not have a place.
func (s *shelf) refuse(b block, why error) {
	e, refused := errors.AsType[*Exception](why)
	if s != nil && refused && refusesAddress(why) && b.spans == 1 {
		s.add(shelved{span: b.span, refusal: e.Code, at: time.Now()})
	}
}

// forget leaves a place known, but without an answer: nothing has come of it yet, or two answers contradict each other.
func (s *shelf) forget(where span) {
	if s != nil {
		s.add(shelved{span: where})
	}
}

func (s *shelf) add(a shelved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = slices.DeleteFunc(s.answers, func(old shelved) bool { return covers(a.span, old.span) })
	s.answers = append(s.answers, a)
	s.answers = s.answers[max(0, len(s.answers)-shelfMost):]
}

// The exceptions with which a shared unit is answered for (Modbus Application Protocol V1.1b3, section 7).
const (
	codeFunction = 1  // it is only read here
	codeAddress  = 2  // nobody reads this place
	codeQuantity = 3  // the request cannot be right
	codeSilent   = 11 // the unit has not answered for too long
)

// take is the data of a request, put together from the newest answers; else the exception code that says why not.
func (s *shelf) take(where span, now time.Time) (data []byte, refusal byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stale := false
	data = make([]byte, where.table.bytes(where.count))
	for i := range where.count {
		one := span{where.table, where.from + i, 1}
		a, known := s.newest(one)
		switch {
		case !known:
			return nil, codeAddress
		case a.refusal != 0:
			return nil, a.refusal
		case now.Sub(a.at) > s.keep:
			stale = true
		case where.table.bits():
			data[i/8] |= cut(a.data, a.span, one)[0] << (i % 8)
		default:
			copy(data[where.table.bytes(i):], cut(a.data, a.span, one))
		}
	}
	if stale {
		return nil, codeSilent
	}
	return data, 0
}

func (s *shelf) newest(one span) (shelved, bool) {
	for _, a := range slices.Backward(s.answers) {
		if covers(a.span, one) {
			return a, true
		}
	}
	return shelved{}, false
}

// answer is the answer to one request of a second master, without the frame: data, or an exception.
func (s *shelf) answer(pdu []byte, now time.Time) []byte {
	refuse := func(code byte) []byte { return []byte{pdu[0] | 0x80, code} }
	table, reads := tableOf[pdu[0]]
	if !reads {
		return refuse(codeFunction)
	}
	r, ok := envelope{unit: s.unit, pdu: pdu}.asks()
	if !ok || r.check() != nil {
		return refuse(codeQuantity)
	}
	where := span{table, int(r.Address), int(r.Quantity)}
	data, code := s.take(where, now)
	if values := (span{table.withEnron(), where.from, where.count}); code == codeAddress && values.table != table && values.count <= values.table.most() {
		data, code = s.take(values, now)
	}
	if code != 0 {
		return refuse(code)
	}
	return append([]byte{pdu[0], byte(len(data))}, data...)
}
