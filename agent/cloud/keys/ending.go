package keys

import (
	"fmt"
	"slices"
	"time"

	"gauger/agent/eventrules"
)

// warnDays before its end a key that cannot be renewed is told of, once each.
var warnDays = [...]int{7, 14, 30}

// renewalSlack is added to the planned interval, or half of that where it is less, before the end of a key is anybody's business.
const renewalSlack = 2 * 24 * time.Hour

// planned is how long after a slot's renewal its end is nobody's business.
func (r *Ring) planned(slot Slot) time.Duration {
	every := r.every(slot)
	return every + min(renewalSlack, every/2)
}

// end is that of the value of a slot that works, or else of its oldest. Of one that was never renewed it is assumed, since the service has
// not said it: it has half a year from the day on which it was given here, or less.
func (s *slotState) end() Expiry {
	if len(s.Entries) == 0 {
		return s.Expires
	}
	i := slices.IndexFunc(s.Entries, func(e entry) bool { return e.State == proven })
	if i < 0 {
		i = len(s.Entries) - 1
	}
	e := &s.Entries[i]
	if end := s.endOf(e); !end.At.IsZero() {
		return end
	}
	return assumedEnd("", e.Since)
}

// endOf is what the service has said of the end of one of a slot's values: nothing of one that a person gave after it.
func (s *slotState) endOf(e *entry) Expiry {
	if s.givenSince(e) {
		return Expiry{}
	}
	return s.Expires
}

// givenSince says that a person gave a value after the slot was renewed: that renewal was of the key before it.
func (s *slotState) givenSince(e *entry) bool {
	return !e.fromService() && e.Since.After(s.Renewed) && !s.Renewed.IsZero()
}

// warningStep gives the step at which the slot's end is to be told: 7, 14 or 30 days; 0: it is far, over, or renewed as planned. The
// lock is held.
func (r *Ring) warningStep(slot Slot, now time.Time) int {
	s := &r.state.Slots[slot]
	end := s.end().At
	if age, known := r.renewalAge(slot, now); end.IsZero() || known && age < r.planned(slot) {
		return 0
	}
	left := end.Sub(now.Round(0))
	for _, days := range warnDays {
		if left > 0 && left <= time.Duration(days)*24*time.Hour {
			return days
		}
	}
	return 0
}

// warnOfEnds tells of each slot whose end came near since it was told last. Only a clock that is believed can tell that.
func (r *Ring) warnOfEnds() {
	if !r.clockBelieved() {
		return
	}
	var notes []Note
	r.mu.Lock()
	now := r.now()
	for _, slot := range [...]Slot{Primary, Secondary} {
		s, days := &r.state.Slots[slot], r.warningStep(slot, now)
		if days > 0 && (s.Warned == 0 || days < s.Warned) {
			notes = append(notes, Note{Rule: eventrules.KeyExpiring, Slot: slot.String(), Text: r.endWarning(slot, now), Once: true})
		}
		if days > 0 || s.end().At.Sub(now) > time.Duration(warnDays[len(warnDays)-1])*24*time.Hour {
			s.Warned = days
		}
	}
	r.mu.Unlock()
	if len(notes) == 0 {
		return
	}
	_ = r.save() // told by Notify
	for _, n := range notes {
		if r.Notify != nil {
			r.Notify(n)
		}
	}
}

// endWarning says in words what is wrong with a slot whose end is near. The lock is held.
func (r *Ring) endWarning(slot Slot, now time.Time) string {
	s, other := &r.state.Slots[slot], &r.state.Slots[slot.other()]
	end := s.end()
	days := int(end.At.Sub(now.Round(0)).Hours() / 24)
	text := fmt.Sprintf("the %s key ends in %d days, on %s", slot, days, end.At.Format(time.DateOnly))
	if end.Assumed {
		text += " (assumed, since the service has not said when)"
	}
	if s.Renewed.IsZero() {
		text += ", and was never renewed"
	} else {
		text += ", and was not renewed since " + s.Renewed.UTC().Format(time.DateOnly)
	}
	if until := other.end(); !other.dead() && until.At.After(now) {
		text += fmt.Sprintf("; the %s key is good until %s", slot.other(), until.At.Format(time.DateOnly))
	}
	return fmt.Sprintf("%s; `gauger keys renew %s` says why it fails, `gauger keys set %s` takes a new one", text, slot, slot)
}

// clockBelieved says that the clock can tell how long a key lasts.
func (r *Ring) clockBelieved() bool {
	if r.Believed != nil {
		return r.Believed()
	}
	return !r.now().Before(earliestClock)
}

// Endings says in sentences which keys end soon and are not renewed, for a person who looks; none when all is well.
func (r *Ring) Endings() []string {
	trusted := r.clockBelieved()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	var out []string
	for _, slot := range [...]Slot{Primary, Secondary} {
		if text := r.endAdvice(slot, now, trusted); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// endAdvice is empty when all is well. The lock is held.
func (r *Ring) endAdvice(slot Slot, now time.Time, trusted bool) string {
	switch age, known := r.renewalAge(slot, now); {
	case len(r.state.Slots[slot].Entries) == 0, known && age < r.planned(slot):
		return ""
	case now.Before(earliestClock) && !trusted:
		return fmt.Sprintf("how long the %s key lasts cannot be told, since the clock is not set", slot)
	case r.warningStep(slot, now) == 0:
		return ""
	case !trusted:
		return r.endWarning(slot, now) + "; this by a clock that nothing has confirmed yet"
	}
	return r.endWarning(slot, now)
}

// Note tells a person of the keys; the program makes an event of it. It is given once per episode, and again with Ongoing
// false when the episode is over.
type Note struct {
	Rule    string // a name of package eventrules
	Slot    string // primary or secondary; empty: both
	Text    string
	Since   time.Time // zero: now
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

// endRefusal closes what was told of a refused key.
func (r *Ring) endRefusal(slot Slot, text string) {
	if r.endEpisode(eventrules.KeyRefused, slot.String(), text) {
		r.endEpisode(eventrules.KeyRenewalFailed, slot.String(), text)
	}
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
			r.tell(Note{Rule: eventrules.KeyRefused, Slot: slot.String(), Since: r.refusedSince(slot), Ongoing: true,
				Text: "the service has refused the key since before this start; it is renewed with the other one"})
		}
	}
}
