package control

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/cloud/keys"
	"gauger/agent/ledger"
)

// Answer is one line of what a person wants to know first. It is well only when that was seen: a service that was never
// reached is not well because nothing waits.
type Answer struct {
	About string `json:"about"` // reading, sending, clock or keys
	State string `json:"state"` // well, unknown or bad
	Text  string `json:"text"`
}

// The states of an answer.
const (
	Well    = "well"
	Unknown = "unknown"
	Bad     = "bad"
)

// Ago is how long ago something was, as people say it; at least a second.
func Ago(now, at time.Time) string {
	d := max(now.Sub(at), time.Second)
	if at.Sub(now) > clock.Tolerance {
		return "by a clock that was ahead"
	}
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "days"}, {time.Hour, "h"}, {time.Minute, "min"}} {
		if d >= 2*u.of {
			return fmt.Sprintf("%d %s ago", d/u.of, u.name)
		}
	}
	return fmt.Sprintf("%d s ago", d/time.Second)
}

// NeedsPerson says that something is wrong which does not end well by itself for certain.
func (s Status) NeedsPerson() bool {
	return len(s.Found) > 0 || slices.ContainsFunc(s.Answers, func(a Answer) bool { return a.State == Bad })
}

// headline is the state in a line: is all well, is it reading, is it sending.
func (s Status) headline(since func(time.Time) string) string {
	text := s.readingWords() + "; " + s.dead[ledger.Tickets].before(s.sendingWords(since))
	switch {
	case len(s.Found) > 0:
		return ledger.Plural(len(s.Found), "problem") + ": " + text
	case !slices.ContainsFunc(s.Answers, func(a Answer) bool { return a.State != Well }):
		return "all is well: " + text
	}
	return text
}

func (s Status) readingWords() string {
	good, all := s.good(), ledger.Plural(len(s.Points), "point")
	text := fmt.Sprintf("reading %d of %s", good, all)
	switch {
	case len(s.Points) == 0 || good == 0 && s.starting():
		return "nothing was read yet"
	case good == 0:
		return "NOT READING: none of " + all + " is good"
	case good == len(s.Points):
		text = "reading all " + all
	}
	if quiet, since := s.quiet(); len(quiet) > 0 {
		words := "the newest level of " + some(quiet) + " came " + Ago(s.Now, since)
		if s.Now.Sub(s.newest()) > longQuiet {
			return "NOT READING: " + words
		}
		text += ", but " + words
	}
	if blind := s.blind(); len(blind) > 0 {
		text += ", NO GOOD LEVEL of " + some(blind)
	}
	for _, t := range s.Tanks {
		if !t.StoodFrom.IsZero() {
			text += ", " + t.ID + " STANDS STILL"
		}
	}
	return text
}

func (s Status) sendingWords(since func(time.Time) string) string {
	waiting := ledger.Plural(int(s.Waiting()), "record")
	switch {
	case s.Shut != "":
		return "NOT STORING AND NOT SENDING: the outbox cannot be opened"
	case s.Waiting() == 0 && s.ClockUnset():
		return "NOT SENDING until the clock is set"
	case s.Waiting() == 0 && s.clockDoubted:
		return "NOT SENDING until the clock can be believed"
	case s.Waiting() == 0 && s.Reached.IsZero() && s.noKeyWorks():
		return "nothing waits, and the service REFUSES THE KEYS"
	case s.Waiting() == 0 && s.Reached.IsZero():
		return "nothing waits, and the service has accepted nothing yet"
	case s.Waiting() == 0:
		return "everything is sent"
	case s.Waiting() == uint64(s.Parked()):
		return waiting + " WAITING FOR A PERSON, since the service may have it"
	case s.WaitsForLinkOnly():
		return "sending by plan, " + waiting + " waiting for the link"
	case s.Overdue() && s.behind():
		return fmt.Sprintf("sending, but BEHIND: %s waiting since %s", waiting, since(s.Oldest))
	case s.Overdue():
		return fmt.Sprintf("NOT SENDING: %s waiting since %s", waiting, since(s.Oldest))
	case s.Parked() > 0:
		return fmt.Sprintf("sending, %s waiting, %d FOR A PERSON, since the service may have it", waiting, s.Parked())
	case s.Apart() > 0:
		return fmt.Sprintf("sending, %s waiting, NOT TAKEN is what is for %s", waiting, ledger.Plural(s.Apart(), "id"))
	}
	if s.taken().IsZero() {
		return waiting + " on the way, and nothing was taken since this configuration began"
	}
	return "sending, " + waiting + " on the way"
}

// behind says that the service took something a moment ago and holds nothing back: what waits waits its turn.
func (s Status) behind() bool {
	for name, c := range s.Streams {
		if d := s.Drains[name]; c.Waiting > 0 && !d.Held.IsZero() {
			return false
		}
	}
	taken := s.taken()
	return !taken.IsZero() && s.Now.Sub(taken) < time.Minute
}

// taken is when the service last took a record in this run; zero: it has not. A query or a renewal that it answers takes nothing.
func (s Status) taken() (at time.Time) {
	for _, d := range s.Drains {
		if d.Taken.After(at) {
			at = d.Taken
		}
	}
	return at
}

