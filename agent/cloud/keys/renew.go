package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gauger/eventrules"

	"github.com/cenkalti/backoff/v4"
)

// Service is where keys are renewed.
type Service interface {
	// Renew asks once for half a year more of a slot, with one key as the request's header. An end that the service does not
	// say is counted from now.
	Renew(ctx context.Context, slot Slot, with Secret, now func() time.Time) Reply
	// Login gives the keys of the configured login; errNoLogin when there is none.
	Login(ctx context.Context) (primary, secondary Grant, err error)
}

// Reply is what came of one renewal.
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

var errOtherFirst = errors.New("that one is renewed first")

var ErrNoLogin = errors.New("no login is configured")

// lookAgain is how long Run sleeps at most, so that a step of the clock is noticed and an end that is near is told.
const lookAgain = 6 * time.Hour

// Run renews each key weekly, the two half a week apart, until ctx ends. It sleeps between. A key that the
// service refuses is renewed at once with the other one, and when both are refused a recovery is tried every
// quarter of an hour.
func (r *Ring) Run(ctx context.Context) error {
	for _, n := range r.trouble {
		r.note(n.Rule, n.Slot, n.Note)
	}
	var held [2]time.Time // after a failure: not before
	var backoffs [2]*backoff.ExponentialBackOff
	for i := range backoffs {
		backoffs[i] = backoff.NewExponentialBackOff(backoff.WithInitialInterval(time.Minute),
			backoff.WithMaxInterval(4*time.Hour), backoff.WithMaxElapsedTime(0), backoff.WithRandomizationFactor(0))
	}
	r.tellRefused()
	for ctx.Err() == nil {
		slot, wait := r.due(r.now(), held)
		r.warn()
		if wait > 0 {
			r.sleep(ctx, min(wait, lookAgain))
			continue
		}
		if r.dead(Primary) && r.dead(Secondary) {
			if !r.Recover(ctx, r.seen()) {
				r.sleep(ctx, recoveryPause)
			}
			continue
		}
		dead := r.dead(slot)
		_, err := r.renew(ctx, slot)
		if errors.Is(err, errOtherFirst) { // that one was refused just now
			held[slot] = r.now().Add(r.about(backoffs[slot].NextBackOff(), 0.5))
			slot, dead = slot.other(), true
			_, err = r.renew(ctx, slot)
		}
		if err != nil || dead { // a dead key that a renewal does not help must not be renewed in a circle
			held[slot] = r.now().Add(r.about(backoffs[slot].NextBackOff(), 0.5))
		} else {
			backoffs[slot].Reset()
		}
		r.report(slot, err)
	}
	return nil
}

// report tells of a renewal that a person should know of: one that was refused, or that has been failing for
// as long again as the weekly interval. An outage of the link is neither.
func (r *Ring) report(slot Slot, err error) {
	if err == nil {
		r.over(eventrules.KeyRenewalFailed, slot.String(), "the key is renewed again")
		return
	}
	r.mu.Lock()
	renewed, every := r.state.Slots[slot].Renewed, r.every
	r.mu.Unlock()
	e, answered := errors.AsType[Failure](err)
	if answered && e.Lasting() || !renewed.IsZero() && r.now().Sub(renewed) > 2*every {
		r.note(eventrules.KeyRenewalFailed, slot.String(), err.Error())
	}
}

// sleep ends early when ctx ends or the keys changed.
func (r *Ring) sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-r.kick:
	case <-t.C:
	}
}

// renew renews a slot in its turn, unless it would be too soon.
func (r *Ring) renew(ctx context.Context, slot Slot) (Grant, error) {
	return r.inTurn(ctx, slot, func() (Grant, error) {
		if err := r.tooSoon(slot, r.now()); err != nil {
			return Grant{}, err
		}
		return r.renewNow(ctx, slot)
	})
}

