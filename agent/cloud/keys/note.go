package keys

import "gauger/agent/eventrules"

// Note tells a person of the keys; the program makes an event of it. It is given once per episode, and again with Ongoing
// false when the episode is over.
type Note struct {
	Rule    string // a name of package eventrules
	Slot    string // primary or secondary; empty: both
	Text    string
	Ongoing bool
	Once    bool // an instant, no episode: nothing ends it
}

// beginEpisode opens an episode: the same one is told once until endEpisode.
func (r *Ring) beginEpisode(rule, slot, text string) {
	r.tell(Note{Rule: rule, Slot: slot, Text: text, Ongoing: true})
}

// endEpisode closes an episode, and says whether it was open.
func (r *Ring) endEpisode(rule, slot, text string) bool {
	return r.tell(Note{Rule: rule, Slot: slot, Text: text})
}

// tell says whether the note was news.
func (r *Ring) tell(n Note) bool {
	if r.Notify == nil {
		return false // an episode that nobody heard of is not open
	}
	r.mu.Lock()
	name := n.Rule + "/" + n.Slot
	was := r.episodes[name]
	r.episodes[name] = n.Ongoing
	r.mu.Unlock()
	if was != n.Ongoing {
		r.Notify(n)
	}
	return was != n.Ongoing
}

// tellInheritedRefusals tells of the keys that an earlier run left refused: whoever listens now has not heard of them.
func (r *Ring) tellInheritedRefusals() {
	for _, slot := range [...]Slot{Primary, Secondary} {
		r.mu.Lock()
		s := &r.state.Slots[slot]
		refused := len(s.Entries) > 0 && s.dead()
		r.mu.Unlock()
		if refused {
			r.beginEpisode(eventrules.KeyRefused, slot.String(), "the service has refused the key since before this start; it is renewed with the other one")
		}
	}
}
