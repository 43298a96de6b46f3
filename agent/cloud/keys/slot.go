package keys

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"time"

	"gauger/agent/eventrules"
)

// Slot is one of the two keys that the service keeps for a subscription.
type Slot uint8

// The two slots, by the names that the service gives them.
const (
	Primary Slot = iota
	Secondary
)

// String is the word that stands in the path of a renewal.
func (s Slot) String() string {
	if s == Secondary {
		return "secondary"
	}
	return "primary"
}

func (s Slot) other() Slot { return 1 - s }

// valueState says whether a value of a slot works, as far as that was tried. The key file holds the numbers.
type valueState uint8

const (
	untried valueState = iota // a candidate: no data was stored with it yet
	proven                    // data was stored with it
	refused                   // the service answered 401 to it
)

// find gives the place of a value, -1 when the slot has it not.
func (s *slotState) find(value Secret) int {
	return slices.IndexFunc(s.Entries, func(e entry) bool { return e.Value == string(value) })
}

// dead says that the service refuses every value of the slot.
func (s *slotState) dead() bool {
	return !slices.ContainsFunc(s.Entries, func(e entry) bool { return e.State != refused })
}

// doubtRefusals has the keys tried again that worked once and were refused together with one that is accepted again: so it was the
// service that refused them. The lock is held.
func (r *Ring) doubtRefusals() {
	for slot := range r.state.Slots {
		entries := r.state.Slots[slot].Entries
		for i := range entries {
			if e := &entries[i]; e.State == refused && e.everAccepted() {
				e.State = untried
				delete(r.lastTrial, e.Value)
			}
		}
	}
}

// Rejected notes a 401. It is a young candidate's right to be unknown for a while.
func (r *Ring) Rejected(k Key) { r.Confirmed(r.Suspected(k)) }

// Suspicion is a 401 that may be a key's, or that of the operation which was asked for.
type Suspicion struct {
	Key
	before valueState
	works  bool
	counts bool // the key was not refused before
}

// Suspected notes a 401 and tells nobody yet.
func (r *Ring) Suspected(k Key) (of Suspicion) {
	r.mu.Lock()
	s := &r.state.Slots[k.slot]
	i := s.find(k.Value)
	if i < 0 {
		r.mu.Unlock()
		return of
	}
	now := r.now()
	e := &s.Entries[i]
	if e.State != refused {
		e.Refused = now
	}
	of = Suspicion{k, e.State, r.works, e.State != refused}
	r.works = r.works && !e.everAccepted()
	if age := r.age(e.Since, now); e.State == untried && age < candidateYouth && len(s.Entries) > 1 {
		r.lastTrial[e.Value] = now
		of.counts = false
	} else {
		e.State = refused
	}
	r.mu.Unlock()
	if of.counts {
		_ = r.save() // told by Notify
	}
	return of
}

// Confirmed says that it was the key's.
func (r *Ring) Confirmed(of Suspicion) {
	if of.counts && r.dead(of.slot) {
		r.beginEpisode(eventrules.KeyRefused, of.slot.String(), "the service refuses this key; another that it takes can renew it")
		r.wake()
	}
}

// Cleared says that it was the operation's, of which the key may be right all the same.
func (r *Ring) Cleared(of Suspicion) {
	r.mu.Lock()
	s := &r.state.Slots[of.slot]
	i := s.find(of.Value)
	if i >= 0 && of.counts && s.Entries[i].State != proven {
		s.Entries[i].State, s.Entries[i].Refused = of.before, time.Time{}
	}
	r.works = r.works || of.works
	r.mu.Unlock()
	if of.counts {
		_ = r.save() // told by Notify
	}
}

// refusedSince is when the last value of the slots was refused; zero where the clock of then cannot be compared with that of now.
func (r *Ring) refusedSince(slots ...Slot) (since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, slot := range slots {
		for _, e := range r.state.Slots[slot].Entries {
			if e.Refused.After(since) {
				since = e.Refused
			}
		}
	}
	if since.Before(earliestClock) || since.After(r.now()) {
		return time.Time{}
	}
	return since
}

// add puts a value first. One that the slot has already keeps what it has proven, but is no longer refused.
func (s *slotState) add(value Secret, source string, now time.Time) {
	if i := s.find(value); i >= 0 {
		e := s.Entries[i]
		if e.State == refused {
			e.State, e.Since = untried, now
		}
		s.Entries = slices.Insert(slices.Delete(s.Entries, i, i+1), 0, e)
		return
	}
	s.Entries = slices.Insert(s.Entries, 0, entry{Value: string(value), Source: source, Since: now})
	s.forgetCandidates(func(e *entry) bool { return e.State == refused })
	s.forgetCandidates(func(*entry) bool { return true })
}

// forgetCandidates forgets values that the service never accepted while there are too many of them, the oldest first, where may says so. The
// newest stays, and the newest that the service gave.
func (s *slotState) forgetCandidates(may func(*entry) bool) {
	given := slices.IndexFunc(s.Entries, func(e entry) bool { return e.fromService() })
	many := 0
	for i := range s.Entries {
		if !s.Entries[i].everAccepted() {
			many++
		}
	}
	for i := len(s.Entries) - 1; i > 0 && many > candidatesPer; i-- {
		if e := &s.Entries[i]; i != given && !e.everAccepted() && may(e) {
			s.Entries = slices.Delete(s.Entries, i, i+1)
			many--
		}
	}
}

// inDoubt says that the slot's renewal is in doubt, and was not tried so often that the other one must not wait.
func (s *slotState) inDoubt() bool { return !s.Doubt.IsZero() && s.Tries < doubtTries }

// Secret is a key, a token or a password hash. However it is printed or marshalled, only a fingerprint shows;
// string(s) is the one way to the value.
type Secret string

// Fingerprint is the first eight hex digits of the SHA-256 of the value, or "none": enough to compare two keys.
func (s Secret) Fingerprint() string {
	if s == "" {
		return "none"
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// String is the fingerprint with a mark, never the value.
func (s Secret) String() string { return "secret:" + s.Fingerprint() }

// Format prints the same under every verb.
func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, s.String()) // a print that fails has nowhere to say so
}

// MarshalText gives the fingerprint, so that no JSON or YAML writer shows the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Usable says why a key cannot be a header's value; nil when it can.
func (s Secret) Usable() error {
	if s == "" {
		return fmt.Errorf("it is empty")
	}
	if len(s) > 1024 {
		return fmt.Errorf("it is longer than 1024 characters")
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return fmt.Errorf("character %d is a space or no plain character", i+1)
		}
	}
	return nil
}
