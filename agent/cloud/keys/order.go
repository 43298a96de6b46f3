package keys

import (
	"slices"
	"time"
)

// Key is a key value with its slot.
type Key struct {
	slot  Slot
	Value Secret
}

// Order is every key, as a call should try them: those that the service once accepted, what stores data before what does not,
// then the candidates, then what was refused and never accepted. Of those a call tries only a few, chosen by chance, so that
// each has its turn, also over restarts. The primary goes first in each.
//
// A candidate would wait for ever behind keys that work. With trial, and while they work, one goes before them.
func (r *Ring) Order(trial bool) (keys []Key, changes uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ranks [4][]Key
	for _, slot := range [...]Slot{Primary, Secondary} {
		for _, e := range r.state.Slots[slot].Entries {
			ranks[e.rank()] = append(ranks[e.rank()], Key{slot, Secret(e.Value)})
		}
	}
	last := ranks[len(ranks)-1]
	r.random.Shuffle(len(last), func(i, j int) { last[i], last[j] = last[j], last[i] })
	ranks[len(ranks)-1] = last[:min(len(last), refusedPerCall)]
	all := slices.Concat(ranks[:]...)
	if k, found := r.onTrial(r.now()); trial && r.works && found {
		all = slices.Insert(all, 0, k)
	}
	for _, k := range all {
		if !slices.ContainsFunc(keys, func(h Key) bool { return h.Value == k.Value }) {
			keys = append(keys, k)
		}
	}
	return keys, r.changes
}

// everAccepted says that the service took the key at any time, for data or for a renewal.
func (e *entry) everAccepted() bool { return e.State == proven || !e.OK.IsZero() }

// fromService says that the service itself gave the value, and not a person.
func (e *entry) fromService() bool { return e.Source == "renewal" || e.Source == "login" }

// rank says where in a call the key has its place.
func (e *entry) rank() int {
	switch {
	case e.State == proven:
		return 0
	case e.everAccepted():
		return 1
	case e.State == untried, e.fromService():
		return 2
	}
	return 3
}

// onTrial is the candidate whose trial is due: the one that was not tried for longest. The lock is held.
func (r *Ring) onTrial(now time.Time) (k Key, found bool) {
	for _, slot := range [...]Slot{Primary, Secondary} {
		for _, e := range r.state.Slots[slot].Entries {
			at := r.lastTrial[e.Value]
			if e.State == untried && now.Sub(at) >= trialPause && (!found || at.Before(r.lastTrial[string(k.Value)])) {
				k, found = Key{slot, Secret(e.Value)}, true
			}
		}
	}
	return k, found
}

// Values are all key values, as a call would try them.
func (r *Ring) Values() []Secret {
	keys, _ := r.Order(false)
	out := make([]Secret, len(keys))
	for i, k := range keys {
		out[i] = k.Value
	}
	return out
}

// Secrets are all values that must not show in a text.
func (r *Ring) Secrets() []Secret {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Secret
	for _, s := range r.state.Slots {
		for _, e := range s.Entries {
			all = append(all, Secret(e.Value))
		}
	}
	return all
}
