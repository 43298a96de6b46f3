package keys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gauger/agent/eventrules"
)

// A gateway may take ten minutes to learn a new key. Until candidateYouth is over a refusal proves nothing, and the key
// is tried again after trialPause.
const (
	defaultRenewEvery = 7 * 24 * time.Hour // between two renewals of a key, where nobody says otherwise
	candidateYouth    = 30 * time.Minute
	trialPause        = 5 * time.Minute
)

// Limits: how many values a slot remembers that the service never accepted, how many of those that it refused one call tries,
// and how long a failed recovery (renewals and login with refused keys) is not repeated.
const (
	candidatesPer  = 16
	refusedPerCall = 4
	recoveryPause  = 15 * time.Minute
)

var errUnusable = errors.New("it cannot be used")

// ErrNoKey is the cause when there is nothing to send a request with.
var ErrNoKey = errors.New("there is no usable subscription key; put one into service.primary_key")

// Seeds are the keys that a person configured. An empty one changes nothing.
type Seeds struct{ Primary, Secondary Secret }

// Ring holds the two keys and every value that either may have at the moment, and renews them. A new value
// is kept beside the old one until data was stored with it, so that no lost answer and no slow gateway locks
// the site out. Its methods may be called from any goroutine.
type Ring struct {
	// Notify is called, outside any lock, with what a person should know; set it before the ring is used. nil:
	// nobody is told.
	Notify func(Note)
	// Renewed is called, outside any lock, when the ring has renewed a slot, or had both from a login (an empty slot), by
	// itself; set it before the ring is used.
	Renewed func(slot string)
	// Believed says that the box's clock can be believed; set it before the ring is used. Nothing but the warnings that a
	// key ends asks it. nil: any clock of this program's time is.
	Believed func() bool

	file     keyFile
	now      func() time.Time // time.Now; a test has one that is set while it runs
	opened   time.Time
	woken    chan struct{}
	renewing chan struct{} // holds a token while a renewal or recovery is under way; a lock that ctx can end

	mu              sync.Mutex
	state           ringState
	changes         uint64 // counts what may make a refused ring work again
	random          *rand.Rand
	unsaved         bool // the file could not be written: Run tries again
	works           bool // data was stored, and no key that the service ever accepted was refused since: a candidate's trial costs nothing
	lastTrial       map[string]time.Time
	episodes        map[string]bool
	service         Service
	renewEvery      time.Duration
	found           []Note       // by Open, told by Run
	renewedHere     [2]time.Time // when this process renewed each slot
	renewalDeclined [2]bool      // the service has said that it does not renew the slot
	nextRecovery    time.Time    // no recovery before; guarded by renewing
}

// Open reads the key file, which it makes when there is none, and takes the seeds: a seed that differs from
// the one taken last becomes a candidate of its slot. An empty path keeps the keys in memory only.
//
// Nothing but a missing folder is an error, since a site without keys must still gather: a damaged or unwritable
// file, or a seed that cannot be a key, is told by Notify when Run begins.
func Open(path string, seeds Seeds) (*Ring, error) {
	if path != "" {
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil, fmt.Errorf("opening the key ring: %w", err)
		}
	}
	return openFile(keyFile{path, realDisk{}}, time.Now, seeds), nil
}

// Look reads a key file as Open does, and never writes it.
func Look(path string, seeds Seeds) *Ring {
	r := openFile(keyFile{path, realDisk{}}, time.Now, Seeds{})
	r.file.path = ""
	_, _ = r.Seed(seeds) // what cannot be used is told where keys are
	return r
}

// openFile opens a ring on any disk and clock.
func openFile(f keyFile, now func() time.Time, seeds Seeds) *Ring {
	r := &Ring{
		file: f, now: now, opened: now(), woken: make(chan struct{}, 1), renewing: make(chan struct{}, 1), renewEvery: defaultRenewEvery,
		lastTrial: map[string]time.Time{}, episodes: map[string]bool{}, random: rand.New(rand.NewPCG(uint64(now().UnixNano()), 0)),
	}
	var damaged error
	r.state, _, damaged = r.file.load()
	if damaged != nil {
		r.found = append(r.found, Note{Rule: eventrules.KeyFile, Text: damaged.Error() + "; if no key is accepted, give them again with gauger keys set"})
	}
	for slot, one := range [...]Seeds{{Primary: seeds.Primary}, {Secondary: seeds.Secondary}} {
		_, err := r.Seed(one)
		if errors.Is(err, errUnusable) {
			r.found = append(r.found, Note{Rule: eventrules.KeyUnusable, Slot: Slot(slot).String(), Text: err.Error()})
		} else if err != nil {
			r.found = append(r.found, Note{Rule: eventrules.KeyFile, Text: err.Error()})
		}
	}
	return r
}

