package cloud

import (
	"sync"
	"time"

	"gauger/agent/cloud/keys"
)

// scopesLast is how long an operation that takes a key speaks for it where another refuses it. A site may use no other operation but the
// weekly renewals: then one of those is asked for again after so long.
const scopesLast = 24 * time.Hour

// scopesMost bounds what is remembered. A renewal may bring a new key each week.
const scopesMost = 64

// scopes tell a key that the service refuses from an operation that it refuses to every key: a subscription may lack one. A key that another
// operation has taken since is no dead key; no new one would help.
type scopes struct {
	mu      sync.Mutex
	refused [len(routes)]time.Time // since when an operation takes no key
	taken   []takenKey
}

// takenKey is when an operation took a key last.
type takenKey struct {
	op  Operation
	key keys.Secret
	at  time.Time
}

// note notes whether an operation takes a key.
func (s *scopes) note(op Operation, key keys.Secret, taken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !taken {
		if s.refused[op].IsZero() {
			s.refused[op] = now
		}
		return
	}
	s.refused[op] = time.Time{}
	for i := range s.taken {
		if t := &s.taken[i]; t.op == op && t.key == key {
			t.at = now
			return
		}
	}
	s.taken = append(s.taken[max(0, len(s.taken)-scopesMost):], takenKey{op, key, now})
}

// elsewhere says what was being done when the service took a key since the operation refuses it, of any key where none is named; empty: it took
// none.
func (s *scopes) elsewhere(op Operation, key keys.Secret) (doing string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := s.refused[op]
	for i := range s.taken {
		t := &s.taken[i]
		if t.op != op && (key == "" || t.key == key) && !since.IsZero() && !t.at.Before(since) && time.Since(t.at) < scopesLast {
			doing = routes[t.op].doing
		}
	}
	return doing
}

// forget forgets who took a key, since the service refuses it.
func (s *scopes) forget(key keys.Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.taken {
		if s.taken[i].key == key {
			s.taken[i].at = time.Time{}
		}
	}
}
