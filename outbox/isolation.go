package outbox

import (
	"fmt"
	"maps"
	"sort"
	"time"

	"github.com/cenkalti/backoff/v4"
)

const (
	// isolatedCap is the longest wait of an isolated destination; the jitter of half comes on top.
	isolatedCap = 40 * time.Minute
	// isolatedEvery is the least time between two attempts at isolated destinations, however many there are.
	isolatedEvery = time.Minute
	// strikesForWait: "try again later" must hold so often for one address alone before that is isolated; a refusal that
	// says more needs it once.
	strikesForWait = 3
	// maxBisections: a batch is divided so often while nothing is taken that of fifty one is left.
	maxBisections = 6
	// forbidden is the status of a key that is known, and may not do this.
	forbidden = 403
	// stumbled is the status of a service that fails at a request without knowing why.
	stumbled = 500
)

// laterForAll says that an answer asks to come again later, whatever was sent. Over one record a service stumbles with a 500, and a key that
// is known may be forbidden one well; that no key is accepted is no record's fault.
func (r Answer) laterForAll() bool {
	return r.Class == Wait && r.Status != stumbled || r.Class == Key && r.Status != forbidden
}

// destination may be to blame when a request is not taken: the address of its records, or a record without one.
type destination struct {
	address string
	seq     uint64 // 0 where there is an address
}

func destinationOf(r Record) destination {
	if r.Address != "" {
		return destination{address: r.Address}
	}
	return destination{seq: r.Seq}
}

// failingDestination is one whose last request was not taken, though not refused as invalid: an unknown device, a well
// that this key may not write. The others go first. When one of them is taken, and this one is refused again, it is to
// blame and isolated: it waits by itself from then on, and holds up nobody. Like the evidence against single records all
// of it is forgotten at a restart, which costs two requests.
type failingDestination struct {
	destination
	firstSeq      uint64    // its oldest record that was refused
	sameAgain     []uint64  // may be stored already: they go together again
	lastTry       time.Time // last
	othersTaken   bool      // something else was taken since
	strikes       int       // how often it was refused and others taken in between
	isolatedUntil time.Time // it waits by itself till then; zero: it is not to blame yet
	unclear       bool      // its record had no clear answer: it waits till isolatedUntil, and is not to blame
	backOff       *backoff.ExponentialBackOff
	report        Isolated
}

// isolation keeps a stream's failing destinations apart from the others.
type isolation struct {
	failing          map[destination]*failingDestination
	lastIsolatedTry  time.Time // when an isolated destination was tried
	allIsolatedBelow uint64    // all records below it are of isolated destinations
	bringingBack     int       // commits under way that bring old records back
}

// failingOf returns the entry of a record's destination; nil: none. The lock is held.
func (s *isolation) failingOf(seq uint64, address []byte) *failingDestination {
	if len(s.failing) == 0 {
		return nil
	}
	if len(address) > 0 {
		return s.failing[destination{address: string(address)}]
	}
	return s.failing[destination{seq: seq}]
}

// String names it for people.
func (p destination) String() string {
	if p.address == "" {
		return fmt.Sprintf("record %d", p.seq)
	}
	return "what is for " + p.address
}

// rejoin lets a destination go with the others again. The lock is held.
//
//go:noinline
func (s *isolation) rejoin(p destination) {
	if _, ok := s.failing[p]; ok {
		delete(s.failing, p)
		s.allIsolatedBelow = 0
	}
}

// dueDestination is whose turn it is of what was not taken; nil: nobody's. A destination that is not to blame yet goes as
// soon as something else was taken, the others one a minute at most. The lock is held.
func (s *isolation) dueDestination(now time.Time) (next *failingDestination) {
	for _, a := range s.failing {
		ready := a.othersTaken
		if !a.isolatedUntil.IsZero() {
			ready = !now.Before(s.nextTry(a))
		}
		if ready && (next == nil || a.triedBefore(next)) {
			next = a
		}
	}
	return next
}

// nextTry returns the time of the next attempt at an isolated destination. Of several records without a clear answer the first alone goes
// until something is taken: each attempt at the others may store one twice.
func (s *isolation) nextTry(a *failingDestination) time.Time {
	if first := s.firstUnclear(); a.unclear && !a.othersTaken && a != first && first != nil {
		return s.nextTry(first).Add(isolatedEvery)
	}
	if at := s.lastIsolatedTry.Add(isolatedEvery); at.After(a.isolatedUntil) {
		return at
	}
	return a.isolatedUntil
}

// triedBefore says who goes first: whoever was not tried for longer, and of two the older record.
func (a *failingDestination) triedBefore(b *failingDestination) bool {
	if !a.lastTry.Equal(b.lastTry) {
		return a.lastTry.Before(b.lastTry)
	}
	return a.firstSeq < b.firstSeq
}

// longestUntried is the destination that was not tried for the longest, of those that are not to blame. The lock is held.
func (s *isolation) longestUntried() (next *failingDestination) {
	for _, a := range s.failing {
		if a.isolatedUntil.IsZero() && (next == nil || a.triedBefore(next)) {
			next = a
		}
	}
	return next
}

// nextDestination is whose turn it is, or would be if something else were taken; nil: all wait by themselves. The lock is held.
func (s *isolation) nextDestination(now time.Time) *failingDestination {
	if a := s.dueDestination(now); a != nil {
		return a
	}
	return s.longestUntried()
}

// nextIsolatedTry returns the time of the first attempt at an isolated destination; zero: there is none. The lock is held.
func (s *isolation) nextIsolatedTry() (first time.Time) {
	for _, a := range s.failing {
		if a.isolatedUntil.IsZero() {
			continue
		}
		if at := s.nextTry(a); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// recheck makes a destination go once more, since a person asks for it, or the link or the keys are back. It is no
// evidence: one that is not to blame yet goes when nothing else is there. The lock is held.
func (a *failingDestination) recheck() {
	a.lastTry = time.Time{}
	a.backOff.Reset()
	if !a.isolatedUntil.IsZero() {
		a.isolatedUntil = time.Now()
	}
}

// listIsolated lists the isolated destinations, for DrainStatus. The lock is held.
func (s *isolation) listIsolated() (all []Isolated) {
	for a := range maps.Values(s.failing) {
		if !a.isolatedUntil.IsZero() && !a.unclear {
			x := a.report
			x.Next = s.nextTry(a)
			all = append(all, x)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Address < all[j].Address }) // slices.SortFunc costs the binary 25 kB for a struct of this size
	return all
}

// firstUnclear is the first record without a clear answer since which nothing was taken; nil: there is none. The lock is held.
//
//go:noinline
func (s *isolation) firstUnclear() (first *failingDestination) {
	for _, a := range s.failing {
		if a.unclear && !a.othersTaken && (first == nil || a.firstSeq < first.firstSeq) {
			first = a
		}
	}
	return first
}

// setAside lets a record that had no clear answer wait by itself, so that the others go by. The lock is held.
func (s *isolation) setAside(r Record, p destination, until time.Time) *failingDestination {
	a := s.failing[p]
	if a == nil {
		a = &failingDestination{destination: p, firstSeq: r.Seq, backOff: newBackOff(firstProbe, isolatedCap)}
		s.failing[p] = a
	}
	a.unclear, a.othersTaken, a.sameAgain, a.lastTry, a.isolatedUntil = true, false, []uint64{r.Seq}, time.Now(), until
	return a
}