// Format prints no more than what it is, under every verb.
func (r *Ring) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "key ring") // a print that fails has nowhere to say so
}

// Bind makes the client the way of renewals.
func (r *Ring) Bind(via Service, every time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.service, r.renewEvery = via, every
}

// Seed takes keys that a person gave, at start and whenever the configured files changed, and says whether
// anything was new. The old values stay until the new ones have worked. A seed that was taken before is not
// taken again, since renewals may have replaced it.
func (r *Ring) Seed(seeds Seeds) (bool, error) {
	given := [...]Secret{Primary: seeds.Primary, Secondary: seeds.Secondary}
	var bad error
	for i, value := range given {
		slot := Slot(i)
		if err := value.Usable(); value != "" && err != nil {
			err = fmt.Errorf("the configured %s key: %w: %w", slot, errUnusable, err)
			r.beginEpisode(eventrules.KeyUnusable, slot.String(), err.Error())
			bad, given[i] = errors.Join(bad, err), ""
		} else if value != "" {
			r.endEpisode(eventrules.KeyUnusable, slot.String(), "a key that can be used was given")
		}
	}
	fresh := false
	r.mu.Lock()
	for slot, value := range given {
		s := &r.state.Slots[slot]
		if value == "" || value.Fingerprint() == s.SeedSum && len(s.Entries) > 0 {
			continue
		}
		s.SeedSum = value.Fingerprint()
		s.add(value, "file", r.now())
		fresh = true
		r.changes++
	}
	r.mu.Unlock()
	if !fresh {
		return false, bad
	}
	r.wake()
	return true, errors.Join(bad, r.save())
}

// Set takes a key that a person gives now, also one that was taken before: whoever gives it again wants it tried again.
func (r *Ring) Set(slot Slot, value Secret) error {
	if err := value.Usable(); err != nil {
		return fmt.Errorf("the %s key: %w: %w", slot, errUnusable, err)
	}
	r.mu.Lock()
	r.state.Slots[slot].SeedSum = ""
	r.mu.Unlock()
	given := [...]Seeds{Primary: {Primary: value}, Secondary: {Secondary: value}}
	_, err := r.Seed(given[slot])
	return err
}

// Adopt takes the keys of a login as candidates.
func (r *Ring) Adopt(primary, secondary Grant) error {
	r.mu.Lock()
	now := r.now()
	for slot, got := range [...]Grant{primary, secondary} {
		if got.Key == "" || got.Key.Usable() != nil {
			continue
		}
		r.state.Slots[slot].add(got.Key, "login", now)
		r.state.Slots[slot].Expires = got.Expires
	}
	r.state.Login = now
	r.changes++
	r.mu.Unlock()
	r.wake()
	return r.save()
}

// wake lets Run look again.
func (r *Ring) wake() {
	select {
	case r.woken <- struct{}{}:
	default: // Run is awake already
	}
}

// save writes the state. A file that cannot be written does not stop the keys from working, so everyone but the
// caller who can act on it hears of it by Notify.
func (r *Ring) save() error {
	r.mu.Lock()
	r.state.Generation++
	err := r.file.save(r.state)
	before := r.unsaved
	r.unsaved = err != nil
	r.mu.Unlock()
	if err != nil && !before {
		r.wake()
	}
	if err != nil {
		r.beginEpisode(eventrules.KeyFile, "", err.Error()+": a new key would be lost at a restart")
	} else {
		r.endEpisode(eventrules.KeyFile, "", "the key file is written again")
	}
	return err
}

