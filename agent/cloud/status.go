package cloud

import (
	"context"
	"fmt"
	"time"
)

// KeyStatus is one value of one slot, for people. The value itself is not in it.
type KeyStatus struct {
	Slot        string    `json:"slot"`
	Fingerprint string    `json:"fingerprint"`
	State       string    `json:"state"`  // untried, proven or refused
	Source      string    `json:"source"` // file, renewal or login
	Since       time.Time `json:"since"`
	Accepted    time.Time `json:"accepted,omitzero"` // when the service last accepted it, as far as this process or the file knows
	Refused     time.Time `json:"refused,omitzero"`
	Renewed     time.Time `json:"renewed,omitzero"`  // the slot's last renewal that was answered
	Expires     time.Time `json:"expires,omitzero"`  // the slot's; nothing is decided by it
	Assumed     bool      `json:"assumed,omitempty"` // Expires is a guess: the service's text could not be read
	Warning     string    `json:"warning,omitempty"` // what is wrong when the slot ends soon and is not renewed
	Doubt       time.Time `json:"doubt,omitzero"`    // a renewal was sent then and its answer is not known
	Next        time.Time `json:"next,omitzero"`     // when the slot is to be renewed; zero: when the other one's renewal is answered
}

// Status lists every value that the ring holds, primary first, in each slot the newest first.
func (r *KeyRing) Status() []KeyStatus {
	trusted := r.believed()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	var list []KeyStatus
	for _, slot := range [...]KeySlot{Primary, Secondary} {
		s := &r.state.Slots[slot]
		next := time.Time{}
		if in := r.dueIn(slot, now); in < long {
			next = now.Add(max(0, in))
		}
		warning := r.outlook(slot, now, trusted)
		for _, e := range s.Entries {
			list = append(list, KeyStatus{
				Slot: slot.String(), Fingerprint: Secret(e.Value).Fingerprint(),
				State: [...]string{"untried", "proven", "refused"}[min(e.State, refused)], Source: e.Source,
				Since: e.Since, Accepted: e.OK, Refused: e.Refused, Renewed: s.Renewed,
				Expires: s.Expires.At, Assumed: s.Expires.Assumed, Doubt: s.Doubt,
				Next: next, Warning: warning,
			})
		}
	}
	return list
}

// RenewAPIKey renews one key now and keeps what came of it in the ring. It asks nobody whether that is wise: a
// person may insist, and KeyRing.Hasty is there to warn. The ring's own renewals are more careful.
func (c *Client) RenewAPIKey(ctx context.Context, slot KeySlot) (KeyRenewal, error) {
	if slot != Primary && slot != Secondary {
		return KeyRenewal{}, fmt.Errorf("renewing the key: there is no slot %d", slot)
	}
	return c.keys.insist(ctx, slot)
}

// tooSoon says why a slot had better not be renewed now; nil when it may: within a day of the other key's renewal, or
// while that is in doubt, unless the service refuses this one. Two new keys at once could both be unknown to the gateway.
func (r *KeyRing) tooSoon(slot KeySlot, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	own, other := &r.state.Slots[slot], &r.state.Slots[slot.other()]
	if own.dead() || len(other.Entries) == 0 || !own.Doubt.IsZero() {
		return nil
	}
	if other.unsettled() {
		return fmt.Errorf("renewing the %s key: the %s key's renewal was not answered; renew that one first", slot, slot.other())
	}
	if age := r.rested(slot.other(), now); age < 24*time.Hour {
		return fmt.Errorf("renewing the %s key: the %s key was renewed %s ago; wait until a day has passed", slot, slot.other(), age.Round(time.Minute))
	}
	return nil
}

// signIn is how the ring logs in when both keys are refused.
func (c *Client) signIn(ctx context.Context) (AuthResult, error) {
	c.mu.Lock()
	login := c.login
	c.mu.Unlock()
	if login == nil {
		return AuthResult{}, errNoLogin
	}
	return c.Authenticate(ctx, *login)
}
