package cloud

import "gauger/eventrules"

// Hasty says why a renewal of this key right now is unwise, or "" when nothing speaks against it. A person may insist.
func (r *KeyRing) Hasty(slot KeySlot) string {
	if err := r.tooSoon(slot, r.now()); err != nil {
		return err.Error()
	}
	return ""
}

// Login is a copy of the configured login; empty when none is.
func (c *Client) Login() Login {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.login == nil {
		return Login{}
	}
	return *c.login
}

// tellRefused tells of the keys that an earlier run left refused: whoever listens now has not heard of them.
func (r *KeyRing) tellRefused() {
	for _, slot := range [...]KeySlot{Primary, Secondary} {
		r.mu.Lock()
		s := &r.state.Slots[slot]
		refused := len(s.Entries) > 0 && s.dead()
		r.mu.Unlock()
		if refused {
			r.note(eventrules.KeyRefused, slot.String(), "the service has refused the key since before this start; it is renewed with the other one")
		}
	}
}
