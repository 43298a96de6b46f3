package keys

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// doubtTries renewals of one key must have gone unanswered before the other one is renewed all the same: some five days of
// trying. Both in doubt at once could lock the site out. Time alone does not count, since a link that is away
// and a clock that is set prove nothing.
const doubtTries = 30

// nextDue gives the slot that is to be renewed next, and in how long.
func (r *Ring) nextDue(now time.Time, held [2]time.Time) (Slot, time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.state.Slots[Primary].Entries)+len(r.state.Slots[Secondary].Entries) == 0 {
		return Primary, 0
	}
	best, wait := Primary, forever
	for _, slot := range [...]Slot{Primary, Secondary} {
		if len(r.state.Slots[slot].Entries) == 0 {
			continue
		}
		in := max(r.dueIn(slot, now), held[slot].Sub(now), 0)
		if in < wait || in == wait && r.goesFirst(slot) {
			best, wait = slot, in
		}
	}
	return best, wait
}

// goesFirst says which of two slots that are due goes first: one in doubt, else the one that was renewed before the other.
func (r *Ring) goesFirst(slot Slot) bool {
	own, other := &r.state.Slots[slot], &r.state.Slots[slot.other()]
	if own.Doubt.IsZero() != other.Doubt.IsZero() {
		return other.Doubt.IsZero()
	}
	return own.Serial < other.Serial
}

// leastEvery is the shortest time between renewals of a key.
const leastEvery = time.Hour

// every is how often a slot is renewed: each week, or at half of the time that the service gave it, where it says so and that is less.
func (r *Ring) every(slot Slot) time.Duration {
	s := &r.state.Slots[slot]
	if lasts := s.Expires.At.Sub(s.Renewed); lasts > 0 && !s.Expires.Assumed && !s.Renewed.Before(earliestClock) {
		return min(r.renewEvery, max(lasts/2, leastEvery))
	}
	return r.renewEvery
}

// dueIn is the rule for one slot: a week after its own renewal and half a week after the other's, at once when
// it is refused or its own last renewal is in doubt, and not (long) while the other one's is. A slot of which nobody can tell when
// it was renewed is due.
func (r *Ring) dueIn(slot Slot, now time.Time) time.Duration {
	own, other := &r.state.Slots[slot], &r.state.Slots[slot.other()]
	if own.dead() && !other.dead() && other.inDoubt() {
		return forever // a gateway may have refused it by mistake, and what has perhaps made that renewal must not end with it
	}
	if own.dead() || !own.Doubt.IsZero() {
		return 0
	}
	var in time.Duration
	if age, known := r.renewalAge(slot, now); known {
		in = r.every(slot) - age
	}
	if len(other.Entries) == 0 {
		return in
	}
	if other.inDoubt() {
		return forever
	}
	return max(in, min(r.every(slot), r.every(slot.other()))/2-r.restedFor(slot.other(), now))
}

// earliestClock is older than this program: what was written before it, or is compared with such a time, tells no age.
var earliestClock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// renewalAge is certain of a renewal by this process, of an earlier one as far as the clocks of then and now can be believed.
func (r *Ring) renewalAge(slot Slot, now time.Time) (age time.Duration, known bool) {
	if at := r.renewedHere[slot]; !at.IsZero() {
		return now.Sub(at), true
	}
	at := r.state.Slots[slot].Renewed
	return now.Sub(at), !at.Before(earliestClock) && !at.After(now)
}

// restedFor gives the time since the slot's renewal, after which the other one may be renewed. Of an unknown one it is enough
// that data was stored with the newest value since; else it counts from the start of this process. The slot has a value.
func (r *Ring) restedFor(slot Slot, now time.Time) time.Duration {
	if age, known := r.renewalAge(slot, now); known {
		return age
	}
	s := &r.state.Slots[slot]
	if s.Renewed.IsZero() || s.Doubt.IsZero() && s.Entries[0].State == proven {
		return forever
	}
	return now.Sub(r.opened)
}

const forever = time.Duration(1 << 62)

// age of a time that is to come, by a clock that was set since, counts from the start of this process.
func (r *Ring) age(t, now time.Time) time.Duration {
	if t.IsZero() {
		return forever
	}
	if age := now.Sub(t); age >= 0 {
		return age
	}
	return now.Sub(r.opened)
}

// Hasty says why a renewal of this key right now is unwise, or "" when nothing speaks against it. A person may insist.
func (r *Ring) Hasty(slot Slot) string {
	if err := r.tooSoon(slot, r.now()); err != nil {
		return err.Error()
	}
	return ""
}

// tooSoon says why a slot had better not be renewed now; nil when it may: within a day of the other key's renewal, or
// while that is in doubt, unless the service refuses this one. Two new keys at once could both be unknown to the gateway.
func (r *Ring) tooSoon(slot Slot, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	own, other := &r.state.Slots[slot], &r.state.Slots[slot.other()]
	if own.dead() || len(other.Entries) == 0 || !own.Doubt.IsZero() {
		return nil
	}
	if other.inDoubt() {
		return fmt.Errorf("the %s key's renewal was not answered; renew that one first", slot.other())
	}
	if r.restedFor(slot.other(), now) >= 24*time.Hour {
		return nil
	}
	const leave = ", and of two new keys the service may not know either for a while; it is safer to "
	if newest := &other.Entries[0]; !other.givenSince(newest) {
		return fmt.Errorf("the %s key was renewed less than a day ago"+leave+"leave a day between them", slot.other())
	} else if newest.State != proven {
		return fmt.Errorf("the %s key was given by hand and no record was sent with it yet"+leave+"wait for that", slot.other())
	}
	return nil
}

// Expiry is the end of a key. The format of the service's text is not shown, so that several are tried.
type Expiry struct {
	Text    string    // as the service wrote it
	At      time.Time // what it means; zero when there is no text
	Assumed bool      // the text could not be read: At is half a year less a day from now
}

// Grant is a key that the service gave, at a login or a renewal.
type Grant struct {
	Key     Secret // may be a new value; empty: the service did not give it, so that it stays
	Expires Expiry
}

// TimeLayouts are tried in turn; those without a zone mean UTC.
var TimeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999",
	"2006-01-02", "1/2/2006 3:04:05 PM", "1/2/2006 15:04:05", "1/2/2006", time.RFC1123, time.RFC1123Z,
}

// ParseExpiry reads a key's expiration. It is for people and for Status, and may bring a renewal forward; no key is given up by it.
func ParseExpiry(text string, now time.Time) Expiry {
	text = strings.TrimSpace(text)
	if text == "" {
		return Expiry{}
	}
	for _, layout := range TimeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return expiryAt(text, t, now)
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 && n < 1e15 {
		if n >= 1e11 {
			return expiryAt(text, time.UnixMilli(n), now)
		}
		return expiryAt(text, time.Unix(n, 0), now)
	}
	return assumedEnd(text, now)
}

// expiryAt holds an expiry within the years that can be written. Before 1970 no key ended: such a time says nothing.
func expiryAt(text string, t, now time.Time) Expiry {
	if t.Before(firstTime) {
		return assumedEnd(text, now)
	}
	return Expiry{Text: text, At: writable(t)}
}

// assumedEnd is the end of a key of which the service has said nothing that can be read.
func assumedEnd(text string, now time.Time) Expiry {
	return Expiry{Text: text, At: now.UTC().AddDate(0, 6, -1), Assumed: true}
}
