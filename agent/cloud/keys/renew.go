package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gauger/agent/eventrules"

	"github.com/cenkalti/backoff/v4"
)

var errOtherFirst = errors.New("that one is renewed first")

// errOthersKey: the value of one slot must not come to stand in both, or its end stops everything.
var errOthersKey = errors.New("the answer has the other slot's key, which is not taken for this one")

// saveAgainPause is the time between two tries to write a file that could not be written: until then the cause is shown, and then it is gone.
const saveAgainPause = time.Minute

// longestSleep bounds the sleep of Run, so that a step of the clock is noticed and an end that is near is told.
const longestSleep = 6 * time.Hour

// Run renews each key weekly, the two half a week apart, until ctx ends. It sleeps between. A key that the
// service refuses is renewed at once with the other one, and when both are refused a recovery is tried every
// quarter of an hour.
func (r *Ring) Run(ctx context.Context) error {
	for _, n := range r.found {
		r.beginEpisode(n.Rule, n.Slot, n.Text)
	}
	var held [2]time.Time // after a failure: not before
	var backoffs [2]*backoff.ExponentialBackOff
	for i := range backoffs {
		backoffs[i] = backoff.NewExponentialBackOff(backoff.WithInitialInterval(time.Minute),
			backoff.WithMaxInterval(4*time.Hour), backoff.WithMaxElapsedTime(0), backoff.WithRandomizationFactor(0))
	}
	r.tellInheritedRefusals()
	for ctx.Err() == nil {
		longest := r.saveAgain()
		slot, wait := r.nextDue(r.now(), held)
		r.warnOfEnds()
		if wait > 0 {
			r.sleep(ctx, min(wait, longest))
			continue
		}
		if r.dead(Primary) && r.dead(Secondary) {
			if !r.Recover(ctx, r.changeCount()) {
				r.sleep(ctx, min(recoveryPause, longest))
			}
			continue
		}
		dead := r.dead(slot)
		_, err := r.renewUnlessTooSoon(ctx, slot)
		if errors.Is(err, errOtherFirst) { // that one was refused just now
			held[slot] = r.now().Add(r.jitter(backoffs[slot].NextBackOff(), 0.5))
			slot, dead = slot.other(), true
			_, err = r.renewUnlessTooSoon(ctx, slot)
		}
		if err != nil || dead { // a dead key that a renewal does not help must not be renewed in a circle
			held[slot] = r.now().Add(r.jitter(backoffs[slot].NextBackOff(), 0.5))
		} else {
			backoffs[slot].Reset()
		}
		r.reportRenewal(slot, err)
	}
	return nil
}

// saveAgain writes the file if that failed, and gives how long Run may sleep: not for long as long as it fails.
func (r *Ring) saveAgain() time.Duration {
	r.mu.Lock()
	unsaved := r.unsaved
	r.mu.Unlock()
	if unsaved && r.save() != nil {
		return saveAgainPause
	}
	return longestSleep
}

// reportRenewal tells of a renewal that a person should know of: one that was refused, or that has been failing for
// as long again as the weekly interval. An outage of the link is neither.
func (r *Ring) reportRenewal(slot Slot, err error) {
	if err == nil {
		r.endEpisode(eventrules.KeyRenewalFailed, slot.String(), "the key is renewed again")
		r.tellRenewed(slot.String())
		return
	}
	r.mu.Lock()
	renewed, every := r.state.Slots[slot].Renewed, r.every(slot)
	r.mu.Unlock()
	e, answered := errors.AsType[Failure](err)
	if answered && e.Lasting() || errors.Is(err, errOthersKey) || !renewed.IsZero() && r.now().Sub(renewed) > 2*every {
		r.beginEpisode(eventrules.KeyRenewalFailed, slot.String(), err.Error())
	}
}

// tellRenewed tells of a renewal that nobody has asked for.
func (r *Ring) tellRenewed(slot string) {
	if r.Renewed != nil {
		r.Renewed(slot)
	}
}

// sleep ends early when ctx ends or the keys changed.
func (r *Ring) sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-r.woken:
	case <-t.C:
	}
}

