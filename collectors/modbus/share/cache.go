package share

import (
	"errors"
	"slices"
	"sync"
	"time"

	"gauger/collectors/modbus/line"
)

// Cache keeps the raw answers of one unit, as they came, for a second master that asks us instead of the unit. A nil
// cache keeps nothing.
type Cache struct {
	address string // where the unit is shared
	unit    byte
	maxAge  time.Duration // how long an answer is fresh

	mu      sync.Mutex
	answers []cachedAnswer // the newest last
}

// cachedAnswer of the unit to one request: its data, or that it refuses the place.
type cachedAnswer struct {
	line.Span
	data    []byte
	refusal byte
	at      time.Time // zero: there is no answer
}

// maxAnswers in a cache. A plan has a few dozen requests, and the new ones replace the old.
const maxAnswers = 1024

// NewCache is for a unit that is shared at an address and has these places. An answer is fresh for maxAge.
func NewCache(address string, unit byte, maxAge time.Duration, places []line.Span) *Cache {
	s := &Cache{address: address, unit: unit, maxAge: maxAge}
	for _, p := range places {
		s.Forget(p)
	}
	return s
}

// StoreAnswer keeps the data of an answer.
func (s *Cache) StoreAnswer(where line.Span, data []byte) {
	if s != nil {
		s.add(cachedAnswer{Span: where, data: slices.Clone(data), at: time.Now()})
	}
}

// StoreRefusal keeps the unit's word that it does not have a place, unless the request was for several of them.
func (s *Cache) StoreRefusal(where line.Span, places int, why error) {
	e, refused := errors.AsType[*line.Exception](why)
	if s != nil && refused && line.RefusesAddress(why) && places == 1 {
		s.add(cachedAnswer{Span: where, refusal: e.Code, at: time.Now()})
	}
}

// Forget leaves a place known, but without an answer: nothing has come of it yet, or two answers contradict each other.
func (s *Cache) Forget(where line.Span) {
	if s != nil {
		s.add(cachedAnswer{Span: where})
	}
}

func (s *Cache) add(a cachedAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = slices.DeleteFunc(s.answers, func(old cachedAnswer) bool { return a.Span.Covers(old.Span) })
	s.answers = append(s.answers, a)
	s.answers = s.answers[max(0, len(s.answers)-maxAnswers):]
}

// The exceptions with which a shared unit is answered for (Modbus Application Protocol V1.1b3, section 7).
const (
	illegalFunction = 1  // it is only read here
	illegalAddress  = 2  // nobody reads this place
	illegalValue    = 3  // the request cannot be right
	targetSilent    = 11 // the unit has not answered for too long
)

// data is the data of a request, put together from the newest answers; else the exception code that says why not.
func (s *Cache) data(where line.Span, now time.Time) (data []byte, refusal byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stale := false
	data = make([]byte, where.Table.DataLength(where.Count))
	for i := range where.Count {
		one := line.Span{Table: where.Table, From: where.From + i, Count: 1}
		a, known := s.newestAnswer(one)
		switch {
		case !known:
			return nil, illegalAddress
		case a.refusal != 0:
			return nil, a.refusal
		case now.Sub(a.at) > s.maxAge:
			stale = true
		case where.Table.IsBits():
			data[i/8] |= a.Span.Cut(a.data, one)[0] << (i % 8)
		default:
			copy(data[where.Table.DataLength(i):], a.Span.Cut(a.data, one))
		}
	}
	if stale {
		return nil, targetSilent
	}
	return data, 0
}

func (s *Cache) newestAnswer(one line.Span) (cachedAnswer, bool) {
	for _, a := range slices.Backward(s.answers) {
		if a.Span.Covers(one) {
			return a, true
		}
	}
	return cachedAnswer{}, false
}

// Answer is the answer to one request of a second master, without the frame: data, or an exception.
func (s *Cache) Answer(pdu []byte, now time.Time) []byte {
	refuse := func(code byte) []byte { return []byte{pdu[0] | 0x80, code} }
	table, reads := line.TableOfFunction[pdu[0]]
	if !reads {
		return refuse(illegalFunction)
	}
	r, ok := line.ParseRequest(s.unit, pdu)
	if !ok || r.Check() != nil {
		return refuse(illegalValue)
	}
	where := line.Span{Table: table, From: int(r.Address), Count: int(r.Quantity)}
	data, code := s.data(where, now)
	if values := (line.Span{Table: table.Enron(), From: where.From, Count: where.Count}); code == illegalAddress && values.Table != table && values.Count <= values.Table.MaxQuantity() {
		data, code = s.data(values, now)
	}
	if code != 0 {
		return refuse(code)
	}
	return append([]byte{pdu[0], byte(len(data))}, data...)
}
