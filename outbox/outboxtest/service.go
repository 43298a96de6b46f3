// Package outboxtest has what tests of an outbox need: a service that takes, refuses and forgets as told, and a model
// in memory that says what a box must hold.
package outboxtest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gauger/outbox"
)

// Service is an outbox.Sender with a store of its own. The zero value takes everything. The fields are set before use.
type Service struct {
	// Refuse says which records are poison: a request with one of them is refused whole.
	Refuse func(stream string, r outbox.Record) bool
	// Limit counts the records that a request may have; more are too large. 0: any number.
	Limit int
	// Fault is asked first, with the number of the request from 1. When ok, its receipt answers for the whole request;
	// with Class Ambiguous and stored, the records are stored before the answer is lost.
	Fault func(n int, stream string, batch []outbox.Record) (answer outbox.Answer, stored, ok bool)

	mu       sync.Mutex
	requests int
	taken    map[string][]outbox.Record
	times    map[string]int
}

// Send is one request.
func (s *Service) Send(_ context.Context, stream string, batch []outbox.Record) []outbox.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.Fault != nil {
		if answer, stored, ok := s.Fault(s.requests, stream, batch); ok {
			if stored {
				s.store(stream, batch)
			}
			return slices.Repeat([]outbox.Answer{answer}, len(batch))
		}
	}
	return slices.Repeat([]outbox.Answer{s.judge(stream, batch)}, len(batch))
}

func (s *Service) judge(stream string, batch []outbox.Record) outbox.Answer {
	if s.Limit > 0 && len(batch) > s.Limit {
		return outbox.Answer{Class: outbox.TooLarge, Status: 413}
	}
	for _, r := range batch {
		if s.Refuse != nil && s.Refuse(stream, r) {
			return outbox.Answer{Class: outbox.Poison, Status: 400, CorrelationID: "corr-400", Message: "invalid request"}
		}
	}
	s.store(stream, batch)
	return outbox.Answer{Class: outbox.Stored, Status: 200}
}

func (s *Service) store(stream string, batch []outbox.Record) {
	if s.taken == nil {
		s.taken, s.times = map[string][]outbox.Record{}, map[string]int{}
	}
	for _, r := range batch {
		s.taken[stream] = append(s.taken[stream], r)
		s.times[key(stream, r.Seq)]++
	}
}

func key(stream string, seq uint64) string { return fmt.Sprintf("%s/%d", stream, seq) }

// Requests returns how many requests came.
func (s *Service) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Taken returns what was stored of a stream, in the order of storing.
func (s *Service) Taken(stream string) []outbox.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.taken[stream])
}

// Times returns how often a record was stored.
func (s *Service) Times(stream string, seq uint64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.times[key(stream, seq)]
}

// Doubled returns how many storings were of a record that was stored already.
func (s *Service) Doubled() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, times := range s.times {
		n += times - 1
	}
	return n
}