// starting says that this run has only begun, so that devices may not have had their turn.
func (s Status) starting() bool { return !s.Began.IsZero() && s.Now.Sub(s.Began) < 15*time.Second }

// some are the first of the names, and how many there are besides.
func some(names []string) string {
	if more := len(names) - namedSources; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namedSources], ", "), more)
	}
	return strings.Join(names, ", ")
}

// good counts the points with a good reading.
func (s Status) good() (n int) {
	for _, x := range s.Points {
		if x.Quality == "good" {
			n++
		}
	}
	return n
}

// newest is when the newest good reading was true; zero: there is none.
func (s Status) newest() (at time.Time) {
	for _, x := range s.Points {
		if x.Quality == "good" && x.At.After(at) {
			at = x.At
		}
	}
	return at
}

// blind are the tanks without a good level.
func (s Status) blind() (ids []string) {
	for _, t := range s.Tanks {
		if t.Quality != "good" {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// quiet are the tanks whose level is good by what came last, so long ago that nobody knows whether its device still speaks: no
// load is seen from it, and a person is needed.
func (s Status) quiet() (ids []string, since time.Time) {
	for _, t := range s.Tanks {
		if t.Quiet(s.Now) {
			if ids = append(ids, t.ID); since.IsZero() || t.At.Before(since) {
				since = t.At
			}
		}
	}
	return ids, since
}

// longQuiet is how long what was seen speaks for what is: after an hour without a good reading or without an answer of the
// service nobody knows whether the way is still open.
const longQuiet = ledger.LongQuiet

func (s Status) readingAnswer() Answer {
	good, blind := s.good(), s.blind()
	quiet, since := s.quiet()
	newest := s.newest()
	a := Answer{"reading", Well, fmt.Sprintf("%d of %s good, the newest %s", good, ledger.Plural(len(s.Points), "point"), Ago(s.Now, newest))}
	switch {
	case !s.Daemon:
		a.State, a.Text = Bad, "gauger is not running"
	case len(s.Points) == 0:
		a.State, a.Text = Unknown, "nothing was read yet"
	case good == 0 && s.starting():
		a.State, a.Text = Unknown, "nothing good was read yet, gauger has just started"
	case good == 0:
		a.State, a.Text = Bad, "none of "+ledger.Plural(len(s.Points), "point")+" is good"
	case good < len(s.Points) || len(blind)+len(quiet) > 0:
		a.State = Bad
	case s.Now.Sub(newest) > longQuiet:
		a.State = Unknown // of what speaks when it likes nobody knows whether it still can
	}
	if len(blind) > 0 && good > 0 && s.Daemon {
		a.Text += "; no good level of " + some(blind)
	}
	if len(quiet) > 0 && s.Daemon {
		a.Text += fmt.Sprintf("; the level of %s came %s", some(quiet), Ago(s.Now, since))
	}
	return a
}

func (s Status) sendingAnswer() Answer {
	seen, taken := "the service has taken nothing yet", s.taken()
	heard, with := s.heard()
	if !taken.IsZero() {
		seen = "the service last took something " + Ago(s.Now, taken)
		if with != "" && heard.After(taken) {
			seen += " and last answered " + Ago(s.Now, heard) + with
		}
	} else if !heard.IsZero() {
		seen = "nothing was taken since this configuration began, the service last answered " + Ago(s.Now, heard) + with
	}
	waiting := ledger.Plural(int(s.Waiting()), "record")
	a := Answer{"sending", Well, "nothing waits, " + seen}
	switch {
	case !s.Daemon:
		return Answer{"sending", Bad, waiting + " waiting, gauger is not running"}
	case s.Shut != "":
		return Answer{"sending", Bad, "the outbox cannot be opened"}
	case s.Waiting() == 0 && s.ClockUnset():
		return Answer{"sending", Bad, "what is made waits until the clock is set"}
	case s.Waiting() == 0 && s.clockDoubted:
		return Answer{"sending", Bad, "what is made waits until the clock can be believed"}
	case s.Parked() > 0 && !s.Overdue():
		return Answer{"sending", Bad, fmt.Sprintf("%s waiting, %d for a person, since the service may have it; %s", waiting, s.Parked(), seen)}
	case s.Waiting() > 0 && s.WaitsForLinkOnly():
		a.Text = waiting + " waiting by the link's plan, " + seen
	case s.Overdue():
		return Answer{"sending", Bad, fmt.Sprintf("%s waiting, the oldest queued %s; %s", waiting, Ago(s.Now, s.Oldest), seen)}
	case s.Apart() > 0:
		return Answer{"sending", Bad, fmt.Sprintf("%s waiting, what is for %s is not taken; %s", waiting, ledger.Plural(s.Apart(), "id"), seen)}
	case s.Waiting() > 0:
		if a.Text = waiting + " on the way, " + seen; taken.IsZero() {
			a.State = Unknown
		}
	}
	if s.Now.Sub(s.Reached) > longQuiet {
		a.State = Unknown
	}
	return a
}

// vouchers are who has confirmed a clock, in words.
var vouchers = map[clock.Voucher]string{clock.Service: "the service's answers have confirmed it", clock.TimeDaemon: "the time daemon has confirmed it",
	clock.Person: "a person has confirmed it (`gauger clock trust`)"}

func (s Status) clockAnswer(c *clock.Clock) Answer {
	off, first, against := c.Deviation(s.Now), c.FirstSet(s.Now), c.Contradiction(s.Now)
	switch {
	case s.ClockUnset():
		return Answer{"clock", Bad, "not set; tickets, events and values wait for it"}
	case against != 0:
		return Answer{"clock", Bad, s.Clock + ": " + clock.Says(against)}
	case first:
		return Answer{"clock", Unknown, fmt.Sprintf("set for the first time; tickets, events and values wait until it has run steadily for %.0f minutes", clock.SteadyAfter.Minutes())}
	case off != 0:
		return Answer{"clock", Bad, fmt.Sprintf("set by %s, and nothing has confirmed it", off.Round(time.Second))}
	case s.Clock == clock.Trusted.String():
		return Answer{"clock", Well, "trusted: " + vouchers[c.Voucher(s.Now)]}
	case s.Clock == clock.Set.String():
		return Answer{"clock", Unknown, fmt.Sprintf("set: steady for less than %.0f minutes, and nothing outside has confirmed it (`gauger clock trust` if it is right)", clock.SteadyAfter.Minutes())}
	}
	return Answer{"clock", Unknown, s.Clock + ": it runs steadily, but nothing outside has confirmed it (`gauger clock trust`)"}
}

// Key is one value of a slot.
type Key = keys.Status

// BestKeys are those that count of several values of a slot: one that works, or one that was not tried, or a refused one.
func BestKeys(all []Key) map[string]Key {
	best := map[string]Key{}
	for _, k := range all {
		if was := best[k.Slot]; was.State == "" || k.State == "proven" || was.State == "refused" {
			best[k.Slot] = k
		}
	}
	return best
}

// NewerKeys are the newest values of the slots in which an older one works: those were given since, and have not sent a record.
func NewerKeys(all []Key) map[string]Key {
	newer, first := map[string]Key{}, map[string]Key{}
	for _, k := range all { // in each slot the newest first
		if was, ok := first[k.Slot]; !ok {
			first[k.Slot] = k
		} else if k.State == "proven" && was.State != "proven" {
			newer[k.Slot] = was
		}
	}
	return newer
}

func keysAnswer(all []Key, now time.Time) Answer {
	var used, ends time.Time
	var endless []string // the slots with a key that works and whose end nobody knows
	for _, k := range all {
		if k.Accepted.After(used) {
			used = k.Accepted
		}
		switch {
		case k.State != "proven":
		case k.Expires.IsZero():
			endless = append(endless, k.Slot)
		case ends.IsZero() || k.Expires.Before(ends):
			ends = k.Expires
		}
	}
	a := Answer{"keys", Well, "both work"}
	best := BestKeys(all)
	p, q := best["primary"].State, best["secondary"].State
	switch {
	case p == "proven" && q == "proven" && best["primary"].Fingerprint != "" && best["primary"].Fingerprint == best["secondary"].Fingerprint:
		a.State, a.Text = Unknown, "one works, and stands in both places"
	case p == "proven" && q == "proven":
	case p == "proven" || q == "proven":
		other := "secondary"
		if q == "proven" {
			other = "primary"
		}
		switch best[other].State {
		case "refused":
			a.State, a.Text = Bad, "one works, the other is refused"
		case "":
			a.Text = "one works, there is no " + other + " key"
		default:
			a.State, a.Text = Unknown, "one works, the "+other+" key is not tried yet"
		}
	case p == "" && q == "":
		return Answer{"keys", Bad, "there is no usable key; `gauger keys show` says why"}
	case p != "untried" && q != "untried":
		return Answer{"keys", Bad, "no key is accepted; `gauger keys show` says what to do"}
	default:
		return Answer{"keys", Unknown, "not tried yet: none has sent a record"}
	}
	newer := NewerKeys(all)
	if len(newer) > 0 && a.State == Well && p == q {
		a.Text = "the keys of before work"
	}
	for _, slot := range []string{"primary", "secondary"} {
		switch k := newer[slot]; {
		case k.State == "refused":
			a.State = Bad
			a.Text += "; the newer " + slot + " key is refused, and the one before it is used"
		case k.State != "":
			if a.State == Well {
				a.State = Unknown
			}
			a.Text += "; the newer " + slot + " key is not tried yet"
		}
	}
	if !used.IsZero() {
		a.Text += ", last used " + Ago(now, used)
	}
	if days := max(0, int(ends.Sub(now).Hours()/24)); !ends.IsZero() && len(endless) > 0 {
		a.Text += fmt.Sprintf(", one good for %d days, the end of the %s not known until gauger renews it", days, strings.Join(slices.Compact(endless), " and the "))
	} else if !ends.IsZero() {
		a.Text += fmt.Sprintf(", good for %d days", days)
	}
	return a
}
