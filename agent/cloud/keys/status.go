package keys

import "time"

// Status is one value of one slot, for people. The value itself is not in it.
type Status struct {
	Slot        string    `json:"slot"`
	Fingerprint string    `json:"fingerprint"`
	State       string    `json:"state"`  // untried, proven or refused
	Source      string    `json:"source"` // file, renewal or login
	Since       time.Time `json:"since"`
	Accepted    time.Time `json:"accepted,omitzero"` // when the service last accepted it, as far as this process or the file knows
	Refused     time.Time `json:"refused,omitzero"`
	Renewed     time.Time `json:"renewed,omitzero"`  // the slot's last renewal that was answered
	Expires     time.Time `json:"expires,omitzero"`  // the slot's; nothing is decided by it
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
		for _, e := range s.Entries {
			list = append(list, Status{
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
