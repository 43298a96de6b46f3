package cloud

import (
	"sync"
	"time"

	"gauger/agent/cloud/keys"
)

// scopesLast is how long an operation that takes a key speaks for it where another refuses it. A site may use no other operation but the
// weekly renewals: then one of those is asked for again after so long.
const scopesLast = 24 * time.Hour

// scopesMost bounds the keys that are remembered. A renewal may bring a new one each week.
const scopesMost = 64

// scopes tell a key that the service refuses from an operation that it refuses to every key: a subscription may lack one. A key that another
// operation has taken since is no dead key; no new one would help.
type scopes struct {
	mu      sync.Mutex
	refused map[Operation]time.Time                 // since when the operation takes no key
	taken   map[keys.Secret]map[Operation]time.Time // when an operation took the key last
}

// noteRefused notes that an operation has refused a key.
func (s *scopes) noteRefused(op Operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused == nil {
		s.refused = map[Operation]time.Time{}
	}
	if s.refused[op].IsZero() {
		s.refused[op] = time.Now()
	}
}

// noteTaken notes that an operation has taken a key.
func (s *scopes) noteTaken(op Operation, key keys.Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.refused, op)
	if s.taken == nil || len(s.taken) > scopesMost {
		s.taken = map[keys.Secret]map[Operation]time.Time{}
	}
	if s.taken[key] == nil {
		s.taken[key] = map[Operation]time.Time{}
	}
	s.taken[key][op] = time.Now()
}

// elsewhere says what was being done when the service took one of the keys since the operation refuses them; empty: it took none.
func (s *scopes) elsewhere(op Operation, all []keys.Secret) (doing string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := s.refused[op]
	if since.IsZero() {
		return ""
	}
	var newest time.Time
	for _, key := range all {
		for other, at := range s.taken[key] {
			if other != op && !at.Before(since) && time.Since(at) < scopesLast && at.After(newest) {
				newest, doing = at, routes[other].doing
			}
		}
	}
	return doing
}

// forget forgets who took a key, since the service refuses it.
func (s *scopes) forget(key keys.Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.taken, key)
}
