package cloud

import "time"

// Hasty says why a renewal of this key right now is unwise, or "" when nothing speaks against it. A person may insist.
func (r *KeyRing) Hasty(slot KeySlot) string {
	if err := r.tooSoon(slot, time.Now()); err != nil {
		return err.Error()
	}
	return ""
}

// Login is a copy of the configured login; empty when none is.
func (c *Client) Login() Login {
	if c.login == nil {
		return Login{}
	}
	return *c.login
}