// renewUnlessTooSoon renews a slot once no other renewal is under way, unless it would be too soon.
func (r *Ring) renewUnlessTooSoon(ctx context.Context, slot Slot) (Grant, error) {
	return r.oneAtATime(ctx, slot, func() (Grant, error) {
		if err := r.tooSoon(slot, r.now()); err != nil {
			return Grant{}, fmt.Errorf("renewing the %s key: %w", slot, err)
		}
		return r.requestRenewal(ctx, slot)
	})
}

// Renew renews a slot once no other renewal is under way, soon or not.
func (r *Ring) Renew(ctx context.Context, slot Slot) (Grant, error) {
	return r.oneAtATime(ctx, slot, func() (Grant, error) { return r.requestRenewal(ctx, slot) })
}

// oneAtATime waits until no other renewal or recovery is under way.
func (r *Ring) oneAtATime(ctx context.Context, slot Slot, do func() (Grant, error)) (Grant, error) {
	if !r.beginRenewing(ctx) {
		return Grant{}, fmt.Errorf("renewing the %s key: %w", slot, ctx.Err())
	}
	defer r.endRenewing()
	return do()
}

// beginRenewing waits for its turn; false when ctx ended first.
func (r *Ring) beginRenewing(ctx context.Context) bool {
	select {
	case r.renewing <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *Ring) endRenewing() { <-r.renewing }

// requestRenewal asks for half a year more of one slot, with the other slot's keys as header first, which proves them.
func (r *Ring) requestRenewal(ctx context.Context, slot Slot) (Grant, error) {
	via := r.boundService()
	if via == nil {
		return Grant{}, errors.New("renewing the key: the key ring has no client")
	}
	before := r.setDoubt(slot)
	risky := !r.onlyEqual(slot) && !r.declinesRenewal(slot.other())
	var last error = ErrNoKey
	for _, k := range r.headerKeys(slot) {
		if k.slot == slot && risky {
			// No key of the other slot was accepted. The answer could be lost, and the only key that works with it: the other one
			// is renewed first, unless the service has said that it does not. That one of its keys is too young to count as
			// refused changes nothing: it may be a wrong one.
			r.restoreDoubt(slot, before)
			return Grant{}, fmt.Errorf("renewing the %s key: the %s key turned out to be refused; %w: %w", slot, slot.other(), errOtherFirst, last)
		}
		reply := via.Renew(ctx, slot, k.Value, r.now)
		switch reply.Outcome {
		case Renewed:
			return r.keepGrant(slot, k, reply)
		case HeaderRefused:
			r.Rejected(k)
			last = reply.Err
			continue
		case Declined, Unsent: // it was certainly not renewed
			r.restoreDoubt(slot, before)
			r.noteDeclined(slot, reply.Outcome == Declined)
		default:
			r.countUnanswered(slot, k)
		}
		return Grant{}, reply.Err
	}
	r.restoreDoubt(slot, before)
	return Grant{}, fmt.Errorf("no key is accepted to renew the %s key: %w", slot, last)
}

// keepGrant keeps what a renewal brought. An answer that cannot be read leaves the renewal in doubt.
func (r *Ring) keepGrant(slot Slot, with Key, reply Reply) (Grant, error) {
	r.Accepted(with, false)
	got, err := reply.Grant, reply.Err
	if err != nil {
		r.countUnanswered(slot, with)
		return got, fmt.Errorf("renewing the %s key: %w", slot, err)
	}
	r.mu.Lock()
	s, now := &r.state.Slots[slot], r.now()
	s.Tries = 0
	s.Renewed, s.Doubt, s.Expires, s.Serial = now, time.Time{}, got.Expires, r.state.Generation
	r.renewedHere[slot], r.renewalDeclined[slot] = now, false
	if s.Expires.Text == "" {
		s.Expires = assumedEnd("", now)
	}
	others := got.Key != "" && s.find(got.Key) < 0 && r.state.Slots[slot.other()].find(got.Key) >= 0
	if got.Key != "" && !others {
		s.add(got.Key, "renewal", now)
	}
	r.changes++
	r.mu.Unlock()
	_ = r.save() // told by Notify: the renewal itself worked
	if others {
		return got, fmt.Errorf("renewing the %s key: %w; ask the service", slot, errOthersKey)
	}
	return got, nil
}

// setDoubt writes down that a renewal is under way, before it is sent, and gives what was written before.
func (r *Ring) setDoubt(slot Slot) time.Time {
	r.mu.Lock()
	before := r.state.Slots[slot].Doubt
	if before.IsZero() {
		r.state.Slots[slot].Doubt = r.now()
	}
	r.mu.Unlock()
	if before.IsZero() {
		for range 2 { // so that both files say it: one that is damaged meanwhile must not hide that the key may be a new one
			_ = r.save() // told by Notify; without the note a restart only knows less
		}
	}
	return before
}

// restoreDoubt takes back what setDoubt wrote.
func (r *Ring) restoreDoubt(slot Slot, before time.Time) {
	r.mu.Lock()
	changed := r.state.Slots[slot].Doubt != before
	r.state.Slots[slot].Doubt = before
	r.mu.Unlock()
	if changed {
		_ = r.save() // told by Notify
	}
}

// countUnanswered counts a renewal of which nobody knows whether it was made. That the key in its header is refused is not certain
// any more: if it is what has made it, it must not be renewed itself as a refused one, at once.
func (r *Ring) countUnanswered(slot Slot, with Key) {
	r.mu.Lock()
	r.state.Slots[slot].Tries++
	s := &r.state.Slots[with.slot]
	if i := s.find(with.Value); i >= 0 && with.slot != slot && s.Entries[i].State == refused {
		s.Entries[i].State = untried
	}
	r.mu.Unlock()
	_ = r.save() // told by Notify
}

// headerKeys is the keys to renew a slot with: the other slot's first.
func (r *Ring) headerKeys(slot Slot) []Key {
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
	if !r.beginRenewing(ctx) {
		return false
	}
	defer r.endRenewing()
	if r.changeCount() != seen {
		return true
	}
	if r.now().Before(r.nextRecovery) {
		return false
	}
	r.nextRecovery = r.now().Add(r.jitter(recoveryPause, 0.2))
	order := [...]Slot{Primary, Secondary}
	if r.inDoubt(Secondary) && !r.inDoubt(Primary) {
		slices.Reverse(order[:]) // its old value may end any moment
	}
	for _, slot := range order {
		if r.empty(slot) {
			continue
		}
		before := r.tries(slot)
		_, err := r.requestRenewal(ctx, slot)
		if err == nil {
			r.tellRenewed(slot.String())
			return true
		}
		// After an answer that was lost the other slot must not follow: both values could be new, and known to nobody here.
		e, answered := errors.AsType[Failure](err)
		if r.tries(slot) > before || !errors.Is(err, errOtherFirst) && (!answered || e.KeyRefused()) {
			break // or the other slot would be asked for with the same keys
		}
	}
	err := r.adoptLogin(ctx)
	if err == nil {
		r.tellRenewed("")
		return true
	}
	r.tell(Note{Rule: eventrules.KeyRefused, Since: r.refusedSince(Primary, Secondary), Ongoing: true,
		Text: "no key is accepted and none could be had: " + err.Error() + "; give new keys with gauger keys set"})
	return false
}

// jitter is a time of that length, longer or shorter by chance, by that part of it at most.
func (r *Ring) jitter(d time.Duration, part float64) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Duration((1 - part + 2*part*r.random.Float64()) * float64(d))
}

func (r *Ring) adoptLogin(ctx context.Context) error {
	via := r.boundService()
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

func (r *Ring) boundService() Service {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.service
}

func (r *Ring) changeCount() uint64 {
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

// onlyEqual says that the other slot has no key that this one has not: none is renewed first, since the same key would ask for it.
func (r *Ring) onlyEqual(slot Slot) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.ContainsFunc(r.state.Slots[slot.other()].Entries, func(e entry) bool { return r.state.Slots[slot].find(Secret(e.Value)) < 0 })
}

// tries counts the renewals of the slot that were sent since the last answer.
func (r *Ring) tries(slot Slot) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Slots[slot].Tries
}

// inDoubt says that a renewal of the slot was sent, and its answer is not known.
func (r *Ring) inDoubt(slot Slot) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Slots[slot].inDoubt()
}

// declinesRenewal says that the service has answered, to a key that it knows, that it does not renew this slot.
func (r *Ring) declinesRenewal(slot Slot) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.renewalDeclined[slot]
}

// noteDeclined notes such an answer.
func (r *Ring) noteDeclined(slot Slot, said bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.renewalDeclined[slot] = r.renewalDeclined[slot] || said
}