// Renew renews a slot in its turn, soon or not.
func (r *Ring) Renew(ctx context.Context, slot Slot) (Grant, error) {
	return r.inTurn(ctx, slot, func() (Grant, error) { return r.renewNow(ctx, slot) })
}

// inTurn waits until no other renewal or recovery is under way.
func (r *Ring) inTurn(ctx context.Context, slot Slot, do func() (Grant, error)) (Grant, error) {
	if !r.enter(ctx) {
		return Grant{}, fmt.Errorf("renewing the %s key: %w", slot, ctx.Err())
	}
	defer r.leave()
	return do()
}

// enter waits for its turn; false when ctx ended first.
func (r *Ring) enter(ctx context.Context) bool {
	select {
	case r.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *Ring) leave() { <-r.turn }

// renewNow asks for half a year more of one slot, with the other slot's keys as header first, which proves them.
func (r *Ring) renewNow(ctx context.Context, slot Slot) (Grant, error) {
	via := r.caller()
	if via == nil {
		return Grant{}, errors.New("renewing the key: the key ring has no client")
	}
	before := r.begin(slot)
	risky := !r.empty(slot.other()) && !r.declined(slot.other())
	var last error = ErrNoKey
	for _, k := range r.headersFor(slot) {
		if k.slot == slot && risky {
			// No key of the other slot was accepted. The answer could be lost, and the only key that works with it: the other one
			// is renewed first, unless the service has said that it does not. That one of its keys is too young to count as
			// refused changes nothing: it may be a wrong one.
			r.settle(slot, before)
			return Grant{}, fmt.Errorf("renewing the %s key: the %s key turned out to be refused; %w: %w", slot, slot.other(), errOtherFirst, last)
		}
		reply := via.Renew(ctx, slot, k.Value, r.now)
		switch reply.Outcome {
		case Renewed:
			return r.take(slot, k, reply)
		case HeaderRefused:
			r.Rejected(k)
			last = reply.Err
			continue
		case Declined, Unsent: // it was certainly not renewed
			r.settle(slot, before)
			r.decline(slot, reply.Outcome == Declined)
		default:
			r.unanswered(slot, k)
		}
		return Grant{}, reply.Err
	}
	r.settle(slot, before)
	return Grant{}, fmt.Errorf("no key is accepted to renew the %s key: %w", slot, last)
}

// take keeps what a renewal brought. An answer that cannot be read leaves the renewal in doubt.
func (r *Ring) take(slot Slot, with Key, reply Reply) (Grant, error) {
	r.Accepted(with, false)
	got, err := reply.Grant, reply.Err
	if err != nil {
		r.unanswered(slot, with)
		return got, fmt.Errorf("renewing the %s key: %w", slot, err)
	}
	r.mu.Lock()
	s, now := &r.state.Slots[slot], r.now()
	s.Tries = 0
	s.Renewed, s.Doubt, s.Expires, s.Serial = now, time.Time{}, got.Expires, r.state.Generation
	r.done[slot], r.never[slot] = now, false
	if s.Expires.Text == "" {
		s.Expires = assumedEnd("", now)
	}
	if got.Key != "" {
		s.add(got.Key, "renewal", now)
	}
	r.changes++
	r.mu.Unlock()
	_ = r.keep() // told by Notify: the renewal itself worked
	return got, nil
}

// begin writes down that a renewal is under way, before it is sent, and gives what was written before.
func (r *Ring) begin(slot Slot) time.Time {
	r.mu.Lock()
	before := r.state.Slots[slot].Doubt
	if before.IsZero() {
		r.state.Slots[slot].Doubt = r.now()
	}
	r.mu.Unlock()
	if before.IsZero() {
		for range 2 { // so that both files say it: one that is damaged meanwhile must not hide that the key may be a new one
			_ = r.keep() // told by Notify; without the note a restart only knows less
		}
	}
	return before
}

// settle takes back the note of begin.
func (r *Ring) settle(slot Slot, before time.Time) {
	r.mu.Lock()
	changed := r.state.Slots[slot].Doubt != before
	r.state.Slots[slot].Doubt = before
	r.mu.Unlock()
	if changed {
		_ = r.keep() // told by Notify
	}
}

// unanswered counts a renewal of which nobody knows whether it was made. That the key in its header is refused is not certain
// any more: if it is what has made it, it must not be renewed itself as a refused one, at once.
func (r *Ring) unanswered(slot Slot, with Key) {
	r.mu.Lock()
	r.state.Slots[slot].Tries++
	s := &r.state.Slots[with.slot]
	if i := s.find(with.Value); i >= 0 && with.slot != slot && s.Entries[i].State == refused {
		s.Entries[i].State = untried
	}
	r.mu.Unlock()
	_ = r.keep() // told by Notify
}

// headersFor is the keys to renew a slot with: the other slot's first.
func (r *Ring) headersFor(slot Slot) []Key {
	keys, _ := r.Order(false)
	var first, then []Key
	for _, k := range keys {
		if k.slot == slot {
			then = append(then, k)
		} else {
			first = append(first, k)
		}
	}
	return append(first, then...)
}

// Recover is tried when the service refuses every key: renewals, then the login. seen is the count of changes at
// which the caller found the keys refused; a ring that changed since is worth another try at once.
func (r *Ring) Recover(ctx context.Context, seen uint64) bool {
	if !r.enter(ctx) {
		return false
	}
	defer r.leave()
	if r.seen() != seen {
		return true
	}
	if r.now().Before(r.nextTry) {
		return false
	}
	r.nextTry = r.now().Add(r.about(recoveryPause, 0.2))
	order := [...]Slot{Primary, Secondary}
	if r.inDoubt(Secondary) && !r.inDoubt(Primary) {
		slices.Reverse(order[:]) // its old value may end any moment
	}
	for _, slot := range order {
		if r.empty(slot) {
			continue
		}
		before := r.tries(slot)
		_, err := r.renewNow(ctx, slot)
		if err == nil {
			return true
		}
		// After an answer that was lost the other slot must not follow: both values could be new, and known to nobody here.
		e, answered := errors.AsType[Failure](err)
		if r.tries(slot) > before || !errors.Is(err, errOtherFirst) && (!answered || e.KeyRefused()) {
			break // or the other slot would be asked for with the same keys
		}
	}
	err := r.login(ctx)
	if err == nil {
		return true
	}
	r.note(eventrules.KeyRefused, "", "no key is accepted and none could be had: "+err.Error()+"; give new keys with gauger keys set")
	return false
}

// about is a time of that length, longer or shorter by chance, by that part of it at most.
func (r *Ring) about(d time.Duration, part float64) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Duration((1 - part + 2*part*r.chance.Float64()) * float64(d))
}

// login takes the keys of a login.
func (r *Ring) login(ctx context.Context) error {
	via := r.caller()
	if via == nil {
		return ErrNoLogin
	}
	primary, secondary, err := via.Login(ctx)
	if err != nil {
		return err
	}
	_ = r.Adopt(primary, secondary) // told by Notify: the keys work all the same
	return nil
}

func (r *Ring) caller() Service {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.via
}

func (r *Ring) seen() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}

// dead says that the service refuses every value of a slot, or that it has none.
func (r *Ring) dead(slot Slot) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Slots[slot].dead()
}

func (r *Ring) empty(slot Slot) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.state.Slots[slot].Entries) == 0
}

// tries is how many renewals of the slot were sent since the last answer.
func (r *Ring) tries(slot Slot) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Slots[slot].Tries
}

// inDoubt says that a renewal of the slot was sent, and its answer is not known.
func (r *Ring) inDoubt(slot Slot) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Slots[slot].unsettled()
}

// declined says that the service has answered, to a key that it knows, that it does not renew this slot.
func (r *Ring) declined(slot Slot) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.never[slot]
}

// decline notes such an answer.
func (r *Ring) decline(slot Slot, said bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.never[slot] = r.never[slot] || said
}