// Accepted notes that the service took the key. stored says that it kept data sent with it: only that proves a
// candidate, and ends the older values of its slot that have had their trial.
func (r *Ring) Accepted(k Key, stored bool) {
	r.mu.Lock()
	s := &r.state.Slots[k.slot]
	i := s.find(k.Value)
	if i < 0 {
		r.mu.Unlock()
		return // another value took its place meanwhile
	}
	e := &s.Entries[i]
	before, last := e.State, e.OK
	e.OK = r.now()
	switch {
	case stored:
		e.State, r.works = proven, true
	case e.State == refused:
		e.State = untried
	}
	many := len(s.Entries)
	changed := e.State != before || stored && e.OK.Sub(last) >= 24*time.Hour
	if stored {
		s.Entries = append(s.Entries[:i+1], slices.DeleteFunc(s.Entries[i+1:], func(e entry) bool { return e.State != untried })...)
	}
	changed = changed || len(s.Entries) < many
	delete(r.lastTrial, string(k.Value))
	if stored && before == refused {
		r.doubtRefusals()
	}
	dead := r.state.Slots[k.slot.other()].dead()
	r.mu.Unlock()
	r.endEpisode(eventrules.KeyRefused, "", "a key is accepted again")
	r.endRefusal(k.slot, "the key is accepted again")
	if !dead {
		r.endRefusal(k.slot.other(), "it was refused together with the other key, which is accepted again")
	}
	if changed {
		_ = r.save() // told by Notify: the exchange itself worked
	}
}

// Service renews keys and logs in: the client above.
type Service interface {
	// Renew asks once for half a year more of a slot, with one key as the request's header. An end that the service does not
	// say is counted from now.
	Renew(ctx context.Context, slot Slot, with Secret, now func() time.Time) Reply
	// Login gives the keys of the configured login; ErrNoLogin when there is none.
	Login(ctx context.Context) (primary, secondary Grant, err error)
}

// Reply ends one attempt to renew a slot.
type Reply struct {
	Outcome Outcome
	Grant   Grant // when it was renewed
	Err     error // what came instead; when it was renewed, that the answer could not be read
}

// Outcome says whether a slot was renewed. Zero is Unanswered, so that a forgotten outcome never counts as certain.
type Outcome uint8

// The outcomes.
const (
	Unanswered    Outcome = iota // it may have been renewed
	Renewed                      // it was
	HeaderRefused                // the service does not accept the key in the header
	Declined                     // the service said no to what was asked
	Unsent                       // nothing reached the service
)

// Failure is an error of the service that says what it means for the keys.
type Failure interface {
	error
	KeyRefused() bool // no key is accepted, or the key may not do this
	Lasting() bool    // only a person can mend it
}

// ErrNoLogin says that keys cannot come from a login.
var ErrNoLogin = errors.New("no login is configured")

// Status is one value of one slot, for people. The value itself is not in it.
type Status struct {
	Slot        string    `json:"slot"`
	Fingerprint string    `json:"fingerprint"`
	State       string    `json:"state"`  // untried, proven or refused
	Source      string    `json:"source"` // file, renewal or login
	Since       time.Time `json:"since"`
	Accepted    time.Time `json:"accepted,omitzero"` // when the service last accepted it, as far as this process or the file knows
	Refused     time.Time `json:"refused,omitzero"`  // since when, or when it was last
	Renewed     time.Time `json:"renewed,omitzero"`  // the slot's last renewal that was answered; zero: none since this value was given
	Expires     time.Time `json:"expires,omitzero"`  // no key is given up by it; zero: the service has not said it of this value
	Assumed     bool      `json:"assumed,omitempty"` // expires is a guess: the service's text could not be read
	Warning     string    `json:"warning,omitempty"` // what is wrong when the slot ends soon and is not renewed
	Doubt       time.Time `json:"doubt,omitzero"`    // a renewal was sent then and its answer is not known
	Next        time.Time `json:"next,omitzero"`     // when the slot is to be renewed; zero: when the other one's renewal is answered
}

// Status lists every value that the ring holds, primary first, in each slot the newest first.
func (r *Ring) Status() []Status {
	trusted := r.clockBelieved()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	var list []Status
	for _, slot := range [...]Slot{Primary, Secondary} {
		s := &r.state.Slots[slot]
		next := time.Time{}
		if in := r.dueIn(slot, now); in < forever {
			next = now.Add(max(0, in))
		}
		warning := r.endAdvice(slot, now, trusted)
		for i, e := range s.Entries {
			end, renewed := s.endOf(&s.Entries[i]), s.Renewed
			if s.givenSince(&s.Entries[i]) {
				renewed = time.Time{}
			}
			list = append(list, Status{
				Slot: slot.String(), Fingerprint: Secret(e.Value).Fingerprint(),
				State: [...]string{"untried", "proven", "refused"}[min(e.State, refused)], Source: e.Source,
				Since: e.Since, Accepted: e.OK, Refused: e.Refused, Renewed: renewed,
				Expires: end.At, Assumed: end.Assumed, Doubt: s.Doubt,
				Next: next, Warning: warning,
			})
		}
	}
	return list
}
